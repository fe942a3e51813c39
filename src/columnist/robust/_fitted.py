"""What a fitted robust PCA says of rows, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import assert_all_finite

from columnist.data._blocks import RowBlocks
from columnist.robust._subspace import Subspace

__all__ = ["Answers", "Points", "Yardstick"]


@dataclass(frozen=True)
class Yardstick:
    """A subspace and the distances it allows, in a unit that is safe to square.

    Attributes
    ----------
    subspace : Subspace
        In multiples of the unit.
    unit : float
        What rows are divided by.
    score_cutoff, orthogonal_cutoff : float
        Largest distances of an inlier; the second in multiples of the unit.
    """

    subspace: Subspace
    unit: float
    score_cutoff: float
    orthogonal_cutoff: float

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """Coordinates along the axes."""
        return self.subspace.scores(X / self.unit) * self.unit

    def score_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances within the subspace, in standard deviations."""
        return self.subspace.score_distances(X / self.unit)

    def orthogonal_distances(self, X: np.ndarray) -> np.ndarray:
        """Distances from the subspace."""
        return self.subspace.orthogonal_distances(X / self.unit) * self.unit

    def normality(self, X: np.ndarray) -> np.ndarray:
        """Minus the larger of the two distances, each in units of its cut-off."""
        _, along, across, _ = self.subspace.measure(X / self.unit)
        return -np.maximum(along / self.score_cutoff, across / self.orthogonal_cutoff)

    def answer(self, X: RowBlocks, question: str):
        """The answer to a question, the name of a method above; of blocks a lazy collection."""
        width = len(self.subspace.components) if question == "coordinates" else None
        return X.map(Answers(self, question), width)


@dataclass(frozen=True)
class Answers:
    """The answer for a block."""

    yardstick: Yardstick
    question: str

    def __call__(self, block: np.ndarray) -> np.ndarray:
        assert_all_finite(block, input_name="X")
        return getattr(self.yardstick, self.question)(block.astype(np.float64))


@dataclass(frozen=True)
class Points:
    """The points of a subspace with given coordinates."""

    mean: np.ndarray
    components: np.ndarray

    def __call__(self, coordinates: np.ndarray) -> np.ndarray:
        return coordinates @ self.components + self.mean
