"""Reduction: the small matrix has the errors of the large one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from columnist.linalg._reduce import randomized_range, reduce_data, reduce_gram
from columnist.linalg._residual import chosen_basis, singular_values_outside
from tests.oracles import brute_force
from tests.strategies import CRITERIA, matrices, random_matrix


def subsets(n, largest=3):
    for size in range(min(n, largest) + 1):
        yield from combinations(range(n), size)


def spectrum(reduced, subset):
    target = np.diag(np.sqrt(reduced.weights))
    return reduced.scale * singular_values_outside(chosen_basis(reduced.columns, subset), target)


def assert_same_errors(reduced, X, Y=None, *, atol=1e-12):
    """Residual singular values agree for every small subset, up to trailing zeros."""
    assert reduced.n_items == X.shape[1]
    target = X if Y is None else Y
    scale = np.abs(target).max(initial=0.0)
    for subset in subsets(X.shape[1]):
        expected = brute_force.residual_singular_values(X, subset, Y)
        found = spectrum(reduced, subset)
        width = max(len(found), len(expected))
        found = np.pad(found, (0, width - len(found)))
        expected = np.pad(expected, (0, width - len(expected)))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=atol * scale)


@settings(max_examples=80)
@given(matrices(max_columns=6))
def test_dense(X):
    reduced = reduce_data(X)
    assert reduced.exact and reduced.lost == 0.0
    assert reduced.rank == np.linalg.matrix_rank(X)
    assert reduced.columns.shape == (X.shape[1], reduced.rank)
    assert (np.diff(reduced.weights) <= 0).all() and (reduced.weights >= 0).all()
    assert_same_errors(reduced, X)


@settings(max_examples=60)
@given(matrices(max_columns=6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_with_a_target(X, q, seed):
    Y = np.random.default_rng(seed).standard_normal((X.shape[0], q))
    assert_same_errors(reduce_data(X, Y), X, Y)


@pytest.mark.parametrize("shape", [(60, 5), (5, 12), (6, 6)])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", ["vector", "matrix", "indicator", "inside", "zero", None])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_every_form(shape, center, kind, container):
    rng = np.random.default_rng(0)
    m = shape[0]
    X = np.round(rng.standard_normal(shape), 1) + 1.0
    X[:, 1] = X[:, 0]
    X[rng.random(shape) < 0.3] = 0.0
    Y = {
        "vector": rng.standard_normal((m, 1)) + 1.0,
        "matrix": rng.standard_normal((m, 4)),
        "indicator": np.eye(3)[rng.integers(0, 3, m)],
        "inside": X[:, :2] @ rng.standard_normal((2, 2)),
        "zero": np.zeros((m, 2)),
        None: None,
    }[kind]
    reduced = reduce_data(container(X), Y, center=center)
    free = X - X.mean(axis=0) if center else X
    target = None if Y is None else (Y - Y.mean(axis=0) if center else Y)
    # A Gram matrix squares the condition.
    atol = 1e-12 if container is np.asarray or shape[0] < shape[1] else 1e-7
    assert_same_errors(reduced, free, target, atol=atol)


def test_sparse_is_not_densified(monkeypatch):
    X = sp.random_array((3000, 40), density=0.01, rng=np.random.default_rng(0), format="csr")
    small = reduce_data(X, center=True)

    def refuse(self, *args, **kwargs):
        if min(self.shape) > 40:
            raise AssertionError("densified")
        return original(self, *args, **kwargs)

    original = sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    again = reduce_data(X, center=True)
    np.testing.assert_array_equal(again.weights, small.weights)
    dense = original(X)
    total = ((dense - dense.mean(axis=0)) ** 2).sum()
    assert again.weights.sum() * again.scale**2 == pytest.approx(total, rel=1e-12)


@settings(max_examples=60)
@given(matrices(max_columns=6))
def test_gram(X):
    """Columns of one length: of much shorter ones a Gram matrix has lost the digits."""
    lengths = np.linalg.norm(X, axis=0)
    X = X / np.where(lengths > 0.0, lengths, 1.0)
    assert_same_errors(reduce_gram(X.T @ X), X, atol=1e-7)


@pytest.mark.parametrize("exponent", [-150, -100, -20, 20, 100, 150])
@pytest.mark.parametrize("kind", ["gaussian", "duplicates", "low rank", "zero columns"])
def test_extreme_scales(exponent, kind):
    X = random_matrix(kind, 7, 5, np.random.default_rng(1))
    power = 2.0 ** round(exponent * np.log2(10))
    plain, scaled = reduce_data(X), reduce_data(power * X)
    assert scaled.scale == power * plain.scale
    # A power of two rounds nothing.
    np.testing.assert_array_equal(scaled.columns, plain.columns)
    np.testing.assert_array_equal(scaled.weights, plain.weights)
    Y = X[:, :1] + 1.0
    joint, other = reduce_data(X, Y), reduce_data(power * X, Y / power)
    assert other.scale == joint.scale / power
    np.testing.assert_array_equal(other.weights, joint.weights)


@pytest.mark.parametrize("exponent", [-100, -20, 20, 100])
def test_extreme_gram(exponent):
    X = np.random.default_rng(1).standard_normal((7, 5))
    power = 4.0 ** round(exponent * np.log(10) / np.log(4))
    plain, scaled = reduce_gram(X.T @ X), reduce_gram(power * (X.T @ X))
    assert scaled.scale == np.sqrt(power) * plain.scale
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-12)


def test_zero_columns_stay_zero():
    # A direction made of rounding would look like a column of its own.
    X = np.random.default_rng(0).standard_normal((6, 5))
    X[:, [0, 3]] = 0.0
    for reduced in (
        reduce_data(X),
        reduce_data(X, np.ones((6, 1))),
        reduce_data(sp.csr_array(X)),
        reduce_data(X[:3]),
        reduce_data(sp.csr_array(X[:3])),
        reduce_gram(X.T @ X),
        reduce_data(X + np.array([0, 1, 1, 5, 1]), center=True),
    ):
        np.testing.assert_array_equal(reduced.columns[[0, 3]], 0.0)


def test_small_columns_keep_their_direction():
    X = np.random.default_rng(0).standard_normal((6, 4))
    X[:, 2] *= 1e-13
    expected = brute_force.residual_singular_values(X, [2])
    np.testing.assert_allclose(spectrum(reduce_data(X), [2])[:3], expected[:3], rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (1, 1), (1, 3)])
def test_nothing_at_all(shape):
    for X in (np.zeros(shape), sp.csr_array(shape, dtype=float)):
        for Y in (None, np.ones((shape[0], 2))):
            reduced = reduce_data(X, Y)
            assert reduced.rank == 0
            energy = 0.0 if Y is None else (Y**2).sum()
            assert reduced.scale**2 * reduced.weights.sum() == pytest.approx(energy)


def test_gram_with_a_negative_eigenvalue():
    G = np.diag([3.0, 1.0, -1e-6])
    with pytest.raises(ValueError, match=r"positive semi-definite.*-1e-06"):
        reduce_gram(G)
    # Rounding is forgiven.
    assert reduce_gram(np.diag([3.0, 1.0, -1e-16])).rank == 2


def test_gram_of_a_negative_definite_matrix():
    with pytest.raises(ValueError, match="positive semi-definite"):
        reduce_gram(-np.eye(3))


# --- randomized --------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("with_target", [False, True])
def test_randomized_errors_are_lower_bounds(sparse, center, with_target):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 25)) * 0.8 ** np.arange(25) + 0.3
    X[rng.random(X.shape) < 0.3] = 0.0
    Y = rng.standard_normal((40, 3)) + 1.0 if with_target else None
    data = sp.csr_array(X) if sparse else X
    reduced = reduce_data(data, Y, center=center, rank=2, rng=rng)
    assert not reduced.exact
    assert reduced.columns.shape[1] < 25
    free = X - X.mean(axis=0) if center else X
    target = None if Y is None else (Y - Y.mean(axis=0) if center else Y)
    strict = 0
    for subset in [(), (0,), (3, 7), (0, 1, 2), tuple(range(6))]:
        true = brute_force.residual_singular_values(free, subset, target)
        found = spectrum(reduced, subset)
        found = np.pad(found, (0, max(len(true) - len(found), 0)))[: len(true)]
        assert (found <= true + 1e-12 * true[0]).all()
        for criterion in CRITERIA:
            lower, error = criterion.value(found), criterion.value(true)
            assert lower <= error * (1 + 1e-10)
            strict += lower < error * (1 - 1e-6)
    assert strict > 0 or with_target


def test_lost_energy_is_what_is_missing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 30))
    for data, center in ((X, False), (sp.csr_array(X), False), (X + 2.0, True)):
        reduced = reduce_data(data, center=center, rank=3, rng=rng)
        dense = data.toarray() if sp.issparse(data) else data
        total = ((dense - dense.mean(axis=0) if center else dense) ** 2).sum()
        kept = reduced.scale**2 * reduced.weights.sum()
        assert 0.1 < reduced.lost < 0.9
        assert reduced.lost == pytest.approx(1.0 - kept / total, abs=1e-10)


def test_a_wide_sketch_loses_nothing():
    X = np.random.default_rng(0).standard_normal((20, 8))
    reduced = reduce_data(X, rank=8, rng=np.random.default_rng(1))
    assert reduced.lost == pytest.approx(0.0, abs=1e-12)
    assert_same_errors(reduced, X)


@pytest.mark.parametrize("tiny", [1e-14, 1e-17, 1e-20, 1e-40])
@pytest.mark.parametrize("has_target", [False, True])
def test_short_columns_keep_their_direction(tiny, has_target):
    """A column may be shorter than the rounding of others: what it spans counts all the same."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 5))
    X = A * [1.0, tiny, 1.0, tiny, 3.0]
    Y = rng.standard_normal((40, 2)) if has_target else None
    reduced = reduce_data(X, Y)
    assert reduced.rank == 5
    unit = reduced.columns / np.linalg.norm(reduced.columns, axis=1)[:, None]
    expected = A / np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(unit @ unit.T, expected.T @ expected, atol=1e-12)
    target = X if Y is None else Y
    for chosen in ([1], [0, 3], [1, 3, 4]):
        left = singular_values_outside(chosen_basis(A.T, chosen), target)
        Q = np.linalg.qr(unit[chosen].T)[0]
        T = np.diag(np.sqrt(reduced.weights))
        found = reduced.scale * np.linalg.svd(T - Q @ (Q.T @ T), compute_uv=False)
        np.testing.assert_allclose(found[: len(left)], left, atol=1e-12 * left.max())


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e5 + 0.1])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_constant_columns_are_nothing_once_means_are_free(value, make):
    X = np.column_stack([np.full(50, value), np.random.default_rng(0).standard_normal((50, 2))])
    reduced = reduce_data(make(X), center=True)
    assert not reduced.columns[0].any()
    assert reduced.rank == 2


# --- randomized ranges ----------------------------------------------------------------------


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (4, 50), (50, 4), (1, 1)])
@pytest.mark.parametrize("rank", [1, 3, 100])
def test_orthonormal_and_of_the_stated_width(shape, rank):
    X = rng().standard_normal(shape)
    Q = randomized_range(X, rank, rng=rng())
    assert Q.shape == (shape[0], min(rank + 10, *shape))
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-12)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_matrix, aslinearoperator])
def test_captures_a_low_rank_exactly(wrap):
    X = rng().standard_normal((40, 3)) @ rng().standard_normal((3, 25))
    Q = randomized_range(wrap(X), 3, oversampling=0, rng=rng())
    np.testing.assert_allclose(Q @ (Q.T @ X), X, atol=1e-11)


def test_close_to_the_best_for_a_slow_decay():
    X = rng().standard_normal((200, 120))
    Q = randomized_range(X, 10, oversampling=5, rng=rng())
    best = (np.linalg.svd(X, compute_uv=False)[15:] ** 2).sum()
    rest = (X**2).sum() - ((Q.T @ X) ** 2).sum()
    assert best <= rest <= 1.05 * best


def test_power_iterations_help():
    X = rng().standard_normal((200, 120))

    def rest(n_iter):
        Q = randomized_range(X, 10, n_iter=n_iter, oversampling=0, rng=rng())
        return (X**2).sum() - ((Q.T @ X) ** 2).sum()

    assert rest(4) < rest(1) < rest(0)


def test_repeats_with_the_same_generator():
    X = rng().standard_normal((20, 15))
    first, second = (randomized_range(X, 2, oversampling=1, rng=rng()) for _ in range(2))
    np.testing.assert_array_equal(first, second)
