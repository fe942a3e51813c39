"""Threads that share out the blocks of a proof.

Every block is worked on alone, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Self

__all__ = ["Team"]

# Seconds of work below which sharing it out only costs.
_SHORT = 1e-3


class Team:
    """Some threads.

    Parameters
    ----------
    n_jobs : int, default=1
        How many.

    Examples
    --------
    >>> from columnist.robust._team import Team
    >>> with Team(2) as team:
    ...     team.share(5, 1.0, lambda start, stop, worker: print(start, stop))
    0 2
    2 5
    """

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs
        self._threads = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    def share(self, count: int, seconds: float, work: Callable[[int, int, int], object]) -> None:
        """Call ``work(start, stop, worker)`` on parts of a range that takes so many seconds."""
        parts = min(self.n_jobs, count)
        if self._threads is None or seconds < _SHORT or parts < 2:
            work(0, count, 0)
            return
        ends = [count * part // parts for part in range(parts + 1)]
        for _ in self._threads.map(work, ends[:-1], ends[1:], range(parts)):
            pass
