"""Metrics of a selection of columns: reconstruction error, redundancy, and preserved similarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist.criteria import Criterion, get_criterion
from columnist.data import matrices_of
from columnist.data._parameters import Integer, checked
from columnist.data._validation import resolve_columns
from columnist.linalg._passes import column_blocks, columns_of, merge_repeats, squared_norms
from columnist.linalg._reduce import power_of_two
from columnist.linalg._second_moment import kernel_blocks, squared_kernel_norm

# A column that varies by less than this share of its largest entry is constant.
_ROUNDING = 4 * np.finfo(np.float64).eps
# Below this share of its terms an expanded square has lost half of its digits.
_CANCELLED = 1e-8


@checked(n_components=Integer(0))
def reconstruction_error(
    X,
    columns: Sequence[int | str],
    *,
    y=None,
    sample_weight=None,
    criterion: str | Criterion = "frobenius",
    n_components: int = 0,
    centering: str = "none",
    relative: bool = False,
) -> float:
    r"""Error of approximating X, or y, by given columns of X, computed from the data.

    .. math:: \Theta\left(T - X_S A - V C\right), \quad A, V, C \text{ optimal},

    where T is X or y, S the given columns, and V has ``n_components`` free directions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str
        The selection: indices, names of a data frame's columns, or a mask.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Target; X itself if None. A vector of strings, booleans or integers holds class labels
        and is replaced by their indicator matrix.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts.
    criterion : str or Criterion, default="frobenius"
        Error of the residual; ``"frobenius"`` is the squared norm.
    n_components : int, default=0
        Extracted directions in addition to the columns.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` adds an intercept.
    relative : bool, default=False
        Divide by the error without any column or component.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.metrics import reconstruction_error
    >>> X = load_wine(as_frame=True).data
    >>> reconstruction_error(X, ["proline", "magnesium"], relative=True) < 0.01
    True
    """
    criterion = get_criterion(criterion)
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    columns = resolve_columns("columns", columns, X.shape[1], names)
    matrices = matrices_of(
        X, y, sample_weight=sample_weight, target=y is not None, center=centering == "mean"
    )
    error = matrices.error(columns, criterion, n_components)
    if not relative:
        return error
    total = matrices.error([], criterion)
    return error / total if total > 0.0 else 0.0


def redundancy_rate(
    X, columns: Sequence[int | str] | None = None, *, absolute: bool = True
) -> float:
    r"""Mean correlation of the pairs of columns.

    .. math:: \frac{2}{k(k-1)} \sum_{i < j} |\rho_{ij}|

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str, optional
        The selection: indices, names of a data frame's columns, or a mask; all if None.
    absolute : bool, default=True
        Whether correlations count by their size; with signs if False.

    Returns
    -------
    float
        Between 0 and 1 (-1 and 1 with signs). Pairs with a constant column do not count; 0 if
        no pair is left.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.metrics import redundancy_rate
    >>> X = load_iris(as_frame=True).data
    >>> round(redundancy_rate(X), 3)
    0.594
    >>> round(redundancy_rate(X, ["petal length (cm)", "petal width (cm)"]), 3)
    0.963
    """
    X = _selected(X, columns)
    blocks = list(column_blocks(X.shape[1], X.shape[0]))
    total, varying = 0.0, 0
    for i, first in enumerate(blocks):
        units = _units(columns_of(X, first))
        varying += units.shape[1]
        correlations = units.T @ units
        np.fill_diagonal(correlations, 0.0)
        total += _sum(correlations, absolute)
        for second in blocks[i + 1 :]:
            total += 2.0 * _sum(units.T @ _units(columns_of(X, second)), absolute)
    return total / (varying * (varying - 1)) if varying > 1 else 0.0


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
    F = _features(X, columns, weights=weights, normalize=normalize)
    K = _square(similarity, F.shape[0], "similarity")
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
        Symmetric matrices; also what the similarity functions of :mod:`columnist.spectral` return.
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
    K = _square(K, None, "K")
    S = _square(S, K.shape[0], "S")
    if not normalize:
        return _inner(K, S)
    K, S = K / power_of_two(K), S / power_of_two(S)
    lengths = np.sqrt(_inner(K, K) * _inner(S, S))
    if lengths == 0.0:
        raise ValueError("A similarity that is zero everywhere has no direction to compare.")
    return float(_inner(K, S) / lengths)


@checked()
def neighbour_jaccard(
    X,
    similarity,
    columns: Sequence[int | str] | None = None,
    *,
    n_neighbors: int = 5,
    weights=None,
    normalize: bool = True,
) -> float:
    r"""Share of nearest neighbours that the selected columns and a similarity have in common.

    The mean over the samples of :math:`|A \cap B| / |A \cup B|`, where A holds the k other
    samples with the largest inner products in the selected columns, and B those with the
    largest similarities.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    similarity : array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity; also what the similarity functions of :mod:`columnist.spectral` return.
    columns : sequence of int or str, optional
        The selection: indices, names of a data frame's columns, or a mask; all if None.
    n_neighbors : int, default=5
        k, less than the number of samples. Of equally near samples the first count.
    weights : array-like of shape (n_columns, n_components), optional
        W, for inner products in :math:`X_F W` instead of :math:`X_F`.
    normalize : bool, default=True
        Divide every column by its length first.

    Returns
    -------
    float
        Between 0 (no neighbour in common) and 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.metrics import neighbour_jaccard
    >>> X = load_iris().data
    >>> K = X @ X.T
    >>> neighbour_jaccard(X, K, normalize=False)
    1.0
    >>> round(neighbour_jaccard(X, K, [0, 2], normalize=False), 2)
    0.91
    """
    F = _features(X, columns, weights=weights, normalize=normalize)
    K = _square(similarity, F.shape[0], "similarity")
    if n_neighbors >= F.shape[0]:
        raise ValueError(
            f"n_neighbors must be less than the number of samples ({F.shape[0]}); "
            f"got {n_neighbors}."
        )
    total = 0.0
    for rows, block in kernel_blocks(F):
        other = K[rows].toarray() if sp.issparse(K) else K[rows].copy()
        near, expected = (_nearest(B, rows.start, n_neighbors) for B in (block, other))
        common = (near & expected).sum(axis=1)
        total += float((common / (2 * n_neighbors - common)).sum())
    return total / F.shape[0]


def _selected(X, columns):
    """Checked columns of X."""
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    X = merge_repeats(X)
    return X if columns is None else X[:, resolve_columns("columns", columns, X.shape[1], names)]


def _features(X, columns, *, weights=None, normalize: bool):
    """Checked columns of X, of unit length if asked, times the weights if there are any."""
    X = _selected(X, columns).astype(np.float64)
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


def _square(S, n_samples: int | None, name: str):
    """A checked square matrix of samples, dense or in sparse rows."""
    if hasattr(S, "toarray") and not sp.issparse(S):
        S = S.toarray()
    S = check_array(S, accept_sparse="csr", dtype=np.float64, input_name=name)
    if S.shape[0] != S.shape[1]:
        raise ValueError(f"{name} must be a square matrix of samples; got shape {S.shape}.")
    if n_samples is not None and S.shape[0] != n_samples:
        raise ValueError(f"{name} is a matrix of {S.shape[0]} samples; expected {n_samples}.")
    return merge_repeats(S)


def _sum(correlations: np.ndarray, absolute: bool) -> float:
    correlations = np.clip(correlations, -1.0, 1.0, out=correlations)
    return float(np.abs(correlations, out=correlations).sum() if absolute else correlations.sum())


def _units(part: np.ndarray) -> np.ndarray:
    """Columns without their means and of length 1; constant columns are left out."""
    largest = np.abs(part).max(axis=0, initial=0.0)
    part = part[:, largest > 0.0] / largest[largest > 0.0]
    part -= part.mean(axis=0)
    lengths = np.linalg.norm(part, axis=0)
    varying = lengths > _ROUNDING * np.sqrt(len(part))
    return part[:, varying] / lengths[varying]


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


def _nearest(block: np.ndarray, start: int, k: int) -> np.ndarray:
    """Mask of the k largest entries of every row but its own, the first among equals."""
    rows = np.arange(len(block))
    block[rows, start + rows] = -np.inf
    least = -np.partition(-block, k - 1, axis=1)[:, k - 1 : k]
    above, level = block > least, block == least
    room = k - above.sum(axis=1, keepdims=True)
    return above | (level & (np.cumsum(level, axis=1) <= room))
