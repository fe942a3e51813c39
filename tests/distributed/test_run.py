"""Tasks: trees of merges, threads, progress, and tasks inside tasks."""

from __future__ import annotations

import os
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask.delayed import delayed

from columnist import ColumnSelector
from columnist.distributed import ClusterError, watch
from columnist.distributed._blocks import DaskRows
from columnist.distributed._run import (
    as_matrix,
    cluster_client,
    cluster_errors,
    compute,
    merge_tree,
    visit_task,
)


def rows(n_blocks: int) -> DaskRows:
    return DaskRows(da.ones((n_blocks, 2), chunks=(1, 2)))


class Slow:
    """Sum of a block, after a while."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def __call__(self, block):
        time.sleep(self.seconds)
        return block.sum()


def process(block) -> int:
    return os.getpid()


@pytest.mark.parametrize("n_tasks", [1, 2, 8, 9, 64, 65])
def test_trees_keep_the_order(n_tasks):
    visit, merge = delayed(_as_list), delayed(_chained)
    tasks = [visit_task(visit, np.full((1, 1), i)) for i in range(n_tasks)]
    assert compute([merge_tree(merge, tasks)]) == [list(range(n_tasks))]


def _as_list(block):
    return [int(block[0, 0])]


def _chained(parts):
    assert 1 < len(parts) <= 8
    return [item for part in parts for item in part]


def test_blocks_as_matrices():
    dense, sparse = np.eye(2), sp.csc_matrix(np.eye(2))
    assert as_matrix(dense) is dense
    assert isinstance(as_matrix(sparse), sp.csr_array)
    assert as_matrix(3) == 3
    np.testing.assert_array_equal(as_matrix(da.ones(2).to_dask_dataframe().compute()), np.ones(2))


class Elements:
    """A block of another library of sparse arrays."""

    def to_scipy_sparse(self):
        return sp.coo_array(np.eye(3))


def test_sparse_blocks_of_other_libraries():
    found = as_matrix(Elements())
    assert isinstance(found, sp.csr_array)
    np.testing.assert_array_equal(found.toarray(), np.eye(3))


class Meeting:
    """A visit that ends only if another one is under way at the same time."""

    barrier = threading.Barrier(2, timeout=60)

    def __call__(self, block):
        self.barrier.wait()
        return 1


def test_visits_run_at_the_same_time():
    with dask.config.set(scheduler="threads", num_workers=2):
        assert rows(2).fold(Meeting(), sum) == 2


# -- clusters -----------------------------------------------------------------


def test_no_client_means_this_process():
    assert cluster_client() is None
    assert set(rows(3).collect(process)) == {os.getpid()}


def test_the_current_client_is_used(cluster):
    assert cluster_client() is cluster
    assert os.getpid() not in rows(3).collect(process)


def test_the_settings_of_dask_come_first(cluster):
    with dask.config.set(scheduler="threads"):
        assert cluster_client() is None
        assert set(rows(3).collect(process)) == {os.getpid()}


def inner() -> float:
    return rows(4).fold(Slow(0.0), sum)


def test_tasks_inside_tasks(cluster):
    """They get the thread of the task that waits for them."""
    futures = cluster.map(lambda _: inner(), range(2), pure=False)
    assert cluster.gather(futures) == [8.0, 8.0]


class Gone:
    """A client that has lost its scheduler."""

    status = "closed"
    scheduler = None


def test_errors_without_a_scheduler():
    with (
        pytest.raises(ClusterError, match="stopped before the work was done"),
        cluster_errors(Gone()),
    ):
        raise OSError("connection refused")


# -- progress -----------------------------------------------------------------


def fold(blocks, visit):
    return blocks.fold(visit, sum)


def collect(blocks, visit):
    return blocks.collect(visit)


def check_progress(reduce, n_blocks: int, seconds: float) -> None:
    seen = []
    with watch(lambda done, total: seen.append((done, total))):
        reduce(rows(n_blocks), Slow(seconds))
    assert seen[0] == (0, n_blocks)
    assert seen[-1] == (n_blocks, n_blocks)
    done = [count for count, _ in seen]
    assert done == sorted(set(done))
    assert len(done) > 2
    assert {total for _, total in seen} == {n_blocks}


@pytest.mark.parametrize("reduce", [fold, collect])
def test_progress_here(reduce):
    check_progress(reduce, 20, 0.05)


@pytest.mark.parametrize("reduce", [fold, collect])
def test_progress_on_a_cluster(cluster, reduce):
    check_progress(reduce, 20, 0.05)


def test_every_pass_starts_anew():
    seen = []
    X = da.from_array(np.random.default_rng(0).standard_normal((40, 3)), chunks=(10, 3))
    with watch(lambda *state: seen.append(state)):
        ColumnSelector(1).fit(X)
        ColumnSelector(1).fit(X[:30])
    assert seen[0] == (0, 4) and (4, 4) in seen
    assert seen[seen.index((4, 4)) + 1] == (0, 3) and seen[-1] == (3, 3)


def test_nobody_watches_afterwards():
    seen = []
    with watch(lambda *state: seen.append(state)):
        pass
    rows(3).fold(Slow(0.0), sum)
    assert not seen


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_what_a_callback_raises_ends_the_pass(request, where):
    def full(done, total):
        if done:
            raise RuntimeError("enough")

    with watch(full), pytest.raises(RuntimeError, match="enough"):
        if where == "here":
            rows(30).fold(Slow(0.02), sum)
        else:
            with request.getfixturevalue("cluster").as_current():
                rows(30).fold(Slow(0.05), sum)
