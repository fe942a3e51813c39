"""What the selectors by row-sparse coefficients have in common."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist.data import Matrices
from columnist.linalg._prox import row_norms
from columnist.linalg._ties import ranked
from columnist.selection._base import FastSelector
from columnist.selection._duplicates import shared_by_copies

__all__ = ["RowSparseSelector"]

# Penalties beyond mean nothing, but must not become zero or infinite.
_SMALLEST, _LARGEST = 1e-300, 1e300


class RowSparseSelector(FastSelector):
    """Fits y by a coefficient matrix with few nonzero rows and ranks columns by their rows.

    A subclass defines :meth:`_fit_coefficients` and names its penalty parameter.
    """

    _needs_target = True
    _penalty_name: str

    @abstractmethod
    def _fit_coefficients(self, matrices: Matrices) -> tuple[np.ndarray, np.ndarray]:
        """W (n_features x q), and how hard every column pulls at W = 0.

        Where all of W is zero, the column with the largest pull is the first that a smaller penalty
        lets in. Penalties have units of the data, which were divided by their scales.
        """

    def _penalty(self, *units: float) -> float:
        """The penalty for data that were divided so that its unit is the product of these."""
        value = float(getattr(self, self._penalty_name))
        for unit in units:
            value = min(max(value / unit, _SMALLEST), _LARGEST)
        return value

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        W, pull = self._fit_coefficients(matrices)
        # How copies of a column share its coefficients is left open by the problem.
        W = shared_by_copies(matrices.X, W)
        x_scale, y_scale = matrices.x_scale, matrices.y_scale
        norms = row_norms(W)
        self.coef_ = W / x_scale * y_scale
        self.scores_ = norms / x_scale * y_scale
        best = ranked(norms)[:size]
        kept = best[norms[best] > 0.0]
        return kept if len(kept) else ranked(pull)[:1]

    def _warn_unsettled(self, how: str) -> None:
        text = (
            f"{type(self).__name__} stopped after {how} (tol={self.tol:g}). Raise max_iter or tol, "
            f"standardise X, or take a larger {self._penalty_name}."
        )
        warnings.warn(text, ConvergenceWarning, stacklevel=6)

    def _needs_rows(self) -> bool:
        return True  # for norms of single rows, or their neighbours

    def _why_short(self, found: int) -> str:
        nonzero, name = int(np.count_nonzero(self.scores_)), self._penalty_name
        return (
            f"only {nonzero} have a nonzero coefficient at {name}={getattr(self, name):g}. "
            f"Lower {name} to select more."
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
