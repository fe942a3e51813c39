"""The compiled branching kernel against a plain NumPy twin and enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist.linalg._reduce import reduce_data
from columnist.linalg._residual import graded_basis
from columnist.selection._branch import FrobeniusBrancher, Workspace
from tests.strategies import KINDS, random_matrix

CONSTANT = 0.25


class Node:
    """A node of a random problem, with everything in plain NumPy."""

    def __init__(self, kind, n, n_chosen, seed, with_target=False, rows=None):
        rng = np.random.default_rng(seed)
        X = random_matrix(kind, rows or int(rng.integers(2, 10)), n, rng)
        X[0, X.any(axis=0) == 0] = 1.0  # the kernel is not asked about zero matrices
        Y = rng.standard_normal((len(X), 2)) if with_target else None
        reduced = reduce_data(X, Y)
        self.columns, self.weights = reduced.columns, reduced.weights
        order = rng.permutation(n).astype(np.int32)
        n_chosen = min(n_chosen, self.columns.shape[1] - 1, n - 1)
        self.chosen, self.candidates = np.sort(order[:n_chosen]), order[n_chosen:].copy()
        self.brancher = FrobeniusBrancher(self.columns, self.weights, CONSTANT, 0.0)
        self.tol = 1e-10 * (self.weights.sum() + CONSTANT)

    def basis(self, subset):
        """Orthonormal basis of some columns."""
        A = self.columns[list(subset)].T
        A = A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        U, s, _ = np.linalg.svd(A, full_matrices=False)
        return U[:, s > 1e-10]

    def error(self, subset):
        Q = self.basis(subset)
        return CONSTANT + self.weights.sum() - np.einsum("i,ij,ij->", self.weights, Q, Q)

    def bound(self, subset, candidates, t):
        """Error minus what t free directions within the candidates' span can catch."""
        Q = self.basis(subset)
        outer = self.basis([*subset, *candidates])
        P = outer - Q @ (Q.T @ outer)
        U, s, _ = np.linalg.svd(P, full_matrices=False)
        inside = U[:, s > 0.5]
        H = (inside.T * self.weights) @ inside
        top = np.linalg.eigvalsh(H)[::-1][:t] if len(H) else np.zeros(0)
        return self.error(subset) - top.sum()

    def free_bound(self, subset, t):
        """Error minus what any t directions can catch."""
        Q = self.basis(subset)
        P = np.eye(len(Q)) - Q @ Q.T
        return self.error(subset) - np.linalg.eigvalsh((P * self.weights) @ P)[::-1][:t].sum()

    def independent(self):
        """Whether no candidate depends on the chosen columns and the other candidates."""
        every = [*self.chosen, *self.candidates]
        rank = self.basis(every).shape[1]
        return rank in (len(every), len(self.weights))

    def completions(self, t):
        return sorted(
            (self.error([*self.chosen, *rest]), tuple(sorted(int(i) for i in rest)))
            for rest in combinations(self.candidates, t)
        )

    def children(self, t, threshold=np.inf, **options):
        return self.brancher.children(
            self.chosen, self.candidates, t, threshold, Workspace(), **options
        )


nodes = st.builds(
    Node,
    st.sampled_from(KINDS),
    st.integers(2, 8),
    st.integers(0, 3),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)


@settings(max_examples=200)
@given(nodes, st.integers(1, 4))
def test_children_equal_the_twin(node, t):
    bound, kept, f, u, *_ = node.children(t)
    if len(node.candidates) < t:
        assert bound == np.inf and len(kept) == 0
        return
    tight = node.bound(node.chosen, node.candidates, t)
    if node.independent():
        assert bound == pytest.approx(tight, abs=node.tol)
    else:  # never worse than free directions outside the chosen columns
        assert node.free_bound(node.chosen, t) - node.tol <= bound <= tight + node.tol
    assert sorted(kept.tolist()) == sorted(node.candidates.tolist())
    for item, child_f, child_u in zip(kept, f, u, strict=True):
        assert child_u == pytest.approx(node.error([*node.chosen, item]), abs=node.tol)
        others = [i for i in node.candidates if i != item]
        assert child_f <= max(node.bound([*node.chosen, item], others, t - 1), bound) + node.tol
        if node.independent():
            loose = node.bound([*node.chosen, item], node.candidates, t - 1)
            assert child_f >= max(loose, bound) - node.tol


@settings(max_examples=200)
@given(nodes, st.integers(1, 4), st.floats(0.0, 1.0), st.sampled_from([0.0, 1e5, 1e9]))
def test_nothing_below_the_threshold_is_lost(node, t, share, budget):
    complete = node.completions(t)
    if not complete:
        return
    low, high = complete[0][0], complete[-1][0]
    threshold = low + share * (high - low) + 1e-3 * node.weights.sum()
    n_best = 3
    bound, kept, f, _, errors, items, *_ = node.children(t, threshold, budget=budget, n_best=n_best)
    assert bound == np.inf or bound <= low + node.tol
    found = {tuple(sorted(row.tolist())): e for row, e in zip(items, errors, strict=True)}
    for subset, error in found.items():
        assert error == pytest.approx(node.error([*node.chosen, *subset]), abs=node.tol)
    # What a full list of complete sets makes uninteresting may be dropped.
    worst = max(errors, default=np.inf) if len(errors) == n_best else np.inf
    position = {int(item): i for i, item in enumerate(kept)}
    for error, subset in complete:
        if error >= min(threshold, worst) - node.tol or subset in found:
            continue
        # Every other set lies in exactly one child: the one of its last item.
        assert all(item in position for item in subset)
        last = max(position[item] for item in subset)
        assert f[last] <= error + node.tol


@settings(max_examples=200)
@given(nodes, st.integers(2, 3), st.integers(1, 6), st.one_of(st.just(np.inf), st.floats(0.2, 1)))
def test_completions_are_the_best(node, t, n_best, share):
    complete = node.completions(t)
    # Nobody asks for more columns than the rank; those asked for may still be dependent.
    if not complete or len(node.chosen) + t > np.linalg.matrix_rank(node.columns):
        return
    low, high = complete[0][0], complete[-1][0]
    threshold = np.inf if share == np.inf else low + share * (high - low)
    errors, items, finished, *_ = node.brancher.completions(
        node.chosen, node.candidates, t, threshold, n_best, Workspace(), 1e9
    )
    assert finished
    expected = [e for e, _ in complete if e < threshold - node.tol][:n_best]
    # Sets at the threshold may be reported or not.
    assert len(expected) <= len(errors) <= n_best
    np.testing.assert_allclose(errors[: len(expected)], expected, atol=node.tol)
    assert (np.diff(errors) >= 0).all()
    sets = {tuple(sorted(row.tolist())) for row in items}
    assert len(sets) == len(items)
    for error, row in zip(errors, items, strict=True):
        assert set(row.tolist()) <= set(node.candidates.tolist())
        assert error == pytest.approx(node.error([*node.chosen, *row]), abs=node.tol)


@settings(max_examples=60)
@given(nodes)
def test_additions_are_errors(node):
    error, errors, _ = node.brancher.additions(node.chosen, node.candidates, Workspace())
    assert error == pytest.approx(node.error(node.chosen), abs=node.tol)
    expected = [node.error([*node.chosen, item]) for item in node.candidates]
    np.testing.assert_allclose(errors, expected, atol=node.tol)


def test_too_few_candidates():
    node = Node("gaussian", 3, 0, 0, rows=6)
    few = node.candidates[:1].copy()
    errors, items, *_ = node.brancher.completions(node.chosen, few, 2, np.inf, 1, Workspace(), 1e9)
    assert len(errors) == len(items) == 0
    bound, kept, *_ = node.brancher.children(node.chosen, few, 2, np.inf, Workspace())
    assert bound == np.inf and len(kept) == 0


def test_threshold_below_the_node_keeps_nothing():
    node = Node("gaussian", 8, 1, 0, rows=9)
    low = node.bound(node.chosen, node.candidates, 3)
    bound, kept, *_ = node.children(3, low - 1e-6)
    assert len(kept) == 0
    assert bound >= low - 1e-6
    errors, *_ = node.brancher.completions(
        node.chosen, node.candidates, 3, low - 1e-6, 2, Workspace(), 1e9
    )
    assert len(errors) == 0


def test_a_shorter_list_tightens_the_bounds():
    # With few candidates left the bound looks at their span only.
    node = Node("gaussian", 9, 0, 3, rows=9)
    few = np.sort(node.candidates)[:4].copy()
    bound = node.brancher.children(node.chosen, few, 2, np.inf, Workspace())[0]
    loose = node.bound((), range(9), 2)
    assert bound > loose + 1e-3
    assert bound == pytest.approx(node.bound((), few, 2), abs=node.tol)


def test_allowance_is_subtracted_from_every_bound():
    node = Node("gaussian", 7, 2, 1, rows=9)
    cautious = FrobeniusBrancher(node.columns, node.weights, CONSTANT, 0.125)
    plain = node.children(3)
    found = cautious.children(node.chosen, node.candidates, 3, np.inf, Workspace())
    chosen = node.columns[node.chosen]
    heights = np.abs(np.diag(np.linalg.qr(chosen.T)[1]))
    growth = (np.linalg.norm(chosen, axis=1) / heights).max()
    assert found.bound == pytest.approx(plain.bound - 0.125 * growth, abs=1e-12)
    # The lower a candidate's residual, the more of its digits are gone.
    mine, theirs = np.argsort(found.kept), np.argsort(plain.kept)
    np.testing.assert_array_equal(found.kept[mine], plain.kept[theirs])
    assert (found.f[mine] <= plain.f[theirs] - 0.125 * growth + 1e-12).all()
    assert (found.u[mine] <= plain.u[theirs] - 0.125 * (growth - 1.0) + 1e-12).all()


def test_a_workspace_is_reused_and_changes_nothing():
    space = Workspace()
    assert space.nbytes == 0
    large, small = Node("gaussian", 8, 1, 0, rows=9), Node("duplicates", 4, 1, 1, rows=5)
    for node in (small, large, small, large):
        fresh = node.children(2)
        again = node.brancher.children(node.chosen, node.candidates, 2, np.inf, space)
        for a, b in zip(fresh, again, strict=True):
            np.testing.assert_array_equal(a, b)
    held = space.nbytes
    assert held > 0
    small.brancher.children(small.chosen, small.candidates, 2, np.inf, space)
    assert space.nbytes == held


def test_a_spent_budget_is_told():
    # Columns so alike that inner products cannot tell their sets apart: each needs a QR.
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((1, 30)) + 1e-7 * rng.standard_normal((40, 30))
    weights = np.zeros(30)
    weights[0] = 1.0
    brancher = FrobeniusBrancher(columns, weights, 0.0, 1e-13)
    everything = np.arange(40, dtype=np.int32)
    found = brancher.completions(everything[:0], everything, 3, np.inf, 1, Workspace(), 1e6)
    assert not found.finished


@pytest.mark.parametrize("n_columns", [140, 200])
def test_a_long_list_that_filtering_shortens_is_explored_in_its_own_memory(n_columns):
    """Few directions carry nearly everything: most of the columns drop out at once."""
    rng = np.random.default_rng(0)
    sources = rng.standard_normal((2000, 8)) * 2.0 ** -np.arange(8)
    X = sources @ rng.standard_normal((8, n_columns))
    X += 0.02 * rng.standard_normal(X.shape)
    reduced = reduce_data(X)
    brancher = FrobeniusBrancher(reduced.columns, reduced.weights, 0.0, 0.0)
    start = np.linalg.svd(X, compute_uv=False)[5:] ** 2
    threshold = 1.2 * start.sum() / reduced.scale**2
    everything = np.arange(n_columns, dtype=np.int32)
    for budget in (1e3, 1e6, 1e7):
        nothing, space = np.zeros(0, dtype=np.int32), Workspace()
        found = brancher.children(nothing, everything, 5, threshold, space, n_best=3, budget=budget)
        kept, errors, items = found[1], found[4], found[5]
        assert 0 < len(kept) <= 128 < n_columns  # 128: the longest list that is explored
        assert budget < 1e6 or found[6][0] > 0
        for error, columns in zip(errors, items, strict=True):
            Q, _ = np.linalg.qr(X[:, columns])
            left = np.linalg.norm(X - Q @ (Q.T @ X)) ** 2 / reduced.scale**2
            assert error == pytest.approx(left)


def test_columns_that_span_nothing_are_no_matter_for_lapack(capfd):
    """It would refuse a matrix without rows, and say so where results are printed."""
    brancher = FrobeniusBrancher(np.zeros((6, 0)), np.zeros(0), CONSTANT, 0.0)
    chosen, left = np.array([4, 1], dtype=np.int32), np.array([0, 2, 3, 5], dtype=np.int32)
    error, errors, _ = brancher.additions(chosen, left, Workspace())
    assert error == CONSTANT and errors.tolist() == 4 * [CONSTANT]
    for t in (1, 2, 3, 4):
        found = brancher.children(chosen, left, t, np.inf, Workspace(), budget=1e6)
        assert found[0] == CONSTANT and sorted(found[1].tolist()) == left.tolist()
    for t in (2, 3):
        found = brancher.completions(chosen, left, t, np.inf, 2, Workspace(), 1e6)
        assert found[0].tolist() == 2 * [CONSTANT]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("n_chosen", [3, 4, 9, 40])
@pytest.mark.parametrize("independent", [1, 2, 3])
def test_more_columns_may_be_chosen_than_there_are_dimensions(n_chosen, independent):
    rng = np.random.default_rng(n_chosen)
    columns = rng.standard_normal((n_chosen + 6, 3))
    columns[:n_chosen] = rng.standard_normal((n_chosen, independent)) @ columns[:independent]
    weights = np.array([3.0, 2.0, 1.0])
    brancher = FrobeniusBrancher(columns, weights, CONSTANT, 0.0)
    every = np.arange(len(columns), dtype=np.int32)
    chosen, left = every[:n_chosen], every[n_chosen:]
    error, errors, _ = brancher.additions(chosen, left, Workspace())
    bound, kept, f, *_ = brancher.children(chosen, left, 1, np.inf, Workspace())
    assert bound <= error
    twin = [_left_error(columns[[*chosen, item]], weights) for item in left]
    assert error == pytest.approx(_left_error(columns[chosen], weights))
    np.testing.assert_allclose(errors, twin, atol=1e-12)
    np.testing.assert_allclose(f, errors[kept - n_chosen], atol=1e-12)


def _left_error(rows, weights):
    U, s, _ = np.linalg.svd(rows.T, full_matrices=False)
    Q = U[:, s > 1e-10 * s[0]]
    return CONSTANT + weights.sum() - np.einsum("i,ij,ij->", weights, Q, Q)


# -- rounding ----------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("apart", [1.0, 1e-3, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15])
def test_rounding_grows_as_that_of_the_twin(apart, power):
    """The kernel leaves out the columns that the NumPy code leaves out, and charges as much."""
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((6, 8))
    columns[3] = columns[0] + apart * columns[3]
    weights, allowance = np.sort(rng.uniform(1.0, 2.0, 8))[::-1].copy(), 1e-14
    brancher = FrobeniusBrancher(columns, weights, 0.0, allowance, power)
    chosen = np.array([0, 1, 3], dtype=np.int32)
    basis = graded_basis(columns, chosen, np.linalg.norm(columns, axis=1), power)
    error, _, charge = brancher.additions(chosen, chosen[:0], Workspace())
    left = weights.sum() - np.einsum("i,ij,ij->", weights, basis.Q, basis.Q)
    assert error == pytest.approx(left, abs=1e-12 + 1e-15 * basis.growth ** (1 / power))
    grown = np.inf if basis.doubtful else basis.growth
    # Heights are known up to their own rounding.
    assert charge / allowance == pytest.approx(grown, rel=1e-2)


def tied(n: int) -> FrobeniusBrancher:
    """Columns of which all sets of a size are equally good."""
    return FrobeniusBrancher(np.eye(n), np.ones(n), 0.0, 1e-12)


@pytest.mark.parametrize("t", [2, 3])
@pytest.mark.parametrize("n_best", [1, 4])
def test_sets_without_room_leave_a_floor(t, n_best):
    """Of more sets that tie than are reported, the others are not forgotten."""
    chosen, candidates = np.empty(0, dtype=np.int32), np.arange(12, dtype=np.int32)
    found = tied(12).completions(chosen, candidates, t, np.inf, n_best, Workspace(), 1e9)
    assert found.finished
    assert len(found.errors) < len(list(combinations(range(12), t)))
    np.testing.assert_allclose(found.errors, 12.0 - t)
    assert 12.0 - t - 1e-9 < found.floor <= 12.0 - t
    few = tied(4).completions(chosen, candidates[:4], t, np.inf, n_best, Workspace(), 1e9)
    assert len(few.errors) == len(list(combinations(range(4), t))) and few.floor == np.inf


def test_exploring_leaves_a_floor_too():
    chosen, candidates = np.empty(0, dtype=np.int32), np.arange(12, dtype=np.int32)
    found = tied(12).children(chosen, candidates, 4, np.inf, Workspace(), 1e9, 1)
    assert np.isinf(found.f).any()  # explored to their end
    assert len(found.errors) == 33 and found.floor <= 8.0
