"""Programs that some tests need, and that not every machine has."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

__all__ = ["not_installed"]


def not_installed(tool: str) -> NoReturn:
    """Skip the test; fail it in continuous integration, where nothing may be missing unseen."""
    if os.environ.get("CI"):
        pytest.fail(f"CI is set, but {tool} is not installed", pytrace=False)
    pytest.skip(f"{tool} is not installed")
