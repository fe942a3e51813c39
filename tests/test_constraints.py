"""Constraints as objects: what they say of partial and complete choices, and what they refuse."""

from __future__ import annotations

import pickle
import re
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from columnist.constraints import AtMost, Budget, Constraint, Groups, Requires, dummies
from tests.oracles.constrained import obeys

NAMES = ["a", "b", "c", "d", "e"]


def every_subset(items):
    return chain.from_iterable(combinations(items, k) for k in range(len(items) + 1))


@st.composite
def constraints(draw, n: int):
    """A constraint for n columns."""
    kind = draw(st.sampled_from([Groups, Budget, AtMost, Requires]))
    column, some = st.integers(0, n - 1), st.lists(st.integers(0, n - 1), min_size=1, unique=True)
    if kind is Groups:
        return Groups(draw(st.lists(st.integers(0, n), min_size=n, max_size=n)))
    if kind is Budget:
        costs = draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 1.0, 3.0]), min_size=n, max_size=n))
        return Budget(costs, draw(st.sampled_from([0.0, 0.3, 1.0, 4.0])))
    if kind is AtMost:
        return AtMost(draw(some), draw(st.integers(0, 3)))
    return Requires(draw(column), draw(some))


@given(st.data())
def test_no_choice_that_obeys_is_lost(data):
    n = data.draw(st.integers(1, 6))
    constraint = data.draw(constraints(n)).resolve(n, None)
    order = data.draw(st.permutations(range(n)))
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2)))
    chosen, candidates = np.sort(order[:first]).astype(int), np.sort(order[first:last]).astype(int)
    scores = np.array(data.draw(st.lists(st.integers(-3, 9), min_size=n, max_size=n)), float)
    limit = data.draw(st.integers(0, n))
    allowed = constraint.allowed(chosen, candidates)
    most = constraint.most(scores[candidates], chosen, candidates, limit)
    for added in every_subset(candidates.tolist()):
        whole = frozenset({*chosen.tolist(), *added})
        assert constraint.obeys(sorted(whole)) == obeys(constraint, whole)
        if not obeys(constraint, whole):
            continue
        assert allowed is not None
        assert set(added) <= set(candidates[allowed].tolist())
        assert set(constraint.forced(chosen).tolist()) <= whole
        if len(added) <= limit:
            assert scores[list(added)].sum() <= most + 1e-9


@pytest.mark.parametrize(
    "constraint",
    [
        Groups(["x", "x", "y"]),
        Groups({"a": 1, "b": 1}),
        Budget([1, 2, 3], 4),
        Budget({"a": 1.5, "b": 2}, 3),
        AtMost(["a", "b"], 1),
        AtMost(np.array([0, 2]), 1),
        Requires("a", ["b", "c"]),
        Requires(np.int64(1), 0),
    ],
)
def test_they_are_values(constraint):
    same = pickle.loads(pickle.dumps(constraint))
    assert same == constraint
    assert hash(same) == hash(constraint)
    assert clone(constraint, safe=False) == constraint
    assert eval(repr(constraint)) == constraint
    with pytest.raises(AttributeError):
        constraint.columns = ()


def test_names_become_indices():
    assert Groups({"a": "x", "c": "x"}).resolve(5, NAMES).values == (0, 1, 0, 2, 3)
    assert Budget(dict.fromkeys(NAMES, 2), 3).resolve(5, NAMES).values == (2.0,) * 5
    assert AtMost(["b", "e"], 1).resolve(5, NAMES).columns == (1, 4)
    assert Requires("b", ["e", -5]).resolve(5, NAMES) == Requires(1, [4, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Groups(3), "must hold one value per column"),
        (lambda: Groups("ab"), "must hold one value per column"),
        (lambda: Groups([1, 2]).resolve(3, None), "Groups holds 2 labels, but X has 3 columns"),
        (lambda: Groups({"z": 1}).resolve(5, NAMES), "'z', which X does not have"),
        (lambda: Groups({"a": 1}).resolve(5, None), "X has no column names"),
        (lambda: Budget([1, -1], 2), "the cost of column 1 must be a number >= 0"),
        (lambda: Budget([1, float("nan")], 2), "the cost of column 1 must be a number >= 0"),
        (lambda: Budget({"a": float("inf")}, 2), "the cost of column 'a' must be a number >= 0"),
        (lambda: Budget([1], -2), "budget must be a number >= 0"),
        (lambda: Budget([1], "2"), "budget must be a number >= 0"),
        (lambda: Budget({"a": 1, "b": 1}, 2).resolve(5, NAMES), "no cost for 'c', 'd', 'e'"),
        (lambda: Budget([1, 2], 2).resolve(5, NAMES), "holds 2 costs, but X has 5 columns"),
        (lambda: AtMost(["a"], 1.5), "m must be an integer >= 0"),
        (lambda: AtMost(["z"], 1).resolve(5, NAMES), "AtMost names the column 'z'"),
        (lambda: AtMost([7], 1).resolve(5, NAMES), "AtMost holds the index 7"),
        (lambda: Requires("a", ["z"]).resolve(5, NAMES), "Requires names the column 'z'"),
    ],
)
def test_bad_ones_are_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_a_group_needs_no_name():
    resolved = Groups({"a": None, "b": None}).resolve(3, ["a", "b", "c"])
    assert resolved.obeys([0, 1])
    assert resolved.obeys([2])
    assert not resolved.obeys([0])


def test_sums_of_decimal_fractions_fit():
    assert Budget([0.1, 0.2], 0.3).obeys([0, 1])


def test_one_method_is_enough():
    class Even(Constraint):
        def obeys(self, subset):
            return len(subset) % 2 == 0

    chosen = np.array([0])
    assert Even().allowed(chosen, np.array([1, 2])).tolist() == [True, True]
    assert Even().most(np.array([1.0, -2.0, 3.0]), chosen, np.arange(1, 4), 1) >= 3.0
    assert len(Even().forced(chosen)) == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_become_groups(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"size": [1, 2, 3], "colour": ["b", "a", "b"], "new": [True] * 3})
    X, groups = dummies(frame)
    assert type(X) is type(frame)
    assert list(X.columns) == ["size", "colour_a", "colour_b", "new"]
    assert np.asarray(X["colour_b"]).tolist() == [1.0, 0.0, 1.0]
    assert groups == Groups(["size", "colour", "colour", "new"])
    dates = frames.DataFrame({"day": np.array(["2020-01-01"], dtype="datetime64[ns]")})
    with pytest.raises(ValueError, match="'day' holds dates"):
        dummies(dates)
    with pytest.raises(ValueError, match="'a' has missing values"):
        dummies(frames.DataFrame({"a": ["x", None]}))
    with pytest.raises(ValueError, match="Two columns would be named 'a_x'"):
        dummies(frames.DataFrame({"a": ["x"], "a_x": [1]}))


def test_categories_may_be_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Categorical([1, 2, 1])}, index=[7, 8, 9])
    X, _ = dummies(frame)
    assert list(X.columns) == ["a_1", "a_2"]
    assert X.index.tolist() == [7, 8, 9]
    with pytest.raises(ValueError, match="takes a pandas or polars data frame"):
        dummies(np.eye(2))
