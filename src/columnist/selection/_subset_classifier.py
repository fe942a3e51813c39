"""Best-subset logistic regression with a proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from columnist.constraints import Constraint
from columnist.data._blocks import open_blocks
from columnist.data._target import resolve_classes
from columnist.data._validation import read_data
from columnist.data._weights import present_rows
from columnist.linalg._passes import columns_of, merge_repeats
from columnist.search._interrupts import at_once
from columnist.search._log import Progress
from columnist.selection._constrained import ConstrainedClasses
from columnist.selection._constrained_sizes import SizesWithRules
from columnist.selection._log_loss import log_losses
from columnist.selection._logistic import (
    ClassData,
    LogisticColumns,
    LogisticData,
    LogisticForm,
    check_lengths,
)
from columnist.selection._rules import Rules
from columnist.selection._subset import BestSubset
from columnist.selection._task import Options, Outcome, Sizes

# What a row of a class costs that no row of the training part has: its probability is rounding.
_UNSEEN = float(-np.log(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class LogisticSizes(Sizes):
    """The problem for all sizes under the log-loss: searched by relaxation, never reduced."""

    matrices: ClassData  # type: ignore[assignment]

    @cached_property
    def _wide(self) -> LogisticData:  # type: ignore[override]
        columns = np.sort(np.concatenate([self.include, self._allowed])).astype(np.intp)
        return LogisticData(LogisticForm(self.matrices.take_columns(columns)), columns)

    def _searched(self, size: int, options: Options, interval) -> LogisticColumns:
        return self._wide.problem(size, self.include, interval, options.deadline)

    def _outcome(self, *args: Any) -> Outcome:
        outcome = super()._outcome(*args)
        return replace(outcome, certificate=replace(outcome.certificate, criterion="log_loss"))


@dataclass(frozen=True)
class ConstrainedLogisticSizes(SizesWithRules, LogisticSizes):
    """The same with constraints."""

    rules: Rules

    def _searched(  # type: ignore[override]
        self, size: int | None, options: Options, interval
    ) -> ConstrainedClasses:
        rules, include = self.rules.sized(size), np.array(sorted(self.include), dtype=np.int32)
        most = len(include)
        if len(self._allowed):
            most += rules.node(include, self._allowed).most_columns
        return ConstrainedClasses(super()._searched(most, options, interval), rules)


class SubsetClassifier(ClassifierMixin, BestSubset):
    r"""Logistic regression on the best k columns, with a proof.

    Chooses the set S of k columns and the coefficients b that minimise

    .. math:: \sum_i \mathrm{loss}(y_i, x_{i,S}b + b_0) + \alpha \lVert b \rVert^2

    over all sets of that size: the log-loss of two classes, or of the softmax of several, each with
    coefficients of its own. A branch-and-bound search returns them together with a
    :class:`~columnist.Certificate`: the objective, a lower bound on that of every other set of k
    columns, and the gap between the two. For a given set the model is that of
    ``LogisticRegression(C=1 / (2 * alpha))``; as there, columns should be scaled, since the penalty
    treats all coefficients alike.

    Parameters
    ----------
    n_features_to_select : int, float, {"aic", "bic", "ebic", "cv"} or None, default=None
        Number of columns; a fraction of them if a float in (0, 1). ``"aic"``, ``"bic"`` (also
        None) and ``"ebic"`` choose the size with the least information criterion, twice the
        objective and a price for each free coefficient. It is the penalised objective that counts,
        so that the choice is proven over all sizes. ``"cv"`` chooses the smallest size within one
        standard error of the least cross-validated log-loss.
    alpha : float, default=1.0
        Ridge penalty, more than 0. The larger it is, the easier the proof.
    fit_intercept : bool, default=True
        Whether to fit intercepts. They are not penalised.
    max_features : int, optional
        Largest size that a rule for the size tries. By default all sizes up to n_samples - 2; 50 of
        them if there are more columns than samples, 20 for ``"cv"``.
    cv : int, cross-validation generator or iterable, default=5
        Folds of ``"cv"``, as in scikit-learn; stratified if a number.
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

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients, one row for two classes; zero for columns that are not selected.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; zero without ``fit_intercept``.
    selected_ : ndarray of int
        Selected columns, ascending.
    solutions_ : list of Solution
        The ``n_solutions`` best sets, or those within ``solution_tol``, best first: tuples of
        columns with an ``error``.
    error_ : float
        The objective of the selection.
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
    columnist.SubsetRegressor : The same for numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from columnist import SubsetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = SubsetClassifier(3).fit(X, y)
    >>> print(model.selected_, model.certificate_.status, round(model.score(X, y), 2))
    [20 21 27] optimal 0.97
    """

    _loss = "log"

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        alpha: float = 1.0,
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
    ):
        super().__init__(
            n_features_to_select, alpha=alpha, fit_intercept=fit_intercept,
            max_features=max_features, cv=cv, include=include, exclude=exclude,
            constraints=constraints, n_solutions=n_solutions, solution_tol=solution_tol,
            time_limit=time_limit,
            max_nodes=max_nodes, max_memory=max_memory, max_gap=max_gap, n_jobs=n_jobs,
            callback=callback, verbose=verbose,
        )  # fmt: skip

    def _open(self, X, y, sample_weight) -> ClassData:
        if self.alpha <= 0.0:
            raise ValueError(
                f"{type(self).__name__} needs alpha > 0 for a proof: without a penalty no bound "
                f"exists; got alpha={self.alpha!r}."
            )
        with at_once():
            X = read_data(
                self, X, accept_sparse=("csr", "csc"), dtype=np.float64, ensure_min_samples=2
            )
            blocks = open_blocks(y)
            y = y if blocks is None else blocks.gather()
            if y is not None:
                assert_all_finite(y, input_name="y")
            rows = None
            if sample_weight is not None:
                if y is not None:
                    check_consistent_length(X, y)
                rows = present_rows(X, y, sample_weight)
                X, y = rows.X, rows.Y
            self.classes_, codes = resolve_classes(y, X.shape[0], type(self).__name__)
        X, center = merge_repeats(X), bool(self.fit_intercept)
        weights = None if rows is None else rows.weights
        data = ClassData(X, codes, center, float(self.alpha), weights, rows)
        check_lengths(data)
        return data

    def _sizes(
        self, data: ClassData, options: Options, include, exclude, rules: Rules | None
    ) -> LogisticSizes:
        if rules is not None:
            return ConstrainedLogisticSizes(data, None, options, include, exclude, rules)
        return LogisticSizes(data, None, options, include, exclude)

    def _coefficients(self, data: ClassData, subset: Sequence[int]):
        return data.coefficients(subset)

    def _part(self, data: ClassData, rows: np.ndarray) -> ClassData:
        return data.take_rows(rows)

    def _held_out(self, data: ClassData, subset, rows: np.ndarray, test: np.ndarray) -> float:
        part = data.take_columns(np.asarray(subset)).take_rows(rows)
        coef, intercept = part.coefficients(range(len(subset)))
        eta = columns_of(data.X[test], list(subset)) @ coef + intercept
        present, codes = np.unique(data.Y[rows]), data.Y[test]
        seen = np.isin(codes, present)
        losses = np.full(len(test), _UNSEEN)
        losses[seen] = log_losses(eta[seen], np.searchsorted(present, codes[seen]))
        return float(np.average(losses, weights=data.weights_of(test)))

    def _strata(self, data: ClassData) -> np.ndarray:
        return data.Y

    # -- use ------------------------------------------------------------------------

    def decision_function(self, X):
        """Linear scores: positive for the second of two classes, largest for one of several.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._outputs(X, _probabilities, width=len(self.classes_))

    def predict(self, X):
        """Predicted classes.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._outputs(X, _Labels(self.classes_), width=None, dtype=self.classes_.dtype)


def _probabilities(outputs: np.ndarray) -> np.ndarray:
    if outputs.shape[1] == 1:
        return expit(np.hstack([-outputs, outputs]))
    return softmax(outputs, axis=1)


class _Labels:
    """Function from scores to classes, as an object that can be pickled."""

    def __init__(self, classes: np.ndarray):
        self.classes = classes

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        one = outputs.shape[1] == 1
        return self.classes[(outputs[:, 0] > 0.0).astype(int) if one else outputs.argmax(axis=1)]
