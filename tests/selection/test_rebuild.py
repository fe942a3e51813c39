"""How a selection rebuilds the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.data._matrices import Matrices
from columnist.selection._rebuild import rebuild
from tests.strategies import matrices

FORMS = ("dense", "sparse", "gram")


def wrap(X, form, center=False, Y=None):
    if form == "gram":
        return Matrices(X.T @ X, gram=True)
    return Matrices(sp.csr_array(X) if form == "sparse" else X, Y, center=center)


@settings(max_examples=150)
@given(matrices(min_rows=2), st.sampled_from(FORMS), st.booleans(), st.data())
def test_least_squares(X, form, center, data):
    center = center and form != "gram"
    n = X.shape[1]
    subset = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1), label="subset"))
    built = rebuild(wrap(X, form, center), subset, 0)
    free = X - X.mean(axis=0) if center else X
    kept = free[:, subset]
    fitted = kept @ np.linalg.lstsq(kept, free, rcond=1e-10)[0]
    size = max(np.abs(X).max(), 1e-30)
    atol = (1e-6 if form == "gram" else 1e-9) * size
    np.testing.assert_allclose(kept @ built.coef, fitted, atol=atol)
    np.testing.assert_allclose(
        X[:, subset] @ built.coef + built.intercept, fitted + (X - free), atol=atol
    )
    squares = (free**2).sum(axis=0)
    real = squares > 1e-20 * size**2
    share = 1.0 - ((free - fitted) ** 2).sum(axis=0)[real] / squares[real]
    np.testing.assert_allclose(built.r2[real], share, atol=1e-6)
    assert (built.r2[subset] == 1.0).all()
    assert (built.r2 >= 0.0).all() and (built.r2 <= 1.0).all()
    assert built.components.shape == (0, n)


@settings(max_examples=60)
@given(matrices(min_rows=2), st.sampled_from(FORMS), st.data())
def test_representative_is_the_most_similar(X, form, data):
    n = X.shape[1]
    subset = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1), label="subset"))
    found = rebuild(wrap(X, form), subset, 0).representative
    np.testing.assert_array_equal(found[subset], subset)
    norms = np.linalg.norm(X, axis=0)
    for j in range(n):
        assert found[j] in subset
        if j in subset or norms[j] == 0.0:
            continue
        cosines = {s: abs(X[:, s] @ X[:, j]) / norms[s] if norms[s] else 0.0 for s in subset}
        assert cosines[found[j]] >= max(cosines.values()) - 1e-9 * norms[j]


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_scale_changes_nothing(scale, form):
    X = np.random.default_rng(0).standard_normal((8, 6))
    plain, scaled = (rebuild(wrap(A, form), [1, 4], 1) for A in (X, scale * X))
    np.testing.assert_allclose(scaled.coef, plain.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scaled.r2, plain.r2, rtol=1e-9)
    np.testing.assert_array_equal(scaled.representative, plain.representative)
    np.testing.assert_allclose(scaled.components, plain.components, atol=1e-9)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_target(form, center):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 5)) + 1.0, rng.standard_normal((12, 3)) + 2.0
    built = rebuild(wrap(X, form, center, Y), [0, 3], 1)
    design = np.column_stack([X[:, [0, 3]], np.ones(12)]) if center else X[:, [0, 3]]
    expected = np.linalg.lstsq(design, Y, rcond=None)[0]
    np.testing.assert_allclose(built.coef, expected[:2], atol=1e-12)
    np.testing.assert_allclose(built.intercept, expected[2] if center else 0.0, atol=1e-12)
    assert built.r2.shape == (5,) and built.components.shape == (1, 3)
    R = Y - X[:, [0, 3]] @ built.coef - built.intercept
    top = np.linalg.svd(R)[2][0]
    assert abs(built.components[0] @ top) == pytest.approx(1.0)


@pytest.mark.parametrize("form", FORMS)
def test_components_are_leading_directions_of_the_residual(form):
    X = np.random.default_rng(0).standard_normal((12, 6))
    built = rebuild(wrap(X, form), [2, 5], 2)
    R = X - X[:, [2, 5]] @ built.coef
    V = np.linalg.svd(R)[2][:2]
    np.testing.assert_allclose(np.abs(built.components @ V.T), np.eye(2), atol=1e-7)
    # The sign is fixed: the largest entry is positive.
    largest = np.abs(built.components).argmax(axis=1)
    assert (built.components[[0, 1], largest] > 0).all()


def test_more_components_than_directions_are_zero():
    X = np.random.default_rng(0).standard_normal((3, 5))
    built = rebuild(Matrices(X), [0], 5)
    assert built.components.shape == (5, 5)
    np.testing.assert_array_equal(built.components[3:], 0.0)


def test_zero_columns_are_rebuilt():
    X = np.random.default_rng(0).standard_normal((6, 4))
    X[:, [1, 2]] = 0.0
    built = rebuild(Matrices(X), [0, 1], 0)
    assert built.r2[2] == 1.0
    np.testing.assert_array_equal(built.coef[:, 2], 0.0)
    np.testing.assert_array_equal(built.coef[1], 0.0)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_far_means_leave_the_shares_alone(make):
    """Against the same data about zero; what offsets take is the last digits of the entries."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((12, 5)), 6)
    near = rebuild(Matrices(X, center=True), [0, 2], 1)
    far = rebuild(Matrices(make(X + 2.0**24), center=True), [0, 2], 1)
    np.testing.assert_allclose(far.r2, near.r2, atol=1e-6)
    np.testing.assert_allclose(far.coef, near.coef, atol=1e-6)
    assert (far.representative == near.representative).all()


@pytest.mark.parametrize("factor", [1e-10, 1e-17, 1e-100])
def test_short_columns_have_coefficients(factor):
    X = np.random.default_rng(0).standard_normal((6, 4))
    y = np.random.default_rng(1).standard_normal(6) + 3.0 * X[:, 1]
    X[:, 1] *= factor
    selector = ColumnSelector(2).fit(X, y)
    rest = y - (X[:, selector.selected_] @ selector.coef_).ravel()
    assert np.square(rest).sum() == pytest.approx(selector.error_, rel=1e-9)
    selector = ColumnSelector(2, include=[1]).fit(X)
    rest = X - X[:, selector.selected_] @ selector.coef_
    assert np.square(rest).sum() == pytest.approx(selector.error_, rel=1e-9)
