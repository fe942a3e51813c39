r"""Forward selection under any unitarily invariant criterion, and of features with their powers.

The states have ``best``, ``add`` and ``error``; no input validation.

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

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from columnist.criteria import Criterion, is_frobenius, leading_values, schatten_power
from columnist.linalg._passes import by_columns, column_blocks
from columnist.linalg._reduce import Reduced
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._secular import downdated_eigenvalues
from columnist.linalg._ties import TIE, rounding_energy
from columnist.selection._factors import triangle
from columnist.selection._forward_states import SHRUNK, Residuals

_EPS = np.finfo(np.float64).eps
# Rows solved completely at first, to have an error to compare with.
_FIRST = 4
# Errors through eigenvalues of a Gram matrix round more than gains: closer ones are ties.
_SPECTRAL_TIE = 1e-9
# A product is dependent when orthogonalising leaves less than this share of it.
_DROP = 1e-10
# A column whose entries differ by less than this share of them is constant.
_CONSTANT = 64 * np.finfo(np.float64).eps
# Entries of all bases together that are kept; beyond (1 GB) they are computed at each pass.
_KEPT = 2**27


class SpectrumForward(Residuals):
    """State under a unitarily invariant criterion. Let V diag(lam) V' be the second moment of what
    is left of the target. A column whose residual has the direction q turns its spectrum into that
    of diag(lam) - zz', z = sqrt(lam) V'q. After the choice both come from the SVD of (I - qq')V
    sqrt(lam): rank-one updates of the vectors would lose their orthogonality."""

    def __init__(self, reduced: Reduced, capacity: int, criterion: Criterion):
        super().__init__(reduced.columns.T, capacity, center=False)
        self._criterion, self._scale = criterion, reduced.scale
        self._rest = reduced.columns.copy()
        self._floor = len(reduced.weights) * _EPS * float(reduced.weights.max(initial=0.0))
        d = int((reduced.weights > self._floor).sum())
        self._lam, self._V = reduced.weights[:d], np.eye(len(reduced.weights), d)

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column with the smallest error, and by how much its squares fall. The
        criterion itself may stand still (the largest of several equal singular values does) while a
        column still brings the next ones closer."""
        squares = self._refresh()
        rows = np.flatnonzero(allowed & (squares > 0.0))
        Z = (self._rest[rows] @ self._V) / np.sqrt(squares[rows])[:, None]
        inside = np.einsum("ij,ij->i", Z, Z) > 1.0 - DEPENDENT
        Z *= np.sqrt(self._lam)
        energy = np.einsum("ij,ij->i", Z, Z)
        touching = energy > self._floor
        if not touching.any():
            return int(np.flatnonzero(allowed)[0]), 0.0
        rows, Z, inside, energy = rows[touching], Z[touching], inside[touching], energy[touching]
        at, _ = BestDowndate(self._lam, Z, inside, self._criterion, self._scale).run()
        return int(rows[at]), float(energy[at])

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        q = self._basis.append(self._X[:, column])
        if q is None:
            return
        self._rest -= np.outer(self._rest @ q, q)
        root = self._V * np.sqrt(self._lam)
        V, s, _ = np.linalg.svd(root - np.outer(q, q @ root), full_matrices=False)
        d = int((s**2 > self._floor).sum())
        self._lam, self._V = s[:d] ** 2, V[:, :d]

    def error(self) -> float:
        """Error of what is chosen."""
        sigma = np.sqrt(self._lam) if len(self._lam) else np.zeros(1)
        return float(self._criterion.value(self._scale * sigma))

    def _refresh(self) -> np.ndarray:
        """Squared lengths of the residual columns; those that have shrunk are recomputed."""
        squares = np.einsum("ij,ij->i", self._rest, self._rest)
        stale = self._shrunk(squares, np.full(len(squares), True))
        if len(stale):
            rest, fresh, alive = self._residual(stale)
            squares[stale] = self._fresh[stale] = np.where(alive, fresh, 0.0)
            self._rest[stale] = np.where(alive, rest, 0.0).T
        return squares


class BestDowndate:
    """Finds the row of Z whose rank-one downdate has the smallest error, the first among ties.

    The eigenvalues mu of diag(lam) - zz' interlace lam, lam_i+1 <= mu_i <= lam_i, and their sum is
    that of lam less |z|^2. So the first s of them bound the error from below: put the others at
    lam_i+1; from there, pour what remains of the trace into the largest first, each up to lam_i
    (Schatten, p <= 2, concave in mu), or into the smallest first (p >= 2, convex). Rows are left
    once their bound exceeds the best error. ``lam`` is descending and positive. The last eigenvalue
    of rows ``inside`` is zero by structure: rounding, which p < 1 would magnify, must not decide
    it.
    """

    def __init__(self, lam, Z, inside, criterion: Criterion, scale: float = 1.0):
        self.lam, self.Z, self.inside = lam, Z, inside
        self.criterion, self.scale = criterion, scale
        self.d = len(lam)
        leading = leading_values(criterion)
        self.counted = self.d if leading is None else min(leading, self.d)
        self.energy = np.einsum("ij,ij->i", Z, Z)
        self.power = schatten_power(criterion)
        # Without this allowance a bound at the level of rounding may drop the true winner.
        self.rounding = 10.0 * self.d * _EPS * float(lam[0])
        self.n_roots = 0

    def run(self) -> tuple[int, float]:
        """The best row and its error; ``n_roots`` eigenvalues were computed to find it."""
        order = np.argsort(-self.energy, kind="stable")
        errors = np.full(len(self.Z), np.inf)
        errors[order[:_FIRST]] = self.errors(self.roots(order[:_FIRST], 0, self.d))
        alive = order[_FIRST:]
        known = np.empty((len(alive), 0))
        keep = self.bounds(alive, known) <= self.limit(errors)
        while keep.any():
            alive, known = alive[keep], known[keep]
            upto = min(known.shape[1] + 1 + known.shape[1] // 2, self.counted)
            known = np.hstack([known, self.roots(alive, known.shape[1], upto)])
            if upto == self.counted:
                errors[alive] = self.errors(known)
                break
            bounds = self.bounds(alive, known)
            leader = [int(np.argmin(bounds))]
            rest = self.roots(alive[leader], upto, self.counted)
            errors[alive[leader]] = self.errors(np.hstack([known[leader], rest]))
            keep = bounds <= self.limit(errors)
            keep[leader] = False
        row = int(np.flatnonzero(errors <= self.limit(errors))[0])
        return row, float(errors[row])

    def limit(self, errors: np.ndarray) -> float:
        best = errors.min()
        return best + TIE * abs(best)

    def roots(self, rows: np.ndarray, first: int, last: int) -> np.ndarray:
        """Eigenvalues of these rows, from the first to before the last."""
        last = min(last, self.counted)
        if len(rows) == 0 or first >= last:
            return np.zeros((len(rows), max(last - first, 0)))
        values = np.maximum(downdated_eigenvalues(self.lam, self.Z[rows], first, last), 0.0)
        self.n_roots += values.size
        if last == self.d:
            values[self.inside[rows], -1] = 0.0
        return values

    def errors(self, eigenvalues: np.ndarray) -> np.ndarray:
        floor = self.d * _EPS * float(self.lam[0])
        return self._values(np.where(eigenvalues > floor, eigenvalues, 0.0))

    def _values(self, eigenvalues: np.ndarray) -> np.ndarray:
        return self.criterion.values(self.scale * np.sqrt(eigenvalues))

    def bounds(self, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Lower bounds of the errors from the eigenvalues known so far."""
        s = known.shape[1]
        low = np.append(self.lam[s + 1 :], 0.0)[: self.d - s]
        rest = np.tile(low, (len(rows), 1))
        if self.power is not None:
            room = self.lam[s:] - low
            left = self.lam.sum() - self.energy[rows] - known.sum(axis=1) - low.sum()
            left = np.maximum(left - self.rounding, 0.0)
            # Convex: the intervals [low, low + room] meet end to end, and fill from the lowest.
            poured = _pour(room, left) if self.power <= 2.0 else _pour(room[::-1], left)[:, ::-1]
            rest += poured
        eigenvalues = np.maximum(np.hstack([known, rest]) - self.rounding, 0.0)
        return self._values(eigenvalues[:, : self.counted])


def _pour(room: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Share out ``left`` from the first place on, each up to its room."""
    filled = np.cumsum(room)
    return np.clip(left[:, None] - (filled - room), 0.0, room)


def fresh_directions(B: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What blocks B (..., m, p) of vectors of length one, or zero, add to an orthonormal Q (m, j).
    Returns an orthonormal basis U of (I - QQ')B, zero columns last, and coefficients T (..., p, p)
    and K (..., j, p) such that U = (I - QQ')BT = BT - QK."""
    first = Q.T @ B
    rest = B - Q @ first
    second = Q.T @ rest
    rest -= Q @ second
    left, lengths, right = np.linalg.svd(rest, full_matrices=False)
    kept = lengths > DEPENDENT
    r = lengths.shape[-1]  # less than p if there are fewer rows
    U, T = np.zeros_like(rest), np.zeros((*rest.shape[:-2], rest.shape[-1], rest.shape[-1]))
    U[..., :r] = left * kept[..., None, :]
    T[..., :r] = np.swapaxes(right, -1, -2) / np.where(kept, lengths, np.inf)[..., None, :]
    # Short directions carry the rounding of long ones, magnified.
    third = Q.T @ U
    return U - Q @ third, T, (first + second) @ T + third


class BlockForward:
    """State for features with their powers up to ``degree``.

    Each step adds the block B_i = (x, x^2, ...) that lowers the error most, by |Z_i|^2, Z_i =
    Q_i'R, with R the residual target and Q_i an orthonormal basis of (I - QQ')B_i. With G_i its
    Gram matrix and C_i = B_i'R, a new orthonormal block U takes WW' from G_i and WU'R from C_i, W =
    B_i'U; with eigenvalues v and eigenvectors E of G_i, Z_i = v^(-1/2) E'C_i. Other criteria take
    the roots of the eigenvalues of R'R - Z_i'Z_i.
    """

    def __init__(self, X, Y, degree: int, criterion: Criterion, *, center: bool, scale: float):
        self._criterion, self._scale = criterion, scale
        self._powers = power_blocks(X, degree, center=center)
        self._rank = self._powers.rank.copy()
        self._Q = np.zeros((X.shape[0], 0))
        # The same inner products of rows, and no more columns than rows.
        self._R = triangle((Y - Y.mean(axis=0) if center else Y).T).T
        self._energy = float(np.vdot(self._R, self._R))
        self._floor = rounding_energy(self._R.shape, self._energy)
        # Vectors in use: the columns of B_i T_i, of length one when last computed, or zero.
        self._T = np.tile(np.eye(degree), (X.shape[1], 1, 1))
        self._G = np.eye(degree) * (np.arange(degree) < self._rank[:, None])[:, None, :]
        self._C = self._powers.products(self._R)

    def error(self) -> float:
        """Error of what is chosen."""
        if is_frobenius(self._criterion):
            return self._scale**2 * self._energy
        values = scipy.linalg.svdvals(self._R, check_finite=False)
        values = np.where(values**2 > self._floor, values, 0.0)
        return float(self._criterion.value(self._scale * values))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed feature with the smallest error, and by how much its squares fall."""
        Z = self._contributions(allowed)
        gains = np.einsum("ijk,ijk->i", Z, Z)
        useful = np.flatnonzero(allowed & (gains > self._floor))
        if len(useful) == 0 or self._energy == 0.0:
            return int(np.flatnonzero(allowed)[0]), 0.0
        if is_frobenius(self._criterion):
            scores, tie = gains[useful], TIE
        else:
            scores, tie = -self._errors(Z[useful]), _SPECTRAL_TIE
        top = scores.max()
        feature = int(useful[np.flatnonzero(scores >= top - tie * abs(top))[0]])
        return feature, float(gains[feature])

    def add(self, feature: int) -> None:
        """Choose a feature: project everything off its powers."""
        U, _, _ = fresh_directions(self._powers.take(np.array([feature]))[0], self._Q)
        U = np.linalg.qr(U[:, U.any(axis=0)])[0]
        if U.shape[1] == 0:
            return
        W = np.swapaxes(self._T, 1, 2) @ self._powers.products(U)
        self._G -= W @ np.swapaxes(W, 1, 2)
        self._C -= W @ (U.T @ self._R)
        for _ in range(2):  # the second pass restores orthogonality
            self._R = self._R - U @ (U.T @ self._R)
        self._Q = np.column_stack([self._Q, U])
        energy = float(np.vdot(self._R, self._R))
        self._energy = energy if energy > self._floor else 0.0

    def _contributions(self, allowed: np.ndarray) -> np.ndarray:
        """Z_i = Q_i'R of the allowed features, shape (n, p, N)."""
        values, vectors = np.linalg.eigh(self._G)
        degree = self._powers.degree
        counted = np.arange(degree) >= degree - self._rank[:, None]
        stale = np.flatnonzero(allowed & (counted & (values < SHRUNK)).any(axis=1))
        if len(stale):
            self._refresh(stale)
            values[stale], vectors[stale] = np.linalg.eigh(self._G[stale])
        lengths = np.sqrt(np.where(values > 0.5 * SHRUNK, values, np.inf))
        return np.swapaxes(vectors / lengths[:, None, :], 1, 2) @ self._C

    def _refresh(self, features: np.ndarray) -> None:
        """Compute the residual blocks of some features from the data."""
        for part in column_blocks(len(features), len(self._R) * self._powers.degree):
            some = features[part]
            U, self._T[some], _ = fresh_directions(self._powers.take(some), self._Q)
            self._G[some] = np.swapaxes(U, 1, 2) @ U
            self._C[some] = np.swapaxes(U, 1, 2) @ self._R
            self._rank[some] = U.any(axis=1).sum(axis=1)

    def _errors(self, Z: np.ndarray) -> np.ndarray:
        """Criterion of what each block leaves of R, by the eigenvalues of R'R - Z'Z."""
        _, values, right = scipy.linalg.svd(self._R, full_matrices=False, check_finite=False)
        kept = values > max(self._R.shape) * _EPS * values[0]
        energies = np.diag(values[kept] ** 2)
        Z = Z @ right[kept].T
        # A block inside the range of R leaves exact zeros; computed, they are rounding, which a
        # root would magnify.
        floor = 10 * len(energies) * _EPS * energies[0, 0]
        errors = np.empty(len(Z))
        for part in column_blocks(len(Z), energies.size):
            spectra = np.linalg.eigvalsh(energies - np.swapaxes(Z[part], 1, 2) @ Z[part])[:, ::-1]
            spectra = np.sqrt(np.where(spectra > floor, spectra, 0.0))
            errors[part] = self._criterion.values(self._scale * spectra)
        return errors


class LinearPath:
    """Least squares on the first 1, 2, ... features of a selection, with their powers. The powers
    of each feature are orthogonalised against those before it: a further feature then adds to the
    scores without changing the rest. Rows that were not fitted go through the same steps."""

    def __init__(self, chosen: np.ndarray, Y: np.ndarray, degree: int, *, center: bool):
        self._polynomials = fit_polynomials(chosen, degree, center=center)
        self._start = Y.mean(axis=0) if center else np.zeros(Y.shape[1])
        # New directions of each feature, what makes them (U = BT - QK), and their weights.
        self._steps: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        design = self._polynomials.evaluate(chosen)
        Q, rest = np.zeros((len(Y), 0)), Y - self._start
        for i in range(chosen.shape[1]):
            U, T, K = fresh_directions(design[:, i], Q)
            new = T.any(axis=0)
            U, T, K = U[:, new], T[:, new], K[:, new]
            self._steps.append((U, T, K, U.T @ rest))
            Q = np.column_stack([Q, U])
            rest = rest - U @ (U.T @ rest)

    def _directions(self, design: np.ndarray) -> Iterator[np.ndarray]:
        """New directions of each feature on other rows, given the polynomials there."""
        Q = np.zeros((len(design), 0))
        for i, (_, T, K, _) in enumerate(self._steps):
            new = design[:, i] @ T - Q @ K
            yield new
            Q = np.column_stack([Q, new])

    def scores(self, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Scores of the fitted rows, and of other rows, for 1, 2, ... features."""
        fitted, other = self._start, self._start
        others = self._directions(self._polynomials.evaluate(chosen))
        for (mine, _, _, weights), new in zip(self._steps, others, strict=True):
            fitted, other = fitted + mine @ weights, other + new @ weights
            yield fitted, other

    def model(self) -> tuple[Polynomials | None, np.ndarray, np.ndarray]:
        """Polynomials, coefficients and intercept with all features; see ``coef_``."""
        k, degree = self._polynomials.lengths.shape
        units = np.eye(k * degree).reshape(k * degree, k, degree)
        weights = np.concatenate([weights for *_, weights in self._steps])
        coef = (np.hstack(list(self._directions(units))) @ weights).T
        if degree > 1:
            return self._polynomials, coef, self._start
        slopes, offsets = self._polynomials.line()
        return None, coef * slopes, self._start + coef @ offsets


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
