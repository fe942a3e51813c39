"""Prepared data: features, target and labels of a file, in memory or in blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._row_labels import HEAD_ROWS, candidates, named_kinds, steps_of
from columnist.cli._scan import ColumnFacts, Extracting, Labels, Preparation, column_facts, judged
from columnist.cli._text import listed
from columnist.data import open_matrices
from columnist.data._blocks import ArrayRows, RowBlocks, as_rows
from columnist.data._validation import check_weights
from columnist.io import Table
from columnist.io._read import find_gaps
from columnist.io._write import Part, write_parts
from columnist.linalg._moments import moments_of
from columnist.linalg._passes import squared_norms


@dataclass(frozen=True)
class Columns:
    """Of every feature: its mean, deviation, length and least value; whether it is constant."""

    mean: np.ndarray
    deviation: np.ndarray
    size: np.ndarray
    constant: np.ndarray
    low: np.ndarray


class ColumnsHere(Columns):
    """The same of a matrix in memory, computed where it is asked for."""

    def __init__(self, X):
        self.X = X

    @cached_property
    def _gaps(self):
        return find_gaps(self.X)

    @cached_property
    def mean(self) -> np.ndarray:
        first, there = self._gaps.mean, self.X.shape[0] - self._gaps.missing
        # Sums of large numbers round.
        return first if sp.issparse(self.X) else first + np.nansum((self.X - first) / there, axis=0)

    @cached_property
    def deviation(self) -> np.ndarray:
        gaps = self._gaps
        largest = np.maximum(np.abs(gaps.low), np.abs(gaps.high))
        unit = np.where(largest > 0.0, largest, 1.0)
        X = self.X @ sp.diags_array(1.0 / unit) if sp.issparse(self.X) else self.X / unit
        return unit * np.sqrt(StandardScaler(with_mean=False).fit(X).var_)

    @cached_property
    def size(self) -> np.ndarray:
        with np.errstate(over="ignore", under="ignore"):
            complete = not self._gaps.missing.any()
            return np.sqrt(squared_norms(self.X if complete else np.nan_to_num(self.X)))

    @cached_property
    def constant(self) -> np.ndarray:
        return self._gaps.constant

    @cached_property
    def low(self) -> np.ndarray:
        return self._gaps.low


class Data:
    """A file in memory whose columns have their roles, with nothing missing.

    ``table`` has names, and what was done; ``raw`` are the features as read, where ``fill``
    replaces what is missing in them. ``ids`` name the rows, ``targets`` are to be explained,
    ``facts`` say what they hold.

    ``X``, ``y`` and what follows are there when the data are prepared: ``y`` is text or integers
    for ``classes``, floating point numbers for values; ``labels`` name its columns, one for each
    class; ``mean`` was subtracted from the columns of X, ``scale`` divided them.
    """

    in_memory = True
    raw: RowBlocks
    ids: Mapping[str, Any]
    targets: Mapping[str, Any]
    facts: Mapping[str, ColumnFacts]
    fill: np.ndarray | None = None
    _y: Any
    X: Any
    y: Any
    classes: bool
    labels: tuple[str, ...]
    mean: np.ndarray | None
    scale: np.ndarray | None
    steps: Preparation
    missing: str
    # Whether the columns were centred and scaled because their units differ, not on request.
    by_default = False
    # Seconds of reading and preparing.
    seconds = 0.0
    # Whether values are missing still, and moments are estimated without them.
    has_gaps = False
    # How often each row counts, and the column that says so.
    weights: np.ndarray | None = None
    weight_name: str | None = None

    def __init__(self, table: Table):
        self.ids, self._y = table.ids, table.y
        self._take(table)
        columns = () if table.y is None else table.y.reshape(len(table.y), -1).T
        self.targets = dict(zip(table.target_names, columns, strict=True))
        self.facts = {name: column_facts(column) for name, column in self.targets.items()}

    def _take(self, table: Table) -> None:
        self.table, self.raw, self.names = table, ArrayRows(table.X), table.names

    def weigh(self, name: str) -> None:
        """Take a column that was read as an id for the weights of the rows."""
        ids = dict(self.ids)
        values, self.ids = ids.pop(name), ids
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except ValueError:
            raise BadInput(f"--weight {name}: this column does not hold numbers.") from None
        self.weights, self.weight_name = check_weights(numbers, len(numbers)), name

    def labels_rows(self, spared: Collection[str]) -> dict[str, str]:
        """Features that only label the rows, and what they hold; ``spared`` are left alone."""
        X = self.table.X
        places = [] if sp.issparse(X) else candidates(X[:HEAD_ROWS], self.names, spared)
        if not places:
            return {}
        return named_kinds(self.names_of(places), steps_of(X[:, places]))

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Go on without some features."""
        table = self.table
        kept = [i for i, name in enumerate(self.names) if name not in reasons]
        X = table.X[:, kept]
        if not sp.issparse(X):  # sums round as if these columns had never been read
            X = np.asarray(X, order="F" if table.X.flags.f_contiguous else "C")
        imputed = {name: value for name, value in table.imputed.items() if name not in reasons}
        self._take(replace(
            table, X=X, names=tuple(self.names_of(kept)), imputed=imputed,
            ignored={**table.ignored, **reasons},
        ))  # fmt: skip

    def typed(self, name: str, values: np.ndarray) -> np.ndarray:
        """Values of an id or target as they are written."""
        return self.facts[name].typed(values) if name in self.facts else values

    def example(self, name: str, column: Any) -> np.ndarray:
        """One value of an id or target as it is written."""
        return self.facts[name].example() if name in self.facts else column[:1]

    def target(self, read: Labels) -> Any:
        """The targets in one array of this type."""
        return read(self._y)

    def columns(self, y: Any) -> Columns:
        """What the features are like; ``y`` is the target of the fit."""
        if self.weights is None:
            return ColumnsHere(self.table.X)
        moments = moments_of(self.table.X, self.weights)
        present = find_gaps(self.table.X[self.weights > 0.0])
        deviation = np.sqrt(np.square(moments.factor()).sum(axis=0) / moments.count)
        deviation[present.constant] = 0.0
        size = np.sqrt(moments.count * (np.square(deviation) + np.square(moments.mean)))
        return Columns(moments.mean, deviation, size, present.constant, present.low)

    def features(self, prepare: Preparation) -> Any:
        """The features as a fit takes them."""
        return prepare(self.table.X)

    def some(self, columns: Sequence[int]) -> RowBlocks:
        """Some features as read."""
        everything = list(columns) == list(range(self.table.X.shape[1]))
        return self.raw if everything else ArrayRows(self.table.X[:, list(columns)])

    def fill_values(self) -> np.ndarray | None:
        """The value that replaces missing values of each column, if values were filled in."""
        X, names, missing = self.table.X, self.table.names, self.missing
        if missing not in ("mean", "median"):
            return None
        dense = missing == "median" and not sp.issparse(X)
        fill = np.median(X, axis=0) if dense else find_gaps(X).mean
        places = {name: i for i, name in enumerate(names)}
        for name, (_, value) in self.table.imputed.items():
            fill[places[name]] = value
        return fill

    @property
    def dummies(self) -> dict[str, list[str]]:
        """Columns of text, and the features that represent their categories."""
        here = set(self.names)
        made = {name: [i for i in some if i in here] for name, some in self.table.dummies.items()}
        return {name: some for name, some in made.items() if some}

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """Names of some features."""
        return [self.names[i] for i in columns]

    def row_numbers(self) -> np.ndarray:
        """Numbers of the rows in the file, from 1."""
        return row_numbers(self.table, self.X.shape[0])

    def describe(self) -> str:
        """The data in a few words."""
        n, m = self.X.shape
        text = f"{self.table.source}, {count(n, 'row')}, {count(m, 'column')}"
        if self.table.target_names:
            text += f", target {listed(self.table.target_names, 3)}"
        if self.weight_name is not None:
            text += f", weighted by {self.weight_name}"
        return text

    def what(self, explains: str) -> str:
        """What a selection explains, in words."""
        return "all columns" if explains == "X" else listed(self.table.target_names)

    def prepared(self) -> str:
        """What was done to the columns, in a few words."""
        done = [w for w, x in (("centred", self.mean), ("scaled", self.scale)) if x is not None]
        words = " and ".join(done) or "as read: neither centred nor scaled"
        return f"{words}, because their units differ" if self.by_default else words

    def names_from(self) -> str:
        """Where the names of a text file come from; nothing to say of others."""
        known = {True: "names from the first line", False: "no header"}
        return known.get(self.table.header, "") if self.table.header is not None else ""

    def summary(self) -> dict[str, Any]:
        """The data for JSON."""
        table, (n, m) = self.table, self.X.shape
        return {
            "source": table.source,
            "format": table.format,
            "rows": n,
            "columns": m,
            "target": list(table.target_names),
            "target_kind": None if self.y is None else "classes" if self.classes else "values",
            "ids": list(self.ids),
            "weight": self.weight_name,
            "header": table.header,
            "ignored": table.ignored,
            "dummies": self.dummies,
            "imputed": {c: {"count": k, "value": v} for c, (k, v) in table.imputed.items()},
            "centered": self.mean is not None,
            "scaled": self.scale is not None,
            "preparation": self.seconds,
        }

    # -- in other forms -----------------------------------------------------------

    def judged(self, estimator) -> tuple[np.ndarray, ...]:
        """Both distances of all rows from a fit, how far they are, and which are outlying."""
        columns = np.concatenate(
            as_rows(self.X).collect(partial(judged, fit=_alone(estimator))), axis=1
        )
        return columns[0], columns[1], columns[2], columns[3] < 0

    def ids_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Labels of some rows, which ascend."""
        found = {}
        for name, column in self.ids.items():
            values = as_rows(column[rows]).gather() if len(rows) else np.zeros(0)
            found[name] = self.typed(name, values)
        return found

    def for_report(self, explains: str) -> tuple[Any, Any]:
        """X, and the target if it is explained; of rows elsewhere a few that represent all."""
        if self.weights is not None or self.has_gaps:
            return self._sample(self.y if explains == "y" else None)
        if self.in_memory:
            return self.X, self.y if explains == "y" else None
        n = self.X.n_features
        if explains != "y":
            return self.X.moments().sample().rows, None
        import pandas as pd

        rows = self.X.moments(as_rows(self.y)).sample().rows
        return rows[:, :n], pd.DataFrame(rows[:, n:], columns=list(self.labels))

    def _sample(self, y: Any) -> tuple[Any, Any]:
        """A few rows with the weighted or estimated means and covariances, and the same of a
        target."""
        import pandas as pd

        matrices = open_matrices(
            BaseEstimator(), self.X, y, sample_weight=self.weights, target=y is not None,
            means=True, missing="covariance" if self.has_gaps else "raise",
            accept_sparse=("csr", "csc"),
        )  # fmt: skip
        X = matrices.X * matrices.x_scale
        if matrices.Y is None:
            return X, None
        return X, pd.DataFrame(matrices.Y * matrices.y_scale, columns=list(self.labels))

    # -- written ------------------------------------------------------------------

    def write_one_row(self, path: str) -> None:
        """Write something like the first row, with its ids and targets."""
        before, after = (
            {name: self.example(name, column) for name, column in side.items()}
            for side in (self.ids, self.targets)
        )
        write_parts(path, iter([(np.zeros((1, 1)), list(self.names[:1]), before, after)]), 1)

    def write_columns(self, out: str, columns: Sequence[int], selector=None) -> None:
        """Write ids, some columns as read, what ``selector`` extracts beside them, targets."""
        write_parts(out, self.parts(columns, selector), self.X.shape[0])

    def write_rows(self, out: str, flags: np.ndarray, name: str | None) -> None:
        """Write all rows with a column of flags, or without a name for it only the others."""
        n_rows = len(flags) if name is not None else int((~flags).sum())
        everything = self.parts(range(len(self.names)))
        write_parts(out, flagged(everything, flags, name), n_rows)

    def parts(self, columns: Sequence[int], selector=None) -> Iterator[Part]:
        """Rows as they stand in the file, a block at a time: ids, some columns, targets.

        Features that ``selector`` extracts follow the columns.
        """
        kept, names = len(columns), self.names_of(columns)
        fill = self.steps.fill
        if selector is None:
            part = Preparation(None if fill is None else fill[list(columns)])
            rows, visit = self.some(columns), Extracting(None, part, None)
        else:
            rows = self.some(range(len(self.names)))
            visit = Extracting(list(columns), self.steps, _alone(selector))
        sides = [as_rows(side) for side in (*self.ids.values(), *self.targets.values())]
        for X, *values in rows.stream(visit, *sides):
            extracted = (f"component{i}" for i in range(X.shape[1] - kept))
            typed = iter(values)
            before, after = (
                {name: self.typed(name, next(typed)) for name in side}
                for side in (self.ids, self.targets)
            )
            yield X, [*names, *extracted], before, after


def _alone(estimator):
    """The estimator without whom it reports to, who stays here."""
    if getattr(estimator, "callback", None) is None:
        return estimator
    return copy(estimator).set_params(callback=None)


def flagged(parts: Iterator[Part], flags: np.ndarray, name: str | None) -> Iterator[Part]:
    """Parts with a column of flags; without a name for it, only the rows that have none."""
    start = 0
    for X, names, before, after in parts:
        part = flags[start : start + X.shape[0]]
        start += X.shape[0]
        if name is not None:
            yield X, names, before, {**after, name: part.astype(np.int64)}
            continue
        before, after = ({n: v[~part] for n, v in side.items()} for side in (before, after))
        yield X[~part], names, before, after


def row_numbers(table: Table, n_rows: int) -> np.ndarray:
    """Numbers in the file, from 1, of the rows that were kept."""
    return 1 + np.asarray(np.arange(n_rows) if table.rows is None else table.rows)
