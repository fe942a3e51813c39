from __future__ import annotations

import numpy as np
import pytest

from columnist.criteria import Frobenius
from columnist.robust import _node as node_module
from columnist.robust._errors import RowErrors
from columnist.robust._node import Incumbent, Node
from tests.oracles.outliers import row_errors


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
