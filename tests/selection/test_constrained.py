"""Searches with constraints against enumeration: every constraint alone and with others, every
criterion, at every stopping point."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from columnist import ColumnSelector, SubsetClassifier, SubsetRegressor, certify, selection_path
from columnist.constraints import AtMost, Budget, Constraint, Groups, Requires
from columnist.criteria import get_criterion
from columnist.selection import ExchangeSelector, ForwardSelector, budget_path
from tests.examples import slow_if
from tests.oracles.brute_force import subset_error
from tests.oracles.constrained import best_choices, every_choice
from tests.strategies import KINDS, random_constraints, random_matrix, random_size, tolerance

CRITERIA = ("frobenius", "frobenius", "spectral", "nuclear", "schatten:0.5", "kyfan:2")
# Problems of a test, and tests: the first ones are fast.
PROBLEMS, BLOCKS = 60, 60
_CONFLICT = r"Budget|AtMost|requires|include|exclude|number of|relax"
BLOCK = pytest.mark.parametrize(
    "block", [pytest.param(i, marks=slow_if(i > 0)) for i in range(BLOCKS)]
)


def check(selector, best, tol: float, choices, limit: int | None) -> None:
    """Nothing better, nothing forbidden, and no bound above the optimum."""
    certificate = selector.certificate_
    assert tuple(selector.selected_.tolist()) in choices
    assert certificate.lower_bound <= best[0][0] + tol
    assert selector.error_ >= best[0][0] - tol
    if limit is None:
        assert certificate.status == "optimal"
    if certificate.status == "optimal":
        found = [solution.error for solution in selector.solutions_]
        assert all(tuple(solution) in choices for solution in selector.solutions_)
        assert found == pytest.approx([error for error, _ in best], rel=0.0, abs=tol)


def one_problem(seed: int) -> bool:
    """A random problem against enumeration; False if no choice obeys."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 10)), int(rng.integers(3, 9))
    X = random_matrix(KINDS[rng.integers(len(KINDS))], m, n, rng)
    Y = None if rng.random() < 0.5 else rng.standard_normal((m, int(rng.integers(1, 4))))
    constraints = random_constraints(rng, n)
    criterion, n_components = CRITERIA[rng.integers(len(CRITERIA))], int(rng.choice([0, 0, 1, 2]))
    order, given = rng.permutation(n), rng.integers(0, 2, 2)
    include, exclude = order[: given[0]].tolist(), order[2 : 2 + given[1]].tolist()
    size, n_solutions = random_size(rng, constraints, n), int(rng.choice([1, 1, 3]))
    limit = None if rng.random() < 0.5 else int(rng.integers(0, 30))
    selector = ColumnSelector(
        size, constraints=constraints, criterion=criterion, n_components=n_components,
        include=include, exclude=exclude, n_solutions=n_solutions, max_nodes=limit,
        time_limit=None,
    )  # fmt: skip
    choices = every_choice(n, constraints, size, include, exclude)
    if not choices:
        with pytest.raises(ValueError, match=_CONFLICT):
            selector.fit(X, Y)
        return False
    theta = get_criterion(criterion)
    best = best_choices(lambda s: subset_error(X, s, theta, n_components, Y), choices, n_solutions)
    check(selector.fit(X, Y), best, tolerance(theta, X if Y is None else Y), set(choices), limit)
    return True


@BLOCK
def test_no_bound_is_false(block):
    tried = [one_problem(seed) for seed in range(PROBLEMS * block, PROBLEMS * (block + 1))]
    assert sum(tried) > PROBLEMS // 4


@BLOCK
def test_larger_problems_at_every_stopping_point(block):
    """More columns: relaxation, screening and branching all have something to do."""
    rng = np.random.default_rng(block)
    n = 12
    X = rng.standard_normal((20, n)) @ (np.eye(n) + 0.4 * rng.standard_normal((n, n)))
    Y = None if block % 2 else rng.standard_normal((20, 1 + block % 3))
    constraints = random_constraints(rng, n)
    size = random_size(rng, constraints, n)
    choices = every_choice(n, constraints, size)
    theta = get_criterion("frobenius")
    if not choices:
        return
    best = best_choices(lambda s: subset_error(X, s, theta, 0, Y), choices, 1)
    for limit in (0, 1, 2, 3, 5, 8, 20, None):
        selector = ColumnSelector(size, constraints=constraints, max_nodes=limit, time_limit=None)
        check(selector.fit(X, Y), best, tolerance(theta, X), set(choices), limit)


@pytest.mark.parametrize("constraint", [
    Groups([0, 0, 1, 1, 2, 3]), Budget([1, 2, 1, 3, 2, 1], 5), AtMost([0, 1, 2], 1),
    Requires(3, [1, 5]),
])  # fmt: skip
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_regression_and_classes(constraint, alpha):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal(30)
    choices = every_choice(6, [constraint], 2)
    model = SubsetRegressor(2, alpha=alpha, constraints=[constraint]).fit(X, y)

    def error(subset):
        A = X[:, subset] - X[:, subset].mean(axis=0)
        b = np.linalg.solve(A.T @ A + alpha * np.eye(len(subset)), A.T @ (y - y.mean()))
        return np.square(y - y.mean() - A @ b).sum() + alpha * b @ b

    best = best_choices(error, choices, 1)[0]
    assert (model.certificate_.status, tuple(model.selected_)) == ("optimal", best[1])
    assert model.error_ == pytest.approx(best[0])
    labels = (y > 0).astype(int)
    classes = SubsetClassifier(2, constraints=[constraint], alpha=alpha + 0.1).fit(X, labels)
    assert classes.certificate_.status == "optimal"
    assert tuple(classes.selected_) in set(choices)
    objectives = [
        SubsetClassifier(len(s), alpha=alpha + 0.1, include=list(s)).fit(X, labels).error_
        for s in choices
    ]
    assert classes.error_ == pytest.approx(min(objectives))


def test_bounds_of_one_size_say_nothing_of_others():
    """With a budget the best two columns may be worse than the best one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    y = X[:, 0] + 0.1 * rng.standard_normal(40)
    budget = Budget([5, 1, 2, 2, 3], 5)
    path = selection_path(X, 3, y=y, constraints=[budget])
    assert path.errors[1] > path.errors[0]
    assert (path.lower_bounds <= path.errors).all()
    assert path.lower_bounds == pytest.approx(path.errors)
    model = SubsetRegressor("bic", constraints=[budget]).fit(X, y)
    assert model.selected_.tolist() == [0]
    assert model.path_.proven
    assert (model.path_.lower_bounds <= model.path_.errors * (1 + 1e-9)).all()


def test_a_path_has_the_sizes_that_are_possible():
    X = np.random.default_rng(0).standard_normal((20, 6))
    path = selection_path(X, 5, constraints=[AtMost([0, 1, 2, 3], 1)])
    assert path.sizes.tolist() == [1, 2, 3]
    grouped = selection_path(X, 2, constraints=[Groups([0, 0, 0, 1, 1, 1])])
    assert grouped.sizes.tolist() == [3, 6]


class _LastTwo(Constraint):
    """Of two columns only the last ones; nothing is known of it but whether a selection obeys."""

    def obeys(self, subset) -> bool:
        return len(subset) != 2 or sorted(subset) == [4, 5]


def test_a_size_for_which_nothing_was_found_is_named(monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 6))
    whole = selection_path(X, 3, constraints=[_LastTwo()])
    assert whole.sizes.tolist() == [1, 2, 3] and whole[1].selection.tolist() == [4, 5]
    monkeypatch.setattr("columnist.selection._feasible._DEAD_ENDS", 0)
    with pytest.warns(ConvergenceWarning, match=r"there may be one\. .* left out: 2\.") as told:
        path = selection_path(X, 3, constraints=[_LastTwo()])
    assert path.sizes.tolist() == [1, 3] and told[0].filename == __file__


def test_certify_compares_with_what_obeys():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 6))
    budget = Budget([1, 1, 1, 2, 2, 2], 3)
    best = ColumnSelector(constraints=[budget]).fit(X)
    assert certify(X, best.selected_, constraints=[budget]).status == "optimal"
    worse = certify(X, [0], constraints=[budget])
    assert worse.better == tuple(best.selected_)
    with pytest.raises(ValueError, match="columns do not obey a budget of 3"):
        certify(X, [3, 4], constraints=[budget])


def test_copies_with_different_costs_are_different():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    X = np.column_stack([X, X])
    selector = ColumnSelector(constraints=[Budget([3, 3, 3, 1, 1, 1], 3)]).fit(X)
    assert selector.selected_.tolist() == [3, 4, 5]
    assert selector.certificate_.status == "optimal"


def test_columns_that_add_nothing_are_left_out():
    X = np.column_stack([np.eye(4)[:, :2], np.zeros(4), np.eye(4)[:, 0]])
    selector = ColumnSelector(constraints=[Budget([1, 1, 1, 1], 4)]).fit(X)
    assert selector.selected_.tolist() == [0, 1]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(threads):
    X = np.random.default_rng(3).standard_normal((30, 14))
    budget = Budget(np.random.default_rng(0).integers(1, 9, 14), 20)
    limited = ColumnSelector(constraints=[budget], max_nodes=20, n_jobs=threads).fit(X)
    alone = ColumnSelector(constraints=[budget], max_nodes=20).fit(X)
    assert limited.selected_.tolist() == alone.selected_.tolist()
    assert limited.certificate_.lower_bound == pytest.approx(alone.certificate_.lower_bound)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"constraints": [Budget([5, 1, 1, 1], 3)], "include": [0]},
         "Budget of 3 cannot pay for the included column '0', which costs 5."),
        ({"constraints": [Budget([2, 2, 1, 1], 3)], "include": [0, 1]},
         "Budget of 3 cannot pay for the 2 included columns, which cost 4 together."),
        ({"constraints": [Budget([2, 2, 3, 3], 1)]},
         "Budget of 1 cannot pay for any column: the cheapest costs 2."),
        ({"constraints": [Budget([2, 2, 3, 3], 6)], "n_features_to_select": 3},
         "Budget of 6 cannot pay for 3 columns: the cheapest cost 7."),
        ({"constraints": [AtMost([0, 1, 2], 2)], "include": [0, 1, 2], "n_features_to_select": 3},
         "AtMost 2 of 0, 1, 2 and include, which asks for 3 of them, conflict."),
        ({"constraints": [AtMost([0, 1, 2], 1)], "n_features_to_select": 3},
         "There is room for 2 columns with at most 1 of 0, 1, 2, but 3 are to be selected"),
        ({"constraints": [Groups([0, 0, 1, 1])], "n_features_to_select": 3},
         "between 1 and the number of groups (2); got 3"),
        ({"constraints": [Groups([0, 0, 1, 1])], "n_features_to_select": 1, "include": [0, 2]},
         "include asks for 2 groups with all that they bring along, but only 1"),
        ({"constraints": [Groups([0, 0, 1, 1])], "n_features_to_select": 1, "include": [0],
          "exclude": [1]},
         "include names '0', but '1' of the same group is excluded"),
        ({"constraints": [Requires(0, [1])], "include": [0], "exclude": [1]},
         "'0' must be selected, and requires '1', which is excluded."),
        ({"constraints": [Requires(0, [1]), Requires(1, [0])], "n_features_to_select": 1,
          "exclude": [2, 3]}, "No selection of 1 columns obeys"),
        ({"constraints": [Groups([0, 0, 1, 1]), Groups([0, 1, 0, 1])]}, "several Groups"),
        ({"constraints": Budget([1, 1, 1, 1], 2)}, "constraints must be a list of constraints"),
        ({"constraints": ["a"]}, "constraints must be a list of constraints"),
        ({"constraints": [AtMost([0], 1)], "search": "greedy"}, "does not go with constraints"),
        ({"constraints": [AtMost([0], 1)], "n_features_to_select": "auto", "tol": 0.1},
         "does not go with constraints"),
    ],
)  # fmt: skip
def test_conflicts_have_names(given, message):
    X = np.random.default_rng(0).standard_normal((10, 4))
    with pytest.raises(ValueError) as caught:
        ColumnSelector(**given).fit(X)
    assert message in str(caught.value)


@pytest.mark.parametrize("rule", ["aic", "bic", "ebic"])
def test_information_criteria_do_not_count_groups(rule):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)
    with pytest.raises(ValueError, match="counts columns, but Groups selects groups"):
        SubsetRegressor(rule, constraints=[Groups([0, 0, 1, 1])]).fit(X, y)
    assert len(SubsetRegressor("cv", constraints=[Groups([0, 0, 1, 1])]).fit(X, y).path_) == 2


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
@pytest.mark.parametrize("seed", range(20))
def test_fast_selectors_obey(criterion, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 7))
    constraints = random_constraints(rng, 7)
    size = random_size(rng, constraints, 7)
    choices = set(every_choice(7, constraints, size))
    for make in (
        lambda: ForwardSelector(size, constraints=constraints, criterion=criterion),
        lambda: ExchangeSelector(
            size, constraints=constraints, criterion=criterion, n_starts=3, random_state=0
        ),
    ):
        if not choices:
            with pytest.raises(
                ValueError,
                match=_CONFLICT,
            ):
                make().fit(X)
            continue
        selector = make().fit(X)
        assert tuple(sorted(selector.selected_.tolist())) in choices
        theta = get_criterion(criterion)
        assert selector.error_ == pytest.approx(subset_error(X, sorted(selector.selected_), theta))
        assert (np.diff(selector.errors_) <= 1e-9).all()


def far_apart() -> type[Constraint]:
    """The class of the how-to."""
    path = Path(__file__).parents[2] / "examples" / "extending" / "plot_custom_constraint.py"
    text, space = path.read_text(encoding="utf-8").split("# The data\n")[0], {"__name__": "sensors"}
    exec(compile(text, path, "exec", dont_inherit=True), space)
    return space["FarApart"]


@pytest.mark.parametrize("seed", range(10))
def test_the_constraint_of_the_how_to(seed):
    rng = np.random.default_rng(seed)
    n, places = 9, rng.uniform(0.0, 1.0, (9, 2))
    X = rng.standard_normal((15, n)) @ (np.eye(n) + 0.5 * rng.standard_normal((n, n)))
    constraint = far_apart()(tuple(map(tuple, places.tolist())), 0.4)
    for _ in range(50):
        order, scores = rng.permutation(n), rng.standard_normal(n)
        chosen, candidates = np.sort(order[:2]), np.sort(order[2:])
        allowed, limit = constraint.allowed(chosen, candidates), int(rng.integers(0, 4))
        most = constraint.most(scores[candidates], chosen, candidates, limit)
        for added in (c for k in range(limit + 1) for c in combinations(candidates.tolist(), k)):
            if constraint.obeys([*chosen, *added]):
                assert set(added) <= set(candidates[allowed].tolist())
                assert scores[list(added)].sum() <= most + 1e-9
    theta = get_criterion("frobenius")
    choices = every_choice(n, [constraint], 3)
    best = best_choices(lambda s: subset_error(X, s, theta), choices, 2)
    for limit in (0, 2, None):
        selector = ColumnSelector(
            3, constraints=[constraint], n_solutions=2, max_nodes=limit, time_limit=None
        )
        check(selector.fit(X), best, tolerance(theta, X), set(choices), limit)


def test_a_path_of_budgets():
    rng = np.random.default_rng(0)
    X, costs = rng.standard_normal((20, 6)), [1, 2, 3, 1, 2, 3]
    path = budget_path(X, costs, [5, 2, 12], constraints=[AtMost([0, 3], 1)])
    assert path.budgets.tolist() == [2, 5, 12]
    assert (np.diff(path.errors) <= 1e-9).all()
    assert path.lower_bounds == pytest.approx(path.errors)
    assert "budget" in repr(path)
    for step in path:
        best = ColumnSelector(constraints=[Budget(costs, step.budget), AtMost([0, 3], 1)]).fit(X)
        assert best.error_ == pytest.approx(step.certificate.error)


def test_whole_categories_may_be_dependent():
    """All levels of a category sum to the intercept, and may be copies of another category."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 3, (40, 4))
    levels[:, 3] = levels[:, 0]
    X = np.hstack([np.eye(3)[levels[:, j]] for j in range(4)])
    y = X @ rng.standard_normal(12) + 0.1 * rng.standard_normal(40)
    groups = Groups([j // 3 for j in range(12)])
    for k in (1, 2, 3):
        model = SubsetRegressor(k, constraints=[groups]).fit(X, y)
        assert model.certificate_.status == "optimal"
        assert len(model.selected_) == 3 * k
    free = ColumnSelector(2, centering="mean", constraints=[groups]).fit(X)
    choices = every_choice(12, [groups], 2)
    centred = X - X.mean(axis=0)
    theta = get_criterion("frobenius")
    errors = [subset_error(centred, choice, theta) for choice in choices]
    assert free.error_ == pytest.approx(min(errors))
    assert free.certificate_.status == "optimal"


@pytest.mark.parametrize("change", [1e-9, 1e9, "shift", "short"])
def test_scales_change_nothing(change):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 10))
    budget = Budget(rng.integers(1, 9, 10).tolist(), 15)
    y = X[:, 0] + X[:, 1] + rng.standard_normal(30)
    expected = ColumnSelector(constraints=[budget], centering="mean").fit(X, y)
    changed = X.copy()
    if change == "shift":
        changed += 1e5
    elif change == "short":
        changed[:, ::2] *= 1e-8
    else:
        changed *= change
    found = ColumnSelector(constraints=[budget], centering="mean").fit(changed, y)
    assert found.selected_.tolist() == expected.selected_.tolist()
    assert found.certificate_.lower_bound <= expected.error_ * (1 + 1e-6)
    assert found.certificate_.status in ("optimal", "precision_limit")


def test_what_a_column_brings_along_is_possible_without_it():
    """All three columns gain most, but are one too many: of two only the first ones obey."""
    path = selection_path(np.eye(3), 2, constraints=[Requires(2, [0, 1])])
    assert [step.selection.tolist() for step in path][1] == [0, 1]
    groups = [Groups([0, 0, 0, 1, 1]), Requires(4, [0])]
    assert ColumnSelector(1, constraints=groups).fit(np.eye(5)).selected_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(8))
def test_every_choice_within_a_tolerance_is_listed(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 8))
    constraints = random_constraints(rng, 8)
    size = random_size(rng, constraints, 8)
    choices = every_choice(8, constraints, size)
    if not choices:
        return
    theta = get_criterion("frobenius")
    errors = {choice: subset_error(X, choice, theta) for choice in choices}
    limit = 1.1 * min(errors.values())
    selector = ColumnSelector(size, constraints=constraints, solution_tol=0.1, time_limit=None)
    listed = {tuple(solution) for solution in selector.fit(X).solutions_}
    assert listed >= {choice for choice, error in errors.items() if error < limit * (1 - 1e-9)}
    assert listed <= {choice for choice, error in errors.items() if error <= limit * (1 + 1e-9)}
