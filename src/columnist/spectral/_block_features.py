"""Features of many rows in blocks, as the multivariate selectors compare them.

What these selectors ask of features is inner products, of features with one another and with a
response. A few rows with the same inner products answer that after one pass over the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from columnist.data._blocks import BlockMoments, RowBlocks
from columnist.linalg._moments import Moments, merged_moments
from columnist.linalg._reduce import squaring_scale
from columnist.spectral._block_forms import block_forms
from columnist.spectral._columns import prepare_columns
from columnist.spectral._scaled_columns import ScaledColumns
from columnist.spectral._symmetric import SymmetricMatrix

__all__ = ["BlockFeatures", "equal_products", "prepare_blocks"]

# Columns whose range is below this share of their entries are constant but for rounding.
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class BlockFeatures:
    """Columns of blocks, centred and of unit length or as is.

    Attributes
    ----------
    X : RowBlocks
        Data, divided by ``scale``.
    few : ScaledColumns
        The features of a few rows, with the inner products of the features of all rows.
    root : float
        What these rows were multiplied by: root of the number of rows for each of them.
    scale : float
        What the data were divided by, so that they can be squared.
    response : ndarray of shape (n_few, n_responses) or None
        The few rows of a response that came with the data.
    """

    X: RowBlocks
    few: ScaledColumns
    root: float
    scale: float
    response: np.ndarray | None

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.X.shape

    @property
    def means(self) -> np.ndarray | None:
        """Means of the columns, if they are removed."""
        return None if self.few.means is None else self.few.means / self.root

    def forms(self, S: SymmetricMatrix) -> np.ndarray:
        """f'Sf of every feature."""
        return self.few.scales**2 * block_forms(self.X, S, self.means)

    def largest_entries(self, W: np.ndarray) -> np.ndarray:
        """Entry of every column of (features x W) that is largest in absolute value."""
        visit = LargestVisit(self.means, self.few.scales[:, None] * W)
        entries = np.array(self.X.collect(visit))
        return entries[np.argmax(np.abs(entries), axis=0), np.arange(W.shape[1])]


class LargestVisit:
    """Entries of a block of (X - means) W that are largest in absolute value."""

    def __init__(self, means: np.ndarray | None, W: np.ndarray):
        self.W, self.shift = W, 0.0 if means is None else means @ W

    def __call__(self, X) -> np.ndarray:
        if not X.shape[0]:
            return np.zeros(self.W.shape[1])
        values = np.asarray(X.astype(np.float64, copy=False) @ self.W) - self.shift
        return values[np.argmax(np.abs(values), axis=0), np.arange(values.shape[1])]


def prepare_blocks(X: RowBlocks, scaling: str, Y: np.ndarray | None = None) -> BlockFeatures:
    """Features as :func:`prepare_columns` makes them, in one pass over the blocks."""
    rows, Y, root = equal_products(X, Y)
    scale = 1.0
    if squaring_scale(rows) != 1.0:
        # Features that keep their lengths are scored in this unit: it must be that of all rows.
        scale = squaring_scale(np.array(X.largest()))
        rows, X = rows / scale, X.divided(scale)
    return BlockFeatures(X, prepare_columns(rows, scaling), root, scale, Y)


def equal_products(
    X: RowBlocks, Y: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None, float]:
    """A few rows with the inner products of all rows of X, and of Y.

    Their means are those of the data times the third result.
    """
    if Y is not None:
        check_consistent_length(Y, np.empty(X.shape[0]))
    along = [] if Y is None else [Y]
    moments, lowest, highest = X.fold(RangedMoments(), _merged, *along)
    sample = moments.sample()
    root, n = float(np.sqrt(sample.weight)), X.n_features
    rows = sample.rows * root
    # The sums of a constant column round, and what they leave is not variation.
    constant = highest - lowest <= _ROUNDING * np.maximum(np.abs(lowest), np.abs(highest))
    rows[:, :n][:, constant] = root * lowest[constant]
    return rows[:, :n], (None if Y is None else rows[:, n:]), root


class RangedMoments:
    """Moments of a block, next to a matrix that comes along, and the range of its columns."""

    def __init__(self):
        self._moments = BlockMoments(_itself)

    def __call__(self, X, *Y) -> tuple[Moments, np.ndarray, np.ndarray]:
        moments = self._moments(X, *Y)
        if not X.shape[0]:
            nothing = np.full(X.shape[1], np.inf)
            return moments, nothing, -nothing
        lowest, highest = X.min(axis=0), X.max(axis=0)
        if sp.issparse(X):
            lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
        return moments, lowest.astype(np.float64), highest.astype(np.float64)

    def operations(self, X, *Y) -> float:
        """Multiplications of the inner products."""
        return self._moments.operations(X, *Y)


def _merged(parts) -> tuple[Moments, np.ndarray, np.ndarray]:
    moments, lowest, highest = zip(*parts, strict=True)
    return merged_moments(moments), np.min(lowest, axis=0), np.max(highest, axis=0)


def _itself(Y: np.ndarray) -> np.ndarray:
    return Y
