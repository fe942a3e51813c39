r"""Relaxation of nodes with many columns: one quadratic form, and coefficients for few columns.

With inner products :math:`K = X^TX + \alpha I`, :math:`c = X^TY`, a diagonal
:math:`0 \prec D \preceq K` and :math:`P = K - D`, **any** coefficients B bound the error of every
choice that contains S and t of the candidates C:

.. math:: \lVert Y \rVert^2 - \mathrm{tr}(B^TPB) - \sum_{i \in S} g_i
          - \sum_{t\text{ largest in } C} g_i, \qquad g_i = \lVert c_i - P_iB \rVert^2 / D_i .

P and D belong to the whole problem, so a node costs no decomposition: only the few rows of B that
are not zero change (:mod:`columnist.selection._descent`), and one product with their rows of P
tells g of all others. Chosen columns need not be projected out: they have the share z = 1, for
which the relaxation is exact.

**Rounding.** The inner products of :math:`[X\;Y]` are lowered on their diagonal by a share that
covers their rounding, so that the form is below the true one; that P is positive semidefinite is
shown by a Cholesky factorisation that succeeds with less on the diagonal. The value for the B that
was found is charged with the rounding of its own sums.

No input validation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dtrtri
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from columnist.linalg._rounding import UNIT
from columnist.selection._descent import descend

# Sweeps between two looks at the bound, and looks at most.
_SWEEPS, _LOOKS = 2, 16
# Share of D that keeps the equations of shares below 1 definite.
_STEADY = 1e-9
# Share of the gap that coefficients may leave where the threshold is out of reach.
_SETTLED = 0.1
# What the largest eigenvalue of a power method is taken for beyond what it has seen.
_SEEN = 1.0 + 1e-3
# Heights that are smaller relative to a column are not informative.
_DEPENDENT = 1e-9
# Up to so many columns a decomposition takes less time than iterations.
_FEW = 100
# How far a multiple of D goes down each time that it is too large, and how often.
_LOWER, _TRIES = 0.9, 8


class Relaxed(NamedTuple):
    """A relaxed node: its bound, ``base`` less the t largest of ``g`` (one number for each
    candidate); the share z of each candidate, and its coefficients (n, q), times the length of its
    column, to start from."""

    bound: float
    base: float
    g: np.ndarray
    z: np.ndarray
    start: np.ndarray

    def at(self, kept: np.ndarray) -> Relaxed:
        """The same for some candidates."""
        return self._replace(g=self.g[kept], z=self.z[kept], start=self.start[kept])


class GramForm:
    """The form of inner products that were computed, with what rounding did to them.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        K as computed; overwritten.
    cross : ndarray of shape (q, p)
        Products of the targets and the columns.
    total : float
        Squared length of the targets.
    lowered : float
        Share of the diagonal that covers the rounding of [K c; c' total]; 0 if it was taken off.
    diagonal : ndarray of shape (p,), optional
        D, if it is known.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no D is found: columns are nearly dependent.
    """

    def __init__(
        self,
        gram: np.ndarray,
        cross: np.ndarray,
        total: float,
        lowered: float,
        diagonal: np.ndarray | None = None,
    ):
        np.einsum("ii->i", gram)[:] *= 1.0 - lowered
        self.gram, self.cross, self.total = gram, cross, total * (1.0 - lowered)
        self.least = 0.0  # what all columns leave
        if diagonal is None:
            diagonal, factor = diagonal_below(gram)
            caught = factor @ cross.T
            least = self.total - float(np.vdot(caught, caught)) * (1.0 + (caught.size + 4) * UNIT)
            self.least = max(least, 0.0)
        self.D, self.P = diagonal, gram.copy()
        np.einsum("ii->i", self.P)[:] -= self.D
        self.root = np.sqrt(np.maximum(np.einsum("ii->i", self.P), 0.0))
        self.lengths = np.linalg.norm(cross, axis=0)
        self.scales = np.sqrt(np.einsum("ii->i", gram))  # lengths of the columns

    @property
    def n_items(self) -> int:
        """Number of columns."""
        return len(self.D)

    def narrowed(self, chosen: np.ndarray, candidates: np.ndarray) -> GramForm:
        """The form of what chosen columns leave of the candidates, with a D of its own."""
        gram = self.gram[np.ix_(candidates, candidates)]
        gram, cross, total = self.eliminate(chosen, candidates, gram)
        return GramForm(gram, np.ascontiguousarray(cross), total, 0.0)

    def additions(self, chosen: np.ndarray, candidates: np.ndarray, threshold: float) -> np.ndarray:
        """Lower bounds of the error of the chosen columns and each candidate, to rounding; nothing
        is known, and so zero, of candidates that nearly depend on the chosen columns. Here those
        that reach the threshold cost no less than the others."""
        squares = np.einsum("ii->i", self.gram)[candidates]
        return with_one_more(squares, *self.eliminate(chosen, candidates))

    def error(self, chosen: np.ndarray) -> float:
        """Lower bound of the error of these columns, to rounding; zero if they nearly depend."""
        try:
            return max(self.eliminate(chosen, chosen[:0])[2], 0.0)
        except np.linalg.LinAlgError:
            return 0.0

    def eliminate(self, chosen, candidates, gram: np.ndarray | None = None):
        """:func:`eliminate` in these inner products: of ``gram``, or of its diagonal."""
        left = np.einsum("ii->i", self.gram)[candidates] if gram is None else gram
        own, between = self.gram[np.ix_(chosen, chosen)], self.gram[np.ix_(chosen, candidates)]
        cross = self.cross[:, chosen], self.cross[:, candidates]
        return eliminate(own, between, left, *cross, self.total)

    def inner_products(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K and c of some columns."""
        return self.gram[np.ix_(columns, columns)], self.cross[:, columns].T

    # -- one node -------------------------------------------------------------------

    def relax(
        self,
        chosen: np.ndarray,
        candidates: np.ndarray,
        t: int,
        threshold: float,
        start: np.ndarray | None = None,
    ) -> Relaxed:
        """The bound of a node; solved until it is closed or the threshold is out of reach."""
        return self.solve(chosen, candidates, t, threshold, start)[0]

    def solve(
        self, chosen, candidates, t: int, threshold: float, start=None
    ) -> tuple[Relaxed, np.ndarray]:
        """The same, and all coefficients (q, p) of that bound."""
        B = np.zeros_like(self.cross)
        if start is not None:
            B[:, candidates] = start.T / self.scales[candidates]
        B[:, chosen] = self._of_chosen(chosen, B)
        U = self._left(B)
        s = self._price(B, U, candidates, t)
        best: Relaxed | None = None
        for _ in range(_LOOKS):
            s = descend(self.P, self.D, chosen, candidates, t, B, U, s, _SWEEPS)
            B, s = self._polished(B, U, s, chosen, candidates, t)
            U = self._left(B)  # descent adds up rounding
            found, value = self._look(B, U, chosen, candidates, t)
            if best is None or found.bound > best.bound:
                best, coefficients = found, B.copy()
            room = threshold - best.bound
            if room <= 0.0 or (value < threshold and value - best.bound <= _SETTLED * room):
                break
        assert best is not None
        return best, coefficients

    def _polished(self, B, U, s, chosen, candidates, t) -> tuple[np.ndarray, float]:
        """The coefficients and the price, or better ones."""
        other = self._polish(B, s, chosen, candidates, t)
        if other is None:
            return B, s
        value = self._value(B, U, chosen, candidates, t)
        lower = self._value(other[0], self._left(other[0]), chosen, candidates, t)
        return other if lower < value else (B, s)

    def _polish(self, B, s, chosen, candidates, t) -> tuple[np.ndarray, float] | None:
        r"""The minimum for one target, if signs and the shares that are 1 stay as they are.

        Then :math:`P_iB + D_iB_i = c_i` where z = 1, :math:`P_iB \pm s\sqrt{D_i} = c_i` where it is
        between, and these shares sum to what is left of t: linear equations in B and s.
        """
        free = candidates[B[0, candidates] != 0.0]
        if len(B) > 1 or len(free) <= t:
            return None
        rows = np.concatenate([chosen, free])
        root, old = np.sqrt(self.D[rows]), B[0, rows]
        full = root * np.abs(old) >= s
        full[: len(chosen)] = True
        left = t - int(full[len(chosen) :].sum())
        price = np.where(full, 0.0, root * np.sign(old))
        M = self.P[np.ix_(rows, rows)]
        np.einsum("ii->i", M)[:] += np.where(full, self.D[rows], _STEADY * self.D[rows])
        _, x, info = dposv(M, np.stack([self.cross[0, rows], price], axis=1), lower=1)
        if info or left <= 0:
            return None
        s = float(price @ x[:, 0]) / (left + float(price @ x[:, 1]))
        new = x[:, 0] - s * x[:, 1]
        new[~full & (new * old <= 0.0)] = 0.0
        B = np.zeros_like(B)
        B[0, rows] = new
        return (B, s) if s > 0.0 else None

    def _of_chosen(self, chosen: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Best coefficients of the chosen columns beside those of the others."""
        if not len(chosen):
            return B[:, chosen]
        rows = np.flatnonzero(B.any(axis=0))
        left = self.cross[:, chosen] - B[:, rows] @ self.gram[np.ix_(rows, chosen)]
        return np.linalg.solve(self.gram[np.ix_(chosen, chosen)], left.T).T

    def _left(self, B: np.ndarray) -> np.ndarray:
        """U = c - PB."""
        rows = np.flatnonzero(B.any(axis=0))
        return self.cross - B[:, rows] @ self.P[rows]

    def _price(self, B: np.ndarray, U: np.ndarray, candidates: np.ndarray, t: int) -> float:
        """Square root of the price of z to start from."""
        lengths = np.sqrt(self.D[candidates]) * np.linalg.norm(B[:, candidates], axis=0)
        if np.count_nonzero(lengths) >= t:
            return float(lengths.sum() / t)
        g = np.square(U[:, candidates]).sum(axis=0) / self.D[candidates]
        beyond = min(3 * t, len(g) - 1)
        return max(float(np.sqrt(np.partition(g, len(g) - 1 - beyond)[-1 - beyond])), 1e-300)

    def _look(self, B, U, chosen, candidates, t) -> tuple[Relaxed, float]:
        """The bound of these coefficients, and their value, which no bound exceeds."""
        rows = np.flatnonzero(B.any(axis=0))
        q, D = len(B), self.D
        norms = np.linalg.norm(B[:, rows], axis=0)
        # What rounding may have done to U and to the sums below: see the module docstring.
        spread = float(self.root[rows] @ norms)
        lengths_u = np.linalg.norm(U, axis=0)
        off = (len(rows) + q + 8) * UNIT * (self.lengths + lengths_u + self.root * spread)
        caught = float(np.vdot(B[:, rows], self.cross[:, rows]))
        quad = caught - float(np.vdot(B[:, rows], U[:, rows]))
        sums = (self.lengths + lengths_u)[rows]
        charge = float(norms @ (2.0 * off[rows] + (len(rows) * q + 8) * UNIT * sums))
        g = np.square(lengths_u + off) / D * (1.0 + 16.0 * UNIT)
        own = float(g[chosen].sum())
        free = g[candidates]
        base = self.total - quad - charge - 8.0 * UNIT * (self.total + abs(quad))
        base -= own * (1.0 + 2.0 * len(chosen) * UNIT)
        z, penalty = self._penalty(B, chosen, candidates, t)
        value = self.total - caught - (caught - quad) + penalty
        bound = base - top_sum(free, t)
        start = (B[:, candidates] * self.scales[candidates]).T.astype(np.float32)
        return Relaxed(bound, base, free, z, start), value

    def _value(self, B, U, chosen, candidates, t) -> float:
        """Value of coefficients in the relaxation, but for rounding."""
        penalty = self._penalty(B, chosen, candidates, t)[1]
        return self.total - float(np.vdot(B, self.cross + U)) + penalty

    def _penalty(self, B, chosen, candidates, t) -> tuple[np.ndarray, float]:
        """The best shares of the candidates, and what coefficients cost with them."""
        squares = self.D * np.square(B).sum(axis=0)
        own, free = float(squares[chosen].sum()), squares[candidates]
        z = shares(np.sqrt(free), t)
        rows = z > 0.0
        return z, own + float((free[rows] / z[rows]).sum())


def top_sum(g: np.ndarray, t: int) -> float:
    """Sum of the t largest, not less than it is."""
    if t <= 0:
        return 0.0
    return float(np.partition(g, -t)[-t:].sum()) * (1.0 + 2.0 * (len(g) + 8) * UNIT)


def eliminate(own, between, left, cross_own, cross_left, total: float):
    """What chosen columns leave of ``left``, inner products of candidates or their diagonal, of the
    products of candidates with the targets, and of the squared length of these.

    ``own`` and ``between`` are inner products of the chosen columns, and of these with the
    candidates, ``cross_own`` and ``cross_left`` (q, n) those with the targets. The rounding of the
    elimination is of the size that was taken off the diagonal.
    """
    if not len(own):
        return left, cross_left, total
    factor, info = dpotrf(own, lower=1)
    inverse, bad = dtrtri(factor, lower=1)
    if info or bad:
        raise np.linalg.LinAlgError("The chosen columns are dependent.")
    inverse = np.tril(inverse)
    W, caught = inverse @ between, inverse @ cross_own.T
    left = left - (np.einsum("ij,ij->j", W, W) if left.ndim == 1 else W.T @ W)
    total -= float(np.vdot(caught, caught)) * (1.0 + (caught.size + 4) * UNIT)
    return left, cross_left - caught.T @ W, total


def with_one_more(squares, heights, cross, total: float) -> np.ndarray:
    """Lower bounds of the errors with one more column, from what :func:`eliminate` has left; zero
    for those that nearly depend on the chosen columns."""
    clear = heights > _DEPENDENT * squares
    gains = np.square(cross).sum(axis=0) / np.where(clear, heights, 1.0)
    return np.where(clear, total - gains * (1.0 + 16.0 * UNIT), 0.0)


def shares(lengths: np.ndarray, t: int) -> np.ndarray:
    """z proportional to the lengths, at most 1, with sum t unless too few are positive."""
    z, full = np.zeros_like(lengths), lengths < 0.0
    while True:
        total = float(lengths[~full].sum())
        if total <= 0.0 or full.sum() >= t:
            return np.where(full, 1.0, z)
        z = np.where(full, 1.0, lengths * ((t - full.sum()) / total))
        more = (z >= 1.0) & ~full
        if not more.any():
            return z
        full |= more


def diagonal_below(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""A diagonal D with :math:`0 \prec D \preceq K`: the largest multiple of
    :math:`1/(K^{-1})_{ii}`, but for a little; also the inverse of the Cholesky factor of K."""
    n = len(gram)
    factor, info = dpotrf(gram, lower=1)
    inverse, bad = dtrtri(factor, lower=1, overwrite_c=1)
    if info or bad:
        raise np.linalg.LinAlgError("Columns are dependent.")
    inverse = np.tril(inverse)
    base = 1.0 / np.einsum("ij,ij->j", inverse, inverse)
    multiple = 1.0 / (_SEEN * _largest(inverse * np.sqrt(base)))
    kept = 1.0 - 2.0 * n * (n + 2) * UNIT
    for _ in range(_TRIES):
        trial = gram.copy()
        diagonal = np.einsum("ii->i", trial)
        diagonal -= multiple * base
        diagonal *= kept
        if dpotrf(trial, lower=1, overwrite_a=1)[1] == 0:
            return multiple * base, inverse
        multiple *= _LOWER
    raise np.linalg.LinAlgError("Columns are nearly dependent.")


def _largest(A: np.ndarray) -> float:
    """Largest eigenvalue of A'A, roughly."""
    n = A.shape[1]
    if n < _FEW:
        return float(np.linalg.eigvalsh(A.T @ A)[-1])
    operator = LinearOperator((n, n), matvec=lambda x: A.T @ (A @ x), dtype=np.float64)
    try:
        value = eigsh(operator, 1, v0=np.ones(n), tol=1e-3, maxiter=50, return_eigenvectors=False)
    except ArpackError:
        return float(np.linalg.norm(A)) ** 2
    return float(value[0])
