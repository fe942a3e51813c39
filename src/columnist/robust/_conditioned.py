r"""Linear maps of rows, so that rounding does not hide their error.

Where a few directions hold nearly everything, double precision loses the small rest in them. Let
the columns of V be the axes of the rows that a choice keeps, those of its subspace first, and m its
mean. The map

.. math:: y = S V^T (x - m), \qquad s_j \le 1,

lengthens nothing, so the error of any rows is at least that of their images; and if the leading
axes are shortened to no less than what the others hold, the choice itself loses nothing. Every
coordinate is a sum of products that is rounded by its own terms only: the rest keeps its digits.

The map is what the computer multiplies by, so V need not be orthogonal: its norm is charged. With W
the other axes, the null space of :math:`W^T` is a subspace of the right dimension, and rows lie no
farther from it than :math:`|W^T(x - m)| / \sigma_{\min}(W)`, which bounds the error of the choice
from above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg

from columnist.linalg._prox import row_norms
from columnist.linalg._rounding import UNIT
from columnist.robust._errors import Interval
from columnist.robust._row_data import KeptRows, RowData
from columnist.robust._subspace import at_most_square

# Leading eigenvalues become at most so many times the largest other one.
_LEAD = 100.0


@dataclass(frozen=True)
class Seen:
    """Rows, perhaps as a map shows them, and what that may have cost."""

    data: RowData
    mean: np.ndarray | None  # where the subspace passes; None for the mean of the kept rows
    noise: np.ndarray  # (n,), how far rounding may have moved every row
    stretch: float = 1.0  # squared norm of the map, at most

    def without(self, removed: np.ndarray, n_components: int) -> KeptRows:
        """The choice that removes some rows."""
        return self.data.without(removed, n_components, self.mean)

    def off(self, removed: np.ndarray) -> float:
        """How far rounding may have moved the root of the error of a choice."""
        return float(np.linalg.norm(np.delete(self.noise, removed)))

    def proven(self, error: float, off: float) -> float:
        """What an error of these rows proves of the rows themselves."""
        return max(np.sqrt(max(error, 0.0)) - off, 0.0) ** 2 / self.stretch


def conditioned(data: RowData, kept: KeptRows) -> Seen:
    """The rows as the axes of a choice, whose error is not zero, show them."""
    subspace = kept.subspace
    # Their own axes first, then whatever is at right angles to them.
    axes = scipy.linalg.svd(at_most_square(kept.about_centre()), check_finite=False)[2].T
    squares, r = kept.spectrum**2, len(subspace.variances)
    shrink = np.ones(len(squares))
    shrink[:r] = np.sqrt(np.minimum(1.0, _LEAD * squares[r] / squares[:r]))
    centre, image = subspace.mean, axes * shrink
    seen = RowData(data.mapped(partial(image_of, centre, image)))
    noise = data.collect(partial(image_noise, centre, image))
    mean = None if subspace.free_mean else np.zeros(len(squares))
    # How far the squared singular values of nearly orthogonal axes may be from 1.
    p = len(axes)
    skewness = float(scipy.linalg.norm(axes.T @ axes - np.eye(p))) + (p + 8) * p * UNIT
    return Seen(seen, mean, noise, 1.0 + skewness)


def image_of(centre: np.ndarray, image: np.ndarray, block: np.ndarray) -> np.ndarray:
    """A linear map of rows about a centre."""
    return (block - centre) @ image


def image_noise(centre: np.ndarray, image: np.ndarray, block: np.ndarray) -> np.ndarray:
    """Its rounding: every sum by its terms, and every entry once or twice before."""
    terms = np.abs(block - centre) + np.abs(centre)
    return 1.1 * (len(centre) + 4) * UNIT * row_norms(terms @ np.abs(image))


class PassErrors:
    """Squared Frobenius errors of the rows that are kept of many, as intervals, from passes.

    Rows are multiplied by ``scale``; the subspace passes through ``mean``, or the kept rows' own.
    """

    def __init__(
        self, data: RowData, n_components: int, mean: np.ndarray | None, scale: float = 1.0
    ):
        self.data, self.n_components, self.mean = data, n_components, mean
        self.square = scale * scale
        self._known: dict[bytes, Interval] = {}

    def evaluate(self, kept: np.ndarray, limit: float = np.inf) -> Interval:
        """Error of some rows (a mask), as precisely as possible."""
        removed = np.flatnonzero(~kept)
        known = self._known.get(removed.tobytes())
        return known or self.of(self.data.without(removed, self.n_components, self.mean))

    def of(self, kept: KeptRows) -> Interval:
        """The same for rows whose moments are known."""
        error, off = kept.error, kept.rounding
        found = Interval(max(error - off, 0.0), error, error + off)
        if error == 0.0:  # nothing but rounding is no error
            found = Interval(0.0, 0.0, 0.0)
        elif not found.precise:
            found = self._closer(kept, found)
        found = Interval(*(self.square * end for end in found[:3]))
        self._known[kept.removed.tobytes()] = found
        return found

    def _closer(self, kept: KeptRows, found: Interval) -> Interval:
        """From rows whose leading directions are shortened: see :func:`conditioned`."""
        seen = conditioned(self.data, kept)
        image = seen.without(kept.removed, self.n_components)
        off = seen.off(kept.removed)
        low = seen.proven(image.error - image.rounding, off)
        left = float(np.sum(image.about_centre()[:, self.n_components :] ** 2))
        high = (np.sqrt(left + image.rounding) + off) ** 2 / (2.0 - seen.stretch)
        if high - low >= found.high - found.low:
            return found
        return Interval(low, low + 0.5 * (high - low), high)
