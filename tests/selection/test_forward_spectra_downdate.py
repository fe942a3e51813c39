"""The pruned search for the best rank-one downdate against all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.criteria import KyFan, Nuclear, Schatten, Spectral
from columnist.selection._forward_spectra import BestDowndate
from tests.strategies import CRITERIA, LogEnergy


def problem(d: int, n: int, seed: int, decay: float):
    """A spectrum, and downdates by unit vectors, some of which reach out of its space."""
    rng = np.random.default_rng(seed)
    lam = np.sort(rng.exponential(size=d) * decay ** np.arange(d))[::-1] + 1e-3
    units = rng.standard_normal((n, d))
    units /= np.linalg.norm(units, axis=1)[:, None]
    inside = rng.random(n) < 0.5
    units[~inside] *= rng.uniform(0.2, 0.9, (~inside).sum())[:, None]
    return lam, units * np.sqrt(lam), inside


def best_downdate(lam, Z, inside, criterion):
    """Best row and its error."""
    return BestDowndate(lam, Z, inside, criterion).run()


def all_errors(lam, Z, inside, criterion) -> np.ndarray:
    spectra = np.array([np.linalg.eigvalsh(np.diag(lam) - np.outer(z, z))[::-1] for z in Z])
    spectra[inside, -1] = 0.0
    return criterion.values(np.sqrt(np.maximum(spectra, 0.0)))


@pytest.mark.parametrize("criterion", [*CRITERIA, Schatten(0.1), Schatten(6.0)], ids=str)
@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 9), n=st.integers(1, 12), seed=st.integers(0, 10**6))
def test_pruned_equals_unpruned(criterion, d, n, seed):
    lam, Z, inside = problem(d, n, seed, 0.7)
    errors = all_errors(lam, Z, inside, criterion)
    row, error = best_downdate(lam, Z, inside, criterion)
    slack = 1e-9 * max(abs(errors).max(), 1e-12)
    assert errors[row] <= errors.min() + slack
    assert abs(error - errors[row]) <= slack


@pytest.mark.parametrize("criterion", [*CRITERIA, Schatten(0.1), Schatten(6.0)], ids=str)
@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 9), seed=st.integers(0, 10**6), data=st.data())
def test_bounds_hold_whatever_is_known(criterion, d, seed, data):
    lam, Z, inside = problem(d, 6, seed, 0.5)
    race = BestDowndate(lam, Z, inside, criterion)
    rows = np.arange(6)
    known = data.draw(st.integers(0, race.counted))
    bounds = race.bounds(rows, race.roots(rows, 0, known))
    errors = all_errors(lam, Z, inside, criterion)
    assert (bounds <= errors + 1e-12 * errors.max()).all()


@pytest.mark.parametrize("p", [0.5, 1.0, 6.0])
def test_the_trace_prunes_more_than_interlacing(p):
    """The trace is exact, so knowing it must spare eigenvalues."""
    lam, Z, inside = problem(30, 200, 0, 0.9)

    class Blind(Schatten):
        """The same criterion, of which nothing but its monotony is known."""

    blind = BestDowndate(lam, Z, inside, Blind(p))
    blind.power = None
    aware = BestDowndate(lam, Z, inside, Schatten(p))
    assert blind.run()[0] == aware.run()[0]
    assert aware.n_roots < blind.n_roots < Z.size


@pytest.mark.parametrize(("criterion", "roots"), [(Spectral(), 1), (KyFan(2), 2)])
def test_leading_criteria_need_leading_roots_only(criterion, roots):
    lam, Z, inside = problem(12, 20, 1, 0.8)
    search = BestDowndate(lam, Z, inside, criterion)
    search.run()
    assert search.n_roots <= 20 * roots


def test_ties_go_to_the_first_row():
    lam = np.array([2.0, 2.0, 2.0])
    Z = np.diag(np.sqrt(lam))
    for criterion in (Nuclear(), Schatten(0.5), LogEnergy()):
        assert best_downdate(lam, Z, np.ones(3, dtype=bool), criterion)[0] == 0


def test_structural_zero_is_not_left_to_rounding():
    """At p = 0.1 a last eigenvalue of 1e-17 would count like 0.14."""
    rng = np.random.default_rng(2)
    lam = np.geomspace(1.0, 1e-3, 15)
    units = np.linalg.qr(rng.standard_normal((15, 15)))[0]
    row, error = best_downdate(lam, units * np.sqrt(lam), np.ones(15, dtype=bool), Schatten(0.1))
    errors = all_errors(lam, units * np.sqrt(lam), np.ones(15, dtype=bool), Schatten(0.1))
    assert row == int(np.argmin(errors))
    assert error == pytest.approx(errors.min(), rel=1e-6)
