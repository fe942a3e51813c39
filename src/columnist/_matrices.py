"""Validated data of a selection, and errors recomputed from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from columnist._target import open_target
from columnist._validation import check_memory
from columnist.criteria import Criterion, Frobenius
from columnist.linalg.blocks import RowBlocks, open_blocks
from columnist.linalg.column_parts import ColumnParts, Visit, total
from columnist.linalg.passes import (
    columns_of,
    cross,
    energies_along,
    squared_norms,
    without_means,
)
from columnist.linalg.reduce import (
    Reduced,
    can_be_squared,
    power_of_two,
    reduce_data,
    reduce_gram,
)
from columnist.linalg.residual import blocked_energy, chosen_basis, residual_singular_values
from columnist.linalg.threads import single_threaded_blas

__all__ = ["Matrices", "gathered", "in_memory"]

# Most columns whose inner products are formed for every block of rows: 128 MB; four times that
# where there are more rows than columns.
_NARROW, _NARROW_TALL = 4_000, 8_000
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
    entries are known to be neither too large nor too small to be squared. X may be kept elsewhere,
    in blocks of columns.
    """

    X: np.ndarray | sp.spmatrix | ColumnParts
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False
    unit: float = 1.0
    safe: bool = False

    @classmethod
    def of_blocks(
        cls,
        X: RowBlocks,
        y=None,
        *,
        center: bool,
        target: bool,
        passes: bool = False,
        open_y: Callable = open_target,
    ) -> Matrices:
        """Data that come in blocks of rows, ready for a selection.

        A few rows with the means and inner products of all, found in one pass, take their place
        unless there are too many columns for that. Then X is cut into blocks of columns where
        ``passes`` says that the selection works on these, and brought into memory otherwise.
        ``target`` says whether y is approximated, which may have come with the rows; ``open_y``
        opens it.
        """
        along, read = open_y(y, X) if target and y is not None else (None, None)
        parts = X.by_columns() if _is_wide(X) else None
        if parts is not None:
            Y = None if along is None else _whole_target(along, read, parts.shape[0])
            return cls(parts if passes else gathered(parts), Y, center=center)
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
        X = without_means(X) if self.center else X
        if self.Y is None:
            return X, X
        return X, (without_means(self.Y) if self.center else self.Y)

    def balanced(self) -> tuple[Matrices, float, float]:
        """The same with entries that can be squared safely, and what X and Y were divided by."""
        if self.safe:
            return self, 1.0, 1.0
        x_scale = self._x_scale()
        y_scale = x_scale if self.Y is None else power_of_two(self.Y)
        if can_be_squared(x_scale) and can_be_squared(y_scale):
            return replace(self, safe=True), 1.0, 1.0
        if isinstance(self.X, ColumnParts):
            X = self.X.divided(x_scale)
        else:
            X = self.X / x_scale / x_scale if self.gram else self.X / x_scale
        Y = None if self.Y is None else self.Y / y_scale
        return replace(self, X=X, Y=Y, unit=self.unit * y_scale, safe=True), x_scale, y_scale

    def _x_scale(self) -> float:
        if isinstance(self.X, ColumnParts):
            return power_of_two(np.array([self.X.largest]))
        return power_of_two(np.sqrt(np.abs(self.X)) if self.gram else self.X)

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
        chosen = without_means(chosen) if self.center else chosen
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
        sparse = target.is_sparse if isinstance(target, ColumnParts) else sp.issparse(target)
        if self.center and not sparse:
            return _residual_energy(target, Q, center=True)
        whole = float(squared_norms(target).sum())
        if self.center:
            constant = np.full((len(Q), 1), len(Q) ** -0.5)
            inside += float(energies_along(target, constant).sum())
        left = whole - inside
        if left < _CANCELLATION * whole and not sparse:
            return _residual_energy(target, Q, center=False)
        floor = (max(target.shape) * np.finfo(float).eps) * whole
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


def _is_wide(X: RowBlocks) -> bool:
    """Whether inner products of all columns are too many."""
    n = X.n_features
    return n > _NARROW and (n > _NARROW_TALL or n > X.shape[0])


def gathered(parts: ColumnParts) -> np.ndarray | sp.csc_array:
    """All columns in memory as float64, if they fit."""
    m, n = parts.shape
    check_memory(
        2.0 * parts.nbytes * 8 / parts.dtype.itemsize,
        f"Bringing a matrix of {m} x {n} into one process",
        "Use ForwardSelector, PivotedQRSelector, TwoStageSelector or a sampler: they leave wide "
        "data where they are.",
    )
    return parts.gather().astype(np.float64, copy=False)


def in_memory(y):
    """y itself; all rows of a collection."""
    blocks = open_blocks(y)
    return y if blocks is None else blocks.gather()


def _whole_target(along, read: Callable, n_samples: int) -> np.ndarray:
    """The whole target, which may come in blocks of rows."""
    if not isinstance(along, RowBlocks):
        return along
    Y = np.concatenate(along.collect(read))
    check_consistent_length(Y, np.empty(n_samples))
    return Y


def _residual_energy(target, Q: np.ndarray, *, center: bool) -> float:
    """Energy of a dense target outside Q, summed over the residual itself."""
    if isinstance(target, ColumnParts):
        return target.fold(Visit(blocked_energy, Q, center=center), total)
    return blocked_energy(target, Q, center=center)


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
