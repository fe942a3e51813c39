"""Validated data of a selection, and errors recomputed from them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from columnist._target import open_target
from columnist._validation import check_memory
from columnist.criteria import Criterion, Frobenius
from columnist.linalg.blocks import RowBlocks
from columnist.linalg.passes import columns_of, cross, energies_along, squared_norms
from columnist.linalg.reduce import (
    Reduced,
    can_be_squared,
    power_of_two,
    reduce_data,
    reduce_gram,
)
from columnist.linalg.residual import blocked_energy, chosen_basis, residual_singular_values
from columnist.linalg.threads import single_threaded_blas

__all__ = ["Matrices"]

# Largest side for which a sparse residual's Gram matrix may be formed.
_GRAM_SIDE = 5000
# Errors below this share of the total are summed over the residual itself.
_CANCELLATION = 1e-4
# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8


@dataclass(frozen=True)
class Matrices:
    """Validated input: X, the target Y (None: X itself), and how to read them.

    ``gram`` says that X is a Gram matrix; ``center`` that column means are free; ``unit`` is
    what the target was divided by, so that errors come out in its own unit; ``safe`` that all
    entries are known to be neither too large nor too small to be squared.
    """

    X: np.ndarray | sp.spmatrix
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False
    unit: float = 1.0
    safe: bool = False

    @classmethod
    def of_blocks(cls, X: RowBlocks, y=None, *, center: bool, target: bool) -> Matrices:
        """A few rows with the means and inner products of many, found in one pass over them.

        ``target`` says whether y is approximated, which may have come with the rows.
        """
        along, read = open_target(y, X) if target and y is not None else (None, None)
        sample = X.moments(along, read).sample()
        rows, n = sample.rows, X.n_features
        Y = rows[:, n:] if target else None
        return cls(rows[:, :n], Y, center=center, unit=float(np.sqrt(sample.weight)))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def reduce(self, reduction: str, size: int, rng) -> Reduced:
        """The small matrix of the search."""
        if self.gram:
            return reduce_gram(self.X)
        rank = None
        if reduction == "randomized":
            rank = max(4 * size, 100)
        self._check_memory(rank)
        reduced = reduce_data(self.X, self.Y, center=self.center, rank=rank, rng=rng)
        return replace(reduced, scale=reduced.scale * self.unit)

    def threads(self) -> AbstractContextManager:
        """One BLAS thread for small matrices, as many as there are otherwise."""
        m, n = self.X.shape
        return single_threaded_blas() if m * n * min(m, n) < _SMALL else nullcontext()

    def _check_memory(self, rank: int | None) -> None:
        m, n = self.X.shape
        need = 8.0 * (min(m, n) if rank is None else rank) * n * 4
        check_memory(
            need,
            f"The exact reduction of a {m} x {n} matrix",
            "Select rows or columns first, or use ColumnSelector(reduction='randomized').",
        )

    def centered(self) -> tuple[np.ndarray, np.ndarray]:
        """X and target as dense arrays, means removed if they are free."""
        X = self.X.toarray() if sp.issparse(self.X) else self.X.astype(np.float64, copy=False)
        X = X - X.mean(axis=0) if self.center else X
        if self.Y is None:
            return X, X
        return X, (self.Y - self.Y.mean(axis=0) if self.center else self.Y)

    def balanced(self) -> tuple[Matrices, float, float]:
        """The same with entries that can be squared safely, and what X and Y were divided by."""
        if self.safe:
            return self, 1.0, 1.0
        x_scale = power_of_two(np.sqrt(np.abs(self.X)) if self.gram else self.X)
        y_scale = x_scale if self.Y is None else power_of_two(self.Y)
        if can_be_squared(x_scale) and can_be_squared(y_scale):
            return replace(self, safe=True), 1.0, 1.0
        X = self.X / x_scale / x_scale if self.gram else self.X / x_scale
        Y = None if self.Y is None else self.Y / y_scale
        return replace(self, X=X, Y=Y, unit=self.unit * y_scale, safe=True), x_scale, y_scale

    def error(self, subset: Sequence[int], criterion: Criterion, n_components: int = 0) -> float:
        """Error of a choice, recomputed from the data themselves."""
        balanced, _, _ = self.balanced()
        if isinstance(criterion, Frobenius) and n_components == 0:
            return balanced.unit**2 * balanced._energy(subset)
        counted = balanced._spectrum(subset)[n_components:]
        return float(criterion.value(balanced.unit * counted if len(counted) else np.zeros(1)))

    def basis(self, subset: Sequence[int]) -> np.ndarray:
        """Orthonormal basis of the chosen columns, means removed if they are free."""
        chosen = columns_of(self.X, list(subset))
        chosen = chosen - chosen.mean(axis=0) if self.center else chosen
        return chosen_basis(chosen.T, range(len(subset)))

    def errors_along(self, subset: Sequence[int]) -> np.ndarray:
        """Squared Frobenius errors of none, the first, the first two, ... of these columns."""
        balanced, _, _ = self.balanced()
        Q = balanced.basis(subset)
        drops = energies_along(balanced.target, Q)
        if Q.shape[1] < len(subset):  # columns that depend on earlier ones add nothing
            counts = [balanced.basis(subset[: j + 1]).shape[1] for j in range(len(subset))]
            spread = np.zeros(len(subset))
            spread[np.flatnonzero(np.diff([0, *counts]))] = drops
            drops = spread
        # Backwards from the error that is left, nothing cancels.
        left = balanced._energy_outside(Q, float(drops.sum()))
        errors = left + np.append(np.cumsum(drops[::-1])[::-1], 0.0)
        return balanced.unit**2 * errors

    @property
    def target(self):
        """What is approximated."""
        return self.X if self.Y is None else self.Y

    def _energy(self, subset) -> float:
        """Squared Frobenius error."""
        Q = self.basis(subset)
        return self._energy_outside(Q, float(energies_along(self.target, Q).sum()))

    def _energy_outside(self, Q: np.ndarray, inside: float) -> float:
        """Energy of the target outside a basis that explains ``inside`` of it."""
        target = self.target
        if self.center and not sp.issparse(target):
            return blocked_energy(target, Q, center=True)
        total = float(squared_norms(target).sum())
        if self.center:
            constant = np.full((len(Q), 1), len(Q) ** -0.5)
            inside += float(energies_along(target, constant).sum())
        left = total - inside
        if left < _CANCELLATION * total and not sp.issparse(target):
            return blocked_energy(target, Q)
        floor = (max(target.shape) * np.finfo(float).eps) * total
        return left if left > floor else 0.0

    def _spectrum(self, subset) -> np.ndarray:
        """Singular values of the residual."""
        if not sp.issparse(self.X):
            X, target = self.centered()
            return residual_singular_values(X.T, target, subset)
        Q = self.basis(subset)
        if self.Y is not None:
            target = self.Y - self.Y.mean(axis=0) if self.center else self.Y
            return np.linalg.svd(target - Q @ (Q.T @ target), compute_uv=False)
        mean = np.asarray(self.X.mean(axis=0)).ravel() if self.center else np.zeros(self.n_features)
        caught = cross(self.X, Q).T - np.outer(Q.sum(axis=0), mean)
        return _gram_spectrum(self.X, mean, Q, caught)


def _gram_spectrum(X, mean, Q, caught) -> np.ndarray:
    """Singular values of X - 1 mean' - Q caught through the smaller Gram matrix."""
    m, n = X.shape
    if min(m, n) > _GRAM_SIDE:
        raise ValueError(
            f"The error of a sparse {m} x {n} residual under this criterion needs a Gram matrix "
            f"with more than {_GRAM_SIDE} rows. Use criterion='frobenius' with n_components=0."
        )
    if n <= m:
        gram = (X.T @ X).toarray() - m * np.outer(mean, mean) - caught.T @ caught
    else:
        side = np.asarray(X @ mean).ravel()
        gram = (X @ X.T).toarray() - side[:, None] - side[None, :] + mean @ mean
        gram = gram - Q @ (Q.T @ gram)
        gram = gram - (gram @ Q) @ Q.T
    values = np.linalg.eigvalsh(0.5 * (gram + gram.T))[::-1]
    floor = len(gram) * np.finfo(float).eps * float(X.multiply(X).sum())
    return np.sqrt(np.where(values > floor, values, 0.0))
