"""Selections and certificates for every size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import Certificate, selection_path
from columnist.criteria import Frobenius
from columnist.selection._path import PathStep
from tests.oracles.brute_force import best_subsets, subset_error
from tests.strategies import CRITERIA, matrices, tolerance


@settings(max_examples=60)
@given(matrices(), st.sampled_from(CRITERIA), st.integers(0, 1))
def test_every_size_against_enumeration(X, criterion, n_components):
    path = selection_path(X, X.shape[1], criterion=criterion, n_components=n_components)
    tol = tolerance(criterion, X)
    np.testing.assert_array_equal(path.sizes, np.arange(1, X.shape[1] + 1))
    for size, step in zip(path.sizes, path, strict=True):
        optimum = best_subsets(X, size, criterion, n_components)[0][0]
        close = pytest.approx(optimum, rel=1e-8, abs=tol)
        assert step.certificate.error == close
        assert step.certificate.lower_bound == close
        assert step.certificate.status == "optimal"
        assert step.certificate.selection == tuple(step.selection)
        assert subset_error(X, step.selection, criterion, n_components) == close
    assert (np.diff(path.errors) <= tol).all()


def test_a_sequence_of_steps():
    X = np.random.default_rng(0).standard_normal((12, 7))
    path = selection_path(X, 4)
    assert len(path) == len(list(path)) == 4
    assert isinstance(path[0], PathStep) and isinstance(path[-1].certificate, Certificate)
    assert [len(step.selection) for step in path[1:3]] == [2, 3]
    total = (X**2).sum()
    assert path.total == pytest.approx(total)
    np.testing.assert_allclose(path.relative_errors, path.errors / total)
    lines = repr(path).splitlines()
    assert lines[0] == "SelectionPath" and len(lines) == 2 + 4
    assert all(line.endswith("optimal") for line in lines[2:])
    with pytest.raises(AttributeError):
        path.total = 0.0


def test_target_and_constraints():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((15, 7)), rng.standard_normal(15)
    path = selection_path(X, 5, y=y, include=[6, 0], exclude=[3])
    np.testing.assert_array_equal(path.sizes, [2, 3, 4, 5])
    for step in path:
        assert {0, 6} <= set(step.selection.tolist()) and 3 not in step.selection
        expected = best_subsets(
            X, len(step.selection), Frobenius(), Y=y, include=[0, 6], exclude=[3]
        )
        assert step.certificate.error == pytest.approx(expected[0][0], rel=1e-9)
        assert step.certificate.target == "y"


def test_names_are_kept():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((9, 4))
    assert selection_path(X, 2).feature_names is None
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    assert selection_path(frame, 2).feature_names == ("a", "b", "c", "d")


@pytest.mark.parametrize("limit", [{"time_limit": 0.0}, {"max_nodes": 0}, {"time_limit": 0.05}])
def test_bounds_of_larger_sizes_help_the_smaller(limit):
    X = np.random.default_rng(0).standard_normal((40, 14))
    path = selection_path(X, 8, **limit)
    optimal = selection_path(X, 8, time_limit=None)
    assert all(step.certificate.status == "optimal" for step in optimal)
    assert (path.lower_bounds <= optimal.errors * (1 + 1e-9)).all()
    assert (path.errors >= optimal.errors * (1 - 1e-9)).all()
    assert (np.diff(path.lower_bounds) <= 1e-9).all()
    assert (path.lower_bounds <= path.errors).all()


def test_nothing_to_explain():
    path = selection_path(np.zeros((4, 3)), 2)
    np.testing.assert_array_equal(path.errors, [0.0, 0.0])
    np.testing.assert_array_equal(path.relative_errors, [0.0, 0.0])
    np.testing.assert_array_equal(path.sizes, [1, 2])


@pytest.mark.parametrize("weights", [None, [2, 1, 2, 3, 3, 0, 1, 2, 3, 2, 0]])
def test_more_sizes_than_columns_that_add_something(monkeypatch, weights):
    """Where many columns are searched for a target, constant ones fill the last sizes."""
    monkeypatch.setattr("columnist.selection._wide._MANY", 0)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((11, 4)), rng.standard_normal(11)
    X[:, 2:] = 3.3
    path = selection_path(X, 3, y=y, centering="mean", sample_weight=weights)
    assert [len(selected) for selected, _ in path] == [1, 2, 3]
    errors = [certificate.error for _, certificate in path]
    assert errors[0] > errors[1]
    np.testing.assert_allclose(errors[2], errors[1], rtol=1e-12)
    assert all(certificate.status == "optimal" for _, certificate in path)
