"""Base classes of the robust PCA estimators."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    OutlierMixin,
    TransformerMixin,
)
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import check_is_fitted

from columnist._warn import warn_caller
from columnist.data._blocks import RowBlocks, as_rows, open_blocks
from columnist.data._parameters import Integer, ParameterChecks, StrOptions
from columnist.data._validation import open_data, read_data
from columnist.linalg._reduce import can_be_squared, power_of_two
from columnist.linalg._rounding import EPS
from columnist.linalg._threads import single_threaded_blas
from columnist.robust._cutoffs import Cutoffs
from columnist.robust._row_data import Measured, RowData, given_mean, worth_passes
from columnist.robust._subspace import Subspace, fit_subspace

# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8


class BaseRobustPCA(
    ParameterChecks,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    OutlierMixin,
    BaseEstimator,
    ABC,
):
    """PCA of the rows left when outliers are removed: a subclass defines :meth:`_find_rows`.

    A row is an inlier if its score distance (within the subspace, in standard deviations) and
    its orthogonal distance (from the subspace) are both within cut-offs that 97.5% of good
    rows respect. This holds for any rows, so a larger ``n_outliers`` than the number of outliers
    does little harm: ``outliers_`` are the rows excluded from the fit, and ``predict`` flags only
    distant rows.
    """

    _parameter_constraints = {"centering": StrOptions("optimal", "mean", "none")}
    # Whether _find_rows can do what the parameters ask for block by block.
    _in_passes: Any = False

    def _set_rows(self, n_components, n_outliers, centering, cutoff) -> None:
        """Keep the parameters that most of these have."""
        self.n_components = n_components
        self.n_outliers = n_outliers
        self.centering = centering
        self.cutoff = cutoff

    def fit(self, X, y=None):
        """Find outliers and the principal components of the kept rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, one sample per row. A Dask array or dataframe is brought into memory, or, if it
            has many rows and the method allows it, visited block by block.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        data = self._begin(X)
        n, p = data.shape
        small = n * p * min(n, p) < _SMALL
        with single_threaded_blas() if small else nullcontext():
            self._store(data, *self._find_rows(data))
        return self

    def _begin(self, X) -> RowData:
        """Check everything; the rows, safe to square: many that can be visited stay elsewhere."""
        self._check_parameters()
        passes, blocks = self._in_passes, self._checked_kind(X)
        if blocks is not None and passes and worth_passes(blocks):
            X = open_data(self, X, dtype=np.float64)
        else:
            X = read_data(self, X, dtype=np.float64, ensure_min_samples=2)
        movable = passes and getattr(self, "centering", "none") != "none"
        data = RowData(X, _safe_unit, movable=movable)
        self._unit = data.unit
        return data

    def _checked_kind(self, X) -> RowBlocks | None:
        """Blocks, if X is a collection; a sparse one is refused without a look."""
        blocks = open_blocks(X)
        if blocks is not None and blocks.is_sparse:
            read_data(self, sp.csr_array((2, blocks.n_features)))
        return blocks

    @abstractmethod
    def _find_rows(self, data: RowData) -> tuple[np.ndarray, Subspace]:
        """Rows to remove, ascending, and the subspace of the others from the origin of the data."""

    def _sizes(self, n: int, p: int, *, least: int = 1) -> tuple[int, int]:
        """Rows to remove and dimension of the subspace of n rows of p features, checked."""
        k = resolve_outliers(self.n_outliers, n)
        return k, resolve_components(self.n_components, n - k, p, least=least)

    def _store(self, data: RowData, removed: np.ndarray, subspace: Subspace) -> None:
        self.outliers_ = removed.astype(np.intp)
        measured = data.measure(subspace)
        self._warn_if_flat(subspace, np.delete(measured.lengths, self.outliers_))
        cutoffs = self._cutoffs(data, self.outliers_, subspace, measured)
        distances, unit = np.delete(measured.orthogonal, self.outliers_), self._unit
        self.error_ = unit * unit * float(np.sum(distances**2))
        self.score_cutoff_ = cutoffs.score
        self.orthogonal_cutoff_ = cutoffs.orthogonal * unit
        self.offset_ = -1.0
        subspace = replace(subspace, mean=subspace.mean + data.origin).scaled(unit)
        self.mean_ = subspace.mean
        self.components_ = subspace.components
        self.explained_variance_ = subspace.variances
        self.n_components_ = len(subspace.components)

    def _cutoffs(
        self, data: RowData, outliers: np.ndarray, subspace: Subspace, measured: Measured
    ) -> Cutoffs:
        return data.cutoffs(subspace, outliers, measured, self.cutoff)

    def _warn_if_flat(self, subspace: Subspace, lengths: np.ndarray) -> None:
        """Warn if kept rows, so far from the mean, leave components undetermined."""
        largest = max(len(lengths), len(subspace.mean))
        square = float(np.sum(lengths**2)) / max(len(lengths), 1) + float(np.sum(subspace.mean**2))
        noise = largest * EPS * np.sqrt(square)
        spread = np.count_nonzero(np.sqrt(subspace.variances) > noise)
        if spread < len(subspace.variances):
            warn_caller(
                f"{type(self).__name__}: the kept rows vary in {spread} directions only; the other "
                f"{len(subspace.variances) - spread} components are arbitrary. Lower n_components."
            )

    def _answer(self, X, question: Callable, width: int | None = None):
        """What a function of the fitted subspace and of rows, both in units, says of X."""
        check_is_fitted(self)
        self._checked_kind(X)
        X = as_rows(open_data(self, X, dtype=np.float64, reset=False))
        fitted = Subspace(self.mean_, self.components_, self.explained_variance_)
        subspace = fitted.scaled(1.0 / self._unit)
        return X.map(partial(of_block, question, subspace, self._unit), width)

    def transform(self, X) -> np.ndarray:
        """Coordinates of rows along the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, seen by the fit or not.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        return self._answer(X, Subspace.scores, self.n_components_) * self._unit

    def inverse_transform(self, X) -> np.ndarray:
        """The points of the subspace with the given coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates, as :meth:`transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self._checked_kind(X) is None:
            X = check_array(X, dtype=np.float64, ensure_min_features=0)
        X = as_rows(X)
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {type(self).__name__} found "
                f"{self.n_components_} components: pass what transform returns."
            )
        return X.map(partial(points, self.mean_, self.components_), len(self.mean_))

    def score_distances(self, X) -> np.ndarray:
        """Distances from the mean within the subspace, in standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answer(X, Subspace.score_distances)

    def orthogonal_distances(self, X) -> np.ndarray:
        """Distances from the subspace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answer(X, Subspace.orthogonal_distances) * self._unit

    def score_samples(self, X) -> np.ndarray:
        """Minus the larger of the two distances, each in units of its cut-off.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            At most 0; below -1 for outliers.
        """
        check_is_fitted(self)
        cutoffs = Cutoffs(self.score_cutoff_, self.orthogonal_cutoff_ / self._unit)
        return self._answer(X, partial(normality, cutoffs))

    def decision_function(self, X) -> np.ndarray:
        """Score of every row, shifted: positive for inliers, negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X) -> np.ndarray:
        """+1 for rows within both cut-offs, -1 for outliers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, seen by the fit or not.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_


class WholeRowsPCA(BaseRobustPCA):
    """A robust PCA whose method needs all rows in one array: a subclass defines :meth:`_find`."""

    def _find_rows(self, data: RowData) -> tuple[np.ndarray, Subspace]:
        outliers, subspace = self._find(data.array())
        return np.sort(outliers), subspace

    @abstractmethod
    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        """Rows to remove and the subspace of the others; entries of X are safe to square."""


class CenteredPCA(WholeRowsPCA):
    """A robust PCA whose method does not centre by itself.

    Its parameter ``location`` is the centre from which rows are rated before it is known which are
    kept.
    """

    def _centered(self, X: np.ndarray) -> np.ndarray:
        """Rows as they are rated."""
        if self.centering == "none":
            return X
        median = self.centering == "optimal" and self.location == "median"
        return X - (np.median(X, axis=0) if median else X.mean(axis=0))

    def _refit(self, X: np.ndarray, outliers: np.ndarray, n_components: int) -> Subspace:
        """PCA of the rows left."""
        mean = given_mean(self.centering, X.mean(axis=0))
        return fit_subspace(np.delete(X, outliers, axis=0), n_components, mean)


class RowRemovalPCA(CenteredPCA):
    """Remove the rows that :meth:`_outlyingness` rates highest, fit a subspace to the rest."""

    def _find(self, X: np.ndarray) -> tuple[np.ndarray, Subspace]:
        k, r = self._sizes(*X.shape)
        self.outlyingness_ = self._outlyingness(self._centered(X), r, k)
        outliers = most_outlying(self.outlyingness_, k)
        return outliers, self._refit(X, outliers, r)

    @abstractmethod
    def _outlyingness(self, X: np.ndarray, n_components: int, n_outliers: int) -> np.ndarray:
        """How outlying every row of the centred data is: the largest are removed."""


def of_block(question: Callable, subspace: Subspace, unit: float, block: np.ndarray) -> np.ndarray:
    """What is asked of the rows of a block, divided by a unit that is safe to square."""
    assert_all_finite(block, input_name="X")
    return question(subspace, block.astype(np.float64) / unit)


def normality(cutoffs: Cutoffs, subspace: Subspace, X: np.ndarray) -> np.ndarray:
    """Minus the larger of the two distances, each in units of its cut-off."""
    _, along, across, _ = subspace.measure(X)
    return -np.maximum(along / cutoffs.score, across / cutoffs.orthogonal)


def points(mean: np.ndarray, components: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """The points of a subspace with given coordinates."""
    return coordinates @ components + mean


def most_outlying(outlyingness: np.ndarray, n_outliers: int) -> np.ndarray:
    """Rows with the largest values, ascending; of equals the earlier."""
    return np.sort(np.argsort(-outlyingness, kind="stable")[:n_outliers])


def resolve_outliers(value, n_samples: int, *, name: str = "n_outliers") -> int:
    """Number of rows to remove from an int or a fraction below 1."""
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        if not 0 <= int(value) < n_samples:
            raise ValueError(
                f"{name} must be at least 0 and below the number of rows ({n_samples}); "
                f"got {value}."
            )
        return int(value)
    is_number = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if is_number and 0.0 <= value < 1.0:
        return int(value * n_samples)
    raise ValueError(
        f"{name} must be an integer >= 0 or a fraction of the rows below 1; got {value!r}."
    )


def resolve_components(value, n_kept: int, n_features: int, *, least: int = 1) -> int:
    """Number of components, checked against the rows kept and the features."""
    Integer(least).check("n_components", value)
    if value > min(n_kept, n_features):
        raise ValueError(
            f"n_components={value} is too large for {n_kept} kept rows of {n_features} features: "
            f"it must be between {least} and {min(n_kept, n_features)}."
        )
    return int(value)


def _safe_unit(largest: float, size: int) -> float:
    """A power of two that makes the squares of ``size`` entries safe; 1 if they are."""
    scale = power_of_two(np.array([largest]))
    if scale > 0.25 * np.sqrt(np.finfo(np.float64).max / size):
        raise ValueError(
            f"X has entries of about {scale:.0e}, too large to be squared: divide it by that."
        )
    return 1.0 if can_be_squared(scale) else scale
