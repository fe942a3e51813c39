r"""Relaxation of nodes of ridge regression with too many columns for a matrix of inner products.

With :math:`D = \alpha I` the bound of :mod:`columnist.selection._active` needs no inner products:
for **any** residual :math:`A` (n x q),

.. math:: \text{error} \ge 2 \langle A, Y \rangle - \lVert A \rVert^2
          - \tfrac1\alpha \sum_{i \in S} \lVert x_i^TA \rVert^2
          - \tfrac1\alpha \sum_{t\text{ largest in } C} \lVert x_i^TA \rVert^2 .

A good A is :math:`Y - XB` for the coefficients of the relaxation over a working set of columns:
those that were useful so far. One product with X tells whether others are missing from it.

**Rounding.** The bound holds for the A that was found, whatever it is; only the products with it
are charged. No input validation.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.linalg._passes import (
    centered_norms,
    columns_of,
    squared_norms,
    without_means,
)
from columnist.linalg._rounding import UNIT
from columnist.selection._active import GramForm, Relaxed, eliminate, top_sum, with_one_more

# How often columns join the working set at a node, at most, and how many at once for each column to
# choose.
_LOOKS, _AT_ONCE = 12, 4
# A working set of more columns is started again.
_WORKING = 1200
# Columns among which a first choice is improved.
_PROMISING = 300
# Share of the gap below which a better residual is not worth another product.
_SETTLED = 0.05


class RidgeForm:
    """The problem from its data.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, p)
        Columns; means are removed if ``center``.
    Y : ndarray of shape (n, q)
        Targets, means removed if they are free.
    ridge : float
        The penalty of squared coefficients.
    center : bool
        Whether means are free.
    share : float
        Rounding of a column and of the targets, relative to their lengths.
    """

    least = 0.0

    def __init__(self, X, Y: np.ndarray, ridge: float, center: bool, share: float):
        self.Y, self.ridge, self.center, self.share = Y, ridge, center, share
        self.sparse = sp.issparse(X)
        self.means = np.asarray(X.mean(axis=0)).ravel() if center else np.zeros(X.shape[1])
        self.X = X.tocsc() if self.sparse else (without_means(X) if center else X)
        self.squares = squared_norms(self.X)
        self.lengths = np.sqrt(self.squares)
        if self.sparse and center:  # rounding is relative to the columns with their means
            self.squares = centered_norms(self.X, self.means)
        self.size = float(np.linalg.norm(Y))
        self.total = self.size**2 * (1.0 - 2.0 * share - (Y.size + 4) * UNIT)
        self._begin(np.empty(0, dtype=np.intp))

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def columns(self, which: np.ndarray) -> np.ndarray:
        """Some columns, without their means if these are free."""
        part = columns_of(self.X, which)
        return part - self.means[which] if self.sparse else part

    def products(self, A: np.ndarray) -> np.ndarray:
        """Products (p, q) of all columns with a few vectors."""
        found = np.asarray(self.X.T @ A)
        return found - np.outer(self.means, A.sum(axis=0)) if self.sparse else found

    def restricted(self, columns: np.ndarray) -> RidgeForm:
        """The same for some columns only."""
        return RidgeForm(self.X[:, columns], self.Y, self.ridge, self.center, self.share)

    # -- complete choices -------------------------------------------------------------

    def error(self, chosen: np.ndarray) -> float:
        """Lower bound of the error of these columns, to rounding."""
        return max(self._left(chosen, chosen[:0])[2], 0.0)

    def additions(self, chosen: np.ndarray, candidates: np.ndarray, threshold: float) -> np.ndarray:
        """Lower bounds of the error of the chosen columns and each candidate, to rounding; whether
        they reach the threshold makes no difference here."""
        return with_one_more(np.full(len(candidates), self.ridge), *self._left(chosen, candidates))

    def narrowed(self, chosen: np.ndarray, candidates: np.ndarray) -> GramForm:
        """Inner products of what chosen columns leave of the candidates, with a D of their own."""
        X = self.columns(candidates)
        lowered = self._lowered(len(chosen) + len(candidates))
        gram = X.T @ X
        np.einsum("ii->i", gram)[:] += self.ridge
        np.einsum("ii->i", gram)[:] *= 1.0 - lowered
        gram, cross, total = self._left(chosen, candidates, gram)
        return GramForm(gram, np.ascontiguousarray(cross), total, 0.0)

    def inner_products(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K and c of some columns."""
        X = self.columns(columns)
        return X.T @ X + self.ridge * np.eye(len(columns)), X.T @ self.Y

    def promising(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Candidates that agree most with what a choice leaves, and those of the choice."""
        g = self._look(self._residual(chosen), chosen, candidates)[1]
        return np.union1d(chosen, candidates[np.argsort(-g, kind="stable")[:_PROMISING]])

    def _lowered(self, order: int) -> float:
        """Share of the diagonal that covers the rounding of inner products of so many columns."""
        n, q = self.Y.shape
        return (order + q) * (2.0 * self.share + (n + 16) * UNIT)

    def _left(self, chosen, candidates, gram: np.ndarray | None = None):
        """What chosen columns leave: see :func:`columnist.selection._active.eliminate`."""
        lowered = self._lowered(len(chosen) + (1 if gram is None else len(candidates)))
        kept = 1.0 - lowered
        own, others = self.columns(chosen), self.products(self.columns(chosen))[candidates].T
        inner = own.T @ own
        np.einsum("ii->i", inner)[:] += self.ridge
        np.einsum("ii->i", inner)[:] *= kept
        left = (self.squares[candidates] + self.ridge) * kept if gram is None else gram
        cross = self.products(self.Y)[candidates].T
        return eliminate(inner, others, left, self.Y.T @ own, cross, self.total * kept)

    # -- one node -------------------------------------------------------------------

    def relax(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        start: np.ndarray | None = None,
    ) -> Relaxed:
        """The bound of a node."""
        first = candidates[:0] if start is None else candidates[start.any(axis=1)]
        if len(first) <= t:
            g = self._look(self._residual(chosen), chosen, candidates)[1]
            some = candidates[np.argsort(-g, kind="stable")[: _AT_ONCE * t]]
            first = np.union1d(first, some)
        self._admit(np.concatenate([chosen, first]))
        best: Relaxed | None = None
        for _ in range(_LOOKS):
            working = self._place[candidates] >= 0
            free = self._place[candidates[working]]
            begin = None if start is None else start[working]
            inner, B = self._inner.solve(self._place[chosen], free, t, threshold, begin)
            base, g = self._look(self.Y - self._columns @ B.T, chosen, candidates)
            bound = base - top_sum(g, t)
            start, z = np.zeros((len(g), len(B)), dtype=np.float32), np.zeros(len(g))
            start[working], z[working] = inner.start, inner.z
            if best is None or bound > best.bound:
                best = Relaxed(bound, base, g, z, start)
            missing = self._missing(g, z, working, t)
            room = threshold - best.bound
            if room <= 0.0 or not len(missing) or inner.bound - bound <= _SETTLED * room:
                break
            used = np.concatenate([np.flatnonzero(z), missing])
            self._admit(np.concatenate([chosen, candidates[used]]))
        assert best is not None
        return best

    def _residual(self, chosen: np.ndarray) -> np.ndarray:
        """What the chosen columns alone leave of the targets."""
        if not len(chosen):
            return self.Y
        own = self.columns(chosen)
        inner = own.T @ own + self.ridge * np.eye(len(chosen))
        return self.Y - own @ np.linalg.solve(inner, own.T @ self.Y)

    def _look(self, A: np.ndarray, chosen, candidates) -> tuple[float, np.ndarray]:
        """The bound of a residual without the candidates, and g of these."""
        n, size = len(A), float(np.linalg.norm(A))
        lengths = np.linalg.norm(self.products(A), axis=1)
        lengths += (2.0 * (n + 8) * UNIT + 2.0 * self.share) * self.lengths * size
        g = np.square(lengths) / self.ridge * (1.0 + 16.0 * UNIT)
        charge = (A.size + 8) * UNIT * (2.0 * self.size + size) * size
        charge += 2.0 * self.share * self.size * size
        own = float(g[chosen].sum()) * (1.0 + 2.0 * (len(chosen) + 4) * UNIT)
        return 2.0 * float(np.vdot(A, self.Y)) - size * size - charge - own, g[candidates]

    def _missing(self, g, z, working, t: int) -> np.ndarray:
        """Candidates outside the working set that would get a share."""
        between = (z > 0.0) & (z < 1.0)
        price = float(np.median(g[between])) if between.any() else np.partition(g, -t)[-t]
        missing = np.flatnonzero(~working & (g > price * (1.0 + 1e-6)))
        return missing[np.argsort(-g[missing], kind="stable")[: _AT_ONCE * t]]

    # -- the working set --------------------------------------------------------------

    def _begin(self, columns: np.ndarray) -> None:
        """A working set of these columns."""
        self._place = np.full(self.n_items, -1, dtype=np.int32)
        self._place[columns] = np.arange(len(columns), dtype=np.int32)
        self._columns = self.columns(columns)
        self._refresh(self._columns.T @ self._columns)

    def _refresh(self, gram: np.ndarray) -> None:
        """Inner products of the working set have changed; the ridge is no part of ``gram``."""
        self._gram, w = gram, len(gram)
        inner = gram + self.ridge * np.eye(w)
        diagonal = np.full(w, self.ridge)
        cross = np.ascontiguousarray(self.Y.T @ self._columns)
        self._inner = GramForm(inner, cross, self.size**2, 0.0, diagonal)

    def _admit(self, columns: np.ndarray) -> None:
        """Have these columns in the working set, which forgets others if it is full."""
        new = columns[self._place[columns] < 0]
        if not len(new):
            return
        w = len(self._gram)
        if w + len(new) > max(_WORKING, len(columns)):
            self._begin(columns)
            return
        added = self.columns(new)
        between = self._columns.T @ added
        self._gram = np.block([[self._gram, between], [between.T, added.T @ added]])
        self._columns = np.hstack([self._columns, added])
        self._place[new] = np.arange(w, w + len(new), dtype=np.int32)
        self._refresh(self._gram)
