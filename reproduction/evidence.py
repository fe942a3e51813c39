"""How good a list of features is: by the data, and by what was known before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import ttest_ind
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_array, check_consistent_length, check_X_y

from columnist.data._parameters import Integer, Number, checked
from columnist.data._target import resolve_classes
from columnist.spectral._symmetric import as_symmetric

__all__ = ["annotation_similarity", "count_hits", "nearest_accuracy", "significant_features"]


def nearest_accuracy(
    X,
    y,
    ranking: Sequence[int],
    *,
    sizes: Sequence[int] = (10, 30, 50),
    test: tuple | None = None,
    groups=None,
) -> np.ndarray:
    """Accuracy of the nearest neighbour by the first features of a ranking.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Class labels.
    ranking : sequence of int
        Features, best first.
    sizes : sequence of int, default=(10, 30, 50)
        Numbers of features to use.
    test : tuple (X_test, y_test), optional
        Samples to classify. Without, every sample of X is classified by the others; if the
        ranking was made from the same samples, that flatters it.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group, such as measurements of one patient, do not classify one
        another. Without ``test`` only.

    Returns
    -------
    ndarray of shape (n_sizes,)

    Examples
    --------
    >>> from reproduction.evidence import nearest_accuracy
    >>> X = [[0.0, 5.0], [0.1, -7.0], [1.0, 4.0], [1.2, -9.0]]
    >>> nearest_accuracy(X, ["a", "a", "b", "b"], [0, 1], sizes=[1, 2])
    array([1., 0.])
    """
    X, y = check_X_y(X, y, dtype=np.float64, ensure_min_samples=2)
    order = np.asarray(ranking, dtype=np.intp)
    if test is not None and groups is not None:
        raise ValueError("groups belong to the samples of X; give groups or test, not both.")
    rows, truth = (X, y) if test is None else check_X_y(*test, dtype=np.float64)
    groups = np.arange(len(y)) if groups is None else np.asarray(groups)
    check_consistent_length(groups, y)
    found = []
    for size in sizes:
        Integer(1).check("sizes", size)
        if size > len(order):
            raise ValueError(f"sizes holds {size}, but the ranking has {len(order)} features.")
        top = order[:size]
        distances = pairwise_distances(rows[:, top], X[:, top])
        if test is None:
            distances[groups[:, None] == groups] = np.inf
        found.append(float(np.mean(y[distances.argmin(axis=1)] == truth)))
    return np.array(found)


def annotation_similarity(selected: Iterable[int], known: Iterable[int], similarity) -> float:
    """Sum of the similarities between selected and known features.

    Parameters
    ----------
    selected, known : iterables of int
        Features.
    similarity : array-like or sparse matrix of shape (n_features, n_features)
        Similarities of the features, such as the number of terms that two share.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.evidence import annotation_similarity
    >>> terms = np.array([[1, 1], [0, 1], [0, 0]])
    >>> annotation_similarity([0, 2], [1], terms @ terms.T)
    1.0
    """
    S = as_symmetric(similarity)
    chosen, others = np.zeros(S.n), np.zeros(S.n)
    chosen[list(selected)] = 1.0
    others[list(known)] = 1.0
    return float(chosen @ S.times(others))


def count_hits(selected: Iterable, known: Iterable) -> int:
    """How many of the selected features are known.

    Examples
    --------
    >>> from reproduction.evidence import count_hits
    >>> count_hits(["p53", "ras", "actin"], known={"p53", "ras", "jun"})
    2
    """
    return len(set(selected) & set(known))


@checked(fold=Number(1.0), level=Number(0.0, 1.0))
def significant_features(X, y, *, fold: float = 2.0, level: float = 0.05) -> np.ndarray:
    r"""Features whose class means differ by a factor and by a t-test.

    The rule of thumb of gene expression studies. Applied to thousands of features it calls many
    of them significant by chance: try it with classes at random.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Positive data, such as expression levels.
    y : array-like of shape (n_samples,)
        Two classes.
    fold : float, default=2.0
        Least ratio of the larger to the smaller class mean.
    level : float, default=0.05
        Largest p-value of the t-test of equal means, as it is: not corrected for the number of
        features.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> from reproduction.evidence import significant_features
    >>> X = [[1.0, 5.0], [1.1, 5.2], [9.0, 5.1], [9.5, 4.9]]
    >>> significant_features(X, ["a", "a", "b", "b"])
    array([0])
    """
    X = check_array(X, dtype=np.float64, ensure_min_samples=4, input_name="X")
    classes, codes = resolve_classes(y, X.shape[0], "significant_features")
    if len(classes) != 2 or np.bincount(codes).min() < 2:
        raise ValueError("significant_features needs two classes of at least two samples.")
    if X.min() <= 0.0:
        raise ValueError(
            "A fold change needs positive data: undo the logarithm, or add a constant."
        )
    first, second = X[codes == 0], X[codes == 1]
    means = np.array([first.mean(axis=0), second.mean(axis=0)])
    constant = np.ptp(first, axis=0) + np.ptp(second, axis=0) == 0.0
    p_values = np.zeros(X.shape[1])
    p_values[~constant] = ttest_ind(first[:, ~constant], second[:, ~constant]).pvalue
    return np.flatnonzero((means.max(axis=0) >= fold * means.min(axis=0)) & (p_values <= level))
