"""What the spectral selectors have in common."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import ClassVar, cast

import numpy as np
import scipy.sparse as sp

from columnist._selector import BaseSelector
from columnist.data._blocks import RowBlocks, open_blocks
from columnist.data._target import resolve_classes
from columnist.data._validation import open_data, read_data, resolve_size
from columnist.linalg._passes import merge_repeats
from columnist.linalg._reduce import squaring_scale
from columnist.linalg._ties import ranked
from columnist.spectral._block_input import checked_largest, read_target

__all__ = ["RankingSelector", "ScoreSelector", "SpectralBase"]


class SpectralBase(BaseSelector):
    """Validation that all spectral selectors share."""

    _needs_classes: ClassVar[bool] = False
    _min_samples: ClassVar[int] = 2
    # Whether blocks are looked at first: entries may be infinite, or too large to be squared.
    _looks: ClassVar[bool] = True

    def _works_on_blocks(self) -> bool:
        """Whether a collection of blocks is visited where it is, and not gathered."""
        return False

    def _begin(self, X) -> tuple[np.ndarray | sp.csc_matrix | RowBlocks, int]:
        """Checked data whose entries can be squared safely, and how many features to keep."""
        self._check_parameters()
        if self._works_on_blocks() and open_blocks(X) is not None:
            return self._begin_on_blocks(X)
        X = read_data(
            self,
            X,
            accept_sparse="csc" if self.__sklearn_tags__().input_tags.sparse else False,
            dtype=[np.float64, np.float32],
            ensure_min_samples=self._min_samples,
        )
        size = resolve_size(self.n_features_to_select, X.shape[1])
        self._scale = squaring_scale(X)
        return merge_repeats(X if self._scale == 1.0 else X / self._scale), size

    def _begin_on_blocks(self, X) -> tuple[RowBlocks, int]:
        blocks = cast(RowBlocks, open_data(self, X))
        if blocks.shape[0] < self._min_samples:
            raise ValueError(
                f"Found array with {blocks.shape[0]} sample(s) (shape={blocks.shape}) while a "
                f"minimum of {self._min_samples} is required by {type(self).__name__}."
            )
        size = resolve_size(self.n_features_to_select, blocks.shape[1])
        self._scale = 1.0
        return self._squarable(blocks) if self._looks else blocks, size

    def _squarable(self, X: RowBlocks) -> RowBlocks:
        """Blocks whose entries are finite and can be squared safely; one pass over them."""
        self._scale = squaring_scale(np.array(checked_largest(X)))
        return X if self._scale == 1.0 else X.divided(self._scale)

    def _similarity_options(self) -> dict:
        """Options of a similarity, for data that were divided by ``self._scale``."""
        width = self.width if isinstance(self.width, str) else self.width / self._scale
        return {"n_neighbors": self.n_neighbors, "width": width, "n_jobs": self.n_jobs}

    def _classes(self, y, n_samples: int) -> np.ndarray:
        """Code of every sample's class; keeps ``classes_``."""
        self.classes_, codes = resolve_classes(y, n_samples, type(self).__name__)
        return codes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_classes
        return tags


class RankingSelector(SpectralBase):
    """Ranks features by scores and keeps the best.

    A subclass says in which direction its scores go.
    """

    _larger_is_better: ClassVar[bool] = True

    def _keep(self, raw: np.ndarray, size: int) -> None:
        """Store the scores and what follows from them."""
        self.raw_scores_ = raw
        self.scores_ = raw if self._is_larger_better() else -raw
        self.ranking_ = ranked(self.scores_)
        self.selected_ = self.ranking_[:size]
        undefined = int(np.isnan(raw[self.selected_]).sum())
        if undefined:
            warnings.warn(
                f"{type(self).__name__} selected {undefined} of {size} features without a "
                "score (constant, or no information in y): only "
                f"{int(np.isfinite(raw).sum())} features have one. Ask for fewer.",
                UserWarning,
                stacklevel=3,
            )

    def _is_larger_better(self) -> bool:
        return self._larger_is_better


class ScoreSelector(RankingSelector):
    """Gives every feature a score of its own and keeps the best.

    A subclass defines :meth:`_raw_scores`.
    """

    @abstractmethod
    def _raw_scores(self, X, y) -> np.ndarray:
        """The literature's score of every feature, NaN where undefined.

        ``X`` was divided by ``self._scale``; ``y`` holds class codes if ``_needs_classes``.
        """

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
        y = read_target(y)
        if self._needs_classes:
            y = self._classes(y, X.shape[0])
        self._keep(self._raw_scores(X, y), size)
        return self
