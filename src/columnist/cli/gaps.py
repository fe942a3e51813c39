"""New data for a model: its columns by name, its values where some are missing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from columnist.cli.errors import BadInput
from columnist.cli.inputs import mention_gaps
from columnist.cli.model import Model
from columnist.cli.options import Reading
from columnist.cli.output import Screen
from columnist.cli.text import count, listed

if TYPE_CHECKING:
    import numpy as np

    from columnist.io import Table

__all__ = ["read_for_model"]


def read_for_model(
    model: Model, needed: Sequence[int], reading: Reading, screen: Screen
) -> tuple[Table, Any]:
    """The needed columns of a file, in the order of the model, without gaps.

    Columns are found by their names; further ones are ignored. A file without names must have as
    many columns as the model.
    """
    from columnist.io.assemble import Request, assemble
    from columnist.io.inputs import open_input
    from columnist.io.read import checked_format, parse
    from columnist.io.table import DataFileError, one_line

    name = reading.file
    try:
        source = open_input(name)
        name = source.name
        format = checked_format(source, reading.format)
        roles = {"target": tuple(reading.target or ()), "ids": tuple(reading.id or ())}
        options = {"delimiter": reading.delimiter, "header": reading.header,
                   "variable": reading.variable, "ids": roles["ids"]}  # fmt: skip
        columns = parse(source, format, options)
        apart = {*roles["target"], *roles["ids"], *(reading.drop or ())}
        wanted = _places(model, needed, [n for n in columns.names if n not in apart], name)
        if model.fill is not None:
            columns = _Filled(columns, dict(zip(wanted, model.fill[list(needed)], strict=True)))
        request = Request(columns=tuple(wanted), missing=reading.missing, **roles)
        table = assemble(columns, request, name, format)
    except DataFileError as error:
        raise DataFileError(one_line(f"{name}: {error}")) from error
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror or error}.") from error
    if isinstance(columns, _Filled) and columns.filled:
        screen.note(f"{count(columns.filled, 'missing value')} filled in as the model says")
    mention_gaps(table, screen)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    return table, X


def _places(model: Model, needed: Sequence[int], names: Sequence[str], source: str) -> list[str]:
    """The names under which the file has the needed columns."""
    from columnist.io.columns import numbered_names

    wanted = [model.columns[i] for i in needed]
    known = set(names)
    absent = [name for name in wanted if name not in known]
    if not absent:
        return wanted
    nameless = tuple(names) == numbered_names(len(names))
    if nameless and len(names) == len(model.columns):
        return [names[i] for i in needed]
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(absent[0].lower(), list(folded)[:100_000], n=1)
    hint = f"; is {absent[0]!r} the {folded[close[0]]!r} of the file?" if close else "."
    raise BadInput(
        f"{source} lacks {count(len(absent), 'column')} of the model: {listed(absent)}{hint}"
    )


class _Filled:
    """Columns of a file whose missing values are those of a model."""

    def __init__(self, columns, fill: dict[str, float]):
        self._columns, self._fill, self.filled = columns, fill, 0

    def __getattr__(self, name: str):
        return getattr(self._columns, name)

    def numbers(self, places: Sequence[int]) -> np.ndarray:
        """The matrix without gaps."""
        import numpy as np

        X = self._columns.numbers(places)
        X = X.toarray() if hasattr(X, "toarray") else X
        gaps = np.isnan(X)
        self.filled = int(gaps.sum())
        if not self.filled:
            return X
        fill = np.array([self._fill[self._columns.names[place]] for place in places])
        return np.where(gaps, fill, X)
