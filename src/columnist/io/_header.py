"""Whether the first row of a text file holds the names of its columns.

Words above numbers are names. Numbers above numbers may be names as well (wavelengths, years,
running numbers): they are taken for names, or for data, only if the rows below make it clear.
"""

from __future__ import annotations

import re

import numpy as np

from columnist.io._table import DataFileError

MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "NAN", "?", "null", "NULL", "None")
TRUTH = ("true", "false")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
YEAR = re.compile(r"(19|20)\d\d")
# Fewest numbers in a row whose order, or equal steps, say anything by themselves.
_ORDERED, _EVEN = 6, 8
# Share of the rows below that may be ordered like the first one.
_FEW = 0.1
# Share of the columns in which the first number has to lie far from those below.
_NEARLY_ALL = 0.9
_DOUBT = (
    "the first line holds numbers that may be names of columns ({why}): say header=True if they "
    "are names, header=False if they are data."
)

# The fields of one row as they stand in the file.
Record = list[str]


def plain(field: str) -> str:
    """A field without its quotes."""
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def as_number(field: str, comma: bool) -> float | None:
    """The number in a field; None if it is none."""
    text = plain(field).strip()
    text = text.replace(",", ".", 1) if comma else text
    if text.lower() in TRUTH:
        return float(text.lower() == "true")
    return float(text) if NUMBER.fullmatch(text) else None


def is_number(field: str, comma: bool) -> bool:
    """Whether a field is a number."""
    return as_number(field, comma) is not None


def is_gap(field: str) -> bool:
    """Whether a field stands for a missing value."""
    return plain(field).strip() in MISSING


def is_all_words(first: Record, comma: bool) -> bool:
    """Whether a row is of words, or empty fields between them."""
    words = [not is_gap(name) and not is_number(name, comma) for name in first]
    return any(words) and all(w or not plain(n) for w, n in zip(words, first, strict=True))


def is_header(first: Record, rest: list[Record], comma: bool) -> bool:
    """Whether the first row holds names; an error where that is in doubt."""
    if all(not plain(name) for name in first) or is_all_words(first, comma):
        return is_all_words(first, comma)
    above, numeric, places = [], [], []
    for place, name in enumerate(first):
        below = [fields[place] for fields in rest if len(fields) > place]
        values = [as_number(field, comma) for field in below if not is_gap(field)]
        known = [value for value in values if value is not None]
        if not values or len(known) < len(values) or is_gap(name):
            continue
        quotes = name.startswith('"') and not any(field.startswith('"') for field in below)
        if quotes or not is_number(name, comma) or _is_infinite(name, known, comma):
            above.append(name)
        else:
            numeric.append(name)
            places.append(place)
    if len(set(numeric)) < len(numeric):
        return False
    short = all(re.fullmatch(r"\d{1,4}", name) for name in numeric)
    if above and short:
        return True
    numbers = _NumbersAbove(first, rest, places, comma)
    return (not above and numbers.are_years()) or numbers.are_names()


def _is_infinite(name: str, below: list[float], comma: bool) -> bool:
    """Whether a name reads as an infinite number above finite ones."""
    return bool(np.isinf(as_number(name, comma) or 0.0) and np.isfinite(below).all())


class _NumbersAbove:
    """Numbers in the first row, and the rows of numbers below them (nan is missing)."""

    def __init__(self, first: Record, rest: list[Record], places: list[int], comma: bool):
        def read(fields: Record) -> list[float]:
            found = (as_number(fields[i], comma) if i < len(fields) else None for i in places)
            return [float("nan") if value is None else value for value in found]

        self.names = [plain(first[i]).strip() for i in places]
        self.first, self.rows = np.array(read(first)), np.array([read(row) for row in rest])

    def are_years(self) -> bool:
        """Whether the first row holds years, and the rows below hold none."""
        years = (self.rows >= 1900) & (self.rows < 2100) & (self.rows == np.rint(self.rows))
        return len(self.names) > 1 and all(map(YEAR.fullmatch, self.names)) and not years.any()

    def are_names(self) -> bool:
        """Whether they are names; an error where that is in doubt."""
        n = len(self.first)
        if n < 2 or not len(self.rows):
            return False
        (monotone, ordered), even = self._order(), self._even()
        apart, kind = self._apart(), self._other_kind()
        counted = n > 3 and even and self.first[0] in (0.0, 1.0)
        by_place = ordered and n > 2 and (apart or (kind and counted))
        by_steps = even and n >= _EVEN and (ordered or apart)
        if (by_place or by_steps) and not self._rearranged():
            return True
        if (ordered and (n >= _ORDERED or counted or (n > 2 and kind))) or (
            monotone and apart and n > 2
        ):
            order = "increasing" if self.first[-1] > self.first[0] else "decreasing"
            raise DataFileError(_DOUBT.format(why=f"{order}, unlike the rows below"))
        if apart and kind:
            raise DataFileError(_DOUBT.format(why="whole numbers, far from those below"))
        return False

    def _order(self) -> tuple[bool, bool]:
        """Whether the first row increases, or decreases; and whether few rows below do."""
        direction = 1.0 if self.first[-1] > self.first[0] else -1.0
        steps = direction * np.diff(np.vstack([self.first, self.rows]), axis=1)
        first, *below = (bool((row > 0.0).all()) for row in steps)
        return first, first and sum(below) <= _FEW * len(below)

    def _even(self) -> bool:
        """Whether the steps of the first row are equal, up to rounding of what is written."""
        steps = np.diff(self.first)
        return bool(np.ptp(steps) <= 2e-2 * np.abs(steps).mean() > 0.0)

    def _apart(self) -> bool:
        """Whether nearly all numbers lie far outside of the column below."""
        if len(self.rows) < 3:
            return False
        low, high = np.nanmin(self.rows, axis=0), np.nanmax(self.rows, axis=0)
        outside = np.maximum(low - self.first, self.first - high)
        size = np.maximum(np.abs(low), np.abs(high))
        return bool((outside > np.maximum(high - low, 0.01 * size)).mean() >= _NEARLY_ALL)

    def _other_kind(self) -> bool:
        """Whether the first row is of whole numbers, and no row below is."""
        whole = np.vstack([self.first, self.rows])
        first, *below = (np.isnan(whole) | (whole == np.rint(whole))).all(axis=1).tolist()
        return len(below) > 2 and first and not any(below)

    def _rearranged(self) -> bool:
        """Whether a row below has the same numbers in another order: these are rankings."""
        return bool((np.sort(self.rows, axis=1) == np.sort(self.first)).all(axis=1).any())
