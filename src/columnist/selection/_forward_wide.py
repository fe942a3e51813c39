"""Forward selection for a matrix that has too many columns for a Gram matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, Visit
from columnist.linalg._passes import (
    column_blocks,
    columns_of,
    cross,
    kernel_product,
    squared_norms,
    squares_along,
    without_empty,
)
from columnist.linalg._rounding import NEARLY_DEPENDENT as DEPENDENT
from columnist.linalg._second_moment import gram_squares, has_short_rows, kernel_blocks
from columnist.linalg._ties import first_gain, rounding_energy
from columnist.selection._basis import GrowingBasis
from columnist.selection._forward_states import SHRUNK, ShrinkingColumns
from columnist.selection._gather import add_forms

__all__ = ["ColumnForms", "WideForward", "column_forms"]

# A column with more than this share of nonzeros is cheaper in a dense product.
_DENSE = 1 / 8


class ColumnForms:
    r"""The forms :math:`x^T P XX^T P x` of all columns of X, for whatever is projected out.

    For data that are kept elsewhere in parts, the forms with P = I are computed once, and

    .. math::

        x^T P K P x = x^T K x - 2 (Q^T x)^T (Q^T K x) + (Q^T x)^T (Q^T K Q) (Q^T x),
        \quad K = XX^T:

    the kernel goes round once at most, and not for every Q.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._forward_wide import ColumnForms
    >>> ColumnForms(np.diag([1.0, 2.0])).outside(np.zeros((2, 0)))
    array([ 1., 16.])
    """

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
    r"""For every column x of X the form :math:`x^T P XX^T P x`, with :math:`P = I - QQ^T`.

    The kernel is formed in blocks of rows and never stored. A column with z nonzeros costs
    :math:`z^2` operations, or m^2 in a matrix product when it is dense. A tall X takes its Gram
    matrix instead, whose squared column lengths are the forms. No input validation.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, n)
        Data.
    Q : ndarray of shape (m, j)
        Orthonormal columns; j may be 0.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._forward_wide import column_forms
    >>> column_forms(np.diag([1.0, 2.0]), np.zeros((2, 0)))
    array([ 1., 16.])
    """
    if X.shape[0] > X.shape[1]:
        return _gram_forms(X, Q)
    KQ = kernel_product(X, Q)
    inner = Q.T @ KQ
    forms = np.zeros(X.shape[1])
    add = _sparse_adder(X) if sp.issparse(X) else _dense_adder(X)
    for rows, block in kernel_blocks(X):
        if Q.shape[1]:
            block = block - Q[rows] @ KQ.T - (KQ[rows] - Q[rows] @ inner) @ Q.T
        add(rows, block, forms)
    return forms


def _whole_forms(X: ColumnParts) -> np.ndarray:
    """x'XX'x of the columns that the parts hold."""
    if has_short_rows(X):
        return gram_squares(X)
    forms = np.zeros(len(X.places))
    for rows, block in kernel_blocks(X):
        forms += np.concatenate(X.collect(Visit(_block_forms, rows, block)))
    return forms


def _block_forms(part, rows: slice, block: np.ndarray) -> np.ndarray:
    """What a block of kernel rows gives to the form of every column."""
    forms = np.zeros(part.shape[1])
    add = _sparse_adder(part) if sp.issparse(part) else _dense_adder(part)
    add(rows, block, forms)
    return forms


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


def _dense_adder(X):
    """Adds what a block of kernel rows gives to the form of every column."""

    def add(rows: slice, block: np.ndarray, forms: np.ndarray) -> None:
        for columns in column_blocks(X.shape[1], len(X)):
            part = X[:, columns].astype(np.float64, copy=False)
            forms[columns] += np.einsum("ij,ij->j", part[rows], block @ part)

    return add


def _sparse_adder(X):
    """The same: popular columns by matrix products, the others nonzero by nonzero."""
    X = X.tocsc()
    X.sort_indices()
    popular = np.diff(X.indptr) > _DENSE * X.shape[0]
    heavy, light = np.flatnonzero(popular), np.flatnonzero(~popular)
    dense = _dense_adder(X[:, heavy].toarray())
    rare = X[:, light]
    arrays = rare.indptr.astype(np.intp), rare.indices.astype(np.intp), rare.data.astype(np.float64)

    def add(rows: slice, block: np.ndarray, forms: np.ndarray) -> None:
        parts = np.zeros(len(heavy))
        dense(rows, block, parts)
        forms[heavy] += parts
        parts = np.zeros(len(light))
        add_forms(*arrays, np.ascontiguousarray(block), rows.start, parts)
        forms[light] += parts

    return add


# Relative error that f may have, and the least share to which it may fall until then.
_ACCURATE = 1e-8
_FALLEN = 1e-6
# Columns fetched together from where they are kept: one of them is likely to be the next.
_NEAR = 16
# Columns that are computed one block after the other rather than all from the kernel.
_FEW = 1000


class WideForward:
    r"""State of a forward selection for a wide matrix itself.

    The error drops by :math:`f_i/g_i`; :math:`g_i = \|r_i\|^2` and :math:`f_i = \|X^T r_i\|^2`
    belong to the residual :math:`r_i` of column i. When column l is chosen, q its new direction and
    :math:`w = X^T q`,

    .. math::

        f \leftarrow f - 2 w \circ X^T P X w + \|w\|^2 w \circ w, \qquad g \leftarrow g - w \circ w,

    P projecting off what was chosen before: three passes over X a step (two where it is kept
    elsewhere in parts), no residual, no n x n matrix. The first f needs the kernel XX' once, in
    blocks of rows.

    Rounding: f is quadratic in the residual, so a column is computed anew when its f has fallen
    a millionfold (less when little is left of the column) or its g ten thousandfold; where many
    columns have, all of them, from the kernel of the residual.

    Parameters
    ----------
    X : ndarray, CSC matrix or ColumnParts of shape (m, n)
        Data.
    capacity : int
        Columns to add at most.
    center : bool, default=False
        Remove column means.
    """

    def __init__(self, X, capacity: int, *, center: bool = False):
        # Wide sparse data are mostly empty columns, which would only cost time.
        self._places, X = without_empty(X)
        self._forms = ColumnForms(X)
        self._X, self._data = X, ShrinkingColumns(X)
        self._basis = GrowingBasis(X.shape[0], capacity, center=center)
        self._own = squared_norms(X)
        self._gone = self._own == 0.0
        self._near: dict[int, np.ndarray] = {}
        self._gains = np.zeros(len(self._own))
        self._renew_all()
        self._total = float(self._g.sum())
        self._nothing = rounding_energy(X.shape, float(self._own.sum()))

    def best(self, allowed: np.ndarray) -> tuple[int, float]:
        """The allowed column that lowers the error most, and by how much (0 for rounding)."""
        here = allowed[self._places]
        if not here.any():
            return int(np.flatnonzero(allowed)[0]), 0.0
        self._refresh(here)
        usable = self._g > 0.0
        self._gains = np.divide(self._f, self._g, out=np.zeros_like(self._f), where=usable)
        at, gain = first_gain(self._gains, here, self._nothing)
        return int(self._places[at]), gain

    def add(self, column: int) -> None:
        """Choose a column; one that depends on the chosen ones changes nothing."""
        at = int(np.searchsorted(self._places, column))
        if at == len(self._places) or self._places[at] != column:
            return
        before = self._basis.Q
        q = self._basis.append(self._column(at))
        if q is not None:
            w, u = self._data.cross_and_back(q)
            u -= before @ (before.T @ u)
            self._f -= 2.0 * w * self._data.cross(u)
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
        """Squared Frobenius error of what is chosen."""
        return max(self._total, 0.0)

    def _refresh(self, wanted: np.ndarray) -> None:
        """Compute anew the wanted columns that rounding may have reached."""
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
        rest = self._basis.residual(columns_of(self._X, stale))
        squares = np.einsum("ij,ij->j", rest, rest)
        alive = squares > DEPENDENT**2 * self._own[stale]
        self._drop(stale[~alive])
        stale, rest = stale[alive], rest[:, alive]
        self._data.replace(stale, rest)
        self._g[stale] = self._fresh[stale] = squares[alive]
        self._f[stale] = self._high[stale] = self._data.energies_along(rest)

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
