"""Very wide sparse data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.datasets import make_wide_sparse


@given(st.integers(1, 20), st.integers(2, 300), st.integers(1, 30), st.integers(0, 1000))
def test_zeros_and_ones(n, m, per_row, seed):
    X, y, informative = make_wide_sparse(n, m, per_row=per_row, n_informative=1, random_state=seed)
    assert X.shape == (n, m) and X.format == "csc" and X.has_canonical_format
    assert (X.data == 1.0).all() and X.sum(axis=1).max() <= per_row
    assert set(y) <= {0, 1} and 0 <= informative[0] < m


def test_popularity_falls_like_the_rank():
    """Without repetitions in a row the j-th column gets a share log((j + 1)/j) / log m."""
    X, _, _ = make_wide_sparse(200_000, 1000, per_row=1, random_state=0)
    shares = X.sum(axis=0) / X.shape[0]
    ranks = np.arange(1, 1001)
    expected = np.log1p(1.0 / ranks) / np.log(1000)
    assert np.abs(shares - expected).max() < 5.0 * np.sqrt(expected.max() / 200_000)


def test_classes_depend_on_the_informative_columns():
    X, y, informative = make_wide_sparse(4000, 5000, per_row=40, random_state=0)
    assert abs(y.mean() - 0.5) < 0.01
    frequent = X[:, :200].toarray()
    correlation = np.abs(np.corrcoef(frequent.T, y)[-1, :-1])
    others = np.setdiff1d(np.arange(200), informative)
    assert np.median(correlation[informative]) > 3.0 * np.median(correlation[others])


def test_room_for_the_informative_columns():
    with pytest.raises(ValueError, match="n_features must be an integer >= 40"):
        make_wide_sparse(10, 39)
