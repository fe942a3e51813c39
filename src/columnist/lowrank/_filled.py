"""A table whose holes hold the model's own values. No input validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from columnist.lowrank._table import Table

__all__ = ["Filled"]


class Filled:
    """A copy of a table with missing entries, filled anew whenever the model moves.

    The squared error of the filled table is that over the entries that are there, at the point it
    was filled at, and no smaller elsewhere. A step that lowers the one lowers the other.

    Attributes
    ----------
    table : Table
        Without missing entries; its values change with :meth:`follow`.
    """

    def __init__(self, table: Table):
        assert table.missing is not None  # else there is nothing to fill
        self.holes = table.missing
        self.table = replace(table, values=table.values.copy(), missing=None)

    def follow(self, X: np.ndarray, Y: np.ndarray) -> float:
        """Fill with XY'; the squared error over the entries that are there."""
        total = 0.0
        for rows, values in self.table.blocks():
            model = X[rows] @ Y.T
            np.copyto(values, model, where=self.holes[rows])
            model -= values
            total += float(np.vdot(model, model))
        return total
