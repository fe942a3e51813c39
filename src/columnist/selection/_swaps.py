r"""Gains of all exchanges of a selected column for another one, in one table.

Columns :math:`c_i` (rows of C) live in coordinates in which the target's second moment is
:math:`\Lambda = \mathrm{diag}(w)`; the error of a basis Q is
:math:`\mathrm{tr}\,\Lambda - \mathrm{tr}\,Q^T\Lambda Q`. With the residuals
:math:`r_i = c_i - QQ^Tc_i`, adding column i lowers it by

.. math:: f_i / g_i, \qquad f_i = r_i^T\Lambda r_i, \quad g_i = \|r_i\|^2.

Let :math:`v_l` be the unit vector in the span of the chosen columns that is orthogonal to all
of them but column l. Without l the residuals are :math:`r_i + a_{il}v_l`,
:math:`a_{il} = c_i^Tv_l`, so exchanging l for i lowers the error by

.. math::

   \frac{f_i + 2a_{il}h_{il} + a_{il}^2b_l}{g_i + a_{il}^2} - b_l
   = \frac{f_i + 2a_{il}h_{il} - g_ib_l}{g_i + a_{il}^2},
   \qquad h_{il} = r_i^T\Lambda v_l, \quad b_l = v_l^T\Lambda v_l.

The n x k tables of a and h cost a few matrix products; an exchange then changes them by
matrices of rank two and four, which takes two products of C with a vector instead.

Rounding: the basis follows exchanges by rotations, and its error is computed from it each
time. Figures of a column that have shrunk much since they were last computed are recomputed; all
are before an exchange is ruled out. No input validation.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr_delete, qr_insert
from scipy.linalg.lapack import dtrtrs

from columnist.linalg._passes import row_blocks
from columnist.linalg._residual import blocked_energy, chosen_basis
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._ties import TIE, first_largest
from columnist.selection._basis import GrowingBasis

_EPS = np.finfo(np.float64).eps
# Share of an earlier value below which a figure is recomputed.
_SHRUNK = 1e-6
# Errors below this share of the target's energy are computed without cancellation.
_SMALL = 1e-4
# Sine of the angle between two dual vectors below which the tables are recomputed.
_FLAT = 1e-4
# A table whose promise is off by more than this share of the error is recomputed.
_DRIFT = 1e-8
# Table entries valued at once: they stay in the cache.
_ENTRIES = 2**16


def energy_left(weights: np.ndarray, Q: np.ndarray) -> float:
    """Energy of the target outside an orthonormal basis, accurate also where little is left."""
    left = float(weights @ (1.0 - np.einsum("ij,ij->i", Q, Q)))
    if left > _SMALL * weights.sum():
        return left
    return blocked_energy(np.diag(np.sqrt(weights)), Q)


class _Residuals:
    """f and g of every column for a basis that changes by one direction at a time."""

    def __init__(self, columns: np.ndarray, weights: np.ndarray):
        self.columns, self.weights = columns, weights
        self.Q = np.zeros((columns.shape[1], 0))
        self._figures, self._peaks = np.zeros((2, 2, len(columns)))
        self.f, self.g = self._figures  # updated in place
        self._tiny = DEPENDENT**2 * np.einsum("ij,ij->i", columns, columns)

    def _compute(self, some: np.ndarray | None = None) -> None:
        """Figures of all columns, or of some, from the columns themselves."""
        count = len(self.columns) if some is None else len(some)
        for rows in row_blocks(count, self.columns.shape[1]):
            self._compute_block(rows if some is None else some[rows])

    def _compute_block(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """Also their coordinates in the basis, and their residuals times the weights."""
        columns = self.columns[rows]
        inside = columns @ self.Q
        rest = columns - inside @ self.Q.T
        rest -= (rest @ self.Q) @ self.Q.T  # the second pass restores orthogonality
        weighted = rest * self.weights
        self.f[rows] = np.einsum("ij,ij->i", rest, weighted)
        self.g[rows] = np.einsum("ij,ij->i", rest, rest)
        self._peaks[:, rows] = self._figures[:, rows]
        return inside, weighted

    def _without(self, a: np.ndarray, h: np.ndarray, b: float) -> None:
        """A direction v leaves the basis: a = C v, h = R Λ v, b = v'Λv."""
        self.f += a * (2.0 * h + b * a)
        self.g += a * a
        self._note_peaks()

    def _with(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A direction has joined the basis; returns C q and R Λ q for the new residuals R."""
        heavy = self.weights * q
        energy = float(q @ heavy)
        p = self.columns @ q
        z = self.columns @ (heavy - self.Q @ (self.Q.T @ heavy))
        self.f -= p * (2.0 * z + energy * p)
        self.g -= p * p
        self._note_peaks()
        return p, z

    def _note_peaks(self) -> None:
        np.maximum(self._peaks, self._figures, out=self._peaks)

    def _choose(self, item: int) -> None:
        """Nothing is left of a chosen column; what cancellation has spoilt is recomputed."""
        self._figures[:, item] = self._peaks[:, item] = 0.0
        shrunk = (self._figures < _SHRUNK * self._peaks).any(axis=0)
        shrunk &= self._peaks[1] > self._tiny
        if shrunk.any():
            self._compute(np.flatnonzero(shrunk))


class _Additions(_Residuals):
    """Gains of adding a column to a growing set."""

    def __init__(self, columns, weights, chosen, capacity: int):
        super().__init__(columns, weights)
        self._basis = GrowingBasis(columns.shape[1], capacity)
        for item in chosen:
            self._basis.append(columns[item])
        self.Q = self._basis.Q
        self._compute()

    def gains(self) -> np.ndarray:
        """What each column lowers the error by; nothing if it depends on the chosen ones."""
        return np.divide(self.f, self.g, out=np.zeros_like(self.f), where=self.g > self._tiny)

    def add(self, item: int) -> bool:
        """Add a column; False if it depends on the others."""
        q = self._basis.append(self.columns[item])
        if q is None:
            return False
        self.Q = self._basis.Q
        self._with(q)
        self._choose(item)
        return True


def add_columns(
    columns: np.ndarray,
    weights: np.ndarray,
    chosen: Sequence[int],
    candidates: np.ndarray,
    size: int,
    *,
    deadline: float = np.inf,
) -> list[int]:
    """``chosen`` and, in order of selection, the columns that lower the error most. Ends when
    ``size`` are chosen or none of the ``candidates`` lowers it. After the deadline those that lower
    it most by themselves are added together."""
    chosen = [int(i) for i in chosen]
    if len(chosen) >= size:
        return chosen
    allowed = np.zeros(len(columns), dtype=bool)
    allowed[candidates] = True
    allowed[chosen] = False
    nothing = (max(columns.shape) * _EPS) ** 2 * weights.sum()
    state = _Additions(columns, weights, chosen, size)
    while len(chosen) < size and allowed.any():
        if time.perf_counter() > deadline:
            order = np.argsort(-state.gains(), kind="stable")
            return chosen + order[allowed[order]][: size - len(chosen)].tolist()
        left = energy_left(weights, state.Q)
        item, gain = first_largest(state.gains(), allowed, unit=left)
        if gain <= nothing:
            break
        allowed[item] = False
        if state.add(item):
            chosen.append(item)
    return chosen


class SwapTable(_Residuals):
    """What each exchange of a chosen column for another would lower the error by. The ``chosen``
    columns are linearly independent; their order gives the positions. ``error`` is the energy of
    the target that they leave; a table is ``fresh`` until it is first updated."""

    def __init__(self, columns: np.ndarray, weights: np.ndarray, chosen: Sequence[int]):
        super().__init__(columns, weights)
        self.chosen = [int(i) for i in chosen]
        self._a = np.empty((len(columns), len(self.chosen)))
        self._h, self._gains = np.empty_like(self._a), np.empty_like(self._a)
        self.compute()
        self.error = energy_left(weights, self.Q)

    def compute(self) -> None:
        """The table from the columns themselves."""
        self._use(*np.linalg.qr(self.columns[self.chosen].T))
        self._compute()
        self.fresh = True

    def _use(self, Q: np.ndarray, T: np.ndarray) -> None:
        """Basis, triangular factor, and the dual vectors v (one per row) with their energies."""
        self.Q, self._T = Q, T
        self._v, _ = dtrtrs(T, Q.T)
        self._v /= np.sqrt(np.einsum("ij,ij->i", self._v, self._v))[:, None]
        self._b = np.square(self._v) @ self.weights

    def _compute_block(self, rows) -> tuple[np.ndarray, np.ndarray]:
        inside, weighted = super()._compute_block(rows)
        self._a[rows] = inside @ (self._v @ self.Q).T
        self._h[rows] = weighted @ self._v.T
        return inside, weighted

    def gains(self, rows=slice(None), out: np.ndarray | None = None) -> np.ndarray:
        """Gains of taking in these columns (rows) for each chosen one (columns)."""
        a, f, g, tiny = self._a[rows], self.f[rows, None], self.g[rows, None], self._tiny[rows]
        lower = np.multiply(a, self._h[rows], out=out)
        lower *= 2.0
        lower += f
        lower -= g * self._b
        length = a * a
        length += g
        close = np.flatnonzero(g[:, 0] <= tiny)
        if len(close):  # depends on the chosen columns, perhaps without the one given up
            dependent = length[close] <= tiny[close, None]
            lower[close] = np.where(dependent, -self._b, lower[close])
            length[close] = np.where(dependent, 1.0, length[close])
        lower /= length
        return lower

    def best(self, allowed: np.ndarray, movable: np.ndarray) -> tuple[float, int, int]:
        """Largest gain, position (``movable``) and new column (``allowed``); first of near ties."""
        gains = self._gains
        height = max(1, _ENTRIES // len(self.chosen))
        for start in range(0, len(gains), height):
            rows = slice(start, start + height)
            self.gains(rows, out=gains[rows])
        if not movable.all():
            gains[:, ~movable] = -np.inf
        top = gains.max(axis=1)
        top[~allowed] = top[self.chosen] = -np.inf
        least = top.max() - TIE * self.error
        if least == -np.inf:
            return 0.0, 0, 0
        item = int((top >= least).argmax())
        positions = np.flatnonzero(gains[item] >= least).tolist()
        position = min(positions, key=lambda position: self.chosen[position])
        return float(gains[item, position]), position, item

    def swap(self, position: int, item: int, gain: float) -> bool:
        """Exchange, if that lowers the error: computed from the new basis, not ``gain``.

        The table follows; if it promised a ``gain`` that is clearly wrong, it is recomputed.
        """
        if len(self.chosen) == 1:
            Q, T = np.linalg.qr(self.columns[item][:, None])
        else:
            Q, T = qr_delete(self.Q, self._T, position, 1, "col", check_finite=False)
            Q, T = qr_insert(Q, T, self.columns[item], position, "col", check_finite=False)
        error = energy_left(self.weights, Q)
        if not error < self.error:
            return False
        drift = abs(self.error - error - gain) > _DRIFT * self.error
        self.error, self.chosen[position] = error, item
        if drift or not self._follow(position, item, Q, T):
            self.compute()
        return True

    def _follow(self, position: int, item: int, Q: np.ndarray, T: np.ndarray) -> bool:
        r"""Update the tables; False where that would lose precision. With v leaving and q joining,
        the other dual vectors become :math:`(v_m - \gamma_m v - \tau_m q)/\sigma_m`,
        :math:`\gamma_m = v_m^Tv`, :math:`\tau_m = c_i^T(v_m - \gamma_m v)/c_i^Tq`, and the
        residuals :math:`R + (Cv)v^T - (Cq)q^T`."""
        duals, v, b = self._v, self._v[position], self._b[position]
        a, h = self._a[:, position].copy(), self._h[:, position].copy()
        self._use(Q, T)
        q = self._v[position]
        gamma = duals @ v
        tau = (self._a[item] - a[item] * gamma) / (self.columns[item] @ q)
        sigma = np.sqrt(np.maximum(1.0 - gamma**2 + tau**2, 0.0))
        sigma[position] = 1.0
        if sigma.min() < _FLAT:
            return False
        self._without(a, h, b)
        p, z = self._with(q)
        along_v, along_q = duals @ (self.weights * v), duals @ (self.weights * q)
        y = h + b * a - along_q[position] * p
        self._a -= np.array([a, p]).T @ np.array([gamma, tau])
        self._h -= np.array([-a, p, y, z]).T @ np.array([along_v, along_q, gamma, tau])
        self._a /= sigma
        self._h /= sigma
        self._a[:, position], self._h[:, position] = p, z
        self._choose(item)
        self.fresh = False
        return True


def exchange_columns(
    columns: np.ndarray,
    weights: np.ndarray,
    start: Sequence[int],
    *,
    fixed: Sequence[int] = (),
    candidates: np.ndarray | None = None,
    max_swaps: float = np.inf,
    deadline: float = np.inf,
) -> tuple[list[int], list[float]]:
    """Make the best exchange of one column, until none lowers the error or time is up. Dependent
    columns of the ``start`` go first, ``fixed`` ones stay, ``candidates`` (all by default) may come
    in. Returns as many columns as the start has, and the errors of the start and after every
    exchange, strictly falling."""
    stay = set(fixed)
    kept, spare = _independent(columns, sorted(start, key=lambda i: (i not in stay, i)))
    stuck = [i for i in spare if i in stay]
    spare = [i for i in spare if i not in stay]
    allowed = np.zeros(len(columns), dtype=bool)
    allowed[np.arange(len(columns)) if candidates is None else candidates] = True
    room = int(min(len(spare), max_swaps))
    chosen, errors = _refill(columns, weights, kept, allowed, len(kept) + room)
    spare = spare[: len(start) - len(stuck) - len(chosen)]
    if not spare and chosen and errors[-1] > 0.0:
        table = SwapTable(columns, weights, chosen)
        movable = np.array([i not in stay for i in chosen])
        while len(errors) <= max_swaps and time.perf_counter() < deadline:
            if not _step(table, allowed, movable):
                break
            errors.append(table.error)
        chosen = table.chosen
    return sorted(stuck + chosen + spare), errors


def _independent(columns: np.ndarray, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """The columns that do not depend on earlier ones, and those that do."""
    if chosen_basis(columns, order).shape[1] == len(order):
        return [int(i) for i in order], []
    basis = GrowingBasis(columns.shape[1], len(order))
    new: list[int] = []
    old: list[int] = []
    for i in order:
        (old if basis.append(columns[i]) is None else new).append(int(i))
    return new, old


def _refill(columns, weights, kept, allowed, size: int) -> tuple[list[int], list[float]]:
    """Add columns while that lowers the error; also the errors on the way."""
    errors = [energy_left(weights, chosen_basis(columns, kept))]
    added = add_columns(columns, weights, kept, np.flatnonzero(allowed), size)
    for count in range(len(kept) + 1, len(added) + 1):
        error = energy_left(weights, chosen_basis(columns, added[:count]))
        if not error < errors[-1]:
            return added[: count - 1], errors
        errors.append(error)
    return added, errors


def _step(table: SwapTable, allowed: np.ndarray, movable: np.ndarray) -> bool:
    """Make the best exchange; False if none lowers the error."""
    while True:
        gain, position, item = table.best(allowed, movable)
        if gain > TIE * table.error and table.swap(position, item, gain):
            return True
        if table.fresh:
            return False
        table.compute()
