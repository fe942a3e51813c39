from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.criteria import Frobenius
from columnist.robust import _block_proof as node_module
from columnist.robust._block_proof import Incumbent, Node
from columnist.robust._errors import RowErrors
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


# -- nodes ---------------------------------------------------------------------------


def never():
    return False


def started(X, r, k, removed, centred=True):
    errors = RowErrors(X, r, Frobenius(), "optimal" if centred else "none")
    best = Incumbent(errors, k, 1e-9, never)
    best.offer_removed(np.array(removed))
    return best


def root(best, keep=(), remove=()):
    must_keep, must_remove = (np.zeros(len(best.X), dtype=bool) for _ in range(2))
    must_keep[list(keep)], must_remove[list(remove)] = True, True
    return Node(best, must_keep, must_remove)


def finish(nodes):
    """Work on all nodes until they are closed; returns the stages."""
    steps = 0
    while nodes:
        node = nodes.pop()
        nodes += node.step() or ([] if node.closed else [node])
        steps += 1
        assert steps < 5000
    return steps


def test_incumbent_takes_better_sets_only():
    X = np.random.default_rng(0).standard_normal((8, 3))
    errors = row_errors(X, 1, 2)
    order = sorted(errors, key=errors.get)
    best = started(X, 1, 2, order[5])
    assert best.error == pytest.approx(errors[order[5]])
    best.offer_removed(np.array(order[9]))
    assert set(np.flatnonzero(~best.kept)) == set(order[5])
    best.offer_removed(np.array(order[0]))
    assert set(np.flatnonzero(~best.kept)) == set(order[0])
    assert best.error * (1 - 2e-9) < best.threshold < best.error


def test_incumbent_calls_rounding_zero():
    X = np.outer(np.arange(1.0, 9.0), [0.1, 0.7, 0.3])
    X[2] += [1.0, 0.0, 5.0]
    best = started(X, 1, 1, [2])
    assert best.error == 0.0 == best.threshold


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("few", [1, 256])
def test_forced_rows(monkeypatch, centred, few):
    # The best set among those with given places, for every place of two rows.
    monkeypatch.setattr(node_module, "_FEW", few)
    X = np.random.default_rng(1).standard_normal((10, 3))
    errors = row_errors(X, 1, 3, centering="optimal" if centred else "none")
    for keep, remove in (([2], [7]), ([2, 7], []), ([], [2, 7])):
        inside = {
            S: e for S, e in errors.items() if not set(S) & set(keep) and set(remove) <= set(S)
        }
        # start from a bad set, so that the node has to find its own
        best = started(X, 1, 3, max(inside, key=inside.get), centred)
        finish([root(best, keep, remove)])
        # a node may also come across better sets elsewhere
        assert min(errors.values()) <= best.error * (1.0 + 1e-9)
        assert best.error <= min(inside.values()) * (1.0 + 1e-8)


@pytest.mark.parametrize("prices", [0.0, 2.0])
def test_bound_holds_for_the_node(monkeypatch, prices):
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_MANY_PRICES", prices)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    X = np.random.default_rng(2).standard_normal((11, 3))
    errors = row_errors(X, 1, 3)
    inside = min(e for S, e in errors.items() if 4 not in S and 1 in S)
    best = started(X, 1, 3, min(errors, key=errors.get))
    node, bounds = root(best, [4], [1]), [0.0]
    for _ in range(30):
        if node.closed or node.step():
            break
        bounds.append(node.bound)
        assert node.bound <= max(inside, best.threshold)
        kept, removed = node.decided()
        assert kept[4] and removed[1] and not (kept & removed).any()
    assert bounds == sorted(bounds) and len(bounds) > 1


def test_children_share_the_sets_of_their_parent(monkeypatch):
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    monkeypatch.setattr(node_module, "_PROGRESS", 1.0)
    monkeypatch.setattr(node_module, "_HARDLY_PRUNED", 0.0)
    monkeypatch.setattr(node_module, "_FRESH", 0.0)
    monkeypatch.setattr(node_module, "block_size", lambda n, d: 3)
    X = np.random.default_rng(3).standard_normal((10, 3))
    best = started(X, 1, 3, [0, 1, 2])
    node = root(best)
    children = []
    while not children:
        children = node.step()
    one, other = children
    row = one.row
    assert row == other.row and one.must_keep[row] and other.must_remove[row]
    assert not (one.must_remove[row] or other.must_keep[row])
    np.testing.assert_array_equal(np.delete(one.must_keep, row), np.delete(other.must_keep, row))
    assert one.bound == other.bound == node.bound
    assert row == next(r for r in node.needs.rows if r in np.flatnonzero(~_decided(node)))
    parents_sets = node.n_sets
    for child in children:
        assert child.step() == [] and not child.closed
        assert child.contraction is node.contraction and child.n_sets < parents_sets
    assert one.decided()[0][row] and other.decided()[1][row]
    assert node.n_sets == parents_sets
    finish(children)
    errors = row_errors(X, 1, 3)
    assert best.error == pytest.approx(min(errors.values()), rel=1e-8)


def slow(monkeypatch, size):
    """No bound rises fast enough; blocks of ``size`` rows in the end."""
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    monkeypatch.setattr(node_module, "_PROGRESS", 1.0)
    monkeypatch.setattr(node_module, "block_size", lambda n, d: size)


@pytest.mark.parametrize("hardly_pruned", [0.0, 1.0])
def test_halves_are_paired_before_anything_else(monkeypatch, hardly_pruned):
    slow(monkeypatch, 8)
    monkeypatch.setattr(node_module, "_HARDLY_PRUNED", hardly_pruned)
    X = np.random.default_rng(7).standard_normal((16, 3))
    errors = row_errors(X, 1, 3)
    best = started(X, 1, 3, max(errors, key=errors.get))
    node = root(best)
    node.step()
    # rows of similar need; those on which all sets agree have left their block
    quarters = [set(rows) for rows in node.needs.rows.reshape(4, 4)]
    assert not node.paired and len(node.blocks.blocks) == 4
    assert all(set(b.rows) <= q for b, q in zip(node.blocks.blocks, quarters, strict=True))
    while not node.paired:
        assert node.step() == []
    one, other = (set(block.rows) for block in node.blocks.blocks)
    assert one <= quarters[0] | quarters[1] and other <= quarters[2] | quarters[3]
    assert node.bound <= min(errors.values())
    finish([node])
    assert best.error == pytest.approx(min(errors.values()), rel=1e-8)


def _decided(node):
    kept, removed = node.decided()
    return kept | removed


def test_starts_again_with_all_directions(monkeypatch):
    monkeypatch.setattr(node_module, "_FEW", 1)
    X = np.random.default_rng(4).standard_normal((14, 5)) * [5.0, 2.0, 1.0, 0.05, 0.05]
    errors = row_errors(X, 1, 3)
    best = started(X, 1, 3, min(errors, key=errors.get))
    node = Node(best, np.zeros(14, dtype=bool), np.zeros(14, dtype=bool), loss=0.1)
    node.step()
    assert node.contraction.lost > 0.0 and node.contraction.rows.shape[1] < 6
    node.crowded, node.closed = True, False
    node.bound = best.error * (1.0 - node.contraction.lost)
    (again,) = node.step()
    again.step()
    assert again.closed or again.contraction.lost == 0.0


def test_lists_too_long_to_merge(monkeypatch):
    monkeypatch.setattr(node_module, "_FEW", 1)
    monkeypatch.setattr(node_module, "_CHUNK", 1)
    monkeypatch.setattr(node_module, "_PROGRESS", 1.0)
    monkeypatch.setattr(node_module, "_HARDLY_PRUNED", 1.0)
    monkeypatch.setattr(node_module, "_TOO_LONG", 1)
    monkeypatch.setattr(node_module, "block_size", lambda n, d: 4)
    X = np.random.default_rng(5).standard_normal((12, 3))
    errors = row_errors(X, 1, 3)
    best = started(X, 1, 3, max(errors, key=errors.get))
    finish([root(best)])
    assert best.error == pytest.approx(min(errors.values()), rel=1e-8)


def test_out_of_time_closes_nothing(monkeypatch):
    X = np.random.default_rng(6).standard_normal((12, 3))
    best = Incumbent(RowErrors(X, 1, Frobenius(), "optimal"), 3, 1e-9, lambda: True)
    best.offer_removed(np.array([0, 1, 2]))
    for few in (1, 1000):
        monkeypatch.setattr(node_module, "_FEW", few)
        node = root(best)
        assert node.step() == [] and not node.closed and node.bound == 0.0
