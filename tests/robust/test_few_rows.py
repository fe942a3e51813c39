"""The search among a few rows against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust._few_rows import best_removal
from tests.oracles.outliers import best_rows, row_errors
from tests.oracles.textbook_outliers import textbook_outliers
from tests.strategies import matrices


def removal(X, r, k, centred, limit=np.inf, max_nodes=10**6):
    gram = np.ascontiguousarray(X @ X.T)
    return best_removal(gram, r, k, centred, limit, max_nodes, X.shape[1])


@st.composite
def cases(draw):
    """Rows, components, removals, and whether errors are centred."""
    X = draw(matrices(min_rows=2, max_rows=9, max_columns=5))
    k = draw(st.integers(0, len(X) - 1))
    r = draw(st.integers(0, min(len(X) - k, X.shape[1])))
    return X, r, k, draw(st.booleans())


@settings(max_examples=200)
@given(cases())
def test_finds_the_optimum_without_any_limit(case):
    X, r, k, centred = case
    bound, removed, _, finished = removal(X, r, k, centred)
    errors = row_errors(X, r, k, centering="optimal" if centred else "none")
    optimum, tol = min(errors.values()), 1e-12 * (1.0 + np.sum(X * X))
    assert finished
    assert errors[tuple(removed)] == pytest.approx(optimum, abs=tol)
    assert bound == pytest.approx(optimum, abs=tol)


@settings(max_examples=100)
@given(cases(), st.floats(0.0, 1.0))
def test_nothing_below_the_limit_is_lost(case, share):
    X, r, k, centred = case
    errors = row_errors(X, r, k, centering="optimal" if centred else "none")
    limit = float(np.quantile(list(errors.values()), share))
    bound, removed, _, finished = removal(X, r, k, centred, limit)
    optimum, tol = min(errors.values()), 1e-12 * (1.0 + np.sum(X * X))
    assert finished and bound <= limit
    assert bound <= max(optimum, limit) + tol
    if optimum < limit - tol:
        assert errors[tuple(removed)] == pytest.approx(optimum, abs=tol)
    elif removed is None:
        assert optimum >= limit - tol


def test_gives_up_after_the_nodes_allowed():
    X = np.random.default_rng(0).standard_normal((20, 6))
    for nodes in (1, 2, 50):
        _, _, visited, finished = removal(X, 1, 8, True, max_nodes=nodes)
        assert not finished
        assert visited == nodes + 1


@pytest.mark.parametrize("n", [2, 63, 64])
def test_any_number_of_rows_up_to_64(n):
    X = np.random.default_rng(n).standard_normal((n, 3))
    X[n // 2] *= 100.0
    _, removed, _, finished = removal(X, 1, 1, False)
    assert finished
    assert tuple(removed) == best_rows(X, 1, 1, centering="none")[1]


def test_more_rows_are_refused():
    with pytest.raises(ValueError, match="At most 64 rows"):
        best_removal(np.eye(65), 1, 1, False, np.inf, 10, 1)


def test_agrees_with_the_textbook_search():
    X = np.random.default_rng(1).standard_normal((12, 30)) * np.linspace(1.0, 4.0, 12)[:, None]
    book = textbook_outliers(X, 2, 4)
    bound, removed, _, _ = removal(X, 2, 4, False)
    assert tuple(removed) == book.removed
    assert bound == pytest.approx(book.error, rel=1e-10)


def test_a_row_far_away_does_not_hide_the_rest():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((10, 4))
    X[3] *= 1e6
    bound, removed, _, _ = removal(X, 1, 3, False)
    exact, best = best_rows(X, 1, 3, centering="none")
    assert tuple(removed) == best
    # Errors of sets with that row are known to a few digits only, and the bound says so.
    assert 0.9 * exact <= bound <= exact


def test_rounding_is_charged_to_the_bound():
    """Computed errors are noise here: whatever is found, nothing may be called proven."""
    rng = np.random.default_rng(1)
    X = np.outer(rng.standard_normal(12), [3.0, 4.0, 0.0]) + 1e-9 * rng.standard_normal((12, 3))
    bound, _, _, finished = removal(X, 1, 3, False)
    assert finished
    assert bound <= best_rows(X, 1, 3, centering="none")[0]
