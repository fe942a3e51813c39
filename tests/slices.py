"""Blocks of rows in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from columnist.data import RowBlocks


class Slices(RowBlocks):
    """Slices of an array, visited one after the other: as little as the protocol asks for."""

    is_sparse = False

    def __init__(self, X: np.ndarray, edges=()):
        self.X, self.edges = X, [0, *sorted(edges), len(X)]
        self.n_features, self.dtype, self.header = X.shape[1], X.dtype, X[:1]

    @property
    def lengths(self):
        return tuple(np.diff(self.edges).tolist())

    def _cut(self, data):
        return [data[a:b] for a, b in pairwise(self.edges)]

    def collect(self, visit, *along):
        parts = [self._cut(x.X if isinstance(x, Slices) else x) for x in along]
        return [visit(*row) for row in zip(self._cut(self.X), *parts, strict=True)]

    def fold(self, visit, merge, *along):
        return merge(self.collect(visit, *along))

    def against(self, visit, merge):
        raise NotImplementedError

    def fold_links(self, visit, merge, links):
        raise NotImplementedError

    def map(self, visit, n_columns, dtype=np.float64):
        return np.concatenate(self.collect(visit))

    def take(self, columns):
        return self.X[:, columns]

    def divided(self, scale):
        return Slices(self.X / scale, self.edges[1:-1])

    def cut_like(self, other):
        return Slices(self.X, other.edges[1:-1])
