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
from columnist.linalg._column_parts import Visit

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
        function, constants = _function(visit)
        if hasattr(visit, "operations"):
            cost.operations = visit.operations(block, *parts)
        elif function in _OPERATIONS:
            cost.operations = _OPERATIONS[function](block, *parts, *constants)
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


def _function(visit: Callable) -> tuple[str, tuple]:
    """Name of the function that visits a block, and what it needs beside the block."""
    if isinstance(visit, Visit):
        return getattr(visit.function, "__name__", ""), visit.constants
    return getattr(visit, "__name__", ""), ()


def _entries(X) -> float:
    return float(X.nnz if sp.issparse(X) else X.size)


def _row_entries(X) -> float:
    return _entries(X) / max(X.shape[0], 1)


def _all_products(A, B, *_) -> float:
    return float(A.shape[0]) * B.shape[0] * _row_entries(A)


# Multiplications of the functions that `columnist.spectral` sends to blocks, by their names.
_OPERATIONS: dict[str, Callable[..., float]] = {
    # A square of the entry, and one of its deviation.
    "class_sums": lambda X, *_: 2.0 * _entries(X),
    # The weighted entry, and two weighted squares.
    "block_sums": lambda X, *_: 5.0 * _entries(X),
    "block_cross": lambda X, M, *_: _entries(X) * float(np.prod(M.shape[1:])),
    "block_own_cross": lambda X, *_: _entries(X) * (1.0 + X.shape[1]),
    "apply": lambda X, W: _entries(X) * float(np.prod(W.shape[1:])),
    # A square and a weight for every entry of an edge.
    "edge_forms": lambda A, B, tile, *_: 2.0 * tile.nnz * _row_entries(A),
    # Every linked entry, and the sums.
    "link_forms": lambda A, B, tile, *_: tile.nnz * _row_entries(B) + _entries(A),
    "nearest_rows": _all_products,
    "gaussian_tile": _all_products,
    "power_tile": _all_products,
}


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
