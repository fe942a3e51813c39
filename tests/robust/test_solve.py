"""Rows to remove, by every strategy and through every door, against enumeration."""

from __future__ import annotations

from itertools import combinations

import dask.array as da
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import RobustPCA
from columnist.robust import _row_data as row_data
from columnist.robust import _solve as solve
from columnist.robust._conditioned import PassErrors, conditioned
from columnist.robust._row_data import RowData, given_mean
from columnist.robust._solve import AllSets, Question, certified_outliers
from columnist.search._options import SearchOptions
from columnist.search._run import Run
from tests.data.test_blocks import Slices
from tests.examples import examples
from tests.oracles.outliers import best_rows, row_errors
from tests.robust.proofs import prove, prove_few, rows_of
from tests.strategies import matrices

CENTERINGS = "optimal", "mean", "none"


def planted(seed, n=13, p=4, k=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(4.0, 0.8, p) + 2.0
    X[:k] += 5.0 * rng.standard_normal((k, p))
    return X


@pytest.fixture(params=["in memory", "in passes"])
def many(request, monkeypatch):
    """Whether rows count as many: then a few passes over blocks have to do."""
    if request.param == "in passes":
        monkeypatch.setattr(row_data, "_FEW_ROWS", 0)
    return request.param


def certificate_of(X, r, k, centering="optimal", **options):
    question = Question(RowData(X), r, k, centering, np.random.default_rng(0))
    return certified_outliers(question, SearchOptions(**options))


# -- one test of stopping points for all strategies -----------------------------------


def all_sets(rows, run, team):
    yield AllSets(rows.errors, rows.question.n_outliers)


def screening(rows, run, team):
    yield solve._FirstChoice(rows.first_choices(run))
    yield solve.Screening(rows.seen(), rows.question.n_components, rows.square)


def blocks(rows, run, team):
    yield solve._FirstChoice(rows.first_choices(run))
    yield rows.all_blocks(run, team)


def one_after_the_other(rows, run, team):
    yield from rows.strategies(run, team)


STRATEGIES = all_sets, screening, blocks, one_after_the_other


@pytest.mark.parametrize("strategies", STRATEGIES)
@pytest.mark.parametrize("centering", CENTERINGS)
def test_at_every_stop_the_bound_is_below_and_the_choice_above(strategies, centering, monkeypatch):
    monkeypatch.setattr("columnist.robust._block_proof._FEW", 1)
    monkeypatch.setattr("columnist.robust._block_proof._CHUNK", 1)
    monkeypatch.setattr("columnist.robust._block_proof.block_size", lambda n, d: 3)
    for seed in range(examples(10)):
        X = planted(seed)
        best = best_rows(X, 1, 3, centering=centering)[0]
        seen = []
        for max_nodes in (0, 1, 2, 5, 13, np.inf):
            rows = rows_of(X, 1, 3, centering)
            run = Run(rows, SearchOptions(max_nodes=max_nodes).limits())
            with solve.Team(1) as team:
                run.drive(strategies(rows, run, team))
            if not run.pool.entries:  # going through all sets was not allowed
                continue
            seen.append(run.bound())
            assert run.bound() <= best * (1 + 1e-12) <= run.pool.best * (1 + 2e-12)
            assert (run.stop == "optimal") == run.is_proven()
        assert seen == sorted(seen)
        if strategies is not screening:
            assert run.stop == "optimal"


# -- the same answer through every door ---------------------------------------------------


@pytest.mark.parametrize("centering", CENTERINGS)
def test_equals_enumeration(many, centering):
    for seed in range(examples(20)):
        X = planted(seed, n=9 + seed % 4, p=2 + seed % 3)
        for r, k in ((0, 2), (1, 3), (2, 1)):
            errors = row_errors(X, r, k, centering=centering)
            found = certificate_of(X, r, k, centering)
            best = min(errors.values())
            assert found.lower_bound <= best * (1 + 1e-10)
            assert errors[found.selection] == pytest.approx(found.error, rel=1e-9, abs=1e-12)
            if many == "in memory":
                assert found.status == "optimal"
            if found.status == "optimal":
                assert found.error == pytest.approx(best, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("n", [60, 500])
def test_array_and_collection_have_the_same_proof(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 6)) * [9.0, 5.0, 1.0, 1.0, 1.0, 1.0]
    X[:4] += 12.0 * rng.standard_normal((4, 6))
    one, other = (
        RobustPCA(2, n_outliers=4, random_state=0).fit(Z)
        for Z in (X, da.from_array(X, chunks=(n // 3, 6)))
    )
    assert one.certificate_.status == other.certificate_.status == "optimal"
    np.testing.assert_array_equal(one.outliers_, other.outliers_)
    np.testing.assert_allclose(one.error_, other.error_, rtol=1e-12)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-10)


def test_passes_find_what_memory_finds(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((900, 5)) * [9.0, 5.0, 1.0, 1.0, 1.0]
    X[:6] += 12.0 * rng.standard_normal((6, 5))
    one = RobustPCA(2, n_outliers=6, random_state=0).fit(X)
    monkeypatch.setattr(row_data, "_FEW_ROWS", 100)
    for Z in (X, da.from_array(X, chunks=(250, 5))):
        other = RobustPCA(2, n_outliers=6, random_state=0).fit(Z)
        assert one.certificate_.status == other.certificate_.status == "optimal"
        np.testing.assert_array_equal(one.outliers_, other.outliers_)
        np.testing.assert_allclose(one.error_, other.error_, rtol=1e-10)


def test_an_interrupt_after_the_first_choice_keeps_it(many):
    X = planted(0, n=30, k=2)

    def interrupt(progress):
        raise KeyboardInterrupt

    found = certificate_of(X, 1, 2, callback=interrupt)
    error = min(row_errors(X, 1, 2).values())
    assert found.status in ("interrupted", "optimal") and len(found.selection) == 2
    assert found.lower_bound <= error * (1 + 1e-9) <= found.error * (1 + 2e-9)


# -- errors beside which a few directions tower ---------------------------------------------


def towering(seed, size, n=400, p=6, along_a_column=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:3] += 9.0 * rng.standard_normal((3, p))
    if along_a_column:
        X[:, 2] *= size
    else:
        X += size * np.outer(rng.standard_normal(n), rng.standard_normal(p))
    return X


@pytest.mark.parametrize("size", [1e3, 1e5, 1e6])
@pytest.mark.parametrize("centering", CENTERINGS)
def test_a_long_column_is_decided_in_passes_too(many, size, centering):
    for seed in range(examples(5)):
        X = towering(seed, size)
        found = certificate_of(X, 1, 3, centering)
        assert found.status == "optimal"
        assert set(found.selection) == {0, 1, 2}


def exact_error(X, removed, r, centering):
    """In double-double arithmetic."""
    rows = rows_of(X, r, len(removed), centering)
    kept = np.delete(np.arange(len(X)), removed)
    return rows.errors.exact(kept).value


@pytest.mark.parametrize("centering", CENTERINGS)
def test_intervals_of_passes_hold_the_error(centering):
    for seed in range(examples(25)):
        size = 10.0 ** (seed % 9)
        X = towering(seed, size, n=60, along_a_column=seed % 2 == 0) + 10.0 ** (seed % 5)
        data = RowData(Slices(X, [20, 45]), movable=centering != "none")
        errors = PassErrors(data, 1, given_mean(centering, data.moments.mean))
        kept = np.ones(60, dtype=bool)
        kept[[0, 1, 2]] = False
        found, error = errors.evaluate(kept), exact_error(X, [0, 1, 2], 1, centering)
        assert found.low <= error * (1 + 1e-10) and error <= found.high * (1 + 1e-10)
        if seed % 2 == 0 and size <= 1e6:
            assert found.high - found.low <= 1e-9 * error


@pytest.mark.parametrize("free", [True, False])
def test_conditioned_rows_have_no_larger_errors(free):
    for seed in range(examples(10)):
        X = towering(seed, 1e4, n=12, p=4)
        data = RowData(X)
        mean = None if free else np.zeros(4)
        kept = data.without(np.array([0, 1]), 1, mean)
        seen = conditioned(data, kept)
        for removed in combinations(range(12), 2):
            removed = np.array(removed)
            image = seen.without(removed, 1)
            off = seen.off(removed)
            low = seen.proven(image.error - image.rounding, off)
            error = exact_error(X, removed, 1, "optimal" if free else "none")
            assert low <= error * (1 + 1e-12)
        # The choice itself loses next to nothing.
        image = seen.without(kept.removed, 1)
        error = exact_error(X, kept.removed, 1, "optimal" if free else "none")
        np.testing.assert_allclose(image.error, error, rtol=1e-7)


# -- all sets of a few rows, against enumeration and blocks --------------------------


@settings(max_examples=60)
@given(matrices(min_rows=3, max_rows=9, max_columns=5), st.data(), st.booleans())
def test_finds_and_proves_the_optimum(X, data, centred):
    k = data.draw(st.integers(0, len(X) - 1))
    r = data.draw(st.integers(0, min(len(X) - k, X.shape[1])))
    proof = prove_few(X, r, k, centering="optimal" if centred else "none")
    error, _ = best_rows(X, r, k, centering="optimal" if centred else "none")
    if proof is None:  # inner products lose so small an error to rounding
        assert error < 1e-5 * np.sum(X * X)
        return
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
