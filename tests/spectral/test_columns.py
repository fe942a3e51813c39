"""Prepared columns against scikit-learn's scaling."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from columnist.spectral._columns import common_features, prepare_columns, squared_lengths
from columnist.spectral._forms import common_form
from tests.strategies import matrices


@pytest.mark.parametrize("form", [np.asarray, sp.csc_matrix])
@given(matrices(min_rows=2))
def test_unit_columns(form, X):
    F = prepare_columns(form(X), "unit")
    Z = F.take(np.arange(X.shape[1]))
    centred = X - X.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    constant = np.ptp(X, axis=0) == 0.0
    expected = np.where(constant, 0.0, centred / np.where(constant, 1.0, lengths))
    np.testing.assert_allclose(Z, expected, atol=1e-12)
    np.testing.assert_array_equal(squared_lengths(F), (~constant).astype(float))


def test_columns_as_they_are():
    X = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    F = prepare_columns(X, "none")
    np.testing.assert_array_equal(F.take([0, 1, 2]), X)
    np.testing.assert_allclose(squared_lengths(F), np.square(X, dtype=float).sum(axis=0))


def test_a_common_form_belongs_to_its_data():
    X = np.random.default_rng(0).standard_normal((9, 4))
    form = common_form("phi2", X)
    np.testing.assert_array_equal(common_features(form, (9, 4)).take(np.arange(4)), form.features)
    with pytest.raises(ValueError, match="9 samples and 4 features"):
        common_features(form, (9, 5))
