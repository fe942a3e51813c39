"""Warnings that point to the code of the user."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]

_PACKAGE = __name__.partition(".")[0]


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn where this package was called, however deep inside of it that is noticed."""
    level, frame = 3, sys._getframe(1)
    while frame.f_back is not None and _is_inside(frame.f_back):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in (_PACKAGE, "contextlib")
