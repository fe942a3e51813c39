r"""The column-selection problem: choose k columns, plus r2 free components.

For chosen columns S with residual second moment :math:`B_S` (eigenvalues
:math:`\lambda_1 \ge \lambda_2 \ge \dots`), t columns still to choose and r2 components,

.. math:: u(S) = \Theta(\lambda_{r_2+1}, \dots), \qquad f(S) = \Theta(\lambda_{t+r_2+1}, \dots).

Adding a column y changes the spectrum to that of :math:`\Lambda - zz^T`, a rank-one downdate.
Candidates that no longer span everything tighten f: columns outside their span keep
their residual, so :math:`\sigma_i \ge \max(\sigma_{i+t+r_2}(R), \sigma_{i+r_2}((I-QQ^T)R))`.

Two classes share the interface of :mod:`columnist.search.problem`:
:class:`FrobeniusColumns` runs in a compiled kernel (squared Frobenius norm, no components),
:class:`InvariantColumns` serves every criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten
from columnist.linalg.branch import FrobeniusBrancher, Workspace
from columnist.linalg.interlace import surviving_tuples
from columnist.linalg.reduce import Reduced
from columnist.linalg.residual import DEPENDENT, chosen_basis, residual_singular_values
from columnist.linalg.ridge import own_noise, ridge_bounds
from columnist.linalg.secular import downdated_eigenvalues
from columnist.linalg.swaps import add_columns, exchange_columns
from columnist.search.incumbent import exchange, greedy
from columnist.search.problem import Branches, Demand

__all__ = ["FrobeniusColumns", "InvariantColumns", "column_problem"]

_EPS = np.finfo(np.float64).eps
# Data smaller than this, or larger than its inverse, cannot be squared.
_LEAST_SCALE = 1e-152
# Operations after which the closed forms for the last columns give way to branching.
_CLOSED_FORM = 4e8
# Errors below this share of the total are recomputed without cancellation.
_CANCELLATION = 1e-8
# Candidate lists longer than this get the ridge bound (shorter ones are explored instead).
_RIDGED = 128
# Share of the gap at the root that the ridge bound must close to be used further on.
_WORTHWHILE = 0.1
_UNKNOWN = object()
# Size of the problem from which a table of exchanges pays.
_TABLE = 1e6
# Longest candidate list whose pairs are bounded all at once.
_MOST_PAIRED = 200
# Longest candidate list whose triples are.
_MOST_TRIPLED = 120
# Triples per candidate that are solved at once rather than branched on.
_FEW_TUPLES = 4
# Tuples bounded in one NumPy call.
_CHUNK = 4096


def column_problem(
    reduced: Reduced,
    size: int,
    *,
    criterion: Criterion,
    n_components: int = 0,
    include: Sequence[int] = (),
    candidates: np.ndarray | None = None,
    evaluate: Callable[[Sequence[int]], float] | None = None,
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
        True error of a complete choice, where the reduced data only bound it from below.
    """
    if isinstance(criterion, Frobenius) and not _LEAST_SCALE < reduced.scale < 1 / _LEAST_SCALE:
        raise ValueError(
            f"The squared Frobenius norm of values near {reduced.scale:.0e} leaves the range of "
            "floating point numbers: rescale the data, or use another criterion."
        )
    compiled = isinstance(criterion, Frobenius) and n_components == 0
    cls = FrobeniusColumns if compiled else InvariantColumns
    return cls(reduced, size, criterion, n_components, include, candidates, evaluate)


class _Columns:
    """What both problems share."""

    def __init__(self, reduced, size, criterion, n_components, include, candidates, evaluate=None):
        self.reduced, self.size = reduced, size
        self.criterion, self.n_components = criterion, n_components
        self.n_items, self.exact = reduced.n_items, reduced.exact
        self.include = np.array(sorted(include), dtype=np.int32)
        everything = np.arange(self.n_items) if candidates is None else np.asarray(candidates)
        self.candidates = np.setdiff1d(everything, self.include).astype(np.int32)
        self.target = np.sqrt(reduced.weights)
        self._evaluate: Callable[[Sequence[int]], float] | None = evaluate
        self.lengths = np.linalg.norm(reduced.columns, axis=1)

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Included columns and candidates."""
        return self.include, self.candidates

    def root_bounds(self) -> tuple[float, float]:
        """f and u of the included columns."""
        spectrum = self._spectrum(self.include)
        left = self.size - len(self.include)
        squares = np.sqrt(np.maximum(spectrum**2 - self._allowance, 0.0))
        return (
            self._theta(squares[left + self.n_components :]),
            self._theta(spectrum[self.n_components :]),
        )

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice, by QR of its columns."""
        if self._evaluate is not None:
            return self._evaluate(subset)
        return self._theta(self._spectrum(subset)[self.n_components :])

    def _spectrum(self, subset) -> np.ndarray:
        return residual_singular_values(self.reduced.columns, np.diag(self.target), subset)

    def _theta(self, singular_values: np.ndarray) -> float:
        values = singular_values if len(singular_values) else np.zeros(1)
        return float(self.criterion.value(self.reduced.scale * values))

    @property
    def _allowance(self) -> float:
        """Rounding of an eigenvalue of any residual: that of the whole target."""
        return 8.0 * len(self.target) * _EPS * float(self.reduced.weights.max(initial=0.0))

    def _eigen_coordinates(self, chosen, candidates):
        """Residual spectrum and z of every candidate: lam (d,), Z (n, d), coordinates (n, d)."""
        columns, weights = self.reduced.columns, self.reduced.weights
        Q = chosen_basis(columns, chosen)
        if Q.shape[1]:
            complement = np.linalg.qr(Q, mode="complete")[0][:, Q.shape[1] :]
            lam, V = np.linalg.eigh((complement.T * weights) @ complement)
            basis = complement @ V[:, ::-1]
            lam = np.maximum(lam[::-1], 0.0)
        else:
            lam, basis = weights.copy(), np.eye(len(weights))
        coordinates = columns[candidates] @ basis
        norms = np.linalg.norm(coordinates, axis=1)
        independent = norms > DEPENDENT * self.lengths[candidates]
        coordinates /= np.where(independent, norms, np.inf)[:, None]
        return lam, coordinates * np.sqrt(lam), coordinates


class FrobeniusColumns(_Columns):
    """Columns under the squared Frobenius norm; see :mod:`columnist.linalg.branch`."""

    def __init__(self, reduced, size, criterion, n_components, include, candidates, evaluate=None):
        super().__init__(reduced, size, criterion, n_components, include, candidates, evaluate)
        weights = reduced.weights
        self.unit = reduced.scale**2
        rounding = 8.0 * max(len(weights), 1) * _EPS * float(weights.sum())
        self._brancher = FrobeniusBrancher(reduced.columns, weights, 0.0, rounding)
        self._rounding = rounding
        self._spaces: dict[int, Workspace] = {}
        self._noise: np.ndarray | object | None = _UNKNOWN

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        r, n = self.reduced.columns.shape[1], self.n_items
        return (2e6 + 12.0 * r**3 + 6.0 * r * r * n) / 2e9

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice: the energy its columns leave."""
        if self._evaluate is not None:
            return self._evaluate(subset)
        chosen = np.array(subset, dtype=np.int32)
        error, _ = self._brancher.additions(chosen, chosen[:0], self._space(0))
        if error > _CANCELLATION * self.reduced.weights.sum():
            return self.unit * error
        return super().value(subset)  # a small difference of large numbers: do it properly

    def completion_errors(self, chosen, candidates) -> np.ndarray:
        """e(S) minus the energy each candidate's residual direction catches."""
        return self.unit * self._brancher.additions(chosen, candidates, self._space(0))[1]

    def incumbents(self, chosen, candidates, deadline: float) -> Iterator[list[int]]:
        """Forward selection, then exchanges: compiled and in turn, or, in large problems, from a
        table of all exchanges.
        """
        if self.reduced.columns.size * self.size < _TABLE:
            subset = greedy(self, chosen, candidates)
            yield subset
            yield exchange(self, subset, chosen, candidates, deadline=deadline)
            return
        columns, weights = self.reduced.columns, self.reduced.weights
        subset = add_columns(columns, weights, chosen, candidates, self.size)
        if len(subset) < self.size:
            subset = greedy(self, subset, np.setdiff1d(candidates, subset))
        yield subset
        yield exchange_columns(
            columns, weights, subset, fixed=chosen, candidates=candidates, deadline=deadline
        )[0]

    def _space(self, worker: int) -> Workspace:
        if worker not in self._spaces:
            self._spaces[worker] = Workspace()
        return self._spaces[worker]

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or its best complete sets when few columns are left to choose."""
        left = self.size - len(chosen)
        threshold = demand.threshold / self.unit
        if left == 0:
            return _complete(self.value(chosen), chosen, demand)
        if demand.weight == "b":
            return self._expand_b(chosen, candidates, left, demand)
        space = self._space(worker)
        known: list[tuple[float, tuple[int, ...]]] = []
        if demand.shortcut and self._fits_shortcut(left, len(candidates)):
            errors, items, finished = self._brancher.completions(
                chosen, candidates, left, threshold, demand.n_best, space, _CLOSED_FORM
            )
            known = self._named(chosen, errors, items)
            if finished:
                return Branches(np.inf, goals=known)
        budget = demand.effort if demand.shortcut and demand.weight is None else 0.0
        bound, kept, f, u, errors, items, counts, order = self._brancher.children(
            chosen, candidates, left, threshold, space, budget, demand.n_best
        )
        if left == 1:
            return _goals(chosen, kept, self.unit * f, demand)
        if demand.shortcut and len(kept) > _RIDGED and left > 3:
            bound, kept, f, u = self._ridge(space, order, left, threshold, bound, kept, f, u)
        return Branches(
            self.unit * bound,
            kept,
            self.unit * f,
            self.unit * u if demand.weight == "u" else u[:0],
            known + self._named(chosen, errors, items),
            partitioned=True,
            explored=counts[0],
            resolved=counts[1],
            unresolved=counts[2],
        )

    def _ridge(self, space, order, left, threshold, bound, kept, f, u):
        """Raise the bounds of a node with many candidates; see :mod:`columnist.linalg.ridge`.

        Where the root gains little from it, no further node is asked.
        """
        if self._noise is _UNKNOWN:
            self._noise = own_noise(self.reduced.columns)
        if self._noise is None:
            return bound, kept, f, u
        error, lam, coords = space.last_frame()
        raised, through = ridge_bounds(error, lam, coords[order].T, self._noise[kept], left)
        if len(kept) == len(self.candidates) and np.isfinite(threshold):
            gain = (raised - bound) / (threshold - bound)
            self._noise = self._noise if gain > _WORTHWHILE else None
        raised_f = np.maximum(f, through - self._rounding)
        # Children explored to their end (infinite f) remain candidates of those behind them.
        stay = (raised_f < threshold) | np.isinf(f)
        return max(bound, raised - self._rounding), kept[stay], raised_f[stay], u[stay]

    def _named(self, chosen, errors, items) -> list[tuple[float, tuple[int, ...]]]:
        """Complete sets from the items added to ``chosen``."""
        base = tuple(chosen.tolist())
        pairs = zip(errors.tolist(), items.tolist(), strict=True)
        return [(self.unit * error, (*base, *row)) for error, row in pairs]

    def _fits_shortcut(self, left: int, n: int) -> bool:
        """Whether all pairs or triples of candidates may be looked at in one go."""
        return (left == 2 and n <= 4096) or (left == 3 and n <= 512)

    def _expand_b(self, chosen, candidates, left, demand: Demand) -> Branches:
        """Children with b = min over m of m (sum of all but the m - 1 largest eigenvalues)."""
        lam, Z, _ = self._eigen_coordinates(chosen, candidates)
        u = lam.sum() - np.einsum("ij,ij->i", Z, Z)
        top = downdated_eigenvalues(lam, Z, 0, min(left - 1, len(lam)))
        tails = u[:, None] - np.cumsum(np.pad(top, ((0, 0), (1, 0))), axis=1)
        b = (np.arange(1, tails.shape[1] + 1) * tails).min(axis=1)
        f = self.unit * np.maximum(tails[:, -1] - self._rounding, 0.0)
        keep = f < demand.threshold
        if left == 1:
            return _goals(chosen, candidates[keep], f[keep], demand)
        if keep.sum() < left:
            return Branches(np.inf)
        return Branches(f.min(), candidates[keep], f[keep], self.unit * b[keep])


class InvariantColumns(_Columns):
    """Columns, with or without components, under any criterion of the singular values."""

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        r, n = self.reduced.columns.shape[1], self.n_items
        return 1e-4 + (25.0 * r**3 + 40.0 * r * r * n) / 2e9

    def completion_errors(self, chosen, candidates) -> np.ndarray:
        """Error of ``chosen`` plus each candidate."""
        lam, Z, _ = self._eigen_coordinates(chosen, candidates)
        if isinstance(self.criterion, Frobenius):
            top = downdated_eigenvalues(lam, Z, 0, min(self.n_components, len(lam)))
            left = lam.sum() - np.einsum("ij,ij->i", Z, Z) - top.sum(axis=1)
            return self.reduced.scale**2 * np.maximum(left, 0.0)
        first, last = self._range(0, len(lam))
        return self._thetas(downdated_eigenvalues(lam, Z, first, last))

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or its complete sets when one column is left to choose."""
        left = self.size - len(chosen)
        if left == 0:
            return _complete(self.value(chosen), chosen, demand)
        if len(candidates) < left:
            return Branches(np.inf)
        lam, Z, coordinates = self._eigen_coordinates(chosen, candidates)
        allowance = self._allowance
        outside = self._outside(lam, coordinates)
        bound = self._node_bound(lam, coordinates, outside, left, allowance)
        if bound >= demand.threshold:
            return Branches(np.inf)
        if isinstance(self.criterion, Frobenius) and len(candidates) > _MOST_PAIRED:
            return self._expand_by_leading(chosen, candidates, lam, Z, left, bound, demand)
        paired = left >= 2 and demand.shortcut and len(candidates) <= _MOST_PAIRED
        first, last = self._range(left - 1, len(lam))
        if paired or (demand.weight == "u" and left > 1):
            spectra = np.maximum(downdated_eigenvalues(lam, Z, 0, len(lam)), 0.0)
            roots = spectra[:, first:last]
        else:
            spectra, roots = None, downdated_eigenvalues(lam, Z, first, last)
        kept, f = self._filter(roots - allowance, outside, lam, coordinates, left,
                               bound, demand.threshold)  # fmt: skip
        if len(kept) < left:
            return Branches(np.inf)
        items = candidates[kept]
        if left == 1:
            return _goals(chosen, items, f, demand)
        if paired:
            node = _PairNode(lam, Z[kept], coordinates[kept], spectra[kept], allowance)
            if left == 2:
                return self._best_tuples(chosen, items, node, 2, demand)
            if demand.weight is None:
                return self._compatible(chosen, items, f, node, left, bound, demand)
        weight = np.empty(0)
        if demand.weight == "u":
            weight = self._thetas(spectra[kept, self.n_components :])
        return Branches(bound, items, f, weight)

    def _expand_by_leading(self, chosen, candidates, lam, Z, left, bound, demand) -> Branches:
        """Children under Frobenius: the sum of a tail is the trace minus the leading roots."""
        r2, unit = self.n_components, self.reduced.scale**2
        top = downdated_eigenvalues(lam, Z, 0, min(left - 1 + r2, len(lam)))
        trace = lam.sum() - np.einsum("ij,ij->i", Z, Z)
        f = trace - top.sum(axis=1) - len(lam) * self._allowance
        f = np.maximum(unit * f, bound)
        u = unit * np.maximum(trace - top[:, :r2].sum(axis=1), 0.0)
        keep = f < demand.threshold
        if keep.sum() < left:
            return Branches(np.inf)
        if left == 1:
            return _goals(chosen, candidates[keep], f[keep], demand)
        weight = u[keep] if demand.weight == "u" else u[:0]
        return Branches(bound, candidates[keep], f[keep], weight)

    def _compatible(self, chosen, items, f, node: _PairNode, left, bound, demand) -> Branches:
        """Children, each with the candidates it may still be combined with."""
        n = len(items)
        width = 3 if left == 3 and n <= _MOST_TRIPLED else 2
        tuples, bounds = self._tuples(node, width, left - width, demand.threshold)
        if width == 3 and len(tuples) <= _FEW_TUPLES * n:
            return self._solve_tuples(chosen, items, node, tuples, bounds, demand)
        together = np.full((n, n), np.inf)
        for a, b in ((0, 1), (0, 2), (1, 2))[: 1 if tuples.shape[1] == 2 else 3]:
            np.minimum.at(together, (tuples[:, a], tuples[:, b]), bounds)
        together = np.minimum(together, together.T)
        # A completion through i holds left - 1 others, so the last of its smallest bounds holds.
        f = np.maximum(f, np.partition(together, left - 2, axis=1)[:, left - 2])
        order = np.lexsort((items, f))
        allowed = np.isfinite(together)[np.ix_(order, order)]
        f = f[order]
        f[np.tril(allowed).sum(axis=1) < left - 1] = np.inf
        f[f >= demand.threshold] = np.inf
        return Branches(bound, items[order], f, partitioned=True, allowed=allowed, explored=n)

    def _best_tuples(self, chosen, items, node: _PairNode, width: int, demand) -> Branches:
        """Complete sets of a node with ``width`` columns to choose."""
        tuples, bounds = self._tuples(node, width, 0, demand.threshold)
        return self._solve_tuples(chosen, items, node, tuples, bounds, demand)

    def _solve_tuples(self, chosen, items, node, tuples, bounds, demand: Demand) -> Branches:
        """Solve tuples from the most promising on, until their bounds reach what was found."""
        order = np.argsort(bounds, kind="stable")
        found: list[tuple[float, float, tuple[int, ...]]] = []
        limit, base = demand.threshold, tuple(chosen.tolist())
        for at in order:
            if bounds[at] >= limit:
                break
            moment = node.moment(tuples[at])
            values = np.linalg.eigvalsh(moment)[::-1][self.n_components :]
            low, high = self._thetas(values + np.array([[-1.0], [1.0]]) * node.allowance)
            if low < limit:
                found.append((float(low), float(high), (*base, *items[tuples[at]].tolist())))
                highs = sorted(high for _, high, _ in found)
                # The limit is an error that was reached, rounding included.
                if len(found) >= demand.n_best:
                    limit = min(limit, highs[demand.n_best - 1])
                found = [entry for entry in found if entry[0] <= limit]
        goals = [(low, subset) for low, _, subset in found]
        return Branches(np.inf, goals=goals, explored=len(items))

    def _tuples(self, node: _PairNode, width: int, left: int, threshold: float):
        """Pairs or triples of children below the threshold with ``left`` more to come.

        Returns positions and error bounds; see :mod:`columnist.linalg.interlace`.
        """
        drop, scale = self.n_components + left, self.reduced.scale
        power = _schatten_power(self.criterion)
        if power is None:
            return self._general_pairs(node, width, drop, threshold)
        root = 1.0 if isinstance(self.criterion, Frobenius) else 1.0 / power
        unit = scale**2 if isinstance(self.criterion, Frobenius) else scale
        limit = (threshold / unit) ** (1.0 / root)
        low = np.maximum(node.spectra - node.allowance, 0.0)
        cosines, inner = node.products()
        tuples, totals = surviving_tuples(
            node.spectra, low, node.spectra ** (power / 2), low ** (power / 2), cosines, inner,
            float(node.lam.sum()), width, drop, node.allowance, limit, power <= 2.0,
        )  # fmt: skip
        return tuples, unit * totals**root

    def _general_pairs(self, node: _PairNode, width: int, drop: int, threshold: float):
        """The same for any monotone criterion, from the lower ends of the boxes alone."""
        n = len(node.spectra)
        tuples = np.array(list(combinations(range(n), width)), dtype=np.int32)
        tuples = tuples.reshape(-1, width)
        shift = width - 1
        shifted = np.pad(node.spectra[:, shift:], ((0, 0), (0, shift)))
        bounds = np.empty(len(tuples))
        for start in range(0, len(tuples), _CHUNK):
            part = slice(start, start + _CHUNK)
            low = shifted[tuples[part]].max(axis=1)[:, drop:] - node.allowance
            bounds[part] = self._thetas(low)
        below = bounds < threshold
        return tuples[below], bounds[below]

    def _filter(self, roots, outside, lam, coordinates, left, bound, threshold):
        """Children below the threshold; a shorter list tightens its own bounds."""
        kept = np.arange(len(roots))
        while True:
            floor = _fit(outside - self._allowance, roots.shape[1])
            f = np.maximum(self._thetas(np.maximum(roots[kept], floor)), bound)
            below = f < threshold
            if below.all() or below.sum() < left or below.sum() >= len(lam):
                return kept[below], f[below]
            kept = kept[below]
            outside = self._outside(lam, coordinates[kept])

    def _outside(self, lam, coordinates) -> np.ndarray:
        """Eigenvalues of the residual that no candidate reaches, components dropped."""
        n, d = coordinates.shape
        if n >= d:
            return np.empty(0)
        rest = np.linalg.qr(coordinates.T, mode="complete")[0][:, n:]
        return np.linalg.eigvalsh((rest.T * lam) @ rest)[::-1][self.n_components :]

    def _node_bound(self, lam, coordinates, outside, left, allowance) -> float:
        tail = lam[left + self.n_components :] - allowance
        length = max(len(tail), len(outside))
        spectrum = np.maximum(_fit(tail, length), _fit(outside - allowance, length))
        bound = float(self._thetas(spectrum[None])[0])
        if isinstance(self.criterion, Frobenius) and len(outside):
            bound = max(bound, self._captured_bound(lam, coordinates, left, allowance))
        return bound

    def _captured_bound(self, lam, coordinates, left, allowance) -> float:
        """tr B minus what columns in the span and r2 free vectors can catch at most."""
        Q = np.linalg.qr(coordinates.T)[0]
        inside = np.linalg.eigvalsh((Q.T * lam) @ Q)[::-1][:left].sum()
        error = lam.sum() - inside - lam[: self.n_components].sum() - len(lam) * allowance
        return self.reduced.scale**2 * max(error, 0.0)

    def _range(self, dropped: int, d: int) -> tuple[int, int]:
        """Indices of the eigenvalues that count after dropping columns and components."""
        first = min(dropped + self.n_components, d)
        leading = getattr(self.criterion, "n_leading", None)
        return first, d if leading is None else min(first + leading, d)

    def _thetas(self, eigenvalues: np.ndarray) -> np.ndarray:
        sigma = np.sqrt(np.maximum(eigenvalues, 0.0))
        if sigma.shape[-1] == 0:
            sigma = np.zeros((len(sigma), 1))
        return self.criterion.values(self.reduced.scale * sigma)


@dataclass(frozen=True)
class _PairNode:
    """A node with two columns to choose: spectrum, candidates, spectra after each of them."""

    lam: np.ndarray
    Z: np.ndarray
    units: np.ndarray
    spectra: np.ndarray
    allowance: float

    def products(self) -> tuple[np.ndarray, np.ndarray]:
        """Inner products of unit residuals, and of their images z."""
        return self.units @ self.units.T, self.Z @ self.Z.T

    def moment(self, positions) -> np.ndarray:
        """Residual second moment after these columns."""
        Q = chosen_basis(self.units, positions)
        Z = np.sqrt(self.lam)[:, None] * Q
        return np.diag(self.lam) - Z @ Z.T


def _schatten_power(criterion: Criterion) -> float | None:
    """p of a Schatten criterion, None for others."""
    if isinstance(criterion, Frobenius):
        return 2.0
    if isinstance(criterion, Nuclear):
        return 1.0
    return criterion.p if isinstance(criterion, Schatten) else None


def _fit(values: np.ndarray, length: int) -> np.ndarray:
    """Cut or pad with zeros."""
    return np.pad(values[:length], (0, max(length - len(values), 0)))


def _complete(value: float, chosen, demand: Demand) -> Branches:
    """A node that is complete already (everything was included)."""
    goals = [(value, tuple(chosen.tolist()))] if value < demand.threshold else []
    return Branches(np.inf, goals=goals)


def _goals(chosen, items, errors, demand: Demand) -> Branches:
    """The best complete sets that add one item."""
    order = np.lexsort((items, errors))[: demand.n_best]
    base = tuple(chosen.tolist())
    goals = [(float(errors[i]), (*base, int(items[i]))) for i in order]
    return Branches(np.inf, goals=goals)
