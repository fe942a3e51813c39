"""The kernel XX' of a data matrix, block by block and never stored. No input validation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from columnist.linalg.passes import by_columns, column_blocks, columns_of, row_blocks

__all__ = ["filled_columns", "kernel_blocks", "kernel_cost", "squared_kernel_norm"]

# Cost of one pair of entries in a sparse column, in units of one pair of rows in a dense one.
_PAIR = 256
# A column with more entries than this share of the rows is better dense: _HEAVY**2 * _PAIR = 1.
_HEAVY = 1 / 16
# Cost of writing and reading one entry of a kernel that a sparse product made, in the same units.
_ENTRY = 400
# Cutting rows off a sparse matrix copies it: worth it after this share of them.
_TRIM = 1 / 16
# Entries of dense columns that are made once and not for every block: 64 MB.
_KEPT = 2**23


def kernel_blocks(X, *, upper: bool = False) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows of XX' as dense float64 blocks, a slice of the rows with each.

    The few columns with many entries would make a sparse product quadratic in the number of
    rows, so they are multiplied as dense blocks and only the others as sparse ones.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Data.
    upper : bool, default=False
        Leave out the columns before the first row of each block: XX' is symmetric.

    Yields
    ------
    rows : slice
        Which rows of XX'.
    block : ndarray of shape (rows.stop - rows.start, m) or, with ``upper``, (..., m - rows.start)
        Those rows; the caller may change it.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg.second_moment import kernel_blocks
    >>> [block for _, block in kernel_blocks(np.array([[1.0, 2.0], [0.0, 3.0]]))]
    [array([[5., 6.],
           [6., 9.]])]
    """
    m = X.shape[0]
    light, heavy = _split(filled_columns(X))
    by_rows, first = light.tocsr(), 0
    for rows in row_blocks(m, 2 * m):
        start = rows.start if upper else 0
        if start - first > _TRIM * m:
            light, first = light[start - first :], start
        block = _dense_block(heavy, rows, slice(start, m))
        if light.nnz:
            block += (by_rows[rows] @ light.T).toarray()[:, start - first :]
        yield rows, block


def squared_kernel_norm(X) -> float:
    """Squared Frobenius norm of XX' (and of X'X): the sum of the singular values' fourth powers.

    Takes the smaller of the two products, block by block, half of each by symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg.second_moment import squared_kernel_norm
    >>> squared_kernel_norm(np.diag([1.0, 2.0]))
    17.0
    """
    total = 0.0
    for rows, block in kernel_blocks(X if X.shape[0] <= X.shape[1] else X.T, upper=True):
        square = block[:, : rows.stop - rows.start]
        total += 2.0 * float(np.vdot(block, block)) - float(np.vdot(square, square))
    return total


def filled_columns(X):
    """X without the empty columns of a sparse matrix: XX' does not see them."""
    X = by_columns(X)
    return X[:, np.flatnonzero(np.diff(X.indptr))] if sp.issparse(X) else X


def kernel_cost(X) -> float:
    """About how many multiplications :func:`squared_kernel_norm` needs, before it is called."""
    X = by_columns(X if X.shape[0] <= X.shape[1] else X.T)
    rows = float(X.shape[0])
    if not sp.issparse(X):
        return rows**2 * X.shape[1]
    counts = np.diff(X.indptr)
    pairs = np.minimum(_PAIR * np.square(counts, dtype=np.float64), rows**2)
    return float(pairs.sum() + _ENTRY * rows**2)


def _split(X) -> tuple[sp.csc_array, np.ndarray | sp.csc_array]:
    """Columns with few entries, in float64, and those with many (a dense X is all of these)."""
    if not sp.issparse(X):
        return sp.csc_array((X.shape[0], 0)), X
    heavy = np.diff(X.indptr) > _HEAVY * X.shape[0]
    light = X[:, np.flatnonzero(~heavy)].astype(np.float64)
    popular = X[:, np.flatnonzero(heavy)]
    small = popular.shape[0] * popular.shape[1] <= _KEPT
    return light, columns_of(popular, slice(None)) if small else popular


def _dense_block(X, rows: slice, others: slice) -> np.ndarray:
    """``X[rows] @ X[others].T`` in float64 from a block of dense columns at a time."""
    if not sp.issparse(X) and X.dtype == np.float64:
        return X[rows] @ X[others].T
    block = np.zeros((rows.stop - rows.start, others.stop - others.start))
    for columns in column_blocks(X.shape[1], X.shape[0]):
        part = columns_of(X, columns)
        block += part[rows] @ part[others].T
    return block
