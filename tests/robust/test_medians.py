"""Medians in passes, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import _medians as medians
from columnist.robust._row_data import RowData
from tests.data.test_blocks import Slices


@given(
    st.integers(2, 200),
    st.lists(st.integers(0, 200), max_size=5),
    st.integers(0, 10**6),
    st.booleans(),
)
@settings(max_examples=60)
def test_medians(n, edges, seed, rounded):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [1.0, 1e6, 1e-6]
    X = np.round(X) if rounded else X
    rows = RowData(Slices(X, [min(edge, n) for edge in edges]), lambda largest, size: 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(medians, "_SAMPLE", 20)  # brackets that may miss
        patch.setattr(medians, "_REACH", 0.5)
        np.testing.assert_array_equal(medians.column_medians(rows), np.median(X, axis=0))
