"""Best subsets for prediction, with a proof: base class of the regressor and the classifier."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from columnist._selector import BaseSelector
from columnist.constraints import Constraint
from columnist.data import open_rows
from columnist.data._parameters import Flag, Integer, Number
from columnist.data._validation import check_room, resolve_constraints, resolve_size
from columnist.search._certificate import tightened
from columnist.search._interrupts import keeps_answer
from columnist.search._log import Progress
from columnist.selection._constrained_sizes import ConstrainedBestSize
from columnist.selection._rules import Rules
from columnist.selection._sizes import (
    RULES,
    BestSize,
    InformationCriterion,
    SizeChoice,
    SubsetPath,
    one_standard_error,
    step_of,
)
from columnist.selection._task import Options, Outcome, Solution, pool_options, warn_if_list_full

# Sizes that cross-validation tries, and those of a criterion where no bound ends them.
_CV_SIZES, _UNBOUNDED_SIZES = 20, 50
# Weights that sum to less cannot be numbers of samples.
_FEWEST = 3


class BestSubset(BaseSelector):
    """A selector that predicts; subclasses define the loss."""

    # Not for users to choose: what the search minimises, and how.
    criterion, search, epsilon = "frobenius", "auto", 0.0
    _loss = "squared"
    _parameter_constraints = {
        "alpha": Number(0.0),
        "fit_intercept": Flag(),
        "max_features": Integer(1) | None,
        "n_solutions": Integer(1),
        "solution_tol": Number(0.0, 1.0, below=True) | None,
    }

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
    ):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_features = max_features
        self.cv = cv
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.n_solutions = n_solutions
        self.solution_tol = solution_tol
        self.time_limit = time_limit
        self.max_nodes = max_nodes
        self.max_memory = max_memory
        self.max_gap = max_gap
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose

    # -- what a loss offers -----------------------------------------------------------

    @abstractmethod
    def _open(self, X, y, sample_weight) -> Any:
        """Checked data."""

    @abstractmethod
    def _sizes(self, data, options: Options, include, exclude, rules: Rules | None) -> Any:
        """The problem for all sizes: a :class:`columnist.selection._sizes.SizeSearch`."""

    @abstractmethod
    def _coefficients(self, data, subset: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (n_selected, n_outputs) of a selection, and the intercepts."""

    @abstractmethod
    def _part(self, data, rows: np.ndarray) -> Any:
        """The same data for some rows."""

    @abstractmethod
    def _held_out(self, data, subset: Sequence[int], rows: np.ndarray, test: np.ndarray) -> float:
        """Mean loss on test rows of a selection that is fitted to others."""

    # -- fitting --------------------------------------------------------------------

    @keeps_answer
    def fit(self, X, y=None, sample_weight=None):
        """Choose columns of X, and fit their coefficients.

        Parameters
        ----------
        X : array-like, sparse matrix or Dask collection of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Target.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts. Information criteria take the sum of the weights for the
            number of samples; in cross-validation the weights are used in training and test.

        Returns
        -------
        self
        """
        self._check_parameters()
        rule = self._rule()
        options = Options.of(
            self, self.time_limit, **pool_options(self.n_solutions, self.solution_tol)
        )
        data = self._open(X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        include, exclude = resolve_constraints(
            self.include, self.exclude, self.n_features_in_, names
        )
        options = replace(
            options,
            names=None if names is None else tuple(map(str, names)),
            workers=data.workers,
            deadline=options.deadline + data.preparation,
            preparation=data.preparation,
        )
        with data.threads():
            rules = self._rules(options.names)
            sizes = self._sizes(data, options, include, exclude, rules)
            if rules is not None:
                self._by_rules(rule, data, sizes, rules)
            elif rule is None:
                size = resolve_size(self.n_features_to_select, self.n_features_in_)
                check_room(size, include, exclude, self.n_features_in_)
                self._store(data, sizes, [self._best(data, sizes, size)], 0)
            else:
                largest = self._largest(rule, data, include, exclude)
                choose = self._by_validation if rule == "cv" else self._by_criterion
                choose(rule, data, sizes, largest)
        return self

    def _rules(self, names) -> Rules | None:
        """The constraints, if there are any."""
        if not self.constraints:
            return None
        return Rules.of(self.constraints, self.n_features_in_, names)

    def _by_rules(self, rule: str | None, data, sizes, rules: Rules) -> None:
        """Fit with constraints."""
        include, exclude, names = sizes.include, sizes.exclude, sizes.options.names
        if rule is None:
            rules = rules.asked(self.n_features_to_select)
            rules.check(include, exclude, names)
            self._store(data, sizes, [self._best(data, sizes, rules.size)], 0)
            return
        if rules.grouped and rule != "cv":
            raise ValueError(
                f"n_features_to_select={rule!r} counts columns, but Groups selects groups: pass a "
                "number of groups, or 'cv'."
            )
        rules.check(include, exclude, names)
        largest = min(self._largest(rule, data, include, exclude), rules.n_units)
        choose = self._by_validation if rule == "cv" else self._by_criterion
        choose(rule, data, sizes, largest)

    def _rule(self) -> str | None:
        """How the size is chosen; None if it is given."""
        size = self.n_features_to_select
        size = self._default_rule() if size is None else size
        if not isinstance(size, str):
            return None
        if size not in RULES:
            listed = ", ".join(map(repr, RULES))
            raise ValueError(
                f"n_features_to_select must be an integer, a fraction, None or one of {listed}; "
                f"got {size!r}."
            )
        return size

    def _default_rule(self) -> str:
        """The rule if no size is asked for."""
        return "bic"

    def _largest(self, rule: str, data, include, exclude) -> int:
        """The largest size that a rule tries."""
        available = self.n_features_in_ - len(exclude)
        if data.rows is not None and data.n_samples < _FEWEST:
            raise ValueError(
                f"sample_weight sums to {data.n_samples:g}, which a rule for the size takes for "
                "the number of samples: rescale the weights, for example to a mean of one."
            )
        room = max(int(data.n_samples) - 2, 1)
        if rule == "cv":
            room = min(_CV_SIZES if self.max_features is None else room, room * 2 // 3)
        elif self.n_features_in_ > room and self.max_features is None:
            room = min(room, _UNBOUNDED_SIZES)
        largest = min(available, room, self.max_features or available)
        if largest < max(1, len(include)):
            raise ValueError(
                f"No size can be chosen from {data.n_samples:g} samples, "
                f"{len(include)} included and {available} available columns: pass "
                "n_features_to_select as a number."
            )
        return largest

    def _by_criterion(self, rule: str, data, sizes, largest: int) -> None:
        criterion = InformationCriterion(
            rule, self._loss, data.n_samples, data.n_targets, self.n_features_in_
        )
        kind = ConstrainedBestSize if self.constraints else BestSize
        found: SizeChoice = kind(sizes, criterion, largest).run()
        scores = [
            {"score": score, "score_bound": bound}
            for score, bound in zip(found.scores, found.bounds, strict=True)
        ]
        self._store(data, sizes, found.outcomes, found.chosen, scores, rule, found.proven)

    def _by_validation(self, rule: str, data, sizes, largest: int) -> None:
        """Paths of the training rows in half of the time, then that of all rows."""
        folds = list(self._splits(data))
        options = sizes.options
        half = options.deadline - 0.5 * max(options.deadline - options.started, 0.0)
        losses = []
        for i, (train, test) in enumerate(folds):
            left = replace(options, callback=None, verbose=False, n_solutions=1, solution_tol=None)
            share = options.started + (half - options.started) * (i + 1) / len(folds)
            left = replace(left, deadline=share if np.isfinite(share) else np.inf)
            part = self._part(data, train)
            rules = getattr(sizes, "rules", None)
            path = self._sizes(part, left, sizes.include, sizes.exclude, rules).up_to(largest)
            losses.append([self._held_out(data, o.solutions[0][1], train, test) for o in path])
        chosen, means, errors = one_standard_error(np.array(losses))
        outcomes = sizes.up_to(largest)
        scores = [
            {"score": float(mean), "score_error": float(error)}
            for mean, error in zip(means, errors, strict=True)
        ]
        self._store(data, sizes, outcomes, chosen, scores, rule)

    def _splits(self, data) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows; folds are of all rows that were given, whatever their weight."""
        labels, rows = self._strata(data), data.rows
        if rows is None:
            folds = check_cv(self.cv, labels, classifier=labels is not None)
            yield from folds.split(np.empty(data.n_samples), labels)
            return
        if labels is not None:
            every = np.zeros(rows.n_given, dtype=labels.dtype)
            every[rows.places] = labels
            labels = every
        at = np.full(rows.n_given, -1)
        at[rows.places] = np.arange(len(rows.places))
        folds = check_cv(self.cv, labels, classifier=labels is not None)
        for parts in folds.split(np.empty(rows.n_given), labels):
            train, test = (at[part][at[part] >= 0] for part in parts)
            if not (len(train) and len(test)):
                raise ValueError("A fold has no row whose weight is not zero: use other folds.")
            yield train, test

    def _strata(self, data) -> np.ndarray | None:
        """Labels of the rows, of which every fold gets its share."""
        return None

    def _best(self, data, sizes, size: int | None) -> Outcome:
        """The best set of a size."""
        return sizes.best(size)

    def _store(
        self,
        data,
        sizes,
        outcomes: list[Outcome],
        chosen: int,
        scores: list[dict[str, float]] | None = None,
        rule: str | None = None,
        proven: bool = False,
    ) -> None:
        models = [self._coefficients(data, outcome.solutions[0][1]) for outcome in outcomes]
        scores = scores or [{} for _ in outcomes]
        steps = [
            step_of(outcome, coef, **score)
            for outcome, (coef, _), score in zip(outcomes, models, scores, strict=True)
        ]
        names = sizes.options.names
        every = tuple(steps) if self.constraints else tightened(steps)
        self.path_ = SubsetPath(every, sizes.total, rule, chosen, proven, names)
        outcome, (coef, intercept) = outcomes[chosen], models[chosen]
        error, subset = outcome.solutions[0]
        self.selected_ = np.array(subset, dtype=np.intp)
        self.solutions_ = [Solution(columns, error) for error, columns in outcome.solutions]
        self.error_ = error
        self._keep_coefficients(coef, intercept)
        certificate = self.path_[chosen].certificate
        self.certificate_ = replace(certificate, elapsed=sizes.options.elapsed)
        warn_if_list_full(outcome, sizes.options)

    def _keep_coefficients(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        every = np.zeros((coef.shape[1], self.n_features_in_))
        every[:, self.selected_] = coef.T
        self.coef_, self.intercept_ = every, intercept

    # -- use ------------------------------------------------------------------------

    def _outputs(self, X, then: Callable = np.asarray, **result: Any):
        """Linear predictions of shape (n_samples, n_outputs), or what ``then`` makes of them; its
        ``width`` and ``dtype`` are those of the results."""
        check_is_fitted(self)
        rows = open_rows(self, X, reset=False, accept_sparse=("csr", "csc"), dtype=np.float64)
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        linear = _Linear(coef[:, self.selected_], intercept, self.selected_, then)
        return rows.map(linear, result.pop("width", len(coef)), **result)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class _Linear:
    """A function of linear scores of a few columns, as an object that can be pickled."""

    def __init__(
        self, coef: np.ndarray, intercept: np.ndarray, columns: np.ndarray, then: Callable
    ):
        self.coef, self.intercept, self.columns, self.then = coef, intercept, columns, then

    def __call__(self, X) -> np.ndarray:
        return self.then(np.asarray(X[:, self.columns] @ self.coef.T) + self.intercept)
