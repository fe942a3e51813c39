"""How well selected columns preserve a similarity of the samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist.data._validation import resolve_columns
from columnist.linalg._passes import column_blocks, columns_of, merge_repeats, squared_norms
from columnist.linalg._reduce import power_of_two
from columnist.linalg._second_moment import kernel_blocks, squared_kernel_norm

__all__ = ["matrix_consistency", "resolve_matrix", "selected_data", "similarity_residue"]

# Below this share of its terms an expanded square has lost half of its digits.
_CANCELLED = 1e-8


def similarity_residue(
    X,
    similarity,
    columns: Sequence[int | str] | None = None,
    *,
    weights=None,
    normalize: bool = True,
    squared: bool = False,
) -> float:
    r"""Distance between the inner products in the selected columns and a similarity.

    .. math:: \|X_F X_F^T - K\|_F \quad\text{or}\quad \|X_F W W^T X_F^T - K\|_F

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    similarity : array-like or sparse matrix of shape (n_samples, n_samples)
        K, symmetric; also what the similarity functions of :mod:`columnist.spectral` return.
    columns : sequence of int or str, optional
        F: indices, names of a data frame's columns, or a mask; all if None.
    weights : array-like of shape (n_columns, n_components), optional
        W, a row for each of the columns, in their order.
    normalize : bool, default=True
        Divide every column by its length first (W belongs to columns so divided).
    squared : bool, default=False
        The square of the distance.

    Returns
    -------
    float

    Notes
    -----
    A sparse K is not made dense.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.metrics import similarity_residue
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> K = X @ X.T
    >>> similarity_residue(X, K, [0, 1], normalize=False)
    0.0
    >>> similarity_residue(X, K, [0], normalize=False)
    2.0
    """
    F = selected_data(X, columns, weights=weights, normalize=normalize)
    K = resolve_matrix(similarity, F.shape[0], "similarity")
    # Neither squares nor fourth powers may overflow.
    scale = max(power_of_two(K), power_of_two(F) ** 2)
    F, K = F / np.sqrt(scale), K / scale
    square = _expanded(F, K) if sp.issparse(K) else _direct(F, K)
    residue = scale * np.sqrt(square)
    return float(residue * residue if squared else residue)


def matrix_consistency(K, S, *, normalize: bool = False) -> float:
    r"""Agreement :math:`\mathrm{tr}(KS)` of two similarities of the same samples.

    Parameters
    ----------
    K, S : array-like or sparse matrix of shape (n_samples, n_samples)
        Symmetric matrices; also what the similarity functions of :mod:`columnist.spectral`
        return.
    normalize : bool, default=False
        Divide by the lengths of both, :math:`\|K\|_F \|S\|_F`: at most 1, for K = S up to a
        positive factor.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.metrics import matrix_consistency
    >>> matrix_consistency(np.eye(2), np.ones((2, 2)))
    2.0
    >>> round(matrix_consistency(np.eye(2), np.ones((2, 2)), normalize=True), 4)
    0.7071
    """
    K = resolve_matrix(K, None, "K")
    S = resolve_matrix(S, K.shape[0], "S")
    if not normalize:
        return _inner(K, S)
    K, S = K / power_of_two(K), S / power_of_two(S)
    lengths = np.sqrt(_inner(K, K) * _inner(S, S))
    if lengths == 0.0:
        raise ValueError("A similarity that is zero everywhere has no direction to compare.")
    return float(_inner(K, S) / lengths)


def selected_data(X, columns, *, weights=None, normalize: bool):
    """Checked columns of X, of unit length if asked, times the weights if there are any."""
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    X = merge_repeats(X)
    if columns is not None:
        X = X[:, resolve_columns("columns", columns, X.shape[1], names)]
    X = X.astype(np.float64)
    if normalize:
        X = X / power_of_two(X)
        lengths = np.sqrt(squared_norms(X))
        scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        X = X @ sp.diags_array(scales) if sp.issparse(X) else X * scales
    if weights is None:
        return X
    W = check_array(weights, dtype=np.float64, input_name="weights")
    if W.shape[0] != X.shape[1]:
        raise ValueError(
            f"weights must have a row for each of the {X.shape[1]} columns; got {W.shape[0]} rows."
        )
    return np.asarray(X @ W)


def resolve_matrix(S, n_samples: int | None, name: str):
    """A checked square matrix of samples, dense or in sparse rows."""
    if hasattr(S, "toarray") and not sp.issparse(S):
        S = S.toarray()
    S = check_array(S, accept_sparse="csr", dtype=np.float64, input_name=name)
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"{name} must be a square matrix of samples; got shape {S.shape}.")
    if n_samples is not None and S.shape[0] != n_samples:
        raise ValueError(f"{name} is a matrix of {S.shape[0]} samples; expected {n_samples}.")
    return merge_repeats(S)


def _direct(F, K) -> float:
    """Squared distance of FF' and K, block by block."""
    total = 0.0
    for rows, block in kernel_blocks(F):
        block -= K[rows].toarray() if sp.issparse(K) else K[rows]
        total += float(np.vdot(block, block))
    return total


def _expanded(F, K) -> float:
    """The same from products with K only, unless too much cancels."""
    mixed = 0.0
    for columns in column_blocks(F.shape[1], F.shape[0]):
        part = columns_of(F, columns)
        mixed += float(np.vdot(part, K @ part))
    terms = squared_kernel_norm(F), _inner(K, K)
    square = sum(terms) - 2.0 * mixed
    return square if square > _CANCELLED * sum(terms) else _direct(F, K)


def _inner(K, S) -> float:
    if sp.issparse(K):
        return float(K.multiply(S).sum())
    return _inner(S, K) if sp.issparse(S) else float(np.vdot(K, S))
