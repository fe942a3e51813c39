"""Proofs on problems deep enough to use every shortcut, against enumeration.

Columns that nearly repeat one another are where closed forms lose their digits: no set may be lost
to rounding there.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist import ColumnSelector
from columnist.criteria import get_criterion
from tests.oracles.brute_force import subset_error

KINDS = ("gaussian", "factors", "near duplicates", "duplicates", "sums", "graded", "integers")


def matrix(kind: str, seed: int) -> np.ndarray:
    """A random matrix with 9 to 12 columns of one kind."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    m, n = int(rng.integers(8, 30)), int(rng.integers(9, 13))
    X = rng.standard_normal((m, n))
    if kind == "factors":
        X = X[:, :3] @ rng.standard_normal((3, n)) + 10.0 ** rng.uniform(-4, -1) * X
    elif kind == "near duplicates":
        half = n // 2  # no copy of a copy: that would depend on them to second order
        X[:, n - half :] = X[:, :half] + 10.0 ** rng.uniform(-6, -2) * X[:, n - half :]
    elif kind == "duplicates":
        X[:, rng.permutation(n)[:4]] = X[:, rng.permutation(n)[:4]]
    elif kind == "sums":
        X[:, -3:] = X[:, :3] + X[:, 3:6] * rng.integers(-1, 2, 3)
    elif kind == "graded":
        X *= 10.0 ** rng.uniform(-3, 3, n)
    elif kind == "integers":
        X = rng.integers(-1, 2, (m, n)).astype(float)
    return X


def errors(X: np.ndarray, k: int, Y: np.ndarray) -> dict[tuple[int, ...], float]:
    """Squared Frobenius error of every k-subset, by a rank-revealing orthonormal basis."""
    result = {}
    for subset in combinations(range(X.shape[1]), k):
        chosen = X[:, subset] / np.maximum(np.linalg.norm(X[:, subset], axis=0), 1e-300)
        U, s, _ = np.linalg.svd(chosen, full_matrices=False)
        Q = U[:, s > 1e-9]
        residual = Y - Q @ (Q.T @ Y)
        result[subset] = float(np.vdot(residual, residual))
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_best_set_and_its_runners_up(kind, seed):
    X = matrix(kind, seed)
    k = min(4 + seed, np.linalg.matrix_rank(X) - 1)
    every = errors(X, k, X)
    best = sorted(every.values())
    tolerance = 1e-9 * float(np.vdot(X, X))
    for n_solutions in (1, 4):
        selector = ColumnSelector(k, n_solutions=n_solutions, time_limit=None).fit(X)
        assert selector.certificate_.status == "optimal"
        assert selector.certificate_.lower_bound <= best[0] + tolerance
        found = [solution.error for solution in selector.solutions_]
        np.testing.assert_allclose(found, best[:n_solutions], atol=tolerance)
        for solution in selector.solutions_:
            assert solution.error == pytest.approx(every[tuple(solution)], abs=tolerance)


@pytest.mark.parametrize("criterion", ["nuclear", "schatten:0.5", "spectral", "kyfan:2"])
@pytest.mark.parametrize("kind", ["gaussian", "factors", "duplicates", "sums", "integers"])
def test_other_criteria(kind, criterion):
    X = matrix(kind, 7)
    k = min(4, np.linalg.matrix_rank(X) - 1)
    selector = ColumnSelector(k, criterion=criterion, time_limit=None).fit(X)
    trials = combinations(range(X.shape[1]), k)
    best = min(subset_error(X, subset, get_criterion(criterion)) for subset in trials)
    assert selector.certificate_.status == "optimal"
    assert selector.error_ == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_with_a_target(seed):
    X = matrix("near duplicates", 20 + seed)
    Y = np.random.default_rng(seed).standard_normal((len(X), 1 + seed % 3))
    k = min(5, np.linalg.matrix_rank(X) - 1)
    best = min(errors(X, k, Y).values())
    selector = ColumnSelector(k, time_limit=None).fit(X, Y)
    assert selector.certificate_.status == "optimal"
    assert selector.error_ == pytest.approx(best, abs=1e-9 * float(np.vdot(Y, Y)))


@pytest.mark.parametrize("seed", range(3))
def test_workers_change_nothing(seed):
    X = np.random.default_rng(seed).standard_normal((60, 18))
    one, two = (ColumnSelector(8, n_jobs=n, time_limit=None).fit(X) for n in (1, 2))
    np.testing.assert_array_equal(one.selected_, two.selected_)
    assert one.certificate_.nodes_expanded == two.certificate_.nodes_expanded
    assert one.certificate_.lower_bound == two.certificate_.lower_bound
