"""How much the tests look at: one knob for random problems, and marks of cases that take long.

``COLUMNIST_EXAMPLES`` is the fraction of them that a run tries: 1 is everything, and what a
run without the variable does; ``make test`` takes a fifth. Tests with Hypothesis are scaled when
they are collected; loops over random problems ask :func:`examples` for their length.
"""

from __future__ import annotations

import math
import os

import hypothesis
import pytest

__all__ = ["FEWEST", "examples", "fraction", "scale_examples", "slow_if"]

FEWEST = 5  # examples that are left of any test that had as many

# Where Hypothesis keeps the settings of a test; tests/test_examples.py notices if it moves.
_SETTINGS = "_hypothesis_internal_use_settings"


def fraction() -> float:
    """What ``COLUMNIST_EXAMPLES`` asks for, at most 1."""
    text = os.environ.get("COLUMNIST_EXAMPLES", "1")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise ValueError(f"COLUMNIST_EXAMPLES must be a number in (0, 1], got {text!r}")
    return share


def examples(count: int, fewest: int = FEWEST) -> int:
    """So many of ``count`` random problems as this run wants, and at least ``fewest``."""
    return min(count, max(fewest, math.ceil(count * fraction())))


def scale_examples(test) -> None:
    """Scale the number of examples of a test with Hypothesis, once; leave other tests alone."""
    settings = getattr(test, _SETTINGS, None)
    if settings is None or getattr(test, "examples_are_scaled", False):
        return
    scaled = examples(settings.max_examples)
    setattr(test, _SETTINGS, hypothesis.settings(settings, max_examples=scaled))
    test.examples_are_scaled = True


def slow_if(condition: bool) -> list[pytest.MarkDecorator]:
    """Marks of a case that takes seconds, or of one that does not."""
    return [pytest.mark.slow] if condition else []
