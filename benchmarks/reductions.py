r"""Reductions over the rows of a collection that the scaling benchmark measures.

Every function takes a Dask array or dataframe with any number of rows and a moderate number of
columns. Blocks are visited where they are, and small results merged in a tree.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from columnist.data._parameters import Integer
from columnist.data._target import open_target
from columnist.data._validation import random_generator
from columnist.distributed._moments import opened
from columnist.linalg._moments import Moments, merged_moments, moments_of

__all__ = [
    "Factors",
    "LeastSquares",
    "column_norms",
    "least_squares",
    "randomized_svd",
    "row_leverages",
    "tall_qr",
]

# Extra directions of a randomized decomposition.
_OVERSAMPLING = 10


class Factors(NamedTuple):
    """A decomposition whose left factor is as long as the data, and not computed yet."""

    left: Any
    values: np.ndarray
    right: np.ndarray


class LeastSquares(NamedTuple):
    """Coefficients, intercept and the sums of squares that are left."""

    coef: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray


def column_norms(X) -> np.ndarray:
    """Lengths of the columns, without overflow, in one pass.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import dask.array as da
    >>> from benchmarks.reductions import column_norms
    >>> column_norms(da.ones((100, 2), chunks=(30, 2)))
    array([10., 10.])
    """
    return opened(X).fold(_norms, _merged_norms)


def tall_qr(X) -> Factors:
    r"""Orthonormal basis and triangular factor of a tall matrix.

    R comes from the moments, in one pass. :math:`Q = X R^{-1}` loses orthogonality where X is
    ill-conditioned, so that Q is factored once more and what it lacks goes into R.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data of full column rank.

    Returns
    -------
    Factors
        ``left`` is Q, a Dask array that is computed when it is used, ``right`` is R, and
        ``values`` the diagonal of R.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from benchmarks.reductions import tall_qr
    >>> X = np.random.default_rng(0).standard_normal((1000, 4))
    >>> Q, _, R = tall_qr(da.from_array(X, chunks=(300, 4)))
    >>> bool(np.allclose((Q.T @ Q).compute(), np.eye(4))), bool(np.allclose((Q @ R).compute(), X))
    (True, True)
    """
    X = opened(X)
    first = _triangle_of(X.moments())
    second = _triangle_of(X.fold(_TurnedMoments(first), merged_moments))
    R = second @ first
    signs = np.where(np.diag(R) < 0.0, -1.0, 1.0)
    R *= signs[:, None]
    return Factors(X.map(_Solved(first, second * signs[:, None]), len(R)), np.diag(R).copy(), R)


def least_squares(X, y, *, intercept: bool = False) -> LeastSquares:
    """Regression of y on the columns, in one pass.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data.
    y : Dask collection or array-like of shape (n_samples,) or (n_samples, n_targets)
        Target; class labels become an indicator matrix.
    intercept : bool, default=False
        Whether a constant is free.

    Returns
    -------
    LeastSquares
        Of smallest norm where the columns depend on one another.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from benchmarks.reductions import least_squares
    >>> X = da.from_array(np.arange(10.0)[:, None], chunks=(3, 1))
    >>> fit = least_squares(X, 2 * X[:, 0] + 1, intercept=True)
    >>> fit.coef.round(6), fit.intercept.round(6)
    (array([[2.]]), array([1.]))
    """
    X = opened(X)
    joint, n = X.moments(*open_target(y, X)), X.n_features
    rows = joint.factor()
    if not intercept:
        rows = np.vstack([np.sqrt(joint.count) * joint.mean, rows])
    coef = scipy.linalg.lstsq(rows[:, :n], rows[:, n:], check_finite=False)[0]
    left = np.square(rows[:, n:] - rows[:, :n] @ coef).sum(axis=0)
    constant = joint.mean[n:] - joint.mean[:n] @ coef if intercept else np.zeros(len(left))
    return LeastSquares(coef, constant, left)


def randomized_svd(
    X, n_components: int, *, center: bool = False, n_passes: int = 4, random_state=None
) -> Factors:
    r"""Leading singular values and vectors, by a few passes.

    Each pass multiplies a random basis of the row space by :math:`X^T X`, which is never formed;
    the last one takes the moments of X in that basis.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data, with columns too many for their inner products, or too many to be worth it.
    n_components : int
        Number of singular values.
    center : bool, default=False
        Remove the means of the columns first.
    n_passes : int, default=4
        Passes that improve the basis.
    random_state : int, RandomState or None, default=None
        Randomness of the start.

    Returns
    -------
    Factors
        ``left`` is a Dask array of shape (n_samples, n_components), computed when it is used;
        ``values`` are the singular values; ``right`` has one singular vector a row.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from benchmarks.reductions import randomized_svd
    >>> X = np.outer(np.arange(100.0), [3.0, 4.0, 0.0])
    >>> svd = randomized_svd(da.from_array(X, chunks=(30, 3)), 1, random_state=0)
    >>> bool(np.isclose(svd.values[0], np.linalg.norm(X)))
    True
    """
    X = opened(X)
    Integer(1).check("n_components", n_components)
    Integer(1).check("n_passes", n_passes)
    n = X.n_features
    if n_components > n:
        raise ValueError(f"n_components is {n_components}, but X has {n} columns.")
    width = min(n_components + _OVERSAMPLING, n)
    basis = np.linalg.qr(random_generator(random_state).standard_normal((n, width)))[0]
    for _ in range(n_passes):
        image = X.fold(_Kernel(basis), _merged_kernels)
        product = image.products - (np.outer(image.sums, image.turned) / image.n if center else 0)
        basis = np.linalg.qr(product)[0]
    turned = X.fold(_Turned(basis), merged_moments)
    rows = turned.factor()
    if not center:
        rows = np.vstack([np.sqrt(turned.count) * turned.mean, rows])
    _, values, Vt = np.linalg.svd(rows, full_matrices=False)
    values, right = values[:n_components], (Vt @ basis.T)[:n_components]
    mean = turned.mean @ Vt[:n_components].T if center else 0.0
    return Factors(X.map(_Left(right, values, mean), len(values)), values, right)


def row_leverages(X, *, center: bool = False):
    r"""Leverage :math:`x^T (X^T X)^+ x` of every row: how much the row alone holds a direction.

    Parameters
    ----------
    X : Dask array or dataframe of shape (n_samples, n_features)
        Data.
    center : bool, default=False
        Remove the means of the columns first.

    Returns
    -------
    Dask array of shape (n_samples,)
        Computed when it is used. Leverages sum to the rank of X.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from benchmarks.reductions import row_leverages
    >>> X = da.from_array(np.array([[3.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), chunks=(2, 2))
    >>> row_leverages(X).compute()
    array([1. , 0.5, 0.5])
    """
    X = opened(X)
    summed = X.moments()
    rows = summed.factor()
    if not center:
        rows = np.vstack([np.sqrt(summed.count) * summed.mean, rows])
    _, s, Vt = np.linalg.svd(rows, full_matrices=False)
    kept = s > max(summed.count, X.n_features) * np.finfo(np.float64).eps * s.max(initial=0.0)
    turn = Vt[kept].T / s[kept]
    shift = summed.mean @ turn if center else np.zeros(turn.shape[1])
    return X.map(_Squares(turn, shift), None)


def _triangle_of(summed: Moments) -> np.ndarray:
    """Triangular factor of the columns themselves, means included."""
    n = len(summed.mean)
    rows = np.vstack([np.sqrt(summed.count) * summed.mean, summed.factor()])
    if len(rows) < n:
        raise ValueError(f"tall_qr needs at least as many rows as columns ({n}).")
    R = scipy.linalg.qr(rows, mode="r", check_finite=False)[0][:n]
    if np.abs(np.diag(R)).min() <= n * np.finfo(np.float64).eps * np.abs(R).max():
        raise ValueError("tall_qr needs independent columns: select some first.")
    return R


def _dense(block) -> np.ndarray:
    block = block.toarray() if sp.issparse(block) else block
    return block.astype(np.float64, copy=False)


class _Solved:
    """Rows times the inverse of triangular factors, one after the other."""

    def __init__(self, *factors: np.ndarray):
        self.factors = factors

    def __call__(self, block) -> np.ndarray:
        rows = _dense(block).T
        for R in self.factors:
            rows = scipy.linalg.solve_triangular(R, rows, trans="T", check_finite=False)
        return rows.T


class _TurnedMoments:
    """Moments of rows times the inverse of a triangular factor."""

    def __init__(self, *factors: np.ndarray):
        self.factors = factors
        self._turn = _Solved(*factors)

    def __call__(self, block) -> Moments:
        return moments_of(self._turn(block))

    def operations(self, block) -> float:
        """Multiplications of the solution and of the inner products."""
        return 1.5 * block.shape[0] * float(block.shape[1]) ** 2


class _Turned:
    """Moments of rows in a basis."""

    def __init__(self, basis: np.ndarray):
        self.basis = basis

    def __call__(self, block) -> Moments:
        return moments_of(np.asarray(block @ self.basis, dtype=np.float64))

    def operations(self, block) -> float:
        """Multiplications of the product and of the inner products."""
        width = self.basis.shape[1]
        return block.shape[0] * float(width) * (block.shape[1] + width)


class _Image(NamedTuple):
    n: int
    sums: np.ndarray
    turned: np.ndarray
    products: np.ndarray


class _Kernel:
    """X'XB, with the sums that centring needs."""

    def __init__(self, basis: np.ndarray):
        self.basis = basis

    def __call__(self, block) -> _Image:
        assert_all_finite(block.data if sp.issparse(block) else block, input_name="X")
        turned = np.asarray(block @ self.basis, dtype=np.float64)
        sums = np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()
        return _Image(block.shape[0], sums, turned.sum(axis=0), np.asarray(block.T @ turned))

    def operations(self, block) -> float:
        """Multiplications of the two products."""
        return 2.0 * block.shape[0] * block.shape[1] * self.basis.shape[1]


def _merged_kernels(parts: list[_Image]) -> _Image:
    return _Image._make(reduce(add, values) for values in zip(*parts, strict=True))


class _Left:
    """Left singular vectors of some rows."""

    def __init__(self, right: np.ndarray, values: np.ndarray, mean):
        self.right, self.values, self.mean = right, values, mean

    def __call__(self, block) -> np.ndarray:
        scores = np.asarray(block @ self.right.T, dtype=np.float64) - self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.values > 0.0, scores / self.values, 0.0)


class _Squares:
    """Squared lengths of rows after a linear map."""

    def __init__(self, turn: np.ndarray, shift: np.ndarray):
        self.turn, self.shift = turn, shift

    def __call__(self, block) -> np.ndarray:
        scores = np.asarray(block @ self.turn, dtype=np.float64) - self.shift
        return np.einsum("ij,ij->i", scores, scores)


def _norms(block) -> np.ndarray:
    assert_all_finite(block.data if sp.issparse(block) else block, input_name="X")
    block = block.astype(np.float64)
    largest = abs(block).max(axis=0) if block.shape[0] else np.zeros(block.shape[1])
    largest = largest.toarray().ravel() if sp.issparse(largest) else largest
    scaled = block * (1.0 / np.where(largest > 0.0, largest, 1.0))
    return largest * np.sqrt(np.asarray((scaled * scaled).sum(axis=0)).ravel())


def _merged_norms(parts: list[np.ndarray]) -> np.ndarray:
    return _norms(np.vstack(parts))
