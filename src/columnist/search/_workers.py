"""Workers in other processes or on other machines that expand branches.

The engine keeps frontier, proof and limits, and merges what comes back in order.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from columnist.linalg._threads import single_threaded_blas
from columnist.search._frontier import Branch
from columnist.search._problem import Branches, Demand, SubsetProblem


class Workers(Protocol):
    """The interface of workers."""

    @property
    def count(self) -> int:
        """How many tasks they can do at once; 0 if they are gone."""

    def map(self, function: Callable, shared: Any, items: Sequence, until: float) -> Iterator:
        """``function(shared, item)`` for every item, in order, as they come; ``shared`` is sent
        once. Work that was lost, or is not back at ``until`` (``time.perf_counter()``), yields
        None."""


class Portion(NamedTuple):
    """Branches for one task, and how long it may take."""

    branches: list[Branch]
    demand: Demand
    seconds: float


class Expanded(NamedTuple):
    """Results of a portion (None for branches out of time), and how long they took."""

    results: list[Branches | None]
    seconds: float


def expand_portion(problem: SubsetProblem, portion: Portion) -> Expanded:
    """Expand the branches of a portion, on whatever machine this is."""
    started = time.perf_counter()
    results: list[Branches | None] = []
    space = threading.get_ident()  # threads of one process share the problem
    with single_threaded_blas():
        for branch in portion.branches:
            late = time.perf_counter() - started > portion.seconds
            demand = replace(portion.demand, hint=branch.hint)
            results.append(
                None if late else problem.expand(branch.chosen, branch.candidates, demand, space)
            )
    return Expanded(results, time.perf_counter() - started)


_CURRENT: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current_workers() -> Workers | None:
    """Helpers of searches that did not bring their own."""
    return _CURRENT.get()


@contextmanager
def use_workers(workers: Workers) -> Iterator[None]:
    """Searches inside may use these helpers."""
    token = _CURRENT.set(workers)
    try:
        yield
    finally:
        _CURRENT.reset(token)
