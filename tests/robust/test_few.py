"""The proof for a few rows against enumeration and against the proof by blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.outliers import best_rows
from tests.robust.proofs import prove, prove_few
from tests.strategies import matrices


@settings(max_examples=60)
@given(matrices(min_rows=3, max_rows=9, max_columns=5), st.data(), st.booleans())
def test_finds_and_proves_the_optimum(X, data, centred):
    k = data.draw(st.integers(0, len(X) - 1))
    r = data.draw(st.integers(0, min(len(X) - k, X.shape[1])))
    proof = prove_few(X, r, k, centering="optimal" if centred else "none")
    error, _ = best_rows(X, r, k, centering="optimal" if centred else "none")
    assert proof.proven and proof.status == "optimal"
    assert proof.error == pytest.approx(error, abs=1e-12 * (1.0 + np.sum(X * X)))
    assert proof.lower_bound <= proof.error
    assert len(proof.removed) == k


@pytest.mark.parametrize("centred", [False, True])
def test_agrees_with_the_proof_by_blocks(centred):
    X = np.random.default_rng(0).standard_normal((20, 6)) * [5, 3, 1, 1, 1, 1] + 10.0
    few = prove_few(X, 2, 4, centering="optimal" if centred else "none")
    blocks = prove(X, 2, 4, centering="optimal" if centred else "none")
    np.testing.assert_array_equal(few.removed, blocks.removed)
    assert few.error == pytest.approx(blocks.error, rel=1e-12)


def test_gives_way_when_rows_are_many_or_time_is_short():
    X = np.random.default_rng(0).standard_normal((65, 3))
    assert prove_few(X, 1, 2) is None
    assert prove_few(X[:20], 1, 5, seconds=0.0) is None


def test_gives_way_when_rounding_hides_the_error():
    rng = np.random.default_rng(1)
    X = np.outer(rng.standard_normal(12), [3.0, 4.0, 0.0]) + 1e-9 * rng.standard_normal((12, 3))
    assert prove_few(X, 1, 3, centering="none") is None


def test_progress_is_reported_once():
    seen = []
    X = np.random.default_rng(2).standard_normal((10, 3))
    proof = prove_few(X, 1, 2, callback=seen.append)
    assert len(seen) == len(proof.history) == 1
    assert seen[0].incumbent == pytest.approx(proof.error, rel=1e-12)
