"""Dask collections as blocks of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import dask.base
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed
from dask.system import CPU_COUNT
from sklearn.utils import assert_all_finite

from columnist.distributed._run import (
    as_matrix,
    cluster_client,
    compute,
    merge_tree,
    tell,
    visit_task,
)
from columnist.linalg._column_parts import ColumnParts, largest_entry
from columnist.linalg._memory import available_memory

if TYPE_CHECKING:
    from columnist.distributed._rows import DaskRows

__all__ = ["DaskColumns", "cut_columns"]

# Bytes of a part, unless that makes too many parts, which meet in pairs, or too few of them for
# each thread.
_PART = 2**24
_MOST = 256
_PER_THREAD = 2
# Share of the memory that parts may keep between the passes.
_KEPT = 0.5


def cut_columns(rows: DaskRows) -> DaskColumns:
    """Blocks of rows cut into blocks of columns of about equal numbers of entries.

    One pass counts the entries, a second one deals them out. Parts that fit into memory, that
    of the cluster if there is one, are dealt out once; others for every pass anew.
    """
    survey = rows.fold(_Survey(rows.is_sparse), _merged_surveys)
    m, n = len(survey.row_counts), rows.n_features
    if m == 0:
        raise ValueError("Found array with 0 sample(s): X needs at least one row.")
    if not rows.is_sparse:
        survey = replace(survey, columns=np.arange(n), counts=np.full(n, m))
    elif len(survey.columns) == 0:
        survey = replace(survey, columns=np.zeros(1, dtype=np.intp), counts=np.zeros(1))
    columns = DaskColumns((m, n), _kept_type(rows.dtype), rows.is_sparse, survey)
    threads, memory = _resources()
    wanted = min(int(np.ceil(columns.nbytes / _PART)), _MOST)
    edges = _edges(survey.counts, max(wanted, _PER_THREAD * threads))
    blocks = rows._blocks()
    parts = _dealt(blocks, survey.columns, edges)
    if columns.nbytes <= _KEPT * memory:
        parts = dask.base.persist(*parts)
        tell("dealt out", (len(blocks), columns.nbytes))
    return columns.with_parts(parts, edges)


class DaskColumns(ColumnParts):
    """A matrix in blocks of columns, each of them a task or the result of one.

    A block is stored as the rows of its transpose.
    """

    def __init__(self, shape: tuple[int, int], dtype: np.dtype, is_sparse: bool, survey: _Counts):
        self.shape, self.dtype, self.is_sparse = shape, dtype, is_sparse
        self.places, self.column_counts = survey.columns, survey.counts
        self.row_counts, self.largest = survey.row_counts, survey.largest
        self._survey = survey

    def with_parts(self, parts: Sequence[Delayed], edges: np.ndarray) -> DaskColumns:
        """The same with these blocks, which end at these places."""
        self._parts, self._edges = list(parts), edges
        return self

    # -- reductions ---------------------------------------------------------------

    def fold(self, visit: Callable, merge: Callable[[list], Any], *along) -> Any:
        tree = merge_tree(delayed(merge), self._visits(visit, along))
        return compute([tree])[0]

    def collect(self, visit: Callable, *along) -> list:
        results = compute(self._visits(visit, along))
        tell("brought", results)
        return results

    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        visit, count = delayed(_Turned(visit, 2), traverse=False), len(self._parts)
        gathered: list[list] = [[] for _ in range(count)]
        for a in range(count):
            for b in range(a, count):
                pair: Any = visit_task(visit, self._parts[a], self._parts[b])
                gathered[a].append(pair[0])
                if a != b:
                    gathered[b].append(pair[1])
        merge = delayed(merge)
        results = compute([merge_tree(merge, tasks) for tasks in gathered])
        tell("brought", results)
        return results

    def _visits(self, visit: Callable, along) -> list:
        visit = delayed(_Turned(visit), traverse=False)
        rows = [self._parts, *(self._pieces(other) for other in along)]
        return [visit_task(visit, *row) for row in zip(*rows, strict=True)]

    def _pieces(self, other: np.ndarray) -> list:
        """The blocks of something with one row per column."""
        other = other if len(self.places) == len(other) else other[self.places]
        tell("sent", other)
        return [delayed(other[a:b], traverse=False) for a, b in pairwise(self._edges)]

    # -- columns ------------------------------------------------------------------

    def take(self, columns) -> np.ndarray | sp.csc_array:
        columns = np.arange(self.shape[1])[columns]
        at = np.minimum(np.searchsorted(self.places, columns), len(self.places) - 1)
        held = self.places[at] == columns
        wanted, order = np.unique(at[held], return_inverse=True)
        stops = np.searchsorted(wanted, self._edges)
        tasks = [
            visit_task(delayed(_Some(wanted[a:b] - start), traverse=False), part)
            for part, start, (a, b) in zip(
                self._parts, self._edges[:-1], pairwise(stops), strict=True
            )
            if a < b
        ]
        pieces = compute(tasks) if tasks else []
        tell("brought", pieces)
        # Columns that no part holds are copies of one without entries, behind all others.
        sources = np.full(len(columns), len(wanted))
        sources[held] = order
        if not self.is_sparse:
            return np.vstack([*pieces, np.zeros((0, self.shape[0]), self.dtype)])[sources].T
        pieces.append(sp.csr_array((1, self.shape[0]), dtype=self.dtype))
        return sp.vstack(pieces, format="csr")[sources].T

    def __truediv__(self, scale: float) -> DaskColumns:
        survey = replace(self._survey, largest=self.largest / scale)
        parts = [_divided(part, scale) for part in self._parts]
        scaled = DaskColumns(self.shape, np.dtype(np.float64), self.is_sparse, survey)
        return scaled.with_parts(parts, self._edges)

    def filled(self) -> DaskColumns:
        survey = replace(self._survey, columns=np.arange(len(self.places)))
        shape = self.shape[0], len(self.places)
        dense = DaskColumns(shape, self.dtype, self.is_sparse, survey)
        return dense.with_parts(self._parts, self._edges)


class _Turned:
    """A visitor of columns, given blocks that are stored as rows."""

    def __init__(self, visit: Callable, n_blocks: int = 1):
        self._visit, self._n_blocks = visit, n_blocks
        # The same arrays, where those who count the traffic find them.
        self._constants = getattr(visit, "constants", ())

    def __call__(self, *parts):
        turned = [part.T for part in parts[: self._n_blocks]]
        return self._visit(*turned, *parts[self._n_blocks :])


class _Some:
    """Some rows of a block."""

    def __init__(self, which: np.ndarray):
        self.which = which

    def __call__(self, part):
        return part[self.which]


@delayed
def _divided(part, scale: float):
    return part / scale


# -- counting ---------------------------------------------------------------------


@dataclass(frozen=True)
class _Counts:
    """Entries of rows and columns; columns are None where nothing is left out."""

    row_counts: np.ndarray
    columns: Any
    counts: Any
    largest: float


class _Survey:
    """Counts the entries of a block of rows and looks at them."""

    def __init__(self, sparse: bool):
        self.sparse = sparse

    def __call__(self, block) -> _Counts:
        block = _cleaned(block)
        values = block.data if self.sparse else block
        assert_all_finite(values, input_name="X")
        largest = largest_entry(values)
        if not self.sparse:
            return _Counts(np.full(block.shape[0], block.shape[1]), None, None, largest)
        columns, counts = np.unique(block.indices, return_counts=True)
        return _Counts(np.diff(block.indptr), columns.astype(np.intp), counts, largest)


def _merged_surveys(parts: Sequence[_Counts]) -> _Counts:
    rows = np.concatenate([part.row_counts for part in parts])
    largest = max(part.largest for part in parts)
    if parts[0].columns is None:
        return _Counts(rows, None, None, largest)
    columns, at = np.unique(np.concatenate([p.columns for p in parts]), return_inverse=True)
    counts = np.bincount(at, np.concatenate([p.counts for p in parts]), len(columns))
    return _Counts(rows, columns, counts.astype(np.int64), largest)


def _kept_type(dtype: np.dtype) -> np.dtype:
    return np.dtype(dtype if dtype in (np.float32, np.float64) else np.float64)


def _cleaned(block):
    """Floating point numbers; of a sparse block no place twice and no zeros."""
    block = block.astype(_kept_type(block.dtype), copy=False)
    if not sp.issparse(block):
        return block
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    if not block.data.all():
        block = block.copy()
        block.eliminate_zeros()
    return block


# -- cutting ----------------------------------------------------------------------


def _resources() -> tuple[int, float]:
    """Threads and bytes of memory of the cluster, or of this machine."""
    client = cluster_client()
    if client is None:
        return CPU_COUNT, float(available_memory())
    threads = client.nthreads()
    # Some versions of Dask tell of a few workers only.
    seen = [worker["memory_limit"] for worker in client.scheduler_info()["workers"].values()]
    each = min(seen, default=0) or available_memory()
    return max(sum(threads.values()), 1), float(each) * max(len(threads), 1)


def _edges(counts: np.ndarray, n_parts: int) -> np.ndarray:
    """Where to cut columns with these numbers of entries."""
    sums = np.cumsum(counts, dtype=np.float64)
    cuts = np.searchsorted(sums, sums[-1] * np.arange(1, n_parts) / n_parts) + 1
    return np.unique(np.concatenate([[0], np.minimum(cuts, len(counts)), [len(counts)]]))


def _dealt(blocks: Sequence[Delayed], places: np.ndarray, edges: np.ndarray) -> list[Delayed]:
    """Tasks that deal the columns of row blocks out."""
    n_parts = len(edges) - 1
    places, edges = delayed(places, traverse=False), delayed(edges, traverse=False)
    dealt = [_cut(block, places, edges) for block in blocks]
    return [_joined([pieces[i] for pieces in dealt]) for i in range(n_parts)]


@delayed
def _cut(block, places: np.ndarray, edges: np.ndarray) -> list:
    """The columns of a block of rows, as rows, between every two edges."""
    block = _cleaned(as_matrix(block))
    if sp.issparse(block):
        shape = block.shape[0], len(places)
        # Half the traffic of every pass, where it can be had.
        index = np.int32 if max(*shape, block.nnz) < 2**31 else np.int64
        indices = np.searchsorted(places, block.indices).astype(index)
        entries = block.data, indices, block.indptr.astype(index)
        turned = sp.csr_array(entries, shape=shape).T.tocsr()
    else:
        turned = np.ascontiguousarray(block.T)
    return [turned[a:b] for a, b in pairwise(edges)]


@delayed
def _joined(pieces: list):
    return sp.hstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.hstack(pieces)
