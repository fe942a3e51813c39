"""The Hilbert-Schmidt independence criterion: features whose kernel agrees with another."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from columnist.data._parameters import Number, StrOptions
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import columns_of
from columnist.linalg._ties import first_largest
from columnist.spectral._base import ScoreSelector, SequentialSelector, chosen_first, forward
from columnist.spectral._scatter import weighted_sums, without_rounding
from columnist.spectral._similarity import hsic_similarity, resolve_similarity
from columnist.spectral._symmetric import SymmetricMatrix


class HSIC(SequentialSelector):
    r"""Keep the features whose kernel depends most on the classes, or on a kernel of all.

    The Hilbert-Schmidt independence criterion of a kernel :math:`K_F` of the features F and a
    target kernel K, both without their diagonals, estimated without bias from n samples:

    .. math:: \frac{1}{n(n-3)} \left[\mathrm{tr}(K_F K)
        + \frac{1^T K_F 1\; 1^T K 1}{(n-1)(n-2)} - \frac{2}{n-2} 1^T K_F K 1\right]

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    direction : {"forward", "backward"}, default="forward"
        Add the feature that helps most, or remove the one that is missed least, one by one.
        With the linear kernel both give the same.
    kernel : {"linear", "rbf"}, default="linear"
        Kernel of the features. ``"linear"`` is a sum over features, which are scored once;
        ``"rbf"`` is the Gaussian kernel of a set, which sees features that matter together.
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
        matter; ``"none"`` takes the features as they are: large ones count for more.
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
        Their names, if X has any.

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
