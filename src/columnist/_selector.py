"""The base class of all selectors."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from columnist.data._blocks import open_blocks
from columnist.data._parameters import ParameterChecks
from columnist.data._validation import open_data


class BaseSelector(ParameterChecks, SelectorMixin, BaseEstimator):
    """Base class of selectors: support mask and tags from ``selected_``."""

    @abstractmethod
    def fit(self, X, y=None):
        """Select columns of X."""

    def transform(self, X):
        """The selected columns, in their original order.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array, sparse matrix, data frame or Dask collection of shape (n_samples, n_selected)
            A Dask collection is not computed.
        """
        if open_blocks(X) is None:
            return super().transform(X)
        mask = self.get_support()
        return open_data(self, X, reset=False).take(np.flatnonzero(mask))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
