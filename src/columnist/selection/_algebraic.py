"""Selectors based on a matrix factorisation."""

from __future__ import annotations

import numpy as np

from columnist.data import Matrices
from columnist.data._parameters import Number
from columnist.data._validation import random_generator
from columnist.selection._base import FastSelector
from columnist.selection._factors import pivoted_columns, right_vectors, strong_rrqr


class PivotedQRSelector(FastSelector):
    r"""Add the column that is farthest from the span of the selected ones, one at a time.

    These are the first k pivots of a QR factorisation with column pivoting:

    .. math:: \arg\max_j \|(I - QQ^T) x_j\|, \quad Q \text{ an orthonormal basis of the choice}.

    A step costs one product with X (one pass over the nonzeros of a sparse X); a tall X is
    first reduced to its triangular factor where k is large. y is ignored.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of selection: the first j are the selection of size j.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.StrongRRQRSelector : Adds swaps, which guarantee the factorisation.
    columnist.selection.ForwardSelector : Takes the column that lowers the error most.

    References
    ----------
    .. [1] P. Businger, G. H. Golub. Linear least squares solutions by Householder
       transformations. Numerische Mathematik 7, 1965.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import PivotedQRSelector
    >>> X = scale(load_wine().data)
    >>> PivotedQRSelector(3).fit(X).selected_
    array([ 0, 10,  2])
    """

    _on_passes = True

    def __init__(self, n_features_to_select: int | float | None = None):
        self.n_features_to_select = n_features_to_select

    def _select(self, matrices: Matrices, size: int) -> list[int]:
        return pivoted_columns(matrices.X, size)


class GKSSelector(FastSelector):
    r"""Pivoted QR of the leading right singular vectors (Golub, Klema, Stewart).

    With :math:`X \approx U_r S_r V_r^T`, the columns are the first k pivots of :math:`V_r^T`: they
    span the leading singular directions well, whatever their own lengths. y is ignored.

    With up to 2000 rows or columns the decomposition is exact; beyond that, the subspace comes
    from a randomized iteration. Large sparse data are only multiplied, and the singular
    vectors of a wide X are never held whole.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    rank : int, optional
        Number r of singular vectors, at least the number of columns; equal to it by default.
    random_state : int, RandomState or None, default=None
        Randomness of the iteration; small data need none.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of selection.
    rank_ : int
        Singular vectors used: ``rank``, or the numerical rank of X if that is lower.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.LeverageSampler : Draws columns by their lengths in the same subspace.

    References
    ----------
    .. [1] G. H. Golub, V. Klema, G. W. Stewart. Rank degeneracy and least squares problems.
       Technical report, Stanford University, 1976.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import GKSSelector
    >>> X = scale(load_wine().data)
    >>> GKSSelector(3).fit(X).selected_
    array([2, 0, 6])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        rank: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rank = rank
        self.random_state = random_state

    def _select(self, matrices: Matrices, size: int) -> list[int]:
        rank = size if self.rank is None else self.rank
        if rank < size:
            raise ValueError(
                f"rank is {rank}, but {size} columns are to be selected: {rank} singular vectors "
                "determine no more than that many. Raise rank, or select fewer columns."
            )
        vectors = right_vectors(matrices.X, rank, random_generator(self.random_state))
        self.rank_ = len(vectors.values)
        return pivoted_columns(vectors.data, size, left=vectors.left)


class StrongRRQRSelector(FastSelector):
    r"""Columns of a strong rank-revealing QR factorisation (Gu and Eisenstat).

    Starts from the pivoted QR and swaps a chosen column for another one while that multiplies
    the volume of the choice by more than ``f``. With the chosen columns first,
    :math:`X\Pi = Q \begin{pmatrix} A & B \\ 0 & C \end{pmatrix}` then satisfies

    .. math:: \sigma_i(A) \ge \sigma_i(X)/q, \quad \sigma_j(C) \le q\,\sigma_{k+j}(X), \quad
              q = \sqrt{1 + f^2 k(n-k)} .

    A swap costs one pass over X with k vectors; few are needed. y is ignored.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    f : float, default=2.0
        Growth of the volume that calls for a swap, greater than 1: the smaller, the better
        the guarantee and the more swaps.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns: the order of the pivoted QR, each swapped column in the place of
        the one it replaced.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.PivotedQRSelector : The start alone.

    References
    ----------
    .. [1] M. Gu, S. C. Eisenstat. Efficient algorithms for computing a strong rank-revealing
       QR factorization. SIAM Journal on Scientific Computing 17(4), 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import StrongRRQRSelector
    >>> X = scale(load_wine().data)
    >>> StrongRRQRSelector(3).fit(X).selected_
    array([ 0, 10,  2])
    """

    _parameter_constraints = {"f": Number(1.0, above=True)}

    def __init__(self, n_features_to_select: int | float | None = None, *, f: float = 2.0):
        self.n_features_to_select = n_features_to_select
        self.f = f

    def _select(self, matrices: Matrices, size: int) -> list[int]:
        return strong_rrqr(matrices.X, size, self.f)
