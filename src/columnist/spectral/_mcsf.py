"""MCSF: features whose outer products add up to a similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from columnist._warn import warn_caller
from columnist.data._parameters import Flag, StrOptions
from columnist.data._target import is_classes
from columnist.linalg._ties import first_largest
from columnist.spectral._base import ScoreSelector, chosen_first
from columnist.spectral._features import Features, ProductsAhead
from columnist.spectral._forms import CommonForm
from columnist.spectral._similarity import resolve_similarity
from columnist.spectral._symmetric import DenseMatrix, SymmetricMatrix

# A trace below this share of the diagonal's size is rounding.
_NO_TRACE = 1e-12


class MCSF(ScoreSelector):
    r"""Select features one by one that jointly approximate a similarity.

    Each step takes the feature that lowers

    .. math:: \|S - \sum_{j \in A} f_j f_j^T\|_F

    most (matrix comparison spectral feature selection). With the residual
    :math:`R = S - \sum f_j f_j^T` a feature of unit length scores :math:`f^TRf`: it should agree
    with the similarity and not repeat features chosen before.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features; a fraction of them if a float in (0, 1); half if None.
    similarity : str, callable, array-like, sparse matrix or CommonForm, default="auto"
        Similarity of the samples, as in :class:`SpectralSelector`; ``"auto"`` is ``"fisher"`` if
        ``fit`` gets class labels and ``"rbf"`` otherwise. What :func:`common_form` returns
        brings features of its own.
    form : {"incremental", "residual"}, default="incremental"
        How to compute the same scores: by :math:`f_j^TRf_j - (f_j^Tf)^2` after f was chosen, one
        pass over X for a few steps, or from the n x n residual itself, for comparison.
    balance : bool, default=True
        Whether to scale the similarity such that its trace, without means where features have
        none, is that of as many mean features as are to be selected. The book takes it as it
        is; then the similarity of c classes is used up after c - 1 features, and the search goes
        on to look for uncorrelated ones. A similarity without a positive trace is not scaled.
    early_stop : bool, default=False
        Whether to stop before a feature that would not lower the norm, and so return fewer
        than asked for. Features of unit length then need :math:`f^TRf > 1/2`.
    n_neighbors : int, default=5
        Neighbours of ``"knn"`` and ``"relief"``.
    width : float or "auto", default="auto"
        Width of the Gaussian of ``"knn"`` and ``"rbf"``.
    scaling : {"unit", "none"}, default="unit"
        Centre features and bring them to unit length, or take them as they are.
    n_jobs : int, optional
        Threads of the search for neighbours.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected features in order of selection.
    ranking_ : ndarray of shape (n_features,)
        All features: the selected ones, then the others by their score, undefined ones last.
    raw_scores_ : ndarray of shape (n_features,)
        :math:`f^TRf` when a feature was selected, and at the end for the others. NaN for a
        constant feature.
    scores_ : ndarray of shape (n_features,)
        By how much a feature lowers the squared norm, :math:`2f^TRf - \|f\|^4`, at the same time.
    factor_ : float
        What the similarity was multiplied by.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.spectral.MRSF : All chosen features explain the similarity together.

    Notes
    -----
    Scores only fall, so they agree with the order of selection. If the similarity is large compared
    with the features, many similar ones are selected, otherwise few: its scale matters, and with
    ``balance`` it depends on the number of features, so that smaller selections need not be part of
    larger ones.

    Of a Dask collection one pass takes the inner products of all features, and the similarity
    another one; ``form="residual"`` gathers the data.

    References
    ----------
    Zhao, Z. and Liu, H. (2012). *Spectral Feature Selection for Data Mining*. CRC Press.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.spectral import MCSF
    >>> X, y = load_wine(return_X_y=True)
    >>> MCSF(3).fit(X, y).selected_
    array([6, 0, 9])
    """

    # The pass that prepares features looks at all entries.
    _looks: ClassVar[bool] = False

    _parameter_constraints = {
        "form": StrOptions("incremental", "residual"),
        "balance": Flag(),
        "early_stop": Flag(),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        similarity="auto",
        form: str = "incremental",
        balance: bool = True,
        early_stop: bool = False,
        n_neighbors: int = 5,
        width: float | str = "auto",
        scaling: str = "unit",
        n_jobs: int | None = None,
    ):
        self.form = form
        self.balance = balance
        self.early_stop = early_stop
        self.scaling = scaling
        self._set_shared(n_features_to_select, similarity, n_neighbors, width, n_jobs)

    def _raw_scores(self, X, y, size: int) -> np.ndarray:
        F, S = self._problem(X, y)
        squares = F.few.squared_lengths()
        self.factor_ = _balance(S, F, squares, size) if self.balance else 1.0
        if self.form == "incremental":
            ahead, raw = ProductsAhead(F.few), self.factor_ * F.forms(S)
            self.scores_, chosen = self._search(raw, lambda *f: ahead.of(*f) ** 2, squares, size)
        else:
            residual = _Residual(F, self.factor_ * S.toarray())
            raw = residual.now.copy()
            self.scores_, chosen = self._search(raw, residual.take, squares, size)
        self.ranking_ = chosen_first(chosen, self.scores_)
        self.selected_ = self.ranking_[: max(1, len(chosen))]
        return raw

    def _search(self, raw, take: Callable, squares, size: int) -> tuple[np.ndarray, list[int]]:
        """Gain of every feature when it was chosen or at the end, as ``raw`` becomes; the choice.
        ``take(feature, likely)`` is what a chosen feature takes from the scores f'Rf; ``likely`` is
        large for those that may be next."""
        left, gains = squares > 0.0, 2.0 * raw - squares**2
        chosen: list[int] = []
        raw[~left] = gains[~left] = np.nan
        while len(chosen) < size and left.any():
            feature, best = first_largest(gains, left)
            if self.early_stop and chosen and best <= 0.0:
                break
            chosen.append(feature)
            left[feature] = False
            fall = take(feature, np.where(left, gains, -np.inf))
            raw[left] -= fall[left]
            gains[left] -= 2.0 * fall[left]
        return gains, chosen

    @property
    def _on_blocks(self) -> bool:
        return self.form == "incremental"

    def _requires_y(self) -> bool:
        return self._learns_from_classes()

    def _problem(self, X, y) -> tuple[Features, SymmetricMatrix]:
        """Features and the similarity they should rebuild."""
        similarity = self.similarity
        if isinstance(similarity, CommonForm):
            return Features.given(similarity.features, X.shape), similarity.similarity
        if isinstance(similarity, str) and similarity == "auto":
            similarity = "fisher" if y is not None and is_classes(y) else "rbf"
        F = Features.of(X, self.scaling)
        self._scale = F.scale
        return F, resolve_similarity(similarity, F.X, y, **self._similarity_options())

    def _keep(self, raw: np.ndarray, size: int) -> None:
        self.raw_scores_ = raw
        varying = np.count_nonzero(~np.isnan(raw))
        if varying < size and not self.early_stop:
            warn_caller(
                f"MCSF selected {len(self.selected_)} of {size} features: only {varying} are "
                "not constant. Ask for fewer."
            )


class _Residual:
    """f'Rf of all features from the residual R itself, an n x n matrix."""

    def __init__(self, F: Features, R: np.ndarray):
        self.F, self.R = F, R
        self.now = F.forms(DenseMatrix(R))

    def take(self, feature: int, likely: np.ndarray) -> np.ndarray:
        """What a chosen feature takes from the scores."""
        f, before = self.F.few.take(feature), self.now
        self.R -= np.outer(f, f)
        self.now = self.F.forms(DenseMatrix(self.R))
        return before - self.now


def _balance(S: SymmetricMatrix, F: Features, squares: np.ndarray, size: int) -> float:
    """Factor that gives S the trace of ``size`` mean features; 1 if S has no positive trace."""
    trace = float(S.diagonal().sum())
    if F.means is not None:
        trace -= float(S.sums().sum()) / S.n
    used = squares[squares > 0.0]
    if trace <= _NO_TRACE * np.abs(S.diagonal()).sum() or not len(used):
        return 1.0
    return size * float(used.mean()) / trace
