r"""Orthonormal bases of the powers of a feature, many features at once. No input validation.

Raw powers of a column x are numerically dependent long before they are so in theory. The Arnoldi
process multiplies the last basis vector by x (divided by its largest entry), element by element,
and orthogonalises the product twice:

.. math:: q_1 = x / \|x\|, \qquad h_{j+1} q_{j+1} = x \circ q_j - \sum_{l \le j} h_{lj} q_l .

A product that falls to 1e-10 of its length is dropped, and with it all further powers, for they lie
in the span already. Run on other rows, the coefficients h give the same polynomials there. With a
free intercept (``center``) the span of :math:`1, x, \dots, x^p` counts: x is centred, the process
starts from the constant vector, and that vector is left out of the basis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from columnist.linalg._passes import by_columns, column_blocks

# A product is dependent when orthogonalising leaves less than this share of it.
_DROP = 1e-10
# A column whose entries differ by less than this share of them is constant.
_CONSTANT = 64 * np.finfo(np.float64).eps
# Entries of all bases together that are kept; beyond (1 GB) they are computed at each pass.
_KEPT = 2**27


@dataclass(frozen=True)
class Polynomials:
    """Recurrences of the basis polynomials, to evaluate them on any rows."""

    # The variable of feature i is (x - shift_i) / scale_i; the polynomial of degree zero is start.
    shift: np.ndarray
    scale: np.ndarray
    start: float
    # (features, degree, degree + 1): what step j's product loses of the polynomials 0, ..., j
    projections: np.ndarray
    lengths: np.ndarray  # (features, degree): what is left of it; zero where it was dropped

    def evaluate(self, X: np.ndarray) -> np.ndarray:
        """Polynomials 1, ..., degree at new rows, (rows, features, degree); dropped ones are 0."""
        z = (X - self.shift) / self.scale
        values = [np.full(z.shape, self.start)]
        for j in range(self.lengths.shape[1]):
            value = z * values[-1]
            for lower in range(j + 1):
                value -= self.projections[:, j, lower] * values[lower]
            values.append(value * _inverse(self.lengths[:, j]))
        return np.stack(values[1:], axis=2)

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Slope and offset of the first polynomial of every feature, as functions of x."""
        slope = self.start * _inverse(self.lengths[:, 0]) / self.scale
        constant = self.start * self.projections[:, 0, 0] * _inverse(self.lengths[:, 0])
        return slope, -constant - slope * self.shift


def fit_polynomials(X: np.ndarray, degree: int, *, center: bool) -> Polynomials:
    """The basis polynomials of a few dense columns; with ``center`` an intercept is free."""
    return _dense_basis(X, degree, center)[0]


def power_blocks(X, degree: int, *, center: bool) -> DensePowers | SparsePowers:
    """Bases of the powers of every column of X, dense or sparse."""
    return (SparsePowers if sp.issparse(X) else DensePowers)(X, degree, center=center)


class DensePowers:
    """Bases of the powers of dense columns; vectors behind the ``rank`` of each are zero. Kept
    while they fit into 1 GB, else computed again, a block of features at a time, whenever they are
    read."""

    def __init__(self, X: np.ndarray, degree: int, *, center: bool):
        self._X, self.degree, self._center = X, degree, center
        m, n = X.shape
        self._parts = list(column_blocks(n, m * degree))
        self.rank = np.zeros(n, dtype=np.intp)
        self._kept: list[np.ndarray] = []
        for part in self._parts:
            polynomials, vectors = _dense_basis(X[:, part], degree, center)
            self.rank[part] = np.count_nonzero(polynomials.lengths, axis=1)
            if m * n * degree <= _KEPT:
                self._kept.append(vectors)

    def _vectors(self, number: int) -> np.ndarray:
        """Bases of one block of features, shape (degree, features, m)."""
        if self._kept:
            return self._kept[number]
        return _dense_basis(self._X[:, self._parts[number]], self.degree, self._center)[1]

    def products(self, Q: np.ndarray) -> np.ndarray:
        """B'Q for every basis B, shape (n_features, degree, columns of Q)."""
        result = np.empty((len(self.rank), self.degree, Q.shape[1]))
        for number, part in enumerate(self._parts):
            result[part] = np.moveaxis(self._vectors(number) @ Q, 0, 1)
        return result

    def take(self, features: np.ndarray) -> np.ndarray:
        """Bases of some features, ascending, shape (len(features), m, degree)."""
        found = []
        for number, part in enumerate(self._parts):
            here = features[(part.start <= features) & (features < part.stop)] - part.start
            if len(here):
                found.append(self._vectors(number)[:, here].transpose(1, 2, 0))
        return np.concatenate(found)


class SparsePowers:
    """Bases of the powers of sparse columns; X is never made dense. A polynomial has one value on
    all zeros of a column. Each basis vector is therefore kept as its values on the stored entries
    of X, and one more value for the rest."""

    def __init__(self, X, degree: int, *, center: bool):
        X = by_columns(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        self.degree = degree
        self._shape, self._indices, self._indptr = X.shape, X.indices, X.indptr
        m, n = X.shape
        stored = np.diff(X.indptr)
        # One more entry at the end of every column stands for its zeros.
        entries = np.insert(X.data.astype(np.float64), X.indptr[1:], 0.0)
        ends = X.indptr[1:] + np.arange(n)
        weights = np.ones(len(entries))
        weights[ends] = m - stored
        starts, counts = ends - stored, stored + 1

        def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.add.reduceat(a * b * weights, starts)

        def spread(values: np.ndarray) -> np.ndarray:
            return np.repeat(values, counts)

        shift = dot(entries, np.ones(len(entries))) / m if center else np.zeros(n)
        largest = np.maximum.reduceat(np.abs(entries), starts)
        z = entries - spread(shift)
        z[ends[stored == m]] = 0.0  # no zeros there: the extra entry must not set the scale
        scale = _scales(np.maximum.reduceat(np.abs(z), starts), largest)
        vectors, _, lengths = _arnoldi(z / spread(scale), m**-0.5, degree, center, dot, spread)
        self.rank = np.count_nonzero(lengths, axis=1)
        self._outside = np.stack([vector[ends] for vector in vectors], axis=1)
        self._inside = [np.delete(vector - spread(vector[ends]), ends) for vector in vectors]

    def products(self, Q: np.ndarray) -> np.ndarray:
        """B'Q for every basis B, shape (n_features, degree, columns of Q)."""
        result = self._outside[:, :, None] * Q.sum(axis=0)
        for j, data in enumerate(self._inside):
            excess = sp.csc_array((data, self._indices, self._indptr), shape=self._shape)
            result[:, j] += excess.T @ Q
        return result

    def take(self, features: np.ndarray) -> np.ndarray:
        """Bases of some features, shape (len(features), m, degree)."""
        result = np.tile(self._outside[features][:, None, :], (1, self._shape[0], 1))
        for at, feature in enumerate(features):
            stored = slice(self._indptr[feature], self._indptr[feature + 1])
            for j, data in enumerate(self._inside):
                result[at, self._indices[stored], j] += data[stored]
        return result


def _dense_basis(X, degree: int, center: bool) -> tuple[Polynomials, np.ndarray]:
    """Recurrences and basis vectors (degree, n, m) of the columns of X."""
    z = np.ascontiguousarray(X.T, dtype=np.float64)
    n, m = z.shape
    largest = np.abs(z).max(axis=1, initial=0.0)
    shift = z.mean(axis=1) if center else np.zeros(n)
    z = z - shift[:, None]
    scale = _scales(np.abs(z).max(axis=1, initial=0.0), largest)
    z /= scale[:, None]

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", a, b)

    vectors, projections, lengths = _arnoldi(
        z, m**-0.5, degree, center, dot, lambda values: values[:, None]
    )
    return Polynomials(shift, scale, m**-0.5, projections, lengths), np.stack(vectors)


def _scales(spread: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """What to divide the columns by; infinity, which leaves nothing, for constant ones."""
    return np.where(spread > _CONSTANT * largest, spread, np.inf)


def _arnoldi(
    z: np.ndarray, start: float, degree: int, center: bool, dot: Callable, spread: Callable
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Basis vectors by power, projections and lengths. ``z`` holds all columns in any layout:
    ``dot(a, b)`` gives one inner product per column and ``spread(values)`` one value per column in
    that layout."""
    vectors = [np.full(z.shape, start)]
    n = len(dot(z, z))
    projections, lengths = np.zeros((n, degree, degree + 1)), np.zeros((n, degree))
    for j in range(degree):
        vector = z * vectors[-1]
        before = np.sqrt(dot(vector, vector))
        for _ in range(2):  # the second pass restores orthogonality
            # The constant vector is where the powers start; it is left out of the span only if
            # an intercept takes care of it.
            for lower in range(0 if center else 1, j + 1):
                part = dot(vectors[lower], vector)
                vector -= spread(part) * vectors[lower]
                projections[:, j, lower] += part
        after = np.sqrt(dot(vector, vector))
        lengths[:, j] = np.where(after > _DROP * before, after, 0.0)
        vectors.append(vector * spread(_inverse(lengths[:, j])))
    return vectors[1:], projections, lengths


def _inverse(lengths: np.ndarray) -> np.ndarray:
    """1 / lengths, zero where they are zero."""
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
