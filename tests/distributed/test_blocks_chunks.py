"""Chunks that do not fit are cut anew, with a warning and the same answer."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from columnist import ColumnSelector
from columnist.distributed import ChunkWarning
from columnist.distributed._blocks import row_chunks

X = np.random.default_rng(82).standard_normal((40, 5))


def test_good_chunks_stay():
    for chunks in ((7, 5), (40, 5), ((1, 30, 9), 5)):
        data = da.from_array(X, chunks=chunks)
        assert row_chunks(data) is data
    line = da.from_array(X[:, 0], chunks=9)
    assert row_chunks(line) is line


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_in_chunks(convert):
    data = da.from_array(X, chunks=(9, 2)).map_blocks(convert)
    with pytest.warns(ChunkWarning, match=r"cut into 3 chunks.*rechunk\(\{1: -1\}\)"):
        selector = ColumnSelector(2).fit(data)
    expected = ColumnSelector(2).fit(X)
    np.testing.assert_array_equal(selector.selected_, expected.selected_)
    np.testing.assert_allclose(selector.error_, expected.error_)


def test_columns_in_chunks_of_unknown_lengths():
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    parts = [frame.to_dask_array(), frame.to_dask_array()]
    data = da.concatenate(parts, axis=1, allow_unknown_chunksizes=True)
    with pytest.warns(ChunkWarning, match="cut into 2 chunks"):
        cut = row_chunks(data)
    assert cut.numblocks == (3, 1)
    np.testing.assert_array_equal(cut.compute(), np.hstack([X, X]))


def test_the_warning_points_here():
    with pytest.warns(ChunkWarning) as caught:
        ColumnSelector(2).fit(da.from_array(X, chunks=(9, 2)))
    assert [warning.filename for warning in caught] == [__file__]


def test_huge_chunks():
    data = da.ones((2**21, 100), chunks=(2**21, 100))  # 1.6 GB, never computed
    with pytest.warns(ChunkWarning, match=r"a chunk of 1\.6 GB"):
        cut = row_chunks(data)
    assert max(cut.chunks[0]) * 100 * 8 <= 2**27
    assert cut.shape == data.shape


def test_a_huge_row_stays():
    row = da.ones((2, 2**28), chunks=(1, 2**28), dtype=np.float64)
    assert row_chunks(row) is row


def test_tiny_chunks():
    data = da.ones((3000, 2), chunks=(1, 2))
    with pytest.warns(ChunkWarning, match="3000 tiny chunks"):
        cut = row_chunks(data)
    assert cut.numblocks == (1, 1)
