"""Multi-label classification on a few features."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from columnist.criteria import Criterion, get_criterion
from columnist.data import in_memory
from columnist.data._parameters import Integer, ParameterChecks
from columnist.data._validation import check_room, read_data, resolve_constraints
from columnist.linalg._passes import columns_of
from columnist.selection._forward import ForwardSelector
from columnist.selection._forward_spectra import LinearPath

_ACCEPTED: dict[str, Any] = {"accept_sparse": "csc", "dtype": [np.float64, np.float32]}
# Sizes to try when none are given.
_MANY = 100
# Scores closer than this share of the largest differ by rounding only: no cut goes between.
_TIED = 1e-12
# Where a threshold of scores that estimate 0 and 1 is expected.
_MIDDLE = 0.5


class _ForwardLabels(ParameterChecks, ClassifierMixin, BaseEstimator):
    """Base class: forward selection, a linear model, and a threshold per label."""

    def _validate(self, X, y) -> tuple[np.ndarray | sp.csc_array, np.ndarray]:
        """Checked data and the 0/1 matrix of the labels, one column per label."""
        self._check_parameters()
        y = in_memory(y)
        _refuse_missing(y)
        X, y = read_data(self, X, y, multi_output=True, **_ACCEPTED)
        y = y.toarray() if sp.issparse(y) else y
        self.multilabel_ = y.ndim == 2 and y.shape[1] > 1
        if self.multilabel_:
            Y = _indicators(y)
            self.classes_ = np.arange(Y.shape[1])
            return X, Y
        y = y.ravel()
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y has one class only, {self.classes_[0]!r}: there is nothing to distinguish."
            )
        positive = np.arange(1 if len(self.classes_) == 2 else 0, len(self.classes_))
        return X, (codes[:, None] == positive).astype(np.float64)

    def _constraints(self) -> tuple[list[int], list[int]]:
        names = getattr(self, "feature_names_in_", None)
        return resolve_constraints(self.include, self.exclude, self.n_features_in_, names)

    def _one_of_many(self) -> bool:
        """Whether exactly one class holds: the largest score decides, not a threshold."""
        return not self.multilabel_ and len(self.classes_) > 2

    @abstractmethod
    def _settings(self, X, Y: np.ndarray) -> dict[str, Any]:
        """Number of features, degree and criterion."""

    def fit(self, X, y):
        """Select features and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            Zeros and ones, one column per label; or a vector of classes.

        Returns
        -------
        self
        """
        X, Y = self._validate(X, y)
        settings = self._settings(X, Y)
        self.selected_ = self._selector(**settings).fit(X, Y).selected_
        chosen, degree = columns_of(X, self.selected_), settings["degree"]
        path = LinearPath(chosen, Y, degree, center=self.fit_intercept)
        self.polynomials_, self.coef_, self.intercept_ = path.model()
        self.thresholds_ = np.zeros(Y.shape[1])
        if not self._one_of_many():
            self.thresholds_ = optimal_thresholds(self._scores(X), Y)
        return self

    def _selector(self, kind=ForwardSelector, **settings) -> ForwardSelector:
        include, exclude = self._constraints()
        centering = "mean" if self.fit_intercept else "none"
        return kind(target="y", centering=centering, include=include, exclude=exclude, **settings)

    def _scores(self, X) -> np.ndarray:
        """Linear scores, one column per label; they estimate 0 and 1."""
        design = columns_of(X, self.selected_)
        if self.polynomials_ is not None:
            design = self.polynomials_.evaluate(design).reshape(len(design), -1)
        return design @ self.coef_.T + self.intercept_

    def decision_function(self, X) -> np.ndarray:
        """Scores minus thresholds: positive for labels that are predicted.

        With more than two classes the class with the largest value is predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
        """
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **_ACCEPTED)
        margins = self._scores(X) - self.thresholds_
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X) -> np.ndarray:
        """Labels of new data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_labels) or (n_samples,)
            Zeros and ones, or classes if the classifier was fitted to a vector.
        """
        margins = self.decision_function(X)
        if self.multilabel_:
            return (margins > 0.0).astype(int)
        codes = margins.argmax(axis=1) if self._one_of_many() else (margins > 0.0).astype(int)
        return self.classes_[codes]

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask of the selected features, or their indices, ascending.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return indices.

        Returns
        -------
        ndarray of bool of shape (n_features,) or of int
        """
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return np.flatnonzero(mask) if indices else mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


class MultiLabelForwardClassifier(_ForwardLabels):
    r"""Forward selection, a linear model, and the best threshold for every label.

    Features are added one at a time, each the one that lowers the error of approximating the
    0/1 label matrix most. Least squares on the selected features (with their powers up to
    ``degree``) scores every label, and the threshold that makes the fewest mistakes on the
    training rows turns each score into 0 or 1.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    degree : int, default=1
        Use a selected feature together with its powers up to this one. Powers need no further
        measurement, which matters if features are expensive.
    criterion : str or Criterion, default="frobenius"
        Error of the residual labels that guides the selection: ``"frobenius"`` (squared),
        ``"spectral"``, ``"nuclear"``, ``"schatten:<p>"``, ``"kyfan:<k>"`` or an object of
        :mod:`columnist.criteria`.
    fit_intercept : bool, default=True
        Whether the linear model has an intercept, in the selection too.
    include, exclude : sequence of int or str, optional
        Features that must, or must not, be selected; indices or names.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected features, in order of selection.
    coef_ : ndarray of shape (n_outputs, n_selected) or (n_outputs, n_selected * degree)
        Weights of the selected features, in the order of ``selected_``; with ``degree`` above
        1 those of ``polynomials_``, feature by feature. There is one output for each label or
        class, and a single one for two classes.
    intercept_ : ndarray of shape (n_outputs,)
        Zero without ``fit_intercept``.
    thresholds_ : ndarray of shape (n_outputs,)
        Scores above are called positive; zero for more than two classes, where the largest
        score decides.
    classes_ : ndarray
        Classes of a vector y; label numbers 0, 1, ... of a matrix.
    multilabel_ : bool
        Whether y was a matrix of labels.
    polynomials_ : Polynomials or None
        Orthonormal polynomials of the selected features; None at degree 1.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    MultiLabelForwardClassifierCV : Chooses size, degree and criterion by cross-validation.
    ForwardSelector : The selection alone.
    columnist.metrics.hamming_loss : Share of wrong labels.

    Notes
    -----
    ``score`` is scikit-learn's for classifiers: the share of samples with *all* labels right.
    The Hamming loss counts every label by itself.

    References
    ----------
    .. [1] K. Xu. Feature engineering for data analytics, chapter 7. Dissertation, The
       University of Texas at Dallas, 2017.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from columnist.metrics import hamming_loss
    >>> from columnist.selection import MultiLabelForwardClassifier
    >>> X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> classifier = MultiLabelForwardClassifier(5).fit(X, Y)
    >>> classifier.predict(X[:2])
    array([[1, 1, 0],
           [0, 1, 0]])
    >>> round(hamming_loss(Y, classifier.predict(X)), 2)
    0.19
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        degree: int = 1,
        criterion: str | Criterion = "frobenius",
        fit_intercept: bool = True,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.degree = degree
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.include = include
        self.exclude = exclude

    def _settings(self, X, Y: np.ndarray) -> dict[str, Any]:
        names = ("n_features_to_select", "degree", "criterion")
        return {name: getattr(self, name) for name in names}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Half of the features, whatever they are worth, promises no accuracy.
        tags.classifier_tags.poor_score = self.n_features_to_select is None
        return tags


class MultiLabelForwardClassifierCV(_ForwardLabels):
    """Multi-label forward selection with size, degree and criterion by cross-validation.

    The smallest mean Hamming loss on the held-out rows wins; ties go to fewer features, then
    to the lower degree. Each fold takes one forward selection per degree and criterion: the models
    of all sizes are obtained from it.

    Parameters
    ----------
    max_features : int, sequence of int or None, default=None
        Try all sizes up to this one, or the sizes of a sequence; up to 100 (or all features)
        if None.
    degrees : sequence of int, default=(1, 2)
        Highest powers to try.
    criteria : sequence of str or Criterion, default=("frobenius",)
        Criteria to try.
    cv : int, splitter or iterable, default=5
        Number of folds, drawn at random (with the class proportions kept if y is a vector), or
        anything that scikit-learn splits by, such as ``RepeatedKFold``.
    fit_intercept : bool, default=True
        Whether the linear model has an intercept.
    include, exclude : sequence of int or str, optional
        Features that must, or must not, be selected; indices or names.
    n_jobs : int, optional
        Processes for the folds; None means 1, -1 all processors.
    random_state : int, RandomState or None, default=None
        Randomness of the folds when ``cv`` is a number.

    Attributes
    ----------
    best_params_ : dict
        The chosen ``n_features_to_select``, ``degree`` and ``criterion``.
    best_score_ : float
        Share of right labels on the held-out rows with them: 1 minus the mean Hamming loss.
    cv_results_ : dict of ndarray
        ``degree``, ``criterion``, ``n_features_to_select``, ``mean_hamming_loss`` and
        ``std_hamming_loss`` (over the folds) of every combination.
    selected_, coef_, intercept_, thresholds_, classes_, multilabel_, polynomials_
        As in :class:`MultiLabelForwardClassifier`, fitted to all rows.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    MultiLabelForwardClassifier : The classifier for one choice.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from columnist.selection import MultiLabelForwardClassifierCV
    >>> X, Y = make_multilabel_classification(n_classes=3, random_state=0)
    >>> classifier = MultiLabelForwardClassifierCV(10, random_state=0).fit(X, Y)
    >>> classifier.best_params_
    {'n_features_to_select': 7, 'degree': 2, 'criterion': 'frobenius'}
    """

    def __init__(
        self,
        max_features: int | Sequence[int] | None = None,
        *,
        degrees: Sequence[int] = (1, 2),
        criteria: Sequence[str | Criterion] = ("frobenius",),
        cv=5,
        fit_intercept: bool = True,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.max_features = max_features
        self.degrees = degrees
        self.criteria = criteria
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.include = include
        self.exclude = exclude
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _settings(self, X, Y: np.ndarray) -> dict[str, Any]:
        """The best of all by cross-validation."""
        sizes, pairs = self._sizes(), self._pairs()
        jobs = [(*pair, *split) for pair in pairs for split in self._splits(X, Y)]
        losses = Parallel(n_jobs=self.n_jobs)(
            delayed(self._fold_losses)(X, Y, sizes, *job) for job in jobs
        )
        self._store_results(pairs, sizes, np.reshape(losses, (len(pairs), -1, len(sizes))))
        return self.best_params_

    def _sizes(self) -> np.ndarray:
        """Sizes to try, ascending."""
        include, exclude = self._constraints()
        most, least = self.n_features_in_ - len(exclude), max(1, len(include))
        given = min(most, max(_MANY, least)) if self.max_features is None else self.max_features
        if isinstance(given, numbers.Integral):
            Integer(1).check("max_features", given)
            given = range(min(least, int(given)), int(given) + 1)
        sizes = list(cast(Iterable[int], given))
        if not sizes:
            raise ValueError("max_features is empty: name at least one size to try.")
        for size in sizes:
            Integer(1).check("max_features", size)
            check_room(size, include, exclude, self.n_features_in_)
        return np.unique(sizes)

    def _pairs(self) -> list[tuple[int, str | Criterion]]:
        """Degrees and criteria to try."""
        criteria = [self.criteria] if isinstance(self.criteria, str) else list(self.criteria)
        pairs = [(degree, criterion) for degree in self.degrees for criterion in criteria]
        if not pairs:
            raise ValueError("degrees and criteria must hold at least one entry each.")
        for degree, criterion in pairs:
            Integer(1).check("degrees", degree)
            get_criterion(criterion)
        return pairs

    def _splits(self, X, Y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        strata = Y if self.multilabel_ else Y @ np.arange(1, Y.shape[1] + 1)
        if isinstance(self.cv, numbers.Integral):
            kind = KFold if self.multilabel_ else StratifiedKFold
            folds = kind(self.cv, shuffle=True, random_state=self.random_state)
        else:
            folds = check_cv(self.cv)
        return list(folds.split(X, strata))

    def _fold_losses(self, X, Y, sizes, degree, criterion, train, test) -> np.ndarray:
        """Hamming loss on the held-out rows for every size, from one forward selection."""
        asked = {"n_features_to_select": int(sizes[-1]), "degree": degree, "criterion": criterion}
        selected = self._selector(_SilentForward, **asked).fit(X[train], Y[train]).selected_
        chosen = columns_of(X, selected)
        path = LinearPath(chosen[train], Y[train], degree, center=self.fit_intercept)
        # Beyond the last feature that adds anything the model stays as it is.
        wanted = np.minimum(sizes, len(selected))
        losses = {
            size: self._loss(fitted, Y[train], held_out, Y[test])
            for size, (fitted, held_out) in enumerate(path.scores(chosen[test]), 1)
            if size in wanted
        }
        return np.array([losses[size] for size in wanted])

    def _loss(self, fitted, Y, held_out, Y_test) -> float:
        if self._one_of_many():
            return float(np.mean(held_out.argmax(axis=1) != Y_test.argmax(axis=1)))
        return float(np.mean((held_out > optimal_thresholds(fitted, Y)) != Y_test))

    def _store_results(self, pairs, sizes, losses: np.ndarray) -> None:
        degrees = np.repeat([degree for degree, _ in pairs], len(sizes))
        criteria = np.repeat(np.array([c for _, c in pairs], dtype=object), len(sizes))
        counts, mean = np.tile(sizes, len(pairs)), losses.mean(axis=1).ravel()
        self.cv_results_ = {
            "degree": degrees,
            "criterion": criteria,
            "n_features_to_select": counts,
            "mean_hamming_loss": mean,
            "std_hamming_loss": losses.std(axis=1).ravel(),
        }
        # Means of the same counts may differ by rounding.
        best = np.lexsort((degrees, counts, np.round(mean, 12)))[0]
        self.best_score_ = 1.0 - float(mean[best])
        self.best_params_ = {
            "n_features_to_select": int(counts[best]),
            "degree": int(degrees[best]),
            "criterion": criteria[best],
        }


class _SilentForward(ForwardSelector):
    """Forward selection without the warning that a fold has less rank than the sizes to try."""

    def _why_short(self, found: int) -> str:
        return ""


def _refuse_missing(y) -> None:
    """Raise if labels are missing, in whatever way a vector or frame says so."""
    values = y.data if sp.issparse(y) else np.asarray(y)
    if values.dtype.kind == "O":
        marks = {"None", "nan", "<NA>", "NaT"}
        missing = any(not isinstance(v, str) and str(v) in marks for v in values.ravel())
        missing &= y is not None
    else:
        missing = values.dtype.kind == "f" and bool(np.isnan(values).any())
    if missing:
        raise ValueError("y has missing labels: remove those rows, or say what they are.")


def _indicators(y: np.ndarray) -> np.ndarray:
    """A matrix of labels as floating point numbers, zeros and ones."""
    try:
        Y = y.astype(np.float64)
    except (TypeError, ValueError):
        Y = None
    if Y is None or not np.isin(Y, (0.0, 1.0)).all():
        raise ValueError(
            "A matrix y must hold zeros and ones, one column per label. Pass classes as a vector, "
            "or turn them into an indicator matrix first."
        )
    return Y


def optimal_thresholds(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Thresholds t such that ``scores > t`` makes the fewest mistakes on each label (column). Among
    equally good cuts between distinct scores the one whose interval of thresholds holds 0.5 wins,
    else the one nearest to it; the threshold is its middle. Where all on one side is best it is 0.5
    if that is beyond all scores, else half of their range beyond the last of them."""
    # One row per label: its scores lie side by side.
    scores = np.ascontiguousarray(scores.T)
    order = np.argsort(scores, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    positive = np.take_along_axis(labels.T > 0, order, axis=1)
    # Mistakes when the c first samples are called negative, c = 0, 1, ..., all.
    start = np.count_nonzero(~positive, axis=1, keepdims=True)
    mistakes = np.hstack([start, start + np.cumsum(np.where(positive, 1, -1), axis=1)])
    rounding = _TIED * np.maximum(-scores[:, :1], scores[:, -1:])
    mistakes[:, 1:-1][scores[:, 1:] - scores[:, :-1] <= rounding] = np.iinfo(np.intp).max
    # Ends of the thresholds below which 0, 1, ..., all of the sorted scores fall.
    end = np.full((len(scores), 1), np.inf)
    low, high = np.hstack([-end, scores]), np.hstack([scores, end])
    beyond = np.maximum(np.maximum(low - _MIDDLE, _MIDDLE - high), 0.0)
    beyond[mistakes > mistakes.min(axis=1, keepdims=True)] = np.inf
    cut = np.arange(len(scores)), beyond.argmin(axis=1)
    return _middle(low[cut], high[cut], scores[:, -1] - scores[:, 0])


def _middle(low: np.ndarray, high: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """A finite number in each interval [low, high), its middle unless an end is infinite."""
    margin = np.where(spread > 0.0, 0.5 * spread, 0.5)
    above = np.where(low < _MIDDLE, _MIDDLE, low + margin)
    below = np.where(high > _MIDDLE, _MIDDLE, high - margin)
    # Only one end can be infinite.
    middle = 0.5 * low + 0.5 * high
    return np.where(np.isinf(high), above, np.where(np.isinf(low), below, middle))
