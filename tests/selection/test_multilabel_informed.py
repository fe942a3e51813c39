"""Multi-label informed selection (MIFS): descent, stationarity, and why B is orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import polar
from scipy.spatial.distance import cdist

from columnist.linalg._prox import l21_norm
from columnist.selection import MultiLabelInformedSelector
from columnist.selection import _multilabel_informed as multilabel_informed
from columnist.selection._multilabel_informed import _first_basis, _laplacian
from tests.oracles.row_sparse import coordinate_descent, subgradient_error
from tests.strategies import matrices

ALPHA, BETA, GAMMA = 0.8, 0.3, 2.0


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 9))
    latent = X[:, :3] @ rng.standard_normal((3, 2))
    noise = 0.3 * rng.standard_normal((40, 5))
    return X, (latent @ rng.standard_normal((2, 5)) + noise > 0).astype(float)


def fit(X, Y, **options):
    options = {"alpha": ALPHA, "beta": BETA, "gamma": GAMMA, "n_latent": 2} | options
    options = {"tol": 1e-11, "max_iter": 2000} | options
    return MultiLabelInformedSelector(3, **options).fit(X, Y)


def objective(X, Y, L, W, V, B) -> float:
    return float(
        np.sum((X @ W - V) ** 2)
        + ALPHA * np.sum((Y - V @ B) ** 2)
        + BETA * np.trace(V.T @ (L @ V))
        + GAMMA * l21_norm(W)
    )


def alternation(X, Y, L, B, *, sweeps):
    """The same by other means: W row by row, V by a dense solve until both settle; B by polar."""
    W = np.zeros((X.shape[1], len(B)))
    S = np.linalg.inv((1.0 + ALPHA) * np.eye(len(X)) + BETA * L)
    for _ in range(sweeps):
        for _ in range(500):
            before, V = W, S @ (X @ W + ALPHA * Y @ B.T)
            W = coordinate_descent(X, V, GAMMA, W, sweeps=50)
            if np.abs(W - before).max() < 1e-12:
                break
        B = polar(V.T @ Y)[0]
    return W, V, B


# --- the minimum -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_latent", [1, 2, 5])
def test_objective_falls_and_is_the_formula(data, n_latent):
    X, Y = data
    selector = fit(X, Y, n_latent=n_latent)
    history = selector.objective_history_
    assert (np.diff(history) <= 1e-14 * history[0]).all()
    L = _laplacian(X, 5)
    value = objective(X, Y, L, selector.coef_, selector.latent_, selector.label_basis_)
    assert selector.objective_ == history[-1] == pytest.approx(value, rel=1e-12)
    assert selector.converged_
    assert selector.n_iter_ == len(history)


@pytest.mark.parametrize("shape", [(40, 9), (12, 30)])
@pytest.mark.parametrize("n_latent", [1, 3])
def test_every_block_is_stationary(shape, n_latent):
    rng = np.random.default_rng(1)
    X = rng.standard_normal(shape)
    Y = (X[:, :4] @ rng.standard_normal((4, 4)) > 0).astype(float)
    selector = fit(X, Y, n_latent=n_latent)
    W, V, B, L = selector.coef_, selector.latent_, selector.label_basis_, _laplacian(X, 5)
    np.testing.assert_allclose(B @ B.T, np.eye(n_latent), atol=1e-12)
    # V: the gradient vanishes.
    gradient = (V - X @ W) + ALPHA * (V @ B - Y) @ B.T + BETA * (L @ V)
    assert np.abs(gradient).max() < 1e-5
    # B: V'Y B' is symmetric and positive semidefinite, and B has the rows of V'Y: Procrustes.
    product = V.T @ Y @ B.T
    np.testing.assert_allclose(product, product.T, atol=1e-10)
    assert np.linalg.eigvalsh(product).min() > -1e-10
    np.testing.assert_allclose(product @ B, V.T @ Y, atol=1e-10)
    # W: subgradient of the penalty.
    assert subgradient_error(W, 2.0 * X.T @ (X @ W - V), GAMMA) < 1e-4


@pytest.mark.parametrize("n_latent", [1, 2, 5])
def test_equals_an_alternation_by_other_solvers(data, n_latent):
    X, Y = data
    L = _laplacian(X, 5).toarray()
    selector = fit(X, Y, n_latent=n_latent)
    start = np.linalg.svd(Y, full_matrices=False)[2][:n_latent]
    W, V, B = alternation(X, Y, L, start, sweeps=1 if n_latent == 5 else 60)
    assert selector.objective_ == pytest.approx(objective(X, Y, L, W, V, B), rel=1e-8)
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(W, axis=1), atol=1e-4)


def test_a_free_basis_has_no_best_solution(data):
    """The printed objective, without BB' = I, falls for ever along tW, tV, B/t."""
    X, Y = data
    selector = fit(X, Y)
    W, V, B, L = selector.coef_, selector.latent_, selector.label_basis_, _laplacian(X, 5)
    values = [objective(X, Y, L, t * W, t * V, B / t) for t in (1.0, 0.5, 0.1, 0.01, 1e-6)]
    assert (np.diff(values) < 0.0).all()
    assert values[-1] == pytest.approx(ALPHA * np.sum((Y - V @ B) ** 2), rel=1e-4)


def test_a_full_basis_makes_the_problem_convex(data, monkeypatch):
    """Any orthogonal start gives the same minimum."""
    X, Y = data
    one = fit(X, Y, n_latent=5)
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((5, 5)))[0]
    monkeypatch.setattr(multilabel_informed, "_first_basis", lambda Y, n_latent: Q)
    other = fit(X, Y, n_latent=5)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-9)
    np.testing.assert_allclose(other.scores_, one.scores_, atol=1e-5)


@pytest.mark.parametrize("n_latent", [1, 2, 5])
def test_settled_means_close_to_the_minimum(data, n_latent):
    tight, usual = (fit(*data, n_latent=n_latent, tol=tol) for tol in (1e-11, 1e-6))
    assert usual.converged_
    assert usual.objective_ == pytest.approx(tight.objective_, rel=1e-5 if n_latent < 5 else 1e-7)


def test_the_second_derivative_is_only_a_shortcut(data, monkeypatch):
    X, Y = data
    one = fit(X, Y)
    monkeypatch.setattr(multilabel_informed, "_HESSIAN_SIDE", 0)
    other = fit(X, Y)
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-10)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:MultiLabelInformedSelector selected:UserWarning")
@settings(max_examples=50)
@given(matrices(), st.floats(0.01, 10.0), st.floats(0.0, 10.0), st.floats(0.01, 10.0), st.data())
def test_descent_on_any_data(X, alpha, beta, gamma, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    Y = rng.integers(0, 2, (len(X), 3)).astype(float)
    n_latent = data.draw(st.sampled_from([None, 1, 2, 3]), label="n_latent")
    selector = MultiLabelInformedSelector(
        alpha=alpha, beta=beta, gamma=gamma, n_latent=n_latent, max_iter=10
    ).fit(X, Y)
    history = selector.objective_history_
    assert (np.diff(history) <= 1e-12 * history[0]).all()
    assert history[0] <= alpha * np.sum(Y**2) * (1 + 1e-12)  # that of W = V = 0
    B = selector.label_basis_
    np.testing.assert_allclose(B @ B.T, np.eye(len(B)), atol=1e-10)


# --- the start -------------------------------------------------------------------------------


def test_latent_labels_hold_nine_tenths_by_default():
    rng = np.random.default_rng(3)
    U, V = (np.linalg.qr(rng.standard_normal((n, 4)))[0] for n in (20, 6))
    for sigma, count in (([3, 1, 1, 0], 2), ([9, 1, 1, 1], 1), ([1, 1, 1, 1], 4), ([0] * 4, 1)):
        B = _first_basis((U * sigma) @ V.T, None)
        assert B.shape == (count, 6)
        np.testing.assert_allclose(B @ B.T, np.eye(count), atol=1e-12)


def test_more_latent_labels_than_rows():
    B = _first_basis(np.random.default_rng(4).standard_normal((2, 5)), 4)
    np.testing.assert_allclose(B @ B.T, np.eye(4), atol=1e-12)


def test_first_basis_has_a_sign():
    Y = np.random.default_rng(5).standard_normal((9, 4))
    B = _first_basis(Y, 3)
    np.testing.assert_allclose(_first_basis(-Y, 3), B, atol=1e-12)
    assert (np.abs(B).max(axis=1) == B.max(axis=1)).all()


# --- the graph -------------------------------------------------------------------------------


def test_laplacian_by_its_definition():
    X = np.random.default_rng(6).standard_normal((15, 3))
    squares = cdist(X, X, "sqeuclidean") + np.diag(np.full(15, np.inf))
    near = squares <= np.sort(squares, axis=1)[:, 3:4]
    weights = np.where(near, np.exp(-squares / squares[near].mean()), 0.0)
    weights = np.maximum(weights, weights.T)
    expected = np.diag(weights.sum(axis=0)) - weights
    for form in (np.array, sp.csr_array, sp.csc_array):
        np.testing.assert_allclose(_laplacian(form(X), 4).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_laplacian_does_not_depend_on_the_unit(scale):
    X = np.random.default_rng(7).standard_normal((10, 3))
    one, other = (_laplacian(data, 3).toarray() for data in (X, scale * X))
    np.testing.assert_allclose(other, one, atol=1e-10)


def test_laplacian_of_equal_rows():
    L = _laplacian(np.ones((6, 2)), 2).toarray()
    assert np.isfinite(L).all()
    np.testing.assert_array_equal(L, L.T)
    np.testing.assert_array_equal(L.sum(axis=0), 0.0)
    assert set(np.unique(-(L - np.diag(np.diag(L))))) == {0.0, 1.0}


def test_laplacian_of_few_rows():
    np.testing.assert_array_equal(_laplacian(np.ones((1, 2)), 5).toarray(), [[0.0]])
    assert _laplacian(np.eye(3), 5).toarray().diagonal().min() > 0.0  # all are neighbours


def test_neighbours_smooth_the_latent_labels(data):
    X, Y = data
    L = _laplacian(X, 5)
    rough, smooth = (fit(X, Y, beta=beta).latent_ for beta in (0.0, 10.0))
    share = [np.vdot(V, L @ V) / np.vdot(V, V) for V in (rough, smooth)]
    assert share[1] < 0.5 * share[0]


# --- the selection ---------------------------------------------------------------------------


def test_labels_in_common_find_their_columns(data):
    assert set(fit(*data).selected_) == {0, 1, 2}


def test_one_label(data):
    X, Y = data
    selector = fit(X, Y[:, :1], n_latent=None)
    assert selector.coef_.shape == (9, 1)
    np.testing.assert_allclose(np.abs(selector.label_basis_), 1.0)


def test_constant_labels_change_little(data):
    X, Y = data
    constant = np.column_stack([Y, np.zeros(40)])
    np.testing.assert_allclose(fit(X, constant).scores_, fit(X, Y).scores_, atol=1e-5)
    assert fit(X, np.column_stack([Y, np.ones(40)])).converged_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"alpha": None}, "alpha must be a number > 0"),
        ({"beta": -1.0}, "beta must be a number >= 0"),
        ({"beta": np.nan}, "beta must be a number >= 0"),
        ({"gamma": 0.0}, "gamma must be a number > 0"),
        ({"gamma": np.inf}, "gamma must be a number > 0"),
        ({"n_latent": 6}, r"n_latent must be at most the number of labels \(5\); got 6"),
        ({"n_latent": 0}, "n_latent must be an integer >= 1"),
        ({"n_latent": 1.0}, "n_latent must be an integer >= 1"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"tol": -1.0}, "tol must be a number >= 0 and <= 1"),
    ],
)
def test_bad_parameters(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        MultiLabelInformedSelector(3, **parameters).fit(*data)
