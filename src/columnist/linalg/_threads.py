"""Threads of the BLAS library."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
