"""An array or a sparse matrix as blocks of rows: one block, visited at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from columnist.data._blocks import RowBlocks, open_blocks

__all__ = ["ArrayRows", "as_rows"]


class ArrayRows(RowBlocks):
    """One block, here. A visit is a plain call: nothing is copied, sent or scheduled.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The rows, checked.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.data._array_rows import ArrayRows
    >>> rows = ArrayRows(np.eye(3))
    >>> rows.fold(np.trace, sum), rows.shape
    (np.float64(3.0), (3, 3))
    """

    in_memory = True

    def __init__(self, X: np.ndarray | sp.sparray):
        self.X, self.ndim = X, X.ndim
        self.n_features = 1 if X.ndim == 1 else int(X.shape[1])
        self.dtype, self.is_sparse, self.header = X.dtype, sp.issparse(X), X[:1]

    @property
    def lengths(self) -> tuple[int, ...]:
        return (int(self.X.shape[0]),)

    def fold(self, visit: Callable, merge: Callable[[list], Any], *along) -> Any:
        return merge(self.collect(visit, *along))

    def collect(self, visit: Callable, *along) -> list:
        return [visit(self.X, *(_whole(other) for other in along))]

    def against(self, visit: Callable, merge: Callable[[list], Any]) -> list:
        return [merge([visit(self.X, self.X, 0, 0)])]

    def fold_links(self, visit: Callable, merge: Callable[[list], Any], links: sp.csr_array) -> Any:
        return merge([visit(self.X, self.X, links)])

    def map(self, visit: Callable, n_columns: int | None, dtype=np.float64):
        return visit(self.X)

    def take(self, columns: np.ndarray):
        return self.X[:, columns]

    def divided(self, scale: float) -> ArrayRows:
        return ArrayRows(self.X / scale)

    def cut_like(self, other: RowBlocks) -> RowBlocks:
        return self

    def few_rows(self, Y: np.ndarray | None = None) -> tuple[Any, np.ndarray | None, float]:
        """The rows themselves: products of a few columns cost less than those of all."""
        if Y is not None:
            check_consistent_length(Y, np.empty(self.shape[0]))
        return self.X, Y, 1.0

    def gather(self, instead: str = "") -> np.ndarray | sp.csr_array:
        return self.X


def as_rows(X) -> RowBlocks:
    """Blocks of rows, whatever X is: a collection as it is cut, an array as one block."""
    blocks = open_blocks(X)
    return ArrayRows(X) if blocks is None else blocks


def _whole(other):
    """All rows of what goes along with the block."""
    return other.gather() if isinstance(other, RowBlocks) else np.asarray(other)
