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

from collections.abc import Callable, Sequence

import numpy as np

from columnist.criteria import Criterion, Frobenius
from columnist.linalg.branch import FrobeniusBrancher, Workspace
from columnist.linalg.reduce import Reduced
from columnist.linalg.residual import DEPENDENT, chosen_basis, residual_singular_values
from columnist.linalg.secular import downdated_eigenvalues
from columnist.search.problem import Branches, Demand

__all__ = ["FrobeniusColumns", "InvariantColumns", "column_problem"]

_EPS = np.finfo(np.float64).eps


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
        squares = np.sqrt(np.maximum(spectrum**2 - self._lambda_allowance(spectrum), 0.0))
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
        return float(self.criterion.value(self.reduced.scale * singular_values))

    def _lambda_allowance(self, singular_values: np.ndarray) -> float:
        """Rounding of an eigenvalue, from the largest one."""
        top = singular_values.max(initial=0.0) ** 2
        return 8.0 * len(self.target) * _EPS * top

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
        # Only the first `rank` coordinates carry columns when the target lies outside.
        rounding = 8.0 * max(len(weights), 1) * _EPS * float(weights.sum())
        self._brancher = FrobeniusBrancher(reduced.columns, weights, 0.0, rounding)
        self._rounding = rounding
        self._spaces: dict[int, Workspace] = {}

    def cost(self) -> float:
        """Seconds per expansion, roughly."""
        r, n = self.reduced.columns.shape[1], self.n_items
        return (12.0 * r**3 + 6.0 * r * r * n) / 2e9

    def completion_errors(self, chosen, candidates) -> np.ndarray:
        """e(S) minus the energy each candidate's residual direction catches."""
        columns, weights = self.reduced.columns, self.reduced.weights
        Q = chosen_basis(columns, chosen)
        error = float(weights @ np.maximum(1.0 - np.einsum("ij,ij->i", Q, Q), 0.0))
        residual = columns[candidates]
        if Q.shape[1]:
            residual = residual - (residual @ Q) @ Q.T
        squares = residual * residual
        norms = squares.sum(axis=1)
        independent = norms > (DEPENDENT * self.lengths[candidates]) ** 2
        caught = (squares @ weights) / np.where(independent, norms, np.inf)
        return self.unit * np.maximum(error - caught, 0.0)

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        """Children of a node, or its best complete sets when few columns are left to choose."""
        left = self.size - len(chosen)
        threshold = demand.threshold / self.unit
        if left == 0:
            return _complete(self.value(chosen), chosen, demand)
        if demand.weight == "b":
            return self._expand_b(chosen, candidates, left, demand)
        space = self._spaces.setdefault(worker, Workspace())
        if left == 2 and demand.shortcut and len(candidates) <= 4096:
            errors, first, second = self._brancher.pairs(
                chosen, candidates, threshold, demand.n_best, space
            )
            goals = [
                (self.unit * e, (*chosen.tolist(), int(a), int(b)))
                for e, a, b in zip(errors.tolist(), first, second, strict=True)
            ]
            return Branches(np.inf, goals=goals)
        bound, kept, f, u = self._brancher.children(chosen, candidates, left, threshold, space)
        if left == 1:
            return _goals(chosen, kept, self.unit * f, demand)
        weight = self.unit * u if demand.weight == "u" else u[:0]
        return Branches(self.unit * bound, kept, self.unit * f, weight)

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
        allowance = self._lambda_allowance(np.sqrt(lam[:1]))
        outside = self._outside(lam, coordinates, left)
        bound = self._node_bound(lam, coordinates, outside, left, allowance)
        if bound >= demand.threshold:
            return Branches(np.inf)
        first, last = self._range(left - 1, len(lam))
        if demand.weight == "u" and left > 1:
            roots = downdated_eigenvalues(lam, Z, self.n_components, len(lam))
            weight = self._thetas(roots)
            roots = roots[:, left - 1 : left - 1 + last - first]
        else:
            roots, weight = downdated_eigenvalues(lam, Z, first, last), np.empty(0)
        kept, f = self._filter(roots - allowance, outside - allowance, lam, coordinates, left,
                               bound, demand.threshold)  # fmt: skip
        if len(kept) < left:
            return Branches(np.inf)
        if left == 1:
            return _goals(chosen, candidates[kept], f, demand)
        return Branches(bound, candidates[kept], f, weight[kept] if len(weight) else weight)

    def _filter(self, roots, outside, lam, coordinates, left, bound, threshold):
        """Children below the threshold; a shorter list tightens its own bounds."""
        kept = np.arange(len(roots))
        while True:
            floor = _fit(outside, roots.shape[1])
            f = np.maximum(self._thetas(np.maximum(roots[kept], floor)), bound)
            below = f < threshold
            if below.all() or below.sum() < left or below.sum() >= len(lam):
                return kept[below], f[below]
            kept = kept[below]
            outside = self._outside(lam, coordinates[kept], left)

    def _outside(self, lam, coordinates, left) -> np.ndarray:
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
        return self.criterion.values(self.reduced.scale * sigma)


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
