r"""Relaxation of nodes with correlated columns: the bound by blocks.

With a diagonal D the bound of :mod:`columnist.selection._active` is weak where columns are strongly
correlated: then :math:`D \preceq K` is small. Here columns that are related form blocks, D is
block-diagonal (:mod:`columnist.selection._block_diagonal`), and :math:`P = K - D \succeq 0`. For
**any** coefficients B, with :math:`U = c - PB`,

.. math:: \text{error}(S) \ge \lVert Y \rVert^2 - \mathrm{tr}(B^TPB) - \sum_b h_b(S \cap b), \qquad
          h_b(T) = \mathrm{tr}(U_T^T D_{TT}^{-1} U_T),

since :math:`\mathrm{tr}(\beta^TK\beta - 2c^T\beta) \ge -\mathrm{tr}(B^TPB) +
\mathrm{tr}(\beta^TD\beta - 2U^T\beta)` for every :math:`\beta`, and the last term has its minimum
over the coefficients of S block by block. The largest sum over all S of t columns follows from the
largest :math:`h_b(T)` of each size in each block (:mod:`columnist.selection._block_sets`) by
dynamic programming over the blocks. Forced with and without each column, it tells which columns can
be left out and which are fixed.

*B* solves the relaxation over weights w of subsets,

.. math:: \min_w \max_B \; \lVert Y \rVert^2 - \mathrm{tr}(B^TPB) - \sum_T w_T h(T), \qquad
          \sum_{T \subseteq b} w_T \le 1, \quad \sum_T |T| w_T \le t, \quad w \ge 0,

in which :math:`B = M(I + PM)^{-1}c` for :math:`M = \sum_T w_T D_{TT}^{-1}`, by an interior-point
method over a list of subsets. Those that the prices of the constraints call for join the list.

**Rounding.** The form is below the true one as in :mod:`columnist.selection._active`. D and P are
what they are: only the value of the bound is charged. With :math:`\kappa = \sum_i D_{ii}
(D^{-1})_{ii}` of a block of m columns, which bounds its condition once columns are scaled, h is
known to :math:`16 (m + 4)^3 u \kappa\, h(b)`: the inverse, each step of elimination on it
and each Cholesky factorisation are backward stable. An error of the rows of U by at most
:math:`e_i` moves :math:`\sqrt{h}` by at most :math:`\sum_i e_i \sqrt{(D^{-1})_{ii}}`.

No input validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from columnist.linalg._rounding import UNIT
from columnist.search._interrupts import expired
from columnist.selection._block_diagonal import BlockDiagonal, clusters, inverse_of
from columnist.selection._block_sets import best_in_blocks

# Columns of a block, at most; families of subsets that are examined in it.
_CAP, _FAMILIES, _SCREENED = 24, 3000, 20_000
# A block whose values are not known to this share is of no use.
_KNOWN = 1e-4
# Values of which squares might overflow are of no use, either.
_HUGE = 1e150
# How often D is shaped, and the sweeps for it; how often subsets join the list for each D.
_SHAPINGS, _SWEEPS, _LISTS = 5, 2, 6
# Share of the gap that must close for another shaping, and that the list may leave.
_WORTHWHILE, _SETTLED = 0.15, 0.05
# Prices of the determinants of P and D, as shares of the gap for each column.
_INNER, _OUTER = 0.5, 1.25
# Steps of the interior-point method, how far its price falls with each, and towards the boundary.
_STEPS, _FALL, _TOWARDS = 14, 0.25, 0.95
# Single columns for each column to choose on the first list; weights that leave the list.
_FIRST, _LEFT = 8, 1e-4
# Subsets that join the list for each block and size at once, at most.
_JOIN = 3


class BlockRelaxed(NamedTuple):
    """A relaxed node: its bound; the bounds with and without each candidate; the share z of each
    candidate."""

    bound: float
    within: np.ndarray
    without: np.ndarray
    z: np.ndarray

    @property
    def is_finite(self) -> bool:
        """Whether all bounds are numbers."""
        return bool(np.isfinite([self.bound, self.within.sum(), self.without.sum()]).all())

    def decided(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Candidates without which, and with which, nothing is below the threshold."""
        return self.without >= threshold, self.within >= threshold

    def at(self, kept: np.ndarray) -> BlockRelaxed:
        """The same for some candidates."""
        return self._replace(within=self.within[kept], without=self.without[kept], z=self.z[kept])


class _Look(NamedTuple):
    """The bound of some coefficients, with and without each column, U, and the best subsets."""

    bound: float
    within: np.ndarray
    without: np.ndarray
    U: np.ndarray
    best: np.ndarray
    which: np.ndarray


class _Solved(NamedTuple):
    """Coefficients for a list of subsets, their weights, the value, which no bound exceeds, and the
    prices of a column and of each block."""

    B: np.ndarray
    weights: np.ndarray
    value: float
    price: float
    block_prices: np.ndarray


class BlockForm:
    """The candidates of a node.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        K of the candidates, lowered for its rounding.
    cross : ndarray of shape (q, p)
        Their products with the targets.
    total : float
        Squared length of the targets.
    t : int
        Columns to choose.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no D is found.
    """

    def __init__(self, gram: np.ndarray, cross: np.ndarray, total: float, t: int):
        squares = np.einsum("ii->i", gram)
        if not (squares > 0.0).all():
            raise np.linalg.LinAlgError("Columns are dependent.")
        blocks = clusters(gram, np.square(cross).sum(axis=0) / squares, _CAP)
        # Powers of two round nothing.
        scales = np.ldexp(1.0, -np.round(np.log2(squares) / 2).astype(int))
        self.order = np.concatenate(blocks)
        sizes = np.array([len(block) for block in blocks])
        self.starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
        self.block = np.repeat(np.arange(len(blocks)), sizes)
        both = np.ix_(self.order, self.order)
        self.gram = gram[both] * scales[self.order, None] * scales[self.order]
        self.cross = np.ascontiguousarray((cross * scales)[:, self.order].T)
        self.total, self.t = total, t
        self.diagonal = BlockDiagonal(self.gram, self.starts)
        self._renew()

    def _renew(self) -> None:
        """D has changed."""
        parts = self.diagonal.parts
        inverses = [inverse_of(part) for part in parts]
        own = np.concatenate([np.diag(part) for part in parts])
        self.roots = np.sqrt(np.concatenate([np.diag(inverse) for inverse in inverses]))
        condition = np.add.reduceat(own * np.square(self.roots), self.starts[:-1])
        sizes = np.diff(self.starts)
        self.rounding = 16.0 * (sizes + 4.0) ** 3 * UNIT * condition
        if self.rounding.max() > _KNOWN:
            raise np.linalg.LinAlgError("Columns of a block are nearly dependent.")
        self.D = np.concatenate([part.ravel() for part in parts])
        self.G = np.concatenate([inverse.ravel() for inverse in inverses])
        self.P = self.diagonal.P

    # -- one node -------------------------------------------------------------------

    def relax(
        self,
        threshold: float,
        hint: np.ndarray | None = None,
        least: float = -np.inf,
        deadline: float = np.inf,
    ) -> BlockRelaxed | None:
        """The bound of the node; ``hint`` are shares to start from. None if the bound is below
        ``least`` before D is shaped."""
        best, sets, solved = self._solve(self._first(hint), threshold)
        if best.bound < least:
            return None
        listed, last, shaped = sets, solved, None
        for _ in range(_SHAPINGS):
            gap = threshold - best.bound
            if gap <= 0.0 or self._decides(best, threshold) or expired(deadline):
                break
            wanted = self._wanted(listed, last, best.U)
            if shaped is not None:
                wanted = [0.5 * (a + b) for a, b in zip(shaped, wanted, strict=True)]
            shaped = wanted
            if not self._shape(shaped, max(threshold - last.value, _SETTLED * gap), deadline):
                break
            kept = [s for s, weight in zip(listed, last.weights, strict=True) if weight > _LEFT]
            found, listed, last = self._solve(kept or listed, threshold)
            gained = found.bound - best.bound
            if gained > 0.0:
                best, sets, solved = found, listed, last
            if gained <= _WORTHWHILE * gap:
                break
        if best.bound < threshold:  # of any coefficients, with any D
            best = _sharper(best, self._look(last.B, threshold, screen=True))
        return self._in_order(best, sets, solved.weights)

    def _shape(self, wanted: list[np.ndarray], gap: float, deadline: float) -> bool:
        """A better D; False, and the old one, if there is none."""
        share, before = gap / len(self.gram), (self.diagonal.parts, self.diagonal.P)
        try:
            self.diagonal.shape(wanted, _INNER * share, _OUTER * share, _SWEEPS, deadline)
            self._renew()
        except np.linalg.LinAlgError:
            self.diagonal.parts, self.diagonal.P = before
            self._renew()
            return False
        return True

    def _decides(self, look: _Look, threshold: float) -> bool:
        """Whether enough columns are decided that the node is better looked at without them."""
        decided = (look.within >= threshold) | (look.without >= threshold)
        return bool(decided.sum() >= 0.3 * len(decided))

    def _in_order(self, look: _Look, sets, weights) -> BlockRelaxed:
        """In the order of the candidates."""
        z = np.zeros(len(self.order))
        for subset, weight in zip(sets, weights, strict=True):
            z[list(subset)] += weight
        back = np.empty(len(self.order), dtype=np.intp)
        back[self.order] = np.arange(len(back))
        return BlockRelaxed(look.bound, look.within[back], look.without[back], z[back])

    def _first(self, hint: np.ndarray | None) -> list[tuple[int, ...]]:
        """Single columns to begin the list with."""
        gains = np.square(self.cross).sum(axis=1) / np.einsum("ii->i", self.gram)
        order = np.argsort(-gains, kind="stable")
        first = order[: _FIRST * self.t]
        if hint is not None and np.count_nonzero(hint) > self.t:
            first = np.union1d(order[: self.t], np.flatnonzero(hint[self.order]))
        return [(i,) for i in sorted(first.tolist())]

    def _solve(self, sets, threshold: float) -> tuple[_Look, list, _Solved]:
        """Coefficients for D as it is: subsets join the list until it holds all that matter."""
        best: tuple[_Look, list, _Solved] | None = None
        for _ in range(_LISTS):
            solved = self._weigh(sets)
            found = self._look(solved.B, threshold)
            if best is None or found.bound > best[0].bound:
                best = found, sets, solved
            room = threshold - best[0].bound
            if room <= 0.0 or solved.value - best[0].bound <= _SETTLED * room:
                break
            new = self._missing(found, solved, set(sets), room)
            if not new:
                break
            kept = [s for s, weight in zip(sets, solved.weights, strict=True) if weight > _LEFT]
            sets = kept + new
        assert best is not None
        return best

    def _missing(self, look: _Look, solved: _Solved, known: set, room: float):
        """Subsets whose values exceed their prices."""
        slack = 0.01 * room / self.t
        values = np.square(look.U).sum(axis=1) / self._squares
        new: list[tuple[int, ...]] = []
        for b, start in enumerate(self.starts[:-1]):
            end, own = int(self.starts[b + 1]), float(solved.block_prices[b])
            excess = values[start:end] - own - solved.price
            for i in np.argsort(-excess, kind="stable")[:_JOIN]:
                if excess[i] > slack:
                    new.append((int(start + i),))
            sizes = np.arange(look.best.shape[1])
            for j in np.flatnonzero(look.best[b] > own + solved.price * sizes + slack):
                members = np.flatnonzero(look.which[b, j]) + int(start)
                if j > 1 and len(members) == j:
                    new.append(tuple(members.tolist()))
        return [subset for subset in new if subset not in known]

    @property
    def _squares(self) -> np.ndarray:
        """Diagonal of D."""
        return np.concatenate([np.diag(part) for part in self.diagonal.parts])

    def _wanted(self, sets, solved: _Solved, U: np.ndarray) -> list[np.ndarray]:
        """How much the relaxation gains from each entry of D."""
        wanted = [-solved.B[s] @ solved.B[s].T for s in self.diagonal.slices]
        for subset, weight in zip(sets, solved.weights, strict=True):
            if weight > _LEFT:
                b = self.block[subset[0]]
                local = np.array(subset) - self.starts[b]
                both = np.ix_(local, local)
                own = np.linalg.solve(self.diagonal.parts[b][both], U[list(subset)])
                wanted[b][both] += weight * (own @ own.T)
        return wanted

    # -- coefficients ---------------------------------------------------------------

    def _weigh(self, sets: Sequence[tuple[int, ...]]) -> _Solved:
        """The interior-point method over a list of subsets; see the module docstring."""
        columns = np.unique(np.concatenate([np.array(s) for s in sets]))
        P, c = self.P[np.ix_(columns, columns)], self.cross[columns]
        inverses = self._inverses(sets, columns)
        owners = np.array([self.block[s[0]] for s in sets])
        limits, caps = _constraints(sets, owners, self.t)
        n, r, q = len(sets), len(columns), c.shape[1]
        w = np.full(n, 0.5)
        w *= 0.95 / max(float((limits @ w / caps).max()), 0.95)
        tau = None
        every = np.arange(n)
        for _ in range(_STEPS):
            M = np.tensordot(w, inverses, 1)
            both = np.linalg.solve(np.eye(r) + P @ M, np.hstack([c, P]))
            U, N = both[:, :q], both[:, q:]
            G = inverses @ U
            slope = -np.einsum("rq,nrq->n", U, G)
            H = 2.0 * sum(G[:, :, k] @ N @ G[:, :, k].T for k in range(q))
            if tau is None:
                tau = 0.01 * max(-float(slope.min()), 1e-300)
            slack = caps - limits @ w
            slope += limits.T @ (tau / slack) - tau / w
            H += limits.T @ ((tau / slack**2)[:, None] * limits)
            H[every, every] = H[every, every] * (1.0 + 1e-12) + tau / w**2
            step = -np.linalg.solve(H, slope)
            length, use = 1.0, limits @ step
            if (down := step < 0.0).any():
                length = min(length, _TOWARDS * float((-w[down] / step[down]).min()))
            if (up := use > 0.0).any():
                length = min(length, _TOWARDS * float((slack[up] / use[up]).min()))
            w = w + length * step
            tau *= _FALL if length > 0.3 else 1.0
        M = np.tensordot(w, inverses, 1)
        B = np.zeros_like(self.cross)
        B[columns] = M @ np.linalg.solve(np.eye(r) + P @ M, c)
        prices = tau / (caps - limits @ w)
        block_prices = np.zeros(len(self.starts) - 1)
        block_prices[np.unique(owners)] = prices[:-1]
        value = self.total - float(np.vdot(B, self.cross))
        return _Solved(B, w, value, float(prices[-1]), block_prices)

    def _inverses(self, sets, columns: np.ndarray) -> np.ndarray:
        """The inverse of D for each subset, among some columns."""
        place = np.full(len(self.order), -1)
        place[columns] = np.arange(len(columns))
        inverses = np.zeros((len(sets), len(columns), len(columns)))
        for k, subset in enumerate(sets):
            b = self.block[subset[0]]
            local, own = np.array(subset) - self.starts[b], place[list(subset)]
            part = self.diagonal.parts[b][np.ix_(local, local)]
            inverses[k][np.ix_(own, own)] = 1.0 / part if len(own) == 1 else np.linalg.inv(part)
        return inverses

    # -- the bound ------------------------------------------------------------------

    def _look(self, B: np.ndarray, threshold: float, screen: bool = False) -> _Look:
        """The bound of these coefficients, with its rounding.

        What three columns or more of a block could add to the best choice of pairs, or to screen,
        to what the threshold leaves, is all that matters of them.
        """
        base, U, off = self._base(B)
        whole = self._wholes(U)
        if not whole.max() < _HUGE:  # or not a number, which the kernel could not compare
            raise np.linalg.LinAlgError("Coefficients are too large.")
        moved = 1.01 * np.add.reduceat(off * self.roots, self.starts[:-1])
        charge = self.rounding * whole + moved * (2.0 * np.sqrt(whole) + moved)
        n_blocks, at = len(whole), self.t - np.arange(min(self.t, _CAP) + 1)
        levels = np.full((n_blocks, len(at)), -np.inf)
        tables = self._tables(U, levels, charge, 0)
        total, others = _knapsack(tables[0], self.t)
        if len(at) > 3:
            goal = base - threshold - 1e-9 * abs(threshold)
            goal = goal if screen else max(goal, total)
            levels = goal - others[:, at] - charge[:, None]
            tables = self._tables(U, levels, charge, _SCREENED if screen else _FAMILIES)
            total, others = _knapsack(tables[0], self.t)
        best, within, without, which = tables
        low = base - (len(self.starts) + self.t + 8) * 4.0 * UNIT * (total + abs(base))
        reach = others[self.block][:, at]
        return _Look(
            low - total,
            low - (within + reach)[:, 1:].max(axis=1),
            low - (without + reach).max(axis=1),
            U, best, which,
        )  # fmt: skip

    def _base(self, B: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The bound before what the subsets catch, U, and how far its rows may be off."""
        rows = np.flatnonzero(B.any(axis=1))
        q = B.shape[1]
        U = self.cross - self.P[:, rows] @ B[rows]
        norms = np.linalg.norm(B[rows], axis=1)
        root = np.sqrt(np.maximum(np.einsum("ii->i", self.P), 0.0))
        lengths, lengths_u = np.linalg.norm(self.cross, axis=1), np.linalg.norm(U, axis=1)
        spread = float(root[rows] @ norms)
        off = (len(rows) + q + 8) * UNIT * (lengths + lengths_u + root * spread)
        caught = float(np.vdot(B[rows], self.cross[rows]))
        quad = caught - float(np.vdot(B[rows], U[rows]))
        sums = (lengths + lengths_u)[rows]
        charge = float(norms @ (2.0 * off[rows] + (len(rows) * q + 8) * UNIT * sums))
        base = self.total - quad - charge - 8.0 * UNIT * (self.total + abs(quad))
        return base, U, off

    def _wholes(self, U: np.ndarray) -> np.ndarray:
        """h of each whole block."""
        values, at = [], 0
        for s in self.diagonal.slices:
            m = s.stop - s.start
            G = self.G[at : at + m * m].reshape(m, m)
            values.append(float(np.vdot(U[s], G @ U[s])))
            at += m * m
        return np.maximum(np.array(values), 0.0) * (1.0 + self.rounding)

    def _tables(self, U: np.ndarray, levels: np.ndarray, charge: np.ndarray, families: int):
        """Best subsets in each block, for each size."""
        (n_blocks, width), p = levels.shape, len(U)
        best, within, without = np.empty(levels.shape), np.empty((p, width)), np.empty((p, width))
        which = np.empty((n_blocks, width, int(np.diff(self.starts).max())), dtype=np.uint8)
        best_in_blocks(
            self.D, self.G, np.ascontiguousarray(U), self.starts, np.ascontiguousarray(levels),
            families, best, within, without, which,
        )  # fmt: skip
        best[:, 1:] += charge[:, None]
        within[:, 1:] += charge[self.block, None]
        without[:, 1:] += charge[self.block, None]
        return best, within, without, which


def _sharper(one: _Look, other: _Look) -> _Look:
    """The larger of the bounds of the same coefficients."""
    return one._replace(
        bound=max(one.bound, other.bound),
        within=np.maximum(one.within, other.within),
        without=np.maximum(one.without, other.without),
    )


def _constraints(sets, owners: np.ndarray, t: int) -> tuple[np.ndarray, np.ndarray]:
    """One row for each block in use, and one for all columns; what they may sum to."""
    _, rows = np.unique(owners, return_inverse=True)
    limits = np.zeros((int(rows.max()) + 2, len(sets)))
    limits[rows, np.arange(len(sets))] = 1.0
    limits[-1] = [len(subset) for subset in sets]
    return limits, np.append(np.ones(len(limits) - 1), float(t))


def _knapsack(best: np.ndarray, t: int) -> tuple[float, np.ndarray]:
    """The largest sum with at most t columns, and (n_blocks, t + 1) the same for up to so many
    columns without each block."""
    n_blocks, width = best.shape
    behind = np.arange(t + 1)[:, None] - np.arange(width)
    outside, behind = behind < 0, np.maximum(behind, 0)

    def along(order) -> np.ndarray:
        sums = np.zeros((n_blocks + 1, t + 1))
        for at, b in enumerate(order):
            both = sums[at][behind] + best[b]
            both[outside] = -np.inf
            sums[at + 1] = both.max(axis=1)
        return sums

    forward = along(range(n_blocks))
    backward = along(range(n_blocks - 1, -1, -1))[::-1]
    others = np.full((n_blocks, t + 1), -np.inf)
    for a in range(t + 1):
        np.maximum(others[:, a:], forward[:-1, a, None] + backward[1:, : t + 1 - a],
                   out=others[:, a:])  # fmt: skip
    return float(forward[-1, t]), others
