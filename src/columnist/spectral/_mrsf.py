"""MRSF: features that jointly explain a response, without redundancy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from columnist._warn import warn_caller
from columnist.data import in_memory, open_rows
from columnist.data._parameters import Integer, Other, StrOptions
from columnist.data._target import is_classes, resolve_target
from columnist.data._validation import feature_names
from columnist.linalg._column_parts import Visit
from columnist.linalg._passes import apply
from columnist.linalg._prox import row_norms
from columnist.linalg._reduce import power_of_two
from columnist.linalg._threads import Threads
from columnist.spectral._base import SpectralBase, chosen_first
from columnist.spectral._features import Features, ScaledColumns
from columnist.spectral._forms import (
    CommonForm,
    lda_response,
    pca_response,
    spectral_response,
    svm_response,
)
from columnist.spectral._l21 import as_columns
from columnist.spectral._l21_path import Knot, L21Path, l21_path, optimality
from columnist.spectral._similarity import resolve_similarity

_RESPONSES = ("auto", "spectral", "lda", "svm", "pca")
# Components of a spectral or PCA response by default.
_COMPONENTS = 10


@dataclass(frozen=True)
class PathReport:
    """The path of a fitted :class:`MRSF`, one entry per knot.

    Attributes
    ----------
    alpha : ndarray
        Penalties, falling.
    n_active : ndarray of int
        Features with nonzero coefficients there.
    residual : ndarray
        Frobenius norm of what is left of the response.
    kkt : ndarray
        Largest violation of the optimality conditions, as a share of the penalty.
    entered, left : tuple of tuple of int
        Features that enter there, and that left since the knot before.
    """

    alpha: np.ndarray
    n_active: np.ndarray
    residual: np.ndarray
    kkt: np.ndarray
    entered: tuple[tuple[int, ...], ...]
    left: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, knots: tuple[Knot, ...], alpha_unit: float, residual_unit: float) -> PathReport:
        """From the knots, in the units of the data."""
        return cls(
            alpha_unit * np.array([knot.alpha for knot in knots]),
            np.array([len(knot.rows) for knot in knots]),
            residual_unit * np.array([knot.residual for knot in knots]),
            np.array([knot.kkt for knot in knots]),
            tuple(knot.entered for knot in knots),
            tuple(knot.left for knot in knots),
        )


class MRSF(SpectralBase):
    r"""Select features that jointly explain a response, without redundancy.

    Fits a response Y by few rows of coefficients,

    .. math:: \min_W \tfrac12\|Y - FW\|_F^2 + \alpha \sum_j \|w_j\|,

    and lets the penalty fall from where all coefficients are zero. A feature enters where its
    pull :math:`\|f_j^T(Y - FW)\|` reaches :math:`\alpha`: it must explain what those before it
    leave, so a near copy of one of them stays outside (minimal redundancy spectral feature
    selection). The columns of F are those of X, by default centred and of unit length.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    response : str, array-like or CommonForm, default="auto"
        The response that the features should explain.

        - ``"spectral"``: a similarity of the samples, :math:`Y = U_k\Sigma_k^{1/2}` for its
          leading eigenpairs.
        - ``"lda"``, ``"svm"``: class labels y, coded as in least squares discriminant analysis,
          or as 1 and -1 for each class.
        - ``"pca"``: leading principal components of the features, :math:`Y = U_k\Sigma_k`.
        - ``"auto"``: ``"lda"`` if ``fit`` gets class labels, the values of y if it gets numbers,
          ``"spectral"`` without y.
        - An array of shape (n_samples,) or (n_samples, n_responses): Y itself.
        - What :func:`common_form` returns: features and similarity of another score.
    n_components : int, optional
        Eigenvectors or principal components, at most; 10 by default.
    similarity : str, callable, array-like or sparse matrix, default="rbf"
        Similarity of the samples for the spectral response; see :class:`SpectralSelector`.
    n_neighbors : int, default=5
        Neighbours of ``similarity="knn"`` and ``"relief"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    scaling : {"unit", "none"}, default="unit"
        Centre features and response and bring features to unit length, or take them as they are.
        A sparse X is not made dense by this.
    output : {"columns", "components"}, default="columns"
        Output of ``transform``: the selected columns, or the fitted response
        ``X @ coef_ + intercept_``, a representation extracted from them.
    n_jobs : int, optional
        Threads of the search for neighbours, and of the products with the features, of which each
        thread takes blocks. Their number does not change the selection or the coefficients.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected features in order of entry.
    ranking_ : ndarray of shape (n_features,)
        All features: the selected ones, then the others by their score, undefined ones last.
    scores_, raw_scores_ : ndarray of shape (n_features,)
        For a selected feature the penalty at which it entered; for another one the length of
        :math:`f_j^TR` with the residual R at the end, which is no larger. NaN for a constant
        feature.
    coef_ : ndarray of shape (n_features, n_responses)
        The coefficients, for X as it was given.
    intercept_ : ndarray of shape (n_responses,)
        Zero unless features and response are centred.
    alpha_ : float
        Penalty at the end.
    path_ : PathReport
        Penalty, number of features, residual and optimality at every knot.
    kkt_ : float
        Largest violation of the optimality conditions at the end, as a share of ``alpha_``,
        recomputed from the data.
    classes_ : ndarray
        Classes, if the response is made of them.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.spectral.MCSF : Greedy selection for the same aim.
    columnist.spectral.l21_regression : The solution for one penalty.

    Notes
    -----
    The path is followed knot by knot, so exactly as many features are selected as were asked
    for: it ends where one more would enter, and ``coef_`` is the solution there. Features that
    reach the penalty at the same place enter one by one, the smaller index first; a copy of a
    feature that is in never enters; one whose coefficients return to zero leaves, and counts only
    if it enters again. If the response is explained, or cannot be explained any further, before
    enough features have entered, fewer are selected, with a warning.

    Memory: as many numbers as features times features that entered. Of a Dask collection one pass
    takes the inner products of all features and the response, features times features numbers. If
    these are too many (from 4,000 features on), the collection is cut into blocks of columns once,
    and every pass over the blocks takes the products of all features with the response, with up
    to 16 features that may be next, or, for ``response="pca"``, with a vector of the Lanczos
    iteration.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*. CRC Press.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import MRSF
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = MRSF(3).fit(X, y)
    >>> selector.selected_
    array([ 6, 12, 11])
    >>> selector.path_.alpha.round(3)
    array([11.382, 11.099, 10.169,  9.901])
    """

    # The pass that prepares features looks at all entries.
    _looks: ClassVar[bool] = False
    _on_blocks = True

    _parameter_constraints = {
        "response": StrOptions(*_RESPONSES) | Other("a matrix or a common form"),
        "n_components": Integer(1) | None,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        response="auto",
        n_components: int | None = None,
        similarity="rbf",
        n_neighbors: int = 5,
        width: float | str = "auto",
        scaling: str = "unit",
        output: str = "columns",
        n_jobs: int | None = None,
    ):
        self.response = response
        self.n_components = n_components
        self.scaling = scaling
        self.output = output
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    @classmethod
    def sparse_lda(cls, n_features_to_select: int | float | None = None, **options) -> MRSF:
        """Sparse least squares discriminant analysis: ``transform`` extracts one score per class.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            Number of features.
        **options
            Other parameters of the class.

        Returns
        -------
        MRSF
        """
        return cls(n_features_to_select, **{"response": "lda", "output": "components", **options})

    @classmethod
    def sparse_svm(cls, n_features_to_select: int | float | None = None, **options) -> MRSF:
        """Sparse least squares support vector machine: ``transform`` gives decision values.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            Number of features.
        **options
            Other parameters of the class.

        Returns
        -------
        MRSF
        """
        return cls(n_features_to_select, **{"response": "svm", "output": "components", **options})

    @classmethod
    def sparse_pca(cls, n_features_to_select: int | float | None = None, **options) -> MRSF:
        """Sparse PCA whose components share their features: ``transform`` extracts components.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            Number of features.
        **options
            Other parameters of the class, for instance ``n_components``.

        Returns
        -------
        MRSF
        """
        return cls(n_features_to_select, **{"response": "pca", "output": "components", **options})

    # -- fitting --------------------------------------------------------------------

    def fit(self, X, y=None) -> MRSF:
        """Select features of X.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.
        y : array-like or Dask collection, (n_samples,) or (n_samples, n_responses), optional
            Class labels or values, where the response uses them.

        Returns
        -------
        self
        """
        X, size = self._begin(X)
        with Threads(effective_n_jobs(self.n_jobs)) as threads:
            features, Y = self._problem(X, in_memory(y), threads)
            F, self._root, self._scale = features.few, features.root, features.scale
            means = np.zeros(Y.shape[1]) if F.means is None else Y.mean(axis=0)
            unit = power_of_two(Y)
            Y = (Y - means) / unit
            path = l21_path(F, Y, size)
            self._store_path(F, path, size, unit)
            self._store_coefficients(F, Y, path, unit, means)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.output == "components" and isinstance(self.response, CommonForm):
            raise ValueError(
                "output='components' needs features of new samples, but a common form has those of "
                "the training samples only. Use output='columns'."
            )

    def _problem(self, X, y, threads: Threads) -> tuple[Features, np.ndarray]:
        """Features and response."""
        response = self.response
        count = _COMPONENTS if self.n_components is None else self.n_components
        count = min(count, X.shape[0])
        if isinstance(response, CommonForm):
            features = Features.given(response.features, X.shape, threads)
            return features, spectral_response(response.similarity, count)
        if isinstance(response, str) and response == "auto":
            response = "spectral" if y is None else "lda" if is_classes(y) else "values"
        Y = self._response(response, X, y, count)
        features = Features.of(X, self.scaling, Y, threads)
        if features.response is not None:
            return features, features.response
        F = features.few
        Y = pca_response(F, count)
        # Signs are those of all rows.
        along = F.cross(Y) / np.square(Y).sum(axis=0)
        return features, Y * np.sign(features.largest_entries(along))

    def _response(self, response, X, y, count: int) -> np.ndarray | None:
        """The response; None for one that is made of the features."""
        if not isinstance(response, str):
            return _values(response, X.shape[0], "response")
        if response == "values":
            return _values(y, X.shape[0], "y")
        if response in ("lda", "svm"):
            codes = self._classes(y, X.shape[0])
            return lda_response(codes) if response == "lda" else svm_response(codes)
        if response == "pca":
            return None
        S = resolve_similarity(self.similarity, self._squarable(X), y, **self._similarity_options())
        return spectral_response(S, count, centering="mean" if self.scaling == "unit" else "none")

    def _store_path(self, F: ScaledColumns, path: L21Path, size: int, unit: float) -> None:
        scale = self._scale if F.means is None else 1.0  # unit length hides it
        end = path.knots[-1]
        scores = np.where(F.squared_lengths() > 0.0, path.pulls, np.nan)
        scores[end.rows] = path.entry
        self.ranking_ = chosen_first(end.rows, scores)
        self.scores_ = scores * unit * scale
        self.raw_scores_ = self.scores_
        self.alpha_ = end.alpha * unit * scale
        self.path_ = PathReport.of(path.knots, unit * scale, unit)
        self.selected_ = self.ranking_[: max(1, len(end.rows))]
        if len(end.rows) < size:
            warn_caller(
                f"MRSF selected {len(self.selected_)} of {size} features: {len(end.rows)} enter "
                "the path before the response is explained as far as features (or rounding) "
                "allow. Ask for fewer, or give a response with more components."
            )

    def _store_coefficients(self, F, Y, path: L21Path, unit: float, means: np.ndarray) -> None:
        end = path.knots[-1]
        W = np.zeros((F.shape[1], Y.shape[1]))
        W[end.rows] = end.coef
        R = Y - F.take(end.rows) @ end.coef
        violation = optimality(W, F.cross(R), end.alpha) if end.alpha > 0.0 else np.zeros(1)
        self.kkt_ = float(violation.max())
        self.coef_ = W * (F.scales[:, None] * unit / self._scale)
        self.intercept_ = means.copy()
        if F.means is not None:
            self.intercept_ -= (F.means * self._scale) @ self.coef_
        self.intercept_ /= self._root

    # -- use ------------------------------------------------------------------------

    def transform(self, X):
        """Selected columns in their original order, or the fitted response.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            New data.

        Returns
        -------
        array or Dask collection of shape (n_samples, n_selected) or (n_samples, n_responses)
            A Dask collection is not computed.
        """
        check_is_fitted(self)
        if self.output == "columns":
            return super().transform(X)
        X = open_rows(
            self, X, reset=False, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32]
        )
        coef = self.coef_[self.selected_]
        return X.map(Visit(_fitted, self.selected_, coef, self.intercept_), coef.shape[1])

    def inverse_transform(self, X):
        """Put selected columns back in their places, zeros elsewhere.

        Not available with ``output="components"``: columns cannot be read off the extracted ones.
        """
        check_is_fitted(self)
        if self.output == "components":
            raise ValueError("output='components' cannot be undone: use output='columns'.")
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the selected columns, or ``mrsf0`` and so on for extracted ones."""
        check_is_fitted(self)
        names = feature_names(self, input_features)
        if self.output == "columns":
            return names[self._get_support_mask()]
        return np.array([f"mrsf{i}" for i in range(self.coef_.shape[1])], dtype=object)

    def _requires_y(self) -> bool:
        return isinstance(self.response, str) and self.response in ("lda", "svm")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = isinstance(self.response, str) and self.response == "auto"
        return tags


def _fitted(X, columns: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """The fitted response of rows."""
    return apply(X[:, columns], coef) + intercept


def _values(Y, n_samples: int, name: str) -> np.ndarray:
    """A response given by its values."""
    Y = resolve_target(as_columns(Y, name), n_samples)
    if not row_norms(Y.T).any():
        raise ValueError(f"{name} is zero everywhere: there is nothing for features to explain.")
    return Y
