"""Nearest neighbours, exact or approximate, as a sparse graph of distances."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.neighbors import NearestNeighbors

from columnist.data._blocks import RowBlocks
from columnist.data._parameters import StrOptions, checked
from columnist.spectral._block_input import gathered
from columnist.spectral._block_neighbors import block_neighbors

__all__ = ["neighbor_distances"]

# Links of a sample in an approximate search, and candidates it keeps: nearly all true neighbours
# are found.
_LINKS, _CANDIDATES = 32, 80
# Up to this many samples all inner products fit into 256 MB.
_MOST_BY_GRAM = 5792
# Up to this many features a tree finds neighbours faster.
_FEW_FEATURES = 15
# Squared distances below this share of the lengths have lost digits to cancellation.
_CANCELLED = 1e-4


@checked()
def neighbor_distances(
    X, n_neighbors: int, neighbors="exact", n_jobs: int | None = None
) -> sp.csr_matrix:
    """Distances to the nearest neighbours, in rows; a sample is no neighbour of itself.

    A zero distance, to an equal sample, is stored.

    Parameters
    ----------
    X : ndarray, sparse matrix or RowBlocks of shape (n_samples, n_features)
        Data.
    n_neighbors : int
        Neighbours of every sample.
    neighbors : {"exact", "approximate"} or transformer
        Who looks for them.
    n_jobs : int, optional
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._neighbors import neighbor_distances
    >>> neighbor_distances(np.array([[0.0], [1.0], [3.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    n = X.shape[0]
    if n_neighbors >= n:
        raise ValueError(
            f"n_neighbors={n_neighbors} needs more than {n_neighbors} samples; "
            f"n_samples = {n}. Ask for fewer neighbours."
        )
    if not hasattr(neighbors, "fit_transform"):
        StrOptions("exact", "approximate").check("neighbors", neighbors)
    if isinstance(X, RowBlocks):
        if isinstance(neighbors, str) and neighbors == "exact":
            return block_neighbors(X, n_neighbors)
        X = gathered(X)
    if isinstance(neighbors, str) and neighbors == "exact":
        if not sp.issparse(X) and n <= _MOST_BY_GRAM and X.shape[1] > _FEW_FEATURES:
            return _by_gram(X, n_neighbors)
        search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(X)
        return search.kneighbors_graph(mode="distance").astype(np.float64)
    if isinstance(neighbors, str):
        return _approximate(X, n_neighbors, n_jobs)
    return _without_self(sp.csr_matrix(neighbors.fit_transform(X), dtype=np.float64), n)


def _by_gram(X: np.ndarray, n_neighbors: int) -> sp.csr_matrix:
    """The same from all inner products, which BLAS computes once for every pair."""
    n = X.shape[0]
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    squares = X @ X.T
    lengths = squares.diagonal().copy()
    squares *= -2.0
    squares += lengths
    np.fill_diagonal(squares, np.inf)
    near = np.sort(np.argpartition(squares, n_neighbors - 1, axis=1)[:, :n_neighbors], axis=1)
    distances = np.take_along_axis(squares, near, axis=1) + lengths[:, None]
    i, j = np.nonzero(distances < _CANCELLED * (lengths[:, None] + lengths[near]))
    apart = X[i] - X[near[i, j]]
    distances[i, j] = np.einsum("ij,ij->i", apart, apart)
    indptr = np.arange(0, n * n_neighbors + 1, n_neighbors)
    return sp.csr_matrix((np.sqrt(distances.ravel()), near.ravel(), indptr), shape=(n, n))


def _approximate(X, n_neighbors: int, n_jobs: int | None) -> sp.csr_matrix:
    """Neighbours found by walking along a hierarchy of small-world graphs."""
    try:
        with warnings.catch_warnings():  # about how it was built, which is nothing for users
            warnings.simplefilter("ignore", DeprecationWarning)
            import faiss
    except ImportError:
        raise ImportError(
            "neighbors='approximate' needs the package faiss-cpu: "
            "pip install 'columnist[neighbors]', or use neighbors='exact'."
        ) from None
    if sp.issparse(X):
        raise ValueError("neighbors='approximate' needs dense X; use neighbors='exact'.")
    n = X.shape[0]
    X = np.ascontiguousarray(X - X.mean(axis=0), dtype=np.float32)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(effective_n_jobs(n_jobs))
    try:
        index = faiss.IndexHNSWFlat(X.shape[1], _LINKS)
        index.hnsw.efConstruction = index.hnsw.efSearch = max(_CANDIDATES, 4 * n_neighbors)
        index.add(X)
        squares, near = index.search(X, n_neighbors + 1)
    finally:
        faiss.omp_set_num_threads(before)
    return _without_self(_graph_of(squares, near, n), n)


def _graph_of(squares: np.ndarray, near: np.ndarray, n: int) -> sp.csr_matrix:
    """Distances in rows from a table of neighbours, in which -1 stands for none."""
    found = near >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    distances = np.sqrt(np.maximum(squares[found], 0.0), dtype=np.float64)
    return sp.csr_matrix((distances, near[found], indptr), shape=(n, n))


def _without_self(distances: sp.csr_matrix, n: int) -> sp.csr_matrix:
    """The graph without the samples' distances to themselves, zeros to others kept."""
    rows = np.repeat(np.arange(n), np.diff(distances.indptr))
    other = rows != distances.indices
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[other], minlength=n))])
    return sp.csr_matrix(
        (distances.data[other], distances.indices[other], indptr), shape=distances.shape
    )
