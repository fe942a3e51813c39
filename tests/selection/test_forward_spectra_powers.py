"""Forward selection with powers against explicit least squares on all powers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import legendre

from columnist.criteria import Frobenius, Nuclear, Schatten, Spectral
from columnist.linalg import _passes as passes
from columnist.selection import ForwardSelector
from columnist.selection._forward_spectra import BlockForward, fresh_directions
from tests.oracles.brute_force import residual_singular_values, subset_error
from tests.oracles.forward import greedy_extended
from tests.steps import block_forward
from tests.strategies import CRITERIA, matrices, tolerance


def all_powers(X, degree, *, center=False):
    """Powers of every column, feature by feature, each scaled to maximum one."""
    X = X / np.where(X.any(axis=0), np.abs(X).max(axis=0), 1.0)
    P = np.stack([X**j for j in range(1, degree + 1)], axis=2).reshape(len(X), -1)
    return P - P.mean(axis=0) if center else P


def block_error(P, features, degree, criterion, Y):
    columns = [i * degree + j for i in features for j in range(degree)]
    return subset_error(P, columns, criterion, Y=Y)


def check_greedy(P, Y, degree, criterion, selected, errors, *, slack, exclude=(), fixed=0):
    """Every step after the fixed ones chose a block with the smallest error."""
    n = P.shape[1] // degree
    assert len(set(selected.tolist())) == len(selected) == len(errors)
    for step, feature in enumerate(selected):
        before = list(selected[:step])
        found = block_error(P, [*before, feature], degree, criterion, Y)
        assert errors[step] == pytest.approx(found, rel=1e-7, abs=slack)
        if step >= fixed:
            others = set(range(n)) - set(before) - set(exclude)
            best = min(block_error(P, [*before, i], degree, criterion, Y) for i in others)
            assert found <= best + slack + 1e-8 * best


def random_target(m, rng, n_targets=3):
    return rng.integers(-2, 3, (m, n_targets)).astype(float)


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@settings(max_examples=15)
@given(matrices(min_rows=2), st.integers(1, 3), st.booleans(), st.data())
def test_every_step_is_the_best_one(criterion, X, degree, center, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1), label="seed"))
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    Y = random_target(len(X), rng)
    selected, errors = block_forward(X, Y, degree, k, criterion, center=center)
    P, T = all_powers(X, degree, center=center), Y - Y.mean(axis=0) if center else Y
    slack = tolerance(criterion, Y)
    check_greedy(P, T, degree, criterion, selected, errors, slack=slack)
    if len(selected) < k:  # nothing that any other feature could add
        now = block_error(P, selected, degree, Frobenius(), T)
        everything = block_error(P, range(X.shape[1]), degree, Frobenius(), T)
        assert now - everything <= 1e-10 * max(float(np.vdot(Y, Y)), 1e-300)


@settings(max_examples=40)
@given(matrices(min_rows=2, min_columns=2), st.integers(1, 3), st.data())
def test_include_and_exclude(X, degree, data):
    n = X.shape[1]
    order = data.draw(st.permutations(range(n)), label="order")
    a = data.draw(st.integers(0, n - 1), label="included")
    b = data.draw(st.integers(0, n - 1 - a), label="excluded")
    include, exclude = order[:a], order[a : a + b]
    k = data.draw(st.integers(max(1, a), n - b), label="k")
    Y = random_target(len(X), np.random.default_rng(k))
    selected, errors = block_forward(X, Y, degree, k, include=include, exclude=exclude)
    assert selected[:a].tolist() == include
    assert not set(selected) & set(exclude)
    check_greedy(
        all_powers(X, degree), Y, degree, Frobenius(), selected, errors,
        slack=tolerance(Frobenius(), Y), exclude=exclude, fixed=a,
    )  # fmt: skip


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()], ids=str)
def test_degree_one_is_plain_forward_selection(center, criterion):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 12)) + 1.0, rng.standard_normal((40, 5))
    selected, errors = block_forward(X, Y, 1, 9, criterion, center=center)
    centering = "mean" if center else "none"
    plain = ForwardSelector(9, criterion=criterion, centering=centering).fit(X, Y)
    np.testing.assert_array_equal(selected, plain.selected_)
    np.testing.assert_allclose(errors, plain.errors_, rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_selector_takes_the_same_steps(form, criterion, scale):
    rng = np.random.default_rng(15)
    X = rng.standard_normal((30, 8)) * (rng.random((30, 8)) < 0.7)
    Y = rng.standard_normal((30, 3))
    selected, errors = block_forward(X, Y, 3, 5, criterion, center=True)
    selector = ForwardSelector(5, degree=3, criterion=criterion, centering="mean")
    selector.fit(form(scale * X), scale * Y)
    np.testing.assert_array_equal(selector.selected_, selected)
    unit = scale**2 if isinstance(criterion, Frobenius) else scale
    np.testing.assert_allclose(selector.errors_, unit * errors, rtol=1e-10)


def test_degree_one_of_ill_conditioned_data():
    rng = np.random.default_rng(1)
    U, V = (np.linalg.qr(rng.standard_normal((n, 40)))[0] for n in (60, 40))
    X = (U * np.geomspace(1.0, 1e-16, 40)) @ V.T
    Y = U @ rng.standard_normal((40, 3))
    selected, errors = block_forward(X, Y, 1, 20)
    assert selected.tolist() == greedy_extended(X, 20, Y)
    assert (np.diff(errors) < 0).all()


# Without an intercept higher powers of two features share the constant vector to 1e-9, where
# directions count as dependent.
@pytest.mark.parametrize(("degree", "center"), [(2, False), (5, False), (2, True), (9, True)])
def test_powers_of_numbers_far_from_zero(degree, center):
    # Legendre polynomials of the shifted numbers span the same blocks, well conditioned.
    rng = np.random.default_rng(2)
    t = rng.uniform(-1.0, 1.0, (80, 5))
    X, Y = t + 10.0, np.sin(4.0 * t[:, :3]) + t[:, 1:4]
    V = legendre.legvander(t, degree)
    V = (V[:, :, 1:] if center else V[:, :, :-1] * X[:, :, None]).reshape(80, -1)
    P, T = (V - V.mean(axis=0), Y - Y.mean(axis=0)) if center else (V, Y)
    selected, errors = block_forward(X, Y, degree, 4, center=center)
    slack = 1e-9 * float(np.vdot(Y, Y))
    check_greedy(P, T, degree, Frobenius(), selected, errors, slack=slack)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3))
def test_nearly_dependent_blocks(seed, degree):
    # Blocks shrink by ten orders of magnitude beside the selected ones.
    rng = np.random.default_rng(seed)
    base = rng.uniform(-1.0, 1.0, (30, 3))
    X = np.hstack([base, base[:, :2] + 1e-5 * rng.uniform(-1.0, 1.0, (30, 2))])
    Y = rng.standard_normal((30, 2))
    selected, errors = block_forward(X, Y, degree, 5)
    assert sorted(selected) == [0, 1, 2, 3, 4]
    check_greedy(
        all_powers(X, degree), Y, degree, Frobenius(), selected, errors,
        slack=1e-7 * float(np.vdot(Y, Y)),
    )  # fmt: skip


def test_small_residual_targets_are_followed():
    # Each feature explains a millionth of what the one before it left.
    rng = np.random.default_rng(3)
    X = np.linalg.qr(rng.standard_normal((40, 6)))[0]
    weights = 10.0 ** -np.arange(0.0, 12.0, 2.0)
    order = rng.permutation(6)
    Y = (X[:, order] * weights).sum(axis=1, keepdims=True)
    selected, errors = block_forward(X, Y, 1, 6)
    assert selected.tolist() == order.tolist()
    left = np.append(np.cumsum(weights[:0:-1] ** 2)[::-1], 0.0)
    np.testing.assert_allclose(errors[:-1], left[:-1], rtol=1e-4)
    assert errors[-1] < 1e-30


def test_blocks_win_where_single_powers_do_not():
    # x0 and its square explain y together; x1 alone explains more than x0 alone.
    rng = np.random.default_rng(4)
    x0, x1 = rng.standard_normal((2, 200))
    y = (x0 + x0**2) + 0.0 * x1
    X = np.column_stack([x0, y + 0.6 * rng.standard_normal(200)])
    assert block_forward(X, y[:, None], 1, 1)[0].tolist() == [1]
    assert block_forward(X, y[:, None], 2, 1)[0].tolist() == [0]


@settings(max_examples=30)
@given(matrices(min_rows=3), st.integers(1, 3), st.booleans())
def test_errors_fall_and_scales_do_not_matter(X, degree, center):
    Y = random_target(len(X), np.random.default_rng(5))
    n = X.shape[1]
    selected, errors = block_forward(X, Y, degree, n, center=center)
    assert (np.diff(errors) <= 0).all()
    scaled = block_forward(X * 2.0 ** (3 * np.arange(n)), Y, degree, n, center=center)
    np.testing.assert_array_equal(scaled[0], selected)
    np.testing.assert_allclose(scaled[1], errors, atol=1e-12 * max(np.vdot(Y, Y), 1e-300))


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear(), Schatten(0.1)], ids=str)
@pytest.mark.parametrize("degree", [1, 2])
def test_target_x(criterion, degree):
    # Every selected column of X takes one dimension off: an exact zero that roots must not see.
    rng = np.random.default_rng(6)
    for m, n in ((20, 8), (6, 15)):
        X = rng.standard_normal((m, n))
        selected, errors = block_forward(X, X, degree, 3, criterion)
        P = all_powers(X, degree)
        check_greedy(P, X, degree, criterion, selected, errors, slack=tolerance(criterion, X))


@pytest.mark.parametrize("center", [False, True])
def test_sparse_equals_dense(center):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((50, 20)) * (rng.random((50, 20)) < 0.3)
    Y = rng.standard_normal((50, 4))
    dense = block_forward(X, Y, 3, 6, center=center)
    sparse = block_forward(sp.csc_array(X), Y, 3, 6, center=center)
    np.testing.assert_array_equal(sparse[0], dense[0])
    np.testing.assert_allclose(sparse[1], dense[1], rtol=1e-11)


def test_float32():
    rng = np.random.default_rng(8)
    X, Y = rng.standard_normal((30, 8)).astype(np.float32), rng.standard_normal((30, 2))
    narrow, wide = (block_forward(part, Y, 2, 4) for part in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(narrow[0], wide[0])
    np.testing.assert_allclose(narrow[1], wide[1], rtol=1e-13)


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()], ids=str)
def test_small_work_blocks(monkeypatch, criterion):
    rng = np.random.default_rng(9)
    X, Y = rng.standard_normal((20, 9)), rng.standard_normal((20, 3))
    X[:, 5:] = X[:, :4] + 1e-6 * X[:, 5:]
    whole = block_forward(X, Y, 2, 7, criterion)
    monkeypatch.setattr(passes, "_BLOCK", 60)
    cut = block_forward(X, Y, 2, 7, criterion)
    np.testing.assert_array_equal(cut[0], whole[0])
    np.testing.assert_allclose(cut[1], whole[1], rtol=1e-8)


# --- when to stop ----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [Frobenius(), Spectral(), Schatten(0.5)], ids=str)
def test_stops_when_nothing_is_left(criterion):
    x = np.linspace(-1.0, 1.0, 12)
    X = np.column_stack([np.sign(x), x, 2.0 * x, x**2, x])
    Y = np.column_stack([x + x**2, x - x**2])
    selected, errors = block_forward(X, Y, 2, 5, criterion)
    assert selected.tolist() == [1]
    assert errors[0] <= 1e-10 * criterion.value(residual_singular_values(X, [], Y))


def test_copies_add_nothing():
    rng = np.random.default_rng(10)
    x = rng.standard_normal(15)
    X = np.column_stack([x, -3.0 * x, np.zeros(15), x])
    Y = rng.standard_normal((15, 2))
    assert block_forward(X, Y, 2, 4)[0].tolist() == [0]
    assert block_forward(X, Y, 2, 4, Nuclear())[0].tolist() == [0]
    # An intercept does not let a constant column in.
    assert block_forward(np.column_stack([X, np.full(15, 0.1)]), Y, 2, 5, center=True)[0].size == 1


def test_included_copies_stay():
    rng = np.random.default_rng(11)
    x, z = rng.standard_normal((2, 15))
    X = np.column_stack([x, x, z])
    selected, errors = block_forward(X, rng.standard_normal((15, 1)), 2, 3, include=[1, 0])
    assert selected.tolist() == [1, 0, 2]
    assert errors[0] == errors[1] > errors[2]


@pytest.mark.parametrize("center", [False, True])
def test_nothing_to_explain(center):
    X = np.random.default_rng(12).standard_normal((8, 3))
    Y = np.full((8, 2), 1.0 if center else 0.0)
    selected, errors = block_forward(X, Y, 2, 3, center=center, exclude=[0])
    assert (selected.tolist(), errors.tolist()) == ([1], [0.0])


def test_nothing_explains_anything():
    selected, errors = block_forward(np.zeros((4, 2)), np.ones((4, 1)), 2, 2)
    assert (selected.tolist(), errors.tolist()) == ([0], [4.0])


def test_tolerance_stops():
    rng = np.random.default_rng(13)
    X, Y = rng.standard_normal((40, 10)), rng.standard_normal((40, 3))
    total = float(np.vdot(Y, Y))
    _, path = block_forward(X, Y, 2, 10)
    tol = path[3] / total * (1 + 1e-12)
    selected, errors = block_forward(X, Y, 2, 10, tol=tol)
    assert len(selected) == 4
    np.testing.assert_allclose(errors, path[:4], rtol=1e-12)


def test_spectral_error_may_wait():
    # No single column lowers the largest singular value; the selection goes on all the same.
    selected, errors = block_forward(np.eye(3), np.eye(3), 1, 3, Spectral())
    assert selected.tolist() == [0, 1, 2]
    assert errors.tolist() == [1.0, 1.0, 0.0]


# --- pieces ------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_fresh_directions(m, p, j, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((m, min(j, m))))[0]
    B = np.linalg.qr(rng.standard_normal((m, min(p, m))))[0]
    B = np.hstack([B, np.zeros((m, p - B.shape[1]))])
    U, T, K = fresh_directions(B, Q)
    np.testing.assert_allclose(U, B @ T - Q @ K, atol=1e-9)
    rest = B - Q @ (Q.T @ B)
    np.testing.assert_allclose(U, rest @ T, atol=1e-9)
    rank = int(U.any(axis=0).sum())
    assert rank == min(p, m - Q.shape[1]) == np.linalg.matrix_rank(rest, tol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.diag((np.arange(p) < rank) * 1.0), atol=1e-12)
    np.testing.assert_allclose(U @ (U.T @ rest), rest, atol=1e-12)
    np.testing.assert_allclose(Q.T @ U, 0.0, atol=1e-14)


def test_gain_is_the_drop_of_the_squared_error():
    rng = np.random.default_rng(14)
    X, Y = rng.standard_normal((25, 6)), rng.standard_normal((25, 3))
    state = BlockForward(X, Y, 3, Frobenius(), center=False, scale=1.0)
    for _ in range(4):
        before = state.error()
        feature, gain = state.best(np.ones(6, dtype=bool))
        state.add(feature)
        assert before - state.error() == pytest.approx(gain, rel=1e-10)
