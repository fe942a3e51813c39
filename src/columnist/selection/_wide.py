"""Best subsets for a target among very many columns: bounds of nodes by relaxation only.

The problem is that of :mod:`columnist.selection._columns` under the squared Frobenius norm for a
target y, perhaps with a ridge. Its data are never decomposed: inner products are enough
(:mod:`columnist.selection._active`), and with a ridge and fewer rows than columns not even these
are formed for all columns. Each node drops columns that no good choice contains, and takes those
that every one contains, until nothing more is decided; then it branches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from columnist.data import Matrices
from columnist.linalg._passes import squared_norms, without_means
from columnist.linalg._residual import of_like_length
from columnist.linalg._rounding import UNIT, allowance
from columnist.search._incumbent import exchange, greedy
from columnist.search._interrupts import expired
from columnist.search._problem import Branches, Demand, Part
from columnist.selection._active import GramForm, Relaxed, top_sum
from columnist.selection._block_nodes import (
    Screened,
    column_to_branch_on,
    relaxed_by_blocks,
    screened,
)
from columnist.selection._block_relaxation import BlockRelaxed
from columnist.selection._duplicates import distinct_columns
from columnist.selection._improve import GramImprover
from columnist.selection._ridge import RidgeForm

# Fewer columns than this are decomposed: nodes then have more than one bound.
_MANY = 120
# More columns than this have too many inner products; fewer than this never have, and in between
# those that are more than twice as many as rows.
_MOST, _FEW = 4000, 1000
# Operations for the first choice.
_FIRST_CHOICE = 2e7
# Share of the candidates that must be decided for a node to be relaxed again.
_DECIDED = 0.1
# How often a node is relaxed again after a candidate has gone, at most.
_CHAIN = 8
# A node with this share of the candidates that its form was made for gets a form of its own, if
# these are no more than so many.
_SHRUNK, _SMALL = 0.7, 400
# Targets of up to two to this power, and down to its inverse, are taken as they are.
_ORDINARY = 60
# A problem is screened by blocks if this share of the candidates remains to be branched on at the
# root, or if it stays open: a better choice was asked for so often.
_SPREAD, _ASKED = 0.5, 5
# With more targets than this the coefficients of that bound take too long.
_TARGETS = 20
# Name of that bound in the log.
_BLOCKS = "blocks of columns"


class WideColumns:
    """The problem for :mod:`columnist.search`.

    Parameters
    ----------
    form : GramForm, RidgeForm or LogisticForm
        The whole problem, for ``columns`` only.
    columns : ndarray of int
        Columns of the data that the form knows, ascending.
    size : int
        Columns to choose, the included ones counted.
    include : sequence of int
        Columns that every choice contains.
    unit : float
        Errors are this multiple of those of the form.
    evaluate : callable
        Interval of the error of a complete choice, from the data.
    """

    exact, least = True, 0.0

    def __init__(
        self,
        form: Any,
        columns: np.ndarray,
        size: int,
        include: Sequence[int],
        unit: float,
        evaluate: Callable[..., tuple[float, float]],
    ):
        self.form, self.columns, self.size, self.unit = form, columns, size, unit
        self.n_items = int(columns.max(initial=-1)) + 1
        self.interval = evaluate
        self._place = np.full(self.n_items, -1, dtype=np.int32)
        self._place[columns] = np.arange(len(columns), dtype=np.int32)
        # What nodes use: the same, until the root has shown which columns matter.
        self._tree, self._tree_place = form, self._place
        self._improver: GramImprover | None = None
        self._include = np.array(sorted(include), dtype=np.int32)
        # What is left of the problem once blocks have screened it, which was tried or not; the
        # bound of the root and the last threshold; how often a better choice was asked for, and
        # when to end.
        self._screened: Screened | None = None
        self._tried, self._asked, self._deadline = False, 0, -np.inf
        self._root_bound, self._threshold = -np.inf, np.inf

    def places(self, items: np.ndarray) -> np.ndarray:
        """Columns as the form numbers them."""
        return self._place[items]

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Included columns and candidates."""
        return self._include, np.setdiff1d(self.columns, self._include).astype(np.int32)

    def root_bounds(self) -> tuple[float, float]:
        """Errors of all columns, and of the included ones."""
        include = self._place[self._include]
        alone = self.form.error(include) if len(include) else self.form.total
        return self.unit * self.form.least, self.unit * alone

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice."""
        low, high = self.interval(subset)
        return low + 0.5 * (high - low)

    def estimate(self, subset: Sequence[int]) -> float:
        """The same from the inner products."""
        return self.unit * self.form.error(self._place[np.asarray(subset)])

    def completion_errors(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Error of ``chosen`` and each one of the candidates."""
        return self.unit * self.form.additions(self._place[chosen], self._place[candidates], np.inf)

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        return 2e-6 * len(self.columns)

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Exchanges, with a memory where inner products are enough, among the columns that promise
        something."""
        self._deadline = deadline
        if not isinstance(self.form, GramForm | RidgeForm):
            subset = greedy(self, chosen, candidates, deadline=deadline)
            yield exchange(self, subset, chosen, candidates, deadline=deadline)
            return
        some = self._place[candidates]
        if isinstance(self.form, RidgeForm):
            first = greedy(self, chosen, candidates, deadline=deadline)
            yield first
            some = self.form.promising(self._place[np.asarray(first)], some)
            some = np.setdiff1d(some, self._place[chosen])
        places = np.concatenate([self._place[chosen], some])
        K, c = self.form.inner_products(places)
        fixed, free = np.split(np.arange(len(places)), [len(chosen)])
        self._improver = GramImprover(K, c, self.size, fixed, free)
        self._improved = self.columns[places]
        yield self._improved[self._improver.run(_FIRST_CHOICE, deadline)].tolist()

    def improve(self, known, operations: float, deadline: float) -> list[int] | None:
        """The same, gone on with; a search that stays open is screened by blocks, too."""
        self._asked += 1
        if self._asked == _ASKED:
            self._screen()
        if self._improver is None:
            return None
        return self._improved[self._improver.run(operations, deadline)].tolist()

    # -- nodes ----------------------------------------------------------------------

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or the complete sets that it comes down to."""
        self._threshold = demand.threshold / self.unit
        if self._screened is not None:
            return self._expand_by_blocks(chosen, candidates, demand)
        branches = self._expand_by_columns(chosen, candidates, demand)
        if np.isneginf(self._root_bound):  # this is the root
            self._root_bound = branches.bound / self.unit
            if np.isfinite(branches.f).sum() > _SPREAD * len(candidates):
                self._screen()
            if self._screened is not None:
                again = self._expand_by_blocks(chosen, candidates, demand)
                return replace(
                    again, goals=sorted({*branches.goals, *again.goals}),
                    explored=branches.explored + again.explored,
                )  # fmt: skip
        return branches

    def _screen(self) -> None:
        """See what is left of the problem by blocks."""
        if self._tried or type(self.form) is not GramForm or len(self.form.cross) > _TARGETS:
            return
        if np.isinf(self._threshold) or expired(self._deadline):
            return
        self._tried = True
        chosen, candidates = self.root()
        self._screened = screened(
            self.form, self._place[chosen], self._place[candidates], self.size,
            self._threshold, self._root_bound, self._deadline,
        )  # fmt: skip

    def _expand_by_columns(self, chosen, candidates, demand: Demand) -> Branches:
        """With a diagonal D, children are divided by the column that comes next."""
        start = demand.hint
        place = self._tree_place
        node = _Node(self._tree, place[chosen], place[candidates], candidates, start)
        found = _Found(chosen, self.unit, demand.threshold / self.unit)
        while (left := self.size - len(chosen) - len(found.fixed)) > 1:
            if len(node.candidates) <= left:
                break
            node = node.in_own_form()
            relaxed = node.relax(left, found.threshold)
            found.n_bounds += 1
            if relaxed.bound >= found.threshold:
                return found.branches(np.inf)
            found.round(node, relaxed.z, left)
            node, relaxed, decided = node.screen(relaxed, left, found)
            if not decided:
                self._narrow(chosen, node, found)
                return found.branches(relaxed.bound, _partition(node, relaxed, left, found))
        found.complete(node, left)
        return found.branches(np.inf)

    def _expand_by_blocks(self, chosen, candidates, demand: Demand) -> Branches:
        """With a D of blocks, and among the columns that matter: parts with and without one."""
        assert self._screened is not None
        place, (kept, sure) = self._place, self._screened
        found = _Found(chosen, self.unit, demand.threshold / self.unit)
        missing = np.setdiff1d(self.columns[sure], chosen).astype(np.int32)
        if not (kept[place[chosen]].all() and np.isin(missing, candidates).all()):
            return found.by_blocks([], closed=1)
        matter, start = kept[place[candidates]], demand.hint
        candidates = candidates[matter]
        if start is not None:  # shares, or the coefficients that the other bound starts from
            start = np.linalg.norm(start.reshape(len(matter), -1), axis=1)[matter]
        node = _Node(self.form, place[chosen], place[candidates], candidates, start)
        node = node.decide(np.isin(candidates, missing), ~np.isin(candidates, missing), found)
        while (left := self.size - len(node.chosen)) > 1:
            if len(node.candidates) <= left:
                break
            relaxed = relaxed_by_blocks(
                self.form, node.chosen, node.candidates, left, found.threshold, node.start
            )
            if relaxed is None:
                return self._expand_by_columns(chosen, candidates, replace(demand, hint=None))
            found.n_bounds += 1
            found.round(node, relaxed.z, left)
            fixed, left_out = relaxed.decided(found.threshold)
            if relaxed.bound >= found.threshold or (fixed & left_out).any():
                return found.by_blocks([], closed=1)
            node = node._replace(start=relaxed.z.astype(np.float32))
            node = node.decide(fixed, ~(fixed | left_out), found)
            if not fixed.any() and left_out.sum() < _DECIDED * len(left_out):
                parts = _halves(node, relaxed.at(~left_out), found)
                return found.by_blocks(parts, closed=2 - len(parts))
        found.complete(node, left)
        return found.by_blocks([], closed=1)

    def _narrow(self, chosen: np.ndarray, node: _Node, found: _Found) -> None:
        """Nothing below the root needs columns that it has dropped."""
        at_root = len(chosen) == len(self._include) and self._tree is self.form
        kept = np.concatenate([chosen, np.array(found.fixed, dtype=np.int32), node.names])
        if at_root and isinstance(self.form, RidgeForm) and 2 * len(kept) < self.form.n_items:
            kept = np.sort(kept)
            self._tree = self.form.restricted(self._place[kept])
            self._tree_place = np.full(self.n_items, -1, dtype=np.int32)
            self._tree_place[kept] = np.arange(len(kept), dtype=np.int32)


class _Found:
    """What the expansion of a node has found so far, in units of the form."""

    def __init__(self, chosen: np.ndarray, unit: float, threshold: float):
        self.chosen, self.unit, self.threshold = chosen, unit, threshold
        self.fixed: list[int] = []
        self.goals: list[tuple[float, tuple[int, ...]]] = []
        self.n_bounds = 0

    def goal(self, error: float, items) -> None:
        """Note a complete set that adds these items."""
        if error < self.threshold:
            subset = (*self.chosen.tolist(), *self.fixed, *(int(i) for i in items))
            self.goals.append((self.unit * error, subset))

    def round(self, node: _Node, z: np.ndarray, left: int) -> None:
        """The candidates with the largest shares are a choice, too."""
        top = np.sort(np.argsort(-z, kind="stable")[:left])
        error = node.form.error(np.concatenate([node.chosen, node.candidates[top]]))
        self.goal(error, node.names[top])

    def complete(self, node: _Node, left: int) -> None:
        """Complete sets of a node with at most one column to choose, or no choice. With none to
        choose there may be candidates that no bound has dropped."""
        if left in (0, len(node.candidates)):
            self.goal(0.0, node.names[:left])
        elif left == 1:
            errors = node.form.additions(node.chosen, node.candidates, self.threshold)
            for i in np.flatnonzero(errors < self.threshold):
                self.goal(float(errors[i]), node.names[i : i + 1])

    def branches(self, bound: float, children=None) -> Branches:
        """The result of the expansion."""
        items, f, hint = children or (np.empty(0, dtype=np.int32), np.empty(0), None)
        return Branches(
            self.unit * bound, items, self.unit * f, goals=sorted(self.goals), partitioned=True,
            fixed=np.array(self.fixed, dtype=np.int32), hint=hint, explored=self.n_bounds,
        )  # fmt: skip

    def by_blocks(self, parts: list[Part], closed: int) -> Branches:
        """The result of an expansion by blocks."""
        bound = min((part.bound for part in parts), default=np.inf)
        tally = {_BLOCKS: (self.n_bounds, closed)}
        return Branches(
            bound, goals=sorted(self.goals), parts=parts, explored=self.n_bounds, tally=tally
        )


class _Node(NamedTuple):
    """Chosen items and candidates as the form numbers them, the names of the candidates, and
    coefficients of these to start from."""

    form: Any
    chosen: np.ndarray
    candidates: np.ndarray
    names: np.ndarray
    start: np.ndarray | None

    def in_own_form(self) -> _Node:
        """With a form of its own if its list has become much shorter than that of the form."""
        n = len(self.candidates)
        if n > _SMALL or n > _SHRUNK * self.form.n_items:
            return self
        try:
            form = self.form.narrowed(self.chosen, self.candidates)
        except np.linalg.LinAlgError:
            return self
        every = np.arange(n, dtype=np.int32)
        return self._replace(form=form, chosen=every[:0], candidates=every)

    def relax(self, t: int, threshold: float) -> Relaxed:
        """Its bound."""
        return self.form.relax(self.chosen, self.candidates, t, threshold, self.start)

    def keep(self, kept: np.ndarray, start: np.ndarray | None) -> _Node:
        """With some of the candidates only."""
        return self._replace(
            candidates=self.candidates[kept], names=self.names[kept],
            start=None if start is None else start[kept],
        )  # fmt: skip

    def decide(self, fixed: np.ndarray, kept: np.ndarray, found: _Found) -> _Node:
        """With some of the candidates chosen, and some left."""
        found.fixed += self.names[fixed].tolist()
        chosen = np.concatenate([self.chosen, self.candidates[fixed]])
        return self.keep(kept, self.start)._replace(chosen=chosen)

    def screen(self, relaxed: Relaxed, t: int, found: _Found) -> tuple[_Node, Relaxed, bool]:
        """Without candidates that no good choice contains, and with those that every one contains
        among the chosen; whether that makes another look worthwhile."""
        g, room = relaxed.g, found.threshold - relaxed.bound
        order = np.sort(g)[::-1]
        last, beyond = order[t - 1], order[t]
        fixed = (g > beyond) & (g - beyond >= room)
        dropped = (g < last) & (last - g >= room)
        kept = ~(fixed | dropped)
        node = self.keep(kept, relaxed.start)
        if fixed.any():
            found.fixed += self.names[fixed].tolist()
            node = node._replace(chosen=np.concatenate([self.chosen, self.candidates[fixed]]))
        decided = bool(fixed.any()) or dropped.sum() >= _DECIDED * len(g)
        return node, relaxed.at(kept), decided


def _partition(node: _Node, relaxed: Relaxed, t: int, found: _Found):
    """Children of a node: names, bounds and coefficients to start from, the last one first.

    Candidates are branched on one after the other: a child contains one and none of those before.
    What remains is relaxed again each time, until it is closed.
    """
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def put(which: np.ndarray, bounds: np.ndarray) -> None:
        parts.append((node.names[which], bounds, relaxed.start[which]))

    bound = relaxed.bound
    for _ in range(_CHAIN):
        pick = np.arange(len(relaxed.g)) == np.argmax(_promise(relaxed))
        with_it = relaxed.base - top_sum(relaxed.g[~pick], t - 1) - float(relaxed.g[pick][0])
        put(pick, np.array([max(bound, with_it)]))
        node, relaxed = node.keep(~pick, relaxed.start), relaxed.at(~pick)
        if len(node.candidates) < t:
            break
        relaxed = node.relax(t, found.threshold)
        found.n_bounds += 1
        if relaxed.bound >= found.threshold:
            break
        bound = max(bound, relaxed.bound)
        last = np.partition(relaxed.g, -t)[-t]
        dropped = (relaxed.g < last) & (last - relaxed.g >= found.threshold - relaxed.bound)
        put(dropped, np.full(int(dropped.sum()), np.inf))
        node, relaxed = node.keep(~dropped, relaxed.start), relaxed.at(~dropped)
    else:
        order = np.argsort(-relaxed.g, kind="stable")
        put(order, np.maximum(bound, relaxed.base - _windows(relaxed.g[order], t)))
        order = order[:0]
        node, relaxed = node.keep(order, relaxed.start), relaxed.at(order)
    # These belong to the children before, but have none of their own.
    put(np.arange(len(node.candidates)), np.full(len(node.candidates), np.inf))
    return tuple(np.concatenate(column)[::-1] for column in zip(*parts, strict=True))


def _halves(node: _Node, relaxed: BlockRelaxed, found: _Found) -> list[Part]:
    """The parts of a node with and without one of its candidates."""
    pick = column_to_branch_on(node.form, node.candidates, relaxed)
    rest = np.arange(len(node.candidates)) != pick
    chosen = np.concatenate([found.chosen, np.array(found.fixed, dtype=np.int32)])
    chosen = chosen.astype(np.int32)
    with_it = np.append(chosen, node.names[pick])
    z = None if node.start is None else node.start[rest]
    bounds = np.maximum([relaxed.within[pick], relaxed.without[pick]], relaxed.bound)
    return [
        Part(own, node.names[rest], found.unit * float(bound), z)
        for own, bound in zip((with_it, chosen), bounds, strict=True)
    ]


def _promise(relaxed: Relaxed) -> np.ndarray:
    """On which candidate to branch: the one with the most to lose."""
    return relaxed.z * relaxed.g


def _windows(g: np.ndarray, t: int) -> np.ndarray:
    """Sums of t values that follow one another, not less than they are; none where t are no more
    left."""
    sums = np.cumsum(np.append(0.0, g))
    windows = np.full(len(g), -np.inf)
    # Errors of a sum are relative to all of it.
    windows[: len(g) - t + 1] = sums[t:] - sums[: len(sums) - t] + 2 * len(g) * UNIT * sums[-1]
    return windows


class WideData(NamedTuple):
    """The form of some columns, and the square of the unit of their errors."""

    form: GramForm | RidgeForm
    columns: np.ndarray
    unit: float

    def problem(self, size: int, include: Sequence[int], evaluate) -> WideColumns:
        """The problem for one size."""
        return WideColumns(self.form, self.columns, size, include, self.unit, evaluate)


def wide_data(
    matrices: Matrices, include: Sequence[int], allowed: np.ndarray, *, distinct: bool
) -> WideData | None:
    """Data for a search by relaxation alone; None if the problem is small, or the relaxation would
    say nothing: for columns that depend on one another, and without a target. ``distinct`` leaves
    out copies."""
    n_columns, n_rows = len(include) + len(allowed), matrices.X.shape[0]
    if matrices.Y is None or matrices.gram or not matrices.is_here or n_columns <= _MANY:
        return None
    too_many = n_columns > _MOST or n_columns > max(2 * n_rows, _FEW)
    if not matrices.ridge and (too_many or n_columns >= n_rows):
        return None
    # Powers of two round nothing, and coefficients to start from are kept in single precision.
    exponent = int(np.frexp(np.abs(matrices.Y).max(initial=0.0))[1])
    exponent = exponent if abs(exponent) > _ORDINARY else 0
    matrices = replace(matrices, Y=np.ldexp(matrices.Y, -exponent))
    make = _ridge_form if too_many else _gram_form
    form, columns = make(matrices, np.asarray(include, dtype=np.intp), allowed, distinct)
    unit = float(np.ldexp(matrices.unit**2, 2 * exponent))
    return None if form is None else WideData(form, columns, unit)


def _gram_form(matrices: Matrices, include: np.ndarray, allowed: np.ndarray, distinct: bool):
    """Inner products, if they have a D, of columns of which copies are left out if asked."""
    assert matrices.Y is not None
    X, Y = matrices.X, matrices.Y
    X = X.toarray() if sp.issparse(X) else X
    if not matrices.ridge:  # then a selection does not care how long columns are
        X = of_like_length(X.T).T
    given = X
    if matrices.center:
        X, Y = without_means(X), without_means(Y)
    if distinct:
        allowed = distinct_columns(X.T, allowed, matrices.X)
    columns = np.union1d(include, allowed)
    share = max(_rounded(given, X), _rounded(matrices.Y, Y))
    X = X if len(columns) == X.shape[1] else X[:, columns]
    if matrices.sample:
        share = max(share, allowance(len(columns), 1.0))
    lowered = (len(columns) + Y.shape[1]) * (2.0 * share + (len(X) + 16) * UNIT)
    gram = X.T @ X
    np.einsum("ii->i", gram)[:] += matrices.ridge
    try:
        form = GramForm(gram, np.ascontiguousarray(Y.T @ X), float(np.vdot(Y, Y)), lowered)
    except np.linalg.LinAlgError:
        return None, columns
    return form, columns


def _ridge_form(matrices: Matrices, include: np.ndarray, allowed: np.ndarray, distinct: bool):
    """The data of the columns; with a ridge, copies are worth something."""
    assert matrices.Y is not None
    columns = np.union1d(include, allowed)
    X, Y = matrices.X[:, columns], matrices.Y
    Y = without_means(Y) if matrices.center else Y
    share = _rounded(matrices.Y, Y)
    if matrices.center and not sp.issparse(X):
        given, X = X, without_means(X)
        share = max(share, _rounded(given, X))
    return RidgeForm(X, Y, matrices.ridge, matrices.center, share), columns


def _rounded(given: np.ndarray, left: np.ndarray) -> float:
    """Rounding of columns from which means were removed, relative to their lengths."""
    before, after = squared_norms(given), squared_norms(left)
    far = before / np.where(after > 0.0, after, np.inf)
    return 4.0 * UNIT * float(np.sqrt(far.max(initial=1.0)))
