"""Weights against their optimality conditions and brute force; errors against their definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.selection import _two_stage as two_stage
from columnist.selection._two_stage import Candidates, best_weights, deflated, stage_errors
from tests.strategies import matrices

SEEDS = st.integers(0, 2**32 - 1)
GAMMAS = st.sampled_from([0.0, 1e-8, 1e-2])


def objective(z, H, h):
    return z @ H @ z - 2 * h @ z


def moments(S, Y):
    """G = S'S and h as their definitions say."""
    return S.T @ S, np.array([np.linalg.norm(Y.T @ s) ** 2 for s in S.T])


def regularised(inner, gamma):
    H = inner**2
    return H + gamma * np.diag(np.diag(H))


@st.composite
def problems(draw):
    """Candidates of every kind and a target with as many rows."""
    S = draw(matrices(max_columns=5))
    Y = draw(matrices(min_rows=len(S), max_rows=len(S), max_columns=4))
    return S, Y


@given(problems(), GAMMAS)
def test_optimality_conditions(problem, gamma):
    """Hz - h >= 0, z >= 0, and one of the two is zero in every coordinate."""
    inner, h = moments(*problem)
    z = best_weights("quadratic", inner, h, gamma)
    lengths = np.diag(inner)
    assert (z >= 0).all()
    filled = lengths > 0
    gradient = (regularised(inner, gamma) @ z - h)[filled] / lengths[filled]
    scale = (h[filled] / lengths[filled]).max(initial=0.0)
    assert (gradient >= -1e-10 * scale).all()
    assert np.abs(gradient * (z * lengths)[filled]).max(initial=0.0) <= 1e-10 * scale**2


@given(problems(), GAMMAS)
def test_no_support_does_better(problem, gamma):
    """Least squares on every support, those without negative entries compared."""
    inner, h = moments(*problem)
    H = regularised(inner, gamma)
    best = 0.0
    for size in range(1, len(h) + 1):
        for support in map(list, combinations(range(len(h)), size)):
            z = np.linalg.lstsq(H[np.ix_(support, support)], h[support], rcond=1e-11)[0]
            if (z >= 0).all():
                best = min(best, objective(z, H[np.ix_(support, support)], h[support]))
    found = objective(best_weights("quadratic", inner, h, gamma), H, h)
    assert found <= best + 1e-8 * abs(best)


@given(problems(), GAMMAS)
def test_exact_weights_are_never_worse(problem, gamma):
    inner, h = moments(*problem)
    H = regularised(inner, gamma)
    exact = objective(best_weights("quadratic", inner, h, gamma), H, h)
    clipped = objective(best_weights("clipped", inner, h, gamma), H, h)
    assert exact <= min(clipped, 0.0) + 1e-9 * abs(exact)


@given(SEEDS, GAMMAS)
def test_clipped_is_the_linear_system_without_its_negatives(seed, gamma):
    rng = np.random.default_rng(seed)
    inner, h = moments(rng.standard_normal((9, 4)), rng.standard_normal((9, 2)))
    solution = np.linalg.solve(regularised(inner, gamma), h)
    z = best_weights("clipped", inner, h, gamma)
    np.testing.assert_allclose(z, np.maximum(solution, 0.0), rtol=1e-6, atol=1e-9 * h.max())


@pytest.mark.parametrize("method", ["quadratic", "clipped"])
def test_duplicates_share_their_weight(method):
    """The smallest solution of a singular system is the symmetric one."""
    s = np.array([[1.0], [2.0], [0.0]])
    inner, h = moments(np.hstack([s, s, s]), 3 * s)
    np.testing.assert_allclose(best_weights(method, inner, h, 1e-8), [3.0, 3.0, 3.0], rtol=1e-6)


@pytest.mark.parametrize("method", ["quadratic", "clipped"])
def test_target_among_the_candidates(method):
    """YY' can be met exactly: unit weights on the columns of Y."""
    S = np.random.default_rng(0).standard_normal((10, 6))
    z = best_weights(method, *moments(S, S[:, [1, 4]]), 0.0)
    np.testing.assert_allclose(z, [0, 1, 0, 0, 1, 0], atol=1e-10)


@given(problems(), st.integers(-30, 30), st.integers(-30, 30))
def test_scaling_columns_and_target(problem, column, target):
    """z follows the square of the target's scale over that of the column's."""
    S, Y = problem
    scales = 2.0 ** (column * (np.arange(S.shape[1]) % 2))
    z = best_weights("quadratic", *moments(S, Y), 1e-8)
    scaled = best_weights("quadratic", *moments(S * scales, 2.0**target * Y), 1e-8)
    np.testing.assert_allclose(
        scaled * scales**2 / 4.0**target, z, rtol=1e-6, atol=1e-8 * z.max(initial=0.0)
    )


@pytest.mark.parametrize("method", ["quadratic", "clipped"])
def test_nothing_to_gain(method):
    np.testing.assert_array_equal(best_weights(method, np.eye(3), np.zeros(3), 0.0), np.zeros(3))
    np.testing.assert_array_equal(best_weights(method, np.zeros((2, 2)), np.ones(2), 0.0), [0, 0])


# --- candidates ------------------------------------------------------------------------------


def basis_of(columns):
    return np.linalg.svd(columns, full_matrices=False)[0]


@pytest.mark.parametrize("stored", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("taken", [0, 2])
@pytest.mark.parametrize("block", [2**25, 8], ids=["one pass", "blocks"])
def test_measures_are_those_of_the_projected_columns(stored, taken, block, monkeypatch):
    monkeypatch.setattr(two_stage, "_DENSE_ENTRIES", block)
    rng = np.random.default_rng(0)
    S, Y = rng.standard_normal((8, 5)) * (rng.random((8, 5)) < 0.6), rng.standard_normal((8, 3))
    Q = basis_of(S[:, :taken])
    off = np.eye(8) - Q @ Q.T
    candidates = Candidates.measure(stored(S), stored(Y), Q, np.linalg.norm(Y) ** 2)
    inner, h = moments(off @ S, off @ Y)
    np.testing.assert_allclose(candidates.gram, inner, atol=1e-13)
    np.testing.assert_allclose(candidates.energy, h, atol=1e-13)
    np.testing.assert_array_equal(candidates.gram[:taken], 0.0)
    weighted = candidates.weighted(np.array([4, 2]), np.arange(5.0))
    weighted = weighted.toarray() if sp.issparse(weighted) else weighted
    np.testing.assert_allclose(weighted, (off @ S)[:, [4, 2]] * [2.0, 2**0.5], atol=1e-13)


# --- the theorem -----------------------------------------------------------------------------


@st.composite
def stages(draw):
    """Projected candidates, some weights, a selection and the target, whatever they are."""
    S, Y = draw(problems())
    rng = np.random.default_rng(draw(SEEDS))
    taken = draw(st.integers(0, min(2, len(S) - 1)))
    Q = np.linalg.qr(rng.standard_normal((len(S), taken)))[0]
    candidates = Candidates.measure(S, Y, Q, np.linalg.norm(Y) ** 2)
    if draw(st.booleans()):
        z = best_weights("quadratic", candidates.gram, candidates.energy, 1e-8)
    else:
        z = rng.exponential(size=S.shape[1]) * (np.diag(candidates.gram) > 0)
    picks = rng.permutation(S.shape[1])[: draw(st.integers(1, S.shape[1]))]
    return candidates, z, picks, Y


def explicit(candidates, z, picks, Y):
    """Both errors, the error on the target and the rank of all that is selected."""
    Q = candidates.Q
    target = deflated(Y, Q)
    X1 = candidates.columns * np.sqrt(z)
    weights = np.linalg.norm(X1 @ X1.T - target @ target.T) ** 2
    U, s, _ = np.linalg.svd(candidates.columns[:, picks], full_matrices=False)
    U = U[:, s > 1e-9 * s.max(initial=0.0)]
    errors = [np.linalg.norm(M - U @ (U.T @ M)) ** 2 for M in (X1, target)]
    return weights, *errors, U.shape[1] + Q.shape[1]


@pytest.mark.parametrize("side", [1000, 0], ids=["eigenvalues", "norms"])
@given(stage=stages())
def test_the_bound_holds(side, stage):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "_SHARP_SIDE", side)
        errors = stage_errors(*stage)
    weights, second, error, rank = explicit(*stage)
    Y = stage[-1]
    scale = np.linalg.norm(Y) ** 2 + np.linalg.norm(stage[0].columns * np.sqrt(stage[1])) ** 2
    assert error <= errors.bound + 1e-12 * scale
    assert errors.second == pytest.approx(second, abs=1e-12 * scale)
    assert errors.weights == pytest.approx(weights, abs=1e-12 * scale**2)
    # The printed theorem, and its sharper form.
    m = len(Y)
    free = min(m - rank, np.linalg.matrix_rank(Y))
    assert error <= second + np.sqrt(free * weights) + 1e-12 * scale
    limit = second + np.sqrt(min(m - rank, Y.shape[1]) * weights)
    assert errors.bound <= limit + 1e-6 * scale
    assert limit <= second + np.sqrt(m * weights) + 1e-12 * scale


@given(stages())
def test_eigenvalues_are_sharper(stage):
    sharp = stage_errors(*stage).bound
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_stage, "_SHARP_SIDE", 0)
        assert sharp <= stage_errors(*stage).bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("side", [1000, 0], ids=["eigenvalues", "norms"])
@pytest.mark.parametrize("shape", [(30, 3), (8, 40)], ids=["few targets", "many targets"])
def test_sparse_and_single_precision(side, shape, monkeypatch):
    monkeypatch.setattr(two_stage, "_SHARP_SIDE", side)
    rng = np.random.default_rng(0)
    m, q = shape
    S = rng.integers(0, 3, (m, 5)).astype(float)
    Y = rng.integers(0, 3, (m, q)).astype(float)
    picks, Q = np.array([1, 3]), np.full((m, 1), m**-0.5)
    for basis in (Q[:, :0], Q):
        values = []
        for columns, target in (
            (S, Y),
            (sp.csc_array(S), sp.csc_array(Y)),
            (S, Y.astype(np.float32)),
        ):
            candidates = Candidates.measure(columns, target, basis, np.linalg.norm(Y) ** 2)
            z = best_weights("quadratic", candidates.gram, candidates.energy, 1e-8)
            errors = stage_errors(candidates, z, picks, target)
            values.append([errors.weights, errors.second, errors.bound])
        np.testing.assert_allclose(values, [values[0]] * 3, rtol=1e-9)


def test_targets_too_large_to_multiply(monkeypatch):
    monkeypatch.setattr(two_stage, "_SHARP_SIDE", 0)
    monkeypatch.setattr(two_stage, "_NORM_COST", 0.0)
    S = np.random.default_rng(0).standard_normal((6, 3))
    candidates = Candidates.measure(S, S, np.zeros((6, 0)), np.linalg.norm(S) ** 2)
    errors = stage_errors(candidates, np.ones(3), np.array([0]), S)
    assert np.isnan(errors.weights) and np.isnan(errors.bound)
    assert errors.second == pytest.approx(explicit(candidates, np.ones(3), [0], S)[1])


def test_everything_selected_leaves_nothing():
    S = np.random.default_rng(0).standard_normal((3, 3))
    candidates = Candidates.measure(S, S, np.zeros((3, 0)), np.linalg.norm(S) ** 2)
    errors = stage_errors(candidates, np.full(3, 7.0), np.arange(3), S)
    assert errors.weights > 1.0
    assert errors.bound == errors.second == 0.0
