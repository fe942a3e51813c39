"""Certificates for selections made elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import certify
from columnist.criteria import Frobenius
from tests.oracles.brute_force import best_subsets, subset_error
from tests.strategies import CRITERIA, matrices, targets, tolerance


@settings(max_examples=150)
@given(
    matrices(min_rows=2),
    st.sampled_from(CRITERIA),
    st.integers(0, 1),
    st.booleans(),
    st.data(),
)
def test_against_enumeration(X, criterion, n_components, with_target, data):
    n = X.shape[1]
    columns = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    y, Y = data.draw(targets(X.shape[0])) if with_target else (None, None)
    certificate = certify(X, columns, y=y, criterion=criterion, n_components=n_components)
    error = subset_error(X, columns, criterion, n_components, Y)
    optimum = best_subsets(X, len(columns), criterion, n_components, Y)[0][0]
    tol = tolerance(criterion, X if Y is None else Y) + 1e-8 * optimum
    assert certificate.error == pytest.approx(error, rel=1e-8, abs=tol)
    assert certificate.selection == tuple(sorted(columns))
    assert optimum - tol <= certificate.lower_bound <= optimum + tol
    assert certificate.lower_bound <= certificate.error
    if error > optimum + 10 * tol:
        assert certificate.better is not None
        assert len(certificate.better) == len(columns)
        better = subset_error(X, certificate.better, criterion, n_components, Y)
        assert better == pytest.approx(optimum, rel=1e-8, abs=tol)
        assert certificate.status == "bounded"
        assert certificate.gap > 0.0
    if certificate.better is None:
        assert certificate.status == "optimal"
        assert error <= optimum + 10 * tol


def test_the_best_selection_is_certified():
    X = np.random.default_rng(0).standard_normal((12, 8))
    error, best = best_subsets(X, 3, Frobenius())[0]
    certificate = certify(X, best[::-1])
    assert certificate.is_optimal and certificate.better is None and certificate.gap == 0.0
    assert certificate.error == certificate.lower_bound == pytest.approx(error)
    assert certificate.selection == best


def test_dependent_selections_have_their_own_error():
    # Columns 0 and 1 are parallel and must not hide what column 2 explains.
    X = np.array([[1.0, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3], [0, 0, 0, 0]])
    certificate = certify(X, [0, 1, 2])
    assert certificate.error == pytest.approx(9.0)
    assert certificate.better is not None
    assert certificate.lower_bound == pytest.approx(0.0, abs=1e-12)


def test_limits_leave_a_valid_bound():
    X = np.random.default_rng(0).standard_normal((14, 10))
    optimum, best = best_subsets(X, 4, Frobenius())[0]
    for limit in ({"time_limit": 0.0}, {"max_nodes": 0}, {"callback": lambda progress: True}):
        certificate = certify(X, [0, 1, 2, 3], **limit)
        assert certificate.status in ("time_limit", "node_limit", "interrupted")
        assert certificate.lower_bound <= optimum
        held = certify(X, best, **limit)
        assert held.better is None
        assert not held.is_optimal and held.lower_bound <= optimum


def test_constraints_limit_what_is_better():
    X = np.random.default_rng(2).standard_normal((12, 7))
    certificate = certify(X, [0, 1], include=[0], exclude=[6])
    expected = best_subsets(X, 2, Frobenius(), include=[0], exclude=[6])[0]
    assert certificate.lower_bound == pytest.approx(expected[0])
    assert certificate.better in (expected[1], None)


@pytest.mark.parametrize("form", ["sparse", "gram", "frame", "centred"])
def test_every_input(form):
    X = np.round(np.random.default_rng(0).standard_normal((12, 6)), 1)
    options, data, columns = {}, X, [1, 4]
    if form == "sparse":
        data = sp.csr_array(X)
    elif form == "gram":
        data, options = X.T @ X, {"input": "gram"}
    elif form == "frame":
        data = pytest.importorskip("pandas").DataFrame(X, columns=list("abcdef"))
        columns = ["b", "e"]
    elif form == "centred":
        options = {"centering": "mean"}
    free = X - X.mean(axis=0) if form == "centred" else X
    certificate = certify(data, columns, **options)
    assert certificate.error == pytest.approx(subset_error(free, [1, 4], Frobenius()), rel=1e-9)
    optimum = best_subsets(free, 2, Frobenius())[0][0]
    assert certificate.lower_bound == pytest.approx(optimum, rel=1e-9)
    assert certificate.selection == (1, 4)


def test_a_mask_names_columns():
    X = np.random.default_rng(0).standard_normal((9, 5))
    assert certify(X, [False, True, False, True, False]).selection == (1, 3)
