"""What the fast selectors share: range of numbers, and what a selection may hold."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.metrics import reconstruction_error
from columnist.selection import (
    ExchangeSelector,
    FastSelector,
    ForwardSelector,
    LeverageSampler,
    PivotedQRSelector,
)

X = np.random.default_rng(0).standard_normal((20, 6))


@pytest.mark.parametrize(
    "cls", [ExchangeSelector, ForwardSelector, LeverageSampler, PivotedQRSelector]
)
def test_squared_errors_beyond_the_range_of_numbers(cls):
    with pytest.raises(ValueError, match="leaves the range of floating point numbers: rescale"):
        cls(2).fit(1e155 * X)


@pytest.mark.parametrize("cls", [ExchangeSelector, ForwardSelector])
def test_a_norm_stays_in_the_range(cls):
    found = cls(2, criterion="nuclear").fit(1e155 * X)
    expected = cls(2, criterion="nuclear").fit(X)
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    np.testing.assert_allclose(found.error_ / 1e155, expected.error_)


def test_large_columns_for_a_small_target():
    y = X @ np.arange(6.0) + 1.0
    found, expected = ForwardSelector(2).fit(1e155 * X, y), ForwardSelector(2).fit(X, y)
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    np.testing.assert_allclose(found.error_, expected.error_)


def test_errors_of_a_selection_made_elsewhere():
    with pytest.raises(ValueError, match="leaves the range of floating point numbers: rescale"):
        reconstruction_error(1e155 * X, [0, 1])


class Fixed(FastSelector):
    """Selects what it is told to."""

    def __init__(self, n_features_to_select=None, *, columns=()):
        self.n_features_to_select = n_features_to_select
        self.columns = columns

    def _select(self, matrices, size):
        return list(self.columns)


def test_a_column_twice():
    assert Fixed(3, columns=[4, 1, 2]).fit(X).selected_.tolist() == [4, 1, 2]
    with pytest.raises(ValueError, match=r"Fixed._select returned a column twice: \[4, 1, 4\]"):
        Fixed(3, columns=[4, 1, 4]).fit(X)
