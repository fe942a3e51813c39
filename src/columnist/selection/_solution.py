"""One selection of a pool."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Solution"]


class Solution(tuple):
    """Selected columns, ascending, that know their error.

    Parameters
    ----------
    columns : iterable of int
        The selection.
    error : float
        Its error.

    Examples
    --------
    >>> from columnist.selection import Solution
    >>> solution = Solution([2, 0], error=1.5)
    >>> solution
    Solution((0, 2), error=1.5)
    >>> solution[0], len(solution), solution.error
    (0, 2, 1.5)
    """

    error: float

    def __new__(cls, columns: Iterable[int], error: float) -> Solution:
        self = super().__new__(cls, sorted(int(column) for column in columns))
        self.error = float(error)
        return self

    def __getnewargs__(self) -> tuple:
        return tuple(self), self.error

    def __repr__(self) -> str:
        return f"Solution({tuple(self)!r}, error={self.error:g})"
