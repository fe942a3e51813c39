"""Accuracy of a classifier on selected columns, over many sizes and splits."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.stats
import sklearn.metrics
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from columnist.data._parameters import Integer
from columnist.data._validation import resolve_columns

# Differences that vary by less than this share of their size are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class AccuracyBySize:
    """Accuracies of a classifier on selections of several sizes."""

    sizes: np.ndarray
    """Numbers of columns, of shape (n_sizes,)."""
    accuracies: np.ndarray
    """Share of right predictions on the held-out part of each split (n_splits, n_sizes)."""

    @property
    def aggregated(self) -> float:
        """Mean over sizes and splits."""
        return float(self.accuracies.mean())

    @property
    def by_size(self) -> np.ndarray:
        """Mean over the splits, for every size."""
        return self.accuracies.mean(axis=0)

    @property
    def by_split(self) -> np.ndarray:
        """Mean over the sizes, for every split: what :func:`paired_t_test` compares."""
        return self.accuracies.mean(axis=1)


def aggregated_accuracy(
    selector, X, y, *, sizes: Sequence[int] | None = None, classifier=None, cv=20, random_state=None
) -> AccuracyBySize:
    """Accuracy with the best 10, 20, ..., 200 columns, over random halves of the samples.

    In every split the columns are selected and a classifier is trained on one part, and its
    predictions are judged on the other. Two selectors are compared on the same splits if
    ``random_state`` is the same number.

    Parameters
    ----------
    selector : estimator or sequence
        A selector with the parameter ``n_features_to_select``, fitted again in every split: once,
        for the largest size, if it has a ``ranking_``, and for every size if not. Or a fixed
        ranking: columns, best first.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    y : array-like of shape (n_samples,)
        Class labels.
    sizes : sequence of int, optional
        Numbers of columns; by default 10, 20, ..., 200 as far as X (or the ranking) has as many,
        and 1, 2, ... if it has fewer than 10.
    classifier : estimator, optional
        By default a linear support vector machine on standardised columns.
    cv : int, splitter or iterable, default=20
        Number of random stratified splits into halves, or a scikit-learn splitter, or pairs of
        training and test indices.
    random_state : int, RandomState instance or None, default=None
        Randomness of the splits.

    Returns
    -------
    AccuracyBySize

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.metrics import aggregated_accuracy, paired_t_test
    >>> X, y = load_wine(return_X_y=True)
    >>> good, bad = [6, 12, 11, 0, 10, 9], [2, 4, 7, 1, 3, 8]
    >>> options = {"sizes": [2, 4, 6], "random_state": 0}
    >>> good = aggregated_accuracy(good, X, y, **options)
    >>> bad = aggregated_accuracy(bad, X, y, **options)
    >>> good.accuracies.shape, good.aggregated > bad.aggregated
    ((20, 3), True)
    >>> paired_t_test(good.by_split, bad.by_split) < 1e-6
    True
    """
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    y = column_or_1d(y)
    check_consistent_length(X, y)
    ranking = None
    if not hasattr(selector, "fit"):
        ranking = np.array(resolve_columns("selector", selector, X.shape[1], names), dtype=int)
    steps = _resolve_sizes(sizes, X.shape[1] if ranking is None else len(ranking))
    if classifier is None:
        scaler = StandardScaler(with_mean=not sp.issparse(X))
        classifier = make_pipeline(scaler, SVC(kernel="linear"))
    accuracies = []
    for train, test in _splits(cv, X, y, random_state):
        learn, judge = X[train], X[test]
        row = []
        for chosen in _selections(selector, ranking, learn, y[train], steps):
            model = clone(classifier).fit(learn[:, chosen], y[train])
            row.append(np.mean(model.predict(judge[:, chosen]) == y[test]))
        accuracies.append(row)
    return AccuracyBySize(steps, np.array(accuracies))


def paired_t_test(a, b) -> float:
    """p-value of the hypothesis that two series of paired figures have the same mean.

    Student's two-sided t-test of the differences.

    Parameters
    ----------
    a, b : array-like of shape (n_pairs,)
        Figures of the same cases, in the same order: at least two.

    Returns
    -------
    float
        Small if the difference is significant; 1 if all differences are zero, and 0 if all are
        equal and not zero.

    Examples
    --------
    >>> from columnist.metrics import paired_t_test
    >>> round(paired_t_test([0.9, 0.8, 0.85, 0.9], [0.7, 0.75, 0.6, 0.8]), 4)
    0.0462
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8])
    1.0
    """
    a, b = (np.asarray(column_or_1d(v), dtype=np.float64) for v in (a, b))
    check_consistent_length(a, b)
    if len(a) < 2:
        raise ValueError(f"A paired t-test needs at least two pairs; got {len(a)}.")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("The figures of a paired t-test must be finite.")
    differences = a - b
    size = max(np.abs(a).max(), np.abs(b).max())
    if np.ptp(differences) <= _EQUAL * size:
        return 1.0 if np.abs(differences).max() <= _EQUAL * size else 0.0
    return float(scipy.stats.ttest_rel(a, b).pvalue)


def _resolve_sizes(sizes, available: int) -> np.ndarray:
    if sizes is None:
        step = 10 if available >= 10 else 1
        sizes = range(step, min(available, 200) + 1, step)
    sizes = np.array(list(sizes))
    if not len(sizes):
        raise ValueError("sizes must hold at least one number of columns.")
    for size in sizes:
        Integer(1).check("sizes", size)
    if sizes.max() > available:
        raise ValueError(f"sizes asks for {sizes.max()} columns, but there are only {available}.")
    return sizes


def _splits(cv, X, y, random_state) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if isinstance(cv, numbers.Integral):
        Integer(1).check("cv", cv)
        cv = StratifiedShuffleSplit(n_splits=cv, test_size=0.5, random_state=random_state)
    return check_cv(cv, y, classifier=True).split(X, y)


def _selections(selector, ranking, X, y, sizes) -> Iterator[np.ndarray]:
    """Columns of every size, selected on training data."""
    if ranking is not None:
        yield from (ranking[:size] for size in sizes)
        return
    largest = _fitted(selector, sizes.max(), X, y)
    order = getattr(largest, "ranking_", None)
    # Elsewhere the name may mean something else, such as the place of every feature.
    if order is not None and not np.array_equal(np.sort(order), np.arange(X.shape[1])):
        order = None
    for size in sizes:
        if order is not None:
            yield order[:size]
        elif size == sizes.max():
            yield largest.get_support(indices=True)
        else:
            yield _fitted(selector, size, X, y).get_support(indices=True)


def _fitted(selector, size: int, X, y):
    return clone(selector).set_params(n_features_to_select=int(size)).fit(X, y)


def hamming_loss(y_true, y_pred) -> float:
    """Share of labels that are predicted wrongly, over samples *and* labels.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Zeros and ones, one column per label; for vectors of classes this is the share of wrong
        ones.

    Returns
    -------
    float
        Between 0 (all right) and 1.

    See Also
    --------
    sklearn.metrics.hamming_loss : The same, with sample weights.

    Examples
    --------
    >>> from columnist.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 1], [0, 0, 1]], [[1, 1, 1], [0, 0, 0]])
    0.3333333333333333
    """
    y_true, y_pred = (y if sp.issparse(y) else np.asarray(y) for y in (y_true, y_pred))
    return float(sklearn.metrics.hamming_loss(y_true, y_pred))
