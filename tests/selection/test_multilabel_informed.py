"""Multi-label informed selection (MIFS): descent, stationarity, and why B is orthonormal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.linalg.prox import l21_norm, row_norms
from columnist.selection import MultiLabelInformedSelector
from columnist.selection.multilabel_informed import _laplacian
from tests.linalg.test_prox import coordinate_descent

ALPHA, BETA, GAMMA = 0.8, 0.3, 2.0


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 9))
    latent = X[:, :3] @ rng.standard_normal((3, 2))
    Y = (latent @ rng.standard_normal((2, 5)) + 0.3 * rng.standard_normal((40, 5)) > 0).astype(
        float
    )
    return X, Y


def fitted(X, Y, **options):
    options = {"alpha": ALPHA, "beta": BETA, "gamma": GAMMA, "n_latent": 2} | options
    return MultiLabelInformedSelector(3, tol=1e-10, max_iter=2000, **options).fit(X, Y)


def objective(X, Y, L, W, V, B) -> float:
    return float(
        np.sum((X @ W - V) ** 2)
        + ALPHA * np.sum((Y - V @ B) ** 2)
        + BETA * np.trace(V.T @ (L @ V))
        + GAMMA * l21_norm(W)
    )


def test_objective_falls_and_is_the_formula(data):
    X, Y = data
    selector = fitted(X, Y)
    history = selector.objective_history_
    assert (np.diff(history) <= 1e-12 * history[:-1]).all()
    L = _laplacian(X, 5)
    value = objective(X, Y, L, selector.coef_, selector.latent_, selector.label_basis_)
    assert selector.objective_ == pytest.approx(value, rel=1e-10)
    assert selector.converged_


def test_every_block_is_stationary(data):
    X, Y = data
    selector = fitted(X, Y)
    W, V, B, L = selector.coef_, selector.latent_, selector.label_basis_, _laplacian(X, 5)
    np.testing.assert_allclose(B @ B.T, np.eye(2), atol=1e-12)
    # V: the gradient vanishes.
    gradient = (V - X @ W) + ALPHA * (V @ B - Y) @ B.T + BETA * (L @ V)
    assert np.abs(gradient).max() < 1e-4
    # B: V'Y B' is symmetric and positive semidefinite, the condition of Procrustes.
    product = V.T @ Y @ B.T
    np.testing.assert_allclose(product, product.T, atol=1e-8)
    assert np.linalg.eigvalsh(product).min() > -1e-8
    # W: subgradient of the L2,1 norm.
    slope = 2.0 * X.T @ (X @ W - V)
    for g, w in zip(slope, W, strict=True):
        if w.any():
            np.testing.assert_allclose(-g, GAMMA * w / np.linalg.norm(w), atol=1e-3 * GAMMA)
        else:
            assert np.linalg.norm(g) <= GAMMA * (1 + 1e-4)


def test_equals_a_plain_alternation_with_another_solver(data):
    X, Y = data
    L = _laplacian(X, 5).toarray()
    selector = fitted(X, Y)
    B = np.linalg.svd(Y, full_matrices=False)[2][:2]
    W = np.zeros((9, 2))
    system = (1 + ALPHA) * np.eye(40) + BETA * L
    for _ in range(400):
        V = np.linalg.solve(system, X @ W + ALPHA * Y @ B.T)
        W = coordinate_descent(X, V, GAMMA, sweeps=30)
        V = np.linalg.solve(system, X @ W + ALPHA * Y @ B.T)
        U, _, Vt = np.linalg.svd(V.T @ Y, full_matrices=False)
        B = U @ Vt
    assert selector.objective_ == pytest.approx(objective(X, Y, L, W, V, B), rel=1e-6)


def test_a_free_basis_has_no_best_solution(data):
    """The printed objective falls without end along tW, tV, B/t."""
    X, Y = data
    selector = fitted(X, Y)
    W, V, B, L = selector.coef_, selector.latent_, selector.label_basis_, _laplacian(X, 5)
    values = [objective(X, Y, L, t * W, t * V, B / t) for t in (1.0, 0.5, 0.1, 0.01)]
    assert (np.diff(values) < 0.0).all()


def test_ranking(data):
    X, Y = data
    selector = fitted(X, Y)
    np.testing.assert_allclose(selector.scores_, row_norms(selector.coef_))
    assert set(selector.selected_[:2]) <= {0, 1, 2}


def test_sparse_data_give_the_same(data):
    X, Y = data
    X = X * (np.random.default_rng(1).random(X.shape) < 0.6)
    dense, sparse = fitted(X, Y), fitted(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)


def test_one_label_and_a_constant_label(data):
    X, Y = data
    single = fitted(X, Y[:, 0], n_latent=None)
    assert single.coef_.shape == (9, 1)
    constant = np.column_stack([Y, np.ones(40), np.zeros(40)])
    assert fitted(X, constant).converged_


def test_equal_rows_and_one_row():
    X = np.tile([[1.0, 2.0, 3.0]], (6, 1))
    with pytest.warns(UserWarning, match="MultiLabelInformedSelector selected"):
        MultiLabelInformedSelector(2, gamma=100.0).fit(X, np.eye(6)[:, :2])
    assert _laplacian(X[:1], 5).shape == (1, 1)


def test_laplacian_of_a_graph():
    X = np.random.default_rng(2).standard_normal((15, 3))
    L = _laplacian(X, 4).toarray()
    np.testing.assert_allclose(L, L.T)
    np.testing.assert_allclose(L.sum(axis=0), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(L).min() > -1e-12
    off = -(L - np.diag(np.diag(L)))
    assert (off >= 0.0).all()
    assert ((off > 0.0).sum(axis=0) >= 4).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number > 0"),
        ({"beta": -1.0}, "beta must be a number >= 0"),
        ({"gamma": 0.0}, "gamma must be a number > 0"),
        ({"n_latent": 6}, "n_latent must be at most the number of labels"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1"),
    ],
)
def test_bad_parameters(parameters, message, data):
    with pytest.raises(ValueError, match=message):
        MultiLabelInformedSelector(3, **parameters).fit(*data)
