"""Selectors that add or drop one feature at a time: MRMR, HSIC, and support vector machines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import squareform
from scipy.special import xlogy
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from columnist.data._parameters import Number, StrOptions
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import columns_of, cross
from columnist.linalg._ties import evened, first_largest, levels
from columnist.spectral._base import ScoreSelector, SequentialSelector, chosen_first, forward
from columnist.spectral._scatter import (
    class_scatter,
    column_scatter,
    weighted_sums,
    without_rounding,
)
from columnist.spectral._similarity import hsic_similarity, resolve_similarity
from columnist.spectral._symmetric import SymmetricMatrix

# Redundancy below this counts as this in a quotient, which would be infinite without.
_LEAST_REDUNDANCY = 1e-3
# In place of the infinite F statistic of a feature that does not vary within classes.
_LARGE = 1e300
# A feature whose scale is below this share of the largest has left.
_GONE = 1e-6
# Scales that change by less than this share have settled.
_SETTLED = 1e-3
# Steps of a machine's solver at most: on data that are hard to separate it may not end.
_STEPS = 100_000


class MRMR(SequentialSelector):
    r"""Add features one by one, with large relevance and small redundancy.

    A baseline. With the relevance :math:`r_j` of a feature for the classes and the redundancy
    :math:`c_{ij}` of two features, the next feature after the set F maximises

    .. math:: r_j - \frac{1}{|F|} \sum_{i \in F} c_{ij}
        \quad\text{or}\quad r_j \Big/ \frac{1}{|F|} \sum_{i \in F} c_{ij}.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    scheme : {"quotient", "difference"}, default="quotient"
        How relevance and redundancy are combined. A difference needs both on the same scale,
        which F statistics and correlations are not; values of mutual information are.
    measure : {"correlation", "mutual_information"}, default="correlation"
        ``"correlation"``: F statistics for relevance and absolute correlations for redundancy
        (the schemes FCQ and FCD of [1]_). ``"mutual_information"`` for both (MIQ and MID), of
        features cut into three states.
    cut : float, default=0.5
        Values more than this many standard deviations above or below the mean are the upper
        and lower state, for the mutual information; 0.5 in [1]_, 1 in [2]_.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Number of features ranked behind; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        Relevance minus (or over) redundancy when the feature was added, the relevance for the
        first; for the features that were not, what it was at the last step.
    relevance_ : ndarray of shape (n_features,)
        F statistic, or mutual information with the class.
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, in the order of selection.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    Notes
    -----
    Every step takes one pass over the data. A quotient counts redundancy below 0.001 as 0.001.
    A sparse X is not made dense; the mutual information needs a dense one.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene
       expression data", Journal of Bioinformatics and Computational Biology 3(2), 2005.
    .. [2] H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria
       of max-dependency, max-relevance, and min-redundancy", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 27(8), 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import FisherScore, MRMR
    >>> X, y = load_wine(return_X_y=True)
    >>> FisherScore(3).fit(X, y).selected_
    array([ 6, 12, 11])
    >>> MRMR(3).fit(X, y).selected_
    array([ 6,  9, 12])
    """

    _needs_classes: ClassVar[bool] = True

    _parameter_constraints = {
        "scheme": StrOptions("quotient", "difference"),
        "measure": StrOptions("correlation", "mutual_information"),
        "cut": Number(0.0, above=True),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        scheme: str = "quotient",
        measure: str = "correlation",
        cut: float = 0.5,
    ):
        self.n_features_to_select = n_features_to_select
        self.scheme = scheme
        self.measure = measure
        self.cut = cut

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        scatter = class_scatter(X, y)
        constant = scatter.total == 0.0
        if constant.all():
            raise ValueError("All features are constant: none is relevant.")
        if self.measure == "correlation":
            self.relevance_ = _f_statistics(scatter, len(y), len(self.classes_))
            redundancy = _correlations(X, scatter.total)
        else:
            states = _States(X, self.cut * np.sqrt(scatter.total / len(y)))
            self.relevance_ = states.information(_indicator(y))
            redundancy = states.information_with
        self.relevance_[constant] = np.nan
        relevance, total = np.minimum(self.relevance_, _LARGE), np.zeros(len(constant))

        def evaluate(order: list[int], left: np.ndarray) -> np.ndarray:
            nonlocal total
            if not order:
                return relevance[left]
            total = total + redundancy(order[-1])
            mean = (total / len(order))[left]
            if self.scheme == "difference":
                return relevance[left] - mean
            return relevance[left] / np.maximum(mean, _LEAST_REDUNDANCY)

        self.ranking_, raw = forward(evaluate, ~np.isnan(relevance), size)
        return raw

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.measure == "correlation"
        return tags


class _States:
    """Features cut into three states by a threshold above and below their means."""

    def __init__(self, X: np.ndarray, threshold: np.ndarray):
        away = X - X.mean(axis=0, dtype=np.float64)
        self.low = (away < -threshold).astype(np.float32)
        self.high = (away > threshold).astype(np.float32)

    def information(self, members: np.ndarray) -> np.ndarray:
        """Mutual information, in nats, of every feature and a partition given by indicators."""
        n = len(members)
        low, high = members.T @ self.low, members.T @ self.high
        sizes = members.sum(axis=0, dtype=np.float64)[:, None]
        joint = np.stack([low, sizes - low - high, high]).astype(np.float64)
        entropies = (
            xlogy(joint, joint).sum(axis=(0, 1))
            - xlogy(joint.sum(axis=1), joint.sum(axis=1)).sum(axis=0)
            - xlogy(sizes, sizes).sum()
        )
        return np.maximum(entropies / n + np.log(n), 0.0)

    def information_with(self, feature: int) -> np.ndarray:
        """Mutual information of every feature and one of them."""
        return self.information(_indicator(self.high[:, feature] - self.low[:, feature]))


def _indicator(codes: np.ndarray) -> np.ndarray:
    return (codes[:, None] == np.unique(codes)).astype(np.float32)


def _f_statistics(scatter, n: int, n_classes: int) -> np.ndarray:
    if n == n_classes:
        raise ValueError("Every class in y has one sample: MRMR needs variation within classes.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return scatter.between / scatter.within * ((n - n_classes) / (n_classes - 1))


def _correlations(X, scatter: np.ndarray) -> Callable[[int], np.ndarray]:
    """Function from a feature to its absolute correlations with all."""
    lengths = np.sqrt(np.where(scatter > 0.0, scatter, 1.0))

    def with_feature(j: int) -> np.ndarray:
        column = columns_of(X, [j])[:, 0]
        column = column - column.mean()
        return np.minimum(np.abs(cross(X, column)) / (lengths * lengths[j]), 1.0)

    return with_feature


class ZeroNormSVM(SequentialSelector):
    r"""Train a linear SVM repeatedly, shrinking the features with small weights.

    A baseline, known as AROM-SVM. Every feature has a scale, at first one over its standard
    deviation. A machine is trained on the scaled features, each scale is multiplied by the
    feature's weight :math:`|w_j|`, and so on until no more features than asked for have a
    scale left. That minimises :math:`\sum_j \log(\epsilon + |w_j|)`, which approximates the
    number of weights that are not zero [1]_.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    C : float, default=1.0
        Cost of samples on the wrong side of the margin, for standardised features.
    max_iter : int, default=50
        Rounds of training at most; fewer if enough features have left, or the scales settle.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Number of features ranked behind; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        Last scale of the feature times its standard deviation, as a share of the largest then.
    ranking_ : ndarray of shape (n_features,)
        Features, best first: those that stayed longest, and of these the largest scales.
    selected_ : ndarray of int
        Selected features, best first.
    n_iter_ : int
        Rounds of training.
    classes_ : ndarray
        Classes in y.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    sklearn.feature_selection.RFE : Removes features by the weights of any linear model.

    Notes
    -----
    With more than two classes there is one machine for each class against the rest, and the
    weight of a feature is the length of its vector of weights, so that all machines use the
    same features. After every round all scales are multiplied by one number, which keeps the
    mean squared length of the samples and so the meaning of ``C``.

    The machine is :class:`sklearn.svm.SVC` with the kernel of the scaled features, so a round
    takes one product of the data with itself: made for many features and up to some thousand
    samples.

    References
    ----------
    .. [1] J. Weston, A. Elisseeff, B. Schölkopf, M. Tipping, "Use of the zero-norm with linear
       models and kernel methods", Journal of Machine Learning Research 3, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import ZeroNormSVM
    >>> X, y = load_wine(return_X_y=True)
    >>> ZeroNormSVM(3).fit(X, y).selected_
    array([ 6, 12,  0])
    """

    _needs_classes: ClassVar[bool] = True

    _parameter_constraints = {"C": Number(0.0, above=True)}

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        C: float = 1.0,
        max_iter: int = 50,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.max_iter = max_iter

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        if not sp.issparse(X):
            # A machine stops when it is good enough; the last digits, which depend on how an array
            # is laid out, decide when that is.
            X = np.ascontiguousarray(X)
        n = X.shape[0]
        check_memory(24.0 * n**2, f"The kernel of {n} samples", "Use fewer samples.")
        spread = np.sqrt(column_scatter(X) / n)
        active = np.flatnonzero(spread)
        if not len(active):
            raise ValueError("All features are constant: no support vector machine can be trained.")
        # Shares are scales times standard deviations: free of the units of the features.
        shares, rounds = np.full((2, X.shape[1]), np.nan)
        shares[active], data = 1.0, _scaled(X, active, 1.0 / spread[active])
        self.n_iter_, settled = 0, False
        while self.n_iter_ < self.max_iter and not settled:
            now = shares[active] * np.sqrt(X.shape[1] / np.square(shares[active]).sum())
            weights = _machine_weights(data, now, y, self.C)
            self.n_iter_ += 1
            shares[active] = now * weights / max((now * weights).max(), np.finfo(float).tiny)
            rounds[active] = self.n_iter_
            stay = shares[active] > _GONE
            change = np.abs(shares[active] * now.max() / now - 1.0)[stay]
            settled = stay.sum() <= size or (stay.all() and change.max() <= _SETTLED)
            active, data = active[stay], data[:, np.flatnonzero(stay)]
        rounds[active] = self.n_iter_ + 1
        self.ranking_ = np.lexsort((levels(shares), -rounds))
        return shares


def _scaled(X, columns: np.ndarray, scales: np.ndarray):
    """Some columns, scaled, and without their means if dense: the machines do not see means."""
    if sp.issparse(X):
        return X[:, columns].astype(np.float64) @ sp.diags_array(scales)
    part = columns_of(X, columns)
    return (part - part.mean(axis=0)) * scales


def _machine_weights(data, scales: np.ndarray, codes: np.ndarray, C: float) -> np.ndarray:
    """Length of every feature's vector of weights, one for each class against the rest."""
    scaled = data @ sp.diags_array(scales) if sp.issparse(data) else data * scales
    kernel = scaled @ scaled.T
    kernel = kernel.toarray() if sp.issparse(kernel) else kernel
    n_classes = codes.max() + 1
    squares = np.zeros(len(scales))
    for k in range(n_classes if n_classes > 2 else 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a rough weight is good enough
            machine = SVC(C=C, kernel="precomputed", max_iter=_STEPS).fit(kernel, codes == k)
        duals = np.zeros(len(codes))
        duals[machine.support_] = machine.dual_coef_[0]
        squares += np.square(cross(data, duals))
    # Every round squares the scales: copies would drift apart by rounding that doubles.
    lengths = np.sqrt(squares)
    return scales * evened(lengths, unit=lengths.max())


class HSIC(SequentialSelector):
    r"""Select the features with the largest dependence on the classes or on a kernel.

    The Hilbert-Schmidt independence criterion of a kernel :math:`K_F` of the features F and a
    target kernel K, both without their diagonals, estimated without bias from n samples:

    .. math:: \frac{1}{n(n-3)} \left[\mathrm{tr}(K_F K)
        + \frac{1^T K_F 1\; 1^T K 1}{(n-1)(n-2)} - \frac{2}{n-2} 1^T K_F K 1\right]

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    direction : {"forward", "backward"}, default="forward"
        Add the most useful feature, or remove the least useful one, one by one.
        With the linear kernel both give the same.
    kernel : {"linear", "rbf"}, default="linear"
        Kernel of the features. ``"linear"`` is a sum over features, which are scored once;
        ``"rbf"`` is the Gaussian kernel of a set, which takes joint relevance into account.
    kernel_width : float, default=1.0
        Width of the Gaussian in units of the spread of as many features (the root of their
        mean variance times their number).
    similarity : str, callable, array-like or sparse matrix, default="auto"
        Target kernel: a name, a function from X to a matrix of samples, or that matrix.
        ``"auto"`` is ``"label"`` (1 within a class, 0 between) if ``fit`` gets y, and ``"rbf"``
        (of all features) if not; ``"fisher"`` counts every class alike, whatever its size.
    n_neighbors : int, default=5
        Neighbours of a sample, for ``similarity="knn"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``similarity="knn"`` and ``"rbf"``.
    scaling : {"unit", "none"}, default="unit"
        ``"unit"`` divides every feature by its length without the mean, so that units do not
        matter; ``"none"`` takes the features as they are: large ones have more influence.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better: ``raw_scores_`` for the linear kernel, the number of features ranked
        behind otherwise; NaN (and last) for a constant feature.
    raw_scores_ : ndarray of shape (n_features,)
        The criterion: of the feature alone for the linear kernel; otherwise of the set of all
        features up to it (for one that was not selected by a forward search: instead of the
        last selected).
    ranking_ : ndarray of shape (n_features,)
        Features, best first.
    selected_ : ndarray of int
        Selected features, best first.
    criterion_ : float
        The criterion of the selected set.
    classes_ : ndarray
        Classes in y, if the target kernel is made of them.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    Notes
    -----
    The linear kernel needs one pass over the data, and no n x n matrix for classes. The
    Gaussian kernel takes time proportional to the square of the number of samples for every
    feature that is tried: k times all features forward, half the square of their number
    backward.

    References
    ----------
    .. [1] L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt, "Feature selection via
       dependence maximization", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral import HSIC
    >>> X = np.random.default_rng(0).standard_normal((80, 5))
    >>> y = X[:, 1] * X[:, 3] > 0
    >>> HSIC(2).fit(X, y).selected_
    array([1, 2])
    >>> HSIC(2, kernel="rbf").fit(X, y).selected_
    array([1, 3])
    """

    _min_samples = 4

    _parameter_constraints = {
        "direction": StrOptions("forward", "backward"),
        "kernel": StrOptions("linear", "rbf"),
        "kernel_width": Number(0.0, above=True),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        direction: str = "forward",
        kernel: str = "linear",
        kernel_width: float = 1.0,
        similarity="auto",
        n_neighbors: int = 5,
        width: float | str = "auto",
        scaling: str = "unit",
        n_jobs: int | None = None,
    ):
        self.direction = direction
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.scaling = scaling
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        S = hsic_similarity(self._target_kernel(X, y))
        sums = weighted_sums(X, np.ones(X.shape[0]))
        scatter = without_rounding(sums.within, sums.lengths)
        varying = scatter > 0.0
        if not varying.any():
            raise ValueError("All features are constant: none depends on anything.")
        squares = np.where(varying & (self.scaling == "unit"), scatter, 1.0)
        if self.kernel == "linear":
            # Means do not count, and without them less cancels.
            raw = np.where(varying, S.forms(X, sums.center()) / squares, np.nan)
            return raw
        check_memory(
            64.0 * S.n**2,
            f"kernel='rbf' with {S.n} samples",
            "Use kernel='linear', or fewer samples.",
        )
        variance = (scatter / squares)[varying].mean() / (S.n - 1)
        widths = self.kernel_width * np.sqrt(squares * variance)
        kernels = _GaussianKernels(X, widths, squareform(S.toarray(), checks=False))
        if self.direction == "forward":
            self.ranking_, raw = forward(kernels.with_one_more, varying, size)
        else:
            self.ranking_, raw = _backward(kernels, np.flatnonzero(varying))
        return raw

    def _target_kernel(self, X, y) -> SymmetricMatrix:
        name = self.similarity
        if isinstance(name, str) and name == "auto":
            name = "rbf" if y is None else "label"
        if isinstance(name, str) and name in {"label", "fisher"}:
            y = self._classes(y, X.shape[0])
        return resolve_similarity(name, X, y, **self._similarity_options())

    def _keep(self, raw: np.ndarray, size: int) -> None:
        if self.kernel == "rbf":
            super()._keep(raw, size)
            self.criterion_ = float(raw[self.selected_[~np.isnan(raw[self.selected_])][-1]])
            return
        ScoreSelector._keep(self, raw, size)
        if self.scaling == "none":
            self._undo_scale()
        self.criterion_ = float(np.nansum(self.raw_scores_[self.selected_]))


class _GaussianKernels:
    """The criterion of sets of features with a Gaussian kernel, from all pairs of samples. The
    kernel of a set is a function of the sum of its features' squared distances; its width grows
    with the size of the set. ``target`` holds the weights of the pairs."""

    def __init__(self, X, widths: np.ndarray, target: np.ndarray):
        self.X, self.widths, self.target = X, widths, target
        self._first, self._second = np.triu_indices(X.shape[0], 1)
        self._added: Any = 0.0

    def distances(self, feature: int) -> np.ndarray:
        """Squared distances of all pairs of samples in one feature."""
        column = columns_of(self.X, [feature])[:, 0] / self.widths[feature]
        return np.square(column.take(self._first) - column.take(self._second))

    def criterion(self, distances: np.ndarray, size: int) -> float:
        """HSIC of a set from its distances; these are overwritten."""
        distances *= -0.5 / size
        return 2.0 * float(self.target @ np.exp(distances, out=distances))

    def with_one_more(self, order: list[int], left: np.ndarray) -> np.ndarray:
        """HSIC of the features in order with each one that is left; one was added since."""
        if order:
            self._added = self._added + self.distances(order[-1])
        size = len(order) + 1
        return np.array([self.criterion(self._added + self.distances(j), size) for j in left])


def _backward(kernels: _GaussianKernels, features) -> tuple[np.ndarray, np.ndarray]:
    """Features in the reverse order of their removal, others last; the criterion up to each."""
    left, removed = list(features), []
    values = np.full(kernels.X.shape[1], np.nan)
    distances = reduce(add, (kernels.distances(j) for j in left))
    now = kernels.criterion(distances.copy(), len(left))
    while len(left) > 1:
        without = np.array(
            [kernels.criterion(distances - kernels.distances(j), len(left) - 1) for j in left]
        )
        # The last of near ties goes, so that the first stays.
        back, _ = first_largest(without[::-1], np.ones(len(left), dtype=bool))
        at = len(left) - 1 - back
        worst = left.pop(at)
        distances -= kernels.distances(worst)
        values[worst], now = now, without[at]
        removed.append(worst)
    values[left[0]] = now
    return chosen_first([*left, *removed[::-1]], values), values
