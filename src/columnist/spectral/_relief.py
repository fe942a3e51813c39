"""Relief and ReliefF: features that differ between near samples of different classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils import ClassifierTags
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_array

from columnist.data._parameters import checked
from columnist.data._target import resolve_classes
from columnist.linalg._passes import merge_repeats
from columnist.spectral._base import ScoreSelector
from columnist.spectral._l1_neighbors import (
    NearestByClass,
    sparse_sums_of_differences,
    sums_of_differences,
)

__all__ = ["Relief", "ReliefF", "neighbor_graph", "relative_differences", "relief_similarity"]

# Distances that agree in so many binary digits of the largest possible one count as equal.
_DIGITS = 40
# Samples that meet in one call of the kernel: between two calls a run can be interrupted.
_STEP = 1024
# Fewer samples per thread are not worth one.
_PER_THREAD = 256


class _ReliefBase(ScoreSelector):
    """Differences to the nearest misses minus differences to the nearest hits."""

    _needs_classes = True

    def _score(self, X, codes: np.ndarray, n_neighbors: int, n_jobs) -> np.ndarray:
        _check_hits(self.classes_, codes, type(self).__name__)
        n, sizes = len(codes), np.bincount(codes)
        weights = sizes / (n - sizes)[:, None]
        np.fill_diagonal(weights, -1.0)
        graph = neighbor_graph(X, codes, n_neighbors, weights / n, n_jobs=n_jobs)
        return relative_differences(X, graph, n_jobs=n_jobs)


class ReliefF(_ReliefBase):
    r"""Keep the features that tell near samples of different classes apart.

    Every sample looks at its h nearest hits (samples of its class) and at its h nearest misses in
    every other class. A good feature differs between the sample and its misses, not between the
    sample and its hits:

    .. math:: s_f = \frac{1}{n h} \sum_i \Big( \sum_{C \ne y_i} \frac{P(C)}{1 - P(y_i)}
              \sum_{j \in M_C(i)} \frac{|x_{if} - x_{jf}|}{r_f}
              - \sum_{j \in H(i)} \frac{|x_{if} - x_{jf}|}{r_f} \Big)

    with the shares P of the classes and the range :math:`r_f` of the feature. Near means a small
    sum of :math:`|x_{if} - x_{jf}| / r_f` over all features, so features that matter only together
    are found too.

    Parameters
    ----------
    n_features_to_select : int or float, optional
        How many features to keep: a number, a fraction in (0, 1), or half of them (None).
    n_neighbors : int, default=10
        The number h of nearest hits, and of nearest misses per class. A class with fewer samples
        takes part with all it has, and h in the formula is their number.
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result is the same for every number.

    Attributes
    ----------
    raw_scores_ : ndarray of shape (n_features,)
        The score above, between -1 and 1; NaN for a constant feature.
    scores_ : ndarray of shape (n_features,)
        The same: larger is better.
    ranking_ : ndarray of int
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        The classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    Relief : For two classes, with one hit and one miss.
    relief_similarity : The similarity of samples behind the score.

    Notes
    -----
    All samples are used, so there is nothing random. Time grows with ``n_samples**2`` times the
    number of features, or of nonzeros per sample if X is sparse; memory is that of X and of the
    neighbours. Distances are computed in float64; those that agree to
    about twelve digits count as equal, and then the sample that comes first in X is nearer.
    Categories must be encoded as numbers: one indicator column per category.

    References
    ----------
    I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML 1994.

    M. Robnik-Šikonja and I. Kononenko, "Theoretical and empirical analysis of ReliefF and
    RReliefF", Machine Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral._relief import ReliefF
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = ReliefF(3).fit(X, y)
    >>> selector.selected_
    array([11,  6, 12])
    >>> selector.scores_[selector.selected_].round(3)
    array([0.181, 0.168, 0.162])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 10,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _raw_scores(self, X, y) -> np.ndarray:
        return self._score(X, y, self.n_neighbors, self.n_jobs)


class Relief(_ReliefBase):
    r"""Keep the features that differ at the nearest sample of the other class.

    .. math:: s_f = \frac{1}{n} \sum_i \frac{|x_{if} - m_{if}| - |x_{if} - h_{if}|}{r_f}

    where :math:`h_i` is the nearest sample of the same class, :math:`m_i` that of the other class,
    and :math:`r_f` the range of the feature. There must be two classes. It is
    :class:`ReliefF` with one neighbour.

    Parameters
    ----------
    n_features_to_select : int or float, optional
        How many features to keep: a number, a fraction in (0, 1), or half of them (None).
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result is the same for every number.

    Attributes
    ----------
    raw_scores_ : ndarray of shape (n_features,)
        The score above, between -1 and 1; NaN for a constant feature.
    scores_ : ndarray of shape (n_features,)
        The same: larger is better.
    ranking_ : ndarray of int
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        The two classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    ReliefF : For any number of classes; several neighbours make it robust to noise.

    References
    ----------
    K. Kira and L. Rendell, "A practical approach to feature selection", ICML 1992.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from columnist.spectral._relief import Relief
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> Relief(3).fit(X, y).selected_
    array([21, 27, 20])
    """

    def __init__(
        self, n_features_to_select: int | float | None = None, *, n_jobs: int | None = None
    ):
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _raw_scores(self, X, y) -> np.ndarray:
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported: Relief is for two classes, and y has "
                f"{len(self.classes_)}. Use ReliefF."
            )
        return self._score(X, y, 1, self.n_jobs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags


@checked()
def relief_similarity(X, y, *, n_neighbors: int = 10, n_jobs: int | None = None) -> sp.csr_matrix:
    r"""Similarity of samples whose quadratic form is ReliefF's score with squared differences.

    A sample has similarity 1 with itself, :math:`1/h` with each of its h nearest hits, and
    :math:`-1/((c-1)h)` with each of its h nearest misses in each of the other c - 1 classes. This
    relation is not symmetric in general. A form :math:`f^T S f` sees only the symmetric part
    :math:`(S + S^T)/2`, which is returned.

    For equal classes, a symmetric relation and :math:`\|f\| = 1`,

    .. math:: f^T S f - 1 = \frac{1}{2} \sum_i \Big( \frac{1}{(c-1)h} \sum_{j \in M(i)}
              (f_i - f_j)^2 - \frac{1}{h} \sum_{j \in H(i)} (f_i - f_j)^2 \Big).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Class labels.
    n_neighbors : int, default=10
        The number h. A class with fewer samples takes part with all it has.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    csr_matrix of shape (n_samples, n_samples)
        Its entries sum to n_samples; where the relation is symmetric, every row sums to 1.

    See Also
    --------
    ReliefF : The selector.

    Examples
    --------
    >>> from columnist.spectral._relief import relief_similarity
    >>> X, y = [[0.0], [1.0], [4.0], [3.0]], ["a", "a", "b", "b"]
    >>> relief_similarity(X, y, n_neighbors=1).toarray()
    array([[ 1. ,  1. ,  0. , -0.5],
           [ 1. ,  1. , -0.5, -1. ],
           [ 0. , -0.5,  1. ,  1. ],
           [-0.5, -1. ,  1. ,  1. ]])
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    X = merge_repeats(X)
    classes, codes = resolve_classes(y, X.shape[0], "relief_similarity")
    _check_hits(classes, codes, "relief_similarity")
    weights = np.full((len(classes), len(classes)), -1.0 / (len(classes) - 1))
    np.fill_diagonal(weights, 1.0)
    S = neighbor_graph(X, codes, n_neighbors, weights, n_jobs=n_jobs)
    return sp.csr_matrix(sp.identity(len(codes)) + 0.5 * (S + S.T))


def _check_hits(classes: np.ndarray, codes: np.ndarray, caller: str) -> None:
    """Raise if some class has a single sample."""
    alone = np.flatnonzero(np.bincount(codes) == 1)
    if len(alone):
        raise ValueError(
            f"{caller} compares every sample with others of its class, but class "
            f"{classes[alone[0]]!s} has only one sample: add samples, or remove the class."
        )


def _scale_of(X: np.ndarray | sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Origin of every feature, and 1 / its range; 0 for a constant feature.

    The origin is the smallest value, which keeps the digits of features far from zero. A sparse
    feature that is zero somewhere keeps its origin, and its zeros.
    """
    if sp.issparse(X):
        low, high = min_max_axis(X, axis=0)
        filled = np.bincount(X.indices[X.data != 0.0], minlength=X.shape[1]) == X.shape[0]
    else:
        low, high, filled = X.min(axis=0), X.max(axis=0), True
    spread = high.astype(np.float64) - low
    varies = spread >= np.finfo(np.float64).tiny
    scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=varies)
    return np.where(filled, low, 0.0).astype(np.float64), scale


def neighbor_graph(
    X: np.ndarray | sp.spmatrix,
    codes: np.ndarray,
    n_neighbors: int,
    weights: np.ndarray,
    *,
    n_jobs: int | None = None,
) -> sp.csr_matrix:
    r"""Graph from every sample to its nearest samples of every class.

    Distances are :math:`\sum_f |x_f - y_f| / r_f` with the range :math:`r_f` of the feature; of
    samples at the same distance the first in X is nearer. A class with fewer than
    ``n_neighbors`` samples (besides the sample itself) has them all as neighbours.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Data, float64 or float32, finite.
    codes : ndarray of int
        Class of every sample, 0, 1, ...; every class has at least two.
    n_neighbors : int
        Neighbours per class.
    weights : ndarray of shape (n_classes, n_classes)
        Weight from a sample of the first class to all its neighbours of the second together.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    csr_matrix of shape (n_samples, n_samples)
        Row i holds the neighbours of sample i. In general not symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._relief import neighbor_graph
    >>> X, y = np.array([[0.0], [1.0], [4.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> neighbor_graph(X, y, 1, np.array([[-1.0, 1.0], [1.0, -1.0]])).toarray()
    array([[ 0., -1.,  0.,  1.],
           [-1.,  0.,  0.,  1.],
           [ 0.,  1.,  0., -1.],
           [ 0.,  1., -1.,  0.]])
    """
    n, sizes = len(codes), np.bincount(codes)
    order = np.argsort(codes, kind="stable")
    positions = _nearest(X, order, sizes, n_neighbors, n_jobs)
    there = positions < n
    rows, columns = np.repeat(order, there.sum(axis=1)), order[positions[there]]
    counts = np.minimum(n_neighbors, sizes - np.eye(len(sizes), dtype=int))
    values = (weights / counts)[codes[rows], codes[columns]]
    graph = sp.csr_matrix((values, (rows, columns)), shape=(n, n))
    graph.sort_indices()  # sums over the graph do not depend on how it was found
    return graph


def relative_differences(X, graph: sp.csr_matrix, *, n_jobs: int | None = None) -> np.ndarray:
    r"""Sum over the edges of :math:`w_{ij} |x_i - x_j| / r`, for every feature; NaN if constant.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from columnist.spectral._relief import relative_differences
    >>> graph = sp.csr_matrix([[0.0, 0.5], [0.0, 0.0]])
    >>> relative_differences(np.array([[0.0, 7.0], [5.0, 7.0]]), graph)
    array([0.5, nan])
    """
    X = _by_rows(X)
    low, scale = _scale_of(X)
    edges = graph.indptr, graph.indices, graph.data
    if sp.issparse(X):
        rows = X.indptr.astype(np.intp), X.indices.astype(np.int32, copy=False)
        sums = sparse_sums_of_differences(*edges, *rows, X.data - low[X.indices], X.shape[1])
    else:
        threads = _threads(n_jobs, X.shape[1])
        cuts = np.linspace(0, X.shape[1], threads + 1).astype(int)
        parts = [X[:, first:stop] for first, stop in pairwise(cuts)]
        sums = np.concatenate(
            _each(lambda part: sums_of_differences(*edges, part), [parts], threads)
        )
    return np.where(scale > 0.0, sums * scale, np.nan)


def _nearest(
    X, order: np.ndarray, sizes: np.ndarray, n_neighbors: int, n_jobs: int | None
) -> np.ndarray:
    """Table of the neighbours of every position of the order."""
    X = _by_rows(X)
    low, scale = _scale_of(X)
    n = X.shape[0]
    starts = np.append(0, np.cumsum(sizes))
    nearest = NearestByClass(X, low, scale, order, starts, min(n_neighbors, n), _grid(X, scale))
    threads = _threads(n_jobs, n // _PER_THREAD)
    _each(lambda ranges: nearest.meet(*ranges), _meetings(n, threads), threads)
    return nearest.positions


def _by_rows(X):
    return X.tocsr() if sp.issparse(X) else np.ascontiguousarray(X)


def _grid(X, scale: np.ndarray) -> float:
    """Distances on the same point of a grid this fine are equal but for rounding."""
    largest = max(1, int(np.count_nonzero(scale)))
    if sp.issparse(X):
        largest = min(largest, 2 * int(np.diff(X.indptr).max(initial=1)))
    return 2.0 ** (np.ceil(np.log2(largest)) - _DIGITS)


def _threads(n_jobs: int | None, most: int) -> int:
    return max(1, min(effective_n_jobs(n_jobs), most))


def _each(work: Callable, rounds: Iterable[list], threads: int) -> list:
    """Results of all rounds, each done before the next."""
    if threads == 1:
        return [work(task) for tasks in rounds for task in tasks]
    with ThreadPoolExecutor(threads) as workers:
        return [result for tasks in rounds for result in workers.map(work, tasks)]


def _meetings(n: int, threads: int) -> Iterator[list[tuple[int, int, int, int]]]:
    """Rounds of two ranges each, such that every two samples meet once.

    The pairs of one round have no sample in common, so that they can meet at the same time.
    """
    least = max(-(-n // _STEP), 2 * threads if threads > 1 else 1)
    count = least + least % 2 if least > 1 else 1
    cuts = np.linspace(0, n, count + 1).astype(int).tolist()
    ranges = list(pairwise(cuts))
    yield [one + one for one in ranges]
    for turn in range(count - 1):
        # A round-robin tournament: the first stays, the others walk around the table.
        seats = [ranges[0], *(ranges[1 + (turn + k) % (count - 1)] for k in range(count - 1))]
        yield [seats[k] + seats[-1 - k] for k in range(count // 2)]
