"""The benchmark of wide data on a cluster runs, and finds what is found in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import wide_dask
from benchmarks.wide import popular_columns


def test_rows_agree_with_the_selection_in_memory(tmp_path):
    X = popular_columns(120, 9000, 10)
    paths = wide_dask.write(X, tmp_path, 50)
    assert len(paths) == 3
    read = wide_dask.read(paths, X.shape)
    assert (read.compute() != X).nnz == 0
    for name, selector in wide_dask.selectors(4).items():
        row, fitted = wide_dask.measure(name, selector, X, paths)
        expected = clone(selector).fit(X)
        np.testing.assert_array_equal(fitted.selected_, expected.selected_)
        assert row["relative error"] == pytest.approx(expected.relative_error_, rel=1e-9)
        assert row["k"] == 4 and row["passes"] > 2 and row["ratio"] > 0.0
        assert row["MB sent"] > 0.0 and row["MB back"] > 0.0
