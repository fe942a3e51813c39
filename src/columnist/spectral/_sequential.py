"""Selectors that rank features one after the other."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from columnist.data._validation import resolve_size
from columnist.spectral._base import ScoreSelector

__all__ = ["SequentialSelector"]


class SequentialSelector(ScoreSelector):
    """Ranks features by what they add to others, so that no score of their own says the order.

    A subclass defines :meth:`_order`. ``scores_`` then counts the features ranked behind.
    """

    @abstractmethod
    def _order(self, X, y, size: int) -> tuple[np.ndarray, np.ndarray]:
        """All features, best first, and the literature's value of each.

        The value is NaN for a feature that cannot be ranked, and these come last. Arguments as
        in :meth:`_raw_scores`; only the order of the first ``size`` features matters.
        """

    def _raw_scores(self, X, y) -> np.ndarray:
        size = resolve_size(self.n_features_to_select, X.shape[1])
        self.ranking_, raw = self._order(X, y, size)
        return raw

    def _keep(self, raw: np.ndarray, size: int) -> None:
        behind = np.empty(len(raw))
        behind[self.ranking_] = np.arange(len(raw))[::-1]
        super()._keep(np.where(np.isnan(raw), np.nan, behind), size)
        self.raw_scores_ = raw
