r"""The column-selection problem: choose k columns and r2 extracted components.

For chosen columns S with residual second moment :math:`B_S` (eigenvalues
:math:`\lambda_1 \ge \lambda_2 \ge \dots`), t columns still to choose and r2 components,

.. math:: u(S) = \Theta(\lambda_{r_2+1}, \dots), \qquad f(S) = \Theta(\lambda_{t+r_2+1}, \dots).

Adding a column y changes the spectrum to that of :math:`\Lambda - zz^T`, a rank-one downdate.
Candidates that no longer span everything tighten f: columns outside their span keep
their residual, so :math:`\sigma_i \ge \max(\sigma_{i+t+r_2}(R), \sigma_{i+r_2}((I-QQ^T)R))`.

Two classes share the interface of :mod:`columnist.search._problem`:
:class:`FrobeniusColumns` runs in a compiled kernel (squared Frobenius norm, no components),
:class:`InvariantColumns` serves every criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from columnist.criteria import Criterion, is_frobenius
from columnist.linalg import _rounding as rounding
from columnist.linalg._reduce import Reduced
from columnist.linalg._residual import (
    Basis,
    complete_basis,
    graded_basis,
    singular_values_outside,
)
from columnist.linalg._secular import downdated_eigenvalues
from columnist.search._downdates import Downdates, Moment, best_goals, complete_goal
from columnist.search._incumbent import exchange, greedy
from columnist.search._interrupts import expired
from columnist.search._problem import Branches, Demand, Part, Trace
from columnist.selection._branch import FrobeniusBrancher, Workspace
from columnist.selection._improve import ColumnImprover
from columnist.selection._relaxed import RelaxedNodes
from columnist.selection._swaps import add_columns, exchange_columns
from columnist.selection._traced import relaxed_nodes

# Data smaller than this, or larger than its inverse, cannot be squared.
_LEAST_SCALE = 1e-152
# Operations after which the closed forms for the last columns give way to branching.
_CLOSED_FORM = 4e8
# Errors below this share of the total are recomputed without cancellation.
_CANCELLATION = 1e-8
_UNKNOWN = object()
# Names of the bounds in the log.
_DIRECTIONS, _RELAXATION = "unconstrained directions", "relaxation"
# Share of the root's error from which rounding of its bound shows.
_SHOWS = 1e-6
# Size of the problem from which a table of exchanges pays.
_TABLE = 1e6
# Seconds that such a table takes, for every entry of the columns and every column chosen.
_TABLE_SECONDS = 8e-10


def column_problem(
    reduced: Reduced,
    size: int,
    *,
    criterion: Criterion,
    n_components: int = 0,
    include: Sequence[int] = (),
    candidates: np.ndarray | None = None,
    evaluate: Callable[[Sequence[int]], tuple[float, float]] | None = None,
):
    """The problem for a criterion: compiled where that is possible.

    Parameters
    ----------
    reduced : Reduced
        Data.
    size : int
        Columns to choose, the included ones counted.
    criterion : Criterion
        Error.
    n_components : int, default=0
        Free components beside the columns.
    include : sequence of int
        Columns that every choice contains.
    candidates : ndarray of int, optional
        Columns that may be chosen beside them; all by default.
    evaluate : callable, optional
        Interval in which the error of a complete choice lies, from the data themselves: for choices
        whose errors are smaller than the rounding of the reduced data, or where these only bound
        them from below.
    """
    check_scale(reduced, criterion)
    compiled = is_frobenius(criterion) and n_components == 0
    cls = FrobeniusColumns if compiled else InvariantColumns
    return cls(reduced, size, criterion, n_components, include, candidates, evaluate)


def check_scale(reduced: Reduced, criterion: Criterion) -> None:
    """Raise if squared errors would leave the range of floating point numbers."""
    if is_frobenius(criterion) and not _LEAST_SCALE < reduced.scale < 1 / _LEAST_SCALE:
        raise ValueError(
            f"The squared Frobenius norm of values near {reduced.scale:.0e} leaves the range of "
            "floating point numbers: rescale the data, or use another criterion."
        )


def forward_order(
    reduced: Reduced,
    chosen: Sequence[int],
    candidates: np.ndarray,
    size: int,
    deadline: float = np.inf,
) -> list[int]:
    """``chosen`` and further columns, each the best next one under the Frobenius norm.

    Every beginning of the list is a choice of its own size. Columns that add nothing come last.
    """
    columns, weights = reduced.columns, reduced.weights
    order = add_columns(columns, weights, chosen, candidates, size, deadline=deadline)
    spare = np.setdiff1d(candidates, order)
    return order + [int(i) for i in spare[: size - len(order)]]


class _Columns:
    """What both problems share."""

    def __init__(self, reduced, size, criterion, n_components, include, candidates, evaluate=None):
        self.reduced, self.size = reduced, size
        self.criterion, self.n_components = criterion, n_components
        self.n_items, self.exact = reduced.n_items, reduced.exact
        self.include = np.array(sorted(include), dtype=np.int32)
        free = np.full(self.n_items, candidates is None)
        free[[] if candidates is None else candidates] = True
        free[self.include] = False
        self.candidates = np.flatnonzero(free).astype(np.int32)
        self.target = np.sqrt(reduced.weights)
        self._evaluate: Callable[..., tuple[float, float]] | None = evaluate
        self._known: dict[tuple[int, ...], tuple[float, float]] = {}
        self.least = float(criterion.value(np.zeros(1)))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Lengths of the columns."""
        return np.linalg.norm(self.reduced.columns, axis=1)

    def __reduce__(self):
        """Copies elsewhere expand only: what evaluates complete choices stays here."""
        arguments = (self.reduced, self.size, self.criterion, self.n_components)
        return type(self), (*arguments, self.include, self.candidates)

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Included columns and candidates."""
        return self.include, self.candidates

    def root_bounds(self) -> tuple[float, float]:
        """f and u of the included columns."""
        return self._root[:2]

    @property
    def root_doubt(self) -> float:
        """How much rounding was taken off the bound of the root."""
        return self._root[2]

    @cached_property
    def _root(self) -> tuple[float, float, float]:
        """f and u of the included columns, and what rounding took off f."""
        basis = self._basis(self.include)
        spectrum = self._spectrum(basis) if len(self.include) else self.target
        high, first = self._theta(spectrum[self.n_components :]), self.size - len(self.include)
        if basis.doubtful:  # what the included columns span: nothing is known
            return self.least, high, np.inf
        tail = spectrum[first + self.n_components :]
        low = self._theta(np.sqrt(np.maximum(tail**2 - basis.growth * self._allowance, 0.0)))
        return low, high, self._theta(tail) - low

    @property
    def distinct(self) -> bool:
        """Whether rounding does not show in the bounds of the root: guarantees rest on them."""
        high = self.root_bounds()[1]
        return self.root_doubt <= _SHOWS * rounding.above(high, self.least)

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice."""
        low, high = self.interval(subset)
        return low if low == high else low + 0.5 * (high - low)

    def estimate(self, subset: Sequence[int]) -> float:
        """Error of a complete choice from the reduced columns, unless rounding shows in it."""
        if not self.exact:
            return self.value(subset)
        low, high = self._reduced_interval(sorted(subset))
        shows = high - low > rounding.VISIBLE * rounding.above(low, self.least)
        return self.value(subset) if shows else low + 0.5 * (high - low)

    def interval(self, subset: Sequence[int], limit: float = np.inf) -> tuple[float, float]:
        """Where the error of a complete choice lies: by QR of its reduced columns, and from the
        data where that is not sharp enough. What is known for good is remembered."""
        subset = tuple(sorted(subset))
        if subset in self._known:
            return self._known[subset]
        ends = self._measured(subset, limit)
        if ends[0] < limit:
            self._known[subset] = ends
        return ends

    def _measured(self, subset: tuple[int, ...], limit: float) -> tuple[float, float]:
        if self._evaluate is not None and not self.exact:
            return self._evaluate(subset, limit)
        low, high = self._reduced_interval(subset)
        if self._evaluate is None or low >= limit or rounding.is_trusted(low, high, self.least):
            return low, high
        ends = self._evaluate(subset, limit)
        return (max(low, ends[0]), min(high, ends[1])) if ends[0] < ends[1] else ends

    def _reduced_interval(self, subset: Sequence[int]) -> tuple[float, float]:
        """The same from the reduced columns: every singular value is known up to its rounding."""
        basis = self._basis(subset)
        values = self._spectrum(basis)[self.n_components :]
        if basis.doubtful:
            return self.least, self._theta(values)
        doubt = basis.growth * rounding.allowance(len(self.target), self.target.max(initial=0.0))
        return self._theta(np.maximum(values - doubt, 0.0)), self._theta(values + doubt)

    def _basis(self, subset) -> Basis:
        return graded_basis(self.reduced.columns, subset, self.lengths, self.reduced.power)

    def _spectrum(self, basis: Basis) -> np.ndarray:
        return singular_values_outside(basis.Q, np.diag(self.target))

    def _theta(self, singular_values: np.ndarray) -> float:
        values = singular_values if len(singular_values) else np.zeros(1)
        return float(self.criterion.value(self.reduced.scale * values))

    @property
    def _allowance(self) -> float:
        """Rounding of an eigenvalue of any residual: that of the whole target."""
        weights = self.reduced.weights
        return rounding.allowance(len(weights), weights.max(initial=0.0))

    def _residual(self, chosen, candidates) -> Residual:
        """Residual spectrum, and what every candidate takes from it."""
        columns, weights = self.reduced.columns, self.reduced.weights
        Q, growth, doubtful = self._basis(chosen)
        if Q.shape[1]:
            complement = complete_basis(Q)[0][:, Q.shape[1] :]
            lam, V = np.linalg.eigh((complement.T * weights) @ complement)
            basis = complement @ V[:, ::-1]
            lam = np.maximum(lam[::-1], 0.0)
        else:
            lam, basis = weights.copy(), np.eye(len(weights))
        coordinates = columns[candidates] @ basis
        norms, lengths = np.linalg.norm(coordinates, axis=1), self.lengths[candidates]
        shares = np.divide(norms, lengths, out=np.zeros_like(norms), where=lengths > 0.0)
        shares **= self.reduced.power
        vanishing = shares <= max(rounding.DEPENDENT, rounding.NOISE * len(weights) * growth)
        doubtful |= bool((shares[vanishing] > rounding.DOUBTFUL).any())
        coordinates /= np.where(vanishing, np.inf, norms)[:, None]
        own = rounding.growth(np.where(vanishing, 0.0, norms), lengths, self.reduced.power)
        turned = growth * rounding.allowance(len(weights), 1.0)
        charge = self._residual_allowance(float(lam.max(initial=0.0)), growth)
        return Residual(lam, coordinates * np.sqrt(lam), coordinates, charge, turned, own, doubtful)

    def _residual_allowance(self, largest: float, growth: float) -> float:
        r"""Rounding of an eigenvalue of a residual, the largest of which is given.

        With W the moment of the target and C a basis of what is left, known up to
        :math:`\delta`, the moment :math:`C^TWC` is known up to
        :math:`2 \delta \sqrt{\lambda_1 w_1} + \delta^2 w_1`: a direction that dominates the target
        costs little once it is chosen.
        """
        d, whole = len(self.target), float(self.reduced.weights.max(initial=0.0))
        delta = growth * rounding.allowance(d, 1.0)
        turned = 2.0 * delta * np.sqrt(largest * whole) + delta * delta * whole
        return min(rounding.allowance(d, largest) + turned, growth * self._allowance)


class FrobeniusColumns(_Columns):
    """Columns under the squared Frobenius norm; see :mod:`columnist.selection._branch`."""

    def __init__(self, reduced, size, criterion, n_components, include, candidates, evaluate=None):
        super().__init__(reduced, size, criterion, n_components, include, candidates, evaluate)
        weights = reduced.weights
        self.unit = reduced.scale**2
        self._rounding = rounding.allowance(len(weights), weights.sum())
        self._brancher = FrobeniusBrancher(
            reduced.columns, weights, 0.0, self._rounding, reduced.power
        )
        self._spaces: dict[int, Workspace] = {}
        self._relaxed: Any = _UNKNOWN  # None where it is not worth asking
        self._improver: ColumnImprover | None = None

    def __reduce__(self):
        # Whether the relaxation is worthwhile was settled here.
        if self._relaxed is _UNKNOWN:
            return *super().__reduce__(), None
        relaxed = self._relaxed
        settled = None if relaxed is None else (relaxed.shift, relaxed.traced)
        return *super().__reduce__(), {"relaxed": settled}

    def __setstate__(self, settled) -> None:
        relaxed = settled["relaxed"]
        self._relaxed = relaxed and RelaxedNodes(self.reduced, self.size, *relaxed)

    @property
    def shift(self) -> float:
        """The share of an eigenvalue by which the relaxation shifts the target."""
        return self._relaxed.shift if isinstance(self._relaxed, RelaxedNodes) else 1.0

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        r, n = self.reduced.columns.shape[1], self.n_items
        return (2e6 + 12.0 * r**3 + 6.0 * r * r * n) / 2e9

    def _reduced_interval(self, subset: Sequence[int]) -> tuple[float, float]:
        """The energy that the columns leave, as the kernel sees it."""
        chosen = np.array(subset, dtype=np.int32)
        error, _, charge = self._brancher.additions(chosen, chosen[:0], self._space(0))
        if error > _CANCELLATION * self.reduced.weights.sum():
            return self.unit * max(error - charge, 0.0), self.unit * (error + charge)
        return super()._reduced_interval(subset)  # a small difference of large numbers

    def completion_errors(self, chosen, candidates) -> np.ndarray:
        """e(S) minus the energy each candidate's residual direction catches."""
        return self.unit * self._brancher.additions(chosen, candidates, self._space(0))[1]

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Forward selection, then exchanges: compiled and in turn, or, in large problems, from a
        table of all exchanges.
        """
        if self.reduced.columns.size * self.size < _TABLE:
            # Exchanges are soon done: only what they end with is worth measuring.
            subset = greedy(self, chosen, candidates, deadline=deadline)
            yield exchange(self, subset, chosen, candidates, deadline=deadline)
            return
        columns, weights = self.reduced.columns, self.reduced.weights
        subset = forward_order(self.reduced, chosen, candidates, self.size, deadline)
        yield subset
        if expired(deadline - _TABLE_SECONDS * columns.size * self.size):
            return
        yield exchange_columns(
            columns, weights, subset, fixed=chosen, candidates=candidates, deadline=deadline
        )[0]

    def improve(self, known, operations: float, deadline: float) -> list[int] | None:
        """Exchanges with a memory, once there is time for the inner products they need."""
        if self._improver is None:
            if ColumnImprover.price(self.reduced) > operations:
                return None
            first = np.union1d(self.include, known).astype(np.int32)
            others = np.setdiff1d(self.candidates, first)
            others = others[np.argsort(self.completion_errors(first, others), kind="stable")]
            self._improver = ColumnImprover(self.reduced, self.size, self.include, first, others)
        return self._improver.run(known, operations, deadline)

    def _space(self, worker: int) -> Workspace:
        if worker not in self._spaces:
            self._spaces[worker] = Workspace()
        return self._spaces[worker]

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or its best complete sets when few columns are left to choose."""
        left = self.size - len(chosen)
        if left == 0:
            return complete_goal(self.value(chosen), chosen, demand)
        if demand.weight == "b":
            return self._expand_b(chosen, candidates, left, demand)
        if self._relaxes(demand):
            return self._expand_relaxed(chosen, candidates, demand, worker)
        return self._expand_span(chosen, candidates, demand, worker)

    def _expand_span(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children with the bound by unconstrained directions."""
        left = self.size - len(chosen)
        threshold = demand.threshold / self.unit
        space = self._space(worker)
        known: list[tuple[float, tuple[int, ...]]] = []
        if demand.shortcut and self._fits_shortcut(left, len(candidates)):
            closed = self._brancher.completions(
                chosen, candidates, left, threshold, demand.n_best, space, _CLOSED_FORM
            )
            known = self._named(chosen, closed.errors - closed.charges, closed.items)
            if closed.finished:
                floor = self.unit * closed.floor
                return Branches(
                    np.inf, goals=known, floor=floor, doubtful=closed.doubtful,
                    tally={_DIRECTIONS: (1, 1)},
                )  # fmt: skip
        budget = demand.effort if demand.shortcut and demand.weight is None else 0.0
        found = self._brancher.children(
            chosen, candidates, left, threshold, space, budget, demand.n_best
        )
        bound, kept, f, u = found[:4]
        if left == 1:
            high = u + (u - f)  # f is u less its rounding
            goals = best_goals(chosen, kept, self.unit * f, self.unit * high, demand)
            return replace(goals, doubtful=found.doubtful, tally={_DIRECTIONS: (1, 1)})
        n_closed = len(candidates) - int(np.isfinite(f).sum())
        return Branches(
            self.unit * bound,
            kept,
            self.unit * f,
            self.unit * u if demand.weight == "u" else u[:0],
            known + self._named(chosen, found.errors - found.charges, found.items),
            floor=self.unit * found.floor,
            doubtful=found.doubtful,
            partitioned=True,
            explored=found.counts[0],
            resolved=found.counts[1],
            unresolved=found.counts[2],
            tally={_DIRECTIONS: (1 + found.counts[0], n_closed)},
        )

    def _relaxes(self, demand: Demand) -> bool:
        """Whether nodes are bounded by relaxation; the first one, which is the root, decides."""
        if demand.weight is not None or not demand.shortcut:
            return False
        if self._relaxed is _UNKNOWN:
            low, threshold = self.root_bounds()[0] / self.unit, demand.threshold / self.unit
            self._relaxed = relaxed_nodes(
                self.reduced, self.size, self.include, self.candidates, low, threshold,
                demand.n_best, traced=demand.trace,
            )  # fmt: skip
        return self._relaxed is not None

    def _expand_relaxed(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Parts of a node by relaxation, or its children by the bound of what that leaves."""
        divided = self._relaxed.divide(
            chosen, candidates, demand.threshold / self.unit, demand.hint, worker
        )
        parts, n_closed = divided.parts, (1 if demand.hint is None else 2) - len(divided.parts)
        tally = {_RELAXATION: (divided.n_bounds, n_closed)}
        trace = None
        stepped = demand.hint is not None or any(steps for _, steps in divided.chains)
        if demand.trace and stepped:
            trace = Trace(-1 if demand.hint is None else int(candidates[-1]), divided.chains)
        if demand.hint is None and parts and parts[0].z is None:
            inner = parts[0]
            if len(inner.chosen) == self.size:
                goal = complete_goal(self.value(inner.chosen.tolist()), inner.chosen, demand)
                return replace(goal, explored=divided.n_bounds, tally=tally, trace=trace)
            spanned = self._expand_span(inner.chosen, inner.candidates, demand, worker)
            fixed = inner.chosen[len(chosen) :]
            explored = spanned.explored + divided.n_bounds
            return replace(
                spanned, fixed=fixed, explored=explored, tally=tally | spanned.tally, trace=trace
            )
        bounds = self.unit * np.array([part.bound for part in parts])
        return Branches(
            min(bounds, default=np.inf), explored=divided.n_bounds, tally=tally, trace=trace,
            parts=[Part(part.chosen, part.candidates, bound, part.z)
                   for part, bound in zip(parts, bounds.tolist(), strict=True)],
        )  # fmt: skip

    def _named(self, chosen, errors, items) -> list[tuple[float, tuple[int, ...]]]:
        """Complete sets from the items added to ``chosen``."""
        if not len(items):
            return []
        base = tuple(chosen.tolist())
        pairs = zip(errors.tolist(), items.tolist(), strict=True)
        return [(self.unit * error, (*base, *row)) for error, row in pairs]

    def _fits_shortcut(self, left: int, n: int) -> bool:
        """Whether all pairs or triples of candidates may be examined in one go."""
        return (left == 2 and n <= 4096) or (left == 3 and n <= 512)

    def _expand_b(self, chosen, candidates, left, demand: Demand) -> Branches:
        """Children with b = min over m of m (sum of all but the m - 1 largest eigenvalues)."""
        residual = self._residual(chosen, candidates)
        lam, Z = residual.lam, residual.Z
        u = lam.sum() - np.einsum("ij,ij->i", Z, Z)
        top = downdated_eigenvalues(lam, Z, 0, min(left - 1, len(lam)))
        tails = u[:, None] - np.cumsum(np.pad(top, ((0, 0), (1, 0))), axis=1)
        b = (np.arange(1, tails.shape[1] + 1) * tails).min(axis=1)
        charges = len(lam) * residual.charges
        f = self.unit * np.maximum(tails[:, -1] - charges, 0.0)
        keep = f < demand.threshold
        if left == 1:
            high = self.unit * (u + charges)
            return best_goals(chosen, candidates[keep], f[keep], high[keep], demand)
        if keep.sum() < left:
            return Branches(np.inf)
        return Branches(f.min(), candidates[keep], f[keep], self.unit * b[keep])


class InvariantColumns(_Columns, Downdates):
    """Columns, with or without components, under any criterion of the singular values."""

    def __init__(self, reduced, size, criterion, n_components, include, candidates, evaluate=None):
        _Columns.__init__(
            self, reduced, size, criterion, n_components, include, candidates, evaluate
        )
        Downdates.__init__(self, self.n_items, size, criterion, n_components, reduced.scale)
        self.exact = reduced.exact

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Forward selection under the Frobenius norm, which is soon there; then under the
        criterion itself, and exchanges."""
        large = self.reduced.columns.size * self.size >= _TABLE
        if large:
            yield forward_order(self.reduced, chosen, candidates, self.size, deadline)
            if expired(deadline - self.cost()):
                return
        subset = greedy(self, chosen, candidates, deadline=deadline)
        if large:
            yield subset
        yield exchange(self, subset, chosen, candidates, deadline=deadline)

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        r, n = self.reduced.columns.shape[1], self.n_items
        return 1e-4 + (25.0 * r**3 + 40.0 * r * r * n) / 2e9

    def moment(self, chosen, candidates) -> Residual:
        """The target's second moment outside the chosen columns."""
        return self._residual(chosen, candidates)


class Residual(Moment):
    """What columns leave of the target.

    Parameters
    ----------
    lam : ndarray of shape (d,)
        Eigenvalues of the residual second moment.
    Z : ndarray of shape (n, d)
        What each candidate takes.
    units : ndarray of shape (n, d)
        Unit residuals of the candidates.
    allowance : float
        Rounding of an eigenvalue.
    turned : float
        How far rounding turns the basis.
    grown : ndarray of shape (n,)
        How many times as far it turns each candidate.
    doubtful : bool
        Whether a candidate was left out that may be more than rounding.
    """

    def __init__(
        self, lam, Z, units, allowance: float, turned: float, grown: np.ndarray, doubtful: bool
    ):
        self.lam, self.Z, self.units, self.allowance = lam, Z, units, allowance
        self.turned, self.grown, self.doubtful = turned, grown, doubtful

    @property
    def charges(self) -> np.ndarray:
        """Rounding of an eigenvalue after each candidate."""
        return self._charge(self.grown)

    def _charge(self, grown):
        r"""Rounding of an eigenvalue once directions are out that it turns ``grown`` times as far
        as the basis.

        They turn within what is left: turned by :math:`\tau`, they move no eigenvalue of what
        they leave of it by more than :math:`(2 \tau + \tau^2) \lambda_1`.
        """
        turned = grown * self.turned
        within = (2.0 + turned) * turned * float(self.lam.max(initial=0.0))
        return np.minimum(grown * self.allowance, self.allowance + within)

    def growth_of(self, kept: np.ndarray) -> float:
        """Factor by which rounding of these candidates' directions has grown."""
        return float(self.grown[kept].max(initial=1.0))

    def untouched(self, kept: np.ndarray) -> np.ndarray:
        """Eigenvalues of the residual outside the span of these candidates."""
        n, d = len(kept), len(self.lam)
        if n >= d:
            return np.empty(0)
        Q, spread = self._span(kept)
        rest = Q[:, n:]
        values = np.linalg.eigvalsh((rest.T * self.lam) @ rest)[::-1]
        return values - (self._charge(spread) - self.allowance)

    def _span(self, kept: np.ndarray) -> tuple[np.ndarray, float]:
        """A basis of everything, beginning with these candidates, and the growth of its rounding.

        Directions that are nothing but rounding only make the span larger than it is.
        """
        Q, heights = complete_basis(self.units[kept].T)
        heights = heights[heights > rounding.DEPENDENT]
        return Q, self.growth_of(kept) / float(heights.min(initial=1.0))

    def products(self, kept: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Inner products of unit residuals, and of their images z."""
        units, Z = self.units[kept], self.Z[kept]
        return units @ units.T, Z @ Z.T

    def after(self, positions: np.ndarray) -> tuple[np.ndarray, float]:
        """Residual second moment after these columns, and the rounding of its eigenvalues."""
        basis = graded_basis(self.units, positions, np.ones(len(self.units)))
        Z = np.sqrt(self.lam)[:, None] * basis.Q
        charge = float(self.lam.max(initial=0.0))  # no eigenvalue can be further off
        if not basis.doubtful:
            charge = min(float(self._charge(basis.growth * self.growth_of(positions))), charge)
        return np.diag(self.lam) - Z @ Z.T, charge

    def least_energy(self, left: int, n_components: int) -> float:
        """tr B minus what columns in the span and free components can catch at most."""
        Q, spread = self._span(np.arange(len(self.units)))
        Q = Q[:, : len(self.units)]
        inside = np.linalg.eigvalsh((Q.T * self.lam) @ Q)[::-1][:left].sum()
        energy = self.lam.sum() - inside - self.lam[:n_components].sum()
        return max(float(energy) - len(self.lam) * float(self._charge(spread)), 0.0)
