"""Opening of data: X and y of any kind become the :class:`Matrices` of a selection.

Arrays, frames and sparse matrices are checked and kept; blocks of rows and streams give way to a
few rows with the same moments, or, with too many columns, to blocks of columns or an array.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_consistent_length

from columnist.data._blocks import RowBlocks, as_rows, open_blocks
from columnist.data._matrices import SMALL_ENTRIES, Matrices
from columnist.data._missing import estimated_matrices, has_gaps
from columnist.data._target import open_target
from columnist.data._validation import check_weights, open_data, read_data
from columnist.data._weights import (
    WeightedRows,
    matrices_from,
    present_rows,
    weighted_matrices,
)
from columnist.linalg._column_parts import ColumnParts
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import merge_repeats

# Entries of a sparse matrix without any that are written out.
_NOTHING = 10**7


def open_matrices(
    estimator,
    X,
    y=None,
    *,
    sample_weight=None,
    target: bool,
    center: bool = False,
    gram: bool = False,
    passes: bool = False,
    rows: bool = False,
    means: bool = False,
    missing: str = "raise",
    open_y: Callable = open_target,
    **checks,
) -> Matrices:
    """Check the data of an estimator and make them ready for a selection.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like, sparse matrix, Dask collection, RunningMoments or ColumnParts
        The columns; those in parts were checked by the selector that has cut them.
    y : array-like or Dask collection, optional
        The target, unless it came with the rows.
    sample_weight : array-like or Dask collection, optional
        How often each row counts.
    target : bool
        Whether the target is approximated, and not X.
    center : bool, default=False
        Whether means are free.
    gram : bool, default=False
        Whether X is a Gram matrix.
    passes : bool, default=False
        Whether X is read by the functions of ``linalg._passes`` alone, so that very many columns
        can stay where they are.
    rows : bool, default=False
        Whether more is needed than means and inner products.
    means : bool, default=False
        Whether rows that represent others must have their means, free or not.
    missing : {"raise", "covariance", "pairwise"}, default="raise"
        What to do if X has missing values; other than "raise", rows must be here.
    open_y : callable, optional
        Opens y, as :func:`columnist.data._target.open_target` does.
    **checks
        Of scikit-learn.

    Returns
    -------
    Matrices
    """
    if isinstance(X, ColumnParts):
        estimator.n_features_in_ = X.shape[1]
    else:
        gaps = missing != "raise"
        read = read_data if rows or gram or gaps else open_data
        finite = {"ensure_all_finite": "allow-nan"} if gaps else {}
        X = read(estimator, X, **{"dtype": [np.float64, np.float32], **finite, **checks})
        if gram:
            _check_gram(X)
        if gaps and has_gaps(X):
            y = y if target else None
            return _matrices_with_gaps(X, y, sample_weight, center, missing, open_y)
    return matrices_of(
        X, y, sample_weight=sample_weight, target=target, center=center, gram=gram, passes=passes,
        means=means, open_y=open_y,
    )  # fmt: skip


def matrices_of(
    X,
    y=None,
    *,
    sample_weight=None,
    target: bool,
    center: bool = False,
    gram: bool = False,
    passes: bool = False,
    means: bool = False,
    open_y: Callable = open_target,
) -> Matrices:
    """The same for data that were checked: :func:`open_matrices` has the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.data import matrices_of
    >>> matrices_of(np.eye(3), ["a", "b", "a"], target=True).Y
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    started = time.perf_counter()
    if sample_weight is not None and gram:
        raise ValueError(
            "input='gram' has no rows to weigh: pass the weighted covariance matrix, or the data."
        )
    if sample_weight is not None and not isinstance(X, RowBlocks):
        rows, kind = weighted_rows(X, y if target else None, sample_weight, open_y)
        return replace(weighted_matrices(rows, center=center, means=means), target_kind=kind)
    along, read = open_y(y, X) if target and y is not None else (None, None)
    kind = None if read is None else read.kind
    if not isinstance(X, RowBlocks):
        X = X if passes else in_memory(X)
        Y = _whole(along, read, X.shape[0])
        return Matrices(_plain(X), Y, gram=gram, center=center, target_kind=kind)
    parts = X.wide_columns()
    if parts is None:
        weights = _weights_of(X, sample_weight)
        matrices = _from_moments(X, along, read, weights, target=target, center=center, means=means)
    elif sample_weight is not None:
        here = in_memory(parts)
        rows, _ = weighted_rows(here, y if target else None, sample_weight, open_y)
        matrices = weighted_matrices(rows, center=center, means=means)
    else:
        Y = _whole(along, read, parts.shape[0])
        matrices = Matrices(parts if passes else in_memory(parts), Y, center=center)
    if target and read is None:
        kind = X.target_kind
    spent = time.perf_counter() - started
    return replace(matrices, target_kind=kind, workers=X.workers(), preparation=spent)


def _matrices_with_gaps(
    X, y, sample_weight, center: bool, missing: str, open_y: Callable
) -> Matrices:
    """Rows with the moments that are estimated from what is there."""
    weights = None
    if sample_weight is not None:
        X, y, weights, *_ = present_rows(X, y, sample_weight)
    along, read = (None, None) if y is None else open_y(y, X)
    kind, Y = None if read is None else read.kind, _whole(along, read, X.shape[0])
    matrices = estimated_matrices(
        X, Y, missing, weights=weights, center=center, classes=kind == "classes"
    )
    return replace(matrices, target_kind=kind)


def weighted_rows(X, y, sample_weight, open_y: Callable) -> tuple[WeightedRows, str | None]:
    """Checked rows in memory that have a weight, next to their opened target, and what that is."""
    rows = present_rows(_plain(in_memory(X)), y, sample_weight)
    if y is None:
        return rows, None
    along, read = open_y(rows.Y, rows.X)
    return rows._replace(Y=_whole(along, read, rows.X.shape[0])), read.kind


def _weights_of(X: RowBlocks, sample_weight) -> np.ndarray | None:
    """Weights of the rows of a collection; those of a stream came with its rows."""
    if sample_weight is None or not X.keeps_rows:
        return sample_weight
    return check_weights(sample_weight, X.shape[0])


def open_rows(
    estimator, X, *, whole: bool = False, ensure_min_samples: int = 1, **checks
) -> RowBlocks:
    """Rows to visit, checked as scikit-learn does: a collection as it is cut, an array at once.

    A collection whose rows are needed ``whole`` is gathered.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from columnist.data import open_rows
    >>> open_rows(BaseEstimator(), [[1.0, 2.0], [3.0, 4.0]]).collect(np.sum)
    [np.float64(10.0)]
    """
    read = read_data if whole else open_data
    X = read(estimator, X, ensure_min_samples=ensure_min_samples, **checks)
    rows = as_rows(merge_repeats(X))
    if rows.shape[0] < ensure_min_samples:
        raise ValueError(
            f"Found array with {rows.shape[0]} sample(s) (shape={rows.shape}) while a minimum of "
            f"{ensure_min_samples} is required by {type(estimator).__name__}."
        )
    return rows


def check_rows(X, **checks) -> RowBlocks:
    """The same for a function without an estimator; open rows were examined before.

    Examples
    --------
    >>> from columnist.data import check_rows
    >>> check_rows([[1, 2], [3, 4]], dtype=float).gather()
    array([[1., 2.],
           [3., 4.]])
    """
    blocks = open_blocks(X)
    if blocks is None:
        return as_rows(check_array(X, input_name="X", **checks))
    if blocks is not X:
        blocks.largest()
    return blocks


def uses_target(option: str, X, y) -> bool:
    """Whether a selection with ``target=option`` approximates the target that came with X or as y.

    Examples
    --------
    >>> from columnist.data import uses_target
    >>> uses_target("auto", [[1.0]], None), uses_target("auto", [[1.0]], [1.0])
    (False, True)
    """
    given = is_target_given(X, y)
    if option == "y" and not given:
        raise ValueError("target='y' needs a y: call fit(X, y), or use target='X'.")
    return given and option != "X"


def is_target_given(X, y) -> bool:
    """Whether there is a target: as y, or with the rows of a stream."""
    return y is not None or (isinstance(X, RowBlocks) and X.has_target)


def in_memory(X):
    """X itself; all rows, or all columns as float64 if they fit, of what is kept in blocks."""
    if not isinstance(X, ColumnParts):
        blocks = open_blocks(X)
        return X if blocks is None else blocks.gather()
    check_memory(
        2.0 * X.nbytes * 8 / X.dtype.itemsize,
        f"Bringing a matrix of {X.shape[0]} x {X.shape[1]} into one process",
        "Use ForwardSelector, PivotedQRSelector, TwoStageSelector or a sampler: they leave wide "
        "data where they are.",
    )
    return X.gather().astype(np.float64, copy=False)


def _from_moments(
    X: RowBlocks,
    along,
    read,
    weights: np.ndarray | None,
    *,
    target: bool,
    center: bool,
    means: bool,
) -> Matrices:
    """A few rows with the means and inner products of all, found in one pass."""
    moments, n = X.moments(along, read, weights), X.n_features

    @cache
    def source() -> Matrices:
        data = X.gather().astype(np.float64, copy=False)
        return Matrices(data, _whole(along, read, X.shape[0]), center=center)

    known = X.keeps_rows and target == (along is not None) and X.shape[0] * n <= SMALL_ENTRIES
    known = known and weights is None
    return matrices_from(
        moments, n, target, center=center, means=means, source=source if known else None
    )


def _check_gram(G: np.ndarray) -> None:
    if G.shape[0] != G.shape[1]:
        raise ValueError(f"input='gram' needs a square matrix; got shape {G.shape}.")
    if not np.allclose(G, G.T, rtol=1e-8, atol=1e-10 * np.abs(G).max(initial=0.0)):
        raise ValueError("input='gram' needs a symmetric matrix.")


def _plain(X):
    """X itself; a sparse one without repeated places, and dense if it has no entries at all."""
    X = merge_repeats(X)
    empty = sp.issparse(X) and X.nnz == 0 and X.shape[0] * X.shape[1] < _NOTHING
    return X.toarray() if empty else X


def _whole(along, read, n_samples: int) -> np.ndarray | None:
    """The whole target, which may come in blocks of rows."""
    if not isinstance(along, RowBlocks):
        return along
    Y = np.concatenate(along.collect(read))
    check_consistent_length(Y, np.empty(n_samples))
    return Y
