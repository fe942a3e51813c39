"""Products of one feature with all others, a few features at a time."""

from __future__ import annotations

import numpy as np

from columnist.spectral._scaled_columns import ScaledColumns

__all__ = ["ProductsAhead"]

# Features whose products are computed together: what a pass costs is reading the data.
_TOGETHER = 16


class ProductsAhead:
    """F'f for features f that are asked for one by one.

    When one is asked for, the products of those that are likely to come next are computed beside
    it in the same pass over the data. No input validation.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._products import ProductsAhead
    >>> from columnist.spectral._scaled_columns import ScaledColumns
    >>> ahead = ProductsAhead(ScaledColumns.plain(np.array([[1.0, 2.0], [0.0, 1.0]])))
    >>> ahead.of(1, np.zeros(2))
    array([2., 5.])
    """

    def __init__(self, F: ScaledColumns):
        self.F = F
        self.done: set[int] = set()
        self.spare: dict[int, np.ndarray] = {}

    def of(self, feature: int, likely: np.ndarray) -> np.ndarray:
        """F'f of a feature; ``likely`` is large for those that may be next."""
        if feature not in self.spare:
            self._prepare(feature, likely)
        self.done.add(feature)
        return self.spare.pop(feature)

    def _prepare(self, feature: int, likely: np.ndarray) -> None:
        likely = np.array(likely, dtype=np.float64)
        likely[list(self.done)] = -np.inf
        likely[feature] = np.inf
        together = min(_TOGETHER, len(likely))
        near = np.argpartition(-likely, together - 1)[:together]
        products = self.F.cross(self.F.take(near))
        self.spare = dict(zip(near.tolist(), products.T, strict=True))
