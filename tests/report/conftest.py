"""A browser for the tests of reports, started once."""

from __future__ import annotations

import pytest

from tests.report.browser import CHROMIUM, Browser


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    started = Browser()
    yield started
    started.close()
