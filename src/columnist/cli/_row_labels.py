"""Columns that only label the rows: running numbers, ids and dates.

Running numbers often have the largest values in a file, but no information. Such columns are left
out, with a note, unless the user names them or asks for them with ``--keep-ids``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

RUNNING, IDS, DATES = "running numbers", "ids", "dates"
# Number of first rows that are examined.
HEAD_ROWS = 1000
# Number of rows from which an increasing order of the values is no coincidence.
_FEWEST, _MANY = 8, 30
_NUMBERED = re.compile(
    r"(.*[_. -])?(id|ids|key|uuid|guid|nr|no|num|row|rows|index|idx|case|record|serial|"
    r"unnamed: ?\d+)([_. -]?(id|nr|no|num|number|names?))?",
    re.IGNORECASE,
)
_CAMEL = re.compile(r".*[a-z](ID|Id)")
_DATED = re.compile(
    r"(.*[_. -])?(date|datetime|timestamp|time|year|jahr|datum|epoch)([_. -]?(utc|stamp))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Steps:
    """Of every column in a run of rows: first and last value, extreme steps, extremes.

    ``whole`` says that all values are whole numbers; ``distinct`` that none repeats, where it was
    looked for.
    """

    count: int
    first: np.ndarray
    last: np.ndarray
    least: np.ndarray
    most: np.ndarray
    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    distinct: np.ndarray


def steps_of(X: np.ndarray) -> Steps:
    """Steps of a block of rows."""
    n = X.shape[1]
    if not len(X):
        nothing, up, down = np.full(n, np.nan), np.full(n, np.inf), np.full(n, -np.inf)
        yes = np.ones(n, dtype=bool)
        return Steps(0, nothing, nothing, up, down, up, down, yes, yes)
    steps = np.diff(X, axis=0)
    distinct = np.array([len(np.unique(column)) == len(column) for column in X.T], dtype=bool)
    return Steps(
        len(X), X[0], X[-1], steps.min(axis=0, initial=np.inf), steps.max(axis=0, initial=-np.inf),
        X.min(axis=0), X.max(axis=0), (X == np.rint(X)).all(axis=0), distinct,
    )  # fmt: skip


def merged_steps(parts: Sequence[Steps]) -> Steps:
    """Steps of blocks that follow one another; values are distinct if they are in every block."""
    parts = [part for part in parts if part.count] or list(parts[:1])
    between = [b.first - a.last for a, b in pairwise(parts)]
    least = np.min([*(p.least for p in parts), *between], axis=0)
    most = np.max([*(p.most for p in parts), *between], axis=0)
    return Steps(
        sum(p.count for p in parts), parts[0].first, parts[-1].last, least, most,
        np.min([p.low for p in parts], axis=0), np.max([p.high for p in parts], axis=0),
        np.all([p.whole for p in parts], axis=0), np.all([p.distinct for p in parts], axis=0),
    )  # fmt: skip


def named_kinds(names: Sequence[str], found: Steps) -> dict[str, str]:
    """The columns that only label rows, and what they hold."""
    kinds = {name: _kind(name, found, place) for place, name in enumerate(names)}
    return {name: kind for name, kind in kinds.items() if kind}


def _kind(name: str, found: Steps, i: int) -> str:
    n, least, most = found.count, found.least[i], found.most[i]
    low, high, whole = found.low[i], found.high[i], found.whole[i]
    if n < _FEWEST or not high > low:
        return ""
    if whole and _are_days(low, high) and (_DATED.fullmatch(name) or n >= _MANY):
        return DATES
    if whole and _DATED.fullmatch(name) and (least >= 0.0 or most <= 0.0):
        return DATES
    even = most - least <= 1e-9 * max(abs(least), abs(most))
    ordered = least > 0.0 or most < 0.0
    if even and ordered:
        return DATES if _DATED.fullmatch(name) else RUNNING
    numbered = bool(_NUMBERED.fullmatch(name) or _CAMEL.fullmatch(name))
    if whole and ((numbered and found.distinct[i]) or (ordered and n >= _MANY)):
        return IDS if numbered else RUNNING
    return ""


def _are_days(low: float, high: float) -> bool:
    """Whether all numbers may be dates such as 20240131."""
    return all(
        1800 <= value // 10_000 < 2200 and 1 <= value // 100 % 100 <= 12 and 1 <= value % 100 <= 31
        for value in (low, high)
    )


def candidates(X: np.ndarray, names: Sequence[str], spared: Collection[str]) -> list[int]:
    """Places of columns whose first rows look like labels; to be judged by all their rows."""
    kinds = named_kinds(names, steps_of(np.asarray(X, dtype=np.float64)))
    return [place for place, name in enumerate(names) if name in kinds and name not in spared]
