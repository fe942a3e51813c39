"""Errors of choices, recomputed from the data: numbers, and intervals that enclose them.

Double precision comes first, with what rounding may have done to it; what that leaves open is
computed again in double-double arithmetic. No input validation: entries of ``matrices`` can be
squared and summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.linalg import svdvals

from columnist.criteria import Criterion, is_frobenius
from columnist.data._verified import Verified, verified_residual
from columnist.linalg import _accurate as accurate
from columnist.linalg._column_parts import is_sparse
from columnist.linalg._passes import columns_of, cross, energies_along, others
from columnist.linalg._reduce import power_of_two
from columnist.linalg._residual import Basis, blocked_energy, singular_values_outside
from columnist.linalg._rounding import (
    CONSTANT,
    DEPENDENT,
    DOUBTFUL,
    EPS,
    allowance,
    is_trusted,
    rank_floor,
)

if TYPE_CHECKING:
    from columnist.data._matrices import Matrices

__all__ = ["error_of", "errors_along", "interval_of"]

# Largest side for which a sparse residual's Gram matrix may be formed.
_GRAM_SIDE = 5000
# Errors below this share of the total are summed over the residual itself.
_CANCELLATION = 1e-4
# Operations in double-double arithmetic that one error may cost: about a second.
_MOST_ACCURATE = 1e8
# A residual of no more than this share of its target is the rounding of the entries.
_ENTRIES = 32 * EPS
# A residual that is no smaller beside its target is no rounding.
_SMALL_REST = 1e-6
# The same for rows that stand for others, in units of their own rounding.
_OF_SAMPLE = 8.0
# Growth of rounding that leaves nothing of a number.
_ANYTHING = 1e60
# Singular values that small beside the largest may be rounding of entries.
_SUSPECT = 1e-10


def error_of(
    matrices: Matrices,
    subset: Sequence[int] | np.ndarray,
    criterion: Criterion,
    n_components: int = 0,
) -> float:
    """Error of a choice, recomputed from the data themselves."""
    matrices = matrices.written
    Q = matrices.basis(subset).Q
    if is_frobenius(criterion) and n_components == 0:
        return matrices.unit**2 * _energy(matrices, Q)
    counted = _spectrum(matrices, Q)[n_components:]
    return float(criterion.value(matrices.unit * counted if len(counted) else np.zeros(1)))


def interval_of(
    matrices: Matrices,
    subset: Sequence[int],
    criterion: Criterion,
    n_components: int = 0,
    limit: float = np.inf,
) -> tuple[float, float]:
    """Two numbers between which the error of a choice lies, from the data themselves.

    What double precision leaves open is computed again in better arithmetic, if that is
    affordable and the error may be below ``limit``: only the residual, or, where rounding of
    the entries may be all there is, everything. This is where a claim of a search is confirmed.
    """
    matrices = matrices.written
    least = float(criterion.value(np.zeros(1)))
    # With many columns, of which little is left, only the sharper one is likely to do.
    ways = [_double_interval, _verified_interval]
    low, high = least, np.inf
    for way in ways[::-1] if 3 * len(subset) > matrices.n_features else ways:
        ends = way(matrices, subset, criterion, n_components)
        if ends[0] >= limit or is_trusted(*ends, least):
            return ends
        low, high = max(low, ends[0]), min(high, ends[1])
    if matrices.source is not None:
        return matrices.source().interval(subset, criterion, n_components, limit)
    if matrices.sample:  # better arithmetic on them tells nothing about the rows they stand for
        return low, high
    # Where a column is nearly dependent, both readings count.
    errors = [
        float(criterion.value(counted if len(counted) else np.zeros(1)))
        for counted in _accurate_spectra(matrices, subset, n_components)
    ]
    return (min(errors), max(errors)) if errors else (low, high)


def errors_along(matrices: Matrices, subset: Sequence[int] | np.ndarray) -> np.ndarray:
    """Squared Frobenius errors of none, the first, the first two, ... of these columns."""
    Q = matrices.basis(subset, ordered=True).Q
    drops = energies_along(matrices.target, Q)
    if Q.shape[1] < len(subset):  # columns that depend on earlier ones add nothing
        some = (subset[: j + 1] for j in range(len(subset)))
        counts = [matrices.basis(s, ordered=True).Q.shape[1] for s in some]
        spread = np.zeros(len(subset))
        spread[np.flatnonzero(np.diff([0, *counts]))] = drops
        drops = spread
    # Backwards from the error that is left, nothing cancels.
    left = _energy_outside(matrices, Q, float(drops.sum()))
    errors = left + np.append(np.cumsum(drops[::-1])[::-1], 0.0)
    return matrices.unit**2 * errors


def _double_interval(matrices: Matrices, subset, criterion, n_components) -> tuple[float, float]:
    """The same in double precision: the error, and how far it may be off.

    The residual is known up to the rounding of the target, times what the heights of the
    columns make of it; every singular value is then known up to the same.
    """
    if matrices.gram:
        return float(criterion.value(np.zeros(1))), np.inf
    basis = matrices.basis(subset)
    grown = _ANYTHING if basis.doubtful else basis.growth
    whole = float(np.sqrt(matrices.target_energy))
    unit = allowance(len(subset) + 1, whole)
    doubt = min(grown, _ANYTHING) * unit
    # Rows that stand for others are rounded themselves: what is left of them may be nothing.
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
        return (float(criterion.value(np.zeros(1))),) * 2
    ends = [np.maximum(sigma - doubt, 0.0), sigma + doubt]
    low, high = (float(criterion.value(matrices.unit * values)) for values in ends)
    return low, high


def _verified_interval(matrices: Matrices, subset, criterion, n_components) -> tuple[float, float]:
    """The same from residuals that are computed in better arithmetic; nothing is known where
    their size may be the rounding of entries.

    Each moment of the residuals exceeds the true one by no more than what is inside the span.
    """
    least = float(criterion.value(np.zeros(1)))
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
    ends = (values[n_components:rank] for values in found.singular_values())
    low, high = (
        float(criterion.value(unit * values if len(values) else np.zeros(1))) for values in ends
    )
    return low, high


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
    columns = _near_one(columns_of(matrices.X, list(subset)).T)
    if matrices.center:
        columns = np.vstack([np.ones(m), columns])
    found = verified_residual(columns, np.ascontiguousarray(targets))
    if found is None or not _is_clear(found.rest, np.linalg.norm(targets, axis=1), rank):
        return None, rank
    return found, rank


def _is_clear(rest: np.ndarray, lengths: np.ndarray, rank: int) -> bool:
    """Whether nothing that is left of targets of these lengths may be the rounding of entries."""
    # Lengths whose squares vanish tell nothing.
    if not lengths.all() or not (np.linalg.norm(rest, axis=1) > _SMALL_REST * lengths).all():
        return False
    shares = rest / lengths[:, None]
    # Squares tell where all is well; only what they do not show needs singular values.
    least = float(np.linalg.eigvalsh(shares @ shares.T)[-rank])
    return least > _SMALL_REST**2 or svdvals(shares, check_finite=False)[rank - 1] > _SUSPECT


def _near_one(vectors: np.ndarray) -> np.ndarray:
    """Vectors divided by powers of two, which rounds nothing, so that entries are near 1."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    units = np.exp2(np.round(np.log2(np.where(largest > 0.0, largest, 1.0))))
    return np.ascontiguousarray(vectors / units[:, None])


def _rank_outside(matrices: Matrices, subset: Sequence[int], basis: Basis) -> int:
    """Singular values of a residual that may differ from zero: the others are rounding."""
    m, targets = matrices.target.shape
    if matrices.Y is None:  # of a chosen column nothing is left
        targets -= len(set(subset))
    return min(targets, m - matrices.center - (0 if basis.doubtful else basis.Q.shape[1]))


def _accurate_spectra(
    matrices: Matrices, subset: Sequence[int], n_components: int, dependent: float = DEPENDENT
) -> Iterator[np.ndarray]:
    """Singular values of the residual that count, in double-double arithmetic.

    None at all if that is too expensive, and those of a second reading if a column is left out
    that may be more than rounding. Values that are there only because the entries of the
    target are rounded are zero.
    """
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
    if ((heights > DOUBTFUL**power) & (heights <= dependent**power)).any():
        yield from _accurate_spectra(matrices, subset, n_components, DOUBTFUL)
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
    columns = _near_one(columns_of(matrices.X, list(subset)).T)
    target = matrices.target
    target = target.toarray() if sp.issparse(target) else target
    target = (target / power_of_two(target)).T
    lengths = np.linalg.norm(target, axis=1)
    both = [_doubled(columns), _doubled(target)]
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
    mean = (
        np.asarray(matrices.X.mean(axis=0)).ravel()
        if matrices.center
        else np.zeros(matrices.n_features)
    )
    caught = cross(matrices.X, Q).T - np.outer(Q.sum(axis=0), mean)
    return _gram_spectrum(matrices.X, mean, Q, caught)


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
