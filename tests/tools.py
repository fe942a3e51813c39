"""Programs that some tests need, and that not every machine has."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

__all__ = ["not_installed"]


def not_installed(tool: str) -> NoReturn:
    """Skip the test; fail it where ``COLUMNIST_REQUIRE_TOOLS=1`` says that nothing is missing."""
    if os.environ.get("COLUMNIST_REQUIRE_TOOLS") == "1":
        pytest.fail(f"COLUMNIST_REQUIRE_TOOLS is set, but {tool} is not installed", pytrace=False)
    pytest.skip(f"{tool} is not installed")
