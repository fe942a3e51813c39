"""The randomized range finder."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from columnist.linalg._sketch import randomized_range


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
