"""What stands for SubsetClassifier until the package has it.

It takes columns that are good for the classes as numbers, and proves nothing.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from columnist import ColumnSelector

__all__ = ["SubsetClassifier"]


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
