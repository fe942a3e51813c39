"""What the selectors with several sources have in common."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils.validation import check_consistent_length

from columnist.data._target import is_classes
from columnist.knowledge._source import Source, named_sources
from columnist.knowledge._study import Study
from columnist.knowledge._tables import row_names
from columnist.spectral._base import RankingSelector
from columnist.spectral._spec import ScoreParameter, SpectralSelector

__all__ = ["SourceSelector"]


class SourceSelector(ScoreParameter, RankingSelector):
    """Ranks features by the sources in ``sources``."""

    def fit(self, X, y=None):
        """Rank the features of X by the sources and select the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data. Frames have names that sources are matched with.
        y : array-like of shape (n_samples,), optional
            Class labels, for a source ``Source("labels")``.

        Returns
        -------
        self
        """
        samples = row_names(X)
        X, size = self._begin(X)
        if y is not None:
            check_consistent_length(X, y)
        features = getattr(self, "feature_names_in_", None)
        study = Study(X, y, samples, None if features is None else features.tolist())
        sources = _default_sources(y) if self.sources is None else self.sources
        named = named_sources(sources, type(self).__name__)
        self.source_names_ = list(named)
        self._keep(self._fuse(named, study), size)
        return self

    @abstractmethod
    def _fuse(self, sources: dict[str, Source], study: Study) -> np.ndarray:
        """Score of every feature from all sources; keeps weights and contributions."""

    def _spectral(self, similarity) -> SpectralSelector:
        """The selector that scores features by a similarity of samples."""
        options = {"score": vars(self)["score"], "gamma": self.gamma, "n_clusters": self.n_clusters}
        return SpectralSelector(1, similarity=similarity, **options)


def _default_sources(y) -> list[Source]:
    """Neighbours, and classes if there are any."""
    neighbours = Source("sample_similarity")
    if y is None or not is_classes(y):
        return [neighbours]
    return [Source("labels"), neighbours]
