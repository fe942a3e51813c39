"""Dask arrays and dataframes as blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise, product
from typing import Any, cast

import dask.array as da
import dask.dataframe as dd
import numpy as np
import scipy.sparse as sp
from dask.delayed import delayed

from columnist.data._blocks import RowBlocks, register_blocks
from columnist.distributed._columns import DaskColumns, cut_columns
from columnist.distributed._run import (
    as_matrix,
    cluster_client,
    compute,
    compute_in_turn,
    merge_tree,
    tell,
    visit_task,
)
from columnist.distributed._warn import warn_caller
from columnist.distributed._workers import DaskWorkers

__all__ = ["ChunkWarning", "DaskRows", "open_dask", "row_chunks"]

# Bytes of a block: larger ones do not fit into a worker, many tiny ones cost more than they hold.
_LARGEST = 2**30
_TINY = 2**16
_MOST_TINY = 1000
_GOOD = "128MiB"


def open_dask(X) -> DaskRows | None:
    """A Dask array or dataframe as blocks."""
    if isinstance(X, da.Array):
        return DaskRows(_checked_array(X))
    if isinstance(X, (dd.DataFrame, dd.Series)):
        return DaskRows(_checked_frame(X))
    raise TypeError(
        f"Expected a Dask array or dataframe, got a Dask {type(X).__name__}: make an array of it "
        "first (dask.array.from_delayed, to_dask_array), or compute it."
    )


class DaskRows(RowBlocks):
    """A Dask array or dataframe, cut into blocks of whole rows."""

    def __init__(self, data: da.Array | dd.DataFrame | dd.Series):
        self.data: Any = data
        self.is_frame = not isinstance(data, da.Array)
        self.ndim = data.ndim
        self.n_features = 1 if data.ndim == 1 else int(data.shape[1])
        self.dtype = _dtype(data)
        self.is_sparse = not self.is_frame and not isinstance(data._meta, np.ndarray)
        self.header = data._meta if self.is_frame else np.empty((1, self.n_features))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        known = () if self.is_frame else self.data.chunks[0]
        if known and not np.isnan(known).any():
            return tuple(int(length) for length in known)
        return tuple(int(length) for length in self.collect(len))

    # -- reductions ---------------------------------------------------------------

    def fold(self, visit: Callable, merge: Callable[[list], Any], *along) -> Any:
        tasks = self._visits(visit, along)
        return compute([merge_tree(delayed(merge), tasks)])[0]

    def collect(self, visit: Callable, *along) -> list:
        results = compute(self._visits(visit, along))
        tell("brought", results)
        return results

    def first(self, visit: Callable) -> Any:
        return compute([visit_task(delayed(visit), self._blocks()[0])])[0]

    def stream(self, visit: Callable, *along) -> Iterator:
        parts = [self._parts(other) for other in along]
        return compute_in_turn(delayed(visit), list(zip(self._blocks(), *parts, strict=True)))

    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        blocks, starts, visit = self._blocks(), self.starts.tolist(), delayed(visit)
        merge = delayed(merge)
        tasks = [
            merge_tree(merge, [visit_task(visit, a, b, i, j) for b, j in _with(blocks, starts)])
            for a, i in _with(blocks, starts)
        ]
        results = compute(tasks)
        tell("brought", results)
        tell("sent bytes", self._bytes() * (len(blocks) - 1))
        return results

    def fold_links(self, visit: Callable, merge: Callable[[list], Any], links: sp.csr_array) -> Any:
        blocks, visit = self._blocks(), delayed(visit)
        edges = np.append(self.starts, sum(self.lengths))
        tasks = []
        for a, b in product(range(len(blocks)), repeat=2):
            tile = links[edges[a] : edges[a + 1], edges[b] : edges[b + 1]]
            if tile.nnz or (a == b == 0):
                moved = 0.0 if a == b else self._bytes() * self.lengths[b] / max(edges[-1], 1)
                tell("sent", tile)
                tell("sent bytes", moved)
                tasks.append(visit_task(visit, blocks[a], blocks[b], delayed(tile)))
        return compute([merge_tree(delayed(merge), tasks)])[0]

    def _bytes(self) -> float:
        """Bytes of all blocks; of sparse ones nobody knows before they are there."""
        return 0.0 if self.is_sparse else float(np.prod(self.shape)) * self.dtype.itemsize

    def _visits(self, visit: Callable, along) -> list:
        blocks, visit = self._blocks(), delayed(visit)
        parts = [self._parts(other) for other in along]
        return [visit_task(visit, *row) for row in zip(blocks, *parts, strict=True)]

    def _blocks(self) -> list:
        return list(np.ravel(np.asarray(self.data.to_delayed(), dtype=object)))

    def _parts(self, other) -> list:
        """The blocks of something with as many rows."""
        if isinstance(other, RowBlocks):
            return cast(DaskRows, other.cut_like(self))._blocks()
        edges = np.append(self.starts, sum(self.lengths))
        tell("sent", other)
        return [delayed(other[a:b]) for a, b in pairwise(edges)]

    # -- collections --------------------------------------------------------------

    def map(self, visit: Callable, n_columns: int | None, dtype=np.float64) -> da.Array:
        visit = delayed(_Plain(visit))
        width = () if n_columns is None else (n_columns,)
        lengths = [np.nan] * self.data.npartitions if self.is_frame else self.data.chunks[0]
        parts = [
            da.from_delayed(visit(block), shape=(length, *width), dtype=dtype)
            for block, length in zip(self._blocks(), lengths, strict=True)
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)

    def take(self, columns: np.ndarray):
        if self.is_frame:
            return self.data[[self.data.columns[i] for i in columns]]
        if self.is_sparse:
            return self.data.map_blocks(
                _columns, columns, chunks=(self.data.chunks[0], (len(columns),)), dtype=self.dtype,
                meta=self.data._meta,
            )  # fmt: skip
        return self.data[:, columns]

    def divided(self, scale: float) -> DaskRows:
        if self.is_frame:
            return DaskRows(self.data / scale)
        return DaskRows(
            self.data.map_blocks(_divided, scale, dtype=np.float64, meta=self.data._meta)
        )

    def workers(self) -> DaskWorkers | None:
        client = cluster_client()
        return None if client is None else DaskWorkers(client)

    def by_columns(self) -> DaskColumns:
        return cut_columns(self)

    def cut_like(self, other: Any) -> DaskRows:
        if self.is_frame and other.is_frame and self.data.npartitions == other.data.npartitions:
            return self  # visits compare the lengths
        if self.shape[0] != other.shape[0]:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"[{other.shape[0]}, {self.shape[0]}]"
            )
        if self.lengths == other.lengths:
            return self
        return DaskRows(self._as_array().rechunk({0: other.lengths}))

    def _as_array(self) -> da.Array:
        """The same as an array whose chunks are known."""
        width = () if self.ndim == 1 else (self.n_features,)
        if not self.is_frame:
            chunks = (self.lengths, *((n,) for n in width))
            return da.Array(self.data.dask, self.data.name, chunks, meta=self.data._meta)
        convert = delayed(as_matrix)
        parts = [
            da.from_delayed(convert(block), (length, *width), dtype=self.dtype)
            for block, length in _with(self._blocks(), self.lengths)
        ]
        return da.concatenate(parts)


class _Plain:
    """A visitor whose result is wanted alone."""

    def __init__(self, visit: Callable):
        self._visit = visit

    def __call__(self, block):
        return self._visit(as_matrix(block))


def _with(blocks, numbers):
    return zip(blocks, numbers, strict=True)


def _columns(block, columns):
    return block[:, columns]


def _divided(block, scale: float):
    return block / scale


def _dtype(data) -> np.dtype:
    if not isinstance(data, da.Array):
        kinds = [data.dtype] if data.ndim == 1 else list(data.dtypes)
        return np.result_type(*kinds) if all(map(_is_numeric, kinds)) else np.dtype(object)
    return data.dtype


def _is_numeric(dtype) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fiub"


def _checked_array(X: da.Array) -> da.Array:
    if X.ndim not in (1, 2):
        raise ValueError(f"Expected a Dask array with rows and columns; got {X.ndim} dimensions.")
    _check_any(X.shape)
    return row_chunks(X)


def _checked_frame(X: dd.DataFrame | dd.Series) -> dd.DataFrame | dd.Series:
    _check_any((np.nan, *X.shape[1:]))
    return X


def _check_any(shape) -> None:
    """Raise unless there is something; a length that nobody knows may be anything."""
    for length, what in zip(shape, ("sample", "feature"), strict=False):
        if length == 0:
            raise ValueError(f"Found array with 0 {what}(s) while a minimum of 1 is required.")


# -- chunks -----------------------------------------------------------------------


class ChunkWarning(UserWarning):
    """A Dask array had to be cut anew."""


def row_chunks(X: da.Array) -> da.Array:
    """The array in chunks of whole rows of a reasonable size; warns where it is cut anew."""
    if X.ndim == 2 and len(X.chunks[1]) > 1:
        _warn(
            f"its columns are cut into {len(X.chunks[1])} chunks, but rows are needed whole",
            "rechunk({1: -1}), or better, store it that way",
        )
        if np.isnan(X.shape[0]):
            return X.rechunk({1: -1})
        X = X.rechunk({0: "auto", 1: -1}, block_size_limit=_GOOD)
    if np.isnan(X.shape[0]):
        return X
    width = X.dtype.itemsize * (X.shape[1] if X.ndim == 2 else 1)
    heights = X.chunks[0]
    dense = not _is_sparse(X)
    if dense and max(heights) * width > _LARGEST and max(heights) > 1:
        gigabytes = max(heights) * width / 2**30
        _warn(f"it has a chunk of {gigabytes:.1f} GB", "rechunk it to about 100 MB")
        X = X.rechunk({0: "auto"}, block_size_limit=_GOOD)
    elif len(heights) > _MOST_TINY and sum(heights) * width / len(heights) < _TINY:
        _warn(f"it has {len(heights)} tiny chunks", "rechunk it to about 100 MB")
        X = X.rechunk({0: "auto"}, block_size_limit=_GOOD)
    return X


def _is_sparse(X: da.Array) -> bool:
    return not isinstance(X._meta, np.ndarray)


def _warn(what: str, instead: str) -> None:
    warn_caller(
        f"A Dask array is cut anew for this computation: {what}. To spare that, {instead} first.",
        ChunkWarning,
    )


register_blocks("dask", open_dask)
