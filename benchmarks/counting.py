"""Work and traffic of computations on blocks, counted where they happen.

Every visit of a block reports its operations, every merge the bytes that were brought to it. The
counts travel with the results, so that they are those of the run itself and not of a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.distributed._run import observed

__all__ = ["Cost", "bytes_of", "count_cost"]


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


@dataclass(frozen=True)
class Counted:
    """A result, and what it has cost; of a pair of results, the first one carries the cost."""

    result: Any
    cost: Cost

    def __getitem__(self, place: int) -> Counted:
        return Counted(self.result[place], Cost() if place else self.cost)


class Counter:
    """Counts for `columnist.distributed._run.observed`."""

    def __init__(self) -> None:
        self.cost = Cost()

    def visit(self, visit: Callable, block, parts: list) -> Counted:
        """Visit a block and count, where it is."""
        cost = Cost(visits=1, broadcast=bytes_of(getattr(visit, "__dict__", {})))
        operations = getattr(visit, "operations", None)
        if operations is not None:
            cost.operations = operations(block, *parts)
        return Counted(visit(block, *parts), cost)

    def merge(self, merge: Callable, parts: list[Counted]) -> Counted:
        """Merge some results and count, where they come together."""
        cost = Cost(merges=1, reduced=sum(bytes_of(part.result) for part in parts))
        for part in parts:
            cost = cost + part.cost
        return Counted(merge([part.result for part in parts]), cost)

    def settle(self, counted: Sequence[Counted], seconds: float) -> list:
        """The results of a pass, here."""
        self.charge(Cost(passes=1, seconds=seconds))
        for part in counted:
            self.charge(part.cost)
        return [part.result for part in counted]

    def hear(self, event: str, value: Any) -> None:
        """Something that no visit and no merge knows of."""
        if event == "levels":
            self.charge(Cost(levels=value))
        elif event == "brought":
            self.charge(Cost(reduced=bytes_of(value)))
        elif event == "sent":
            self.charge(Cost(broadcast=bytes_of(value)))
        elif event == "sent bytes":
            self.charge(Cost(broadcast=value))
        elif event == "dealt out":
            blocks, size = value
            self.charge(Cost(passes=1, visits=blocks, reduced=size))

    def charge(self, cost: Cost) -> None:
        """Add to the cost, whose holder may be looking at it."""
        for field in fields(Cost):
            total = getattr(self.cost, field.name) + getattr(cost, field.name)
            setattr(self.cost, field.name, total)

    def __reduce__(self):
        # Where blocks are visited only the methods are needed.
        return Counter, ()


@contextmanager
def count_cost() -> Iterator[Cost]:
    """Count the work and the traffic of everything computed on blocks inside.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from benchmarks.counting import count_cost
    >>> from columnist.selection import ForwardSelector
    >>> X = da.from_array(np.random.default_rng(0).standard_normal((1000, 5)), chunks=(250, 5))
    >>> with count_cost() as cost:
    ...     selector = ForwardSelector(2).fit(X)
    >>> cost.passes, cost.visits, cost.operations
    (1, 4, 25000.0)
    """
    counter = Counter()
    with observed(counter):
        yield counter.cost


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
