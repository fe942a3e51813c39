"""Minimum redundancy, maximum relevance: a baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from columnist.data._parameters import Number, StrOptions
from columnist.linalg._passes import columns_of, cross
from columnist.linalg._ties import first_largest, ranked
from columnist.spectral._base import SequentialSelector
from columnist.spectral._scatter import class_scatter

__all__ = ["MRMR"]

# Redundancy below this counts as this in a quotient, which would be infinite without.
_LEAST_REDUNDANCY = 1e-3
# In place of the infinite F statistic of a feature that does not vary within classes.
_LARGE = 1e300


class MRMR(SequentialSelector):
    r"""Add, one by one, the feature that is most relevant for the least redundancy.

    A baseline. With the relevance :math:`r_j` of a feature for the classes and the redundancy
    :math:`c_{ij}` of two features, the next feature after the set F maximises

    .. math:: r_j - \frac{1}{|F|} \sum_{i \in F} c_{ij}
        \quad\text{or}\quad r_j \Big/ \frac{1}{|F|} \sum_{i \in F} c_{ij}.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    scheme : {"quotient", "difference"}, default="quotient"
        How relevance and redundancy are combined. A difference needs both on the same scale,
        which F statistics and correlations are not; values of mutual information are.
    measure : {"correlation", "mutual_information"}, default="correlation"
        ``"correlation"``: F statistics for relevance and absolute correlations for redundancy
        (the schemes FCQ and FCD of [1]_). ``"mutual_information"`` for both (MIQ and MID), of
        features cut into three states.
    cut : float, default=0.5
        Values more than this many standard deviations above or below the mean are the upper
        and lower state, for the mutual information; 0.5 in [1]_, 1 in [2]_.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Number of features ranked behind; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        Relevance minus (or over) redundancy when the feature was added, the relevance for the
        first; for the features that were not, what it was at the last step.
    relevance_ : ndarray of shape (n_features,)
        F statistic, or mutual information with the class.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, in the order of selection.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    Notes
    -----
    Every step takes one pass over the data. A quotient counts redundancy below 0.001 as 0.001.
    A sparse X is not made dense; the mutual information needs a dense one.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene
       expression data", Journal of Bioinformatics and Computational Biology 3(2), 2005.
    .. [2] H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria
       of max-dependency, max-relevance, and min-redundancy", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 27(8), 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import FisherScore, MRMR
    >>> X, y = load_wine(return_X_y=True)
    >>> FisherScore(3).fit(X, y).selected_
    array([ 6, 12, 11])
    >>> MRMR(3).fit(X, y).selected_
    array([ 6,  9, 12])
    """

    _needs_classes: ClassVar[bool] = True

    _parameter_constraints = {
        "scheme": StrOptions("quotient", "difference"),
        "measure": StrOptions("correlation", "mutual_information"),
        "cut": Number(0.0, above=True),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        scheme: str = "quotient",
        measure: str = "correlation",
        cut: float = 0.5,
    ):
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.measure = measure
        self.cut = cut

    def _order(self, X, y, size: int) -> tuple[np.ndarray, np.ndarray]:
        scatter = class_scatter(X, y)
        constant = scatter.total == 0.0
        if constant.all():
            raise ValueError("All features are constant: none is relevant.")
        if self.measure == "correlation":
            self.relevance_ = _f_statistics(scatter, len(y), len(self.classes_))
            redundancy = _correlations(X, scatter.total)
        else:
            states = _States(X, self.cut * np.sqrt(scatter.total / len(y)))
            self.relevance_ = states.information(_indicator(y))
            redundancy = states.information_with
        self.relevance_[constant] = np.nan
        return self._search(redundancy, size)

    def _search(self, redundancy: Callable[[int], np.ndarray], size: int):
        """Order of selection, the rest by its last value; and the values."""
        relevance = np.minimum(self.relevance_, _LARGE)
        allowed = ~np.isnan(relevance)
        values, total = relevance.copy(), np.zeros(len(relevance))
        order: list[int] = []
        for count in range(min(size, int(allowed.sum()))):
            if count:
                total += redundancy(order[-1])
                values[allowed] = self._combine(relevance, total / count)[allowed]
            best, _ = first_largest(values, allowed)
            allowed[best] = False
            order.append(best)
        rest = ranked(np.where(allowed, values, np.nan))
        chosen = np.isin(rest, order)
        return np.concatenate([order, rest[~chosen]]).astype(np.intp), values

    def _combine(self, relevance: np.ndarray, redundancy: np.ndarray) -> np.ndarray:
        if self.scheme == "difference":
            return relevance - redundancy
        return relevance / np.maximum(redundancy, _LEAST_REDUNDANCY)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.measure == "correlation"
        return tags


class _States:
    """Features cut into three states by a threshold above and below their means."""

    def __init__(self, X: np.ndarray, threshold: np.ndarray):
        away = X - X.mean(axis=0, dtype=np.float64)
        self.low = (away < -threshold).astype(np.float32)
        self.high = (away > threshold).astype(np.float32)

    def information(self, members: np.ndarray) -> np.ndarray:
        """Mutual information, in nats, of every feature and a partition given by indicators."""
        n = len(members)
        low, high = members.T @ self.low, members.T @ self.high
        sizes = members.sum(axis=0, dtype=np.float64)[:, None]
        joint = np.stack([low, sizes - low - high, high]).astype(np.float64)
        entropies = (
            xlogy(joint, joint).sum(axis=(0, 1))
            - xlogy(joint.sum(axis=1), joint.sum(axis=1)).sum(axis=0)
            - xlogy(sizes, sizes).sum()
        )
        return np.maximum(entropies / n + np.log(n), 0.0)

    def information_with(self, feature: int) -> np.ndarray:
        """Mutual information of every feature and one of them."""
        return self.information(_indicator(self.high[:, feature] - self.low[:, feature]))


def _indicator(codes: np.ndarray) -> np.ndarray:
    return (codes[:, None] == np.unique(codes)).astype(np.float32)


def _f_statistics(scatter, n: int, n_classes: int) -> np.ndarray:
    if n == n_classes:
        raise ValueError("Every class in y has one sample: MRMR needs variation within classes.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return scatter.between / scatter.within * ((n - n_classes) / (n_classes - 1))


def _correlations(X, scatter: np.ndarray) -> Callable[[int], np.ndarray]:
    """Function from a feature to its absolute correlations with all."""
    lengths = np.sqrt(np.where(scatter > 0.0, scatter, 1.0))

    def with_feature(j: int) -> np.ndarray:
        column = columns_of(X, [j])[:, 0]
        column = column - column.mean()
        return np.minimum(np.abs(cross(X, column)) / (lengths * lengths[j]), 1.0)

    return with_feature
