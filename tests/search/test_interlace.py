"""Pairs and triples: bounds against the eigenvalues themselves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._residual import chosen_basis
from columnist.search._interlace import surviving_tuples


class Node:
    """Random unit residuals in a space with given eigenvalues."""

    def __init__(self, seed: int, n: int, d: int, kind: str):
        rng = np.random.default_rng(seed)
        self.lam = np.sort(rng.exponential(size=d) ** 2)[::-1].copy()
        units = rng.standard_normal((n, d))
        if kind == "correlated":
            units = units[:1] + 0.1 * units
        if kind == "duplicates":
            units[-1] = units[0]
        units /= np.linalg.norm(units, axis=1)[:, None]
        if kind == "zero":
            units[0] = 0.0
        self.units, self.Z = units, units * np.sqrt(self.lam)
        self.spectra = np.array([self.spectrum([i]) for i in range(n)])

    def spectrum(self, positions) -> np.ndarray:
        Q = chosen_basis(self.units, positions)
        Z = np.sqrt(self.lam)[:, None] * Q
        values = np.linalg.eigvalsh(np.diag(self.lam) - Z @ Z.T)[::-1]
        return np.maximum(values, 0.0)

    def survivors(self, width, drop, power, limit, fill=None):
        slack = 1e-13 * self.lam[0]
        low = np.maximum(self.spectra - slack, 0.0)
        return surviving_tuples(
            self.spectra, low, self.spectra ** (power / 2), low ** (power / 2),
            self.units @ self.units.T, self.Z @ self.Z.T, float(self.lam.sum()), width, drop,
            slack, limit, power <= 2.0 if fill is None else fill,
        )  # fmt: skip


nodes = st.builds(
    Node,
    st.integers(0, 2**32 - 1),
    st.integers(2, 7),
    st.integers(2, 8),
    st.sampled_from(["plain", "correlated", "duplicates", "zero"]),
)


@settings(max_examples=200)
@given(nodes, st.sampled_from([2, 3]), st.integers(0, 3), st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_bounds_hold_for_every_tuple(node, width, drop, power):
    tuples, totals = node.survivors(width, drop, power, np.inf)
    found = {tuple(sorted(row)): total for row, total in zip(tuples, totals, strict=True)}
    wanted = list(combinations(range(len(node.units)), width))
    assert sorted(found) == wanted
    for row in wanted:
        # `drop` further directions of any kind may vanish from the top
        true = (node.spectrum(row)[drop:] ** (power / 2)).sum()
        scale = (node.lam ** (power / 2)).sum()
        assert found[row] <= true + 1e-6 * scale


@settings(max_examples=100)
@given(nodes, st.sampled_from([2, 3]), st.floats(0.0, 1.0))
def test_nothing_below_the_limit_is_lost(node, width, share):
    true = {
        row: node.spectrum(row).sum() ** 0.5 * 0 + np.sqrt(node.spectrum(row)).sum()
        for row in combinations(range(len(node.units)), width)
    }
    if not true:
        return
    low, high = min(true.values()), max(true.values())
    limit = low + share * (high - low)
    tuples, totals = node.survivors(width, 0, 1.0, limit)
    kept = {tuple(sorted(row)) for row in tuples.tolist()}
    assert {row for row, error in true.items() if error < limit - 1e-6} <= kept
    assert (totals < limit).all()


def test_the_known_sum_makes_it_exact_for_the_frobenius_norm():
    node = Node(3, 6, 6, "plain")
    tuples, totals = node.survivors(2, 0, 2.0, np.inf)
    for row, total in zip(tuples, totals, strict=True):
        assert total == pytest.approx(node.spectrum(row).sum(), rel=1e-9)


def test_the_known_sum_tightens_the_nuclear_bound():
    node = Node(4, 6, 8, "plain")
    _, plain = node.survivors(2, 0, 1.0, np.inf, fill=False)
    _, filled = node.survivors(2, 0, 1.0, np.inf)
    assert (filled >= plain).all()
    assert filled.sum() > 1.05 * plain.sum()


@pytest.mark.parametrize("width", [2, 3])
def test_with_nothing_left_to_explain_every_tuple_survives(width):
    nothing, square = np.zeros((4, 0)), np.zeros((4, 4))
    tuples, totals = surviving_tuples(
        nothing, nothing, nothing, nothing, square, square, 0.0, width, 0, 0.0, 1.0, True
    )
    assert sorted(sorted(t) for t in tuples.tolist()) == list(
        map(list, combinations(range(4), width))
    )
    assert not totals.any()
    assert len(surviving_tuples(
        nothing, nothing, nothing, nothing, square, square, 0.0, width, 0, 0.0, 0.0, True
    )[0]) == 0  # fmt: skip
