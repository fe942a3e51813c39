"""Relief and ReliefF: features that differ between near samples of different classes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_array

from columnist.data._parameters import checked
from columnist.data._target import resolve_classes
from columnist.linalg._passes import merge_repeats
from columnist.spectral._base import ScoreSelector
from columnist.spectral._neighbors import neighbor_graph, relative_differences


class ReliefF(ScoreSelector):
    r"""Select the features that distinguish near samples of different classes.

    Every sample is compared with its h nearest hits (samples of its class) and its h nearest misses
    in every other class. A good feature differs between the sample and its misses, not between the
    sample and its hits:

    .. math:: s_f = \frac{1}{n h} \sum_i \Big( \sum_{C \ne y_i} \frac{P(C)}{1 - P(y_i)}
              \sum_{j \in M_C(i)} \frac{|x_{if} - x_{jf}|}{r_f}
              - \sum_{j \in H(i)} \frac{|x_{if} - x_{jf}|}{r_f} \Big)

    with the shares P of the classes and the range :math:`r_f` of the feature. Near means a small
    sum of :math:`|x_{if} - x_{jf}| / r_f` over all features, so features that are relevant only
    jointly are found too.

    Parameters
    ----------
    n_features_to_select : int or float, optional
        How many features to keep: a number, a fraction in (0, 1), or half of them (None).
    n_neighbors : int, default=10
        The number h of nearest hits, and of nearest misses per class. For a class with fewer
        samples, all of them are used, and h in the formula is their number.
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result is the same for every number.

    Attributes
    ----------
    scores_, raw_scores_ : ndarray of shape (n_features,)
        The score above, between -1 and 1, larger is better; NaN for a constant feature.
    ranking_ : ndarray of int
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        The classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

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

    _needs_classes = True

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

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        """Differences to the nearest misses minus differences to the nearest hits."""
        _check_hits(self.classes_, y, type(self).__name__)
        n, sizes = len(y), np.bincount(y)
        weights = sizes / (n - sizes)[:, None]
        np.fill_diagonal(weights, -1.0)
        graph = neighbor_graph(X, y, self.n_neighbors, weights / n, n_jobs=self.n_jobs)
        return relative_differences(X, graph, n_jobs=self.n_jobs)


class Relief(ReliefF):
    r"""Select the features that differ at the nearest sample of the other class.

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
    scores_, raw_scores_ : ndarray of shape (n_features,)
        The score above, between -1 and 1, larger is better; NaN for a constant feature.
    ranking_ : ndarray of int
        All features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        The two classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

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

    n_neighbors = 1

    def __init__(
        self, n_features_to_select: int | float | None = None, *, n_jobs: int | None = None
    ):
        self.n_features_to_select = n_features_to_select
        self.n_jobs = n_jobs

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported: Relief is for two classes, and y has "
                f"{len(self.classes_)}. Use ReliefF."
            )
        return super()._raw_scores(X, y, size)

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
        The number h. For a class with fewer samples, all of them are used.
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
