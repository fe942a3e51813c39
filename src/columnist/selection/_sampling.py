"""Selectors that draw columns at random."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from columnist.data import Matrices
from columnist.data._parameters import Flag
from columnist.data._validation import random_generator
from columnist.linalg._memory import available_memory
from columnist.linalg._passes import squared_norms
from columnist.selection._base import FastSelector
from columnist.selection._expected_volume import least_expected
from columnist.selection._factors import Deflated, column_squares, right_vectors


def draw_distinct(probabilities: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Distinct indices, drawn one after the other with renormalised probabilities. The index with
    the smallest of independent exponential variables with these rates is distributed as the first
    draw, the next as the second, and so on. Indices of probability zero are never drawn, so the
    result may be shorter than ``size``."""
    possible = np.flatnonzero(probabilities > 0.0)
    arrivals = np.log(rng.standard_exponential(len(possible)))
    arrivals -= np.log(probabilities[possible])
    size = min(size, len(possible))
    first = np.argpartition(arrivals, size - 1)[:size] if size < len(possible) else slice(None)
    possible, arrivals = possible[first], arrivals[first]
    return possible[np.argsort(arrivals, kind="stable")]


def draw_repeated(
    probabilities: np.ndarray, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Indices of ``size`` independent draws in order of appearance, and how often each came."""
    draws = rng.choice(len(probabilities), size, p=probabilities)
    indices, first, counts = np.unique(draws, return_index=True, return_counts=True)
    order = np.argsort(first)
    return indices[order], counts[order]


class _Sampler(FastSelector):
    """Draws columns; subclasses define further parameters."""

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state


class _ProbabilitySampler(_Sampler):
    """Draws columns with given probabilities."""

    replace = False
    _on_passes = True

    @abstractmethod
    def _weights(self, X, size: int, rng: np.random.Generator) -> np.ndarray:
        """Non-negative weights that the probabilities are proportional to."""

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        rng = random_generator(self.random_state)
        weights = self._weights(matrices.X, size, rng)
        total = weights.sum()
        # All columns of a matrix of zeros are equally good.
        p = weights / total if total > 0.0 else np.full(len(weights), 1 / len(weights))
        self.probabilities_ = p
        if self.replace:
            drawn, self.counts_ = draw_repeated(p, size, rng)
        else:
            drawn = draw_distinct(p, size, rng)
            self.counts_ = np.ones(len(drawn), dtype=np.intp)
        return drawn

    def _why_short(self, found: int) -> str:
        return "" if self.replace else "no others have a positive probability."


class UniformSampler(_ProbabilitySampler):
    """Sample columns uniformly at random.

    A baseline for other selectors. y is ignored.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    random_state : int, RandomState or None, default=None
        Randomness of the draw.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of drawing.
    probabilities_ : ndarray of shape (n_features,)
        Probability of every column at the first draw.
    counts_ : ndarray of int
        How often each selected column was drawn: once.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.selection import UniformSampler
    >>> X = load_wine().data
    >>> UniformSampler(3, random_state=0).fit(X).selected_
    array([3, 6, 2])
    """

    def _weights(self, X, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.ones(X.shape[1])


class NormSampler(_ProbabilitySampler):
    r"""Sample columns with probability proportional to their squared norms.

    .. math:: p_j = \|x_j\|^2 / \|X\|_F^2

    This is the sampling of Frieze, Kannan and Vempala: one pass over the data. y is ignored.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of draws; a fraction of the columns if a float in (0, 1); half if None.
    replace : bool, default=False
        Whether a column may be drawn again; repeats are merged, so fewer columns than draws
        may be selected. Without replacement the probabilities are renormalised after a draw.
    random_state : int, RandomState or None, default=None
        Randomness of the draw.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of (first) drawing.
    probabilities_ : ndarray of shape (n_features,)
        Probability of every column at the first draw.
    counts_ : ndarray of int
        How often each selected column was drawn.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    References
    ----------
    .. [1] A. Frieze, R. Kannan, S. Vempala. Fast Monte-Carlo algorithms for finding low-rank
       approximations. Journal of the ACM 51(6), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection import NormSampler
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    >>> sampler = NormSampler(2, random_state=0).fit(X)
    >>> sampler.probabilities_.round(3)
    array([0.333, 0.   , 0.667])
    >>> np.sort(sampler.selected_)
    array([0, 2])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        replace: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.replace = replace
        self.random_state = random_state

    def _weights(self, X, size: int, rng: np.random.Generator) -> np.ndarray:
        return squared_norms(X)


class LeverageSampler(_ProbabilitySampler):
    r"""Sample columns by their leverage in the best subspace of rank r.

    .. math:: p_j = \frac{1}{r} \sum_{t \le r} V_{jt}^2, \qquad X = U S V^T

    Unlike lengths, leverages measure how much the leading singular directions depend on a column.
    y is ignored.

    With up to 2000 rows or columns the decomposition is exact; beyond that, the subspace comes
    from a randomized iteration. Large sparse data are only multiplied, and the singular
    vectors of a wide X are never held whole.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of draws; a fraction of the columns if a float in (0, 1); half if None.
    rank : int, optional
        Dimension r of the subspace; the number of draws by default.
    replace : bool, default=False
        Whether a column may be drawn again; repeats are merged, so fewer columns than draws
        may be selected. Without replacement the probabilities are renormalised after a draw.
    random_state : int, RandomState or None, default=None
        Randomness of the draw, and of the iteration.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of (first) drawing.
    probabilities_ : ndarray of shape (n_features,)
        Probability of every column at the first draw.
    counts_ : ndarray of int
        How often each selected column was drawn.
    rank_ : int
        Dimension used: ``rank``, or the numerical rank of X if that is lower.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    References
    ----------
    .. [1] P. Drineas, M. W. Mahoney, S. Muthukrishnan. Relative-error CUR matrix
       decompositions. SIAM Journal on Matrix Analysis and Applications 30(2), 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection import LeverageSampler
    >>> X = np.array([[9.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    >>> LeverageSampler(2, random_state=0).fit(X).probabilities_
    array([0.5 , 0.25, 0.25])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        rank: int | None = None,
        replace: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.rank = rank
        self.replace = replace
        self.random_state = random_state

    def _weights(self, X, size: int, rng: np.random.Generator) -> np.ndarray:
        vectors = right_vectors(X, size if self.rank is None else self.rank, rng)
        self.rank_ = len(vectors.values)
        return column_squares(vectors.data, vectors.left)


class VolumeSampler(_Sampler):
    r"""Sample a set of columns with probability proportional to its squared volume.

    .. math:: P(S) = \det(X_S^T X_S) \Big/ \sum_{|T|=k} \det(X_T^T X_T)

    The expected squared error is :math:`(k+1)\,e_{k+1}/e_k`, elementary symmetric polynomials of
    the squared singular values: at most k + 1 times the best error of any rank-k matrix. The
    draw is exact, and needs the whole spectrum of X, O(mn min(m, n)). y is ignored.

    ``deterministic=True`` takes, one by one, the column after which the expected error of a draw of
    the others is least (the method of conditional expectations). Its error is at most the
    expectation above; a spectrum per column and step is needed.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    deterministic : bool, default=False
        Whether every column is taken by the least expected error instead of at random.
    random_state : int, RandomState or None, default=None
        Randomness of the draw.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of drawing.
    error_ : float
        Squared Frobenius error of reconstructing X, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the squared norm of X.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    References
    ----------
    .. [1] A. Deshpande, L. Rademacher, S. Vempala, G. Wang. Matrix approximation and
       projective clustering via volume sampling. Theory of Computing 2, 2006.
    .. [2] A. Kulesza, B. Taskar. k-DPPs: fixed-size determinantal point processes. ICML, 2011.
    .. [3] A. Deshpande, L. Rademacher. Efficient volume sampling for row/column subset selection.
       FOCS, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection import VolumeSampler
    >>> X = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> 2 in VolumeSampler(2, random_state=0).fit(X).selected_
    True
    >>> VolumeSampler(2, deterministic=True).fit(X).selected_
    array([0, 2])
    """

    _parameter_constraints = {"deterministic": Flag()}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        deterministic: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.deterministic = deterministic

    def _select(self, matrices: Matrices, size: int) -> list[int]:
        side = min(matrices.X.shape)
        need = 4 * 8.0 * side**2
        if need > available_memory():
            raise MemoryError(
                f"Volume sampling needs the whole spectrum of X: about {need / 2**30:.0f} GB for a "
                f"smaller side of {side}. Use LeverageSampler, or select rows or columns first."
            )
        if self.deterministic:
            return least_expected(matrices.X, size)
        return volume_sample(matrices.X, size, random_generator(self.random_state))


def volume_sample(X, size: int, rng: np.random.Generator) -> list[int]:
    r"""A volume sample of ``size`` columns, or of as many as the rank of X. First k right singular
    vectors, with probability proportional to the product of their :math:`\sigma^2`; then columns
    one by one, each with probability proportional to its squared length in the span of those
    vectors, after projecting out the columns drawn before."""
    vectors = right_vectors(X, None, None)
    size = min(size, len(vectors.values))
    vectors = vectors.keep(choose_vectors(vectors.values, size, rng))
    columns = Deflated(vectors.data, size, left=vectors.left)
    chosen: list[int] = []
    while len(chosen) < size and columns.squares.any():
        reached = np.cumsum(columns.squares)
        # Side "right": a column of length zero is never drawn.
        drawn = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        if columns.take(drawn):
            chosen.append(drawn)
    return chosen


def log_symmetric(log_weights: np.ndarray, size: int) -> np.ndarray:
    r"""Logarithms of elementary symmetric polynomials of positive weights. Entry (i, l) is
    :math:`\log e_l(w_1 \dots w_i)`, from :math:`e_l(w_1 \dots w_i) = e_l(w_1 \dots w_{i-1}) + w_i
    e_{l-1}(w_1 \dots w_{i-1})`. Sums of positive numbers lose nothing, and logarithms neither
    overflow nor underflow."""
    table = np.full((len(log_weights) + 1, size + 1), -np.inf)
    table[:, 0] = 0.0
    for i, weight in enumerate(log_weights):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], weight + table[i, :-1])
    return table


def choose_vectors(values: np.ndarray, size: int, rng: np.random.Generator) -> list[int]:
    """``size`` indices with probability proportional to the product of the squared values."""
    if size == 0:
        return []
    weights = 2.0 * np.log(values / values[0])
    table = log_symmetric(weights, size)
    chosen: list[int] = []
    for i in range(len(weights) - 1, -1, -1):
        wanted = size - len(chosen)
        if wanted == 0:
            break
        if rng.random() < np.exp(weights[i] + table[i, wanted - 1] - table[i + 1, wanted]):
            chosen.append(i)
    return chosen
