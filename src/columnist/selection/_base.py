"""Base classes of the fast selectors."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.criteria import Criterion, Frobenius, get_criterion
from columnist.data import Matrices, is_target_given, open_matrices, uses_target
from columnist.data._validation import check_room, resolve_constraints, resolve_size
from columnist.linalg._passes import others
from columnist.linalg._prox import row_norms
from columnist.linalg._ties import ranked
from columnist.selection._columns import InvariantColumns
from columnist.selection._duplicates import shared_by_copies
from columnist.selection._feasible import Feasible
from columnist.selection._rules import Rules
from columnist.selection._scored import ScoredSelector

# Penalties beyond mean nothing, but must not become zero or infinite.
_SMALLEST, _LARGEST = 1e-300, 1e300


class FastSelector(ScoredSelector):
    """A selector that fits by one call: validate, select, recompute the error, store.

    A subclass defines :meth:`_select`; one that can approximate y also has a parameter
    ``target`` ("auto", "X" or "y").
    """

    # Whether fit cannot do without a target.
    _needs_target = False

    def fit(self, X, y=None, sample_weight=None):
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Target, where the selector uses one; class labels become an indicator matrix.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X, y, sample_weight=None):
        matrices, size = self._begin(X, y, sample_weight)
        with matrices.threads():
            self._store(matrices, self.selected_)
        self._warn_if_short(len(self.selected_), size)
        return self

    def _begin(self, X, y, sample_weight=None) -> tuple[Matrices, Any]:
        """Select only: the data, and how many columns were asked for. The error may cost more."""
        self._check_parameters()
        if sample_weight is not None and self._needs_rows():
            raise ValueError(
                f"{type(self).__name__} takes no sample_weight here: the selection depends on more "
                "than inner products of the columns. Repeat rows instead."
            )
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        matrices = self._matrices(X, y, **weighed)
        self._remember(matrices)
        matrices.check_range(self._criterion())
        size = self._size(matrices.n_features)
        with matrices.threads():
            selected = np.asarray(self._select(matrices, size), dtype=np.intp)
        if len(np.unique(selected)) < len(selected):
            raise ValueError(
                f"{type(self).__name__}._select returned a column twice: {selected.tolist()}."
            )
        self.selected_ = selected if len(selected) else np.zeros(1, dtype=np.intp)
        return matrices, size

    @abstractmethod
    def _select(self, matrices: Matrices, size: int) -> np.ndarray | list[int]:
        """Columns in order of selection, none twice, at most ``size``; the first is taken if there
        are none."""

    def _size(self, n_features: int) -> Any:
        return resolve_size(self.n_features_to_select, n_features)

    def _uses_target(self, X, y) -> bool:
        """Whether ``fit(X, y)`` approximates y and not X."""
        if not self._needs_target:
            return uses_target(getattr(self, "target", "X"), X, y)
        if not is_target_given(X, y):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        return True

    def _matrices(self, X, y, **how) -> Matrices:
        """Check the data and settle the target; ``how`` they are opened otherwise."""
        asked = {
            "target": self._uses_target(X, y),
            "center": getattr(self, "centering", "none") == "mean",
            "passes": self._on_passes,
            "rows": self._needs_rows(),
            "accept_sparse": "csc",
            "open_y": self._open_target,
        }
        return open_matrices(self, X, y, **{**asked, **how})

    def _needs_rows(self) -> bool:
        """Whether the selection depends on more than inner products of columns."""
        return False

    def _criterion(self) -> Criterion:
        return get_criterion(getattr(self, "criterion", "frobenius"))

    def _constraints(self, n_features: int, size: int | None) -> tuple[list[int], list[int]]:
        """Columns to include and to exclude, with room for ``size`` of them."""
        names = getattr(self, "feature_names_in_", None)
        fixed = resolve_constraints(self.include, self.exclude, n_features, names)
        if size is not None:
            check_room(size, *fixed, n_features)
        return fixed

    def _rules(self, n_features: int) -> tuple[Rules, list[int], list[int]]:
        """The constraints, and the columns to include and to exclude."""
        names = getattr(self, "feature_names_in_", None)
        include, exclude = resolve_constraints(self.include, self.exclude, n_features, names)
        rules = Rules.of(self.constraints, n_features, names).asked(self.n_features_to_select)
        rules.check(include, exclude, names)
        return rules, include, exclude

    def _feasible(self, matrices: Matrices) -> tuple[Feasible, np.ndarray, np.ndarray]:
        """Choices that obey the constraints, included columns and candidates."""
        n = matrices.n_features
        rules, include, exclude = self._rules(n)
        if matrices.X.dtype == np.float32:
            matrices = replace(matrices, X=matrices.X.astype(np.float64))
        reduced, candidates = matrices.reduce("exact", n, None), others(n, [*include, *exclude])
        problem = InvariantColumns(reduced, n, self._criterion(), 0, include, candidates)
        return Feasible(problem, rules), np.array(include, dtype=np.int32), candidates

    def _store(self, matrices: Matrices, selected: np.ndarray) -> None:
        """Keep the selection, and its error recomputed from the data."""
        criterion = self._criterion()
        self.selected_ = selected
        self._keep_error(matrices.error(selected, criterion), matrices.error([], criterion))

    def _unexplained(self, matrices: Matrices) -> float:
        return matrices.error(self.selected_, Frobenius())

    def _keep_error(self, error: float, total: float) -> None:
        self.error_ = error
        self.relative_error_ = error / total if total > 0.0 else 0.0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_target
        return tags

    def _why_short(self, found: int) -> str:
        """Why fewer columns than requested were found; empty if no warning is needed."""
        return "the others add nothing to what these explain (X or the target has no more rank)."

    def _warn_if_short(self, found: int, size: int | None) -> None:
        if size is not None and found < size and (why := self._why_short(found)):
            text = f"{type(self).__name__} selected {found} of {size} columns: {why}"
            warn_caller(text)


class RowSparseSelector(FastSelector):
    """Fits y by a coefficient matrix with few nonzero rows and ranks columns by their rows.

    A subclass defines :meth:`_fit_coefficients` and names its penalty parameter.
    """

    _needs_target = True
    _penalty_name: str

    def fit(self, X, y=None):  # type: ignore[override]  # no weights: losses are not squared
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target; class labels become an indicator matrix.

        Returns
        -------
        self
        """
        return self._fit(X, y)

    @abstractmethod
    def _fit_coefficients(self, X, Y, x_scale, y_scale) -> tuple[np.ndarray, np.ndarray]:
        """W (n_features x q), and how hard every column pulls at W = 0. Where all of W is zero, the
        column with the largest pull is the first that a smaller penalty lets in. Penalties have
        units of the data, which were divided by their scales."""

    def _penalty(self, *units: float) -> float:
        """The penalty for data that were divided so that its unit is the product of these."""
        value = float(getattr(self, self._penalty_name))
        for unit in units:
            value = min(max(value / unit, _SMALLEST), _LARGEST)
        return value

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        X, x_scale, y_scale = matrices.X, matrices.x_scale, matrices.y_scale
        W, pull = self._fit_coefficients(X, matrices.Y, x_scale, y_scale)
        # How copies of a column share its coefficients is left open by the problem.
        W = shared_by_copies(X, W)
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
        warn_caller(text, ConvergenceWarning)

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
