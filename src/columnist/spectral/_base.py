"""Base classes of the spectral selectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from columnist._selector import BaseSelector
from columnist._warn import warn_caller
from columnist.data import in_memory, open_rows
from columnist.data._blocks import RowBlocks
from columnist.data._target import resolve_classes
from columnist.data._validation import resolve_size
from columnist.linalg._reduce import squaring_scale
from columnist.linalg._ties import first_largest, ranked


class SpectralBase(BaseSelector):
    """Validation that all spectral selectors share."""

    _needs_classes: ClassVar[bool] = False
    _min_samples: ClassVar[int] = 2
    # Whether rows are examined first: entries may be infinite, or too large to be squared.
    _looks: ClassVar[bool] = True
    # Whether a collection of blocks is visited where it is, and not gathered.
    _on_blocks: Any = False

    def _set_shared(self, size, similarity, n_neighbors: int, width, n_jobs) -> None:
        """Keep the number of features and the parameters of a similarity."""
        self.n_features_to_select = size
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.width = width
        self.n_jobs = n_jobs

    def _begin(self, X) -> tuple[Any, int]:
        """Checked data, safe to square, as blocks or one array, and how many features to keep."""
        self._check_parameters()
        rows = open_rows(
            self,
            X,
            whole=not self._on_blocks,
            accept_sparse="csc" if self.__sklearn_tags__().input_tags.sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=self._min_samples,
        )
        size = resolve_size(self.n_features_to_select, rows.n_features)
        self._scale = 1.0
        rows = self._squarable(rows) if self._looks else rows
        return (rows if self._on_blocks else rows.gather()), size

    def _squarable(self, X: RowBlocks) -> RowBlocks:
        """Rows whose entries are finite and can be squared safely; one pass over them."""
        self._scale = squaring_scale(np.array(X.largest()))
        return X if self._scale == 1.0 else X.divided(self._scale)

    def _similarity_options(self) -> dict:
        """Options of a similarity, for data that were divided by ``self._scale``."""
        width = self.width if isinstance(self.width, str) else self.width / self._scale
        return {"n_neighbors": self.n_neighbors, "width": width, "n_jobs": self.n_jobs}

    def _classes(self, y, n_samples: int) -> np.ndarray:
        """Code of every sample's class; keeps ``classes_``."""
        self.classes_, codes = resolve_classes(y, n_samples, type(self).__name__)
        return codes

    def _learns_from_classes(self) -> bool:
        """Whether the similarity is made of classes."""
        return isinstance(self.similarity, str) and self.similarity in ("label", "fisher", "relief")

    def _requires_y(self) -> bool:
        return self._needs_classes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._requires_y()
        return tags


class RankingSelector(SpectralBase):
    """Ranks features by scores, whose direction a subclass defines, and keeps the best."""

    _larger_is_better: ClassVar[bool] = True

    def _keep(self, raw: np.ndarray, size: int) -> None:
        """Store the scores and what follows from them."""
        self.raw_scores_ = raw
        self.scores_ = raw if self._is_larger_better() else -raw
        self.ranking_ = ranked(self.scores_)
        self.selected_ = self.ranking_[:size]
        undefined = int(np.isnan(raw[self.selected_]).sum())
        if undefined:
            warn_caller(
                f"{type(self).__name__} selected {undefined} of {size} features without a "
                "score (constant, or no information in y): only "
                f"{int(np.isfinite(raw).sum())} features have one. Ask for fewer."
            )

    def _is_larger_better(self) -> bool:
        return self._larger_is_better

    def _undo_scale(self) -> None:
        """Quadratic scores of features that were not scaled, in the units of the data."""
        with np.errstate(over="ignore"):
            self.raw_scores_ = self.scores_ = self._scale * (self._scale * self.raw_scores_)


class ScoreSelector(RankingSelector):
    """Gives every feature a score of its own, by :meth:`_raw_scores`, and keeps the best."""

    @abstractmethod
    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        """The literature's score of every feature, NaN where undefined. ``X`` was divided by
        ``self._scale``; ``y`` holds class codes if ``_needs_classes``; so many features are to be
        selected."""

    def fit(self, X, y=None):
        """Score the features of X and select the best.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.
        y : array-like or Dask collection of shape (n_samples,), optional
            Class labels, where the score uses them.

        Returns
        -------
        self
        """
        X, size = self._begin(X)
        y = in_memory(y)
        if self._needs_classes:
            y = self._classes(y, X.shape[0])
        self._keep(self._raw_scores(X, y, size), size)
        return self


class SequentialSelector(ScoreSelector):
    """Ranks features by what they add to others, so that no score of their own says the order. The
    subclass's :meth:`_raw_scores` keeps ``ranking_``, of which the first ``size`` features matter
    and those with NaN come last. ``scores_`` then counts the features ranked behind."""

    def _keep(self, raw: np.ndarray, size: int) -> None:
        behind = np.empty(len(raw))
        behind[self.ranking_] = np.arange(len(raw))[::-1]
        super()._keep(np.where(np.isnan(raw), np.nan, behind), size)
        self.raw_scores_ = raw


def chosen_first(chosen, values: np.ndarray) -> np.ndarray:
    """Chosen features in their order, then the others by their values."""
    others = ranked(values)
    return np.concatenate([chosen, others[~np.isin(others, chosen)]]).astype(np.intp)


def forward(
    evaluate: Callable[[list[int], np.ndarray], np.ndarray], allowed: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Features in the order in which they are added, the rest by its last value; and the values.

    ``evaluate(order, left)`` gives the values of the features left after those in order.
    """
    values, left = np.full(len(allowed), np.nan), allowed.copy()
    order: list[int] = []
    for _ in range(min(size, int(allowed.sum()))):
        values[left] = evaluate(order, np.flatnonzero(left))
        best, _ = first_largest(values, left)
        left[best] = False
        order.append(best)
    return chosen_first(order, np.where(left, values, np.nan)), values
