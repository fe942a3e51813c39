"""Why a figure differs from print, as far as our own computations tell.

A reason begins with "tested" if a computation of the run shows it, with "unknown" otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reproduction.cells import agrees

__all__ = ["STATED", "by_draws", "by_setting", "is_honest"]

STATED = re.compile(r"(tested|unknown)\b")
"""How every reason of a difference begins."""


def is_honest(why: str) -> bool:
    """Whether a reason says if it was tested."""
    return bool(STATED.match(why))


def by_setting(figure: str, setting: str, tuned: float) -> str:
    """What another setting, found by trying, gives.

    Parameters
    ----------
    figure : str
        The printed figure.
    setting : str
        The other setting, in words that "gives" can follow.
    tuned : float
        Its figure.

    Examples
    --------
    >>> from reproduction.reasons import by_setting
    >>> by_setting("348.2", "f = 1.01", 348.24)
    'tested: f = 1.01 gives the print; it does not state f'
    >>> by_setting("348.2", "f = 1.01", 351.9)
    'unknown; f = 1.01, which meets other figures, gives 351.9'
    """
    if agrees(tuned, figure):
        return f"tested: {setting} gives the print; it does not state {setting.split(' =')[0]}"
    return f"unknown; {setting}, which meets other figures, gives {tuned:.5g}"


def by_draws(figure: str, draws: Sequence[float], what: str) -> str:
    """Whether the print lies among our single draws.

    Parameters
    ----------
    figure : str
        The printed figure.
    draws : sequence of float
        Figures of single draws.
    what : str
        What the print does not state, in words that "is not printed" can follow.

    Examples
    --------
    >>> from reproduction.reasons import by_draws
    >>> by_draws("0.51", [0.48, 0.55, 0.50], "the number of draws")
    'tested: single draws range from 0.48 to 0.55; the number of draws is not printed'
    >>> by_draws("0.61", [0.48, 0.55, 0.50], "the number of draws")
    'unknown; single draws range from 0.48 to 0.55 only'
    """
    low, high = min(draws), max(draws)
    spread = f"single draws range from {low:.4g} to {high:.4g}"
    if low <= float(figure) <= high:
        return f"tested: {spread}; {what} is not printed"
    return f"unknown; {spread} only"
