"""Threads of the BLAS library, and threads of our own."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Self

from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> ThreadpoolController:
    """Looking for the BLAS libraries takes longer than a small search: do it once."""
    return ThreadpoolController()


# Whether this thread is in such a context already: asking the libraries again takes time.
_here = threading.local()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Within this context BLAS calls use one thread: small matrices gain nothing from more, and
    worker threads of our own would oversubscribe the machine."""
    if getattr(_here, "limited", False):
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        _here.limited = True
        try:
            yield
        finally:
            _here.limited = False


class Threads:
    """Threads that share out calls. Every call is the same for any number of threads, and results
    come in the order of the calls, so the number of threads changes no result."""

    def __init__(self, n_jobs: int = 1):
        self.n_jobs = n_jobs
        self._pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, work: Callable[..., Any], *arguments: Sequence) -> list:
        """Results of ``work`` for the first of all arguments, for the second, and so on."""
        if self._pool is None or len(arguments[0]) < 2:
            return list(map(work, *arguments))
        with single_threaded_blas():
            return list(self._pool.map(work, *arguments))
