"""The two low-rank models: squared penalties, solved in closed form, and sparse loadings."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from columnist._selector import BaseSelector
from columnist._warn import warn_caller
from columnist.data._parameters import FINITE, Number, StrOptions
from columnist.data._validation import feature_names, random_generator, resolve_size
from columnist.linalg._prox import row_norms
from columnist.linalg._ties import ranked
from columnist.lowrank._base import LowRankModel, ranking, ridge_inverse
from columnist.lowrank._factors import Factors, objective_of, signs_of
from columnist.lowrank._solve import SOLVERS, Solver, fit_exactly
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
        other has no effect: scaling the factors against each other makes its term arbitrarily
        small, and there is no minimum. PCA, whose error is the infimum, is returned with a warning.
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
        Names of the columns, if X has any.

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
        warn_caller(
            "QuadraticPCA: one penalty is zero, so the other has no effect and the objective no "
            "minimum; the result is that of PCA. Set alpha_scores and alpha_loadings, or neither."
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
            warn_caller(
                f"QuadraticPCA stopped after {self.max_iter} iterations: raise max_iter or tol.",
                ConvergenceWarning,
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


class SparseLoadings(LowRankModel, BaseSelector):
    r"""A low-rank model that selects columns: the loadings of all others are zero.

    With orthonormal scores X and loadings Y, one row per column of the data A, it minimises

    .. math::
       \|A - XY^T\|_F^2 + \alpha \sum_i \|y_i\| \quad\text{or}\quad
       \sum_j \|a_j - (XY^T)_j\| + \alpha \sum_i \|y_i\|, \qquad X^TX = I,

    with squared errors (``loss="quadratic"``) or, so that single rows cannot dominate the fit, with
    the lengths of the rows of the residual (``loss="robust"``). The penalty makes whole rows of Y
    zero: the other columns are the selected ones.

    Parameters
    ----------
    n_components : int
        Rank of the model.
    loss : {"quadratic", "robust"}, default="quadratic"
        Squared lengths or lengths of the residual's rows.
    alpha : float, optional
        Penalty, as in the formula. For the quadratic loss it is measured in units of the data,
        for the robust one it has no unit; :func:`alpha_max` gives the smallest value
        at which no column is selected. None: such that ``n_features_to_select`` columns remain.
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1). None means half of
        the columns if ``alpha`` is None too, and all with loadings otherwise. With both
        given, ``selected_`` are the columns with the longest loadings.
    centering : {"none", "mean"}, default="none"
        Whether the centre of each column is subtracted first.
    location : {"mean", "median"}, default="mean"
        Which centre ``centering="mean"`` subtracts. Outliers move a mean.
    solver : {"auto", "alternate", "admm"}, default="auto"
        Alternating minimisation (quadratic loss only) or alternating directions with multipliers.
        "auto" takes the first where it can.
    refit : bool, default=False
        Fit again without the penalty, on the selected columns alone. The penalty shortens
        loadings; this restores them and leaves the selection as it is.
    output : {"components", "columns"}, default="components"
        Output of ``transform``: scores, or the selected columns.
    n_starts : int, default=6
        Starts of the iteration, of which the best is kept: singular vectors, columns, random ones.
    tol : float, default=1e-4
        Relative length of the residuals at which to stop: the gradient for "alternate", primal
        and dual residual for "admm".
    max_iter : int, default=2000
        Iterations at most.
    random_state : int, RandomState instance or None, default=None
        Randomness of the starts.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The loadings, transposed: orthogonal rows, the longest first.
    selected_ : ndarray of int
        Selected columns, the one with the longest loadings first.
    scores_ : ndarray of shape (n_features,)
        Lengths of the loadings; NaN for a column without any entry.
    ranking_ : ndarray of shape (n_features,)
        All columns: those with loadings by their length, then the others by how close they are
        to having some.
    embedding_ : ndarray of shape (n_samples, n_components)
        The scores X of the fit, orthonormal. ``transform`` gives the best scores of any
        rows for the loadings; for the rows of the fit these are X if there is no penalty.
    alpha_ : float
        The penalty; that of the selection if ``refit``.
    alpha_max_ : float
        Smallest penalty at which no column is selected.
    objective_ : float
        The objective at the end, computed from the data; without penalty if ``refit``.
    objective_history_ : ndarray of shape (n_iter,)
        The objective after every iteration of the best start.
    residual_history_ : ndarray of shape (n_iter, 2)
        Relative primal and dual residuals. The alternating minimisation has no primal one.
    n_iter_ : int
        Iterations of the best start.
    center_ : ndarray of shape (n_features,)
        What was subtracted.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    alpha_max : The smallest penalty at which no column is selected.
    loadings_path : Selections over a range of penalties.
    QuadraticPCA : Squared penalties, in closed form.

    Notes
    -----
    Neither problem is convex. The alternating minimisation never raises the objective and ends at a
    stationary point; the other solver returns the best point it has met. Both are started several
    times, since zero loadings are a local minimum even well below ``alpha_max``.

    Missing entries (NaN) are left out of the loss. Sparse data are not made dense; they need
    the quadratic loss and the alternating solver. Nothing of size n_samples squared or n_features
    squared is formed.

    References
    ----------
    Huang, Z. (2019). *Generalized Low Rank Model for Feature Selection*. Report, University of
    Michigan.

    Udell, M., Horn, C., Zadeh, R. and Boyd, S. (2016). Generalized low rank models. *Foundations
    and Trends in Machine Learning*, 9.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.lowrank import SparseLoadings
    >>> X = scale(load_wine().data)
    >>> model = SparseLoadings(2, n_features_to_select=4, random_state=0).fit(X)
    >>> model.selected_
    array([ 9,  6,  5, 11])
    >>> model.transform(X).shape
    (178, 2)
    """

    _parameter_constraints = {
        "alpha": FINITE | None,
        "solver": StrOptions(*SOLVERS),
        "tol": Number(0.0, above=True),
    }

    def __init__(
        self,
        n_components: int,
        *,
        loss: str = "quadratic",
        alpha: float | None = None,
        n_features_to_select: int | float | None = None,
        centering: str = "none",
        location: str = "mean",
        solver: str = "auto",
        refit: bool = False,
        output: str = "components",
        n_starts: int = 6,
        tol: float = 1e-4,
        max_iter: int = 2000,
        random_state=None,
    ):
        self.n_components = n_components
        self.loss = loss
        self.alpha = alpha
        self.n_features_to_select = n_features_to_select
        self.centering = centering
        self.location = location
        self.solver = solver
        self.refit = refit
        self.output = output
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, table: Table) -> None:
        solver = Solver(
            table, self.n_components, self.loss, method=self.solver, n_starts=self.n_starts,
            tol=self.tol, max_iter=self.max_iter, rng=random_generator(self.random_state),
        )  # fmt: skip
        # The squared loss is measured in squared units, the penalty in units of the loadings.
        loss_unit = table.unit**2 if self.loss == "quadratic" else table.unit
        alpha_unit = loss_unit / table.unit
        found, alpha, size = self._solve(solver, alpha_unit)
        self._warn_of_columns(found.n_active, size)
        self._warn_of_iterations(found)
        order = ranking(row_norms(found.Y), found.pulls)
        chosen = order[: max(1, min(found.n_active, size or found.n_active))]
        if self.refit:
            pulls, found = found.pulls, solver.refit(found, chosen)
            self._warn_of_iterations(found)
            order = ranking(row_norms(found.Y), pulls)
            chosen = order[: len(chosen)]
        self.alpha_ = alpha * alpha_unit
        self.alpha_max_ = solver.top * alpha_unit
        self.ranking_, self.selected_ = order, chosen
        self._keep(table, found, loss_unit)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.solver == "alternate" and self.loss == "robust":
            raise ValueError("solver='alternate' needs loss='quadratic': use solver='admm'.")

    def _solve(self, solver: Solver, alpha_unit: float) -> tuple[Factors, float, int | None]:
        """Factors, their penalty in balanced units, and how many columns to select, if given."""
        n_features = solver.table.shape[1]
        size = None
        if self.alpha is None or self.n_features_to_select is not None:
            size = resolve_size(self.n_features_to_select, n_features)
        if self.alpha is not None:
            alpha = float(self.alpha) / alpha_unit
            return solver.solve(alpha), alpha, size
        assert size is not None  # one of the two is given
        return *fit_exactly(solver, size), size

    def _warn_of_columns(self, n_active: int, size: int | None) -> None:
        trouble = None
        if n_active == 0:
            trouble = (
                "no column has loadings, so one that is close to having some is selected: lower "
                "alpha (see alpha_max), or give data that are not constant"
            )
        elif size is not None and n_active < size:
            trouble = (
                f"only {n_active} of {size} columns have loadings: lower alpha or "
                "n_features_to_select"
            )
        elif n_active < self.n_components:
            trouble = (
                f"{n_active} columns have loadings, which is fewer than the "
                f"{self.n_components} components, so some components are zero: lower "
                "n_components, or select more columns"
            )
        if trouble:
            warn_caller(f"{type(self).__name__}: {trouble}.")

    def _warn_of_iterations(self, found: Factors) -> None:
        if not found.converged:
            warn_caller(
                f"{type(self).__name__} stopped after {len(found.history)} iterations with "
                f"residuals of {found.residuals[-1].max():.1e}: raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _keep(self, table: Table, found: Factors, loss_unit: float) -> None:
        self._store(table, found.Y * table.unit)
        self.embedding_ = found.X
        self.objective_ = found.objective * loss_unit
        with np.errstate(over="ignore"):
            self.objective_history_ = found.history * loss_unit
        self.residual_history_ = found.residuals
        self.n_iter_ = len(found.history)

    # -- use ------------------------------------------------------------------------

    def transform(self, X):
        """Scores of rows, or their selected columns in the original order.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, seen by the fit or not; NaN for missing entries.

        Returns
        -------
        array of shape (n_samples, n_components) or (n_samples, n_selected)
        """
        check_is_fitted(self)
        if self.output == "columns":
            return BaseSelector.transform(self, X)
        return super().transform(X)

    def inverse_transform(self, X):
        """Rows of the model with these scores, or selected columns put back in their places.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components) or (n_samples, n_selected)
            What :meth:`transform` returns.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        if self.output == "columns":
            return BaseSelector.inverse_transform(self, X)
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the selected columns, or ``sparseloadings0`` and so on for scores."""
        check_is_fitted(self)
        names = feature_names(self, input_features)
        if self.output == "columns":
            return names[self._get_support_mask()]
        return np.array([f"sparseloadings{i}" for i in range(len(self.components_))], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.loss == "quadratic" and self.solver != "admm"
        return tags
