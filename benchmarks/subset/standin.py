"""What stands for SubsetRegressor and SubsetClassifier until the package has them.

The same choices by ColumnSelector, for the ridge with the rows sqrt(alpha) I below centred data; a
classifier takes the columns that are best for the classes as numbers, and proves nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from columnist import ColumnSelector, selection_path

__all__ = ["SubsetClassifier", "SubsetRegressor"]


class SubsetRegressor(BaseEstimator):
    """Columns for one target or several, on centred data."""

    def __init__(self, n_features_to_select=None, *, alpha=0.0, time_limit=30.0):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.time_limit = time_limit

    def fit(self, X, y):
        """Search."""
        n, m = X.shape
        Y = y.reshape(n, -1)
        if self.alpha:
            X = np.vstack([X, np.sqrt(self.alpha) * np.eye(m)])
            Y = np.vstack([Y, np.zeros((m, Y.shape[1]))])
        if self.n_features_to_select == "bic":
            found = self._by_bic(X, Y)
        else:
            found = ColumnSelector(self.n_features_to_select, time_limit=self.time_limit).fit(X, Y)
        self.selected_, self.certificate_ = found.selected_, found.certificate_
        return self

    def _by_bic(self, X, Y):
        n, most = len(X), min(X.shape[1], len(X) - 2, 20)
        path = selection_path(X, most, y=Y, time_limit=self.time_limit)
        values = n * np.log(path.errors / n) + path.sizes * np.log(n)
        best = path.steps[int(np.argmin(values))]
        return SimpleNamespace(selected_=np.asarray(best.selection), certificate_=best.certificate)


class SubsetClassifier(ClassifierMixin, BaseEstimator):
    """Columns for two classes."""

    def __init__(self, n_features_to_select=None, *, alpha=1.0, time_limit=30.0):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.time_limit = time_limit

    def fit(self, X, y):
        """Choose, then fit."""
        self.classes_ = np.unique(y)
        chosen = ColumnSelector(
            self.n_features_to_select, search="greedy", centering="mean", time_limit=self.time_limit
        ).fit(X, 1.0 * (y == self.classes_[1])[:, None])
        self.selected_ = chosen.selected_
        self.certificate_ = SimpleNamespace(status="heuristic", lower_bound=0.0, gap=1.0)
        self.model_ = LogisticRegression(C=0.5 / self.alpha).fit(X[:, self.selected_], y)
        return self

    def predict(self, X):
        """Classes."""
        return self.model_.predict(X[:, self.selected_])

    def predict_proba(self, X):
        """Probabilities."""
        return self.model_.predict_proba(X[:, self.selected_])
