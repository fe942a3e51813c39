"""Leading eigenpairs by products against all of them."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.spectral import _lanczos as lanczos
from columnist.spectral._lanczos import largest_eigenpairs, worth_iterating


def matrix(n):
    A = np.random.default_rng(0).standard_normal((n, n))
    return A + A.T


def test_largest_eigenpairs():
    A = matrix(300)
    values, vectors = largest_eigenpairs(lambda v: A @ v, 300, 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:4])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-9 * values[0])


def test_a_search_that_does_not_converge_is_widened(monkeypatch):
    calls = []
    real = lanczos.eigsh

    def stubborn(operator, count, **options):
        calls.append(options)
        if len(calls) == 1:
            raise lanczos.ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))
        return real(operator, count, **options)

    monkeypatch.setattr(lanczos, "eigsh", stubborn)
    A = matrix(250)
    values, _ = largest_eigenpairs(lambda v: A @ v, 250, 2)
    assert values == pytest.approx(np.linalg.eigvalsh(A)[::-1][:2])
    assert len(calls) == 2 and calls[1]["ncv"] == 60


def test_few_of_many_are_worth_iterating():
    assert worth_iterating(1000, 10)
    assert not worth_iterating(100, 2)
    assert not worth_iterating(1000, 500)
