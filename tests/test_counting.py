"""Counters of work and traffic, against what the run must have cost."""

from __future__ import annotations

from dataclasses import dataclass

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.counting import Cost, bytes_of, count_cost
from columnist.distributed._blocks import DaskRows

X = np.random.default_rng(83).standard_normal((60, 3))


def blocks(n_blocks: int) -> DaskRows:
    return DaskRows(da.from_array(X, chunks=(len(X) // n_blocks, 3)))


class Shifted:
    """Sums of a block minus a vector."""

    def __init__(self, shift: np.ndarray):
        self.shift = shift

    def __call__(self, block, *parts):
        return (block - self.shift).sum(axis=0)

    def operations(self, block, *parts) -> float:
        return float(block.size)


def total(parts):
    return np.sum(parts, axis=0)


@pytest.mark.parametrize(("n_blocks", "merges", "levels"), [(1, 0, 0), (6, 1, 1), (20, 4, 2)])
def test_fold(n_blocks, merges, levels):
    with count_cost() as cost:
        blocks(n_blocks).fold(Shifted(np.zeros(3)), total)
    assert (cost.passes, cost.visits, cost.merges, cost.levels) == (1, n_blocks, merges, levels)
    assert cost.operations == X.size
    assert cost.broadcast == 24.0 * n_blocks  # the shift goes to every block
    # Every result of a level is brought to a merge, but for a group of one, which waits.
    inputs = {1: 0, 6: 6, 20: 20 + 3}
    assert cost.reduced == 24.0 * inputs[n_blocks]
    assert cost.seconds > 0.0


def test_collect_brings_everything_here():
    with count_cost() as cost:
        blocks(6).collect(Shifted(np.zeros(3)))
    assert (cost.passes, cost.visits, cost.merges) == (1, 6, 0)
    assert cost.reduced == 6 * 24.0


def test_arrays_along_are_sent():
    with count_cost() as cost:
        blocks(6).fold(Shifted(np.zeros(3)), total, np.ones(60))
    assert cost.broadcast == 6 * 24.0 + 60 * 8.0


def test_pairs_of_blocks():
    with count_cost() as cost:
        blocks(4).against(Shifted(np.zeros(3)), total)
    assert (cost.passes, cost.visits, cost.merges) == (1, 16, 4)


def test_a_cluster_counts_the_same(cluster):
    with count_cost() as there:
        blocks(20).fold(Shifted(np.zeros(3)), total)
    with cluster.as_current(), count_cost() as again:
        blocks(20).fold(Shifted(np.zeros(3)), total)
    there.seconds = again.seconds = 0.0
    assert there == again
    assert there.visits == 20


def test_counters_nest_and_end():
    with count_cost() as outer:
        blocks(1).collect(total)
        with count_cost() as inner:
            blocks(3).collect(total)
        blocks(2).collect(total)
    blocks(4).collect(total)
    assert (outer.passes, outer.visits) == (2, 3)
    assert (inner.passes, inner.visits) == (1, 3)


def test_sum_of_costs():
    assert Cost(passes=1, reduced=2.0) + Cost(passes=3, merges=4) == Cost(4, reduced=2.0, merges=4)


@dataclass
class Pair:
    left: np.ndarray
    right: float


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (np.zeros((3, 2), dtype=np.float32), 24.0),
        (sp.csr_array(np.eye(3)), 3 * 8 + 3 * 4 + 4 * 4),
        ({"a": np.zeros(2), "b": [1.0, 2]}, 32.0),
        ((np.zeros(1), None, "text"), 8.0),
        (Pair(np.zeros(4), 1.0), 40.0),
        (np.float64(1.0), 8.0),
    ],
)
def test_bytes(value, size):
    assert bytes_of(value) == size
