"""The best factors found: from several starts, for a size, along a path."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist.lowrank import SparseLoadings, alpha_max, loadings_path
from columnist.lowrank._solve import Solver, first_points, fit_exactly, single_column
from columnist.lowrank._table import as_table
from tests.oracles.lowrank import objective, quadratic_minimum
from tests.strategies import matrices


def solver(A, rank, loss="quadratic", **options) -> Solver:
    options = {"n_starts": 4, "tol": 1e-6, "max_iter": 5000, **options}
    return Solver(as_table(A, "none"), rank, loss, rng=np.random.default_rng(0), **options)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_no_worse_than_another_solver_from_many_starts(share):
    for seed in range(3):
        A = np.random.default_rng(seed).standard_normal((6, 5))
        ours = solver(A, 2)
        best = quadratic_minimum(A, 2, share * ours.top, 12, np.random.default_rng(seed))
        assert ours.solve(share * ours.top).objective <= best * (1.0 + 1e-6)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@settings(max_examples=40)
@given(matrices(min_rows=2, min_columns=2), st.floats(0.9, 1.1))
def test_the_largest_penalty(loss, A, share):
    ours = solver(A, 1, loss, tol=1e-4)
    found = ours.solve(share * ours.top)
    if share >= 1.0:
        assert found.n_active == 0
        full = np.linalg.norm(A) ** 2 if loss == "quadratic" else np.linalg.norm(A, axis=1).sum()
        assert found.objective == pytest.approx(full)
    elif share < 0.999 and A.any():
        assert found.n_active > 0


def test_zero_is_a_trap_that_the_starts_avoid():
    A = np.random.default_rng(0).standard_normal((60, 30))
    A[:, 0] *= 3.0
    ours = solver(A, 3)
    assert ours.solve(0.9 * ours.top).n_active == 1
    cold = [np.linalg.qr(np.random.default_rng(i).standard_normal((60, 3)))[0] for i in range(5)]
    starts = [type(ours.starts[0])(X) for X in cold]
    assert ours.solve(0.9 * ours.top, starts=starts).n_active == 0


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_a_refit_is_free_of_the_penalty(loss):
    A = np.random.default_rng(1).standard_normal((20, 8)) * np.arange(1.0, 9.0)
    ours = solver(A, 2, loss, tol=1e-7)
    found = ours.solve(0.3 * ours.top)
    columns = np.flatnonzero(found.Y.any(axis=1))
    again = ours.refit(found, columns)
    assert set(np.flatnonzero(again.Y.any(axis=1))) == set(columns)
    if loss == "quadratic":
        left = np.linalg.svd(A[:, columns], compute_uv=False)[2:]
        rest = np.delete(A, columns, axis=1)
        assert again.objective == pytest.approx(np.sum(left**2) + np.sum(rest**2))
    else:
        before = np.linalg.norm(A - found.X @ found.Y.T, axis=1).sum()
        assert again.objective < before


def test_a_refit_on_fewer_columns_than_components():
    A = np.random.default_rng(2).standard_normal((9, 5))
    ours = solver(A, 3)
    found = ours.refit(ours.solve(0.0), np.array([1]))
    assert found.n_active == 1
    assert found.objective == pytest.approx(np.sum(np.delete(A, 1, axis=1) ** 2))


def test_sparse_is_dense():
    A = np.random.default_rng(3).standard_normal((15, 9))
    A[np.random.default_rng(4).random(A.shape) < 0.6] = 0.0
    dense, sparse = solver(A, 2), solver(sp.csc_array(A), 2)
    alpha = 0.3 * dense.top
    np.testing.assert_allclose(sparse.solve(alpha).Y, dense.solve(alpha).Y, atol=1e-6)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("n_starts", [1, 2, 5])
def test_starts_are_orthonormal_whatever_the_sign_of_the_data(loss, sign, n_starts):
    A = sign * np.random.default_rng(0).exponential(size=(9, 6))
    points = first_points(as_table(A, "none"), 3, loss, n_starts, np.random.default_rng(1))
    assert len(points) == n_starts
    for point in points:
        np.testing.assert_allclose(point.X.T @ point.X, np.eye(3), atol=1e-12)


def test_the_longest_columns_are_among_the_starts():
    A = np.eye(5) * [1.0, 5.0, 2.0, 4.0, 3.0]
    for kind in (np.asarray, sp.csc_array):
        points = first_points(
            as_table(kind(A), "none"), 2, "quadratic", 2, np.random.default_rng(0)
        )
        assert [set(np.flatnonzero(np.abs(p.X).max(axis=1) > 1e-9)) for p in points] == [
            {1, 3},
            {1, 3},
        ]


def test_outliers_do_not_turn_the_first_robust_start():
    rng = np.random.default_rng(2)
    A = np.outer(rng.standard_normal(50), np.eye(8)[0]) + 0.01 * rng.standard_normal((50, 8))
    clean = np.linalg.svd(A[1:])[2][0]
    A[0] = 1000.0 * np.eye(8)[5]
    robust, columns, plain = first_points(as_table(A, "none"), 1, "robust", 3, rng)
    along = [
        abs(np.corrcoef(p.X[1:, 0], np.sign(A[1:] @ clean))[0, 1]) for p in (robust, columns, plain)
    ]
    assert min(along[:2]) > 0.7 > 0.5 > along[2]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_the_best_single_column_is_not_zero_below_the_largest_penalty(share):
    table = as_table(np.random.default_rng(5).standard_normal((20, 4)), "none")
    limits = table.pull_limits("robust")
    start = single_column(table, 2, share * limits.max())
    np.testing.assert_allclose(start.X.T @ start.X, np.eye(2), atol=1e-12)
    assert list(np.flatnonzero(start.Y.any(axis=1))) == [limits.argmax()]
    model = objective(table.values, start.X, start.Y, share * limits.max(), "robust")
    assert model < np.linalg.norm(table.values, axis=1).sum()


def test_columns_can_be_drawn_where_most_are_zero():
    A = np.zeros((4, 6))
    A[0, 2] = 1.0
    points = first_points(as_table(A, "none"), 3, "quadratic", 4, np.random.default_rng(0))
    assert all(np.isfinite(point.X).all() for point in points)


def exact_solver(A, rank, loss="quadratic", tol=1e-4) -> Solver:
    return Solver(
        as_table(A, "none"), rank, loss, n_starts=3, tol=tol, max_iter=2000,
        rng=np.random.default_rng(0),
    )  # fmt: skip


@settings(max_examples=40)
@given(matrices(min_rows=2, min_columns=2), st.data())
def test_exactly_so_many_columns(A, data):
    size = data.draw(st.integers(1, A.shape[1]))
    ours = exact_solver(A, 1)
    found, _ = fit_exactly(ours, size)
    free = ours.solve(0.0).n_active
    assert found.n_active == min(size, free)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_the_columns_with_signal_are_found(loss):
    rng = np.random.default_rng(1)
    A = 0.1 * rng.standard_normal((40, 15))
    A[:, [3, 7, 11]] += rng.standard_normal((40, 2)) @ rng.standard_normal((2, 3))
    found, _ = fit_exactly(exact_solver(A, 2, loss), 3)
    assert set(np.flatnonzero(found.Y.any(axis=1))) == {3, 7, 11}


def test_equal_columns_make_the_number_jump():
    A = np.tile(np.random.default_rng(2).standard_normal((8, 1)), (1, 4))
    ours = exact_solver(A, 1)
    found, alpha = fit_exactly(ours, 2)
    assert ours.solve(alpha).n_active == 4
    np.testing.assert_array_equal(np.flatnonzero(found.Y.any(axis=1)), [0, 1])


def test_all_columns_need_no_penalty_at_the_most():
    A = np.random.default_rng(3).standard_normal((9, 5))
    found, _ = fit_exactly(exact_solver(A, 2), 5)
    assert found.n_active == 5


WINE = scale(load_wine().data) * np.linspace(1.0, 2.0, 13)


@pytest.mark.parametrize("loss", ["quadratic", "robust"])
def test_the_path_joins_pca_and_nothing(loss):
    path = loadings_path(WINE, 2, loss=loss, alphas=8, random_state=0)
    assert path.alpha_max == pytest.approx(alpha_max(WINE, loss=loss))
    assert path.alphas[0] == pytest.approx(1e-3 * path.alpha_max)
    assert path.alphas[-1] == pytest.approx(path.alpha_max)
    assert path.n_selected[0] == 13 and path.n_selected[-1] == 0
    assert (np.diff(path.n_selected) <= 0).all()
    assert (np.diff(path.objectives) > 0.0).all()
    assert [len(path.selected(i)) for i in range(8)] == list(path.n_selected)


def test_every_point_is_a_good_model():
    alphas = [30.0, 5.0, 15.0]
    path = loadings_path(WINE, 2, alphas=alphas, random_state=0)
    np.testing.assert_array_equal(path.alphas, [5.0, 15.0, 30.0])
    for i, alpha in enumerate(path.alphas):
        model = SparseLoadings(2, alpha=alpha, random_state=0).fit(WINE)
        assert path.objectives[i] == pytest.approx(model.objective_, rel=1e-3)
        if path.objectives[i] == pytest.approx(model.objective_, rel=1e-6):
            np.testing.assert_allclose(path.scores[i], model.scores_, atol=0.05)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(scale):
    path = loadings_path(WINE * scale, 2, alphas=4, random_state=0)
    usual = loadings_path(WINE, 2, alphas=4, random_state=0)
    np.testing.assert_allclose(path.alphas / scale, usual.alphas)
    np.testing.assert_array_equal(path.n_selected, usual.n_selected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphas": [-1.0, 2.0]}, "alphas must be"),
        ({"alphas": 0}, "alphas must be an integer >= 1"),
        ({"alphas": [np.nan]}, "alphas contains NaN"),
        ({"loss": "absolute"}, "loss must be one of"),
        ({"centering": "middle"}, "centering must be one of"),
        ({"tol": 0.0}, "tol must be"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        loadings_path(WINE, 2, **options)
