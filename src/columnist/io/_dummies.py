"""Columns of categories as columns of zeros and ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.io._table import Columns


@dataclass
class CodedColumns:
    """Columns of which some are coded: ``parts`` holds, for each column, the place of its source
    and the category that it indicates, None for columns that stay as they are."""

    source: Columns
    names: tuple[str, ...]
    parts: tuple[tuple[int, str | None], ...]
    coded: dict[str, tuple[str, ...]]
    extras: dict[str, Any] = field(init=False)
    renamed: dict[str, str] = field(init=False)
    header: bool | None = field(init=False)

    def __post_init__(self) -> None:
        source = self.source
        self.extras, self.renamed, self.header = source.extras, source.renamed, source.header

    def kind(self, place: int) -> str:
        origin, category = self.parts[place]
        return self.source.kind(origin) if category is None else "number"

    def detail(self, place: int) -> str:
        return self.source.detail(self.parts[place][0])

    def numbers(self, places: Sequence[int]) -> np.ndarray | sp.csr_array:
        coded = [self.parts[place][1] is not None for place in places]
        plain = [self.parts[p][0] for p, c in zip(places, coded, strict=True) if not c]
        if not any(coded):
            return self.source.numbers(plain)
        made = [self.values(p) for p, c in zip(places, coded, strict=True) if c]
        X = np.empty((len(made[0]), len(places)))
        X[:, coded] = np.column_stack(made)
        if plain:
            read = self.source.numbers(plain)
            X[:, ~np.array(coded)] = read.toarray() if sp.issparse(read) else read
        return X

    def values(self, place: int) -> np.ndarray:
        origin, category = self.parts[place]
        values = self.source.values(origin)
        return values if category is None else (values == category).astype(np.float64)


def coded(columns: Columns, apart: Collection[str]) -> CodedColumns:
    """One column for each category of the columns of text, those ``apart`` excepted.

    Text with missing values, or with more categories than half the rows, is no category and stays
    as it is.
    """
    names: list[str] = []
    parts: list[tuple[int, str | None]] = []
    found: dict[str, tuple[str, ...]] = {}
    for place, name in enumerate(columns.names):
        is_text = name not in apart and columns.kind(place) == "text"
        categories = _categories(columns.values(place)) if is_text else []
        made = tuple(f"{name}={category}" for category in categories)
        if not made or set(made) & {*names, *columns.names}:
            names.append(name)
            parts.append((place, None))
            continue
        names += made
        parts += [(place, category) for category in categories]
        found[name] = made
    return CodedColumns(columns, tuple(names), tuple(parts), found)


def _categories(values: np.ndarray) -> list[str]:
    """The different values in order; none if some are missing or most are different."""
    if any(value is None for value in values):
        return []
    different = sorted(set(values.tolist()))
    return different if 2 * len(different) <= len(values) else []
