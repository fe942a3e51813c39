"""Base class of the low-rank models."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from columnist.data._parameters import Integer, ParameterChecks
from columnist.data._validation import read_data
from columnist.linalg._passes import apply
from columnist.linalg._prox import row_norms
from columnist.linalg._ties import ranked
from columnist.lowrank._table import Table, as_table


def check_rank(n_components, shape: tuple[int, int]) -> None:
    """Raise unless a table of this shape has so many components."""
    Integer(1).check("n_components", n_components)
    if n_components > min(shape):
        raise ValueError(
            f"n_components must be at most min(n_samples, n_features) = {min(shape)}; "
            f"got {n_components}."
        )


class LowRankModel(ParameterChecks, TransformerMixin, BaseEstimator, ABC):
    """Rows approximated by ``scores @ components_ + center_``.

    A subclass fits ``components_``, ``center_`` and ``_unit``, and defines the penalty of the
    scores.
    """

    @property
    def _score_penalty(self) -> float:
        """Penalty of a squared score, in the units of the data."""
        return 0.0

    def fit(self, X, y=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data; NaN for missing entries.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._read(X, reset=True)
        check_rank(self.n_components, X.shape)
        self._fit(as_table(X, self.centering, self.location))
        return self

    @abstractmethod
    def _fit(self, table: Table) -> None:
        """Fit the model to checked data."""

    def _read(self, X, *, reset: bool):
        return read_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan",
            accept_sparse=("csr", "csc") if self.__sklearn_tags__().input_tags.sparse else False,
        )  # fmt: skip

    def _store(self, table: Table, Y: np.ndarray) -> None:
        """Keep loadings in the units of the data, and what follows from them."""
        self._unit = table.unit
        self.center_ = table.center
        self.components_ = Y.T
        self.scores_ = row_norms(Y / table.unit) * table.unit
        if table.missing is not None:
            self.scores_[table.missing.all(axis=0)] = np.nan

    def transform(self, X):
        """Best scores of rows for the loadings, with their penalty.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, seen by the fit or not; NaN for missing entries.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        Y = self.components_.T / self._unit
        penalty = self._score_penalty / self._unit / self._unit
        center = self.center_ / self._unit
        X = X if self._unit == 1.0 else X * (1.0 / self._unit)
        holes = np.zeros(X.shape[0], dtype=bool) if sp.issparse(X) else np.isnan(X).any(axis=1)
        scores = np.empty((X.shape[0], Y.shape[1]))
        complete = np.flatnonzero(~holes)
        if len(complete):
            rows = X if not holes.any() else X[complete]
            scores[complete] = (apply(rows, Y) - center @ Y) @ ridge_inverse(Y.T @ Y, penalty)
        for row in np.flatnonzero(holes):
            seen = ~np.isnan(X[row])
            part = Y[seen]
            pulls = (X[row, seen].astype(np.float64) - center[seen]) @ part
            scores[row] = pulls @ ridge_inverse(part.T @ part, penalty)
        return scores

    def inverse_transform(self, X):
        """Rows of the model with these scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            What :meth:`transform` returns.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        scores = check_array(X, dtype=np.float64)
        if scores.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {scores.shape[1]} columns, but {type(self).__name__} has "
                f"{len(self.components_)} components: pass what transform returns."
            )
        return scores @ self.components_ + self.center_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def ridge_inverse(gram: np.ndarray, penalty: float) -> np.ndarray:
    """Inverse of a small Gram matrix plus a ridge; zero in directions that it does not have."""
    values, vectors = np.linalg.eigh(gram)
    floor = len(gram) * np.finfo(np.float64).eps * values[-1]
    values = np.where(values > floor, values + penalty, np.inf)
    return (vectors / values) @ vectors.T


def ranking(scores: np.ndarray, pulls: np.ndarray) -> np.ndarray:
    """Columns with loadings by their lengths, the others by how close they are to entering."""
    active = scores > 0.0
    first, rest = ranked(np.where(active, scores, np.nan)), ranked(pulls)
    undefined = np.isnan(scores)
    last = rest[~active[rest] & ~undefined[rest]]
    return np.concatenate([first[: active.sum()], last, np.flatnonzero(undefined)])
