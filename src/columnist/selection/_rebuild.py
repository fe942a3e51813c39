"""Reconstruction of the data from a selection: coefficients, R2, extracted components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg.lapack import dgeqp3, dtrtrs

from columnist.data import Matrices
from columnist.linalg._passes import (
    centered_norms,
    column_blocks,
    columns_of,
    squared_norms,
    without_means,
)
from columnist.linalg._rounding import CONSTANT

# Work space of LAPACK per column: blocks of its usual size.
_WORK = 64


@dataclass(frozen=True)
class Rebuild:
    """Least-squares coefficients of the target on the selection (k of n columns)."""

    coef: np.ndarray  # (k, q): the target is nearly X[:, selected] @ coef + intercept
    intercept: np.ndarray  # (q,), zero unless means are free
    r2: np.ndarray  # (n,): share of each column of X that is rebuilt; 1 for zero columns
    representative: np.ndarray  # (n,): the selected column with the largest squared cosine
    components: np.ndarray  # (n_components, q): leading right singular vectors of the residual


def rebuild(matrices: Matrices, subset: Sequence[int], n_components: int) -> Rebuild:
    """The attributes of a fitted selector except its proof. No input validation."""
    chosen = np.asarray(subset, dtype=np.intp)
    kept, cross, norms, means = _inner_products(matrices, chosen)
    squares = np.diag(cross[:, chosen])
    coef, target_means = _least_squares(kept, cross[:, chosen], cross), means
    explained = np.einsum("ij,ij->j", coef, cross)
    r2 = np.divide(explained, norms, out=np.ones_like(norms), where=norms > 0.0).clip(0.0, 1.0)
    r2[chosen] = 1.0
    # Cosine times the column's length: enough to compare kept columns.
    cosines = np.abs(cross) / np.sqrt(np.where(squares > 0.0, squares, np.inf))[:, None]
    representative = chosen[np.argmax(cosines, axis=0)]
    representative[chosen] = chosen
    if matrices.Y is not None:
        Y, units = matrices.Y, _units(np.abs(kept).max(axis=0, initial=0.0))
        target_means = Y.mean(axis=0) if matrices.center else np.zeros(Y.shape[1])
        coef = scipy.linalg.lstsq(kept / units, Y - target_means, check_finite=False)[0]
        coef /= units[:, None]
    intercept = target_means - means[chosen] @ coef
    components = np.zeros((0, coef.shape[1]))
    if n_components:
        components = _leading(_residual(matrices, kept, cross, coef), n_components)
    coef, intercept = coef * (matrices.y_scale / matrices.x_scale), intercept * matrices.y_scale
    if matrices.removed is not None:
        x_means, removed = matrices.removed
        intercept += removed - x_means[chosen] @ coef
    return Rebuild(coef, intercept, r2, representative, components)


def squared_rest(matrices: Matrices, subset: np.ndarray, fitted: Rebuild) -> float:
    """Squared error of reconstructing the target of any rows with coefficients that were fitted to
    others."""
    kept = matrices.x_scale * columns_of(matrices.X, subset)
    height, q = kept.shape[0], matrices.n_targets
    # The few rows of a collection are without means, which are an error of every row.
    offset, share = -fitted.intercept, 1.0
    if matrices.removed is not None:
        x_means, means = matrices.removed
        offset, share = offset + means - x_means[subset] @ fitted.coef, 0.0
    outside, inside = 0.0, np.zeros((height, len(fitted.components)))
    for part in column_blocks(q, height):
        rest = matrices.y_scale * columns_of(matrices.target, part) - kept @ fitted.coef[:, part]
        rest += share * offset[part]
        outside += float(np.square(rest).sum())
        inside += rest @ fitted.components[:, part].T
    unit = matrices.unit / matrices.y_scale
    error = unit**2 * (outside - float(np.square(inside).sum()))
    if matrices.removed is not None:
        along = fitted.components @ offset
        error += matrices.n_samples * float(offset @ offset - along @ along)
    return max(error, 0.0)


def _inner_products(matrices: Matrices, subset):
    """Kept columns (m x k, means removed), kept'X (k x n), squared norms of X, means of X."""
    if matrices.gram:
        G = matrices.X
        return None, G[subset], np.diag(G).copy(), np.zeros(len(G))
    X = matrices.X
    means = np.asarray(X.mean(axis=0)).ravel() if matrices.center else np.zeros(X.shape[1])
    kept = X[:, subset].toarray() if sp.issparse(X) else X[:, subset]
    kept = without_means(kept) if matrices.center else kept
    if not matrices.center:
        return kept, np.asarray(X.T @ kept).T, squared_norms(X), means
    if not sp.issparse(X):
        X = without_means(X)
        return kept, kept.T @ X, squared_norms(X), means
    lengths, norms = squared_norms(X), centered_norms(X, means)
    # Of a constant column rounding is left, and nothing to rebuild.
    norms[norms <= CONSTANT**2 * lengths] = 0.0
    cross = np.asarray(X.T @ kept).T - np.outer(kept.sum(axis=0), means)
    return kept, cross, norms, means


def _least_squares(kept, gram, cross) -> np.ndarray:
    """Coefficients of every column on the kept ones, through a QR of those."""
    # The length of a column does not show whether it depends on others.
    if kept is None:
        units = _units(np.sqrt(np.diag(gram)))
        inverse = np.linalg.pinv(gram / units / units[:, None], hermitian=True, rcond=1e-12)
        return inverse @ (cross / units[:, None]) / units[:, None]
    units = _units(np.abs(kept).max(axis=0, initial=0.0))
    # LAPACK's own routines: in a small fit their wrappers are a good part of the time.
    R, places, _, _, _ = dgeqp3(kept / units, lwork=_WORK * (len(units) + 1))
    heights, cross = np.abs(np.diag(R)), cross / units[:, None]
    rank = int((heights > 1e-12 * heights.max(initial=0.0)).sum())
    coef = np.zeros_like(cross)
    if rank:
        order = places[:rank] - 1
        top = dtrtrs(R[:rank, :rank], cross[order], trans=1)[0]
        coef[order] = dtrtrs(R[:rank, :rank], top)[0]
    return coef / units[:, None]


def _units(sizes: np.ndarray) -> np.ndarray:
    """Powers of two near these sizes."""
    return np.exp2(np.round(np.log2(np.where(sizes > 0.0, sizes, 1.0))))


def _residual(matrices: Matrices, kept, cross, coef) -> np.ndarray:
    """Target minus its rebuilt version; for a Gram matrix any root of the residual's Gram."""
    if matrices.gram:
        values, vectors = np.linalg.eigh(matrices.X - cross.T @ coef)
        return np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return matrices.centered_target() - kept @ coef


def _leading(residual: np.ndarray, n_components: int) -> np.ndarray:
    Vt = scipy.linalg.svd(residual, full_matrices=False, check_finite=False)[2]
    Vt = Vt[:n_components]
    signs = np.sign(Vt[np.arange(len(Vt)), np.argmax(np.abs(Vt), axis=1)])
    components = np.zeros((n_components, residual.shape[1]))
    components[: len(Vt)] = Vt * np.where(signs == 0, 1.0, signs)[:, None]
    return components
