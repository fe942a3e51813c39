"""Errors entry by entry, against the residual of least squares."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.metrics import entry_errors


@pytest.mark.parametrize("r", [0, 1, 2])
def test_entries_of_the_residual(r):
    X = np.random.default_rng(r).standard_normal((9, 6))
    S = X[:, [1, 4]]
    R = X - S @ np.linalg.lstsq(S, X, rcond=None)[0]
    U, sigma, Vt = np.linalg.svd(R)
    for i in range(r):
        R = R - sigma[i] * np.outer(U[:, i], Vt[i])
    l0, l1 = entry_errors(X, [1, 4], n_components=r, threshold=0.3)
    assert l0 == pytest.approx(np.mean(np.abs(R) > 0.3), abs=1e-12)
    assert l1 == pytest.approx(np.abs(R).mean(), rel=1e-10)


def test_dependent_and_no_columns():
    X = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 3.0]])
    assert entry_errors(X, [0, 1]) == pytest.approx(entry_errors(X, [0]))
    assert entry_errors(X, []) == (5 / 6, 2.0)
    assert entry_errors(X, [0, 2]) == pytest.approx((0.0, 0.0), abs=1e-12)
