r"""Constraints on a selection: whole groups, a budget, at most m of some columns, one only with
others.

A constraint is a small immutable object. All constraints of a list must be satisfied. Columns are
given by index or by name. To write your own, subclass :class:`Constraint` and define ``obeys``;
the other methods only make the proof faster::

    @dataclass(frozen=True)
    class NotTogether(Constraint):
        first: int
        second: int

        def obeys(self, subset):
            return not {self.first, self.second} <= set(subset)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from columnist.data._categories import coded
from columnist.data._parameters import Integer, Number
from columnist.data._validation import resolve_columns

__all__ = ["AtMost", "Budget", "Constraint", "Groups", "Requires", "dummies"]

#: Indices of columns.
Columns = Sequence[int] | np.ndarray

_COST = Number(0.0, 1e100)
# Costs that are sums of decimal fractions may exceed a budget by rounding.
_ROUNDING = 1e-9
_UNIT = float(np.finfo(np.float64).eps)


class Constraint(ABC):
    """Base class of all constraints.

    Columns are indices here: ``chosen`` (a part of a selection) and ``candidates`` (what may be
    added to it) are ascending arrays of integers.
    """

    def resolve(self, n_features: int, names: Sequence[str] | None) -> Constraint:
        """This constraint for data with so many columns, names replaced by indices."""
        return self

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe the constraint in a few words, with the names of the columns."""
        return repr(self)

    @abstractmethod
    def obeys(self, subset: Columns) -> bool:
        """Whether a complete selection satisfies the constraint."""

    def allowed(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray | None:
        """Which candidates may be added, as booleans; None if nothing feasible has ``chosen``.

        A candidate may be refused only if no feasible selection contains it and ``chosen``, with no
        other columns than these and ``candidates``.
        """
        return np.ones(len(candidates), dtype=bool)

    def forced(self, chosen: np.ndarray) -> np.ndarray:
        """Columns that every feasible selection with ``chosen`` contains."""
        return np.empty(0, dtype=np.int32)

    def most(
        self, scores: np.ndarray, chosen: np.ndarray, candidates: np.ndarray, limit: int
    ) -> float:
        """Upper bound on the sum of the scores of up to ``limit`` candidates that complete
        ``chosen`` to a feasible selection. There is one score per candidate, of any sign."""
        return _top(scores, limit)

    def conflict(
        self, include: np.ndarray, available: np.ndarray, names: Sequence[str]
    ) -> str | None:
        """Why no feasible selection contains ``include`` and uses ``available`` columns only, as a
        sentence; None if there is no such reason. ``names`` are those of all columns, for
        messages."""
        return None


class _PerColumn(Constraint):
    """A constraint with one value per column: a sequence, or a mapping from names."""

    columns: tuple[str, ...] | None
    values: tuple

    def _keep(self, given: Any, what: str) -> None:
        """Take the values apart, so that this object can be hashed."""
        if isinstance(given, Mapping):
            columns: tuple | None = tuple(given)
            values = tuple(given.values())
        elif isinstance(given, str) or not hasattr(given, "__iter__"):
            raise ValueError(
                f"{what} must hold one value per column, or map names to values; got {given!r}."
            )
        else:
            columns, values = None, tuple(given)
        plain = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "values", plain)

    @property
    def _given(self) -> Any:
        if self.columns is None:
            return self.values
        return dict(zip(self.columns, self.values, strict=True))

    def _by_index(self, n_features: int, names, what: str) -> dict[int, Any]:
        """Index -> value, for the columns that have one."""
        kind = type(self).__name__
        if self.columns is None:
            if len(self.values) != n_features:
                raise ValueError(
                    f"{kind} holds {len(self.values)} {what}, but X has {n_features} columns."
                )
            return dict(enumerate(self.values))
        indices = [resolve_columns(kind, [c], n_features, names)[0] for c in self.columns]
        if len(set(indices)) < len(indices):
            raise ValueError(f"{kind} names a column twice.")
        return dict(zip(indices, self.values, strict=True))


@dataclass(frozen=True, init=False, repr=False)
class Groups(_PerColumn):
    """Whole groups of columns: all of a group are selected, or none.

    With it, ``n_features_to_select`` counts groups.

    Parameters
    ----------
    labels : sequence or dict
        Label of the group of each column, or name -> label; a column that the mapping leaves out
        is a group of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.constraints import Groups
    >>> X = np.random.default_rng(0).standard_normal((20, 5))
    >>> selector = ColumnSelector(2, constraints=[Groups(["a", "a", "b", "b", "c"])]).fit(X)
    >>> selector.selected_
    array([2, 3, 4])
    """

    columns: tuple[str, ...] | None
    values: tuple[Hashable, ...]

    def __init__(self, labels: Sequence[Hashable] | Mapping[str, Hashable]):
        self._keep(labels, "labels")

    @property
    def labels(self) -> Any:
        """The labels as they were given."""
        return self._given

    def __repr__(self) -> str:
        return f"Groups({self.labels!r})"

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe the constraint in a few words, with the names of the columns."""
        return "whole groups"

    def resolve(self, n_features: int, names: Sequence[str] | None) -> Groups:
        """The same with the number of a group for every column."""
        given = self._by_index(n_features, names, "labels")
        numbers: dict[Hashable, int] = {}
        alone = (("no label", j) for j in range(n_features))
        every = [("label", given[j]) if j in given else key for j, key in enumerate(alone)]
        return Groups([numbers.setdefault(label, len(numbers)) for label in every])

    @cached_property
    def numbers(self) -> np.ndarray:
        """Number of the group of every column, once resolved."""
        return np.array(self.values, dtype=np.intp)

    def obeys(self, subset: Columns) -> bool:
        """Whether all groups are whole."""
        return len(self.forced(np.asarray(subset, dtype=np.intp))) == len(set(subset))

    def allowed(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Candidates of groups that are still whole."""
        present = np.bincount(self.numbers[chosen], minlength=len(self.numbers))
        present += np.bincount(self.numbers[candidates], minlength=len(self.numbers))
        return (present >= self._sizes)[self.numbers[candidates]]

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.bincount(self.numbers, minlength=len(self.numbers))

    def forced(self, chosen: np.ndarray) -> np.ndarray:
        """The groups of the chosen columns."""
        return np.flatnonzero(np.isin(self.numbers, self.numbers[chosen]))

    def most(
        self, scores: np.ndarray, chosen: np.ndarray, candidates: np.ndarray, limit: int
    ) -> float:
        """Groups of which the sum is positive."""
        sums = np.bincount(self.numbers[candidates], scores)
        return min(float(np.maximum(sums, 0.0).sum()), _top(scores, limit))

    def conflict(
        self, include: np.ndarray, available: np.ndarray, names: Sequence[str]
    ) -> str | None:
        """An included column whose group is not available."""
        missing = np.setdiff1d(self.forced(include), available)
        if not len(missing):
            return None
        gone = missing[0]
        kept = include[self.numbers[include] == self.numbers[gone]][0]
        return (
            f"include names {names[kept]!r}, but {names[gone]!r} of the same group is excluded: "
            "groups are selected whole."
        )


@dataclass(frozen=True, init=False, repr=False)
class Budget(_PerColumn):
    """The costs of the selected columns do not exceed a budget.

    With ``n_features_to_select=None`` any number of columns within the budget may be selected.

    Parameters
    ----------
    costs : sequence or dict
        Cost of each column, or name -> cost, with a cost for every column.
    budget : float
        The most that they may cost together.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.constraints import Budget
    >>> X = np.random.default_rng(0).standard_normal((20, 4))
    >>> ColumnSelector(constraints=[Budget([1, 2, 3, 4], 5)]).fit(X).selected_
    array([0, 2])
    """

    columns: tuple[str, ...] | None
    values: tuple[float, ...]
    budget: float

    def __init__(self, costs: Sequence[float] | Mapping[str, float], budget: float):
        self._keep(costs, "costs")
        _COST.check("budget", budget)
        columns = self.columns or range(len(self.values))
        for column, cost in zip(columns, self.values, strict=True):
            _COST.check(f"the cost of column {column!r}", cost)
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        object.__setattr__(self, "budget", float(budget))

    @property
    def costs(self) -> Any:
        """The costs as they were given."""
        return self._given

    def __repr__(self) -> str:
        return f"Budget({self.costs!r}, {self.budget!r})"

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe the constraint in a few words, with the names of the columns."""
        return f"a budget of {self.budget:g}"

    def resolve(self, n_features: int, names: Sequence[str] | None) -> Budget:
        """The same with a cost for every column, by index."""
        given = self._by_index(n_features, names, "costs")
        missing = [j for j in range(n_features) if j not in given]
        if missing:
            shown = ", ".join(repr(str(j) if names is None else str(names[j])) for j in missing[:5])
            raise ValueError(
                f"Budget has no cost for {shown}{', ...' if len(missing) > 5 else ''}: give every "
                "column a cost, 0 if it is free."
            )
        return Budget([given[j] for j in range(n_features)], self.budget)

    @cached_property
    def prices(self) -> np.ndarray:
        """Cost of every column, once resolved."""
        return np.array(self.values, dtype=np.float64)

    @property
    def limit(self) -> float:
        """The budget, and what rounding may do to a sum of costs."""
        return self.budget * (1.0 + _ROUNDING)

    def left(self, chosen: np.ndarray) -> float:
        """What a part of a selection leaves of the budget, not less than it does."""
        return self.limit - fsum(self.prices[chosen]) + 1e-3 * _ROUNDING * self.limit

    def obeys(self, subset: Columns) -> bool:
        """Whether the costs are within the budget."""
        return fsum(self.prices[list(subset)]) <= self.limit

    def allowed(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray | None:
        """Candidates that the remaining budget allows."""
        left = self.left(chosen)
        return None if left < 0.0 else self.prices[candidates] <= left

    def most(
        self, scores: np.ndarray, chosen: np.ndarray, candidates: np.ndarray, limit: int
    ) -> float:
        """The most if parts of columns could be bought: those with the best ratio first."""
        left, good = self.left(chosen), np.asarray(scores) > 0.0
        values, costs = np.asarray(scores)[good], self.prices[candidates[good]]
        order = np.argsort(-values / np.maximum(costs, 1e-300), kind="stable")
        shares = _shares_paid(costs[order], max(left, 0.0))
        paid = float(values[order] @ shares) * (1.0 + 4.0 * (len(values) + 4) * _UNIT)
        return min(paid, _top(scores, limit))

    def conflict(
        self, include: np.ndarray, available: np.ndarray, names: Sequence[str]
    ) -> str | None:
        """Included columns that cost too much, or no column within the budget."""
        start = f"Budget of {self.budget:g} cannot pay for"
        for column in include:
            if not self.obeys([column]):
                cost = self.prices[column]
                return f"{start} the included column {names[column]!r}, which costs {cost:g}."
        if not self.obeys(include):
            total = fsum(self.prices[include])
            return f"{start} the {len(include)} included columns, which cost {total:g} together."
        if not len(include) and self.allowed(include, available) is not None:
            cheapest = float(self.prices[available].min(initial=np.inf))
            if cheapest > self.limit:
                return f"{start} any column: the cheapest costs {cheapest:g}."
        return None


@dataclass(frozen=True)
class AtMost(Constraint):
    """At most ``m`` of some columns are selected.

    Parameters
    ----------
    columns : sequence of int or str
        The columns.
    m : int
        How many of them may be selected.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.constraints import AtMost
    >>> X = np.random.default_rng(0).standard_normal((20, 5)) * [9, 8, 7, 1, 1]
    >>> ColumnSelector(3, constraints=[AtMost([0, 1, 2], 2)]).fit(X).selected_
    array([1, 2, 3])
    """

    columns: tuple[int | str, ...]
    m: int

    def __init__(self, columns: Sequence[int | str], m: int):
        Integer(0).check("m", m)
        object.__setattr__(self, "columns", _listed(columns))
        object.__setattr__(self, "m", int(m))

    def __repr__(self) -> str:
        return f"AtMost({list(self.columns)!r}, {self.m})"

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe the constraint in a few words, with the names of the columns."""
        return f"at most {self.m} of {_few(self.columns, names)}"

    def resolve(self, n_features: int, names: Sequence[str] | None) -> AtMost:
        """The same with indices."""
        return AtMost(resolve_columns("AtMost", self.columns, n_features, names), self.m)

    @cached_property
    def _is_one(self) -> np.ndarray:
        """Whether a column is one of them; the last entry stands for all beyond."""
        is_one = np.zeros(max(self.columns, default=-1) + 2, dtype=bool)  # type: ignore[operator]
        is_one[list(self.columns)] = True  # type: ignore[index]
        return is_one

    def _among(self, items: np.ndarray) -> np.ndarray:
        return self._is_one[np.minimum(items, len(self._is_one) - 1)]

    def obeys(self, subset: Columns) -> bool:
        """Whether it holds no more of them."""
        return len(set(self.columns) & set(map(int, subset))) <= self.m

    def allowed(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray | None:
        """All, or those that are none of these columns."""
        left = self.m - int(self._among(chosen).sum())
        if left < 0:
            return None
        return np.ones(len(candidates), dtype=bool) if left else ~self._among(candidates)

    def most(
        self, scores: np.ndarray, chosen: np.ndarray, candidates: np.ndarray, limit: int
    ) -> float:
        """The best of these columns that may still be selected, and the best others."""
        among = self._among(candidates)
        left = max(self.m - int(self._among(chosen).sum()), 0)
        best = np.sort(scores[among])[::-1][:left]
        return _top(np.concatenate([scores[~among], best]), limit)

    def conflict(
        self, include: np.ndarray, available: np.ndarray, names: Sequence[str]
    ) -> str | None:
        """Too many of them are included."""
        asked = int(self._among(include).sum())
        if asked <= self.m:
            return None
        shown = _few(self.columns, names)
        return f"AtMost {self.m} of {shown} and include, which asks for {asked} of them, conflict."


@dataclass(frozen=True)
class Requires(Constraint):
    """A column is selected only together with all of some others.

    Parameters
    ----------
    column : int or str
        The column.
    others : sequence of int or str
        The columns that must be selected with it.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist import ColumnSelector
    >>> from columnist.constraints import Requires
    >>> X = np.random.default_rng(0).standard_normal((20, 4)) * [1, 1, 2, 9]
    >>> ColumnSelector(2, constraints=[Requires(3, [0])]).fit(X).selected_
    array([0, 3])
    """

    column: int | str
    others: tuple[int | str, ...]

    def __init__(self, column: int | str, others: Sequence[int | str]):
        object.__setattr__(self, "column", _plain(column))
        object.__setattr__(self, "others", _listed(others))

    def __repr__(self) -> str:
        return f"Requires({self.column!r}, {list(self.others)!r})"

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Describe the constraint in a few words, with the names of the columns."""
        return f"{_few([self.column], names)} only with {_few(self.others, names)}"

    def resolve(self, n_features: int, names: Sequence[str] | None) -> Requires:
        """The same with indices."""
        column, *more = resolve_columns("Requires", [self.column], n_features, names)
        assert not more
        others = resolve_columns("Requires", self.others, n_features, names)
        return Requires(column, [other for other in others if other != column])

    def obeys(self, subset: Columns) -> bool:
        """Whether the others are there if the column is."""
        there = set(map(int, subset))
        return self.column not in there or set(self.others) <= there

    def forced(self, chosen: np.ndarray) -> np.ndarray:
        """The others, once the column is chosen."""
        if not (chosen == self.column).any():
            return np.empty(0, dtype=np.int32)
        return np.array(self.others, dtype=np.int32)

    def allowed(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """All, but not the column if one of the others is gone."""
        mask = np.ones(len(candidates), dtype=bool)
        at = np.flatnonzero(candidates == self.column)
        if len(at) and not np.isin(self.others, np.concatenate([chosen, candidates])).all():
            mask[at] = False
        return mask

    def conflict(
        self, include: np.ndarray, available: np.ndarray, names: Sequence[str]
    ) -> str | None:
        """The column is included, but another is not there."""
        missing = np.setdiff1d(self.forced(include), available)
        if not len(missing):
            return None
        return (
            f"{names[int(self.column)]!r} must be selected, and requires {names[missing[0]]!r}, "
            "which is excluded."
        )


def _listed(columns: Any) -> tuple:
    """Columns as a tuple of plain indices and names."""
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        columns = [columns]
    return tuple(dict.fromkeys(_plain(column) for column in columns))


def _few(columns: Sequence[int | str], names: Sequence[str] | None) -> str:
    """The first ones, for messages."""
    shown = [c if names is None or isinstance(c, str) else names[c] for c in columns[:5]]
    return ", ".join(map(str, shown)) + (", ..." if len(columns) > 5 else "")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _top(scores: np.ndarray, limit: int) -> float:
    """The largest sum of at most ``limit`` scores, not less than it is."""
    if limit <= 0:
        return 0.0
    positive = np.maximum(scores, 0.0)
    if limit < len(positive):
        positive = np.partition(positive, len(positive) - limit)[len(positive) - limit :]
    return float(positive.sum()) * (1.0 + 4.0 * (len(positive) + 4) * _UNIT)


def _shares_paid(costs: np.ndarray, left: float) -> np.ndarray:
    """The share of each column that is paid, if they are bought in this order."""
    before = np.cumsum(costs) - costs
    return np.where(
        costs > 0.0, np.clip((left - before) / np.where(costs > 0.0, costs, 1.0), 0.0, 1.0), 1.0
    )


def dummies(frame: Any) -> tuple[Any, Groups]:
    """Turn columns of categories into columns of zeros and ones, with their groups.

    Parameters
    ----------
    frame : pandas or polars data frame
        Columns of numbers or booleans stay as they are; each other column, and each one of a
        categorical type, becomes one column per category.

    Returns
    -------
    frame : data frame of the same kind
        Numbers only.
    groups : Groups
        One group per column of the given frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from columnist.constraints import dummies
    >>> X, groups = dummies(pd.DataFrame({"size": [1, 2], "colour": ["red", "blue"]}))
    >>> list(X.columns), groups.labels
    (['size', 'colour_blue', 'colour_red'], ('size', 'colour', 'colour'))
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "dtypes"):
        raise ValueError(
            f"dummies takes a pandas or polars data frame; got {type(frame).__name__}."
        )
    columns: dict[str, np.ndarray] = {}
    labels: list[str] = []
    for name in map(str, frame.columns):
        for made, values in _numeric(name, frame[name]):
            if made in columns:
                raise ValueError(f"Two columns would be named {made!r}: rename one of them.")
            columns[made] = values
            labels.append(name)
    index = {"index": frame.index} if hasattr(frame, "index") else {}
    return type(frame)(columns, **index), Groups(labels)


def _numeric(name: str, series: Any) -> list[tuple[str, np.ndarray]]:
    """A column of numbers, or one for each category."""
    values = np.asarray(series)
    kind = str(series.dtype).lower()
    if values.dtype.kind in "fiub" and not kind.startswith(("category", "categorical", "enum")):
        return [(name, values)]
    if values.dtype.kind in "mM":
        raise ValueError(f"The column {name!r} holds dates: turn them into numbers first.")
    missing = [value is None or value != value for value in values.tolist()]
    if any(missing):
        raise ValueError(f"The column {name!r} has missing values: fill them in, or name them.")
    return list(coded(name, values.tolist()).items())
