"""Deterministic volume sampling: the column with the smallest expected error in each step."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.linalg._secular import downdated_eigenvalues

__all__ = ["least_expected", "log_expected_errors"]

_EPS = np.finfo(np.float64).eps
# Logarithms of expected errors that differ by less are equal: the first column is taken.
_TIE = 1e-9


def least_expected(X, size: int) -> list[int]:
    r"""``size`` columns, or as many as the rank of X, each with the least expected error.

    With the columns T chosen so far and R the residual, a volume sample of t further columns leaves
    :math:`(t+1)\, e_{t+1}(\lambda) / e_t(\lambda)`, elementary symmetric polynomials of the
    eigenvalues of :math:`RR^T`. The column that makes this least for the residual after it, and
    one column less to draw, is taken: the expectation never rises. No input validation.
    """
    dense = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    _, sigma, Vt = np.linalg.svd(dense, full_matrices=False)
    scale = sigma.max(initial=0.0)
    rank = int(np.sum(sigma > _EPS * max(dense.shape) * scale))
    R = (sigma[:rank, None] / (scale or 1.0)) * Vt[:rank]
    lengths = np.einsum("ij,ij->j", R, R)
    chosen: list[int] = []
    for left in range(min(size, rank) - 1, -1, -1):
        lam, W = np.linalg.eigh(R @ R.T)
        lam = np.maximum(lam[::-1], 0.0)
        rotated = W[:, ::-1].T @ R
        squares = np.einsum("ij,ij->j", R, R)
        able = np.flatnonzero(squares > 1e3 * _EPS * lengths)
        Z = (np.sqrt(lam)[:, None] * rotated[:, able] / np.sqrt(squares[able])).T
        spectra = downdated_eigenvalues(lam, np.ascontiguousarray(Z), 0, rank)
        spectra[spectra <= 1e3 * _EPS * lam[0]] = 0.0
        expected = log_expected_errors(spectra, left)
        best = int(able[np.argmax(expected <= expected.min() + _TIE)])
        chosen.append(best)
        q = R[:, best] / np.sqrt(squares[best])
        R = R - np.outer(q, q @ R)
        R -= np.outer(q, q @ R)
    return chosen


def log_expected_errors(spectra: np.ndarray, t: int) -> np.ndarray:
    r"""Logarithms of :math:`(t+1)\, e_{t+1} / e_t` of every row; sums of positive numbers lose
    nothing, and logarithms neither overflow nor underflow."""
    with np.errstate(divide="ignore"):
        logs = np.log(spectra)
    table = np.full((len(spectra), t + 2), -np.inf)
    table[:, 0] = 0.0
    for column in logs.T:
        table[:, 1:] = np.logaddexp(table[:, 1:], column[:, None] + table[:, :-1])
    with np.errstate(invalid="ignore"):
        ratio = np.log(t + 1.0) + table[:, -1] - table[:, -2]
    return np.where(np.isnan(ratio), np.inf, ratio)
