"""Warnings that point to the line of the user."""

from __future__ import annotations

import sys
import warnings

# Frames between a warning and the user: this package, and what wraps its methods.
_INSIDE = (__name__.partition(".")[0], "contextlib", "sklearn")


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, however many frames lie in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _INSIDE:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
