"""Validated data of a selection, and errors recomputed from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length

from columnist.criteria import Criterion, is_frobenius
from columnist.data._blocks import RowBlocks, open_blocks
from columnist.data._target import open_target
from columnist.linalg import _accurate as accurate
from columnist.linalg._column_parts import ColumnParts, Visit, total
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import (
    columns_of,
    cross,
    energies_along,
    squared_norms,
    without_means,
)
from columnist.linalg._reduce import (
    Reduced,
    can_be_squared,
    power_of_two,
    reduce_data,
    reduce_gram,
)
from columnist.linalg._residual import (
    Basis,
    blocked_energy,
    graded_basis,
    of_like_length,
    singular_values_outside,
)
from columnist.linalg._rounding import CONSTANT, DEPENDENT, DOUBTFUL, EPS, allowance, is_trusted
from columnist.linalg._threads import single_threaded_blas

__all__ = ["Matrices", "gathered", "in_memory"]

# Most columns whose inner products are formed for every block of rows: 128 MB; four times that
# where there are more rows than columns.
_NARROW, _NARROW_TALL = 4_000, 8_000
# Largest side for which a sparse residual's Gram matrix may be formed.
_GRAM_SIDE = 5000
# Errors below this share of the total are summed over the residual itself.
_CANCELLATION = 1e-4
# Operations in double-double arithmetic that one error may cost: about a second.
_MOST_ACCURATE = 1e8
# A residual of no more than this share of its target is the rounding of the entries.
_ENTRIES = 32 * EPS
# Entries of a matrix that may be written out, or brought here, to compute errors: 16 MB.
_SMALL_ENTRIES = 2_000_000
# A residual that is no smaller beside its target is no rounding.
_SMALL_REST = 1e-6
# The same for rows that stand for others, in units of their own rounding.
_OF_SAMPLE = 8.0
# Growth of rounding that leaves nothing of a number.
_ANYTHING = 1e60
# Singular values that small beside the largest may be rounding of entries.
_SUSPECT = 1e-10
# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8


@dataclass(frozen=True)
class Matrices:
    """Validated input: X, the target Y (None: X itself), and how to read them.

    ``gram`` says that X is a Gram matrix; ``center`` that column means are free; ``unit`` is
    what the target was divided by, so that errors come out in its own unit; ``safe`` that all
    entries are known to be neither too large nor too small to be squared. X may be kept elsewhere,
    in blocks of columns. ``sample`` says that a few rows stand for many; ``source`` then brings
    these themselves, if they fit, for errors that need better arithmetic, and ``removed`` are
    means of X and of the target that the few rows are already without. ``target_kind`` says
    whether Y was made of classes or numbers.
    """

    X: Any  # ndarray, sparse array or ColumnParts
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False
    unit: float = 1.0
    safe: bool = False
    sample: bool = False
    source: Callable[[], Matrices] | None = None
    removed: tuple[np.ndarray, np.ndarray] | None = None
    target_kind: str | None = None

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
        along: Any
        read: Any
        along, read = open_y(y, X) if target and y is not None else (None, None)
        kind = (X.target_kind if read is None else read.kind) if target else None
        parts = X.by_columns() if _is_wide(X) else None
        if parts is not None:
            Y = None if along is None else _whole_target(along, read, parts.shape[0])
            X = parts if passes else gathered(parts)
            return cls(X, Y, center=center, target_kind=kind)
        moments, n = X.moments(along, read), X.n_features
        sample = moments.sample(centered=center)
        rows, mean = sample.rows, moments.mean
        Y = rows[:, n:] if target else None

        @cache
        def source() -> Matrices:
            whole = None if along is None else _whole_target(along, read, X.shape[0])
            data = X.gather().astype(np.float64, copy=False)
            return cls(data, whole, center=center)

        known = X.keeps_rows and target == (along is not None) and X.shape[0] * n <= _SMALL_ENTRIES
        return cls(
            rows[:, :n], Y, center=center, unit=float(np.sqrt(sample.weight)), sample=True,
            source=source if known else None,
            removed=(mean[:n], mean[n:] if target else mean[:n]) if center else None,
            target_kind=kind,
        )  # fmt: skip

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

    def centered_target(self) -> np.ndarray:
        """The target as a dense array, means removed if they are free."""
        target = self.target
        target = target.toarray() if sp.issparse(target) else target.astype(np.float64, copy=False)
        return without_means(target) if self.center else target

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

    def error(
        self, subset: Sequence[int] | np.ndarray, criterion: Criterion, n_components: int = 0
    ) -> float:
        """Error of a choice, recomputed from the data themselves."""
        balanced, _, _ = self._written_out().balanced()
        Q = balanced.basis(subset)
        if is_frobenius(criterion) and n_components == 0:
            return balanced.unit**2 * balanced._energy(Q)
        counted = balanced._spectrum(Q)[n_components:]
        return float(criterion.value(balanced.unit * counted if len(counted) else np.zeros(1)))

    def interval(
        self,
        subset: Sequence[int],
        criterion: Criterion,
        n_components: int = 0,
        limit: float = np.inf,
    ) -> tuple[float, float]:
        """Two numbers between which the error of a choice lies, from the data themselves.

        What double precision leaves open is computed again in double-double arithmetic, if that
        is affordable and the error may be below ``limit``. This is where a claim of a search is
        confirmed.
        """
        data = self._written_out()
        if data is not self:
            return data.interval(subset, criterion, n_components, limit)
        low, high = self._double_interval(subset, criterion, n_components)
        if low >= limit or is_trusted(low, high, float(criterion.value(np.zeros(1)))):
            return low, high
        if self.source is not None:
            return self.source().interval(subset, criterion, n_components, limit)
        if self.sample:  # better arithmetic on them tells nothing about the rows they stand for
            return low, high
        # Where a column is nearly dependent, both readings count.
        errors = [
            float(criterion.value(counted if len(counted) else np.zeros(1)))
            for counted in self._accurate_spectra(subset, n_components)
        ]
        return (min(errors), max(errors)) if errors else (low, high)

    def _double_interval(self, subset, criterion, n_components) -> tuple[float, float]:
        """The same in double precision: the error, and how far it may be off.

        The residual is known up to the rounding of the target, times what the heights of the
        columns make of it; every singular value is then known up to the same.
        """
        if self.gram:
            return float(criterion.value(np.zeros(1))), np.inf
        balanced, _, _ = self.balanced()
        basis = balanced._graded_basis(subset)
        grown = _ANYTHING if basis.doubtful else basis.growth
        whole = float(np.sqrt(squared_norms(balanced.target).sum()))
        unit = allowance(len(subset) + 1, whole)
        doubt = min(grown, _ANYTHING) * unit
        # Rows that stand for others are rounded themselves: what is left of them may be nothing.
        nothing = _OF_SAMPLE * unit if self.sample and self.source is None else -np.inf
        if is_frobenius(criterion) and n_components == 0:
            energy = balanced._energy(basis.Q)
            if np.sqrt(energy) <= nothing:
                return 0.0, 0.0
            # Sums of squares may also come from a difference: see _energy_outside.
            order = max(balanced.target.shape) if sp.issparse(balanced.target) else 1
            off = (2.0 * float(np.sqrt(energy)) + doubt) * doubt + allowance(order, whole**2)
            return balanced.unit**2 * max(energy - off, 0.0), balanced.unit**2 * (energy + off)
        if sp.issparse(self.X) and self.Y is None:  # squared: see _gram_spectrum
            doubt = max(doubt, float(np.sqrt(allowance(self.n_features, whole**2))))
        sigma = balanced._spectrum(basis.Q)[n_components : self._rank_outside(subset, basis)]
        sigma = sigma if len(sigma) else np.zeros(1)
        if sigma[0] <= nothing:
            return (float(criterion.value(np.zeros(1))),) * 2
        ends = [np.maximum(sigma - doubt, 0.0), sigma + doubt]
        low, high = (float(criterion.value(balanced.unit * values)) for values in ends)
        return low, high

    def _rank_outside(self, subset: Sequence[int], basis: Basis) -> int:
        """Singular values of a residual that may differ from zero: the others are rounding."""
        m, targets = self.target.shape
        if self.Y is None:  # of a chosen column nothing is left
            targets -= len(set(subset))
        return min(targets, m - self.center - (0 if basis.doubtful else basis.Q.shape[1]))

    def _accurate_spectra(
        self, subset: Sequence[int], n_components: int, dependent: float = DEPENDENT
    ) -> Iterator[np.ndarray]:
        """Singular values of the residual that count, in double-double arithmetic.

        None at all if that is too expensive, and those of a second reading if a column is left out
        that may be more than rounding. Values that are there only because the entries of the
        target are rounded are zero.
        """
        if isinstance(self.X, ColumnParts):
            return
        m, n = self.X.shape
        targets = n if self.Y is None else self.Y.shape[1]
        side, other = sorted((m, targets))
        work = m * (len(subset) + 1.0) * (len(subset) + targets) + 40.0 * side * side * other
        if work + (float(n) ** 3 if self.gram else 0.0) > _MOST_ACCURATE:
            return
        vectors, target, lengths = self._accurate_vectors(subset)
        power = 0.5 if self.gram else 1.0
        rest, heights = accurate.residual(vectors, target, dependent**power)
        if ((heights > DOUBTFUL**power) & (heights <= dependent**power)).any():
            yield from self._accurate_spectra(subset, n_components, DOUBTFUL)
        # What is left of a target may be the rounding of entries: its own, and those of the
        # columns, times their coefficients.
        nothing = np.sqrt(DEPENDENT) if self.gram else _ENTRIES
        left = np.sqrt(accurate.squares(rest))
        small = np.flatnonzero(left <= _SMALL_REST * lengths)
        if not self.gram and len(small) and len(subset):
            lengths = lengths.copy()
            lengths[small] *= _coefficient_sizes(vectors[0], target[0][small])
        if self.Y is None:
            left[list(subset)] = 0.0  # a column that is chosen is there, dependent or not
        for part in rest:
            part[left <= nothing * lengths] = 0.0
        values = accurate.singular_values(rest)
        if values.min(initial=np.inf) <= _SUSPECT * values.max(initial=0.0):
            # On targets of one length, a share of rounding in every entry moves them this much.
            scale = np.where(lengths > 0.0, lengths, 1.0)[:, None]
            real = accurate.singular_values((rest[0] / scale, rest[1] / scale)) > nothing * np.sqrt(
                len(lengths)
            )
            values[np.count_nonzero(real) :] = 0.0
        yield self.unit * power_of_two(self._target_entries()) * values[n_components:]

    def _target_entries(self) -> np.ndarray:
        if self.gram:
            return np.sqrt(np.abs(np.diag(self.X)))
        target = self.target
        return target.data if sp.issparse(target) else target

    def _accurate_vectors(self, subset: Sequence[int]):
        """Chosen columns, targets, and lengths of the targets, entries near 1."""
        if self.gram:
            unit = power_of_two(self._target_entries())
            hi, lo = accurate.cholesky(self.X / unit / unit)
            chosen = list(subset)
            lengths = np.sqrt(accurate.squares((hi, lo)))
            return (hi[chosen], lo[chosen]), (hi, lo), lengths
        columns = columns_of(self.X, list(subset)).T
        largest = np.abs(columns).max(axis=1, initial=0.0)
        units = np.exp2(np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
        target = self.target
        target = target.toarray() if sp.issparse(target) else target
        target = (target / power_of_two(target)).T
        lengths = np.linalg.norm(target, axis=1)
        both = [_doubled(columns / units[:, None]), _doubled(target)]
        if self.center:
            both = [_constant_free(part) for part in both]
            # Entries are rounded once, whatever was done to what is left of them since.
            lengths = np.maximum(np.sqrt(accurate.squares(both[1])), lengths / 8)
        return both[0], both[1], lengths

    def _written_out(self) -> Matrices:
        """Sparse data in one array where that is small; else this object."""
        if not sp.issparse(self.X) or self.X.shape[0] * self.X.shape[1] > _SMALL_ENTRIES:
            return self
        return replace(self, X=self.X.toarray())

    def basis(self, subset: Sequence[int] | np.ndarray) -> np.ndarray:
        """Orthonormal basis of the chosen columns, means removed if they are free."""
        return self._graded_basis(subset).Q

    def _graded_basis(self, subset: Sequence[int] | np.ndarray, *, ordered: bool = False) -> Basis:
        """The same, and what the heights of the columns, and their means, make of rounding."""
        chosen = of_like_length(columns_of(self.X, list(subset)).T)
        lengths = np.linalg.norm(chosen, axis=1)  # before means are removed: they cost digits
        chosen = without_means(chosen.T).T if self.center else chosen
        own = np.linalg.norm(chosen, axis=1)
        basis = graded_basis(chosen, range(len(chosen)), own, ordered=ordered)
        far = float((lengths / np.where(own > 0.0, own, np.inf)).max(initial=1.0))
        return basis._replace(growth=basis.growth * far)

    def errors_along(self, subset: Sequence[int] | np.ndarray) -> np.ndarray:
        """Squared Frobenius errors of none, the first, the first two, ... of these columns."""
        balanced, _, _ = self.balanced()
        Q = balanced._graded_basis(subset, ordered=True).Q
        drops = energies_along(balanced.target, Q)
        if Q.shape[1] < len(subset):  # columns that depend on earlier ones add nothing
            some = (subset[: j + 1] for j in range(len(subset)))
            counts = [balanced._graded_basis(s, ordered=True).Q.shape[1] for s in some]
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

    def _energy(self, Q: np.ndarray) -> float:
        """Squared Frobenius error outside a basis."""
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

    def _spectrum(self, Q: np.ndarray) -> np.ndarray:
        """Singular values of the residual outside a basis."""
        if not sp.issparse(self.X):
            return singular_values_outside(Q, self.centered_target())
        if self.Y is not None:
            target = self.Y - self.Y.mean(axis=0) if self.center else self.Y
            return np.linalg.svd(target - Q @ (Q.T @ target), compute_uv=False)
        mean = np.asarray(self.X.mean(axis=0)).ravel() if self.center else np.zeros(self.n_features)
        caught = cross(self.X, Q).T - np.outer(Q.sum(axis=0), mean)
        return _gram_spectrum(self.X, mean, Q, caught)


def _coefficient_sizes(columns: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """sqrt(1 + |b|^2), b the coefficients of each target, all of length one, on the columns."""
    units = [A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None] for A in (columns, targets)]
    coefficients = np.linalg.lstsq(units[0].T, units[1].T, rcond=DEPENDENT)[0]
    return np.sqrt(1.0 + np.square(coefficients).sum(axis=0))


def _doubled(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that have no trailing part."""
    return np.ascontiguousarray(vectors, dtype=np.float64), np.zeros(vectors.shape)


def _constant_free(vectors):
    """Vectors less their means; of constant ones exactly nothing is left."""
    lengths = np.sqrt(accurate.squares(vectors))
    hi, lo = accurate.centered(vectors)
    constant = np.sqrt(accurate.squares((hi, lo))) <= CONSTANT * lengths
    hi[constant] = lo[constant] = 0.0
    return hi, lo


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
