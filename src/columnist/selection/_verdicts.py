"""Proven verdicts on single columns: necessary, useless, or replaceable by others.

One search lists the sets within the tolerance; if the list is complete, it decides every column.
Where a limit or the length of the list leaves columns open, each of them is forced in, or out, by
a search of its own that stops as soon as it has found a set within the tolerance, or shown that
there is none. Each search returns intervals for the errors of the sets that it found, and a lower
bound for all others; verdicts follow from these numbers only, so they hold even if a search was
stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from columnist._text import between
from columnist.data._parameters import Number, StrOptions
from columnist.linalg._rounding import AGREEMENT, EPS, above
from columnist.search._certificate import Certificate, listing
from columnist.search._interrupts import expired, keeps_answer, pending
from columnist.search._log import Progress
from columnist.search._run import within
from columnist.selection._certified import ColumnSelector
from columnist.selection._task import (
    Options,
    Outcome,
    Sizes,
    Solution,
    ranked_solutions,
)

_ORDER = ("necessary", "replaceable", "undecided", "useless")


@dataclass(frozen=True)
class ColumnVerdicts:
    """What is proven about each column, for all sets of one size that obey the constraints.

    Attributes
    ----------
    verdicts : tuple of str
        For each column ``"necessary"`` (every set without it costs more than the tolerance),
        ``"useless"`` (every set with it does), ``"replaceable"`` (there are sets within the
        tolerance with it, and others without it), or ``"undecided"``.
    replaceable : dict of int to tuple of int
        For each replaceable column the columns by which the best set without it differs from the
        best set with it.
    solutions : tuple of Solution
        Sets within the tolerance, best first; all of them if ``certificate.list_complete``.
    certificate : Certificate
        Of the best set.
    tol : float
        The tolerance: a set is within it if its error is at most ``1 + tol`` times the best.
    error_with, error_without : ndarray of shape (n_features, 2)
        Interval of the smallest error of a set with the column, and without it: a proven lower
        bound, and the error of the best known set (inf if there is none).
    feature_names : tuple of str or None
        Column names, if X has any.
    """

    verdicts: tuple[str, ...]
    replaceable: Mapping[int, tuple[int, ...]]
    solutions: tuple[Solution, ...]
    certificate: Certificate
    tol: float
    error_with: np.ndarray
    error_without: np.ndarray
    feature_names: tuple[str, ...] | None = None

    @property
    def selection(self) -> tuple[int, ...]:
        """The best set."""
        return self.certificate.selection

    @property
    def necessary(self) -> np.ndarray:
        """Columns that every set within the tolerance contains."""
        return self._with("necessary")

    @property
    def useless(self) -> np.ndarray:
        """Columns that no set within the tolerance contains."""
        return self._with("useless")

    @property
    def undecided(self) -> np.ndarray:
        """Columns without a verdict because of a limit or rounding."""
        return self._with("undecided")

    @property
    def order(self) -> list[int]:
        """Columns by verdict: necessary ones, replaceable ones (selected ones first), undecided
        and useless ones."""
        chosen = set(self.selection)
        key = [(_ORDER.index(v), j not in chosen, j) for j, v in enumerate(self.verdicts)]
        return [j for _, _, j in sorted(key)]

    def _with(self, verdict: str) -> np.ndarray:
        return np.array([j for j, v in enumerate(self.verdicts) if v == verdict], dtype=np.intp)

    def _names(self, columns: Sequence[int] | np.ndarray) -> list[str]:
        return [str(j if self.feature_names is None else self.feature_names[j]) for j in columns]

    def table(self) -> str:
        """One line per column: its verdict, the best error with it and without it, and what it can
        be replaced by."""
        header = ("column", "verdict", "error with it", "without it", "replaced by")
        rows = [header]
        for j, name in zip(self.order, self._names(self.order), strict=True):
            errors = between(*self.error_with[j]), between(*self.error_without[j])
            by = ", ".join(self._names(self.replaceable.get(j, ())))
            rows.append((name, self.verdicts[j], *errors, by))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for name, verdict, error, other, by in rows:
            left = f"{name:<{widths[0]}}  {verdict:<{widths[1]}}"
            lines.append(f"{left}  {error:>{widths[2]}}  {other:>{widths[3]}}  {by}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        known = "all" if self.certificate.list_complete else "those found"
        rows = [
            ("selection", listing(self._names(self.selection))),
            ("tolerance", f"{100 * self.tol:g}%: {len(self.solutions)} sets ({known})"),
        ]
        for verdict in _ORDER:
            columns = self._with(verdict)
            rows.append((verdict, listing(self._names(columns)) or "none"))
        return "\n".join(["ColumnVerdicts", *(f"  {name:<11} {text}" for name, text in rows)])


@keeps_answer
def column_verdicts(
    X,
    k: int | None,
    *,
    y=None,
    sample_weight=None,
    tol: float = 0.01,
    criterion="frobenius",
    n_components: int = 0,
    time_limit: float | None = 30.0,
    **options: Any,
) -> ColumnVerdicts:
    """Prove which columns are necessary, replaceable or useless for a good selection.

    A set is within the tolerance if its error is at most ``1 + tol`` times the best error of k
    columns. A column is *necessary* if every set within the tolerance contains it, *useless* if
    none does, and *replaceable* otherwise. Columns that a limit or rounding leaves open are
    *undecided*; a verdict is never revoked by a longer run.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    k : int or None
        Number of columns of a set; a fraction of them if a float in (0, 1). As in
        :class:`~columnist.ColumnSelector`, groups count with ``Groups``, and None means any number
        with a ``Budget``.
    y : array-like, optional
        Target; X itself by default.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts.
    tol : float, default=0.01
        The tolerance, at least 0 and below 1.
    criterion, n_components
        As in :class:`~columnist.ColumnSelector`.
    time_limit : float or None, default=30.0
        Seconds; at most half of them for listing the sets within the tolerance.
    **options
        Further parameters of :class:`~columnist.ColumnSelector`, such as ``centering``,
        ``include`` (then necessary), ``exclude`` (then useless), ``constraints`` (only sets that
        obey count), ``max_nodes`` or ``n_jobs``.
        ``n_solutions`` is the most sets to list, 1000 by default.

    Returns
    -------
    ColumnVerdicts

    See Also
    --------
    columnist.ColumnSelector : ``solution_tol`` lists the sets within a tolerance.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import column_verdicts
    >>> verdicts = column_verdicts(scale(load_wine().data), 3, tol=0.05)
    >>> verdicts.selection
    (3, 6, 9)
    >>> verdicts.necessary, verdicts.replaceable[3]
    (array([6]), (0, 2))
    """
    Number(0.0, 1.0, below=True).check("tol", tol)
    StrOptions("auto", "optimal").check("search", options.get("search", "auto"))
    if options.get("proof") is not None:
        raise ValueError("column_verdicts writes no proof: use ColumnSelector(..., proof=...).")
    selector = ColumnSelector(
        k, criterion=criterion, n_components=n_components, time_limit=time_limit,
        solution_tol=tol, **options,
    )  # fmt: skip
    return _judged(selector, X, y, sample_weight)


@keeps_answer
def verdicts_of(selector: ColumnSelector, X, y=None, sample_weight=None) -> ColumnVerdicts:
    """The verdicts of :func:`column_verdicts` from the sets within the tolerance that a selector
    has listed when it was fitted to the same data; only what these leave open is searched."""
    return _judged(selector, X, y, sample_weight, selector._listed)


def _judged(
    selector: ColumnSelector, X, y, sample_weight, listed: Outcome | None = None
) -> ColumnVerdicts:
    matrices, settings = selector._prepare(X, y, sample_weight)
    include, exclude = selector._constraints(matrices.n_features, settings, matrices)
    with matrices.threads():
        sizes, size = selector._asked(matrices, settings, include, exclude, "k")
        found = _Evidence(sizes, size)
        found.search(listed)
        return found.verdicts()


class _Evidence:
    """Results of the searches so far."""

    def __init__(self, sizes: Sizes, size: Any):
        self.sizes, self.size, self.options = sizes, size, sizes.options
        self.n = sizes.matrices.n_features
        assert self.options.solution_tol is not None
        self.tol = self.options.solution_tol
        self.least = float(self.options.criterion.value(np.zeros(1)))
        self.errors: dict[tuple[int, ...], float] = {}
        self.intervals: dict[tuple[int, ...], tuple[float, float]] = {}
        # Proven bounds of the best error with a column (row 0) and without it (row 1).
        self.lower = np.full((2, self.n), -np.inf)
        for columns, out in ((sizes.include, True), (sizes.exclude, False)):
            for column in columns:
                self._raise(column, out, np.inf)
        self.optimum = -np.inf  # no set has less

    # -- searches -----------------------------------------------------------------

    def search(self, listed: Outcome | None = None) -> None:
        """List the sets within the tolerance, unless they are listed already; then look at the
        columns this leaves open."""
        now, options = time.perf_counter(), self.options
        half = replace(options, deadline=now + (options.deadline - now) / 2)
        self.outcome = listed or self.sizes.choose(self.size, half, ())
        self._learn(self.outcome)
        nodes = self.outcome.certificate.nodes_expanded
        if self.outcome.certificate.list_complete:
            return
        stopped = self.outcome.certificate.status == "interrupted"
        waiting = list(range(self.n))
        while waiting and not stopped:
            column = waiting.pop(0)
            if self._is_open(column):
                expanded = self._forced(column, len(waiting) + 1, nodes)
                if expanded is None:
                    return
                nodes += expanded

    def _learn(self, outcome: Outcome, forced: int | None = None, out: bool = False) -> None:
        """Take in what a search has shown, of all sets or of those with a column forced in or
        out."""
        lows = {subset: low for subset, (low, _) in outcome.intervals.items()}
        for error, subset in outcome.solutions:
            if subset in lows and subset not in self.errors:
                self.errors[subset] = error
                self.intervals[subset] = outcome.intervals[subset]
        least = min(outcome.unlisted, *lows.values())
        if forced is not None:
            self._raise(forced, out, least)
            return
        self.optimum = max(self.optimum, least)
        best = np.full((2, self.n), outcome.unlisted)
        for subset, low in lows.items():
            contains = self._contains(subset)
            best[0, contains] = np.minimum(best[0, contains], low)
            best[1, ~contains] = np.minimum(best[1, ~contains], low)
        self.lower = np.maximum(self.lower, best)

    def _raise(self, column: int, out: bool, bound: float) -> None:
        """Take a bound of the sets with a column, or without it: it holds with all columns that
        bring it along, or without those that it brings along."""
        unit = self.sizes.unit
        same = unit(column) if out else {i for i in range(self.n) if column in unit(i)}
        row = self.lower[int(out)]
        row[list(same)] = np.maximum(row[list(same)], bound)

    def _contains(self, subset: Sequence[int]) -> np.ndarray:
        contains = np.zeros(self.n, dtype=bool)
        contains[list(subset)] = True
        return contains

    def _forced(self, column: int, n_waiting: int, nodes: int) -> int | None:
        """Search the sets that the best one is not of: without a column of its, or with another
        one. How many nodes that took; None if a limit leaves nothing to search with."""
        options, sizes = self.options, self.sizes
        now = time.perf_counter()
        left = options.max_nodes - nodes
        if left <= 0 or expired(options.deadline) or pending():
            return None
        out = column in self.best
        limit = self._limits()[1]
        stop = _Stop(options, limit)
        options = replace(
            options, n_solutions=2, solution_tol=None, max_nodes=left, callback=stop,
            deadline=now + (options.deadline - now) / n_waiting,
            cutoff=limit + 2.0 * AGREEMENT * above(limit, self.least),
        )  # fmt: skip
        include = list(sizes.include) if out else sorted([*sizes.include, column])
        exclude = sorted([*sizes.exclude, column]) if out else list(sizes.exclude)
        forced = replace(
            sizes, options=options, include=include, exclude=exclude,
            reduce=lambda: sizes.reduced,
        )  # fmt: skip
        some, certain = forced.some(self.size)
        if some is None:
            if certain:  # there are no such sets
                self._raise(column, out, np.inf)
            return 0
        outcome = forced.choose(self.size, options, [*self._near(column, out), some])
        self._learn(outcome, column, out)
        return None if stop.asked else outcome.certificate.nodes_expanded

    def _near(self, column: int, out: bool) -> Iterator[tuple[int, ...]]:
        """The best set, changed to have a column or not, to start from."""
        best, fixed, unit = set(self.best), set(self.sizes.include), self.sizes.unit
        for gone in [column] if out else sorted(best - fixed):
            rest = {i for i in best if gone not in unit(i)}
            yield tuple(sorted(rest if out else rest | unit(column)))

    # -- conclusions ----------------------------------------------------------------

    @property
    def best(self) -> tuple[int, ...]:
        """The best set so far."""
        return self._ranked()[0][1]

    def _ranked(self) -> list[tuple[float, tuple[int, ...]]]:
        found = ((error, subset) for subset, error in self.errors.items())
        return ranked_solutions(found, self.least)

    def _limits(self) -> tuple[float, float]:
        """A set with at most the first error is surely within the tolerance, one with more than
        the second surely not."""
        best = min(high for _, high in self.intervals.values())
        low, high = (within(error, self.tol, self.least) for error in (self.optimum, best))
        return low - 4 * EPS * abs(low), high + 4 * EPS * abs(high)

    def _is_open(self, column: int) -> bool:
        """Whether a search with the column forced in or out can decide: no set shows yet that it
        can do without, or be of use."""
        out = column in self.best
        limit = self._limits()[1]
        if self.lower[int(out), column] > limit:
            return False
        sides = (low for subset, (low, _) in self.intervals.items() if (column in subset) != out)
        return min(sides, default=np.inf) > limit

    def _known(self) -> np.ndarray:
        """What the best known set with each column (row 0), and without it (row 1), has at most."""
        known = np.full((2, self.n), np.inf)
        for subset, (_, high) in self.intervals.items():
            side = np.where(self._contains(subset), 0, 1)
            known[side, np.arange(self.n)] = np.minimum(known[side, np.arange(self.n)], high)
        return known

    def verdicts(self) -> ColumnVerdicts:
        """What follows for every column."""
        surely, beyond = self._limits()
        known = self._known()
        verdicts = np.full(self.n, "undecided", dtype="<U11")
        verdicts[(known <= surely).all(axis=0)] = "replaceable"
        verdicts[self.lower[0] > beyond] = "useless"
        verdicts[self.lower[1] > beyond] = "necessary"
        ranked = self._ranked()
        inside = [(e, s) for e, s in ranked if self.intervals[s][0] <= beyond]
        lower = np.maximum(np.minimum(self.lower, known), self.least)
        ends = [np.column_stack([lower[i], known[i]]) for i in (0, 1)]
        replaceable = np.flatnonzero(verdicts == "replaceable").tolist()
        return ColumnVerdicts(
            tuple(verdicts.tolist()),
            {j: self._replaced(j, ranked) for j in replaceable},
            tuple(Solution(subset, error) for error, subset in inside),
            self._certificate(*ranked[0]),
            self.tol,
            ends[0],
            ends[1],
            self.options.names,
        )

    def _replaced(self, column: int, ranked) -> tuple[int, ...]:
        """The columns that the best set without this one has, and the best set with it has not."""
        with_it = next(subset for _, subset in ranked if column in subset)
        without = next(subset for _, subset in ranked if column not in subset)
        return tuple(sorted(set(without) - set(with_it)))

    def _certificate(self, error: float, subset: tuple[int, ...]) -> Certificate:
        """That of the list, for what is the best set by now."""
        found = replace(self.outcome.certificate, elapsed=self.options.elapsed)
        if subset == found.selection:
            return found
        names = self.options.names and tuple(self.options.names[i] for i in subset)
        bound = min(found.lower_bound, error)
        return replace(found, error=error, selection=subset, names=names, lower_bound=bound)


class _Stop:
    """Ends a search once it has found a set within a limit, or the user wants an end."""

    def __init__(self, options: Options, limit: float):
        self.user, self.limit, self.asked = options.callback, limit, False

    def __call__(self, progress: Progress) -> bool:
        self.asked = self.asked or (self.user is not None and bool(self.user(progress)))
        return self.asked or progress.incumbent <= self.limit
