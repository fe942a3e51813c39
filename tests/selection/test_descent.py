"""Coordinate descent of relaxed nodes against plain NumPy and its optimality conditions."""

from __future__ import annotations

import numpy as np

from columnist.selection._descent import descend
from tests.examples import examples
from tests.oracles.descent import descend as twin
from tests.oracles.descent import objective


def problem(seed: int):
    """A random node: P, D, products, chosen and free items, how many to choose, start."""
    rng = np.random.default_rng(seed)
    p, q = int(rng.integers(4, 12)), int(rng.integers(1, 4))
    X = rng.standard_normal((3 * p, p)) + rng.uniform(0, 2) * rng.standard_normal((3 * p, 1))
    K = X.T @ X
    D = 1.0 / np.diag(np.linalg.inv(K))
    D *= 0.99 * np.linalg.eigvalsh(K / np.sqrt(np.outer(D, D)))[0]
    c = rng.standard_normal((q, 3 * p)) @ X
    order = rng.permutation(p).astype(np.int32)
    m = int(rng.integers(0, p - 2))
    forced, free = order[:m], order[m:]
    t = int(rng.integers(1, len(free)))
    B = np.zeros((q, p))
    B[:, order] = rng.standard_normal((q, p)) * (rng.random(p) < 0.3)
    P = np.ascontiguousarray(K - np.diag(D))
    return P, D, c, forced, free, t, B, c - B @ P, float(rng.uniform(0.1, 2.0))


def test_the_kernel_equals_its_twin():
    for seed in range(examples(200)):
        P, D, _, forced, free, t, B, U, s = problem(seed)
        expected = twin(P, D, forced, free, t, B, U, s, 3)
        s = descend(P, D, forced, free, t, B, U, s, 3)
        size = np.abs(U).max() + np.abs(B).max()
        for found, other in zip((B, U, s), expected, strict=True):
            np.testing.assert_allclose(found, other, rtol=1e-6, atol=1e-9 * size, err_msg=str(seed))


def test_the_objective_never_rises():
    for seed in range(examples(200)):
        P, D, c, forced, free, t, B, U, s = problem(seed)
        for _ in range(5):
            before = objective(P, D, c, forced, free, B, s)
            new = descend(P, D, forced, free, t, B, U, s, 1)
            after = objective(P, D, c, forced, free, B, s)
            assert after <= before + 1e-9 * (1 + abs(before)), seed
            np.testing.assert_allclose(U, c - B @ P, atol=1e-8 * (1 + np.abs(c).max()))
            s = new


def test_where_it_ends_nothing_is_better():
    """U = DB where z is 1, |U| = s sqrt(D) between, no more where B is zero; z sums to t."""
    settled = 0
    for seed in range(examples(100)):
        P, D, c, forced, free, t, B, U, s = problem(seed)
        before = descend(P, D, forced, free, t, B, U, s, 3000)
        s = descend(P, D, forced, free, t, B, U, before, 1)
        root = np.sqrt(D)
        share = root * np.linalg.norm(B, axis=0) / s
        gains = np.linalg.norm(c - B @ P, axis=0) / root
        tol = 1e-5 * (s + gains.max())
        if abs(s - before) > 1e-9 * s:  # the price goes back and forth, or to zero
            continue
        settled += 1
        full = np.concatenate([forced, free[share[free] >= 1.0]])
        np.testing.assert_allclose(U[:, full], D[full] * B[:, full], atol=tol * root.max())
        between = free[(share[free] > 0.0) & (share[free] < 1.0)]
        np.testing.assert_allclose(gains[between], s, atol=tol)
        assert np.all(gains[free[share[free] == 0.0]] <= s + tol), seed
    assert settled > 0.5 * examples(100)
