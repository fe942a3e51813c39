"""Settings shared by all tests."""

from __future__ import annotations

import os

import hypothesis

# Figures are drawn without a display.
os.environ.setdefault("MPLBACKEND", "Agg")

# Examples differ widely in cost, so no deadline. Continuous integration repeats the same
# examples at every run; elsewhere each run explores new ones.
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "explore")
)


def pytest_make_parametrize_id(config, val, argname):
    """Name cases of bytes by their argument: bytes may hold a clock, and processes must agree."""
    return argname if isinstance(val, bytes) else None
