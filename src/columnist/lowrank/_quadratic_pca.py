"""Low-rank models with squared penalties, in closed form."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning

from columnist.data._parameters import FINITE, Number
from columnist.linalg._ties import ranked
from columnist.lowrank._base import LowRankModel, ridge_inverse
from columnist.lowrank._factors import objective_of, signs_of
from columnist.lowrank._table import Filled, Table, leading_svd


class QuadraticPCA(ClassNamePrefixFeaturesOutMixin, LowRankModel):
    r"""A low-rank model with squared penalties on scores and loadings.

    With scores X and loadings Y it minimises

    .. math:: \|A - XY^T\|_F^2 + \lambda_1 \|X\|_F^2 + \lambda_2 \|Y\|_F^2.

    From the singular value decomposition :math:`A = U\Sigma V^T`, with
    :math:`\tau = \sqrt{\lambda_1\lambda_2}`, the solution of rank r is

    .. math::
       X = U_r(\Sigma_r - \tau)_+^{1/2} (\lambda_2/\lambda_1)^{1/4}, \qquad
       Y = V_r(\Sigma_r - \tau)_+^{1/2} (\lambda_1/\lambda_2)^{1/4}:

    principal components whose singular values are lowered by :math:`\tau`. Without penalties it is
    PCA.

    Parameters
    ----------
    n_components : int
        Rank of the model, at most.
    alpha_scores, alpha_loadings : float, default=0
        The penalties :math:`\lambda_1` and :math:`\lambda_2`. If exactly one of them is zero, the
        other has no effect: scaling the factors against each other makes its term as small as one
        likes, and there is no minimum. PCA, whose error is the infimum, is returned with a warning.
    centering : {"none", "mean"}, default="none"
        Whether the centre of each column is subtracted first.
    location : {"mean", "median"}, default="mean"
        Which centre ``centering="mean"`` subtracts. Outliers move a mean.
    tol : float, default=1e-8
        Relative decrease of the objective at which the iteration for missing entries stops.
    max_iter : int, default=2000
        Its iterations at most.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The loadings, transposed: orthogonal rows, the longest first.
    embedding_ : ndarray of shape (n_samples, n_components)
        The scores of the fit, orthogonal.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the model: those of the data, lowered.
    scores_ : ndarray of shape (n_features,)
        Lengths of the loadings of every column; NaN for a column without any entry.
    ranking_ : ndarray of shape (n_features,)
        All columns, the longest loadings first.
    objective_ : float
        The objective, computed from the data; the infimum if there is no minimum.
    n_iter_ : int
        Iterations; 1 without missing entries.
    center_ : ndarray of shape (n_features,)
        What was subtracted.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Their names, if X has any.

    See Also
    --------
    SparseLoadings : A penalty that selects columns.

    Notes
    -----
    Missing entries (NaN) are left out of the loss. There is no closed form then: ridge
    regressions for scores and loadings alternate, on the data filled with the model; the
    objective never rises, and ends at a local minimum. Sparse data are not made dense.

    References
    ----------
    Udell, M., Horn, C., Zadeh, R. and Boyd, S. (2016). Generalized low rank models. *Foundations
    and Trends in Machine Learning*, 9.

    Hastie, T., Mazumder, R., Lee, J. and Zadeh, R. (2015). Matrix completion and low-rank SVD via
    fast alternating least squares. *Journal of Machine Learning Research*, 16.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.lowrank import QuadraticPCA
    >>> A = np.diag([5.0, 3.0, 1.0])
    >>> model = QuadraticPCA(2, alpha_scores=1.0, alpha_loadings=1.0).fit(A)
    >>> model.singular_values_
    array([4., 2.])
    >>> model.inverse_transform(model.transform(A)).round(6)
    array([[4., 0., 0.],
           [0., 2., 0.], [0., 0., 0.]])
    """

    _parameter_constraints = {
        "alpha_scores": FINITE,
        "alpha_loadings": FINITE,
        "tol": Number(0.0, above=True),
    }

    def __init__(
        self,
        n_components: int,
        *,
        alpha_scores: float = 0.0,
        alpha_loadings: float = 0.0,
        centering: str = "none",
        location: str = "mean",
        tol: float = 1e-8,
        max_iter: int = 2000,
    ):
        self.n_components = n_components
        self.alpha_scores = alpha_scores
        self.alpha_loadings = alpha_loadings
        self.centering = centering
        self.location = location
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, table: Table) -> None:
        penalties = self._penalties()
        balanced = penalties[0] / table.unit, penalties[1] / table.unit
        if table.missing is None:
            U, sigma, V = leading_svd(table, self.n_components)
            sigma = np.maximum(sigma - np.sqrt(balanced[0]) * np.sqrt(balanced[1]), 0.0)
            self.n_iter_ = 1
        else:
            U, sigma, V = self._iterate(table, *balanced)
        self._keep(table, U, sigma, V, balanced)

    def _penalties(self) -> tuple[float, float]:
        """Both, or none if one of them is zero."""
        penalties = float(self.alpha_scores), float(self.alpha_loadings)
        if all(penalties) or not any(penalties):
            return penalties
        warnings.warn(
            "QuadraticPCA: one penalty is zero, so the other has no effect and the objective no "
            "minimum; the result is that of PCA. Set alpha_scores and alpha_loadings, or neither.",
            stacklevel=4,
        )
        return 0.0, 0.0

    @property
    def _score_penalty(self) -> float:
        return float(self.alpha_scores) if self.alpha_loadings else 0.0

    def _iterate(self, table: Table, alpha_scores: float, alpha_loadings: float):
        """Singular triplets of the model for a table with holes."""
        n_components = self.n_components
        _, sigma, V = leading_svd(table, n_components)
        X, Y = np.zeros((table.shape[0], n_components)), V * np.sqrt(sigma)
        work, objectives = Filled(table), [np.inf]
        while len(objectives) <= self.max_iter:
            X = work.table.times(Y) @ ridge_inverse(Y.T @ Y, alpha_scores)
            work.follow(X, Y)
            Y = work.table.cross(X) @ ridge_inverse(X.T @ X, alpha_loadings)
            error = work.follow(X, Y)
            penalty = alpha_scores * np.vdot(X, X) + alpha_loadings * np.vdot(Y, Y)
            objectives.append(error + float(penalty))
            if objectives[-2] - objectives[-1] <= self.tol * objectives[-1]:
                break
        else:
            warnings.warn(
                f"QuadraticPCA stopped after {self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_iter_ = len(objectives) - 1
        return product_svd(X, Y)

    def _keep(self, table: Table, U, sigma, V, penalties: tuple[float, float]) -> None:
        signs = signs_of(V)
        U, V = U * signs, V * signs
        error = objective_of(table, U, V * sigma, np.zeros(table.shape[1]), "quadratic")
        penalty = 2.0 * np.sqrt(penalties[0]) * np.sqrt(penalties[1]) * float(sigma.sum())
        self.singular_values_ = sigma * table.unit
        root = np.sqrt(self.singular_values_)
        ratio = (penalties[0] / penalties[1]) ** 0.25 if all(penalties) else 1.0
        self._store(table, V * (root * ratio))
        self.embedding_ = U * (root / ratio)
        self.ranking_ = ranked(self.scores_)
        self.objective_ = (error + penalty) * table.unit**2

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def product_svd(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular value decomposition of XY' for thin factors."""
    Q, R = np.linalg.qr(X)
    P, S = np.linalg.qr(Y)
    U, sigma, Vt = np.linalg.svd(R @ S.T)
    return Q @ U, sigma, P @ Vt.T
