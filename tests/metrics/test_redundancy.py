"""Redundancy rate against NumPy's correlations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.metrics import redundancy_rate
from tests.strategies import matrices


def by_hand(X, absolute=True) -> float:
    X = X[:, np.ptp(X, axis=0) > 0.0]
    k = X.shape[1]
    if k < 2:
        return 0.0
    rho = np.corrcoef(X.T)[np.triu_indices(k, 1)]
    return float((np.abs(rho) if absolute else rho).mean())


@given(
    matrices(min_rows=2),
    st.booleans(),
    st.sampled_from([np.asarray, sp.csr_array, sp.csc_array]),
    st.data(),
)
def test_mean_over_pairs(X, absolute, form, data):
    rate = redundancy_rate(form(X), absolute=absolute)
    assert rate == pytest.approx(by_hand(X, absolute), abs=1e-12)
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    rate = redundancy_rate(form(X), columns, absolute=absolute)
    assert rate == pytest.approx(by_hand(X[:, columns], absolute), abs=1e-12)


def test_many_blocks(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 30))
    expected = by_hand(X)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 20 * 7)
    for form in (X, sp.csc_array(X)):
        assert redundancy_rate(form) == pytest.approx(expected, rel=1e-12)
    assert redundancy_rate(X, absolute=False) == pytest.approx(by_hand(X, False), rel=1e-9)


def test_copies_and_constants():
    x = np.random.default_rng(1).standard_normal(20)
    X = np.column_stack([x, -2.0 * x, np.full(20, 0.1), x + 1e6])
    assert redundancy_rate(X, [0, 1]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 1], absolute=False) == pytest.approx(-1.0)
    assert redundancy_rate(X, [0, 3]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 1, 2]) == pytest.approx(1.0)
    assert redundancy_rate(X, [0, 2]) == redundancy_rate(X, [0]) == redundancy_rate(X, []) == 0.0


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales_and_float32(scale):
    X = np.random.default_rng(2).standard_normal((20, 5))
    expected = redundancy_rate(X)
    assert redundancy_rate(scale * X) == pytest.approx(expected, rel=1e-12)
    mixed = X * np.array([scale, 1.0, 1.0, 1.0 / scale, 1.0])
    assert redundancy_rate(mixed) == pytest.approx(expected, rel=1e-12)
    assert redundancy_rate(X.astype(np.float32)) == pytest.approx(expected, rel=1e-5)


def test_names_and_masks():
    X = pd.DataFrame(np.random.default_rng(3).standard_normal((9, 4)), columns=list("abcd"))
    expected = redundancy_rate(X, ["b", "d"])
    assert redundancy_rate(X.to_numpy(), [1, 3]) == expected
    assert redundancy_rate(X, [False, True, False, True]) == expected


def test_bad_input():
    with pytest.raises(ValueError, match="columns holds the index 5"):
        redundancy_rate(np.eye(3), [5])
    with pytest.raises(ValueError, match="NaN"):
        redundancy_rate([[np.nan, 1.0]])
