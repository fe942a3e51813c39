"""Linear models of growing selections, each from the one before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from columnist.selection._forward_powers import fresh_directions
from columnist.selection._powers import Polynomials, fit_polynomials

__all__ = ["LinearPath"]


class LinearPath:
    """Least squares on the first 1, 2, ... features of a selection, with their powers.

    The powers of each feature are orthogonalised against those before it: a further feature
    then adds to the scores without changing the rest. Rows that were not fitted go through the
    same steps.
    """

    def __init__(self, chosen: np.ndarray, Y: np.ndarray, degree: int, *, center: bool):
        self._polynomials = fit_polynomials(chosen, degree, center=center)
        self._start = Y.mean(axis=0) if center else np.zeros(Y.shape[1])
        self._fitted: list[np.ndarray] = []
        self._steps: list[tuple[np.ndarray, np.ndarray]] = []
        self._weights: list[np.ndarray] = []
        design = self._polynomials.evaluate(chosen)
        Q, rest = np.zeros((len(Y), 0)), Y - self._start
        for i in range(chosen.shape[1]):
            U, T, K = fresh_directions(design[:, i], Q)
            new = T.any(axis=0)
            self._steps.append((T[:, new], K[:, new]))
            self._fitted.append(U[:, new])
            self._weights.append(U[:, new].T @ rest)
            Q = np.column_stack([Q, U[:, new]])
            rest = rest - U[:, new] @ self._weights[-1]

    def _directions(self, design: np.ndarray) -> Iterator[np.ndarray]:
        """New directions of each feature on other rows, given the polynomials there."""
        Q = np.zeros((len(design), 0))
        for i, (T, K) in enumerate(self._steps):
            new = design[:, i] @ T - Q @ K
            yield new
            Q = np.column_stack([Q, new])

    def scores(self, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Scores of the fitted rows, and of other rows, for 1, 2, ... features."""
        fitted, other = self._start, self._start
        others = self._directions(self._polynomials.evaluate(chosen))
        for mine, new, weights in zip(self._fitted, others, self._weights, strict=True):
            fitted, other = fitted + mine @ weights, other + new @ weights
            yield fitted, other

    def model(self) -> tuple[Polynomials | None, np.ndarray, np.ndarray]:
        """Polynomials, coefficients and intercept with all features; see ``coef_``."""
        k, degree = self._polynomials.lengths.shape
        units = np.eye(k * degree).reshape(k * degree, k, degree)
        coef = (np.hstack(list(self._directions(units))) @ np.concatenate(self._weights)).T
        if degree > 1:
            return self._polynomials, coef, self._start
        slopes, offsets = self._polynomials.line()
        return None, coef * slopes, self._start + coef @ offsets
