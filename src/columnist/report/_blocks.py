"""The parts of a page: sections and blocks.

Blocks hold plain text and numbers; the templates escape them. Only :class:`Figure` holds
markup, which :mod:`columnist.report._figures` writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


class Block:
    """A piece of a section."""

    @property
    def kind(self) -> str:
        """The macro that renders it."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Text(Block):
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Note(Block):
    """A remark in smaller print: what was left out, and why."""

    text: str


@dataclass(frozen=True)
class Verdict(Block):
    """The conclusion in one sentence; ``level`` is "proven", "bounded", "open" or "better"."""

    level: str
    text: str


@dataclass(frozen=True)
class Names(Block):
    """A list of names."""

    label: str
    names: Sequence[str]


@dataclass(frozen=True)
class Facts(Block):
    """Pairs of a term and its value."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Code(Block):
    """Lines of a program."""

    text: str


@dataclass(frozen=True)
class Table(Block):
    """A table that readers can sort.

    Attributes
    ----------
    caption : str
        What it shows.
    columns : sequence of (str, str)
        Heading and kind of each column: ``"text"``, ``"number"``, ``"percent"`` (a share),
        ``"bar"`` (a share, drawn as well), ``"names"`` (several names), ``"count"``,
        ``"decimal"`` (three decimals), ``"figure"`` (a number written elsewhere, as text).
    rows : sequence of sequences
        Cells, as their kind has them; None where there is nothing.
    marked : set of int
        Rows that stand out.
    sortable : bool
        Whether the order of the rows is free.
    """

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]
    marked: frozenset[int] = frozenset()
    sortable: bool = True


@dataclass(frozen=True)
class Legend:
    """One entry of a legend.

    ``sign`` is ``"line"``, ``"dashed"``, ``"band"``, ``"dot"``, ``"open"``, ``"ring"``,
    ``"square"``, ``"triangle"``, ``"diamond"`` or ``"open-diamond"``; ``color`` a class such as
    ``"c-found"``.
    """

    sign: str
    color: str
    text: str


@dataclass(frozen=True)
class Figure(Block):
    """A chart, a wide and a narrow drawing of it, and the numbers behind it.

    Attributes
    ----------
    title : str
        Heading.
    wide, narrow : str
        Markup of :mod:`columnist.report._figures`; without a narrow one the wide one scrolls.
    caption : str
        How to read it.
    legend : sequence of Legend
        Signs.
    table : Table, optional
        The numbers.
    """

    title: str
    wide: str
    narrow: str = ""
    caption: str = ""
    legend: Sequence[Legend] = ()
    table: Table | None = None


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own."""

    title: str
    blocks: Sequence[Block] = field(default_factory=list)


@dataclass(frozen=True)
class KeyFigure:
    """One of the few numbers at the head of a page."""

    label: str
    value: str
    detail: str = ""
