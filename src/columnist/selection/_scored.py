"""The score of a selection on any rows."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.utils.validation import check_is_fitted

from columnist._selector import BaseSelector
from columnist.criteria import Frobenius
from columnist.data import Matrices, is_target_given, open_matrices
from columnist.data._target import open_known, open_target


class ScoredSelector(BaseSelector):
    """A selector whose columns approximate X or y.

    A subclass opens its target by :meth:`_open_target`, hands its data to :meth:`_remember`, and
    defines :meth:`_unexplained`.
    """

    _classes = None

    def _open_target(self, y, X):
        """Open a target, and keep its classes: other rows may not have all of them."""
        along, read = open_target(y, X)
        self._classes = read.classes
        return along, read

    def _remember(self, matrices: Matrices) -> None:
        """Store the data of the fit that scores need."""
        self._rebuilds_x, self._centered = matrices.Y is None, matrices.center

    @property
    def _on_passes(self) -> bool:
        """Whether it reads X by ``linalg._passes`` alone: very many columns may stay elsewhere."""
        return False

    @abstractmethod
    def _unexplained(self, matrices: Matrices) -> float:
        """Squared error of approximating the target of these rows."""

    def score(self, X, y=None) -> float:
        """Share of the variance of some rows that the selected columns explain; larger is better.

        This is 1 minus the squared error divided by the total: 1 minus ``relative_error_`` for the
        rows of ``fit`` and the Frobenius norm, and the R² of y (weighted by the variances of
        several targets) for a selection that approximates y. The total is about the means of the
        given rows if the selector is centred, and about zero otherwise.

        ``ColumnSelector`` predicts with the coefficients of ``fit``, so that scores of other rows
        are out-of-sample scores. The fast selectors keep no coefficients: their columns are fitted
        to the given rows by least squares. Such a score measures the selection only, and needs many
        more rows than selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Their target, if the selection approximates y.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if getattr(self, "input", "data") == "gram":
            raise ValueError("score needs rows, and input='gram' has none.")
        target = not self._rebuilds_x
        if target and not is_target_given(X, y):
            raise ValueError("The selection approximates y: call score(X, y).")
        matrices = open_matrices(
            self, X, y if target else None, target=target, center=self._centered, reset=False,
            passes=self._on_passes, open_y=open_known(self._classes), accept_sparse="csc",
        )  # fmt: skip
        with matrices.threads():
            error, total = self._unexplained(matrices), matrices.error([], Frobenius())
        if total > 0.0:
            return 1.0 - error / total
        return 1.0 if error == 0.0 else 0.0
