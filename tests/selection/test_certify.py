"""Certificates for selections made elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector, certify
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


def test_ties_keep_the_given_selection():
    """Of equally good selections the given one is certified, by its own names."""
    pd = pytest.importorskip("pandas")
    repeated = np.random.default_rng(0).standard_normal((8, 5))[:, [0, 1, 2, 0, 1]]
    for X, k in ((np.eye(6, 5), 2), (repeated, 2), (repeated, 3)):
        frame = pd.DataFrame(X, columns=list("abcde"))
        best = ColumnSelector(k).fit(X).error_
        for chosen in combinations(range(5), k):
            certificate = certify(frame, chosen)
            assert certificate.selection == chosen
            assert certificate.names == tuple("abcde"[i] for i in chosen)
            assert certificate.a_priori_bound is None
            tied = certificate.error <= best * (1.0 + 1e-9)
            assert (certificate.better is None) == tied
            assert certificate.status == ("optimal" if tied else "bounded")
            assert certificate.lower_bound == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("search", ["weighted", "optimistic", "greedy"])
def test_guarantees_of_a_search_are_not_those_of_a_selection(search):
    """What an order promises for its own answer says nothing about a given one."""
    X = np.random.default_rng(1).standard_normal((20, 8))
    best = ColumnSelector(3).fit(X).error_
    for chosen in ([0, 1, 2], [5, 6, 7]):
        certificate = certify(X, chosen, search=search, epsilon=0.5)
        assert certificate.a_priori_bound is None
        assert certificate.lower_bound <= best * (1.0 + 1e-9)
        assert certificate.selection == tuple(chosen)
        if certificate.better is not None:
            assert certificate.status != "optimal"


def test_a_gap_that_is_good_enough_is_that_of_the_given_selection():
    X = np.random.default_rng(2).standard_normal((20, 8))
    best = ColumnSelector(3, time_limit=None).fit(X)
    worst = max(combinations(range(8), 3), key=lambda S: subset_error(X, S, Frobenius()))
    for chosen in (tuple(best.selected_), worst):
        for max_gap in (0.0, 0.05, 0.5):
            certificate = certify(X, chosen, max_gap=max_gap)
            error = subset_error(X, chosen, Frobenius())
            assert certificate.error == pytest.approx(error, rel=1e-9)
            assert certificate.lower_bound <= best.error_ * (1.0 + 1e-9)
            if certificate.status == "gap_reached":
                assert certificate.better is None and certificate.gap <= max_gap + 1e-9
            elif certificate.better is not None:
                assert certificate.status == "bounded"
            else:
                assert certificate.status == "optimal"
                assert certificate.error == pytest.approx(best.error_, rel=1e-9)
