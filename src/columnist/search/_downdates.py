r"""Problems in which every choice subtracts a rank-one term from a second moment, for any
criterion.

With :math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of the moment that a partial choice S
leaves, t items still to choose and r components that cost nothing,

.. math:: u(S) = \Theta(\lambda_{r+1}, \dots), \qquad f(S) = \Theta(\lambda_{t+r+1}, \dots).

One more item changes the spectrum to that of :math:`\Lambda - zz^T`. A part of the moment that no
candidate can touch tightens f: its eigenvalues :math:`\phi_i` remain, so
:math:`\sigma_i^2 \ge \max(\lambda_{i+t+r}, \phi_{i+r})`. Pairs and triples of candidates
are bounded by interlacing (:mod:`columnist.search._interlace`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from columnist.criteria import Criterion, is_frobenius, leading_values, schatten_power
from columnist.linalg._secular import downdated_eigenvalues
from columnist.search._interlace import surviving_tuples
from columnist.search._problem import Branches, Demand

# Longest candidate list whose pairs are bounded all at once.
_MOST_PAIRED = 200
# Longest candidate list whose triples are.
_MOST_TRIPLED = 120
# Triples per candidate that are solved at once rather than branched on.
_FEW_TUPLES = 4
# Tuples bounded in one NumPy call.
_CHUNK = 4096
# Sums of powers between these can be compared with one another.
_SAFE = 1e-250, 1e250


class Moment(ABC):
    """What a partial choice leaves, and what each candidate would take from it."""

    lam: np.ndarray  # eigenvalues, descending
    Z: np.ndarray  # candidate i changes the moment to that of diag(lam) - outer(Z[i], Z[i])
    allowance: float  # rounding of an eigenvalue
    doubtful: bool = False  # a candidate was taken for one that adds nothing, but may do more

    @property
    def charges(self) -> np.ndarray:
        """Rounding of an eigenvalue after each candidate."""
        return np.full(len(self.Z), self.allowance)

    def growth_of(self, kept: np.ndarray) -> float:
        """Factor by which rounding of these candidates' directions has grown."""
        return 1.0

    @abstractmethod
    def untouched(self, kept: np.ndarray) -> np.ndarray:
        """Eigenvalues, descending, of a part that none of these candidates reaches; rounding beyond
        ``allowance`` is taken off."""

    @abstractmethod
    def products(self, kept: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Cosines of the candidates' directions and inner products of their z: from these the
        kernel knows what ``width`` candidates take together, at most."""

    @abstractmethod
    def after(self, positions: np.ndarray) -> tuple[np.ndarray, float]:
        """The moment, in the basis of ``lam``, after choosing these candidates, and the rounding
        of its eigenvalues."""

    def least_energy(self, left: int, n_components: int) -> float:
        """Another lower bound on the sum of eigenvalues, if there is one."""
        return 0.0


class Downdates(ABC):
    """A problem of :mod:`columnist.search._problem` for every criterion of the singular values,
    less ``n_components`` leading ones, times ``scale``. A subclass defines :meth:`moment`,
    :meth:`value`, :meth:`root`, :meth:`root_bounds`."""

    exact = True

    def __init__(
        self, n_items: int, size: int, criterion: Criterion, n_components: int, scale: float
    ):
        self.n_items, self.size, self.scale = n_items, size, scale
        self.criterion, self.n_components = criterion, n_components
        self.least = float(criterion.value(np.zeros(1)))

    @abstractmethod
    def moment(self, chosen: np.ndarray, candidates: np.ndarray) -> Moment:
        """What a partial choice leaves."""

    @abstractmethod
    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice."""

    def completion_errors(self, chosen, candidates) -> np.ndarray:
        """Error of ``chosen`` plus each candidate."""
        moment = self.moment(chosen, candidates)
        lam, Z = moment.lam, moment.Z
        if is_frobenius(self.criterion):
            top = downdated_eigenvalues(lam, Z, 0, min(self.n_components, len(lam)))
            left = lam.sum() - np.einsum("ij,ij->i", Z, Z) - top.sum(axis=1)
            return self.scale**2 * np.maximum(left, 0.0)
        first, last = self.counted(0, len(lam))
        return self.errors(downdated_eigenvalues(lam, Z, first, last))

    def errors(self, eigenvalues: np.ndarray) -> np.ndarray:
        """The criterion of every row of eigenvalues."""
        sigma = np.sqrt(np.maximum(eigenvalues, 0.0))
        if sigma.shape[-1] == 0:
            sigma = np.zeros((len(sigma), 1))
        return self.criterion.values(self.scale * sigma)

    def error(self, singular_values: np.ndarray) -> float:
        """The criterion of one spectrum."""
        values = singular_values if len(singular_values) else np.zeros(1)
        return float(self.criterion.value(self.scale * values))

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or its complete sets when one item is left to choose."""
        left = self.size - len(chosen)
        if left == 0:
            return complete_goal(self.value(chosen), chosen, demand)
        if len(candidates) < left:
            return Branches(np.inf)
        moment = self.moment(chosen, candidates)
        untouched = moment.untouched(np.arange(len(candidates)))[self.n_components :]
        bound = self.node_bound(moment, untouched, left)
        floors = np.maximum(self.floors(chosen, candidates), bound)
        bound = float(floors.min())
        if bound >= demand.threshold:
            return Branches(np.inf, doubtful=moment.doubtful)
        if is_frobenius(self.criterion) and len(candidates) > _MOST_PAIRED:
            found = self._expand_by_leading(chosen, candidates, moment, left, floors, demand)
        else:
            found = self._expand_by_roots(
                chosen, candidates, moment, untouched, left, floors, demand
            )
        return replace(found, doubtful=moment.doubtful)

    def floors(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Lower bound, known without a decomposition, of all completions by each candidate."""
        return np.full(len(candidates), -np.inf)

    def _expand_by_roots(self, chosen, candidates, moment, untouched, left, floors, demand):
        """Children with the eigenvalues that each one leaves."""
        bound = float(floors.min())
        lam, Z = moment.lam, moment.Z
        spectra: Any  # examined only where they were computed
        paired = left >= 2 and demand.shortcut and len(candidates) <= _MOST_PAIRED
        first, last = self.counted(left - 1, len(lam))
        if paired or (demand.weight == "u" and left > 1):
            spectra = np.maximum(downdated_eigenvalues(lam, Z, 0, len(lam)), 0.0)
            roots = spectra[:, first:last]
        else:
            spectra, roots = None, downdated_eigenvalues(lam, Z, first, last)
        kept, f = self._filter(moment, roots, untouched, left, floors, demand.threshold)
        if len(kept) < left:
            return Branches(np.inf)
        items = candidates[kept]
        if left == 1:
            high = self.errors(roots[kept] + moment.charges[kept, None])
            return best_goals(chosen, items, f, high, demand)
        if paired:
            node = _Tuples(moment, kept, spectra[kept])
            if left == 2:
                tuples, bounds = self._below(node, 2, 0, demand.threshold)
                return self._solve_tuples(chosen, items, node, tuples, bounds, demand)
            if demand.weight is None:
                return self._compatible(chosen, items, f, node, left, bound, demand)
        weight = np.empty(0)
        if demand.weight == "u":
            weight = self.errors(spectra[kept, self.n_components :])
        return Branches(bound, items, f, weight)

    def _expand_by_leading(self, chosen, candidates, moment, left, floors, demand) -> Branches:
        """Children under Frobenius: the sum of a tail is the trace minus the leading roots."""
        r, unit, lam, Z = self.n_components, self.scale**2, moment.lam, moment.Z
        top = downdated_eigenvalues(lam, Z, 0, min(left - 1 + r, len(lam)))
        trace = lam.sum() - np.einsum("ij,ij->i", Z, Z)
        rounding = len(lam) * moment.charges
        f = np.maximum(unit * (trace - top.sum(axis=1) - rounding), floors)
        u = unit * np.maximum(trace - top[:, :r].sum(axis=1), 0.0)
        keep = f < demand.threshold
        if keep.sum() < left:
            return Branches(np.inf)
        if left == 1:
            high = u + unit * rounding
            return best_goals(chosen, candidates[keep], f[keep], high[keep], demand)
        weight = u[keep] if demand.weight == "u" else u[:0]
        return Branches(float(floors.min()), candidates[keep], f[keep], weight)

    def _filter(self, moment: Moment, roots, untouched, left, floors, threshold):
        """Children below the threshold; a shorter list tightens its own bounds."""
        kept = np.arange(len(roots))
        low = roots - moment.charges[:, None]
        while True:
            floor = _fit(untouched - moment.allowance, roots.shape[1])
            f = np.maximum(self.errors(np.maximum(low[kept], floor)), floors[kept])
            below = f < threshold
            if below.all() or below.sum() < left:
                return kept[below], f[below]
            kept, f = kept[below], f[below]
            untouched = moment.untouched(kept)[self.n_components :]
            if len(untouched) == 0:
                return kept, f

    def node_bound(self, moment: Moment, untouched, left: int) -> float:
        tail = moment.lam[left + self.n_components :] - moment.allowance
        length = max(len(tail), len(untouched))
        spectrum = np.maximum(_fit(tail, length), _fit(untouched - moment.allowance, length))
        bound = float(self.errors(spectrum[None])[0])
        if is_frobenius(self.criterion) and len(untouched):
            least = moment.least_energy(left, self.n_components)
            bound = max(bound, self.scale**2 * least)
        return bound

    def counted(self, dropped: int, d: int) -> tuple[int, int]:
        """Indices of the eigenvalues that count after dropping items and components."""
        first = min(dropped + self.n_components, d)
        leading = leading_values(self.criterion)
        return first, d if leading is None else min(first + leading, d)

    # -- pairs and triples ------------------------------------------------------------

    def _compatible(self, chosen, items, f, node: _Tuples, left, bound, demand) -> Branches:
        """Children, each with the candidates it may still be combined with."""
        n = len(items)
        width = 3 if left == 3 and n <= _MOST_TRIPLED else 2
        tuples, bounds = self._below(node, width, left - width, demand.threshold)
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

    def _solve_tuples(self, chosen, items, node, tuples, bounds, demand: Demand) -> Branches:
        """Solve tuples from the most promising on, until their bounds reach what was found."""
        order = np.argsort(bounds, kind="stable")
        found: list[tuple[float, float, tuple[int, ...]]] = []
        limit, base = demand.threshold, tuple(chosen.tolist())
        for at in order:
            if bounds[at] >= limit:
                break
            after, rounding = node.moment.after(node.kept[tuples[at]])
            values = np.linalg.eigvalsh(after)[::-1][self.n_components :]
            low, high = self.errors(values + np.array([[-1.0], [1.0]]) * rounding)
            if low < limit:
                found.append((float(low), float(high), (*base, *items[tuples[at]].tolist())))
                highs = sorted(high for _, high, _ in found)
                # The limit is an error that was reached, rounding included.
                if len(found) >= demand.n_best:
                    limit = min(limit, highs[demand.n_best - 1])
                found = [entry for entry in found if entry[0] <= limit]
        goals = [(low, subset) for low, _, subset in found]
        return Branches(np.inf, goals=goals, explored=len(items))

    def _below(self, node: _Tuples, width: int, left: int, threshold: float):
        """Pairs or triples of children below the threshold with ``left`` more to come: positions
        and error bounds; see :mod:`columnist.search._interlace`."""
        drop, spectra, moment = self.n_components + left, node.spectra, node.moment
        power = schatten_power(self.criterion)
        if power is None:
            return self._general_tuples(node, width, drop, threshold)
        root = 1.0 if is_frobenius(self.criterion) else 1.0 / power
        unit = self.scale**2 if is_frobenius(self.criterion) else self.scale
        charges = moment.charges[node.kept]
        low = np.maximum(spectra - charges[:, None], 0.0)
        with np.errstate(over="ignore", under="ignore"):
            limit = np.float64(threshold / unit) ** (1.0 / root)
            powers = spectra ** (power / 2)
        if limit < _SAFE[0] or powers.sum() > _SAFE[1]:  # sums of high powers leave the range
            return self._general_tuples(node, width, drop, threshold)
        cosines, inner = moment.products(node.kept, width)
        worst = float(charges.max(initial=moment.allowance))
        tuples, totals = surviving_tuples(
            spectra, low, powers, low ** (power / 2), cosines, inner,
            float(moment.lam.sum()), width, drop, worst, limit, power <= 2.0,
            moment.growth_of(node.kept),
        )  # fmt: skip
        return tuples, unit * totals**root

    def _general_tuples(self, node: _Tuples, width: int, drop: int, threshold: float):
        """The same for any monotone criterion, from the lower ends of the boxes alone."""
        n, shift = len(node.spectra), width - 1
        tuples = np.array(list(combinations(range(n), width)), dtype=np.int32)
        tuples = tuples.reshape(-1, width)
        shifted = np.pad(node.spectra[:, shift:], ((0, 0), (0, shift)))
        bounds = np.empty(len(tuples))
        rounding = float(node.moment.charges[node.kept].max(initial=node.moment.allowance))
        for start in range(0, len(tuples), _CHUNK):
            part = slice(start, start + _CHUNK)
            low = shifted[tuples[part]].max(axis=1)[:, drop:] - rounding
            bounds[part] = self.errors(low)
        below = bounds < threshold
        return tuples[below], bounds[below]


class _Tuples(NamedTuple):
    """A node whose candidates are examined in pairs or triples: spectra after each one."""

    moment: Moment
    kept: np.ndarray
    spectra: np.ndarray


def complete_goal(value: float, chosen, demand: Demand) -> Branches:
    """A node that is complete already (everything was given)."""
    goals = [(value, tuple(chosen.tolist()))] if value < demand.threshold else []
    return Branches(np.inf, goals=goals)


def best_goals(chosen, items, low, high, demand: Demand) -> Branches:
    """The best complete sets that add one item, and all that rounding cannot tell from them: errors
    lie between ``low`` and ``high``, and only what ``n_best`` others surely beat is left out."""
    limit = demand.threshold
    if len(high) >= demand.n_best:
        limit = min(limit, float(np.partition(high, demand.n_best - 1)[demand.n_best - 1]))
    order = np.lexsort((items, high, low))
    base = tuple(chosen.tolist())
    goals = [(float(low[i]), (*base, int(items[i]))) for i in order if low[i] <= limit]
    return Branches(np.inf, goals=goals)


def _fit(values: np.ndarray, length: int) -> np.ndarray:
    """Cut or pad with zeros."""
    if len(values) >= length:
        return values[:length]
    fitted = np.zeros(length)  # np.pad takes many times as long
    fitted[: len(values)] = values
    return fitted
