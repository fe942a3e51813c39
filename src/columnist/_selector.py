"""What every selector has in common."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

__all__ = ["BaseSelector"]


class BaseSelector(SelectorMixin, BaseEstimator):
    """Anything with ``selected_``: mask and tags of a scikit-learn selector."""

    @abstractmethod
    def fit(self, X, y=None):
        """Select columns of X."""

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
