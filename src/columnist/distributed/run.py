"""Visits and merges as Dask tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dask
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed, delayed

from columnist.distributed.cost import Cost, bytes_of, charge
from columnist.linalg.threads import single_threaded_blas

__all__ = ["ClusterError", "as_matrix", "compute", "merge_tree", "visit_task"]

# Results merged by one task: trees of few levels that still keep few results in memory.
_FAN_IN = 8


class ClusterError(RuntimeError):
    """The Dask cluster went away, or lost the same work again and again."""


def visit_task(visit, block, *parts) -> Delayed:
    """Task that visits one block; ``visit`` itself is a delayed object, shared by all."""
    return _visited(visit, block, list(parts))


def merge_tree(merge, tasks: Sequence[Delayed]) -> Delayed:
    """Merge the results of tasks, a few at a time."""
    tasks, levels = list(tasks), 0
    while len(tasks) > 1:
        groups = [tasks[i : i + _FAN_IN] for i in range(0, len(tasks), _FAN_IN)]
        tasks = [_merged(merge, g) if len(g) > 1 else g[0] for g in groups]
        levels += 1
    charge(Cost(levels=levels))
    return tasks[0]


def compute(tasks: Sequence[Delayed]) -> list:
    """Run tasks, on the current cluster if there is one, and count what they cost."""
    with single_threaded_blas():
        counted = dask.compute(*tasks)
    total = Cost(passes=1)
    for _, cost in counted:
        total = total + cost
    charge(total)
    return [result for result, _ in counted]


def as_matrix(block: Any) -> Any:
    """A block as visitors expect it: a NumPy array or a SciPy sparse array."""
    if isinstance(block, (int, float)):
        return block
    if hasattr(block, "to_numpy"):  # a pandas object
        block = block.to_numpy()
    elif hasattr(block, "to_scipy_sparse"):  # an array of the library sparse
        block = block.to_scipy_sparse()
    return sp.csr_array(block) if sp.issparse(block) else np.asarray(block)


@delayed
def _visited(visit: Callable, block, parts: list) -> tuple[Any, Cost]:
    block = as_matrix(block)
    parts = [as_matrix(part) for part in parts]
    operations = getattr(visit, "operations", None)
    cost = Cost(visits=1, broadcast=bytes_of(getattr(visit, "__dict__", {})))
    if operations is not None:
        cost.operations = operations(block, *parts)
    return visit(block, *parts), cost


@delayed
def _merged(merge: Callable, counted: list) -> tuple[Any, Cost]:
    cost = Cost(merges=1, reduced=sum(bytes_of(result) for result, _ in counted))
    for _, part in counted:
        cost = cost + part
    return merge([result for result, _ in counted]), cost
