"""Best-subset regression with a proof."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import RegressorMixin

from columnist._warn import warn_caller
from columnist.constraints import Constraint
from columnist.data import Matrices, open_matrices
from columnist.data._open import is_target_given
from columnist.data._target import open_numbers
from columnist.data._weights import rows_as_given, some_rows
from columnist.linalg._passes import columns_of
from columnist.linalg._reduce import Reduced
from columnist.search._interrupts import at_once, raise_pending
from columnist.search._log import Progress
from columnist.selection._constrained_sizes import ConstrainedSizes
from columnist.selection._proven import claim_of, problem_of, recorded
from columnist.selection._rules import Rules
from columnist.selection._subset import BestSubset
from columnist.selection._task import Options, Outcome, Sizes


class SubsetRegressor(RegressorMixin, BestSubset):
    r"""Linear regression on the best k columns, with a proof.

    Chooses the set S of k columns and the coefficients b that minimise

    .. math:: \lVert y - X_Sb \rVert^2 + \alpha \lVert b \rVert^2

    on centred data, over all sets of that size. A branch-and-bound search returns them
    together with a :class:`~columnist.Certificate`: the error, a lower bound on that of every other
    set of k columns, and the gap between the two.

    Parameters
    ----------
    n_features_to_select : int, float, {"aic", "bic", "ebic", "cv"} or None, default=None
        Number of columns; a fraction of them if a float in (0, 1). ``"aic"``, ``"bic"`` and
        ``"ebic"`` choose the size with the least information criterion, proven over all sizes; they
        need ``alpha=0``. ``"cv"`` chooses the smallest size within one standard error of the least
        cross-validated error. None is ``"bic"``, with a ridge ``"cv"``.
    alpha : float, default=0.0
        Ridge penalty. Without one, no useful bound exists for more columns than samples.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_features : int, optional
        Largest size that a rule for the size tries. By default all sizes up to n_samples - 2; 50 of
        them if there are more columns than samples, 20 for ``"cv"``.
    cv : int, cross-validation generator or iterable, default=5
        Folds of ``"cv"``, as in scikit-learn.
    include, exclude : sequence of int or str, optional
        Columns that must, or must not, be selected; indices or names.
    constraints : list of Constraint, optional
        Further constraints, from :mod:`columnist.constraints`. With ``Groups``,
        ``n_features_to_select`` counts groups.
    n_solutions : int, default=1
        Number of best sets of the size to find and prove; with ``solution_tol``, the maximal
        length of the list, where 1 means 1000.
    solution_tol : float, optional
        List every set of the size whose error is at most ``1 + solution_tol`` times the best.
    time_limit : float or None, default=30.0
        Seconds from the call on.
    max_nodes : int, optional
        Nodes to expand at most, for each size.
    max_memory : float, optional
        Bytes for open nodes; half of the free memory by default.
    max_gap : float, default=0.0
        Relative gap at which the search stops.
    n_jobs : int, optional
        Worker threads; None means 1, -1 all processors.
    callback : callable, optional
        Receives a :class:`~columnist.search.Progress`; the search stops if it returns true.
    verbose : bool, default=False
        Print the solver log.
    proof : str or path, optional
        File to which a proof is written that :func:`columnist.verify` checks. If a rule chooses the
        size, it is the proof of the best set of that size, from a second search for as long as the
        time limit; it does not prove the size.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients; zero for columns that are not selected.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept; zero without ``fit_intercept``.
    selected_ : ndarray of int
        Selected columns, ascending.
    solutions_ : list of Solution
        The ``n_solutions`` best sets, or those within ``solution_tol``, best first: tuples of
        columns with an ``error``.
    error_ : float
        The objective of the selection, recomputed from the data.
    certificate_ : Certificate
        The proof for the size of the selection.
    path_ : SubsetPath
        A step for each size that may be best: selection, certificate, coefficients, criterion and
        its lower bound; one step if the size is given. ``path_.proven`` is True if it is proven
        that no other size has a smaller criterion.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.ColumnSelector : Columns that represent the matrix itself.
    columnist.SubsetClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from columnist import SubsetRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = SubsetRegressor(4).fit(X, y)
    >>> print(*model.get_feature_names_out(), model.certificate_.status)
    bmi bp s1 s5 optimal
    >>> SubsetRegressor("bic").fit(X, y).path_.proven
    True
    """

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        alpha: float = 0.0,
        fit_intercept: bool = True,
        max_features: int | None = None,
        cv: Any = 5,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        constraints: Sequence[Constraint] | None = None,
        n_solutions: int = 1,
        solution_tol: float | None = None,
        time_limit: float | None = 30.0,
        max_nodes: int | None = None,
        max_memory: float | None = None,
        max_gap: float = 0.0,
        n_jobs: int | None = None,
        callback: Callable[[Progress], object] | None = None,
        verbose: bool = False,
        proof: str | os.PathLike | None = None,
    ):
        super().__init__(
            n_features_to_select, alpha=alpha, fit_intercept=fit_intercept,
            max_features=max_features, cv=cv, include=include, exclude=exclude,
            constraints=constraints, n_solutions=n_solutions, solution_tol=solution_tol,
            time_limit=time_limit, max_nodes=max_nodes, max_memory=max_memory, max_gap=max_gap,
            n_jobs=n_jobs, callback=callback, verbose=verbose,
        )  # fmt: skip
        self.proof = proof

    def _open(self, X, y, sample_weight) -> Matrices:
        if not is_target_given(X, y):
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rule = self._rule()
        if rule in ("aic", "bic", "ebic") and self.alpha > 0.0:
            raise ValueError(
                f"n_features_to_select={rule!r} compares residual sums of squares, which a ridge "
                "does not minimise: use alpha=0, 'cv', or a number of columns."
            )
        with at_once():
            matrices = open_matrices(
                self, X, y, sample_weight=sample_weight, target=True,
                center=bool(self.fit_intercept), open_y=open_numbers,
                rows=rule == "cv", accept_sparse=("csr", "csc"), dtype=np.float64,
                ensure_min_samples=2,
            )  # fmt: skip
        given = y if hasattr(y, "ndim") else np.asarray(y)
        # Of a target that comes with a stream only the width is known.
        self._vector = matrices.n_targets == 1 if y is None else given.ndim == 1
        return matrices.with_ridge(float(self.alpha))

    def _default_rule(self) -> str:
        return "cv" if self.alpha > 0.0 else "bic"

    def _sizes(
        self, data: Matrices, options: Options, include, exclude, rules: Rules | None
    ) -> Sizes:
        def reduce() -> Reduced:
            raise_pending()  # there is nothing to return yet
            reduced = data.reduce("exact", data.n_features, None)
            raise_pending()
            return reduced

        if rules is not None:
            return ConstrainedSizes(data, reduce, options, include, exclude, rules)
        return Sizes(data, reduce, options, include, exclude)

    def _coefficients(self, data: Matrices, subset: Sequence[int]):
        rows = data.penalized(subset)
        sizes = np.abs(rows.X).max(axis=0, initial=0.0)
        units = np.where(sizes > 0.0, sizes, 1.0)
        coef = scipy.linalg.lstsq(rows.X / units, rows.Y, check_finite=False)[0] / units[:, None]
        intercept = np.zeros(coef.shape[1])
        if data.center:
            assert data.Y is not None
            chosen = columns_of(data.X, list(subset))
            intercept = data.Y.mean(axis=0) - chosen.mean(axis=0) @ coef
        coef, intercept = coef * (data.y_scale / data.x_scale), intercept * data.y_scale
        if data.removed is not None:
            x_means, y_means = data.removed
            intercept += y_means - x_means[list(subset)] @ coef
        return coef, intercept

    def _part(self, data: Matrices, rows: np.ndarray) -> Matrices:
        return some_rows(data, rows).with_ridge(float(self.alpha))

    def _held_out(self, data: Matrices, subset, rows: np.ndarray, test: np.ndarray) -> float:
        coef, intercept = self._coefficients(self._part(data, rows), subset)
        X, Y, weights = rows_as_given(data, test)
        losses = np.square(Y - (columns_of(X, list(subset)) @ coef + intercept)).mean(axis=1)
        return float(np.average(losses, weights=weights))

    def _best(
        self, data: Matrices, sizes: Sizes, size: int | None, start: Sequence = ()
    ) -> Outcome:
        """The best set of a size, with the proof if there is to be one."""
        with recorded(self.proof, data, "exact", sizes.options, self.constraints) as recorder:
            if recorder is None:
                return sizes.best(size, start=start)
            options = replace(sizes.options, recorder=recorder)
            sizes = replace(sizes, options=options)
            outcome = sizes.best(size, start=start)
            rules = sizes.rules.sized(size) if isinstance(sizes, ConstrainedSizes) else None
            problem = problem_of(
                data, options, outcome, sizes.include, sizes.exclude, rules, float(self.alpha)
            )
            recorder.finish(problem, claim_of(outcome, options))
        return outcome

    def _store(self, data, sizes, outcomes, chosen, *more) -> None:
        super()._store(data, sizes, outcomes, chosen, *more)
        if self.proof is not None and self._rule() is not None:
            limit = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
            again = replace(sizes, options=replace(sizes.options, deadline=limit, cutoff=np.inf))
            size = len(self.selected_)
            if isinstance(sizes, ConstrainedSizes):
                size = sizes.rules.count(self.selected_)
            self._best(data, again, size, [self.selected_.tolist()])
        few = self.n_features_in_ >= data.n_samples - data.center
        if few and not self.alpha and not self.certificate_.is_optimal:
            warn_caller(
                f"{self.n_features_in_} columns fit {data.n_samples} samples exactly, so that no "
                "useful lower bound exists without a ridge: the choice is the best that was "
                "found. Pass alpha > 0 for a proof."
            )

    def _keep_coefficients(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        super()._keep_coefficients(coef, intercept)
        if self._vector:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def predict(self, X):
        """Predicted targets.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if self._vector else outputs

    def score(self, X, y, sample_weight=None) -> float:
        """R², the explained share of the variance; the mean of several targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        float
        """
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
