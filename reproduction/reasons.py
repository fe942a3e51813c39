"""Why a figure differs from print, as far as our own computations tell.

A reason begins with "tested" if a computation of the run shows it, with "unknown" otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from reproduction.cells import agrees

__all__ = ["STATED", "by_draws", "by_setting", "by_spread", "is_honest"]

# Share of the printed figure above which chance explains nothing.
_MOST_CHANCE = 0.5

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


def by_spread(figure: str, values: ArrayLike, otherwise: str) -> str:
    """Whether two means of as many random runs differ as much by chance.

    It explains a difference, and decides no verdict: that depends on the print alone. Where chance
    is more than half of the print, any figure would agree, and nothing is explained.

    Parameters
    ----------
    figure : str
        The printed mean.
    values : array-like of float
        Our runs.
    otherwise : str
        What is unknown if chance does not explain the difference.

    Examples
    --------
    >>> from reproduction.reasons import by_spread
    >>> by_spread("1.5", [1.0, 1.9, 0.8, 1.6], "the seed")
    'tested: two means of 4 runs differ by up to 0.72 by chance'
    >>> by_spread("3.5", [1.0, 1.9, 0.8, 1.6], "the protocol is not stated")
    'unknown; the protocol is not stated'
    >>> by_spread("1.5", [0.2, 3.4, 0.8, 1.4], "the seed")
    'unknown; two means of 4 runs differ by up to 2 by chance, which is too much to tell'
    """
    runs = np.asarray(values, dtype=np.float64)
    chance = 2.0 * np.sqrt(2.0) * runs.std(ddof=1) / np.sqrt(len(runs))
    if abs(runs.mean() - float(figure)) <= chance:
        why = f"two means of {len(runs)} runs differ by up to {chance:.2g} by chance"
        if chance > _MOST_CHANCE * abs(float(figure)):
            return f"unknown; {why}, which is too much to tell"
        return f"tested: {why}"
    return f"unknown; {otherwise}"
