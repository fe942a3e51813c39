"""What a fit needs: features, target and labels of a file, wherever its rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from columnist.cli._errors import BadInput
from columnist.cli._inputs import mention
from columnist.cli._options import Preparing
from columnist.cli._output import Screen
from columnist.cli._scan import (
    ColumnFacts,
    Extracting,
    Judge,
    Labels,
    Preparation,
    column_facts,
)
from columnist.cli._text import count, listed
from columnist.data import Matrices, matrices_of
from columnist.data._blocks import ArrayRows, RowBlocks, as_rows
from columnist.io import Table
from columnist.io._gaps import find_gaps
from columnist.io._stream import Part, write_parts
from columnist.linalg._passes import squared_norms

__all__ = ["Data", "File", "FileHere", "prepare", "read_label"]

# Columns whose scales differ by more than this are worth a hint.
_APART = 100.0


@dataclass(frozen=True)
class Columns:
    """Of every feature: its mean, deviation and length, and whether it is constant."""

    mean: np.ndarray
    deviation: np.ndarray
    size: np.ndarray
    constant: np.ndarray


class File(ABC):
    """A file whose columns have their roles, with nothing missing.

    Attributes
    ----------
    table : Table
        Names, and what was done. Its rows count only where they are in memory.
    raw : RowBlocks
        The features as read; ``fill`` stands for what is missing in them.
    ids, targets : dict of str to array
        Columns that name the rows, and those to be explained.
    y : array or None
        The targets in one array.
    facts : dict of str to ColumnFacts
        What targets hold, and ids that are not in memory.
    """

    table: Table
    raw: RowBlocks
    ids: Mapping[str, Any]
    targets: Mapping[str, Any]
    y: Any
    facts: Mapping[str, ColumnFacts]
    fill: np.ndarray | None = None

    @abstractmethod
    def target(self, read: Labels) -> Any:
        """The targets in one array of this type."""

    @abstractmethod
    def columns(self, y: Any) -> Columns:
        """What the features are like; ``y`` is the target of the fit."""

    @abstractmethod
    def features(self, prepare: Preparation) -> Any:
        """The features as a fit takes them."""

    @abstractmethod
    def some(self, columns: Sequence[int]) -> RowBlocks:
        """Some features as read."""

    @abstractmethod
    def fill_values(self, missing: str) -> np.ndarray | None:
        """What stands for a missing value of each column, if values were filled in at all."""

    def typed(self, name: str, values: np.ndarray) -> np.ndarray:
        """Values of an id or target as they are written."""
        return self.facts[name].typed(values) if name in self.facts else values

    def example(self, name: str, column: Any) -> np.ndarray:
        """One value of an id or target as it is written."""
        return self.facts[name].example() if name in self.facts else column[:1]


class FileHere(File):
    """A file in memory."""

    def __init__(self, table: Table):
        self.table, self.raw, self.ids, self.y = table, ArrayRows(table.X), table.ids, table.y
        columns = () if table.y is None else table.y.reshape(len(table.y), -1).T
        self.targets = dict(zip(table.target_names, columns, strict=True))
        self.facts = {name: column_facts(column) for name, column in self.targets.items()}

    def target(self, read: Labels) -> np.ndarray:
        return read(self.y)

    def columns(self, y: Any) -> ColumnsHere:
        return ColumnsHere(self.table.X)

    def features(self, prepare: Preparation) -> Any:
        return prepare(self.table.X)

    def some(self, columns: Sequence[int]) -> RowBlocks:
        everything = list(columns) == list(range(self.table.X.shape[1]))
        return self.raw if everything else ArrayRows(self.table.X[:, list(columns)])

    def fill_values(self, missing: str) -> np.ndarray | None:
        X, names = self.table.X, self.table.names
        if missing not in ("mean", "median"):
            return None
        dense = missing == "median" and not sp.issparse(X)
        fill = np.median(X, axis=0) if dense else find_gaps(X).mean
        places = {name: i for i, name in enumerate(names)}
        for name, (_, value) in self.table.imputed.items():
            fill[places[name]] = value
        return fill


class ColumnsHere(Columns):
    """The same of a matrix in memory, computed where it is asked for."""

    def __init__(self, X):
        self.X = X

    @cached_property
    def _gaps(self):
        return find_gaps(self.X)

    @cached_property
    def mean(self) -> np.ndarray:
        first = self._gaps.mean
        # Sums of large numbers round.
        return first if sp.issparse(self.X) else first + ((self.X - first) / len(self.X)).sum(0)

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
            return np.sqrt(squared_norms(self.X))

    @cached_property
    def constant(self) -> np.ndarray:
        return self._gaps.constant


@dataclass(frozen=True)
class Data:
    """A file as the fit sees it.

    Attributes
    ----------
    file : File
        As read.
    X : ndarray, sparse array or RowBlocks
        Features after preparation.
    y : array or None
        Target: text or integers for classes, floating point numbers for values.
    classes : bool
        Whether the target holds classes.
    labels : tuple of str
        Names of the columns of the target, one for each class.
    prepare : Preparation
        What was done to the columns.
    missing : str
        What was done about missing values.
    ids : dict of str to array
        Columns that name the rows.
    """

    file: File
    X: Any
    y: Any
    classes: bool
    labels: tuple[str, ...]
    prepare: Preparation
    missing: str
    ids: Mapping[str, Any]

    @property
    def table(self) -> Table:
        """The file as it was read."""
        return self.file.table

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.table.names

    @property
    def mean(self) -> np.ndarray | None:
        """What was subtracted from the columns."""
        return self.prepare.mean

    @property
    def scale(self) -> np.ndarray | None:
        """What they were divided by."""
        return self.prepare.scale

    @property
    def in_memory(self) -> bool:
        """Whether all rows are here."""
        return isinstance(self.file, FileHere)

    def names_of(self, columns: Sequence[int]) -> list[str]:
        """Names of some features."""
        return [self.names[i] for i in columns]

    def row_numbers(self) -> np.ndarray:
        """Numbers of the rows in the file, from 1."""
        rows = np.arange(self.X.shape[0]) if self.table.rows is None else self.table.rows
        return np.asarray(rows) + 1

    def describe(self) -> str:
        """The data in a few words."""
        n, m = self.X.shape
        text = f"{self.table.source}, {count(n, 'row')}, {count(m, 'column')}"
        if self.table.target_names:
            text += f", target {listed(self.table.target_names, 3)}"
        return text

    def prepared(self) -> str:
        """What was done to the columns, in a few words."""
        done = [w for w, x in (("centred", self.mean), ("scaled", self.scale)) if x is not None]
        return " and ".join(done) or "as read"

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
            "ignored": table.ignored,
            "imputed": {c: {"count": k, "value": v} for c, (k, v) in table.imputed.items()},
            "centered": self.mean is not None,
            "scaled": self.scale is not None,
        }

    # -- in other forms -----------------------------------------------------------

    def judged(self, estimator) -> tuple[np.ndarray, ...]:
        """Both distances of all rows from a fit, how far they are, and which are outlying."""
        columns = np.concatenate(as_rows(self.X).collect(Judge(_alone(estimator))), axis=1)
        return columns[0], columns[1], columns[2], columns[3] < 0

    def ids_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Labels of some rows, which ascend."""
        found = {}
        for name, column in self.ids.items():
            values = as_rows(column[rows]).gather() if len(rows) else np.zeros(0)
            found[name] = self.file.typed(name, values)
        return found

    def matrices(self, explains: str, *, center: bool) -> Matrices:
        """What errors are computed from: X alone, or X and the target."""
        return matrices_of(self.X, self.y, target=explains == "y", center=center)

    def for_report(self, explains: str) -> tuple[Any, Any]:
        """X, and the target if it is explained; of rows elsewhere a few that stand for all."""
        if self.in_memory:
            return self.X, self.y if explains == "y" else None
        n = self.X.n_features
        if explains != "y":
            return self.X.moments().sample().rows, None
        import pandas as pd

        rows = self.X.moments(as_rows(self.y)).sample().rows
        return rows[:, :n], pd.DataFrame(rows[:, n:], columns=list(self.labels))

    def fill_values(self) -> np.ndarray | None:
        """What stands for a missing value of each column, if values were filled in at all."""
        return self.file.fill_values(self.missing)

    # -- written ------------------------------------------------------------------

    def write_one_row(self, path: str) -> None:
        """Write something like the first row, with its ids and targets."""
        before, after = (
            {name: self.file.example(name, column) for name, column in side.items()}
            for side in (self.ids, self.file.targets)
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
        fill = self.prepare.fill
        if selector is None:
            part = Preparation(None if fill is None else fill[list(columns)])
            rows, visit = self.file.some(columns), Extracting(None, part, None)
        else:
            rows = self.file.some(range(len(self.names)))
            visit = Extracting(list(columns), self.prepare, _alone(selector))
        sides = [as_rows(side) for side in (*self.ids.values(), *self.file.targets.values())]
        for X, *values in rows.stream(visit, *sides):
            extracted = (f"component{i}" for i in range(X.shape[1] - kept))
            typed = iter(values)
            before, after = (
                {name: self.file.typed(name, next(typed)) for name in side}
                for side in (self.ids, self.file.targets)
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


# -- preparing --------------------------------------------------------------------


def prepare(
    file: File, preparing: Preparing, missing: str, task: str, screen: Screen, *, hint: bool
) -> Data:
    """Centre and scale the columns of a file; say what had to be done.

    ``hint`` is whether scales matter.
    """
    mention(file.table, screen)
    y, labels, classes = _target(file, task)
    columns = file.columns(y)
    sparse = file.raw.is_sparse
    if preparing.center and sparse:
        raise BadInput("--center would fill a sparse matrix: leave it out, or give a dense file.")
    mean = columns.mean if preparing.center else None
    scale = constant = None
    if preparing.center or preparing.scale:
        constant = columns.constant
    if preparing.scale:
        constant = constant | (columns.deviation == 0.0)
        scale = np.where(constant, 1.0, columns.deviation)
        if constant.any():
            names = listed([file.table.names[i] for i in np.flatnonzero(constant)])
            screen.note(f"constant columns are not scaled: {names}")
    elif hint:
        sizes = columns.size if constant is None else columns.deviation * ~constant
        hint_at_scales(sizes, screen, "--scale" if sparse else "--center --scale")
    steps = Preparation(file.fill, mean, scale, constant)
    X = file.features(steps)
    return Data(file, X, y, classes, labels, steps, missing, dict(file.ids))


def _target(file: File, task: str) -> tuple[Any, tuple[str, ...], bool]:
    """The target as estimators take it, the names of its columns, whether it holds classes."""
    names, facts = tuple(file.targets), file.facts
    if not names:
        return None, (), False
    if len(names) > 1:
        if any(facts[name].is_text for name in names):
            raise BadInput("several targets must be numbers; name one target, or drop the text.")
        if task == "classes":
            raise BadInput("--task classes takes one target.")
        return file.target(Labels(np.dtype(np.float64))), names, False
    only = facts[names[0]]
    if not only.are_classes(names[0], task):
        y = file.target(Labels(np.dtype(np.float64)))
        # A matrix is numbers to all estimators.
        return y[:, None] if only.look_like_classes else y, names, False
    labels = tuple(f"class {label}" for label in only.labels())
    return file.target(only.reader()), labels, True


def read_label(values: np.ndarray, name: str) -> np.ndarray:
    """A column as estimators take a target."""
    facts = column_facts(values)
    classes = facts.are_classes(name, "auto")
    return (facts.reader() if classes else Labels(np.dtype(np.float64)))(values)


def hint_at_scales(sizes: np.ndarray, screen: Screen, remedy: str) -> None:
    """One line if the largest columns will drown the others."""
    sizes = sizes[(sizes > 0.0) & np.isfinite(sizes)]
    if len(sizes) > 1 and sizes.max() > _APART * sizes.min():
        screen.note(
            f"the columns' sizes differ by a factor of {sizes.max() / sizes.min():.3g}: large ones "
            f"decide the result; {remedy} puts all on one scale"
        )
