"""Threads of the BLAS library."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

__all__ = ["single_threaded_blas"]


@functools.cache
def _controller() -> ThreadpoolController:
    """Looking for the BLAS libraries takes longer than a small search: do it once."""
    return ThreadpoolController()


def single_threaded_blas() -> AbstractContextManager:
    """Within this context BLAS calls use one thread.

    Small matrices gain nothing from more, and worker threads of our own would
    oversubscribe the machine.
    """
    return _controller().limit(limits=1, user_api="blas")
