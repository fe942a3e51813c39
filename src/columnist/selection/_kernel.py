"""Quadratic forms of every column with the kernel XX' of what is left of X."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.linalg._column_parts import ColumnParts, Visit
from columnist.linalg._passes import column_blocks, cross, kernel_product
from columnist.linalg._second_moment import gram_squares, has_short_rows, kernel_blocks
from columnist.selection._gather import add_forms

__all__ = ["ColumnForms", "column_forms"]

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
    >>> from columnist.selection._kernel import ColumnForms
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
    >>> from columnist.selection._kernel import column_forms
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
