"""Reduction of the data to a small matrix with the same errors.

Every error is a function of the singular values of :math:`(I - QQ^T)T`, where Q is a basis of
chosen columns of X and T is the target (X itself, or y). Rotations change none of them, so X and T
are rotated once into a basis of their joint range in which :math:`TT^T` is diagonal. With X = U
diag(s) V' as its own target this is ``columns = V diag(s)``, ``weights = s**2``; with a target Y
the basis also holds the part of Y outside the range of X, which no column can reduce but which
matters for criteria other than Frobenius.

A randomized reduction keeps only part of the range. Compressing a residual can only lower its
singular values, so every error on the reduced matrix is then a *lower* bound (``exact`` is False).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.linalg._column_parts import largest_entry
from columnist.linalg._moments import moments_of, triangle
from columnist.linalg._passes import columns_of, without_means
from columnist.linalg._residual import SHORT, of_like_length
from columnist.linalg._rounding import DEPENDENT, EPS, NEARLY_DEPENDENT, rank_floor

# Number of rows from which a matrix is checked for being rotated already, and what is more than
# rounding.
_LARGE, _CLEARLY = 500, 1e-6
# A mean this many times as long as the deviations from it costs digits that count.
_FAR = 10.0
# Operations that a second look at the rank may cost, and what is clearly less than rounding.
_CHEAP, _CLEARLY_LESS = 1e9, 0.05
# Columns written out at a time.
_SOME = 256
# Entries within this and its inverse can be squared and summed safely.
_TINY = 1e-70


@dataclass(frozen=True)
class Reduced:
    """A column-selection problem in small coordinates.

    Attributes
    ----------
    columns : ndarray of shape (n_features, r)
        Row i is column i of the (scaled) data.
    weights : ndarray of shape (r,)
        Diagonal second moment of the (scaled) target, descending.
    scale : float
        Power of two that was divided out of the target: true singular
        values are ``scale`` times the reduced ones.
    exact : bool
        Whether the reduced errors are the true ones (else lower bounds).
    rank : int
        Numerical rank of the columns.
    lost : float
        Energy of the target left out by a randomized reduction, as a share of its energy.
    power : int
        2 if the columns come from their Gram matrix, where digits are lost twice; else 1. See
        :mod:`columnist.linalg._rounding`.
    """

    columns: np.ndarray
    weights: np.ndarray
    scale: float
    exact: bool
    rank: int
    lost: float = 0.0
    power: int = 1

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return self.columns.shape[0]


def reduce_data(
    X,
    Y: np.ndarray | None = None,
    *,
    center: bool = False,
    rank: int | None = None,
    rng: np.random.Generator | None = None,
) -> Reduced:
    """Reduce data, dense or sparse, with an optional target. No input validation.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Data.
    Y : ndarray of shape (m, q), optional
        Target; X itself when None.
    center : bool, default=False
        Subtract column means (of X and Y) first; a sparse X is not densified for it.
    rank : int, optional
        If given, a randomized reduction to about this many directions.
    rng : numpy.random.Generator, optional
        Randomness of the randomized reduction.

    Returns
    -------
    Reduced

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._reduce import reduce_data
    >>> reduced = reduce_data(np.diag([3.0, 2.0, 0.0]))
    >>> reduced.rank, reduced.exact
    (2, True)
    """
    x_scale = power_of_two(X)
    y_scale = x_scale if Y is None else power_of_two(Y)
    X = X / x_scale
    Y = None if Y is None else Y / y_scale
    lost = 0.0
    if X.size:
        X, Y = _of_like_length(X, Y)
    if Y is not None and center:
        Y = without_means(Y)
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if center else None
    if rank is not None:
        small, target, lost = _sketched(X, Y, mean, rank, rng)
    elif sp.issparse(X):
        small, target = _sparse_factor(X, Y, mean)
    else:
        small, target = _dense_factor(X if mean is None else without_means(X), Y)
    return _rotate(small, target, y_scale, exact=rank is None, lost=lost)


def reduce_gram(G: np.ndarray) -> Reduced:
    """Reduce a Gram or covariance matrix of the columns (symmetric, PSD).

    Raises
    ------
    ValueError
        If the matrix has clearly negative eigenvalues.
    """
    scale = power_of_two(np.sqrt(np.abs(G)))
    G = 0.5 * (G + G.T) / scale**2
    # On columns of one length, so that short ones do not drown.
    lengths = np.sqrt(np.diag(G).clip(min=0.0))
    unit = np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(G / unit / unit[:, None])
    floor = len(G) * EPS * max(values[-1], 0.0)
    if values[0] < -1e3 * max(floor, EPS):
        raise ValueError(
            "input='gram' needs a positive semi-definite matrix; the smallest eigenvalue is "
            f"{np.linalg.eigvalsh(G)[0] * scale**2:.3g}. Pass the data themselves with "
            "input='data', or a covariance matrix estimated without pairwise deletion."
        )
    keep = np.flatnonzero(values > floor)[::-1]
    factor = np.sqrt(values[keep])[:, None] * vectors[:, keep].T * lengths
    return replace(_rotate(factor, None, scale, exact=True, lost=0.0), power=2)


def power_of_two(X) -> float:
    """Power of two near the largest entry of X: dividing by it rounds nothing."""
    largest = largest_entry(X)
    return 1.0 if largest == 0.0 else float(2.0 ** np.round(np.log2(largest)))


def squaring_scale(X) -> float:
    """What to divide X by so that its entries can be squared and summed; 1 if they can as is."""
    scale = power_of_two(X)
    return 1.0 if can_be_squared(scale) else scale


def can_be_squared(scale: float) -> bool:
    """Whether entries of this size can be squared and summed safely."""
    return _TINY < scale < 1.0 / _TINY


def _of_like_length(X, Y):
    """Columns that can be squared beside the longest: a selection does not care how long they are.
    Where they are the target, too, that stays as it is. A sparse X with such columns is written
    out: it does not come from counts."""
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sp.issparse(largest) else largest
    if largest.min(initial=np.inf, where=largest > 0.0) >= SHORT * largest.max(initial=0.0):
        return X, Y
    X = X.toarray() if sp.issparse(X) else X
    return of_like_length(X.T).T, (X if Y is None else Y)


def _dense_factor(X: np.ndarray, Y: np.ndarray | None):
    """Triangular factor of [X Y] when tall (same inner products, fewer rows)."""
    joint = X if Y is None else np.hstack([X, Y])
    if joint.shape[0] > joint.shape[1]:
        joint = triangle(joint)
    return _split(joint, X.shape[1], Y is not None)


def _split(joint: np.ndarray, n: int, has_target: bool):
    return joint[:, :n], (joint[:, n:] if has_target else None)


def _sparse_factor(X, Y, mean):
    """A small factor with the inner products of [X Y], as exact as a QR of the rows."""
    m, n = X.shape
    width = n if Y is None else n + Y.shape[1]
    if n <= m <= 2 * width:  # so few rows are written out: moments would be no smaller
        X = X.toarray()
        return _dense_factor(X if mean is None else without_means(X), Y)
    if n <= m:
        joint = X if Y is None else sp.hstack([X, sp.csr_array(Y)], format="csr")
        moments = moments_of(joint)
        factor = moments.factor()
        if mean is None:
            factor = np.vstack([factor, np.sqrt(m) * moments.mean])
        else:
            lengths = np.linalg.norm(factor, axis=0)
            factor[:, lengths <= m * EPS * np.sqrt(m) * np.abs(moments.mean)] = 0.0  # constant
        return _split(factor, n, Y is not None)
    # Fewer rows than columns: rotate the rows into the eigenbasis of XX'.
    kernel = (X @ X.T).toarray()
    if mean is not None:
        cross = np.asarray(X @ mean).ravel()
        kernel = kernel - cross[:, None] - cross[None, :] + mean @ mean
    _, U = np.linalg.eigh(kernel)
    small = np.asarray((X.T @ U).T)
    if mean is not None:
        small = small - np.outer(U.sum(axis=0), mean)
        # Columns far from zero lose digits to their means unless these go first.
        lengths = np.linalg.norm(small, axis=0)
        far = np.flatnonzero(np.sqrt(m) * np.abs(mean) > _FAR * lengths)
        for start in range(0, len(far), _SOME):
            some = far[start : start + _SOME]
            small[:, some] = U.T @ without_means(columns_of(X, some))
    return small, (None if Y is None else U.T @ Y)


def randomized_range(
    X, rank: int, *, n_iter: int = 4, oversampling: int = 10, rng: np.random.Generator
) -> np.ndarray:
    r"""Orthonormal basis (m x min(rank + oversampling, m, n)) of most of the range of X, an array,
    a sparse matrix or an operator: :math:`\mathrm{orth}((XX^T)^q X\Omega)` for Gaussian
    :math:`\Omega`, orthonormalised after every product."""
    m, n = X.shape
    width = min(rank + oversampling, m, n)
    Q, _ = np.linalg.qr(X @ rng.standard_normal((n, width)))
    for _ in range(n_iter):
        Z, _ = np.linalg.qr(X.T @ Q)
        Q, _ = np.linalg.qr(X @ Z)
    return Q


def _sketched(X, Y, mean, rank, rng):
    """Project on a randomized range; also the share of the target's energy left out."""
    operator = X if mean is None else _Centered(X, mean)
    Q = randomized_range(operator, rank, rng=rng)
    if Y is not None:
        Q, _ = np.linalg.qr(np.hstack([Q, Y]))
    small = np.asarray(X.T @ Q).T
    if mean is not None:
        small = small - np.outer(Q.sum(axis=0), mean)
    if Y is not None:
        return small, Q.T @ Y, 0.0
    total = float(X.multiply(X).sum()) if sp.issparse(X) else float(np.vdot(X, X))
    if mean is not None:
        total -= X.shape[0] * float(mean @ mean)
    return small, None, max(0.0, 1.0 - float(np.vdot(small, small)) / total) if total else 0.0


class _Centered:
    """X - 1 mean' as an operator, for matrices that must stay sparse."""

    def __init__(self, X, mean, transposed=False):
        self.X, self.mean, self.transposed = X, mean, transposed
        self.shape = X.shape[::-1] if transposed else X.shape

    @property
    def T(self):
        return _Centered(self.X, self.mean, not self.transposed)

    def __matmul__(self, other):
        if self.transposed:
            return np.asarray(self.X.T @ other) - np.outer(self.mean, other.sum(axis=0))
        return np.asarray(self.X @ other) - self.mean @ other


def _is_rotated(small: np.ndarray) -> bool:
    """Whether rows are orthogonal, and all clearly longer than rounding: nothing is left to do."""
    if len(small) < _LARGE or len(small) > small.shape[1]:
        return False
    lengths = np.linalg.norm(small, axis=1)
    if lengths.min() <= _CLEARLY * lengths.max():
        return False
    probe = np.random.default_rng(0).standard_normal((len(small), 4))
    image = small @ (small.T @ probe) - (lengths**2)[:, None] * probe
    return bool(np.abs(image).max() <= 64 * len(small) * EPS * lengths.max() ** 2)


def _rotate(small, target, scale, *, exact, lost) -> Reduced:
    """Coordinates in which the target's second moment is diagonal."""
    if target is None and _is_rotated(small):
        weights = np.square(small).sum(axis=1)
        order = np.argsort(-weights, kind="stable")
        columns = np.ascontiguousarray(small[order].T)
        return Reduced(columns, weights[order], scale, exact, len(small), lost)
    U, s, rank = _range_of(small)
    if rank < len(small) and _hides_columns(small, s, rank):
        # A selection does not care how long columns are: short ones must not pass for rounding.
        lengths = np.linalg.norm(small, axis=0)
        seen, _, more = _range_of(small / np.where(lengths > 0.0, lengths, 1.0))
        if more != rank or lengths[lengths > 0.0].min() * NEARLY_DEPENDENT < _floor(small, s):
            U, rank = seen, more
            target = small if target is None else target
    # U'C and not diag(s)V': columns that are zero stay zero, small ones stay accurate.
    columns = (U[:, :rank].T @ small).T
    if target is None:
        return Reduced(np.ascontiguousarray(columns), s[:rank] ** 2, scale, exact, rank, lost)
    inside = U[:, :rank].T @ target
    outside = np.linalg.qr(target - U[:, :rank] @ inside, mode="r")
    joint = np.vstack([inside, outside])
    if joint.shape[1] > len(joint):  # a square factor has the same left vectors
        joint = triangle(joint.T).T
    W, t, _ = scipy.linalg.svd(joint, check_finite=False)
    weights = np.zeros(len(W))
    weights[: len(t)] = t**2
    return Reduced(np.ascontiguousarray(columns @ W[:rank]), weights, scale, exact, rank, lost)


def _range_of(small: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Left vectors, singular values, and how many of them are not rounding."""
    U, s, _ = scipy.linalg.svd(small, full_matrices=False, check_finite=False)
    return U, s, int((s > _floor(small, s)).sum())


def _floor(small: np.ndarray, s: np.ndarray) -> float:
    return rank_floor(small.shape, s.max(initial=0.0))


def _hides_columns(small: np.ndarray, s: np.ndarray, rank: int) -> bool:
    """Whether some columns are so short that what counts as rounding may be a part of them; where a
    second look is expensive, only if what was dropped is not clearly rounding."""
    lengths = np.linalg.norm(small, axis=0)
    shortest, floor = (
        lengths[lengths > 0.0].min(initial=np.inf),
        _floor(small, s),
    )
    work = float(small.size) * min(small.shape)
    if work > _CHEAP and s[rank:].max(initial=0.0) < _CLEARLY_LESS * floor:
        return bool(shortest * NEARLY_DEPENDENT < floor)
    return bool(shortest * DEPENDENT < floor)
