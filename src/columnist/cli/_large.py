"""From a file larger than memory to what a fit needs: ``--dask``.

The rows stay in the file, in blocks that workers read. One pass over them gives means and inner
products: preparing columns, most selectors and all reports need no more than these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, cast

import dask.array as da
import numpy as np
from dask.delayed import delayed

from columnist.cli._errors import BadInput
from columnist.cli._inputs import Data, as_delimiter, hint_at_scales, mention
from columnist.cli._options import Preparing, Reading
from columnist.cli._output import Screen
from columnist.cli._progress import Watch
from columnist.cli._scan import (
    ColumnFacts,
    Extracting,
    FactFinder,
    GapCount,
    Judge,
    Labels,
    Preparation,
    Scan,
    extremes,
    merged_extremes,
    merged_facts,
    merged_gaps,
    merged_scans,
)
from columnist.cli._text import listed
from columnist.data._blocks import RowBlocks, open_blocks
from columnist.data._matrices import Matrices
from columnist.data._target import open_target
from columnist.distributed._files import Collection, open_collection
from columnist.distributed._rows import DaskRows
from columnist.distributed._run import compute, visit_task, watch
from columnist.io import DataFileError, Table
from columnist.io._assemble import counted
from columnist.io._stream import Part, write_stream
from columnist.io._table import one_line, plural
from columnist.linalg._memory import check_memory
from columnist.linalg._moments import Moments

__all__ = ["LargeData", "load_large", "open_large"]

# A column whose deviation is below this share of its mean may be constant.
_NEARLY_CONSTANT = 1e-6
# Bytes of a block.
BLOCKSIZE = "128MiB"
# Blocks that are on their way to a file at the same time.
_IN_FLIGHT = 8


class Summed(DaskRows):
    """Blocks whose moments, and those with their target, are known."""

    def __init__(self, data: da.Array, known: Moments, target: da.Array | None):
        super().__init__(data)
        self._known, self._target = known, None if target is None else target.name

    def moments(self, y=None, read=None) -> Moments:
        """See `RowBlocks`: no pass where it is known already."""
        if y is None:
            return features_of(self._known, self.n_features)
        if isinstance(y, DaskRows) and y.data.name == self._target:
            return self._known
        return super().moments(y, read)


def features_of(moments: Moments, n: int) -> Moments:
    """Moments of the first columns."""
    scatter = None if moments.scatter is None else moments.scatter[:n, :n]
    rest, low = moments.rest[:, :n], moments.low[:n]
    return Moments(moments.count, moments.mean[:n], scatter, rest, low)


@dataclass(frozen=True)
class LargeData(Data):
    """Data that stay in their file.

    ``table`` has the names and one made-up row; ``X`` and ``y`` are blocks of rows.

    Attributes
    ----------
    collection : Collection
        The file.
    lengths : tuple of int
        Rows of every block.
    sums : Moments
        Moments of the columns as read, gaps filled.
    columns : tuple of int
        Places of the features in the collection.
    facts : dict of str to ColumnFacts
        What ids and targets hold.
    labels : list of str
        Names of the columns of the target.
    fill : ndarray or None
        What stands for missing values.
    watcher : Watch
        Who is told how far the work is.
    """

    collection: Collection
    lengths: tuple[int, ...]
    sums: Moments
    columns: tuple[int, ...]
    facts: dict[str, ColumnFacts] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    fill: np.ndarray | None = None
    watcher: Watch | None = None

    in_memory = False

    def write_one_row(self, path: str) -> None:
        """Write a made-up row with its ids and targets."""
        part = self.table.X[:, :1], list(self.names[:1]), self.before(), self.after()
        write_stream(path, part, iter(()), 1)

    def write_columns(self, out: str, columns: Sequence[int], selector=None) -> None:
        """Write ids, some columns as read, what ``selector`` extracts beside them, targets."""
        self.write_parts(out, self.parts(columns, selector), sum(self.lengths))

    def write_rows(self, out: str, flags: np.ndarray, name: str | None) -> None:
        """Write all rows with a column of flags, or without a name for it only the others."""
        n_rows = len(flags) if name is not None else int((~flags).sum())
        everything = self.parts(range(len(self.columns)))
        self.write_parts(out, flagged(everything, flags, name), n_rows)

    def judged(self, estimator) -> tuple[np.ndarray, ...]:
        """Both distances of all rows from a fit, how far they are, and which are outlying."""
        if hasattr(estimator, "callback"):
            estimator = copy(estimator).set_params(callback=None)
        columns = np.concatenate(self.X.collect(Judge(estimator)), axis=1)
        return columns[0], columns[1], columns[2], columns[3] < 0

    def write_parts(self, out: str, parts: Iterator[Part], n_rows: int) -> None:
        """Write rows that come in parts."""
        write_stream(out, next(parts), parts, n_rows)

    def matrices(self, explains: str, *, center: bool) -> Matrices:
        """A few rows that stand for all."""
        return Matrices.of_blocks(self.X, self.y, center=center, target=explains == "y")

    def for_report(self, explains: str) -> tuple[np.ndarray, Any]:
        """A few rows with the same means, variances and correlations."""
        import pandas as pd

        n = self.X.n_features
        if explains != "y":
            return self.X.moments().sample().rows, None
        rows = self.X.moments(open_blocks(self.y)).sample().rows
        return rows[:, :n], pd.DataFrame(rows[:, n:], columns=list(self.labels))

    def fill_values(self) -> np.ndarray | None:
        """What stands for a missing value of each column."""
        return features_of(self.sums, len(self.columns)).mean if self.missing == "mean" else None

    def ids_of(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Labels of some rows, which ascend."""
        found = {}
        for name, column in self.collection.ids.items():
            kept = as_array(column, self.lengths)[rows]
            values = blocks_of(kept).gather() if len(rows) else np.zeros(0)
            found[name] = self.facts[name].typed(values)
        return found

    def parts(self, columns: Sequence[int], selector=None) -> Iterator[Part]:
        """Rows as they stand in the file, a block at a time: ids, some columns, targets.

        Features that ``selector`` extracts follow the columns.
        """
        if selector is not None:  # what it reports to stays here
            selector = copy(selector).set_params(callback=None)
        kept = len(columns)
        wanted = range(len(self.columns)) if selector is not None else columns
        places = [self.columns[i] for i in wanted]
        X = raw_array(self.collection, places, self.lengths)
        fill = None if self.fill is None else self.fill[list(wanted)]
        visit = Extracting(
            list(columns) if selector is not None else None, fill, self.mean, self.scale, selector
        )
        names = self.names_of(columns)
        for block in self._visited(X, visit):
            extracted = block[0].shape[1] - kept
            yield self._part(block, [*names, *(f"component{i}" for i in range(extracted))])

    def _visited(self, X: da.Array, visit) -> Iterator[list[np.ndarray]]:
        """Blocks and what stands next to them, a few in flight."""
        sides = [*self.collection.ids.values()]
        if self.collection.y is not None:
            sides.append(self.collection.y)
        lists = [as_array(side, self.lengths).to_delayed().ravel() for side in sides]
        rows = list(zip(X.to_delayed().ravel(), *lists, strict=True))
        visit = delayed(visit)
        for start in range(0, len(rows), _IN_FLIGHT):
            batch = rows[start : start + _IN_FLIGHT]
            with watch(Shifted(self.watcher, start, len(rows))):
                yield from compute([visit_task(visit, *row) for row in batch])

    def _part(self, block: list[np.ndarray], names: list[str]) -> Part:
        X, *sides = block
        ids = list(self.collection.ids)
        before = {n: self.facts[n].typed(v) for n, v in zip(ids, sides, strict=False)}
        after = {}
        if self.collection.y is not None:
            targets = self.collection.target_names
            columns = sides[-1].reshape(len(X), len(targets)).T
            after = {n: self.facts[n].typed(v) for n, v in zip(targets, columns, strict=True)}
        return X, names, before, after


def flagged(parts: Iterator[Part], flags: np.ndarray, name: str | None) -> Iterator[Part]:
    """Parts with a column of flags; without a name for it, only the rows that have none."""
    start = 0
    for X, names, before, after in parts:
        part = flags[start : start + len(X)]
        start += len(X)
        if name is not None:
            yield X, names, before, {**after, name: part.astype(np.int64)}
            continue
        before, after = ({n: v[~part] for n, v in side.items()} for side in (before, after))
        yield X[~part], names, before, after


class Shifted:
    """Tells a watch of blocks that are part of more."""

    def __init__(self, watcher: Watch | None, start: int, total: int):
        self.watcher, self.start, self.total = watcher, start, total

    def __call__(self, done: int, _total: int) -> None:
        if self.watcher is not None:
            self.watcher.blocks(self.start + done, self.total)


def open_large(reading: Reading) -> Collection:
    """The file that was named, opened for reading in blocks."""
    if reading.file == "-":
        raise BadInput("--dask reads a file in blocks; standard input cannot be read so.")
    if reading.missing in ("median", "drop"):
        raise BadInput(
            f"--missing {reading.missing} needs all rows at once; with --dask use --missing mean."
        )
    format = "csv" if reading.format == "tsv" else reading.format
    return open_collection(
        reading.file, format=format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=reading.target or (),
        drop=reading.drop or (), ids=reading.id or (), non_numeric=reading.non_numeric,
        blocksize=BLOCKSIZE,
    )  # fmt: skip


def load_large(
    collection: Collection,
    reading: Reading,
    screen: Screen,
    preparing: Preparing,
    watcher: Watch,
    *,
    hint: bool = True,
) -> LargeData:
    """Pass over the rows once, and prepare their columns; say what had to be done."""
    watcher.phase(f"reading {reading.file}")
    n = len(collection.names)
    check_memory(
        32.0 * n * n, f"The inner products of {n} columns", "Name fewer columns, or --drop some."
    )
    try:
        facts, lengths = look_aside(collection)
        names, columns, fill, imputed, ignored = fill_gaps(collection, reading.missing)
        y, labels, classes = read_target(collection, facts, lengths, reading.task)
        rows = DaskRows(raw_array(collection, columns, lengths, fill))
        along, read = (None, None) if y is None else open_target(y, rows)
        sums, lengths = scan(rows, along, read, collection, names)
    except BadInput:
        raise
    except ValueError as error:
        raise DataFileError(one_line(f"{reading.file}: {in_words(error)}")) from error
    table = header_table(collection, names, facts, imputed, ignored)
    mention(table, screen)
    sums, constant = settled(sums, rows, len(names))
    mean, scale = preparation(sums, constant, names, preparing, screen)
    prepared = prepared_moments(sums, len(names), mean, scale)
    X: Any = raw_array(collection, columns, lengths, fill)
    X = X.map_blocks(Preparation(None, mean, scale), dtype=np.float64, meta=np.empty((0, 0)))
    data = LargeData(
        table, Summed(X, prepared, y), cast(Any, y), classes, mean, scale, reading.missing,
        collection, lengths, sums, columns, facts, labels, fill, watcher,
    )  # fmt: skip
    if hint and not preparing.scale:
        sizes = np.sqrt(np.diag(features_of(prepared, len(names)).gram()).clip(min=0.0))
        hint_at_scales(sizes, screen, "--center --scale")
    return data


# -- what stands next to the features ---------------------------------------------


def look_aside(
    collection: Collection,
) -> tuple[dict[str, ColumnFacts], tuple[int, ...] | None]:
    """What targets and ids hold, and the rows of every block."""
    sides = [*([] if collection.y is None else [collection.y]), *collection.ids.values()]
    if not sides:
        return {}, collection.lengths
    names = (*collection.target_names, *collection.ids)
    first, *others = [blocks_of(side) for side in sides]
    visit = FactFinder(collection.format == "csv")
    facts, lengths = first.fold(visit, merged_facts, *others)
    found = dict(zip(names, facts, strict=True))
    for name in collection.target_names:
        if found[name].missing:
            raise DataFileError(
                f"missing values in target column {name!r} ({found[name].missing}); "
                "a target is never imputed: remove these rows first."
            )
        if found[name].infinite:
            raise DataFileError(f"infinite values in target column {name!r}.")
    return found, tuple(lengths)


def read_target(
    collection: Collection,
    facts: dict[str, ColumnFacts],
    lengths: tuple[int, ...] | None,
    task: str,
) -> tuple[da.Array | None, tuple[str, ...], bool]:
    """The target in blocks, the names of its columns, and whether it holds classes."""
    names = collection.target_names
    if not names:
        return None, (), False
    y = as_array(collection.y, lengths)
    if len(names) > 1:
        if any(facts[name].is_text for name in names):
            raise BadInput("several targets must be numbers; name one target, or drop the text.")
        if task == "classes":
            raise BadInput("--task classes takes one target.")
        return kept_blocks(y, np.dtype(np.float64)), names, False
    only = facts[names[0]]
    classes = only.are_classes(names[0], task)
    if not classes:
        y = kept_blocks(y, np.dtype(np.float64))
        # A matrix is numbers to all estimators.
        return y[:, None] if only.look_like_classes else y, names, False
    labels = tuple(f"class {label}" for label in only.labels())
    return kept_blocks(y, only.label_dtype(), only.whole), labels, True


def kept_blocks(y: Any, dtype: np.dtype, whole: bool = False) -> da.Array:
    """A target that workers keep, for it is small and needed again."""
    meta = np.empty((0,) * y.ndim, dtype=dtype)
    return y.map_blocks(Labels(dtype, whole), dtype=dtype, meta=meta).persist()


def blocks_of(collection) -> RowBlocks:
    """What is known to lie in blocks of rows, opened."""
    blocks = open_blocks(collection)
    assert blocks is not None
    return blocks


# -- the features -----------------------------------------------------------------


def as_array(column, lengths: Sequence[int] | None) -> da.Array:
    """A Dask array of a Dask series, frame or array."""
    if isinstance(column, da.Array):
        return column
    return column.to_dask_array(lengths=None if lengths is None else list(lengths))


def raw_array(
    collection: Collection,
    columns: Sequence[int],
    lengths: Sequence[int] | None,
    fill: np.ndarray | None = None,
) -> da.Array:
    """Some features as read; of a frame no others are."""
    X = collection.X
    if list(columns) != list(range(X.shape[1])):
        is_array = isinstance(X, da.Array)
        X = X[:, list(columns)] if is_array else X[[collection.names[i] for i in columns]]
    raw: Any = as_array(X, lengths)
    if fill is None:
        return raw
    visit = Preparation(fill, None, None)
    return raw.map_blocks(visit, dtype=np.float64, meta=np.empty((0, 0)))


def fill_gaps(
    collection: Collection, missing: str
) -> tuple[tuple[str, ...], tuple[int, ...], Any, dict[str, tuple[int, float]], dict[str, str]]:
    """Names and places of the features, what fills their gaps, and what was done."""
    names, everything = collection.names, tuple(range(len(collection.names)))
    if missing != "mean":
        return names, everything, None, {}, {}
    gaps = blocks_of(collection.X).fold(GapCount(), merged_gaps)
    if gaps.infinite.any():
        raise DataFileError(f"infinite values in {counted(names, gaps.infinite)}; correct them.")
    if not gaps.missing.any():
        return names, everything, None, {}, {}
    full = gaps.missing < gaps.count
    if not full.any():
        raise DataFileError(f"no value at all in {counted(names, gaps.missing)}.")
    columns = tuple(int(i) for i in np.flatnonzero(full))
    imputed = {
        names[i]: (int(gaps.missing[i]), float(gaps.mean[i])) for i in columns if gaps.missing[i]
    }
    empty = {names[i]: "empty" for i in np.flatnonzero(~full)}
    kept = tuple(names[i] for i in columns)
    return kept, columns, gaps.mean[full], imputed, empty


def scan(
    rows: DaskRows, along: DaskRows | None, read, collection: Collection, names: Sequence[str]
) -> tuple[Moments, tuple[int, ...]]:
    """Moments of everything, and the rows of every block."""
    try:
        sums, lengths = rows.fold(Scan(read), merged_scans, *([] if along is None else [along]))
    except ValueError as error:
        raise DataFileError(what_is_wrong(error, collection, names)) from error
    if not sums.count:
        raise DataFileError("there is not a single row of data.")
    return sums, tuple(lengths)


def in_words(error: ValueError) -> str:
    """What stopped a pass."""
    if "could not convert string to float" in str(error):
        return f"text further down in a column of numbers ({error}): correct it, or drop= it."
    if "Error tokenizing data" in str(error):
        return "a row has more fields than there are columns."
    return str(error)


def what_is_wrong(error: ValueError, collection: Collection, names: Sequence[str]) -> str:
    """Why the rows could not be summed up: one more pass counts what is missing."""
    if "NaN" not in str(error) and "infinity" not in str(error):
        return str(error)
    gaps = blocks_of(collection.X).fold(GapCount(), merged_gaps)
    if gaps.infinite.any():
        return f"infinite values in {counted(names, gaps.infinite)}; correct the file."
    total = plural(int(gaps.missing.sum()), "missing value")
    return f"{total} in {counted(names, gaps.missing)}; use missing='mean' to impute."


def settled(sums: Moments, rows: DaskRows, n: int) -> tuple[Moments, np.ndarray]:
    """Moments in which columns that do not vary have no scatter at all, and which those are.

    Their sums are rounded, and may suggest that they do: one more pass over those in doubt
    makes sure.
    """
    features = features_of(sums, n)
    deviation = np.sqrt(np.diag(features.covariance()).clip(min=0.0))
    constant = deviation == 0.0
    doubtful = np.flatnonzero(deviation <= _NEARLY_CONSTANT * np.abs(features.mean))
    if len(doubtful):
        low, high = blocks_of(rows.take(doubtful)).fold(extremes, merged_extremes)
        largest = np.maximum(np.abs(low), np.abs(high))
        constant[doubtful] = high / 2 - low / 2 <= 4 * np.finfo(float).eps * largest
    varies = np.ones(len(sums.mean))
    varies[:n] = ~constant
    scatter = None if sums.scatter is None else sums.scatter * np.outer(varies, varies)
    return replace(sums, scatter=scatter, rest=sums.rest * varies), constant


def preparation(
    sums: Moments,
    constant: np.ndarray,
    names: Sequence[str],
    preparing: Preparing,
    screen: Screen,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What is subtracted from the columns, and what they are divided by."""
    features = features_of(sums, len(names))
    mean = features.mean if preparing.center else None
    if not preparing.scale:
        return mean, None
    if constant.any():
        which = listed([names[i] for i in np.flatnonzero(constant).tolist()])
        screen.note(f"constant columns are not scaled: {which}")
    deviation = np.sqrt(np.diag(features.covariance()))
    return mean, np.where(constant, 1.0, deviation)


def prepared_moments(
    sums: Moments, n: int, mean: np.ndarray | None, scale: np.ndarray | None
) -> Moments:
    """Moments after the columns were shifted and divided; those of a target stay."""
    shift, divisor = np.zeros(len(sums.mean)), np.ones(len(sums.mean))
    if mean is not None:
        shift[:n] = mean
    if scale is not None:
        divisor[:n] = scale
    scatter = None if sums.scatter is None else sums.scatter / divisor / divisor[:, None]
    return replace(
        sums, mean=(sums.mean - shift) / divisor, scatter=scatter, rest=sums.rest / divisor
    )


def header_table(
    collection: Collection,
    names: tuple[str, ...],
    facts: dict[str, ColumnFacts],
    imputed: dict[str, tuple[int, float]],
    ignored: dict[str, str],
) -> Table:
    """Everything about the file but its rows, of which there is a made-up one."""
    targets = [facts[name].typed(facts[name].example()) for name in collection.target_names]
    y = None
    if targets:
        y = targets[0] if len(targets) == 1 else np.column_stack(targets)
    return Table(
        X=np.zeros((1, len(names))),
        names=names,
        y=y,
        target_names=collection.target_names,
        ids={name: facts[name].typed(facts[name].example()) for name in collection.ids},
        source=collection.source,
        format=collection.format,
        ignored=collection.ignored | ignored,
        imputed=imputed,
        rows=None,
    )
