r"""Block-diagonal matrices below a Gram matrix.

For blocks of columns, D holds one matrix for each block, with :math:`0 \prec D \preceq K`. It
starts from a multiple of :math:`((K^{-1})_{bb})^{-1}` and is then shaped for the relaxation it
serves: with the weights W of that relaxation, which say how much its bound gains from each entry of
D, it takes steps towards the maximum of

.. math:: \sum_b \mathrm{tr}(D_b W_b) + \tau_1 \log \det (K - D) + \tau_2 \sum_b \log \det D_b .

One block has a closed form given the others: :math:`G = D_b + (((K - D)^{-1})_{bb})^{-1}` does not
depend on it, and with :math:`G = LL^T` and the decomposition :math:`L^TW_bL = V \omega V^T`, the
best block is :math:`LV y V^TL^T`, where y is the root of
:math:`\omega y^2 - (\omega - \tau_1 - \tau_2) y - \tau_2 = 0` between 0 and 1. No input validation.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from columnist.linalg._rounding import UNIT
from columnist.search._interrupts import expired

# Columns with smaller cosines are not gathered in a block; so many pairs for each column are.
_RELATED, _PAIRS = 0.2, 12
# Share of the largest multiple that is below K to start from; what a power method may have missed.
_START = 0.97
# Limits of y.
_LEAST, _MOST = 1e-3, 1.0 - 1e-6
# Up to so many columns a decomposition takes less time than iterations.
_FEW = 100
# How far D goes down each time that it is too large, and how often.
_LOWER, _TRIES = 0.9, 8


def clusters(gram: np.ndarray, importance: np.ndarray, cap: int) -> list[np.ndarray]:
    """Blocks of at most ``cap`` columns: related ones are joined, pairs with the largest cosines
    and with important columns first. The diagonal of ``gram`` is positive."""
    p = len(gram)
    roots = np.sqrt(np.einsum("ii->i", gram))
    first, second = np.nonzero(np.triu(np.abs(gram) > _RELATED * roots[:, None] * roots, 1))
    weights = np.abs(gram[first, second]) / (roots[first] * roots[second])
    weights *= np.maximum(importance[first], importance[second])
    if len(weights) > _PAIRS * p:
        keep = np.sort(np.argsort(-weights, kind="stable")[: _PAIRS * p])
        first, second, weights = first[keep], second[keep], weights[keep]
    owner = np.arange(p)
    members = [[i] for i in range(p)]
    for at in np.argsort(-weights, kind="stable").tolist():
        one, other = sorted((int(owner[first[at]]), int(owner[second[at]])))
        if one != other and len(members[one]) + len(members[other]) <= cap:
            owner[members[other]] = one
            members[one] += members[other]
            members[other] = []
    return [np.array(sorted(block)) for block in members if block]


def inverse_of(matrix: np.ndarray) -> np.ndarray:
    """Inverse of a positive definite matrix."""
    factor, info = dpotrf(matrix, lower=1)
    inverse, bad = dpotri(factor, lower=1, overwrite_c=1)
    if info or bad:
        raise np.linalg.LinAlgError("Columns are dependent.")
    below = np.tril(inverse, -1)
    return np.tril(inverse) + below.T


class BlockDiagonal:
    """D for a Gram matrix whose columns are in the order of their blocks.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        K.
    starts : ndarray of int
        First column of each block, and p.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no D is found: columns are nearly dependent.
    """

    def __init__(self, gram: np.ndarray, starts: np.ndarray):
        self.gram = gram
        self.slices = [slice(a, b) for a, b in pairwise(starts.tolist())]
        inverse = inverse_of(gram)
        self.parts = [inverse_of(inverse[s, s]) for s in self.slices]
        multiple = _START / self._largest(inverse)
        self.parts = [multiple * part for part in self.parts]
        self.P = self._confirmed()

    def _largest(self, inverse: np.ndarray) -> float:
        """Largest eigenvalue of the inverse of K, scaled by D on both sides."""
        p, factors = len(inverse), [np.linalg.cholesky(part) for part in self.parts]

        def turned(x: np.ndarray, transposed: bool) -> np.ndarray:
            both = zip(factors, self.slices, strict=True)
            return np.concatenate([(L.T if transposed else L) @ x[s] for L, s in both])

        if p <= _FEW:
            half = turned(turned(inverse, True).T, True)
            return float(np.linalg.eigvalsh(half)[-1])

        def product(x: np.ndarray) -> np.ndarray:
            return turned(inverse @ turned(x.ravel(), False), True)

        operator = LinearOperator((p, p), matvec=product, dtype=np.float64)
        try:
            found = eigsh(operator, 1, v0=np.ones(p), tol=1e-2, maxiter=50,
                          return_eigenvectors=False)  # fmt: skip
        except ArpackError as error:
            raise np.linalg.LinAlgError("No multiple of D was found.") from error
        return float(found[0])

    def _confirmed(self) -> np.ndarray:
        """P = K - D, after D was lowered until P is positive semidefinite with its rounding: its
        diagonal covers the rounding of the difference, and a Cholesky factorisation succeeds with
        less on the diagonal."""
        n, squares = len(self.gram), np.einsum("ii->i", self.gram)
        most = max(s.stop - s.start for s in self.slices)
        kept = 1.0 - 2.0 * n * (n + 2) * UNIT
        for _ in range(_TRIES):
            P = self.gram.copy()
            for s, part in zip(self.slices, self.parts, strict=True):
                P[s, s] -= part
            np.einsum("ii->i", P)[:] -= 4.0 * (most + 2) * UNIT * squares
            trial = P.copy()
            np.einsum("ii->i", trial)[:] *= kept
            if dpotrf(trial, lower=1, overwrite_a=1)[1] == 0:
                return P
            self.parts = [_LOWER * part for part in self.parts]
        raise np.linalg.LinAlgError("Columns are nearly dependent.")

    def shape(
        self, weights: list[np.ndarray], inner: float, outer: float, sweeps: int, deadline: float
    ) -> None:
        """Steps towards a better D: ``weights`` are W, ``inner`` and ``outer`` the prices of the
        determinants of P and of D."""
        self.parts = [_START * part for part in self.parts]
        for _ in range(sweeps):
            P = self.gram.copy()
            for s, part in zip(self.slices, self.parts, strict=True):
                P[s, s] -= part
            inverse = inverse_of(P).T  # in the order of LAPACK
            for k, s in enumerate(self.slices):
                if expired(deadline):
                    break
                new = _best_block(self.parts[k], inverse[s, s], weights[k], inner, outer)
                change = new - self.parts[k]
                C = inverse[:, s].copy()  # of what is overwritten
                M = np.linalg.solve(np.eye(len(change)) - change @ inverse[s, s], change)
                inverse = dgemm(1.0, C @ M, C, 1.0, inverse, trans_b=1, overwrite_c=1)
                self.parts[k] = new
        self.P = self._confirmed()


def _best_block(D, inverse, W, inner: float, outer: float) -> np.ndarray:
    """The best block given the others; see the module docstring."""
    G = inverse_of(0.5 * (inverse + inverse.T)) + D
    L = np.linalg.cholesky(0.5 * (G + G.T))
    omega, V = np.linalg.eigh(L.T @ W @ L)
    linear = omega - inner - outer
    root = np.sqrt(np.maximum(linear * linear + 4.0 * omega * outer, 0.0))
    up = linear > 0.0
    y = np.where(
        up,
        (linear + root) / np.where(up, 2.0 * omega, 1.0),
        2.0 * outer / np.where(up, 1.0, np.maximum(root - linear, 1e-300)),
    )
    LV = L @ V
    new = (LV * np.clip(y, _LEAST, _MOST)) @ LV.T
    return 0.5 * (new + new.T)
