from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.robust import _node as node_module
from tests.oracles.outliers import best_rows, row_errors
from tests.robust.proofs import TOLERANCE, prove
from tests.robust.samples import contaminated

CENTERINGS = "optimal", "mean", "none"


def _agrees(proof, X, r, k, centering):
    """The proof ends, names a best set and its bounds hold."""
    errors = row_errors(X, r, k, centering=centering)
    best = min(errors.values())
    # Singular values, the oracle's too, are off by so much: their squares sum to this.
    off = max(X.shape) * np.finfo(float).eps * np.linalg.norm(X)
    rounding = 2.0 * np.sqrt(best * X.shape[1]) * off + off**2 * X.shape[1]
    assert proof.status == "optimal" and proof.proven
    assert proof.error == pytest.approx(best, rel=1e-8, abs=rounding)
    assert proof.lower_bound <= best * (1.0 + 1e-10) + rounding
    assert errors[tuple(proof.removed)] == pytest.approx(best, rel=1e-8, abs=rounding)
    assert proof.gap <= 2.0 * TOLERANCE


def _data(kind, n, p, rng):
    X = rng.standard_normal((n, p)) * np.linspace(3.0, 0.5, p)
    if kind == "rounded":
        return np.round(X)
    if kind == "duplicates":
        return X[rng.integers(0, max(n // 2, 1), n)]
    if kind == "constant column":
        X[:, 0] = 7.0
    elif kind == "rank deficient":
        X = X[:, : max(p // 2, 1)] @ rng.standard_normal((max(p // 2, 1), p))
    elif kind == "offset":
        X += 1e6
    elif kind == "far outlier":
        X[0] += 1e8
    elif kind == "signs":
        X = np.sign(X)
    return X


KINDS = [
    "plain", "rounded", "duplicates", "constant column", "rank deficient", "offset",
    "far outlier", "signs",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("centering", CENTERINGS)
def test_equals_enumeration(kind, centering):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(5):
        n, p = int(rng.integers(2, 10)), int(rng.integers(1, 6))
        r, k = int(rng.integers(0, min(p, 3) + 1)), int(rng.integers(0, min(n, 5)))
        X = _data(kind, n, p, rng)
        _agrees(prove(X, r, k, centering=centering), X, r, k, centering)


def test_equals_enumeration_with_more_columns_than_rows():
    rng = np.random.default_rng(0)
    for centering in CENTERINGS:
        X = rng.standard_normal((8, 30))
        _agrees(prove(X, 2, 3, centering=centering), X, 2, 3, centering)


@pytest.mark.parametrize("centering", CENTERINGS)
@pytest.mark.parametrize("r", [0, 1, 2])
def test_blocks_equal_enumeration(monkeypatch, centering, r):
    # Nothing is enumerated before the blocks have decided what they can.
    monkeypatch.setattr(node_module, "_FEW", 1)
    rng = np.random.default_rng(r)
    for k in (1, 3):
        for n, p in ((10, 3), (11, 5)):
            X = rng.standard_normal((n, p)) * np.linspace(2.0, 0.7, p)
            _agrees(prove(X, r, k, centering=centering), X, r, k, centering)


@pytest.mark.parametrize("kind", KINDS)
def test_splitting_equals_enumeration(monkeypatch, kind):
    # Every crowded node is split, down to nodes without a choice.
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 2)
    monkeypatch.setattr(node_module, "_PROGRESS", 1.0)
    monkeypatch.setattr(node_module, "_HARDLY_PRUNED", 0.0)
    rng = np.random.default_rng(KINDS.index(kind))
    for centering in CENTERINGS:
        X = _data(kind, 10, 3, rng)
        _agrees(prove(X, 1, 3, centering=centering), X, 1, 3, centering)


@pytest.mark.parametrize("fresh", [0.0, np.inf])
def test_children_may_inherit_or_start_afresh(monkeypatch, fresh):
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    monkeypatch.setattr(node_module, "_PROGRESS", 1.0)
    monkeypatch.setattr(node_module, "_HARDLY_PRUNED", 0.0)
    monkeypatch.setattr(node_module, "_FRESH", fresh)
    split = []
    original = node_module.Node._split

    def counted(self):
        split.append(self)
        return original(self)

    monkeypatch.setattr(node_module.Node, "_split", counted)
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((12, 3))
        _agrees(prove(X, 1, 3), X, 1, 3, "optimal")
    assert split


def test_first_stages_may_leave_out_directions(monkeypatch):
    # With a third of the error left out, the bound has to come from a second start.
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_LOSS", 0.3)
    monkeypatch.setattr(node_module.Node.__init__, "__kwdefaults__",
                        {**node_module.Node.__init__.__kwdefaults__, "loss": 0.3})  # fmt: skip
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((11, 4)) * [4.0, 2.0, 1.5, 1.0]
        _agrees(prove(X, 1, 3), X, 1, 3, "optimal")


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(CENTERINGS), st.sampled_from(KINDS),
    st.integers(2, 9), st.integers(1, 4), st.integers(0, 4), st.integers(0, 4),
)  # fmt: skip
def test_any_small_problem(seed, centering, kind, n, p, r, k):
    X = _data(kind, n, p, np.random.default_rng(seed))
    k = min(k, n - 1)
    _agrees(prove(X, min(r, p), k, centering=centering), X, min(r, p), k, centering)


@pytest.mark.parametrize("exponent", [-140, -60, 60, 140])
def test_scales(exponent):
    X = np.random.default_rng(0).standard_normal((10, 4))
    one, other = prove(X, 1, 2), prove(X * 10.0**exponent, 1, 2)
    assert other.proven
    np.testing.assert_array_equal(one.removed, other.removed)
    assert other.error / 10.0**exponent / 10.0**exponent == pytest.approx(one.error, rel=1e-12)


def test_all_rows_equal():
    for centering in CENTERINGS:
        X = np.full((30, 3), 2.5)
        proof = prove(X, 0 if centering == "none" else 1, 4, centering=centering)
        assert proof.proven and len(proof.removed) == 4
        assert proof.error == pytest.approx(26 * 3 * 2.5**2 if centering == "none" else 0.0)


def test_zero_error_is_proven_at_once():
    X = np.outer(np.arange(50.0), [1.0, 2.0, 3.0])
    X[[5, 9]] += [[3.0, 1.0, 0.0], [-2.0, 0.0, 7.0]]
    proof = prove(X, 1, 2)
    assert proof.status == "optimal" and proof.error == 0.0 == proof.gap
    np.testing.assert_array_equal(proof.removed, [5, 9])


def test_bad_incumbent_is_replaced():
    rng = np.random.default_rng(3)
    X, _ = contaminated(40, 4, 1, 4, rng)
    proof = prove(X, 1, 4, incumbents=[range(30, 34)])
    np.testing.assert_array_equal(proof.removed, np.arange(4))
    assert proof.proven
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal((10, 3))
        worst = max(row_errors(X, 1, 3).items(), key=lambda item: item[1])[0]
        _agrees(prove(X, 1, 3, incumbents=[worst]), X, 1, 3, "optimal")


def test_every_other_set_beyond_enumeration():
    # 60 rows are too many to enumerate; the planted outliers are the best set by far.
    X, _ = contaminated(60, 5, 2, 5, np.random.default_rng(1))
    proof = prove(X, 2, 5)
    assert proof.proven
    np.testing.assert_array_equal(proof.removed, np.arange(5))
    np.testing.assert_array_equal(proof.always_removed, np.arange(5))
    np.testing.assert_array_equal(proof.always_kept, np.arange(5, 60))


# -- stopping -----------------------------------------------------------------------


@pytest.fixture
def hard(monkeypatch):
    """A problem that takes many stages, all of them in the history, and its best error."""
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    monkeypatch.setattr(node_module, "block_size", lambda n, d: 3)
    X = np.random.default_rng(5).standard_normal((13, 4))
    return X, best_rows(X, 1, 4)[0]


def test_bounds_hold_at_every_stop(hard):
    X, best = hard
    previous = 0.0
    for steps in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 1000):
        proof = prove(X, 1, 4, max_steps=steps)
        assert proof.steps <= steps
        assert proof.lower_bound <= best * (1.0 + 1e-12) <= proof.error * (1.0 + 2e-12)
        assert proof.lower_bound >= previous
        assert proof.status in ("optimal", "node_limit")
        assert proof.proven == (proof.status == "optimal")
        previous = proof.lower_bound
    assert proof.proven and 4 < proof.steps < 1000


def test_decided_rows_agree_with_every_better_set(hard):
    X, _ = hard
    errors = row_errors(X, 1, 4)
    for steps in (1, 4, 8, 16, 30):
        proof = prove(X, 1, 4, max_steps=steps, incumbents=[range(4)])
        for removed, error in errors.items():
            if error < proof.error * (1.0 - 1e-6):
                assert set(proof.always_removed) <= set(removed)
                assert not set(proof.always_kept) & set(removed)


def test_history_is_monotone_and_matches_the_callback(hard):
    X, best = hard
    seen = []
    proof = prove(X, 1, 4, callback=lambda progress: seen.append(progress))
    bounds = [entry["bound"] for entry in proof.history]
    errors = [entry["incumbent"] for entry in proof.history]
    assert len(seen) == len(proof.history) > 3
    assert bounds == sorted(bounds) and errors == sorted(errors, reverse=True)
    assert all(bound <= best * (1.0 + 1e-12) for bound in bounds)
    assert [progress.bound for progress in seen] == bounds


def test_callback_stops(hard):
    X, best = hard
    for when in range(4):
        proof = prove(X, 1, 4, callback=lambda progress, when=when: progress.expanded >= when)
        assert proof.status == "interrupted" and proof.steps == when
        assert proof.lower_bound <= best * (1.0 + 1e-12) <= proof.error * (1.0 + 2e-12)
        assert len(proof.removed) == 4


def test_keyboard_interrupt(hard):
    X, best = hard

    def interrupt(progress):
        if progress.expanded == 2:
            raise KeyboardInterrupt

    proof = prove(X, 1, 4, callback=interrupt)
    assert proof.status == "interrupted" and len(proof.removed) == 4
    assert proof.lower_bound <= best * (1.0 + 1e-12) <= proof.error * (1.0 + 2e-12)


def test_keyboard_interrupt_before_there_is_a_set(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.robust.proofs.concentrated_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        prove(np.eye(5), 1, 1)


def test_deadline_in_the_past(hard):
    X, best = hard
    proof = prove(X, 1, 4, deadline=time.perf_counter() - 1.0)
    assert proof.status == "time_limit" and proof.steps == 0
    assert proof.lower_bound == 0.0 and len(proof.removed) == 4
    assert best <= proof.error * (1.0 + 1e-12)


def test_deadline_at_any_look_at_the_clock(hard, monkeypatch):
    # Time runs out at the i-th look: whatever was going on, bounds hold.
    X, best = hard
    for looks in (1, 3, 10, 30, 100, 300):
        left = iter(range(looks))
        monkeypatch.setattr(
            "columnist.search._run.Run.expired", lambda self, left=left: next(left, None) is None
        )
        proof = prove(X, 1, 4)
        assert proof.status in ("time_limit", "optimal")
        assert proof.lower_bound <= best * (1.0 + 1e-12) <= proof.error * (1.0 + 2e-12)


def test_gap_is_good_enough(hard):
    X, best = hard
    proof = prove(X, 1, 4, max_gap=0.3)
    assert proof.status in ("gap_reached", "optimal")
    assert proof.gap <= 0.3 * (1.0 + 1e-12) and proof.lower_bound <= best * (1.0 + 1e-12)
    assert proof.steps < prove(X, 1, 4).steps


def test_too_many_rows_for_blocks(monkeypatch):
    monkeypatch.setattr(node_module, "_MOST_BYTES", 100)
    X = np.random.default_rng(0).standard_normal((40, 4))
    proof = prove(X, 1, 4)
    assert proof.status == "memory_limit" and not proof.proven
    assert proof.lower_bound == 0.0 and len(proof.removed) == 4


def test_same_answer_every_time():
    X = np.random.default_rng(2).standard_normal((40, 4))
    one, other = (prove(X, 1, 4, max_steps=3) for _ in range(2))
    np.testing.assert_array_equal(one.removed, other.removed)
    assert (one.error, one.lower_bound) == (other.error, other.lower_bound)


def test_sets_are_counted():
    X = np.random.default_rng(2).standard_normal((40, 4))
    proof = prove(X, 1, 4, max_steps=1)
    assert proof.evaluations > 1024  # at least every set of one block of ten
