"""The state of forward selection between steps, under the squared Frobenius norm.

Every state has ``best``, ``add`` and ``error``; no input validation.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, Visit
from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    cross,
    cross_and_back,
    energies_along,
    gram,
    kernel_product,
    squared_norms,
    squares_along,
    without_empty,
)
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._second_moment import gram_squares, has_short_rows, kernel_blocks
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._forward_kernels import add_forms, deflate

# Share of a squared length below which a residual is recomputed.
SHRUNK = 1e-4


class Residuals:
    """Columns and what the chosen ones leave of them, recomputed where it has shrunk. A state
    chooses the best of the allowed columns with its gain (0 for rounding), adds a column (one that
    depends on the chosen ones changes nothing) and knows the squared Frobenius error."""

    def __init__(self, X, capacity: int, *, center: bool):
        self._X = self.data = X
        self._basis = GrowingBasis(X.shape[0], capacity, center=center)
        # With means: a column that hardly varies counts as shrunk, and is recomputed.
        self._own = squared_norms(X)
        self._fresh = self._own.copy()
        self._gains = np.zeros(len(self._own))
        self._nothing = rounding_energy(X.shape, float(self._own.sum()))

    def _first(self, energy, lengths, allowed) -> tuple[int, float]:
        """The first allowed column with the largest gain, energy / length, and that gain."""
        self._gains = np.zeros(len(energy))
        np.divide(energy, lengths, out=self._gains, where=lengths > 0.0)
        return first_gain(self._gains, allowed, self._nothing)

    def _shrunk(self, lengths: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The wanted columns that have shrunk since they were last computed."""
        return np.flatnonzero(wanted & (self._fresh > 0.0) & (lengths < SHRUNK * self._fresh))

    def _residual(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is left of columns, its squared lengths, and whether it is more than rounding."""
        rest = self._basis.residual(columns_of(self._X, columns))
        squares = np.einsum("ij,ij->j", rest, rest)
        return rest, squares, squares > DEPENDENT**2 * self._own[columns]

    def replace(self, columns: np.ndarray, residuals: np.ndarray) -> None:
        """Put what is left of columns in their place, in a copy of the data. Products with
        directions outside the selection do not change by it, but no longer carry the rounding of
        whole columns. Sparse data stay as they are, since residuals would not be sparse, and so do
        data that are kept elsewhere."""
        if isinstance(self._X, np.ndarray):
            if self.data is self._X:
                self.data = np.array(self._X, dtype=np.float64)
            self.data[:, columns] = residuals


class GramForward(Residuals):
    """State for the matrix itself, by the Gram matrix G of what is left of its columns. Adding
    column i lowers the error by |G_i|^2 / G_ii; once column l is chosen, G becomes G - ww' with w =
    G_l / sqrt(G_ll). Entries of G keep an absolute error of the size of the columns that they
    started from, so a column whose residual has shrunk a hundredfold is recomputed."""

    def __init__(self, X, capacity: int, *, center: bool = False):
        super().__init__(X, capacity, center=center)
        self._pending: list[int] = []
        self._G = gram(X, center=center)
        self._energy = np.einsum("ij,ij->i", self._G, self._G)

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        self._refresh(allowed)
        return self._first(self._energy, np.diag(self._G), allowed)

    def add(self, column: int) -> None:
        self._refresh(np.arange(len(self._own)) == column)
        G = self._G
        if G[column, column] <= 0.0:
            return
        self._pending.append(column)
        deflate(G, G[:, column] / np.sqrt(G[column, column]), self._energy)
        self._drop([column])

    def error(self) -> float:
        return float(np.diag(self._G).sum())

    def _refresh(self, wanted: np.ndarray) -> None:
        """Recompute the wanted columns that have shrunk since they were last computed."""
        G = self._G
        stale = self._shrunk(np.diag(G), wanted)
        if len(stale) == 0:
            return
        for column in self._pending:  # most selections never need the basis
            self._basis.append(columns_of(self._X, [column])[:, 0])
        self._pending.clear()
        rest, squares, alive = self._residual(stale)
        self.replace(stale, rest)
        products = cross(self.data, rest)
        G[:, stale] = products
        G[stale] = products.T
        G[stale, stale] = self._fresh[stale] = squares
        self._drop(stale[~alive])
        np.einsum("ij,ij->i", G, G, out=self._energy)

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._G[columns] = 0.0
        self._G[:, columns] = 0.0
        self._energy[columns] = 0.0
        self._fresh[columns] = 0.0


class TargetForward(Residuals):
    """State for a target Y (m, q): one product with X a step. Adding column i, of which r is left,
    lowers the error by |c|^2 / d, c = T'r and d = |r|^2, T being what is left of Y. With q the
    direction of a chosen column, w = X'q and b = T'q, c falls by w_i b, d by w_i^2 and T by qb'.
    What has shrunk is recomputed; all c when T has."""

    def __init__(self, X, Y: np.ndarray, capacity: int, *, center: bool = False):
        super().__init__(X, capacity, center=center)
        self._T = self._basis.residual(Y)
        self._lengths = self._own - np.square(cross(X, self._basis.Q)).sum(axis=1)
        self._C = cross(X, self._T)
        self._seen = self.error()
        self._nothing = rounding_energy(Y.shape, float(np.vdot(Y, Y)))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        self._refresh(allowed)
        energy = np.einsum("ij,ij->i", self._C, self._C)
        return self._first(energy, self._lengths, allowed)

    def add(self, column: int) -> None:
        q = self._basis.append(columns_of(self._X, [column])[:, 0])
        if q is not None:
            w, b = cross(self.data, q), self._T.T @ q
            self._T -= np.outer(q, b)
            self._C -= np.outer(w, b)
            self._lengths -= w * w
        self._drop([column])

    def error(self) -> float:
        return float(np.vdot(self._T, self._T))

    def _refresh(self, wanted: np.ndarray) -> None:
        if self.error() < SHRUNK * self._seen:
            self._C = cross(self.data, self._T)
            self._C[self._fresh == 0.0] = 0.0
            self._seen = self.error()
        stale = self._shrunk(self._lengths, wanted)
        for part in column_blocks(len(stale), len(self._T)):
            self._renew(stale[part])

    def _renew(self, stale: np.ndarray) -> None:
        rest, squares, alive = self._residual(stale)
        self.replace(stale, rest)
        self._C[stale] = rest.T @ self._T
        self._lengths[stale] = self._fresh[stale] = squares
        self._drop(stale[~alive])

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._C[columns] = 0.0
        self._lengths[columns] = 0.0
        self._fresh[columns] = 0.0


# Relative error that f may have, and the least share to which it may fall until then.
_ACCURATE = 1e-8
_FALLEN = 1e-6
# Columns fetched together from where they are kept: one of them is likely to be the next.
_NEAR = 16
# Columns that are computed one block after the other rather than all from the kernel.
_FEW = 1000


class WideForward(Residuals):
    """State for a matrix too wide for a Gram matrix, possibly kept elsewhere in parts.

    The error drops by f / g, g = |r|^2 and f = |X'r|^2 with the residual r of a column. With q the
    direction of a chosen column and w = X'q, f becomes f - 2 w*(X'PXw) + |w|^2 w*w and g becomes g
    - w*w, P projecting off what was chosen before: three passes over X a step (two over parts), and
    the kernel XX' once. As f is quadratic in the residual, a column is recomputed when its f has
    fallen a millionfold or its g ten thousandfold; where many have, all are, from the kernel.
    """

    def __init__(self, X, capacity: int, *, center: bool = False):
        # Wide sparse data are mostly empty columns, which would only cost time.
        self._places, X = without_empty(X)
        super().__init__(X, capacity, center=center)
        self._forms = ColumnForms(X)
        self._gone = self._own == 0.0
        self._near: dict[int, np.ndarray] = {}
        self._renew_all()
        self._total = float(self._g.sum())

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        here = allowed[self._places]
        if not here.any():
            return int(np.flatnonzero(allowed)[0]), 0.0
        self._refresh(here)
        at, gain = self._first(self._f, self._g, here)
        return int(self._places[at]), gain

    def add(self, column: int) -> None:
        at = int(np.searchsorted(self._places, column))
        if at == len(self._places) or self._places[at] != column:
            return
        before = self._basis.Q
        q = self._basis.append(self._column(at))
        if q is not None:
            w, u = cross_and_back(self.data, q)
            u -= before @ (before.T @ u)
            self._f -= 2.0 * w * cross(self.data, u)
            w *= w
            self._f += w.sum() * w
            self._g -= w
            self._total -= float(w.sum())
        self._drop([at])

    def _column(self, at: int) -> np.ndarray:
        """One column; it comes with those that may be next, which may be kept elsewhere."""
        if at not in self._near:
            count = min(_NEAR, len(self._gains))
            best = np.argpartition(-self._gains, count - 1)[:count]
            which = np.union1d(best, [at])
            self._near = dict(zip(which.tolist(), columns_of(self._X, which).T, strict=True))
        return self._near[at]

    def error(self) -> float:
        return max(self._total, 0.0)

    def _refresh(self, wanted: np.ndarray) -> None:
        """Recompute the wanted columns that rounding may have reached."""
        stale = self._stale(wanted)
        if len(stale) > _FEW:
            self._renew_all()
            stale = self._stale(wanted)
        for part in column_blocks(len(stale), len(self._basis.Q)):
            self._renew(stale[part])

    def _stale(self, wanted: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            # An update of f rounds like w, which comes from the whole column.
            noise = np.finfo(np.float64).eps * np.sqrt(self._own / self._g)
            fallen = self._f < np.maximum(noise / _ACCURATE, _FALLEN) * self._high
        shrunk = (self._g < SHRUNK * self._fresh) | fallen
        return np.flatnonzero(wanted & shrunk & ~self._gone)

    def _renew(self, stale: np.ndarray) -> None:
        """f and g of a few columns, from their residuals."""
        rest, squares, alive = self._residual(stale)
        self._drop(stale[~alive])
        stale, rest = stale[alive], rest[:, alive]
        self.replace(stale, rest)
        self._g[stale] = self._fresh[stale] = squares[alive]
        self._f[stale] = self._high[stale] = energies_along(self.data, rest)

    def _renew_all(self) -> None:
        """f and g of every column, from the kernel of the residual."""
        Q = self._basis.Q
        self._g = self._own - squares_along(self._X, Q) if Q.shape[1] else self._own.copy()
        self._f = self._forms.outside(Q)
        # Residuals that are short beside their column are differences of large numbers: they
        # count as shrunk, and are computed one by one when they are wanted.
        self._fresh, self._high = self._own.copy(), self._f.copy()
        self._drop(np.flatnonzero(self._gone))

    def _drop(self, columns) -> None:
        """Columns of which nothing is left."""
        self._gone[columns] = True
        self._f[columns] = 0.0
        self._g[columns] = 0.0


# A column with more than this share of nonzeros is cheaper in a dense product.
_DENSE = 1 / 8


class ColumnForms:
    """The forms x'PKPx of all columns of X, K = XX', for whatever P projects out. Where data are
    kept elsewhere in parts, the forms with P = I are computed once, and x'PKPx = x'Kx - 2
    (Q'x)'(Q'Kx) + (Q'x)'(Q'KQ)(Q'x): the kernel goes round once at most."""

    def __init__(self, X):
        self._X, self._whole = X, None

    def outside(self, Q: np.ndarray) -> np.ndarray:
        """The forms with P = I - QQ', Q being orthonormal."""
        X = self._X
        if not isinstance(X, ColumnParts):
            return column_forms(X, Q)
        if self._whole is None:
            self._whole = X.spread([_whole_forms(X)])
        if Q.shape[1] == 0:
            return self._whole.copy()
        KQ = kernel_product(X, Q)
        return self._whole - X.spread(X.collect(Visit(_caught, Q, KQ, Q.T @ KQ)))


def column_forms(X, Q: np.ndarray) -> np.ndarray:
    """:class:`ColumnForms` of data in memory; the kernel is formed in blocks and never stored. A
    column with z nonzeros costs z^2 operations, or m^2 in a matrix product when it is dense. A tall
    X takes its Gram matrix instead, whose squared column lengths are the forms."""
    if X.shape[0] > X.shape[1]:
        return _gram_forms(X, Q)
    KQ = kernel_product(X, Q)
    inner = Q.T @ KQ
    forms = np.zeros(X.shape[1])
    share = _share_of(X)
    for rows, block in kernel_blocks(X):
        if Q.shape[1]:
            block = block - Q[rows] @ KQ.T - (KQ[rows] - Q[rows] @ inner) @ Q.T
        forms += share(rows, block)
    return forms


def _whole_forms(X: ColumnParts) -> np.ndarray:
    """x'XX'x of the columns that the parts hold."""
    if has_short_rows(X):
        return gram_squares(X)
    forms = np.zeros(len(X.places))
    for rows, block in kernel_blocks(X):
        forms += np.concatenate(X.collect(Visit(_part_share, rows, block)))
    return forms


def _part_share(part, rows: slice, block: np.ndarray) -> np.ndarray:
    return _share_of(part)(rows, block)


def _caught(part, Q: np.ndarray, KQ: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """What projecting off Q takes from the form of every column."""
    caught = np.empty(part.shape[1])
    for columns in column_blocks(part.shape[1], Q.shape[1] if sp.issparse(part) else sum(Q.shape)):
        W, V = cross(part[:, columns], Q), cross(part[:, columns], KQ)
        caught[columns] = np.einsum("ij,ij->i", W, 2.0 * V - W @ inner)
    return caught


def _gram_forms(X, Q: np.ndarray) -> np.ndarray:
    """The forms as squared lengths of the columns of X'PX, in blocks."""
    W = cross(X, Q)
    forms = np.zeros(X.shape[1])
    for rows, block in kernel_blocks(X.T):
        if Q.shape[1]:
            block -= W[rows] @ W.T
        forms[rows] = np.einsum("ij,ij->i", block, block)
    return forms


def _share_of(X):
    """Function that says what a block of kernel rows gives to the form of every column."""

    def dense(rows: slice, block: np.ndarray) -> np.ndarray:
        forms = np.empty(X.shape[1])
        for columns in column_blocks(X.shape[1], len(X)):
            part = X[:, columns].astype(np.float64, copy=False)
            forms[columns] = np.einsum("ij,ij->j", part[rows], block @ part)
        return forms

    return _sparse_share_of(X) if sp.issparse(X) else dense


def _sparse_share_of(X):
    """The same: popular columns by matrix products, the others nonzero by nonzero."""
    X = X.tocsc()
    X.sort_indices()
    popular = np.diff(X.indptr) > _DENSE * X.shape[0]
    dense, rare = _share_of(X[:, popular].toarray()), X[:, ~popular]
    arrays = rare.indptr.astype(np.intp), rare.indices.astype(np.intp), rare.data.astype(np.float64)

    def sparse(rows: slice, block: np.ndarray) -> np.ndarray:
        forms, light = np.empty(X.shape[1]), np.zeros(rare.shape[1])
        add_forms(*arrays, np.ascontiguousarray(block), rows.start, light)
        forms[popular], forms[~popular] = dense(rows, block), light
        return forms

    return sparse
