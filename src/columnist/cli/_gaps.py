"""New data for a model: its columns by name, its values where some are missing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from columnist.cli._errors import BadInput
from columnist.cli._inputs import as_delimiter, mention_gaps
from columnist.cli._model import Model
from columnist.cli._options import Reading
from columnist.cli._output import Screen
from columnist.cli._text import count, listed

if TYPE_CHECKING:
    from columnist.io import Table

__all__ = ["read_for_model"]


def read_for_model(
    model: Model, needed: Sequence[int], reading: Reading, screen: Screen
) -> tuple[Table, Any]:
    """The needed columns of a file, in the order of the model, without gaps.

    Columns are found by their names; further ones are ignored. A file without names must have as
    many columns as the model.
    """
    from columnist.io import read_table

    target, ids = tuple(reading.target or ()), tuple(reading.id or ())
    apart = {*target, *ids, *(reading.drop or ())}

    def choose(names: Sequence[str]) -> list[str]:
        return _places(model, needed, [n for n in names if n not in apart], reading.file)

    table = read_table(
        reading.file, format=reading.format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=target, ids=ids, columns=choose,
        fill=None if model.fill is None else model.fill[list(needed)], missing=reading.missing,
    )  # fmt: skip
    if model.fill is not None and table.imputed:
        total = sum(number for number, _ in table.imputed.values())
        screen.note(f"{count(total, 'missing value')} filled in as the model says")
        table = replace(table, imputed={})
    mention_gaps(table, screen)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    return table, X


def _places(model: Model, needed: Sequence[int], names: Sequence[str], source: str) -> list[str]:
    """The names under which the file has the needed columns."""
    wanted = [model.columns[i] for i in needed]
    known = set(names)
    absent = [name for name in wanted if name not in known]
    if not absent:
        return wanted
    nameless = list(names) == [f"x{i}" for i in range(1, len(names) + 1)]
    if nameless and len(names) == len(model.columns):
        return [names[i] for i in needed]
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(absent[0].lower(), list(folded)[:100_000], n=1)
    hint = f"; is {absent[0]!r} the {folded[close[0]]!r} of the file?" if close else "."
    raise BadInput(
        f"{source} lacks {count(len(absent), 'column')} of the model: {listed(absent)}{hint}"
    )
