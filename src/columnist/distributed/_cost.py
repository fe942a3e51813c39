"""Work and traffic, counted where they happen.

Every visit of a block reports its operations, every merge the bytes that were brought to it. The
counts travel with the results, so that they are those of the run itself and not of a formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import scipy.sparse as sp

__all__ = ["Cost", "bytes_of", "charge", "count_cost"]


@dataclass
class Cost:
    """What computing on blocks has cost.

    Attributes
    ----------
    passes : int
        Times that the blocks were visited.
    visits : int
        Blocks visited, all passes together.
    operations : float
        Multiplications inside the blocks, where the visitor counts them.
    reduced : float
        Bytes of results that were brought together.
    broadcast : float
        Bytes sent to the blocks: what every visit gets beside its block, a second block too
        (at most: it may be there already).
    merges : int
        Merges, all levels of the trees together.
    levels : int
        Levels of merges, one after the other.
    seconds : float
        Time of the passes, as seen from here.
    """

    passes: int = 0
    visits: int = 0
    operations: float = 0.0
    reduced: float = 0.0
    broadcast: float = 0.0
    merges: int = 0
    levels: int = 0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Cost)))


_COUNTER: ContextVar[Cost | None] = ContextVar("cost", default=None)


@contextmanager
def count_cost() -> Iterator[Cost]:
    """Count the work and the traffic of everything computed on blocks inside.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from columnist.distributed import count_cost
    >>> from columnist.selection import ForwardSelector
    >>> X = da.from_array(np.random.default_rng(0).standard_normal((1000, 5)), chunks=(250, 5))
    >>> with count_cost() as cost:
    ...     selector = ForwardSelector(2).fit(X)
    >>> cost.passes, cost.visits, cost.operations
    (1, 4, 25000.0)
    """
    cost = Cost()
    token = _COUNTER.set(cost)
    try:
        yield cost
    finally:
        _COUNTER.reset(token)


def charge(cost: Cost) -> None:
    """Add to the counter, if anyone counts."""
    counter = _COUNTER.get()
    if counter is not None:
        for field in fields(Cost):
            total = getattr(counter, field.name) + getattr(cost, field.name)
            setattr(counter, field.name, total)


def bytes_of(value) -> float:
    """Bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return float(value.nbytes)
    if sp.issparse(value):
        return float(sum(getattr(value, name).nbytes for name in ("data", "indices", "indptr")))
    if isinstance(value, dict):
        return sum(bytes_of(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(bytes_of(item) for item in value)
    if is_dataclass(value):
        return sum(bytes_of(getattr(value, f.name)) for f in fields(value))
    return 8.0 if isinstance(value, (int, float, np.number)) else 0.0
