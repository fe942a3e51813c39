"""Fisher score: variation between the classes over variation within them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from columnist.spectral._base import ScoreSelector
from columnist.spectral._scatter import class_scatter

__all__ = ["FisherScore"]


class FisherScore(ScoreSelector):
    r"""Keep the features whose class means differ most, for the spread within the classes.

    .. math:: \frac{\sum_j n_j (\mu_j - \mu)^2}{\sum_j n_j \sigma_j^2}

    with the size :math:`n_j`, mean :math:`\mu_j` and variance :math:`\sigma_j^2` (divided by
    :math:`n_j`) of the feature in class j.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The Fisher score, larger is better; infinite if the feature is constant within every
        class, NaN (and last) if it is constant.
    raw_scores_ : ndarray of shape (n_features,)
        The same.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    sklearn.feature_selection.f_classif : The same times (n - c) / (c - 1), with p-values.
    TraceRatio : The same ratio for a set of features.

    Notes
    -----
    Takes one pass over the data, dense, sparse or a Dask collection, whatever the number of
    classes. With the
    similarity 1 / n_j between the samples of class j, 1 / (1 + score) is the Laplacian score.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from columnist.spectral import FisherScore
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FisherScore(2).fit(X, y)
    >>> selector.selected_
    array([2, 3])
    >>> selector.scores_.round(2)
    array([ 1.62,  0.67, 16.06, 13.06])
    """

    _needs_classes: ClassVar[bool] = True
    # The pass that sums up the classes looks at all entries.
    _looks: ClassVar[bool] = False

    def __init__(self, n_features_to_select: int | float | None = None):
        self.n_features_to_select = n_features_to_select

    def _works_on_blocks(self) -> bool:
        return True

    def _raw_scores(self, X, y) -> np.ndarray:
        if len(self.classes_) == X.shape[0]:
            raise ValueError(
                "Every class in y has one sample: FisherScore needs variation within classes."
            )
        scatter = class_scatter(X, y, look=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return scatter.between / scatter.within
