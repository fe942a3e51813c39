r"""The relaxation of a node of a search with constraints.

With the notation of :mod:`columnist.selection._relax`, every choice of candidates A, whatever their
number, has

.. math:: \text{error} \ge e(S) - \mathrm{tr}(B^TPB) - \sum_{i \in A} (s + g_i),
          \qquad g_i = \lVert c_i - P_iB \rVert^2 / D_i,

so the sum of the largest g gives way to the most that the scores :math:`s + g_i` reach within the
constraints (:mod:`columnist.selection._rules`). A group is chosen whole, so what counts is its
span: an orthonormal basis takes the place of its columns. Columns that are copies of each other
have the scores of the first one, which counts for each of them that is chosen: too much, if
anything.

Rounding is charged as there: the inner products are lowered on their diagonal by the share that
rounding may have moved the columns, or the bases, by.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from columnist.linalg import _rounding as rounding
from columnist.linalg._reduce import Reduced
from columnist.linalg._residual import graded_basis
from columnist.linalg._rounding import UNIT
from columnist.selection._active import diagonal_below, eliminate
from columnist.selection._relaxed import groups_of_copies
from columnist.selection._rules import Maximum, Possible

# How often B and z alternate at most, and the share of the gap that they may leave.
_TURNS, _SETTLED = 8, 0.05
_LEAST_Z = 1e-4
# Inner products that lose a larger share to rounding say nothing.
_MOST_LOWERED = 1e-3


class Evaluated(NamedTuple):
    """A bounded node: the linear maximum, z of every candidate that gave it, the next z, and how
    much each promises."""

    bound: float
    most: Maximum
    given: np.ndarray
    z: np.ndarray
    promise: np.ndarray


class _Node(NamedTuple):
    """What the chosen columns leave: atoms, the candidate of each, products with the targets that
    count, what a direction catches beyond them at most, and the error if nothing is added."""

    atoms: np.ndarray
    at: np.ndarray
    K: np.ndarray
    D: np.ndarray
    c: np.ndarray
    s: float
    energy: float


class UnitRelaxation:
    """The relaxation of a problem under the squared Frobenius norm, without components.

    Parameters
    ----------
    reduced : Reduced
        Data.
    labels : ndarray of int
        Unit of each column.
    """

    # Share of an eigenvalue by which the target is shifted.
    shift = 0.9

    def __init__(self, reduced: Reduced, labels: np.ndarray):
        self.labels = labels
        share = rounding.allowance(len(reduced.weights), 1.0)
        atoms, owners, growth = _atoms(reduced, labels)
        copies = None if len(np.unique(labels)) < len(labels) else groups_of_copies(atoms, share)
        self._same = np.arange(len(atoms)) if copies is None else copies
        share *= growth * (1.0 if copies is None else 2.0)
        p, n_targets = len(atoms), int(np.count_nonzero(reduced.weights))
        lowered = (p + n_targets) * (2.0 * share + (atoms.shape[1] + 4 * p + 16) * UNIT)
        self.usable = lowered < _MOST_LOWERED
        self.owners, self.total = owners, float(reduced.weights.sum()) * (1.0 - lowered)
        self.gram = atoms @ atoms.T
        np.einsum("ii->i", self.gram)[:] *= 1.0 - lowered
        root = np.sqrt(reduced.weights[:n_targets])
        self.cross = np.ascontiguousarray((atoms[:, :n_targets] * root).T)

    def evaluate(self, node: Possible, threshold: float, z: np.ndarray | None) -> Evaluated | None:
        """The bound of a node, to rounding; None if the relaxation says nothing."""
        start = np.full(len(node.candidates), node.most_columns / len(node.candidates))
        z = start if z is None else np.clip(z.astype(np.float64), _LEAST_Z, 1.0)
        with np.errstate(all="ignore"):
            try:
                found = self._node(node, z)
            except np.linalg.LinAlgError:
                return None
            return self._bound(found, node, threshold, z)

    # -- the node -------------------------------------------------------------------

    def _node(self, node: Possible, z: np.ndarray) -> _Node:
        """Eliminate what is chosen, and decompose what is left of the target."""
        position = np.full(len(self.labels), -1)
        position[node.chosen] = -2
        position[node.candidates] = np.arange(len(node.candidates))
        owned, taken, there = position[self.owners], *np.zeros((2, len(self.owners)), dtype=bool)
        taken[self._same[owned == -2]] = True
        there[self._same[owned >= 0]] = True
        chosen, atoms = np.flatnonzero(taken), np.flatnonzero(there & ~taken)
        if not len(atoms):
            raise np.linalg.LinAlgError("Nothing is left.")
        K, cross, energy = eliminate(
            self.gram[np.ix_(chosen, chosen)], self.gram[np.ix_(chosen, atoms)],
            self.gram[np.ix_(atoms, atoms)], self.cross[:, chosen], self.cross[:, atoms],
            self.total,
        )  # fmt: skip
        D = diagonal_below(K)[0]
        at = self._candidates_of(atoms, position)
        c, s = self._target(K, D, cross, float(z[at].sum()))
        return _Node(atoms, at, K, D, c, s, energy)

    def _candidates_of(self, atoms: np.ndarray, position: np.ndarray) -> np.ndarray:
        """A candidate for each atom: the first of those with that atom."""
        first = np.full(len(self.owners), len(position))
        places = position[self.owners]
        there = np.flatnonzero(places >= 0)
        np.minimum.at(first, self._same[there], places[there])
        return first[atoms]

    def _target(self, K, D, cross, expected: float) -> tuple[np.ndarray, float]:
        """c = A'Y and s: the target itself if it is narrow, or what it has beyond s."""
        n, T = len(K), len(cross)
        t = min(max(round(expected), 1), n)
        if T <= t:
            return cross.T, 0.0
        factor, info = dpotrf(K, lower=1)
        if info:
            raise np.linalg.LinAlgError("Columns are dependent.")
        caught = dtrtrs(factor, cross.T, lower=1)[0]
        lam, V = np.linalg.eigh(caught @ caught.T)
        total = float(np.square(caught).sum())
        ratio = float((np.einsum("ii->i", K) / D).max())
        s = self.shift * max(float(lam[n - 1 - t]), 0.0) if t < n else 0.0
        charge = (100.0 * n + 2.0 * T + 8.0 * n * (n + 2.0) * ratio) * UNIT * total
        kept = lam > s
        if not kept.any():
            raise np.linalg.LinAlgError("Nothing is left of the target.")
        Y = V[:, kept] * np.sqrt(lam[kept] - s)
        return np.tril(factor) @ Y, s + charge

    # -- the bound ------------------------------------------------------------------

    def _bound(self, own: _Node, node: Possible, threshold: float, z) -> Evaluated | None:
        """B and z alternate until they have settled, or the node is closed."""
        P = own.K.copy()
        np.einsum("ii->i", P)[:] -= own.D
        best, last = None, -np.inf
        for _ in range(_TURNS):
            M = P.copy()
            np.einsum("ii->i", M)[:] += own.D / z[own.at]
            factor, info = dpotrf(M, lower=1)
            if info:
                return best
            B = dpotrs(factor, own.c, lower=1)[0]
            bound, most = self._worth(own, node, P, B)
            if not np.isfinite(bound):
                return best
            weights = own.D * np.square(B).sum(axis=1)
            given, z = z, self._shares(own, node, most, weights)
            if best is None or bound > best.bound:
                energy = np.square(own.c).sum(axis=1) / np.einsum("ii->i", own.K)
                promise = self._of_units(own, node, z[own.at] * energy)
                best = Evaluated(bound, most, given, z.astype(np.float32), promise)
            room = threshold - best.bound
            if room <= 0.0 or (room < np.inf and bound - last <= _SETTLED * room):
                break
            last = bound
        return best

    def _worth(self, own: _Node, node: Possible, P, B) -> tuple[float, Maximum]:
        """The bound for a B, whatever it is; the charges are those of the compiled relaxation."""
        n, q = B.shape
        U = own.c - P @ B
        caught = float(np.vdot(B, own.c))
        quad = caught - float(np.vdot(B, U))
        b, c, u = (np.sqrt(np.square(A).sum(axis=1)) for A in (B, own.c, U))
        root = np.sqrt(np.maximum(np.einsum("ii->i", P), 0.0))
        off = (n + q + 8) * UNIT * (c + u + root * float(root @ b))
        charge = float(b @ (2.0 * off + (n * q + 8) * UNIT * (c + u)))
        g = np.square(u + off) / own.D * (1.0 + 16.0 * UNIT) + own.s
        most = node.maximum(self._scores(own, node, g))
        base = own.energy - quad - charge - 8.0 * UNIT * (abs(own.energy) + abs(quad))
        return base - most.value, most

    def _scores(self, own: _Node, node: Possible, g: np.ndarray) -> np.ndarray:
        """A score for every candidate: copies have that of the first one, a group the sum."""
        by_atom = np.zeros(len(self.owners))
        by_atom[own.atoms] = g
        scores = np.zeros(len(self.labels))
        np.add.at(scores, self.owners, by_atom[self._same])
        return scores[node.candidates]

    def _shares(self, own: _Node, node: Possible, most: Maximum, weights) -> np.ndarray:
        """z of every candidate, the same within a unit: prices and weights say how much of it."""
        unit = node.units[own.at]
        a = np.bincount(unit, weights, minlength=node.n_units)
        count = np.bincount(unit, minlength=node.n_units)
        price = most.prices
        total = float(price.sum())
        if total <= 0.0:
            return np.ones(len(node.candidates))
        w = np.sqrt(a / np.maximum(price - count * own.s, 1e-6 * total / len(price)))
        z = _filled(w, price, most.capacity)
        return np.clip(z, _LEAST_Z, 1.0)[node.units]

    def _of_units(self, own: _Node, node: Possible, values: np.ndarray) -> np.ndarray:
        """Sums over the atoms of a unit."""
        return np.bincount(node.units[own.at], values, minlength=node.n_units)


def _filled(weights: np.ndarray, price: np.ndarray, capacity: float) -> np.ndarray:
    """Multiples of the weights, at most 1, that cost what there is."""
    full = np.zeros(len(weights), dtype=bool)
    while True:
        paid = float((weights * price)[~full].sum())
        left = capacity - float(price[full].sum())
        if paid <= 0.0 or left <= 0.0:
            return np.where(full, 1.0, 0.0)
        z = np.where(full, 1.0, weights * (left / paid))
        more = (z > 1.0) & ~full
        if not more.any():
            return z
        full |= more


def _atoms(reduced: Reduced, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Columns, or bases of groups; the column that each stands with; and the factor by which
    rounding has grown, infinite if a basis is in doubt."""
    columns = reduced.columns
    lengths = np.linalg.norm(columns, axis=1)
    atoms, owners, growth = [], [], 1.0
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) == 1:
            vectors = columns[members] if lengths[members[0]] > 0.0 else columns[:0]
        else:
            basis = graded_basis(columns, members, lengths, reduced.power)
            vectors = basis.Q.T
            growth = max(growth, np.inf if basis.doubtful else len(members) * basis.growth)
        atoms.append(vectors)
        owners += [members[0]] * len(vectors)
    return np.vstack(atoms), np.array(owners, dtype=np.intp), float(growth)
