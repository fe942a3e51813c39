"""A browser for the tests of reports, started once."""

from __future__ import annotations

import pytest

from tests.report.browser import CHROMIUM, Browser
from tests.tools import not_installed


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        not_installed("Chromium")
    started = Browser()
    yield started
    started.close()
