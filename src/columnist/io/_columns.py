"""Columns as they stand in a file, before anyone asked for a part of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

__all__ = ["Columns", "MatrixColumns", "numbered_names", "text_array", "unique_names"]

# Labels of one width are what other libraries expect; very long text would waste memory there.
MOST_TEXT_BYTES = 1 << 28


class Described(Protocol):
    """Named columns of numbers or of something else."""

    names: tuple[str, ...]
    extras: dict[str, Any]

    def kind(self, place: int) -> str:
        """``"number"``, ``"empty"`` (no value at all), or what else the column holds."""

    def detail(self, place: int) -> str:
        """What keeps a column from being numbers, for a message; may be empty."""


class Columns(Described, Protocol):
    """What a reader hands over."""

    renamed: dict[str, str]

    def numbers(self, places: Sequence[int]) -> np.ndarray | sp.csr_array:
        """Columns of numbers as one matrix, float64 in C order; nan is missing."""

    def values(self, place: int) -> np.ndarray:
        """One column: numbers (nan is missing), or objects str and None (missing)."""


@dataclass
class MatrixColumns:
    """One matrix, with text where a column is not of numbers.

    ``text`` maps places to arrays of str and None. ``extras`` stand next to the matrix and
    become targets or ids on request only.
    """

    matrix: np.ndarray | sp.csr_array
    names: tuple[str, ...]
    text: dict[int, np.ndarray] = field(default_factory=dict)
    extras: dict[str, np.ndarray] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)

    def kind(self, place: int) -> str:
        """See `Columns`."""
        return "text" if place in self.text else "number"

    def detail(self, place: int) -> str:
        """See `Columns`."""
        first = next((value for value in self.text[place] if value is not None), None)
        return "" if first is None else f"such as {first!r}"

    def numbers(self, places: Sequence[int]) -> np.ndarray | sp.csr_array:
        """See `Columns`."""
        whole = list(places) == list(range(self.matrix.shape[1]))
        part = self.matrix if whole else self.matrix[:, np.asarray(places, dtype=np.intp)]
        if sp.issparse(part):
            return sp.csr_array(part, dtype=np.float64)
        return np.ascontiguousarray(part, dtype=np.float64)

    def values(self, place: int) -> np.ndarray:
        """See `Columns`."""
        if place in self.text:
            return self.text[place]
        column = self.matrix[:, [place]]
        return (column.toarray() if sp.issparse(column) else np.asarray(column))[:, 0]


def numbered_names(n_columns: int) -> tuple[str, ...]:
    """``x1, x2, ...`` for columns without a name."""
    return tuple(f"x{place}" for place in range(1, n_columns + 1))


def unique_names(names: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Names without repetition, and what those that changed were called.

    An empty name becomes ``x`` and its place, the second ``a`` becomes ``a_2``.
    """
    taken = set(names)
    seen: set[str] = set()
    unique: list[str] = []
    renamed: dict[str, str] = {}
    for place, name in enumerate(names, start=1):
        new = name if name.strip() else f"x{place}"
        if name in seen or new != name:
            stem, count = new, 2
            while new in taken or new in seen:
                new, count = f"{stem}_{count}", count + 1
            renamed[new] = name
        seen.add(new)
        unique.append(new)
    return tuple(unique), renamed


def text_array(values: np.ndarray) -> np.ndarray:
    """Text of one fixed width (missing is empty), or objects if that would be too large."""
    values = np.array(["" if value is None else str(value) for value in values], dtype=object)
    width = max(map(len, values), default=0)
    # NumPy forgets trailing zero characters of fixed-width text.
    if 4 * width * len(values) > MOST_TEXT_BYTES or any(v.endswith("\0") for v in values):
        return values
    return values.astype(np.str_)
