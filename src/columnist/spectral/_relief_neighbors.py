"""Who is near whom: the nearest hits and misses of every sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils.sparsefuncs import min_max_axis

from columnist.spectral._l1_neighbors import (
    NearestByClass,
    sparse_sums_of_differences,
    sums_of_differences,
)

__all__ = ["check_hits", "neighbor_graph", "relative_differences", "scale_of"]

# Distances that agree in so many binary digits of the largest possible one count as equal.
_DIGITS = 40
# Samples that meet in one call of the kernel: between two calls a run can be interrupted.
_STEP = 1024
# Fewer samples per thread are not worth one.
_PER_THREAD = 256


def check_hits(classes: np.ndarray, codes: np.ndarray, caller: str) -> None:
    """Raise if some class has a single sample."""
    alone = np.flatnonzero(np.bincount(codes) == 1)
    if len(alone):
        raise ValueError(
            f"{caller} compares every sample with others of its class, but class "
            f"{classes[alone[0]]!s} has only one sample: add samples, or remove the class."
        )


def scale_of(X: np.ndarray | sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
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
    >>> from columnist.spectral._relief_neighbors import neighbor_graph
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
    >>> from columnist.spectral._relief_neighbors import relative_differences
    >>> graph = sp.csr_matrix([[0.0, 0.5], [0.0, 0.0]])
    >>> relative_differences(np.array([[0.0, 7.0], [5.0, 7.0]]), graph)
    array([0.5, nan])
    """
    X = _by_rows(X)
    low, scale = scale_of(X)
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
    low, scale = scale_of(X)
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
