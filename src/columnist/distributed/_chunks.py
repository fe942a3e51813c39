"""Blocks of rows out of whatever chunks a Dask array has."""

from __future__ import annotations

import dask.array as da
import numpy as np

from columnist.distributed._warn import warn_caller

__all__ = ["ChunkWarning", "row_chunks"]

# Bytes of a block: larger ones do not fit into a worker, many tiny ones cost more than they hold.
_LARGEST = 2**30
_TINY = 2**16
_MOST_TINY = 1000
_GOOD = "128MiB"


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
