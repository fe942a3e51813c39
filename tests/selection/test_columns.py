"""The column problems: every number of a node against enumeration."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from columnist.criteria import Frobenius, Nuclear, Spectral, get_criterion
from columnist.linalg._reduce import reduce_data
from columnist.search._downdates import best_goals
from columnist.search._problem import Demand, SubsetProblem, check_problem
from columnist.selection._branch import Workspace
from columnist.selection._columns import FrobeniusColumns, InvariantColumns, column_problem
from tests.examples import examples
from tests.oracles.brute_force import subset_error
from tests.soak.oracle import ColumnTruth
from tests.strategies import CRITERIA, KINDS, random_matrix, tolerance


class Case:
    """A random problem and a node in it."""

    def __init__(self, kind, n, size, n_chosen, criterion, n_components, with_target, seed):
        rng = np.random.default_rng(seed)
        self.X = random_matrix(kind, int(rng.integers(3, 9)), n, rng)
        self.Y = rng.integers(-2, 3, (len(self.X), 2)).astype(float) if with_target else None
        self.criterion, self.n_components = criterion, n_components
        reduced = reduce_data(self.X, self.Y)
        self.size = min(size, max(reduced.rank, 1))
        self.problem = column_problem(
            reduced, self.size, criterion=criterion, n_components=n_components
        )
        order = rng.permutation(n).astype(np.int32)
        n_chosen = min(n_chosen, self.size - 1)
        self.chosen, self.candidates = order[:n_chosen].copy(), order[n_chosen:].copy()
        self.left = self.size - n_chosen
        self.tol = tolerance(criterion, self.X if self.Y is None else self.Y)

    def error(self, subset):
        return subset_error(self.X, subset, self.criterion, self.n_components, self.Y)

    def completions(self):
        for rest in combinations(self.candidates.tolist(), self.left):
            yield rest, self.error([*self.chosen, *rest])

    def expand(self, **demand):
        demand = Demand(**{"threshold": np.inf} | demand)
        return self.problem.expand(self.chosen, self.candidates, demand, 0)


cases = st.builds(
    Case,
    st.sampled_from(KINDS),
    st.integers(2, 7),
    st.integers(1, 4),
    st.integers(0, 3),
    st.sampled_from(CRITERIA),
    st.integers(0, 2),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)


@settings(max_examples=150)
@given(cases)
def test_values_and_completion_errors(case):
    errors = case.problem.completion_errors(case.chosen, case.candidates)
    for item, error in zip(case.candidates, errors, strict=True):
        subset = [*case.chosen, item]
        expected = case.error(subset)
        # Eigenvalues lose half the digits of a small singular value.
        loose = case.tol if isinstance(case.criterion, Frobenius) else 1e3 * case.tol
        assert error == pytest.approx(expected, rel=1e-7, abs=loose)
        assert case.problem.value(subset) == pytest.approx(expected, rel=1e-8, abs=case.tol)


@settings(max_examples=100)
@given(cases)
def test_root_bounds_enclose_the_optimum(case):
    case.chosen, case.candidates = case.problem.root()
    case.left = case.size
    f, u = case.problem.root_bounds()
    optimum = min(error for _, error in case.completions())
    assert f <= optimum + case.tol
    assert optimum <= u + case.tol
    assert u == pytest.approx(case.error([]), rel=1e-8, abs=case.tol)


@settings(max_examples=250)
@given(
    cases,
    st.one_of(st.just(np.inf), st.floats(0.0, 1.0)),
    st.sampled_from([None, "u"]),
    st.booleans(),
    st.integers(1, 3),
)
def test_nothing_below_the_threshold_is_lost(case, share, weight, shortcut, n_best):
    complete = dict(case.completions())
    if not complete:
        return
    low, high = min(complete.values()), max(complete.values())
    threshold = np.inf if share == np.inf else low + share * (high - low) + 10 * case.tol
    branches = case.expand(threshold=threshold, weight=weight, shortcut=shortcut, n_best=n_best)
    assert branches.bound == np.inf or branches.bound <= low + case.tol
    found = {tuple(sorted(set(s) - set(case.chosen.tolist()))): lower for lower, s in
             branches.goals}  # fmt: skip
    complete = {tuple(sorted(rest)): error for rest, error in complete.items()}
    for rest, lower in found.items():
        assert lower <= complete[rest] + case.tol
    worst = np.inf
    if len(found) >= n_best:
        worst = sorted(complete[rest] for rest in found)[n_best - 1]
    items = branches.items.tolist()
    if weight == "u" and items:
        for item, u in zip(items, branches.weight, strict=True):
            expected = case.error([*case.chosen, item])
            loose = case.tol if isinstance(case.criterion, Frobenius) else 1e3 * case.tol
            assert u == pytest.approx(expected, rel=1e-7, abs=loose)
    for rest, error in complete.items():
        if rest in found or error >= min(threshold, worst) - case.tol:
            continue
        assert set(rest) <= set(items)
        if branches.partitioned:
            at = max(items.index(item) for item in rest)
            assert branches.f[at] <= error + case.tol
            others = [items.index(item) for item in rest if items.index(item) != at]
            assert branches.allowed is None or branches.allowed[at, others].all()
        else:  # whatever the partition, the child of every item of the set bounds it
            for item in rest:
                assert branches.f[items.index(item)] <= error + case.tol


@settings(max_examples=80)
@given(
    st.builds(
        Case,
        st.sampled_from(KINDS),
        st.integers(3, 7),
        st.integers(2, 4),
        st.integers(0, 2),
        st.just(Frobenius()),
        st.just(0),
        st.just(False),
        st.integers(0, 2**32 - 1),
    )
)
def test_weight_b_bounds_the_best_completion(case):
    branches = case.expand(weight="b")
    complete = list(case.completions())
    for item, b in zip(branches.items.tolist(), branches.weight, strict=True):
        best = min((error for rest, error in complete if item in rest), default=0.0)
        assert b >= best - case.tol
        assert b <= case.error([*case.chosen, item]) + case.tol


def test_which_problem_serves_which_criterion():
    reduced = reduce_data(np.random.default_rng(0).standard_normal((6, 5)))
    plain = column_problem(reduced, 2, criterion=Frobenius())
    hybrid = column_problem(reduced, 2, criterion=Frobenius(), n_components=1)
    other = column_problem(reduced, 2, criterion=Spectral())
    assert isinstance(plain, FrobeniusColumns)
    assert isinstance(hybrid, InvariantColumns) and isinstance(other, InvariantColumns)
    for problem in (plain, hybrid, other):
        check_problem(problem)
        assert isinstance(problem, SubsetProblem)
        assert problem.cost() > 0.0


def test_include_and_candidates_make_the_root():
    reduced = reduce_data(np.random.default_rng(0).standard_normal((6, 5)))
    problem = column_problem(
        reduced, 3, criterion=Frobenius(), include=[4, 1], candidates=np.array([0, 1, 3])
    )
    chosen, candidates = problem.root()
    np.testing.assert_array_equal(chosen, [1, 4])
    np.testing.assert_array_equal(candidates, [0, 3])
    assert chosen.dtype == candidates.dtype == np.int32


@pytest.mark.parametrize("criterion", [Frobenius(), Spectral()], ids=str)
def test_a_complete_root_is_its_own_goal(criterion):
    X = np.random.default_rng(0).standard_normal((6, 5))
    problem = column_problem(reduce_data(X), 2, criterion=criterion, include=[0, 3])
    branches = problem.expand(*problem.root(), Demand(np.inf), 0)
    ((lower, subset),) = branches.goals
    assert subset == (0, 3)
    assert lower == pytest.approx(subset_error(X, subset, criterion))
    assert len(branches.items) == 0


@pytest.mark.parametrize("criterion", [Frobenius(), Spectral()], ids=str)
def test_true_errors_replace_reduced_ones(criterion):
    reduced = reduce_data(np.random.default_rng(0).standard_normal((6, 5)))
    reduced = replace(reduced, exact=False)  # its errors are lower bounds only
    problem = column_problem(
        reduced, 2, criterion=criterion, evaluate=lambda subset, limit: (42.0, 42.0)
    )
    assert problem.value([0, 1]) == 42.0


def exact_error(criterion, lengths, subset, n_components) -> float:
    """Error of a choice of orthogonal columns whose lengths are whole numbers: no rounding."""
    rest = sorted((int(x) for j, x in enumerate(lengths) if j not in subset), reverse=True)
    rest = rest[n_components:] or [0]
    if isinstance(criterion, Frobenius):
        return float(sum(x * x for x in rest))
    return float(rest[0] if isinstance(criterion, Spectral) else sum(rest))


@pytest.mark.parametrize("n_components", [0, 1])
@pytest.mark.parametrize("criterion", [Frobenius(), Spectral(), Nuclear()], ids=str)
def test_bounds_carry_their_rounding(criterion, n_components):
    """Orthogonal columns leave no gap between bound and error: whatever rounds up is seen."""
    for seed in range(examples(100)):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(10**5, 10**6, 8)
        # Sixteen signs have the length 4.
        signs = rng.permutation(hadamard(16).astype(float))[:, rng.permutation(16)[:8]]
        problem = column_problem(
            reduce_data(signs * (lengths / 4)), 3, criterion=criterion, n_components=n_components
        )
        best = min(
            exact_error(criterion, lengths, S, n_components) for S in combinations(range(8), 3)
        )
        assert problem.root_bounds()[0] <= best
        for threshold in (np.inf, np.nextafter(best, np.inf)):
            demand = Demand(threshold, shortcut=False)
            branches = problem.expand(*problem.root(), demand, 0)
            assert branches.bound <= best
            assert branches.f.min() <= best


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2), st.integers(2, 4))
def test_components_catch_what_no_candidate_spans(seed, n_components, n_others):
    """Columns that may not be chosen count as target, and components are free."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((10, 5 + n_others))
    X[:, 5:] *= 10.0 ** rng.uniform(-1, 2)
    for criterion in CRITERIA:
        problem = column_problem(
            reduce_data(X), 2, criterion=criterion, n_components=n_components,
            candidates=np.arange(5, dtype=np.int32),
        )  # fmt: skip
        best = min(subset_error(X, S, criterion, n_components) for S in combinations(range(5), 2))
        best += tolerance(criterion, X)
        branches = problem.expand(*problem.root(), Demand(np.inf), 0)
        assert min([*branches.f, *(lower for lower, _ in branches.goals)]) <= best
        assert branches.bound == np.inf or branches.bound <= best
        # Here nothing is explored to its end, and the bounds of the children count.
        branches = problem.expand(*problem.root(), Demand(np.inf, shortcut=False), 0)
        assert max(branches.f.min(), branches.bound) <= best


# -- rounding that grows -------------------------------------------------------------------


def close_columns(seed: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Columns of which two, and a sum of two, are nearly the same; and a target."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((10, 7)), rng.standard_normal((10, 2))
    X[:, 4] = X[:, 0] + apart * X[:, 4]
    X[:, 5] = X[:, 1] + X[:, 2] + apart * X[:, 5]
    return X, Y


CLOSE = pytest.mark.parametrize("apart", [1e-4, 1e-6, 1e-8])
GROWING = pytest.mark.parametrize(
    ("criterion", "n_components"),
    [(Frobenius(), 0), (Frobenius(), 1), (Spectral(), 0), (Nuclear(), 0), (Nuclear(), 1)],
    ids=str,
)


def below(bound: float, error: float) -> bool:
    """Up to the last digits of the oracle."""
    return bound <= error + 1e-14 * abs(error)


@CLOSE
@GROWING
def test_bounds_carry_the_growth_of_rounding(criterion, n_components, apart):
    """No child of a node with near copies, chosen or not, is bounded above its completions."""
    for seed in range(examples(16)):
        X, Y = close_columns(seed, apart)
        truth = ColumnTruth(X, Y, 3, criterion=str(criterion), n_components=n_components)
        problem = column_problem(
            reduce_data(X, Y), 3, criterion=criterion, n_components=n_components
        )
        for chosen in ([], [0], [3], [0, 4], [0, 3], [4, 5]):
            others = np.setdiff1d(np.arange(7), chosen).astype(np.int32)
            for shortcut in (False, True):
                demand = Demand(np.inf, n_best=40, shortcut=shortcut, effort=1e9)
                found = problem.expand(np.array(chosen, dtype=np.int32), others, demand, 0)
                for lower, subset in found.goals:
                    assert below(lower, truth.of(subset)[1])
                for at, item in enumerate(found.items):
                    free = found.items[:at] if found.partitioned else np.setdiff1d(others, item)
                    rests = combinations(free.tolist(), 2 - len(chosen))
                    sets = [[*chosen, item, *rest] for rest in rests]
                    if np.isfinite(found.f[at]) and sets:
                        assert below(found.f[at], min(truth.of(S)[1] for S in sets))
                if np.isfinite(found.bound):
                    sets = [[*chosen, *rest] for rest in combinations(others, 3 - len(chosen))]
                    assert below(found.bound, min(truth.of(S)[1] for S in sets))


@CLOSE
@GROWING
def test_intervals_hold_the_errors_of_near_copies(criterion, n_components, apart):
    for seed in range(examples(8)):
        X, Y = close_columns(seed, apart)
        truth = ColumnTruth(X, Y, 3, criterion=str(criterion), n_components=n_components)
        problem = column_problem(
            reduce_data(X, Y), 3, criterion=criterion, n_components=n_components
        )
        for subset in combinations(range(7), 3):
            low, high = problem.interval(subset)
            least, most = truth.of(subset)
            assert below(low, most) and below(least, high)
            assert low <= problem.value(subset) <= high


@CLOSE
def test_thresholds_lose_no_near_copy(apart):
    """With the best error as the threshold, the best set is still among what is left."""
    for criterion in (Frobenius(), Nuclear(), Spectral()):
        for seed in range(16):  # few of them show a fault: none is left out
            X, Y = close_columns(seed, apart)
            truth = ColumnTruth(X, Y, 3, criterion=str(criterion))
            best = float(np.nextafter(truth.best()[0], np.inf))
            problem = column_problem(reduce_data(X, Y), 3, criterion=criterion)
            wanted = set(truth.best_set())
            for chosen in ([], [min(wanted)], sorted(wanted)[:2]):
                others = np.setdiff1d(np.arange(7), chosen).astype(np.int32)
                demand = Demand(best, shortcut=False)
                found = problem.expand(np.array(chosen, dtype=np.int32), others, demand, 0)
                kept = {int(i) for i in found.items} | {i for _, S in found.goals for i in S}
                assert wanted <= kept | set(chosen)


def test_goals_that_rounding_cannot_tell_apart_are_all_kept():
    """``n_best`` sets that are surely better, and nothing less, drop another one."""
    items = np.arange(5, dtype=np.int32)
    low = np.array([0.90, 0.95, 1.04, 1.06, 2.0])
    high = np.array([1.10, 1.05, 1.30, 1.20, 2.1])
    chosen = np.array([7], dtype=np.int32)

    def kept(n_best, threshold=np.inf):
        found = best_goals(chosen, items, low, high, Demand(threshold, n_best=n_best))
        assert all(bound == low[subset[1]] for bound, subset in found.goals)
        return [subset for _, subset in found.goals]

    assert kept(1) == [(7, 0), (7, 1), (7, 2)]
    assert kept(2) == [(7, 0), (7, 1), (7, 2), (7, 3)]
    assert kept(4) == [(7, 0), (7, 1), (7, 2), (7, 3)]
    assert kept(5) == kept(9) == [(7, i) for i in range(5)]
    assert kept(9, 1.0) == [(7, 0), (7, 1)]


def dominated(seed: int) -> np.ndarray:
    """Columns that share one direction, and differ from it, and from each other, by little."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 1)) @ rng.uniform(1.0, 2.0, (1, 8))
    return X + 10.0 ** rng.uniform(-5, -2) * rng.standard_normal((20, 8))


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear", "spectral"])
def test_bounds_hold_where_a_direction_dominates(criterion):
    """Rounding is charged on what is left: much less than on the whole, and still enough."""
    for seed in range(examples(10)):
        X = dominated(seed)
        truth = ColumnTruth(X, None, 6, criterion=criterion)
        problem = column_problem(reduce_data(X), 6, criterion=get_criterion(criterion))
        for chosen in combinations(range(8), 4):
            rest = np.setdiff1d(np.arange(8), chosen).astype(np.int32)
            demand = Demand(np.inf, shortcut=False)
            branches = problem.expand(np.array(chosen, dtype=np.int32), rest, demand, 0)
            for item, bound in zip(branches.items, branches.f, strict=True):
                others = [i for i in rest if i != item]
                best = min(truth.of((*chosen, item, other))[1] for other in others)
                assert bound <= best * (1.0 + 1e-12)


def test_a_dominating_direction_costs_little_once_it_is_chosen():
    problem = column_problem(reduce_data(dominated(0)), 6, criterion=get_criterion("frobenius"))
    chosen = np.array([0, 1, 2, 3], dtype=np.int32)
    error, _, charge = problem._brancher.additions(chosen, chosen[:0], Workspace())
    growth = problem._basis(chosen).growth
    assert problem._rounding <= charge < 0.1 * growth * problem._rounding
    assert charge < 1e-3 * error
