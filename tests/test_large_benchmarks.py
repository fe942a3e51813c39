"""The benchmarks of large data run, and what they measure is right. Nothing looks at a clock."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

from benchmarks import out_of_core, scaling
from benchmarks.clusters import local_cluster
from benchmarks.counting import count_cost
from columnist import ColumnSelector
from columnist.distributed import moments


@pytest.mark.slow
@pytest.mark.cluster
def test_a_file_larger_than_the_memory_used(tmp_path):
    """The 40 GB benchmark in small: 0.3 GB in blocks of 6 MB."""
    m, n, height, k = 600_000, 64, 12_000, 3
    path = out_of_core.write(tmp_path / "data.zarr", m, n, height)
    with local_cluster(2):
        X = da.from_zarr(str(path))
        with out_of_core.Peak() as before:
            moments(X[:height])  # workers import what they need
        with out_of_core.Peak() as peak:
            selector = ColumnSelector(k).fit(X)
    assert X.nbytes / 1e9 == pytest.approx(0.3072)
    assert peak.gigabytes - before.gigabytes < 0.15
    assert selector.certificate_.is_optimal
    rows = np.vstack([out_of_core.block_of(i, height, n) for i in range(m // height)])
    expected = ColumnSelector(k).fit(rows)
    np.testing.assert_array_equal(selector.selected_, expected.selected_)
    np.testing.assert_allclose(selector.error_, expected.error_, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_row_of_the_benchmark(tmp_path):
    path = out_of_core.write(tmp_path / "data.zarr", 20_000, 10, 3_000)
    row, selector = out_of_core.measure(path, 2, 5.0, repeats=1)
    assert row["status"] == "optimal" and row["gap [%]"] == 0.0
    assert len(selector.selected_) == row["k"] == 2
    assert all(row[f"{job} [s]"] > 0 for job in ("fit", "moments", "Gram"))


@pytest.mark.parametrize("blocks", [1, 2, 8, 9, 40, 64, 65, 100])
def test_results_that_a_tree_brings_together(blocks):
    X = da.ones((blocks, 1), chunks=(1, 1))
    with count_cost() as cost:
        moments(X)
    assert cost.visits + cost.merges - 1 == scaling.merged_results(blocks)


def test_the_model_divides_work_and_adds_messages():
    row = {
        "seconds": 64.0, "client [s]": 1.0, "bytes a result": scaling.BANDWIDTH, "passes": 1,
        "MB broadcast": 0.0,
    }  # fmt: skip
    assert scaling.predicted(row, 1) == 65.0
    assert scaling.predicted(row, 2) == pytest.approx(32 + 1 + 1 + scaling.LATENCY)
    assert scaling.predicted(row, 64) == pytest.approx(1 + 1 + 6 * (1 + scaling.LATENCY))
