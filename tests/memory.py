"""How much memory a call takes at a time."""

from __future__ import annotations

import gc
import multiprocessing
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

__all__ = ["in_own_process", "peak_memory"]

_Result = TypeVar("_Result")


def peak_memory(call: Callable[[], _Result]) -> tuple[int, _Result]:
    """The most bytes that Python held at a time during a call, and its result.

    Whatever other threads allocate counts, too: measure :func:`in_own_process`.
    """
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def in_own_process(function: Callable[..., _Result], *args) -> _Result:
    """What a function of a module returns in a new process, which has no threads and no past."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return executor.submit(function, *args).result()
