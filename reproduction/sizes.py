"""Sizes of data sets, as printed tables state them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from reproduction.cells import Cell, compare
from reproduction.printed import printed
from reproduction.registry import by_set

__all__ = ["size_cells"]

SIZES = ("rows", "columns", "labels")


def size_cells(table: str, shape_of: Callable[[str], tuple[int, int, int]]) -> Iterator[Cell]:
    """Cells of a table with the columns ``set``, ``rows``, ``columns`` and maybe ``labels``.

    Parameters
    ----------
    table : str
        Its name.
    shape_of : callable
        ``shape_of(set)`` gives our rows, columns and labels, or raises ``MissingData``.
    """

    def compute(name: str, rows: list[Mapping[str, str]]) -> Iterator[Cell]:
        ours = dict(zip(SIZES, shape_of(name), strict=True))
        for row in rows:
            for what in SIZES:
                if row.get(what):
                    yield compare(f"{name}, {what}", row[what], ours[what], units=0, kind="size")

    for cell in by_set(printed(table), compute, listed):
        yield replace(cell, kind="size")


def listed(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Place and figure of each size in a row."""
    return ((f"{row['set']}, {what}", row[what]) for what in SIZES if row.get(what))
