"""The data of a selection, and the errors of selections computed from them.

Errors are computed as numbers and as enclosing intervals: first in double precision, with a bound
on its rounding errors, and again in more precise arithmetic if that leaves the result open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svdvals

from columnist.criteria import Criterion, is_frobenius
from columnist.linalg import _accurate as accurate
from columnist.linalg import _rounding as rounding
from columnist.linalg._column_parts import ColumnParts, is_sparse
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import (
    columns_of,
    cross,
    energies_along,
    others,
    squared_norms,
    without_means,
)
from columnist.linalg._reduce import Reduced, can_be_squared, power_of_two, reduce_data, reduce_gram
from columnist.linalg._residual import (
    Basis,
    Verified,
    blocked_energy,
    graded_basis,
    near_one,
    of_like_length,
    singular_values_outside,
    verified_residual,
)
from columnist.linalg._rounding import DEPENDENT, allowance, is_trusted, rank_floor
from columnist.linalg._threads import single_threaded_blas

# Entries of a matrix that may be written out, or brought here, to compute errors: 16 MB.
SMALL_ENTRIES = 2_000_000
# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8
# Largest side for which a sparse residual's Gram matrix may be formed.
_GRAM_SIDE = 5000
# Errors below this share of the total are summed over the residual itself.
_CANCELLATION = 1e-4
# Operations in double-double arithmetic that one error may cost: about a second.
_MOST_ACCURATE = 1e8
# A residual of at most this share of its target is attributed to the rounding of the entries.
_ENTRIES = 32 * rounding.EPS
# A residual of at least this share of its target is more than rounding.
_SMALL_REST = 1e-6
# The same for rows that represent others, in units of their own rounding.
_OF_SAMPLE = 8.0
# Growth of rounding errors at which a number has no correct digit left.
_ANYTHING = 1e60
# Singular values that small beside the largest may be rounding of entries.
_SUSPECT = 1e-10
# Sums of squares of larger numbers may leave the range of floating point numbers.
_LARGEST = 1e152


@dataclass(frozen=True)
class Matrices:
    """Checked data, brought once to a scale at which entries can be squared and summed.

    Attributes
    ----------
    X : ndarray, sparse array or ColumnParts of shape (m, n)
        The columns, divided by ``x_scale``; with ``gram`` their Gram matrix, divided by its square.
    Y : ndarray of shape (m, q) or None
        The target, divided by ``y_scale``; None if it is X.
    gram : bool
        Whether X is a Gram matrix.
    center : bool
        Whether means are free.
    ridge : float
        What squared coefficients cost: they count as so many more rows of the selected columns.
        Only with Y, under the squared Frobenius norm.
    unit : float
        What singular values are multiplied with to come out in the unit of the target.
    x_scale, y_scale : float
        Powers of two that X and the target were divided by: 1 for entries of usual size. Not set by
        the caller.
    sample : bool
        Whether a few rows represent many.
    source : callable or None
        Brings the many rows themselves, if they fit, for errors that need better arithmetic.
    removed : tuple of two ndarrays or None
        Means of X and of the target that the few rows are already without.
    target_kind : str or None
        Whether Y was made of "classes" or "numbers".
    workers : object
        Helpers for long searches where the rows are, if there are any.
    preparation : float
        Seconds that a pass over rows in blocks took.
    n_rows : float or None
        How many rows there are, or the sum of their weights, where a few stand for them.
    rows : WeightedRows or None
        The rows as they are, where weights went into them.
    missing : mapping or None
        Share of missing values and method of estimation, if values were missing.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.criteria import Nuclear
    >>> from columnist.data import Matrices
    >>> matrices = Matrices(np.diag([3e200, 1e200]))
    >>> matrices.error([0], Nuclear())
    1e+200
    """

    X: Any
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False
    ridge: float = 0.0
    unit: float = 1.0
    x_scale: float = 0.0
    y_scale: float = 0.0
    sample: bool = False
    source: Callable[[], Matrices] | None = None
    removed: tuple[np.ndarray, np.ndarray] | None = None
    target_kind: str | None = None
    workers: Any = None
    preparation: float = 0.0
    n_rows: float | None = None
    rows: Any = None
    missing: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.x_scale:
            return
        x_scale = power_of_two(np.sqrt(np.abs(self.X)) if self.gram else self.X)
        y_scale = x_scale if self.Y is None else power_of_two(self.Y)
        scaled: dict[str, Any] = {"x_scale": 1.0, "y_scale": 1.0}
        if not (can_be_squared(x_scale) and can_be_squared(y_scale)):
            X = self.X / x_scale
            scaled = {
                "X": X / x_scale if self.gram else X,
                "Y": None if self.Y is None else self.Y / y_scale,
                "unit": self.unit * y_scale,
                "x_scale": x_scale,
                "y_scale": y_scale,
            }
        for name, value in scaled.items():
            object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_samples(self) -> float:
        """Number of rows, or the sum of their weights."""
        return self.X.shape[0] if self.n_rows is None else self.n_rows

    @property
    def n_targets(self) -> int:
        """Number of columns of the target."""
        return self.target.shape[1]

    @property
    def is_here(self) -> bool:
        """Whether X is in memory, and not visited in blocks of columns."""
        return not isinstance(self.X, ColumnParts)

    @property
    def target(self):
        """The matrix that is approximated."""
        return self.X if self.Y is None else self.Y

    @cached_property
    def target_energy(self) -> float:
        """Sum of squares of the target."""
        return float(squared_norms(self.target).sum())

    def centered_target(self) -> np.ndarray:
        """The target as a dense array, means removed if they are free."""
        target = self.target
        target = target.toarray() if sp.issparse(target) else target.astype(np.float64, copy=False)
        return without_means(target) if self.center else target

    def take_rows(self, rows: np.ndarray) -> Matrices:
        """The same for some rows."""
        return replace(self, X=self.X[rows], Y=None if self.Y is None else self.Y[rows])

    @cached_property
    def written(self) -> Matrices:
        """Sparse data in one array where that is small; else this object."""
        if not sp.issparse(self.X) or self.X.shape[0] * self.X.shape[1] > SMALL_ENTRIES:
            return self
        return replace(self, X=self.X.toarray())

    def check_range(self, criterion: Criterion) -> None:
        """Raise if squared errors leave the range of floating point numbers."""
        if is_frobenius(criterion) and self.unit > _LARGEST:
            raise ValueError(
                f"The squared Frobenius norm of values near {self.unit:.0e} leaves the range of "
                "floating point numbers: rescale the data, or use another criterion."
            )

    def threads(self) -> AbstractContextManager:
        """One BLAS thread for small matrices, as many as there are otherwise."""
        m, n = self.X.shape
        return single_threaded_blas() if m * n * min(m, n) < _SMALL else nullcontext()

    # -- the small matrix of a search ---------------------------------------------

    def reduce(self, reduction: str, size: int, rng) -> Reduced:
        """A small matrix with the same errors."""
        if self.gram:
            reduced = reduce_gram(self.X)
        else:
            m, n = self.X.shape
            rank = max(4 * size, 100) if reduction == "randomized" else None
            check_memory(
                8.0 * (min(m, n) if rank is None else rank) * n * 4,
                f"The exact reduction of a {m} x {n} matrix",
                "Select rows or columns first, or use ColumnSelector(reduction='randomized').",
            )
            data = self.penalized(range(n)) if self.ridge else self
            reduced = reduce_data(data.X, data.Y, center=data.center, rank=rank, rng=rng)
        return replace(reduced, scale=reduced.scale * self.unit)

    # -- errors ---------------------------------------------------------------------

    def error(
        self, subset: Sequence[int] | np.ndarray, criterion: Criterion, n_components: int = 0
    ) -> float:
        """Error of a choice, recomputed from the data themselves."""
        self.check_range(criterion)
        if self.ridge:
            return self.penalized(subset).error(range(len(subset)), criterion, n_components)
        data = self.written
        Q = data.basis(subset).Q
        if is_frobenius(criterion) and n_components == 0:
            return data.unit**2 * _energy(data, Q)
        return _value(criterion, data.unit * _spectrum(data, Q)[n_components:])

    def interval(
        self,
        subset: Sequence[int],
        criterion: Criterion,
        n_components: int = 0,
        limit: float = np.inf,
    ) -> tuple[float, float]:
        """Two numbers between which the error of a choice lies, from the data themselves.

        What double precision leaves open is computed again in better arithmetic, if that is
        affordable and the error may be below ``limit``: only the residual, or, where rounding of
        the entries may be all there is, everything. Here a claim of a search is confirmed.
        """
        if self.ridge:
            every = range(len(subset))
            return self.penalized(subset).interval(every, criterion, n_components, limit)
        data, least = self.written, _value(criterion)
        # With many columns, of which little is left, only the sharper one is likely to do.
        ways = [_double_interval, _verified_interval]
        low, high = least, np.inf
        for way in ways[::-1] if 3 * len(subset) > data.n_features else ways:
            ends = way(data, subset, criterion, n_components)
            if ends[0] >= limit or is_trusted(*ends, least):
                return ends
            low, high = max(low, ends[0]), min(high, ends[1])
        if data.source is not None:
            return data.source().interval(subset, criterion, n_components, limit)
        if data.sample:  # more digits of these rows are not those of the rows they represent
            return low, high
        # Where a column is nearly dependent, both readings count.
        spectra = _accurate_spectra(data, subset, n_components)
        errors = [_value(criterion, counted) for counted in spectra]
        return (min(errors), max(errors)) if errors else (low, high)

    def with_ridge(self, alpha: float) -> Matrices:
        """The same data, with squared coefficients that cost ``alpha`` each."""
        factor = self.y_scale / self.x_scale / self.unit
        return replace(self, ridge=alpha * factor * factor) if alpha else self

    def penalized(self, subset: Sequence[int] | np.ndarray) -> Matrices:
        r"""These columns alone, with the ridge written out as rows:
        :math:`\lVert Y - X_SB \rVert^2 + \alpha \lVert B \rVert^2` is the error of
        :math:`[X_S;\, \sqrt{\alpha} I]` for the target :math:`[Y;\, 0]`."""
        assert self.Y is not None
        k, q = len(subset), self.Y.shape[1]
        X, Y = columns_of(self.X, list(subset)), self.Y
        if self.center:
            X, Y = without_means(X), without_means(Y)
        X = np.vstack([X, np.sqrt(self.ridge) * np.eye(k)])
        Y = np.vstack([Y, np.zeros((k, q))])
        return replace(self, X=X, Y=Y, center=False, ridge=0.0, source=None, removed=None)

    def errors_along(self, subset: Sequence[int] | np.ndarray) -> np.ndarray:
        """Squared Frobenius errors of none, the first, the first two, ... of these columns."""
        Q = self.basis(subset, ordered=True).Q
        drops = energies_along(self.target, Q)
        if Q.shape[1] < len(subset):  # columns that depend on earlier ones add nothing
            some = (subset[: j + 1] for j in range(len(subset)))
            counts = [self.basis(s, ordered=True).Q.shape[1] for s in some]
            spread = np.zeros(len(subset))
            spread[np.flatnonzero(np.diff([0, *counts]))] = drops
            drops = spread
        # Backwards from the error that is left, nothing cancels.
        left = _energy_outside(self, Q, float(drops.sum()))
        return self.unit**2 * (left + np.append(np.cumsum(drops[::-1])[::-1], 0.0))

    def basis(self, subset: Sequence[int] | np.ndarray, *, ordered: bool = False) -> Basis:
        """Orthonormal basis of the chosen columns, means removed if they are free; its growth also
        holds what the means cost. With ``ordered``, its first vectors span the first columns."""
        chosen = of_like_length(columns_of(self.X, list(subset)).T)
        lengths = np.linalg.norm(chosen, axis=1)  # before means are removed: they cost digits
        chosen = without_means(chosen.T).T if self.center else chosen
        own = np.linalg.norm(chosen, axis=1)
        basis = graded_basis(chosen, range(len(chosen)), own, ordered=ordered)
        far = float((lengths / np.where(own > 0.0, own, np.inf)).max(initial=1.0))
        return basis._replace(growth=basis.growth * far)


def _value(criterion: Criterion, values: np.ndarray | Sequence[float] = ()) -> float:
    """Error of a residual with these singular values; of none is left nothing."""
    return float(criterion.value(values if len(values) else np.zeros(1)))


def _double_interval(matrices: Matrices, subset, criterion, n_components) -> tuple[float, float]:
    """The same in double precision: the residual, and so every singular value, is known up to the
    rounding of the target, times what the heights of the columns make of it."""
    if matrices.gram:
        return _value(criterion), np.inf
    basis = matrices.basis(subset)
    grown = _ANYTHING if basis.doubtful else basis.growth
    whole = float(np.sqrt(matrices.target_energy))
    unit = allowance(len(subset) + 1, whole)
    doubt = min(grown, _ANYTHING) * unit
    # Rows that represent others are rounded themselves: what is left of them may be nothing.
    nothing = _OF_SAMPLE * unit if matrices.sample and matrices.source is None else -np.inf
    if is_frobenius(criterion) and n_components == 0:
        energy = _energy(matrices, basis.Q)
        if np.sqrt(energy) <= nothing:
            return 0.0, 0.0
        # Sums of squares may also come from a difference: see _energy_outside.
        order = max(matrices.target.shape) if sp.issparse(matrices.target) else 1
        off = (2.0 * float(np.sqrt(energy)) + doubt) * doubt + allowance(order, whole**2)
        return matrices.unit**2 * max(energy - off, 0.0), matrices.unit**2 * (energy + off)
    if sp.issparse(matrices.X) and matrices.Y is None:  # squared: see _gram_spectrum
        doubt = max(doubt, float(np.sqrt(allowance(matrices.n_features, whole**2))))
    sigma = _spectrum(matrices, basis.Q)[n_components : _rank_outside(matrices, subset, basis)]
    sigma = sigma if len(sigma) else np.zeros(1)
    if sigma[0] <= nothing:
        return _value(criterion), _value(criterion)
    low, high = np.maximum(sigma - doubt, 0.0), sigma + doubt
    return _value(criterion, matrices.unit * low), _value(criterion, matrices.unit * high)


def _verified_interval(matrices: Matrices, subset, criterion, n_components) -> tuple[float, float]:
    """The same from residuals in better arithmetic; nothing is known where their size may be the
    rounding of entries. Each moment exceeds the true one by no more than what is inside the
    span."""
    least = _value(criterion)
    if matrices.gram or matrices.sample or not isinstance(matrices.X, np.ndarray):
        return least, np.inf
    targets = _targets_left(matrices, subset)
    if not len(targets):
        return least, least
    scale = power_of_two(targets)
    unit = matrices.unit * scale
    found, rank = _verified(matrices, subset, targets / scale)
    if found is None:
        return least, np.inf
    if is_frobenius(criterion) and n_components == 0:
        low, high = found.energy()
        return unit**2 * low, unit**2 * high
    ends = [unit * values[n_components:rank] for values in found.singular_values()]
    return _value(criterion, ends[0]), _value(criterion, ends[1])


def _targets_left(matrices: Matrices, subset: Sequence[int]) -> np.ndarray:
    """Targets, one per row, but for zeros and columns that are chosen."""
    taken = subset if matrices.Y is None else ()
    targets = columns_of(matrices.target, others(matrices.target.shape[1], taken)).T
    return targets[targets.any(axis=1)]


def _verified(
    matrices: Matrices, subset: Sequence[int], targets: np.ndarray
) -> tuple[Verified | None, int]:
    """Residuals, if all of them are clearly more than rounding, and their rank."""
    m = len(matrices.X)
    rank = min(len(targets), m - matrices.center - len(subset))
    if rank <= 0 or m * (len(subset) + 1.0) * (len(subset) + len(targets)) > _MOST_ACCURATE:
        return None, rank
    columns = np.ascontiguousarray(near_one(columns_of(matrices.X, list(subset)).T))
    if matrices.center:
        columns = np.vstack([np.ones(m), columns])
    found = verified_residual(columns, np.ascontiguousarray(targets))
    if found is None or not _is_clear(found.rest, np.linalg.norm(targets, axis=1), rank):
        return None, rank
    return found, rank


def _is_clear(rest: np.ndarray, lengths: np.ndarray, rank: int) -> bool:
    """Whether nothing that is left of targets of these lengths may be the rounding of entries."""
    # Lengths whose squares vanish are not informative.
    if not lengths.all() or not (np.linalg.norm(rest, axis=1) > _SMALL_REST * lengths).all():
        return False
    shares = rest / lengths[:, None]
    # Squares are sufficient in most cases; only the others need singular values.
    least = float(np.linalg.eigvalsh(shares @ shares.T)[-rank])
    return least > _SMALL_REST**2 or svdvals(shares, check_finite=False)[rank - 1] > _SUSPECT


def _rank_outside(matrices: Matrices, subset: Sequence[int], basis: Basis) -> int:
    """Singular values of a residual that may differ from zero: the others are rounding."""
    m, targets = matrices.target.shape
    if matrices.Y is None:  # of a chosen column nothing is left
        targets -= len(set(subset))
    return min(targets, m - matrices.center - (0 if basis.doubtful else basis.Q.shape[1]))


def _accurate_spectra(
    matrices: Matrices, subset: Sequence[int], n_components: int, dependent: float = DEPENDENT
) -> Iterator[np.ndarray]:
    """Singular values of the residual that count, in double-double arithmetic; those that are there
    only because the entries of the target are rounded are zero. None at all if that is too
    expensive, and those of a second reading if a column is left out that may be more than
    rounding."""
    if not matrices.is_here:
        return
    m, n = matrices.X.shape
    targets = n if matrices.Y is None else matrices.Y.shape[1]
    side, other = sorted((m, targets))
    work = m * (len(subset) + 1.0) * (len(subset) + targets) + 40.0 * side * side * other
    if work + (float(n) ** 3 if matrices.gram else 0.0) > _MOST_ACCURATE:
        return
    vectors, target, lengths = _accurate_vectors(matrices, subset)
    power = 0.5 if matrices.gram else 1.0
    rest, heights = accurate.residual(vectors, target, dependent**power)
    if ((heights > rounding.DOUBTFUL**power) & (heights <= dependent**power)).any():
        yield from _accurate_spectra(matrices, subset, n_components, rounding.DOUBTFUL)
    # What is left of a target may be the rounding of entries: its own, and those of the
    # columns, times their coefficients.
    nothing = np.sqrt(DEPENDENT) if matrices.gram else _ENTRIES
    left = np.sqrt(accurate.squares(rest))
    small = np.flatnonzero(left <= _SMALL_REST * lengths)
    if not matrices.gram and len(small) and len(subset):
        lengths = lengths.copy()
        lengths[small] *= _coefficient_sizes(vectors[0], target[0][small])
    if matrices.Y is None:
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
    yield matrices.unit * power_of_two(_target_entries(matrices)) * values[n_components:]


def _target_entries(matrices: Matrices) -> np.ndarray:
    if matrices.gram:
        return np.sqrt(np.abs(np.diag(matrices.X)))
    target = matrices.target
    return target.data if sp.issparse(target) else target


def _accurate_vectors(matrices: Matrices, subset: Sequence[int]):
    """Chosen columns, targets, and lengths of the targets, entries near 1."""
    if matrices.gram:
        unit = power_of_two(_target_entries(matrices))
        hi, lo = accurate.cholesky(matrices.X / unit / unit)
        chosen = list(subset)
        lengths = np.sqrt(accurate.squares((hi, lo)))
        return (hi[chosen], lo[chosen]), (hi, lo), lengths
    columns = near_one(columns_of(matrices.X, list(subset)).T)
    target = matrices.target
    target = target.toarray() if sp.issparse(target) else target
    target = (target / power_of_two(target)).T
    lengths = np.linalg.norm(target, axis=1)
    # Numbers as they are have no trailing part.
    both = [(np.ascontiguousarray(A, np.float64), np.zeros(A.shape)) for A in (columns, target)]
    if matrices.center:
        both = [_constant_free(part) for part in both]
        # Entries are rounded once, whatever was done to what is left of them since.
        lengths = np.maximum(np.sqrt(accurate.squares(both[1])), lengths / 8)
    return both[0], both[1], lengths


def _energy(matrices: Matrices, Q: np.ndarray) -> float:
    """Squared Frobenius error outside a basis."""
    return _energy_outside(matrices, Q, float(energies_along(matrices.target, Q).sum()))


def _energy_outside(matrices: Matrices, Q: np.ndarray, inside: float) -> float:
    """Energy of the target outside a basis that explains ``inside`` of it."""
    target = matrices.target
    sparse = is_sparse(target)
    if matrices.center and not sparse:
        return blocked_energy(target, Q, center=True)
    whole = matrices.target_energy
    if matrices.center:
        constant = np.full((len(Q), 1), len(Q) ** -0.5)
        inside += float(energies_along(target, constant).sum())
    left = whole - inside
    if left < _CANCELLATION * whole and not sparse:
        return blocked_energy(target, Q, center=False)
    floor = rank_floor(target.shape, whole)
    return left if left > floor else 0.0


def _spectrum(matrices: Matrices, Q: np.ndarray) -> np.ndarray:
    """Singular values of the residual outside a basis."""
    if not sp.issparse(matrices.X):
        return singular_values_outside(Q, matrices.centered_target())
    if matrices.Y is not None:
        target = matrices.Y - matrices.Y.mean(axis=0) if matrices.center else matrices.Y
        return np.linalg.svd(target - Q @ (Q.T @ target), compute_uv=False)
    mean = np.zeros(matrices.n_features)
    if matrices.center:
        mean = np.asarray(matrices.X.mean(axis=0)).ravel()
    caught = cross(matrices.X, Q).T - np.outer(Q.sum(axis=0), mean)
    return _gram_spectrum(matrices.X, mean, Q, caught)


def _coefficient_sizes(columns: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """sqrt(1 + |b|^2), b the coefficients of each target, all of length one, on the columns."""
    units = [A / np.maximum(np.linalg.norm(A, axis=1), 1e-300)[:, None] for A in (columns, targets)]
    coefficients = np.linalg.lstsq(units[0].T, units[1].T, rcond=DEPENDENT)[0]
    return np.sqrt(1.0 + np.square(coefficients).sum(axis=0))


def _constant_free(vectors):
    """Vectors less their means; of constant ones exactly nothing is left."""
    lengths = np.sqrt(accurate.squares(vectors))
    hi, lo = accurate.centered(vectors)
    constant = np.sqrt(accurate.squares((hi, lo))) <= rounding.CONSTANT * lengths
    hi[constant] = lo[constant] = 0.0
    return hi, lo


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
    floor = rank_floor(gram.shape, float(X.multiply(X).sum()))
    return np.sqrt(np.where(values > floor, values, 0.0))
