"""What the fast selectors have in common."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np

from columnist._selector import BaseSelector
from columnist.criteria import Criterion, Frobenius
from columnist.data._blocks import RowBlocks, has_target
from columnist.data._matrices import Matrices, gathered, in_memory
from columnist.data._target import resolve_target
from columnist.data._validation import open_data, read_data, resolve_size
from columnist.linalg._column_parts import ColumnParts
from columnist.linalg._passes import merge_repeats

__all__ = ["FastSelector"]


class FastSelector(BaseSelector):
    """A selector that fits by one call: validate, select, recompute the error, store.

    A subclass defines :meth:`_select`; one that can approximate y also has a parameter
    ``target`` ("auto", "X" or "y").
    """

    def fit(self, X, y=None):
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target, where the selector uses one; class labels become an indicator matrix.

        Returns
        -------
        self
        """
        matrices, size = self._begin(X, y)
        with matrices.threads():
            self._store(matrices, self.selected_)
        self._warn_if_short(len(self.selected_), size)
        return self

    def _begin(self, X, y) -> tuple[Matrices, int]:
        """Validate and select; the error, which may cost more than the selection, is left to do.

        Returns the data and how many columns were asked for.
        """
        self._check_parameters()
        matrices = self._matrices(X, y)
        size = self._size(matrices.n_features)
        balanced, *scales = matrices.balanced()
        if scales == [1.0, 1.0]:
            matrices = balanced  # and nobody needs to look at the entries again
        with matrices.threads():
            self.selected_ = np.asarray(self._select(balanced, size), dtype=np.intp)
        return matrices, size

    @abstractmethod
    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        """Columns in order of selection, at least one and at most ``size``.

        The entries of ``matrices`` can be squared and summed safely.
        """

    def _size(self, n_features: int) -> Any:
        return resolve_size(self.n_features_to_select, n_features)

    def _uses_target(self, y) -> bool:
        """Whether ``fit(X, y)`` approximates y and not X."""
        target = getattr(self, "target", "X")
        if target == "y" and y is None:
            raise ValueError("target='y' needs a y: call fit(X, y), or use target='X'.")
        return y is not None and target != "X"

    def _matrices(self, X, y) -> Matrices:
        """Check the data and settle the target."""
        uses_y = self._uses_target(X if has_target(X) else y)
        center = getattr(self, "centering", "none") == "mean"
        if isinstance(X, ColumnParts):  # as a stage of another selector, which has checked them
            self.n_features_in_ = X.shape[1]
            X = X if self._on_passes() else gathered(X)
            return Matrices(X, resolve_target(y, X.shape[0]) if uses_y else None, center=center)
        read = read_data if self._needs_rows() else open_data
        X = read(self, X, accept_sparse="csc", dtype=[np.float64, np.float32])
        if isinstance(X, RowBlocks):
            return Matrices.of_blocks(X, y, center=center, target=uses_y, passes=self._on_passes())
        Y = resolve_target(in_memory(y), X.shape[0]) if uses_y else None
        return Matrices(merge_repeats(X), Y, center=center)

    def _needs_rows(self) -> bool:
        """Whether the selection depends on more than inner products of columns."""
        return False

    def _on_passes(self) -> bool:
        """Whether it reads X by the functions of ``linalg.passes`` alone.

        If so, data with very many columns can stay where they are.
        """
        return False

    def _criterion(self) -> Criterion:
        return Frobenius()

    def _store(self, matrices: Matrices, selected: np.ndarray) -> None:
        """Keep the selection, and its error recomputed from the data."""
        criterion = self._criterion()
        self.selected_ = selected
        self._keep_error(matrices.error(selected, criterion), matrices.error([], criterion))

    def _keep_error(self, error: float, total: float) -> None:
        self.error_ = error
        self.relative_error_ = error / total if total > 0.0 else 0.0

    def _warn_if_short(self, found: int, size: int) -> None:
        if found < size:
            warnings.warn(
                f"{type(self).__name__} selected {found} of {size} columns: the others add "
                "nothing to what these explain (X or the target has no more rank).",
                UserWarning,
                stacklevel=3,
            )
