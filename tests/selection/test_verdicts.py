"""Pools with a tolerance and verdicts on columns, against enumeration of all subsets."""

from __future__ import annotations

import itertools
import pickle
import warnings
from functools import lru_cache

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from columnist import ColumnSelector, SubsetClassifier, SubsetRegressor, column_verdicts
from columnist.criteria import Criterion, Frobenius
from columnist.selection._task import Sizes
from columnist.selection._verdicts import verdicts_of
from tests.examples import examples
from tests.oracles.brute_force import best_subsets
from tests.real_data import load_vehicle, load_wdbc
from tests.strategies import CRITERIA, KINDS, random_matrix, tolerance

pytestmark = pytest.mark.filterwarnings("ignore:.*explain everything:UserWarning")

TOLERANCES = (0.0, 0.01, 0.1, 0.5, 0.99)


class Problem:
    """A small hostile problem, and the error of every set it allows."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(3, 9)), int(rng.integers(2, 8))
        self.X = random_matrix(str(rng.choice(KINDS)), m, n, rng)
        n = self.X.shape[1]
        if n > 2 and rng.random() < 0.3:  # copies, and near copies
            self.X[:, -1] = self.X[:, 0] * (1.0 + rng.choice([0.0, 1e-6]) * rng.random(len(self.X)))
        self.criterion = CRITERIA[int(rng.integers(len(CRITERIA)))]
        self.k = int(rng.integers(1, n + 1))
        order = rng.permutation(n).tolist()
        self.include = order[: int(rng.integers(0, self.k + 1))] if rng.random() < 0.2 else []
        free = n - self.k if rng.random() < 0.2 else 0
        self.exclude = order[n - int(rng.integers(0, free + 1)) :] if free else []
        self.y = rng.normal(size=(len(self.X), int(rng.integers(1, 3))))
        self.y = self.y if rng.random() < 0.4 else None
        self.options = {
            "criterion": self.criterion, "n_components": int(rng.choice([0, 0, 1])),
            "include": self.include, "exclude": self.exclude, "time_limit": None,
        }  # fmt: skip
        self.tol = float(rng.choice(TOLERANCES))
        self.rng = rng
        self.ranked = best_subsets(
            self.X, self.k, self.criterion, self.options["n_components"], self.y, self.include,
            self.exclude, n_solutions=10_000,
        )  # fmt: skip
        best = self.ranked[0][0]
        whole = self.X if self.y is None else self.y
        self.margin = tolerance(self.criterion, whole) + 1e-8 * best
        self.limit = (1.0 + self.tol) * best

    def within(self, slack: float) -> set[tuple[int, ...]]:
        return {subset for error, subset in self.ranked if error <= self.limit + slack}

    def check_verdicts(self, found):
        """No verdict is wrong."""
        every, surely = self.within(self.margin), self.within(-self.margin)
        for j, verdict in enumerate(found.verdicts):
            if verdict == "necessary":
                assert all(j in subset for subset in surely)
            elif verdict == "useless":
                assert all(j not in subset for subset in surely)
            elif verdict == "replaceable":
                assert len({j in subset for subset in every}) == 2
                assert found.replaceable[j]
        best = self.ranked[0][0]
        assert found.certificate.lower_bound <= best + self.margin
        assert best <= found.certificate.error + self.margin
        for i, ends in enumerate((found.error_with, found.error_without)):
            for j, (low, high) in enumerate(ends):
                errors = [e for e, subset in self.ranked if (j in subset) == (i == 0)]
                least = min(errors, default=np.inf)
                assert low <= least + self.margin
                assert least <= high + self.margin

    def check_complete(self, found):
        """What rounding leaves open is near the edge of the tolerance."""
        every, surely = self.within(self.margin), self.within(-self.margin)
        for j in found.undecided:
            sides = {j in subset for subset in surely}
            assert sides != {j in subset for subset in every} or not surely


def quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


@pytest.mark.parametrize("seed", range(examples(400, 40)))
def test_verdicts_are_those_of_enumeration(seed):
    problem = Problem(seed)
    most = int(problem.rng.choice([1, 1, 2, 3]))
    found = quiet(lambda: column_verdicts(
        problem.X, problem.k, y=problem.y, tol=problem.tol, n_solutions=most, **problem.options
    ))  # fmt: skip
    problem.check_verdicts(found)
    problem.check_complete(found)


@pytest.mark.parametrize("seed", range(examples(150, 15)))
def test_no_verdict_is_wrong_wherever_the_search_stops(seed):
    problem = Problem(10_000 + seed)
    most = int(problem.rng.choice([1, 2, 3]))
    for max_nodes in (0, 1, 2, 3, 5, 8, 13):
        found = quiet(lambda: column_verdicts(
            problem.X, problem.k, y=problem.y, tol=problem.tol, n_solutions=most,
            max_nodes=max_nodes, **problem.options,  # noqa: B023
        ))  # fmt: skip
        problem.check_verdicts(found)


@pytest.mark.parametrize("seed", range(examples(400, 40)))
def test_pools_hold_every_set_within_the_tolerance(seed):
    problem = Problem(20_000 + seed)
    stops = (None,) if seed % 4 else (None, 0, 1, 2, 5)
    for max_nodes in stops:
        selector = ColumnSelector(
            problem.k, solution_tol=problem.tol, max_nodes=max_nodes, **problem.options
        )
        quiet(lambda: selector.fit(problem.X, problem.y))  # noqa: B023
        certificate, listed = selector.certificate_, selector.solutions_
        sets = [tuple(solution) for solution in listed]
        assert len(set(sets)) == len(sets)
        errors = [solution.error for solution in listed]
        assert errors == sorted(errors)
        for one, other in itertools.pairwise(listed):
            assert one.error < other.error or tuple(one) < tuple(other)
        assert certificate.selection == tuple(listed[0])
        rest = [error for error, subset in problem.ranked if subset not in set(sets)]
        assert certificate.unlisted_bound <= min(rest, default=np.inf) + problem.margin
        if certificate.list_complete:
            assert set(sets) >= problem.within(-problem.margin)
            assert set(sets) <= problem.within(problem.margin)
        if certificate.status == "optimal":
            assert certificate.list_complete
        if max_nodes is None:
            assert certificate.status in ("optimal", "precision_limit")


def test_copies_are_listed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    X = np.column_stack([X, X[:, 2], 2.0 * X[:, 2]])
    listed = ColumnSelector(3, solution_tol=1e-6).fit(X).solutions_
    best = tuple(listed[0])
    assert 2 in best
    assert sorted(listed) == [tuple(sorted({*best} - {2} | {j})) for j in (2, 6, 7)]
    assert len({solution.error for solution in listed}) == 1
    found = column_verdicts(X, 3, tol=1e-6)
    assert found.replaceable == {2: (6,), 6: (2,), 7: (2,)}
    assert set(found.necessary) == set(best) - {2}


class Shifted(Criterion):
    """An error that may be negative."""

    name = "shifted"

    def value(self, singular_values):
        return float(np.sum(np.asarray(singular_values) ** 2)) - 100.0


def test_a_tolerance_counts_from_the_smallest_error_there_can_be():
    X = scale(np.random.default_rng(1).normal(size=(20, 6)))
    plain = ColumnSelector(2, solution_tol=0.1).fit(X)
    shifted = ColumnSelector(2, solution_tol=0.1, criterion=Shifted()).fit(X)
    assert shifted.error_ < 0.0
    assert sorted(map(tuple, shifted.solutions_)) == sorted(map(tuple, plain.solutions_))


def test_the_length_of_the_list_is_limited():
    X = np.eye(8)
    with pytest.warns(UserWarning, match="there may be more. Raise n_solutions"):
        selector = ColumnSelector(4, solution_tol=0.1, n_solutions=5).fit(X)
    assert len(selector.solutions_) == 5
    assert selector.certificate_.list_complete is False
    with pytest.warns(UserWarning, match="1000 sets within solution_tol=0.1"):
        assert len(ColumnSelector(6, solution_tol=0.1).fit(np.eye(14)).solutions_) == 1000
    plain = ColumnSelector(4).fit(X).certificate_
    assert plain.list_complete is plain.unlisted_bound is None


def test_best_subsets_for_prediction_list_what_is_within_the_tolerance():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 8))
    y = X[:, 0] + 0.3 * X[:, 1] + rng.normal(size=60)
    for model in (SubsetRegressor(2, solution_tol=0.05), SubsetRegressor("bic", solution_tol=0.05),
                  SubsetClassifier(2, solution_tol=0.05)):  # fmt: skip
        model.fit(X, y > 0.0 if isinstance(model, SubsetClassifier) else y)
        size, least = len(model.selected_), model.error_
        every = type(model)(size, n_solutions=200).fit(X, y > 0.0 if model._loss == "log" else y)
        expected = [tuple(s) for s in every.solutions_ if s.error <= 1.05 * least]
        assert [tuple(s) for s in model.solutions_] == expected
        assert model.certificate_.list_complete


@pytest.mark.parametrize("search", ["greedy", "weighted", "optimistic"])
def test_other_orders_list_what_they_find(search):
    X = np.random.default_rng(3).normal(size=(20, 8))
    selector = ColumnSelector(3, search=search, epsilon=0.5, solution_tol=0.2)
    selector.fit(X)
    limit = 1.2 * selector.error_
    assert all(solution.error <= limit * (1 + 1e-9) for solution in selector.solutions_)
    every = best_subsets(X, 3, Shifted(), n_solutions=100)
    inside = {s for e, s in every if e + 100.0 <= 1.2 * (every[0][0] + 100.0)}
    if selector.certificate_.list_complete:
        assert set(map(tuple, selector.solutions_)) == inside


def test_a_gap_that_is_accepted_leaves_the_list_incomplete():
    X = np.random.default_rng(3).normal(size=(20, 10))
    selector = ColumnSelector(4, max_gap=0.3, solution_tol=0.2).fit(X)
    assert selector.certificate_.status == "gap_reached"
    assert selector.certificate_.list_complete is False


def test_names_pickles_and_tables():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(2).normal(size=(25, 5)), columns=list("abcde"))
    found = column_verdicts(X, 2, tol=0.3, include=["b"], exclude=["e"])
    again = pickle.loads(pickle.dumps(found))
    assert again.table() == found.table()
    assert found.verdicts[1] == "necessary"
    assert found.verdicts[4] == "useless"
    lines = found.table().splitlines()
    assert lines[0].split()[:2] == ["column", "verdict"]
    assert lines[1].split()[:2] == ["b", "necessary"]
    assert {line.split()[0] for line in lines[1:]} == set("abcde")
    assert "selection   " + ", ".join(found.certificate.names) in repr(found)


def test_interrupts_and_callbacks_keep_what_is_proven():
    X = np.random.default_rng(4).normal(size=(40, 14))
    found = column_verdicts(X, 5, tol=0.1, callback=lambda progress: True)
    assert found.certificate.status == "interrupted"
    assert len(found.undecided) > 0
    done = column_verdicts(X, 5, tol=0.1)
    for early, late in zip(found.verdicts, done.verdicts, strict=True):
        assert early in (late, "undecided")


def test_same_verdicts_for_every_number_of_threads():
    X = np.random.default_rng(6).normal(size=(40, 14))
    for most in (1, 3):
        one, two = (column_verdicts(X, 5, tol=0.1, n_solutions=most, n_jobs=n) for n in (1, 2))
        assert one.table() == two.table()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 1.0}, "tol must be a number >= 0 and < 1; got 1.0"),
        ({"tol": "much"}, "tol must be a number"),
        ({"k": "auto"}, "k must be an integer >= 1"),
        ({"k": 7}, "k must be between 1 and the number of features"),
        ({"search": "greedy"}, "search must be one of 'auto', 'optimal'"),
        ({"proof": "file"}, "column_verdicts writes no proof"),
        ({"n_solutions": 0}, "n_solutions must be an integer >= 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        column_verdicts(np.eye(6), **{"k": 2} | options)


def test_optimal_warns_where_the_list_is_cut_short():
    X = np.random.default_rng(4).normal(size=(40, 14))
    with pytest.warns(ConvergenceWarning):
        ColumnSelector(5, search="optimal", solution_tol=0.1, max_nodes=0).fit(X)


@lru_cache(maxsize=3)
def every_set(name: str, k: int) -> list[tuple[float, tuple[int, ...]]]:
    R = np.linalg.qr(real_data(name), mode="r")
    return best_subsets(R, k, Frobenius(), n_solutions=10**6)


def real_data(name: str) -> np.ndarray:
    if name == "wine":
        return scale(load_wine().data)
    return scale({"wdbc": load_wdbc, "vehicle": load_vehicle}[name]())


@pytest.mark.slow
@pytest.mark.parametrize("tol", [0.01, 0.05, 0.1])
@pytest.mark.parametrize(("name", "k"), [("wine", 4), ("vehicle", 5), ("wdbc", 4)])
def test_real_data_against_every_set_within_the_tolerance(name, k, tol):
    X = real_data(name)
    ranked = every_set(name, k)
    limit = (1.0 + tol) * ranked[0][0]
    inside = {subset for error, subset in ranked if error <= limit}
    contained = [{j in subset for subset in inside} for j in range(X.shape[1])]
    words = {(True,): "necessary", (False,): "useless", (False, True): "replaceable"}
    expected = tuple(words[tuple(sorted(sides))] for sides in contained)
    found = column_verdicts(X, k, tol=tol, n_solutions=10**5, time_limit=None)
    assert set(map(tuple, found.solutions)) == inside
    assert found.certificate.list_complete
    for most in (2, 20):  # the columns that the list leaves open are forced in or out
        one = column_verdicts(X, k, tol=tol, n_solutions=most, time_limit=None)
        assert one.verdicts == found.verdicts == expected


def test_a_listing_is_not_searched_again(monkeypatch):
    """A selector that has listed the sets within the tolerance tells the same."""
    X = np.random.default_rng(5).standard_normal((30, 9))
    expected = column_verdicts(X, 3, tol=0.1)
    assert expected.certificate.list_complete
    selector = ColumnSelector(3, solution_tol=0.1).fit(X)
    monkeypatch.setattr(Sizes, "choose", None)
    found = verdicts_of(selector, X)
    assert found.verdicts == expected.verdicts and found.replaceable == expected.replaceable
    assert found.solutions == expected.solutions
    np.testing.assert_array_equal(found.error_with, expected.error_with)


def test_what_a_short_listing_leaves_open_is_searched():
    X = np.random.default_rng(5).standard_normal((30, 9))
    expected = column_verdicts(X, 3, tol=0.1)
    with pytest.warns(UserWarning, match="n_solutions"):
        selector = ColumnSelector(3, solution_tol=0.1, n_solutions=2).fit(X)
    found = verdicts_of(selector, X)
    assert "undecided" not in found.verdicts and found.verdicts == expected.verdicts
