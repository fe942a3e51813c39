"""Greedy forward selection."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from columnist.constraints import Constraint
from columnist.criteria import Criterion, is_frobenius
from columnist.data import Matrices
from columnist.data._parameters import Integer, Number
from columnist.data._validation import resolve_size
from columnist.linalg._passes import columns_of
from columnist.selection._base import FastSelector
from columnist.selection._forward_spectra import BlockForward, SpectrumForward
from columnist.selection._forward_states import GramForward, TargetForward, WideForward

# Widest matrix whose Gram matrix is formed: 1.2 GB, or less if it has fewer rows anyway.
_GRAM_SIDE, _GRAM_SIDE_WIDE = 12_000, 5_000


class ForwardSelector(FastSelector):
    r"""Add the column that reduces the error most, one at a time.

    Starting without columns, every step selects the column i that minimises

    .. math:: \Theta\left(T - X_{S \cup i} A\right), \quad A \text{ optimal},

    where the target T is X itself or y. Under the Frobenius criterion a step costs one pass
    over a Gram matrix (target X), one product with X (target y), or three sparse passes (wide
    X); other criteria update the residual spectrum by rank-one downdates and leave most
    candidates after a few eigenvalues.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None; ``"auto"``
        for as many as ``tol`` needs.
    criterion : str or Criterion, default="frobenius"
        Error of the residual: ``"frobenius"`` (squared), ``"spectral"``, ``"nuclear"``,
        ``"schatten:<p>"``, ``"kyfan:<k>"`` or an object of :mod:`columnist.criteria`.
    target : {"auto", "X", "y"}, default="auto"
        Target of the approximation; ``"auto"`` means y if ``fit`` gets one.
    degree : int, default=1
        Select a feature together with its powers up to this degree: the gain of a feature is that
        of all its powers.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` adds an intercept.
    include, exclude : sequence of int or str, optional
        Columns that must, or must not, be selected; indices or names. Included columns come
        first, in the given order.
    constraints : list of Constraint, optional
        Further constraints, from :mod:`columnist.constraints`: each step adds the feasible column,
        or group with the columns that it requires, with the largest gain.
    tol : float, optional
        Stop as soon as the relative error is at most this.
    verbose : bool, default=False
        Print one line per step.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, in order of selection: the first j are the selection of size j.
    errors_ : ndarray of shape (n_selected,)
        Error after 1, 2, ... columns, recomputed from the data.
    error_ : float
        Error of the selection, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the criterion of the target itself.
    stopped_ : {"size", "tol", "rank"}
        Why the selection ended: the requested number of columns, the requested error, or no other
        column lowers the error.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.ColumnSelector : The best selection, with a proof.
    columnist.selection.ExchangeSelector : Improves a selection by exchanging columns.

    References
    ----------
    .. [1] K. Xu. Feature engineering for data analytics, chapters 7 and 8. Dissertation, The
       University of Texas at Dallas, 2017.
    .. [2] C. Maung, H. Schweitzer. Improved greedy algorithms for sparse approximation of a
       matrix in terms of another matrix. IEEE TKDE 27(3), 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import ForwardSelector
    >>> X = scale(load_wine().data)
    >>> selector = ForwardSelector(3).fit(X)
    >>> selector.selected_
    array([6, 9, 3])
    >>> selector.first(2).selected_
    array([6, 9])
    """

    _parameter_constraints = {"tol": Number(0.0, 1.0) | None}

    def __init__(
        self,
        n_features_to_select: int | float | str | None = None,
        *,
        criterion: str | Criterion = "frobenius",
        target: str = "auto",
        degree: int = 1,
        centering: str = "none",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        constraints: Sequence[Constraint] | None = None,
        tol: float | None = None,
        verbose: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.target = target
        self.degree = degree
        self.centering = centering
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.tol = tol
        self.verbose = verbose

    def first(self, n_features: int) -> ForwardSelector:
        """The selector after fewer columns, without new computations.

        Parameters
        ----------
        n_features : int
            Number of columns, at most ``len(selected_)``.

        Returns
        -------
        ForwardSelector
            A fitted copy.
        """
        check_is_fitted(self)
        Integer(1).check("n_features", n_features)
        if n_features > len(self.selected_):
            raise ValueError(
                f"n_features is {n_features}, but only {len(self.selected_)} columns were selected."
            )
        shorter = copy.copy(self)
        shorter.n_features_to_select = int(n_features)
        shorter.selected_ = self.selected_[:n_features].copy()
        shorter.errors_ = self.errors_[:n_features].copy()
        shorter._keep_error(float(self.errors_[n_features - 1]), self._total)
        return shorter

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.tol is None and self.n_features_to_select == "auto":
            raise ValueError("n_features_to_select='auto' needs tol, the relative error to reach.")
        if self.constraints and (self.tol is not None or self.degree > 1):
            raise ValueError("constraints do not go with tol or degree > 1: leave these out.")

    def _needs_rows(self) -> bool:
        return self.degree > 1  # powers have inner products of their own

    @property
    def _on_passes(self) -> bool:
        return is_frobenius(self._criterion()) and not self.constraints

    def _size(self, n_features: int) -> int | None:
        if self.constraints:
            return None
        if self.n_features_to_select == "auto":
            self._fixed = self._constraints(n_features, None)
            return n_features - len(self._fixed[1])
        size = resolve_size(self.n_features_to_select, n_features)
        self._fixed = self._constraints(n_features, size)
        return size

    _path: list[float]

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        if self.constraints:
            return self._select_obeying(matrices)
        include, exclude = self._fixed
        allowed = np.ones(matrices.n_features, dtype=bool)
        allowed[[*include, *exclude]] = False
        state = _state(matrices, size, self._criterion(), self.degree)
        self._say("Step", "Column", f"{'Error':>12}", f"{'Relative':>9}")
        return self._grow(state, size, include, allowed)

    def _select_obeying(self, matrices: Matrices) -> np.ndarray:
        """The same with constraints."""
        feasible, include, candidates = self._feasible(matrices)
        selected = np.array(feasible.ordered(include, candidates), dtype=np.intp)
        problem, self.stopped_ = feasible.problem, "size"
        self._path = [problem.estimate(selected[: i + 1]) for i in range(len(selected))]
        return selected

    def _grow(self, state, size, include, allowed) -> np.ndarray:
        """Add columns until the size, the tolerance, or a gain of nothing is reached."""
        total = state.error()
        chosen: list[int] = []
        names = getattr(self, "feature_names_in_", range(len(allowed)))
        self._path = []

        def add(column: int) -> None:
            state.add(column)
            allowed[column] = False
            chosen.append(column)
            error = state.error()
            self._path.append(error)
            share = error / total if total > 0.0 else 0.0
            self._say(len(chosen), names[column], f"{error:12.6g}", f"{share:9.3%}")

        for column in include:
            add(column)
        self.stopped_ = "size"
        while len(chosen) < size:
            if self.tol is not None and chosen and state.error() <= self.tol * total:
                self.stopped_ = "tol"
                break
            column, gain = state.best(allowed)
            if chosen and gain == 0.0:
                self.stopped_ = "rank"
                break
            add(column)
        return np.array(chosen, dtype=np.intp)

    def _store(self, matrices: Matrices, selected: np.ndarray) -> None:
        criterion = self._criterion()
        self.selected_ = selected
        if self.degree == 1 and is_frobenius(criterion):
            self._total, *errors = matrices.errors_along(selected)
            self.errors_ = np.array(errors)
        else:
            self._total = matrices.error([], criterion)
            self.errors_ = np.array(self._path)
            if self.degree == 1:
                self.errors_[-1] = matrices.error(selected, criterion)
        self._keep_error(float(self.errors_[-1]), float(self._total))
        self.__dict__.pop("_fixed", None)
        del self._path

    def _say(self, step: object, column: object, error: str, share: str) -> None:
        if self.verbose:
            print(f"{step!s:>6} {column!s:>20} {error} {share}", flush=True)

    def _why_short(self, found: int) -> str:
        return super()._why_short(found) if self.stopped_ == "rank" else ""


def _state(matrices: Matrices, size: int, criterion: Criterion, degree: int):
    """The cheapest way to take a step."""
    X, Y, center = matrices.X, matrices.Y, matrices.center
    m, n = X.shape
    if degree > 1:
        target = columns_of(X, slice(None)) if Y is None else Y
        return BlockForward(X, target, degree, criterion, center=center, scale=matrices.unit)
    if not is_frobenius(criterion):
        return SpectrumForward(matrices.reduce("exact", size, None), size, criterion)
    if Y is not None:
        return TargetForward(X, Y, size, center=center)
    if matrices.is_here and n <= (_GRAM_SIDE if n <= m else _GRAM_SIDE_WIDE):
        return GramForward(X, size, center=center)
    return WideForward(X, size, center=center)
