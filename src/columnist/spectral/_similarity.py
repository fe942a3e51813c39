"""Similarities of samples: kernels, neighbourhood graphs, labels, and sums of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_consistent_length

from columnist.data import check_rows, in_memory
from columnist.data._blocks import RowBlocks, as_rows
from columnist.data._parameters import Number, checked
from columnist.data._target import resolve_classes
from columnist.linalg._column_parts import Visit
from columnist.linalg._memory import check_memory
from columnist.spectral._neighbors import neighbor_distances
from columnist.spectral._relief import relief_similarity
from columnist.spectral._symmetric import (
    DenseMatrix,
    LowRankMatrix,
    RowProducts,
    SparseMatrix,
    SumMatrix,
    SymmetricMatrix,
    as_symmetric,
    joined,
    row_lengths,
)

# Samples whose distances give the automatic width of an RBF kernel.
_WIDTH_SAMPLES = 1000
_GATHER = "Use similarity='knn', which works on blocks, or select rows first."


@checked(constant=Number())
def linear_similarity(X, *, constant: float = 0.0) -> SymmetricMatrix:
    r"""Inner products :math:`x_i^T x_j + c`.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Data.
    constant : float, default=0.0
        c. Without it, or with data that are not positive, degrees may be negative.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import linear_similarity
    >>> linear_similarity([[1.0, 2.0], [0.0, 1.0]], constant=1.0).toarray()
    array([[6., 3.],
           [3., 2.]])
    """
    X = _data(X)
    products = _products(X)
    if constant == 0.0:
        return products
    return SumMatrix([(1.0, products), (float(constant), LowRankMatrix(np.ones((X.shape[0], 1))))])


@checked(scale=Number(0.0, above=True), constant=Number())
def polynomial_similarity(
    X, *, degree: int = 2, scale: float = 1.0, constant: float = 1.0
) -> SymmetricMatrix:
    r"""Polynomials :math:`(a\,x_i^T x_j + c)^d` of inner products.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Data.
    degree : int, default=2
        d.
    scale, constant : float
        a and c.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import polynomial_similarity
    >>> polynomial_similarity([[1.0, 2.0], [0.0, 1.0]], degree=2).toarray()
    array([[36.,  9.],
           [ 9.,  4.]])
    """
    X = _data(X)
    _check_dense("polynomial", X.shape[0])
    return _all_pairs(X, power_tile, degree, float(scale), float(constant))


@checked()
def rbf_similarity(X, *, width: float | str = "auto") -> SymmetricMatrix:
    r"""Gaussian kernel :math:`\exp(-\|x_i - x_j\|^2 / (2\delta^2))`.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Data.
    width : float or "auto", default="auto"
        :math:`\delta`; ``"auto"`` is the median distance of (at most a thousand evenly taken)
        samples that are not equal.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import rbf_similarity
    >>> rbf_similarity([[0.0], [1.0], [3.0]], width=1.0).toarray().round(3)
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    """
    X = _data(X)
    _check_dense("rbf", X.shape[0])
    if width == "auto":
        step = max(1, -(-X.shape[0] // _WIDTH_SAMPLES))
        taken = _even_rows(X, step)
        width = _typical(pairwise_distances(taken)[np.triu_indices(taken.shape[0], 1)])
    return _all_pairs(X, gaussian_tile, float(width))


def cosine_similarity(X) -> SymmetricMatrix:
    r"""Cosines :math:`x_i^T x_j / (\|x_i\| \|x_j\|)`; a zero row is similar to none.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Data.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import cosine_similarity
    >>> cosine_similarity([[3.0, 4.0], [4.0, 3.0]]).toarray().round(2)
    array([[1.  , 0.96],
           [0.96, 1.  ]])
    """
    X = _data(X)
    lengths = row_lengths(X)
    return _products(X).scaled(np.divide(1.0, lengths, out=np.zeros(X.shape[0]), where=lengths > 0))


@checked()
def knn_similarity(
    X,
    *,
    n_neighbors: int = 5,
    width: float | str = "auto",
    neighbors="exact",
    n_jobs: int | None = None,
) -> SymmetricMatrix:
    r"""Sparse graph of nearest neighbours with the weights of a Gaussian kernel.

    Samples i and j are joined with weight :math:`\exp(-\|x_i - x_j\|^2 / (2\delta^2))` if one is
    among the k nearest neighbours of the other.

    Parameters
    ----------
    X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
        Data.
    n_neighbors : int, default=5
        k, less than the number of samples.
    width : float or "auto", default="auto"
        :math:`\delta`; ``"auto"`` is the median distance to a neighbour that is not equal.
    neighbors : {"exact", "approximate"} or transformer, default="exact"
        ``"approximate"`` looks for neighbours with the package ``faiss-cpu``, for many samples;
        a transformer gives a graph of distances, as scikit-learn's ``KNeighborsTransformer``.
    n_jobs : int, optional
        Threads of the search for neighbours. An approximate search repeats exactly with one
        thread only.

    Returns
    -------
    SymmetricMatrix

    Notes
    -----
    Of a Dask collection all pairs of chunks are visited where they are, and only neighbours and
    distances come back; a search that is not exact gathers the data. Where two samples are
    equally far, the first one is taken as the neighbour.

    Examples
    --------
    >>> from columnist.spectral import knn_similarity
    >>> S = knn_similarity([[0.0], [1.0], [3.0]], n_neighbors=1, width=1.0)
    >>> S.toarray().round(3)
    array([[0.   , 0.607, 0.   ],
           [0.607, 0.   , 0.135],
           [0.   , 0.135, 0.   ]])
    """
    X = _data(X, dtype=[np.float64, np.float32])
    distances = neighbor_distances(X, n_neighbors, neighbors, n_jobs)
    if width == "auto":
        width = _typical(distances.data)
    distances.data = np.exp(-0.5 * (distances.data / float(width)) ** 2)
    return SparseMatrix(distances.maximum(distances.T))


def label_similarity(y) -> SymmetricMatrix:
    """1 for two samples of the same class, 0 otherwise; as a factor of one column per class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import label_similarity
    >>> label_similarity(["a", "b", "a"]).toarray()
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """
    return LowRankMatrix(class_members(y))


def fisher_similarity(y) -> SymmetricMatrix:
    r""":math:`1 / n_l` for two samples of class l, which has :math:`n_l`; 0 for others.

    All degrees are 1, and the matrix is the projector onto the indicators of the classes. With
    it :math:`\varphi_2` ranks as the Fisher score does.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import fisher_similarity
    >>> fisher_similarity(["a", "b", "a"]).toarray()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    members = class_members(y)
    return LowRankMatrix(members, np.diag(1.0 / members.sum(axis=0)))


def hsic_similarity(K) -> SymmetricMatrix:
    r"""The matrix whose quadratic form is the unbiased HSIC of a kernel K and a linear feature.

    With :math:`\bar K` the kernel without its diagonal, :math:`s = 1^T \bar K 1` and
    :math:`v = \bar K 1`,

    .. math:: S = \frac{1}{n(n-3)} \left[\bar K + \frac{s\,(11^T - I)}{(n-1)(n-2)}
              - \frac{v1^T + 1v^T - 2\,\mathrm{diag}(v)}{n-2}\right].

    Parameters
    ----------
    K : SymmetricMatrix, array-like or sparse matrix of shape (n_samples, n_samples)
        Kernel, of at least four samples.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral import hsic_similarity, linear_similarity
    >>> f = np.array([1.0, 2.0, 4.0, 4.0, 7.0])
    >>> S = hsic_similarity(linear_similarity(f[:, None]))
    >>> float(np.round(f @ S.times(f), 6)), float(abs(S.sums()).max().round(12))
    (17.7, 0.0)
    """
    K = as_symmetric(K, name="kernel")
    n = K.n
    if n < 4:
        raise ValueError(f"The unbiased HSIC needs at least 4 samples; got {n}.")
    own = K.diagonal()
    v = K.sums() - own
    level = float(v.sum()) / ((n - 1) * (n - 2))
    core = np.array([[level, -1.0 / (n - 2)], [-1.0 / (n - 2), 0.0]])
    weight = 1.0 / (n * (n - 3))
    return SumMatrix(
        [
            (weight, K),
            (weight, SparseMatrix.of_diagonal(2.0 / (n - 2) * v - level - own)),
            (weight, LowRankMatrix(np.column_stack([np.ones(n), v]), core)),
        ]
    )


def weighted_similarity(
    similarities: Sequence, weights: Sequence[float] | None = None
) -> SymmetricMatrix:
    r"""A weighted sum :math:`\sum_i a_i S_i` of similarities of the same samples.

    Parameters
    ----------
    similarities : sequence of SymmetricMatrix, array-like or sparse matrix
        The similarities.
    weights : sequence of float, optional
        The weights, not negative; equal ones that sum to 1 if None.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> from columnist.spectral import fisher_similarity, label_similarity, weighted_similarity
    >>> y = ["a", "b", "a"]
    >>> weighted_similarity([label_similarity(y), fisher_similarity(y)], [1, 2]).toarray()
    array([[2., 0., 2.],
           [0., 3., 0.],
           [2., 0., 2.]])
    """
    if not len(similarities):
        raise ValueError("A weighted similarity needs at least one similarity.")
    parts = [as_symmetric(S) for S in similarities]
    if len({part.n for part in parts}) > 1:
        sizes = ", ".join(str(part.n) for part in parts)
        raise ValueError(f"Similarities of different numbers of samples ({sizes}) do not add up.")
    weights = [1.0 / len(parts)] * len(parts) if weights is None else list(weights)
    if len(weights) != len(parts):
        raise ValueError(f"{len(parts)} similarities need as many weights; got {len(weights)}.")
    for weight in weights:
        Number(0.0).check("weights", weight)
    return SumMatrix([(float(w), part) for w, part in zip(weights, parts, strict=True)])


def resolve_similarity(
    similarity,
    X,
    y=None,
    *,
    n_neighbors: int = 5,
    width: float | str = "auto",
    n_jobs: int | None = None,
) -> SymmetricMatrix:
    """The similarity given by an estimator's parameter.

    Parameters
    ----------
    similarity : str, callable, SymmetricMatrix, array-like or sparse matrix
        A name, a function from X to a similarity, or the similarity itself.
    X : ndarray, sparse matrix or RowBlocks of shape (n_samples, n_features)
        Data. ``"relief"`` and functions need all rows, and so gather blocks.
    y : array-like of shape (n_samples,), optional
        Class labels, for ``"label"``, ``"fisher"`` and ``"relief"``.
    n_neighbors, width, n_jobs
        Options of the similarities that have them.

    Returns
    -------
    SymmetricMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral import resolve_similarity
    >>> resolve_similarity("cosine", np.eye(2)).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    if isinstance(similarity, str):
        named: dict[str, Callable[[], SymmetricMatrix]] = {
            "knn": lambda: knn_similarity(X, n_neighbors=n_neighbors, width=width, n_jobs=n_jobs),
            "rbf": lambda: rbf_similarity(X, width=width),
            "linear": lambda: linear_similarity(X),
            "polynomial": lambda: polynomial_similarity(X),
            "cosine": lambda: cosine_similarity(X),
            "label": lambda: label_similarity(_labels(y, X, "label")),
            "fisher": lambda: fisher_similarity(_labels(y, X, "fisher")),
            "relief": lambda: as_symmetric(
                relief_similarity(_gathered(X), _labels(y, X, "relief"), n_neighbors=n_neighbors)
            ),
        }
        if similarity not in named:
            listed = ", ".join(repr(name) for name in named)
            raise ValueError(
                f"similarity must be one of {listed}, a function, or a matrix of samples; "
                f"got {similarity!r}."
            )
        return named[similarity]()
    if callable(similarity):
        similarity = similarity(_gathered(X))
    return as_symmetric(similarity, n_samples=X.shape[0])


def _labels(y, X, name: str):
    if y is None:
        raise ValueError(f"similarity={name!r} requires y to be passed, but the target y is None.")
    check_consistent_length(y, np.empty(X.shape[0]))
    return y


def class_members(y, caller: str = "A similarity of labels") -> np.ndarray:
    """One column per class, 1 for its members."""
    classes, codes = resolve_classes(in_memory(y), None, caller)
    return (codes[:, None] == np.arange(len(classes))).astype(np.float64)


def _products(X: RowBlocks) -> SymmetricMatrix:
    """Inner products of the rows, in the smaller of two forms."""
    wide = X.shape[1] > X.shape[0]
    return _all_pairs(X, power_tile, 1, 1.0, 0.0) if wide and not X.is_sparse else RowProducts(X)


def _data(X, dtype=np.float64) -> RowBlocks:
    return check_rows(X, accept_sparse="csr", dtype=dtype)


def _gathered(X):
    return as_rows(X).gather(_GATHER)


def _all_pairs(X: RowBlocks, tile: Callable, *constants) -> DenseMatrix:
    """The matrix of a function of all pairs of rows."""
    return DenseMatrix(joined(X.against(Visit(tile, *constants), partial(joined, axis=1))))


def _even_rows(X: RowBlocks, step: int):
    """Every so many-th row."""
    parts = X.collect(_some_rows, np.arange(X.shape[0]) % step == 0)
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else joined(parts)


def _some_rows(X, taken: np.ndarray):
    X = X.tocsr() if sp.issparse(X) else X
    return X[taken].astype(np.float64)


def gaussian_tile(A, B, i: int, j: int, width: float) -> np.ndarray:
    """Gaussian kernel of the rows of two blocks, which begin with the rows i and j."""
    if not A.shape[0] or not B.shape[0]:
        return np.empty((A.shape[0], B.shape[0]))
    A, B = _double(A, B, i == j)
    squares = euclidean_distances(A, None if A is B else B, squared=True)
    squares *= -0.5 / width**2
    return np.exp(squares, out=squares)


def power_tile(A, B, i: int, j: int, degree: int, scale: float, constant: float) -> np.ndarray:
    """Powers of inner products of the rows of two blocks."""
    A, B = _double(A, B, i == j)
    products = A @ B.T
    products = products.toarray() if sp.issparse(products) else products
    if scale != 1.0 or constant != 0.0:
        products = scale * products + constant
    return products if degree == 1 else products**degree


def _double(A, B, same_start: bool) -> tuple:
    """Two blocks as float64; one object if they are the same."""
    left = A.astype(np.float64, copy=False)
    same = same_start and A.shape == B.shape
    return left, left if same else B.astype(np.float64, copy=False)


def _typical(distances: np.ndarray) -> float:
    """Median of the positive distances; 1 if all samples are equal."""
    positive = distances[distances > 0.0]
    return float(np.median(positive)) if len(positive) else 1.0


def _check_dense(name: str, n: int) -> None:
    check_memory(
        16.0 * n * n,
        f"similarity={name!r} of {n} samples",
        "Use similarity='knn', which is sparse.",
    )
