"""Selectors by factorisation against SciPy's, and on every kind of trouble."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.criteria import Frobenius
from columnist.selection import _factors as factors
from columnist.selection._algebraic import GKSSelector, PivotedQRSelector, StrongRRQRSelector
from tests.oracles.brute_force import subset_error
from tests.strategies import matrices, tolerance

SELECTORS = [PivotedQRSelector, GKSSelector, StrongRRQRSelector]
every = pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)


def gaussian(m, n, seed=0):
    return np.random.default_rng(seed).standard_normal((m, n))


def scipy_pivots(A, size):
    return list(scipy.linalg.qr(A, mode="r", pivoting=True)[1][:size])


def refuses(message, estimator, X, y=None):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)


# --- what is selected ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
def test_pivoted_qr_of_scipy(shape, form):
    X = gaussian(*shape)
    selector = PivotedQRSelector(7).fit(form(X))
    assert list(selector.selected_) == scipy_pivots(X, 7)
    assert selector.error_ == pytest.approx(subset_error(X, selector.selected_, Frobenius()))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
@pytest.mark.parametrize(("size", "rank"), [(1, None), (4, None), (4, 6), (14, None), (5, 14)])
def test_gks_by_its_definition(shape, form, size, rank):
    X = gaussian(*shape)
    V = np.linalg.svd(X)[2][: rank or size]
    selector = GKSSelector(size, rank=rank).fit(form(X))
    assert list(selector.selected_) == scipy_pivots(V, size)
    assert selector.rank_ == (rank or size)


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("shape", [(60, 30), (30, 60)])
def test_gks_by_iteration(shape, form, monkeypatch):
    """Where the data are too large for a decomposition: the same choice over a clear gap."""
    U, _, V = np.linalg.svd(gaussian(*shape), full_matrices=False)
    X = (U * np.r_[np.linspace(9, 5, 5), np.full(25, 0.01)]) @ V
    monkeypatch.setattr(factors, "_BLOCK", 0)
    monkeypatch.setattr(factors, "_EXACT_SIDE", 0)
    selector = GKSSelector(5, random_state=0).fit(form(X))
    assert list(selector.selected_) == scipy_pivots(V[:5], 5)


def test_strong_rrqr_finds_what_pivoting_misses():
    """The matrix of Kahan, whose last column but one hides a singular value."""
    c, n = 0.3, 60
    X = np.sqrt(1 - c * c) ** np.arange(n)[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))
    values = np.linalg.svd(X, compute_uv=False)

    def smallest(selector):
        return np.linalg.svd(X[:, selector.fit(X).selected_], compute_uv=False)[-1]

    assert smallest(PivotedQRSelector(n - 1)) < 0.01 * values[-2]
    for f in (1.5, 2.0):
        q = np.sqrt(1 + f**2 * (n - 1))
        assert smallest(StrongRRQRSelector(n - 1, f=f)) >= values[-2] / q


@every
@given(X=matrices(), data=st.data())
def test_a_valid_answer_on_any_data(cls, X, data):
    size = data.draw(st.integers(1, X.shape[1]), label="size")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = cls(size).fit(X)
    rank = np.linalg.matrix_rank(X)
    assert len(selector.selected_) == len(set(selector.selected_)) == max(min(size, rank), 1)
    assert len(caught) == (len(selector.selected_) < size)
    expected = subset_error(X, selector.selected_, Frobenius())
    assert selector.error_ == pytest.approx(expected, rel=1e-8, abs=tolerance(Frobenius(), X))


# --- forms of data ------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_sparse_as_dense(cls, shape):
    X = gaussian(*shape) * (gaussian(*shape, seed=1) > 0.3)
    dense, sparse = cls(6).fit(X), cls(6).fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.selected_, dense.selected_)
    assert sparse.error_ == pytest.approx(dense.error_)


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_float32(cls, form, shape):
    X = gaussian(*shape).astype(np.float32)
    single, double = cls(6).fit(form(X)), cls(6).fit(X.astype(np.float64))
    np.testing.assert_array_equal(single.selected_, double.selected_)
    assert single.error_ == pytest.approx(double.error_, rel=1e-6)
    assert single.transform(form(X)).dtype == np.float32


@every
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_tiny_and_huge_scales(cls, scale, form):
    X = gaussian(20, 9)
    plain, scaled = cls(4).fit(form(X)), cls(4).fit(form(scale * X))
    np.testing.assert_array_equal(scaled.selected_, plain.selected_)
    assert scaled.relative_error_ == pytest.approx(plain.relative_error_)


@every
def test_y_is_ignored(cls):
    X = gaussian(20, 9)
    np.testing.assert_array_equal(cls(4).fit(X, X[:, 0]).selected_, cls(4).fit(X).selected_)


# --- trouble ------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_k_above_the_rank(cls, form):
    X = gaussian(20, 3) @ gaussian(3, 9, seed=1)
    with pytest.warns(UserWarning, match=re.escape("selected 3 of 5 columns")):
        selector = cls(5).fit(form(X))
    assert selector.relative_error_ < 1e-20 if form is np.asarray else selector.error_ == 0.0


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_duplicates_and_zeros(cls, form):
    X = gaussian(20, 4)[:, [0, 0, 1, 2, 2, 3, 3]]
    X[:, 5] = 0.0
    selector = cls(4).fit(form(X))
    assert np.linalg.matrix_rank(X[:, selector.selected_]) == 4


@every
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_a_matrix_of_zeros(cls, form):
    with pytest.warns(UserWarning, match="selected 1 of 2"):
        selector = cls(2).fit(form(np.zeros((4, 5))))
    assert list(selector.selected_) == [0]
    assert selector.error_ == selector.relative_error_ == 0.0


@every
def test_one_row(cls):
    selector = cls(1).fit([[1.0, -3.0, 2.0]])
    assert list(selector.selected_) == [1]


@every
def test_bad_input(cls):
    X = gaussian(8, 5)
    refuses("between 1 and the number of features", cls(6), X)
    refuses("must be an integer >= 1, a fraction", cls("half"), X)
    X[2, 3] = np.nan
    refuses("Input X contains NaN", cls(2), X)
    refuses("Input X contains NaN", cls(2), sp.csc_array(X))


@pytest.mark.parametrize("f", [1.0, 0.5, -2.0, np.nan, "two", True])
def test_f_must_exceed_one(f):
    refuses("f must be a number > 1", StrongRRQRSelector(2, f=f), gaussian(8, 5))


@pytest.mark.parametrize("rank", [0, -1, 2.0, "k"])
def test_rank_of_no_meaning(rank):
    refuses("rank must be an integer >= 1", GKSSelector(2, rank=rank), gaussian(8, 5))


def test_rank_too_low():
    refuses("Raise rank, or select fewer columns", GKSSelector(3, rank=2), gaussian(8, 5))


def test_rank_above_the_numerical_one():
    X = gaussian(20, 3) @ gaussian(3, 9, seed=1)
    selector = GKSSelector(2, rank=8).fit(X)
    assert selector.rank_ == 3
    assert list(selector.selected_) == scipy_pivots(np.linalg.svd(X)[2][:3], 2)
