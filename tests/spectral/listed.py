"""A list of arrays as blocks of rows: the protocol and nothing else."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from columnist.data._blocks import RowBlocks


class ListedRows(RowBlocks):
    """Blocks in a list, visited one after the other and merged two at a time."""

    ndim = 2

    def __init__(self, blocks):
        self.blocks = list(blocks)
        self.n_features = self.blocks[0].shape[1]
        self.dtype = self.blocks[0].dtype
        self.is_sparse = sp.issparse(self.blocks[0])
        self.header = np.empty((1, self.n_features))

    @classmethod
    def cut(cls, X, lengths) -> ListedRows:
        """X in blocks of these lengths, repeated until all rows are used up."""
        X = sp.csr_array(X) if sp.issparse(X) else X
        blocks, start = [], 0
        while start < X.shape[0]:
            stop = start + lengths[len(blocks) % len(lengths)]
            blocks.append(X[start:stop])
            start = stop
        return cls(blocks)

    @property
    def lengths(self):
        return tuple(block.shape[0] for block in self.blocks)

    def fold(self, visit, merge, *along):
        return _merged(merge, self.collect(visit, *along))

    def collect(self, visit, *along):
        return [visit(*parts) for parts in zip(self.blocks, *map(self._split, along), strict=True)]

    def against(self, visit, merge):
        pairs = list(zip(self.blocks, self.starts.tolist(), strict=True))
        return [_merged(merge, [visit(a, b, i, j) for b, j in pairs]) for a, i in pairs]

    def fold_links(self, visit, merge, links):
        rows = self._split(links)
        results = [
            visit(a, b, tile)
            for a, part in zip(self.blocks, rows, strict=True)
            for b, tile in zip(self.blocks, _columns(part, self._edges()), strict=True)
        ]
        return _merged(merge, results)

    def map(self, visit, n_columns, dtype=np.float64):
        return ListedRows(visit(block) for block in self.blocks)

    def take(self, columns):
        return ListedRows(block[:, columns] for block in self.blocks)

    def divided(self, scale):
        return ListedRows(block / scale for block in self.blocks)

    def cut_like(self, other):
        return self

    def _edges(self):
        return np.append(self.starts, sum(self.lengths))

    def _split(self, other):
        edges = self._edges()
        return [other[a:b] for a, b in pairwise(edges)]


def _columns(part, edges):
    return [part[:, a:b] for a, b in pairwise(edges)]


def _merged(merge, results):
    while len(results) > 1:
        pairs = [results[i : i + 2] for i in range(0, len(results), 2)]
        results = [merge(pair) if len(pair) > 1 else pair[0] for pair in pairs]
    return results[0]
