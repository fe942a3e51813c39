"""Collections of blocks at the door of this family: opened, looked at, or gathered."""

from __future__ import annotations

import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from columnist.data._blocks import RowBlocks, open_blocks
from columnist.linalg._memory import check_memory

__all__ = ["checked_blocks", "checked_largest", "gathered", "read_target"]


def checked_blocks(X) -> RowBlocks | None:
    """X as blocks whose entries are finite; None if it is no collection of blocks.

    What is open already was looked at before.
    """
    if isinstance(X, RowBlocks):
        return X
    blocks = open_blocks(X)
    if blocks is not None:
        checked_largest(blocks)
    return blocks


def checked_largest(X: RowBlocks) -> float:
    """Largest entry in absolute value, of entries that are all finite."""
    return X.fold(_checked_largest, max)


def gathered(X):
    """All rows in one array; what is no collection of blocks comes back as it is."""
    blocks = open_blocks(X)
    if blocks is None:
        return X
    n, m = blocks.shape
    if not blocks.is_sparse:
        check_memory(
            2.0 * n * m * blocks.dtype.itemsize,
            f"Bringing {n} x {m} entries into one process",
            "Use similarity='knn', which works on blocks, or select rows first.",
        )
    return blocks.gather()


def read_target(y):
    """Labels or values of all samples, in one array if they come in blocks."""
    blocks = open_blocks(y)
    return y if blocks is None else blocks.gather()


def _checked_largest(X) -> float:
    values = X.data if sp.issparse(X) else X
    assert_all_finite(values, input_name="X")
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))
