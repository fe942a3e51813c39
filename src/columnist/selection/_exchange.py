"""Selection improved by exchanging columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from columnist.constraints import Constraint
from columnist.criteria import Criterion, is_frobenius
from columnist.data import Matrices
from columnist.data._parameters import Integer, Other, StrOptions
from columnist.data._validation import resolve_columns
from columnist.linalg._reduce import Reduced
from columnist.linalg._ties import TIE
from columnist.search._incumbent import exchange, greedy
from columnist.selection._base import FastSelector
from columnist.selection._columns import column_problem
from columnist.selection._feasible import Feasible
from columnist.selection._swaps import add_columns, exchange_columns


class ExchangeSelector(FastSelector):
    r"""Exchange one column at a time until no exchange reduces the error.

    Starting from any selection S, every step replaces a selected column l by another column i such
    that the error

    .. math:: \Theta\left(T - X_{S \setminus l \cup i} A\right), \quad A \text{ optimal},

    falls, where the target T is X itself or y. The result is never worse than its start, and no
    single exchange of columns improves it. Under the Frobenius criterion one table holds what every
    exchange would gain; the best one is made, and the table is updated at the cost of two products
    with a vector. Other criteria go through the chosen columns in turn.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    start : {"forward", "random"}, sequence of int or str, or selector, default="forward"
        The first selection: greedy forward selection, a random one, indices or names of
        columns, or a selector. A selector that is not fitted is fitted on a copy, which is
        asked for as many columns if it has a parameter ``n_features_to_select``. Excluded
        columns are dropped from the start and included ones put first; a start with too few
        columns is completed by forward selection.
    n_starts : int, default=1
        Number of starts: the first is ``start``, the others are random. The best result is
        kept, the earliest among equals.
    criterion : str or Criterion, default="frobenius"
        Error of the residual: ``"frobenius"`` (squared), ``"spectral"``, ``"nuclear"``,
        ``"schatten:<p>"``, ``"kyfan:<k>"`` or an object of :mod:`columnist.criteria`.
    target : {"auto", "X", "y"}, default="auto"
        Target of the approximation; ``"auto"`` means y if ``fit`` gets one.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` adds an intercept.
    include, exclude : sequence of int or str, optional
        Columns that must, or must not, be selected; indices or names.
    constraints : list of Constraint, optional
        Further constraints, from :mod:`columnist.constraints`. An exchange then removes a column,
        or a group, and fills up with the best columns that fit.
    max_swaps : int, optional
        Exchanges at most, for each start.
    random_state : int, RandomState or None, default=None
        Randomness of the random starts.
    verbose : bool, default=False
        Print one line per start.

    Attributes
    ----------
    selected_ : ndarray of int
        Selected columns, ascending.
    error_ : float
        Error of the selection, recomputed from the data.
    relative_error_ : float
        ``error_`` divided by the criterion of the target itself.
    errors_ : ndarray of shape (n_swaps + 1,)
        Error of the start that led to the selection, then after every exchange.
    n_swaps_ : int
        Exchanges between that start and the selection.
    starts_ : list of ndarray of int
        All starts, ascending.
    start_errors_ : ndarray of shape (n_starts,)
        Their errors, recomputed from the data; none is below ``error_``.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.ColumnSelector : The best selection, with a proof.
    columnist.selection.ForwardSelector : Adds one column at a time.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import ExchangeSelector
    >>> X = scale(load_breast_cancer().data)
    >>> selector = ExchangeSelector(5).fit(X)
    >>> selector.selected_
    array([10, 15, 21, 22, 24])
    >>> selector.n_swaps_
    2
    """

    _parameter_constraints = {
        "start": StrOptions("forward", "random") | Other("columns or a selector"),
        "max_swaps": Integer(0) | None,
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        start="forward",
        n_starts: int = 1,
        criterion: str | Criterion = "frobenius",
        target: str = "auto",
        centering: str = "none",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        constraints: Sequence[Constraint] | None = None,
        max_swaps: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.n_features_to_select = n_features_to_select
        self.start = start
        self.n_starts = n_starts
        self.criterion = criterion
        self.target = target
        self.centering = centering
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.max_swaps = max_swaps
        self.random_state = random_state
        self.verbose = verbose

    def _matrices(self, X, y, **how) -> Matrices:
        matrices = super()._matrices(X, y, **how)
        n = matrices.n_features
        size = self._size(n)
        self._fixed = self._constraints(n, size)
        self._given = self._given_start(X, y, size or n, n, how.get("sample_weight"))
        return matrices

    def _given_start(
        self, X, y, size: int, n_features: int, sample_weight=None
    ) -> list[int] | None:
        """Columns to start from; None for random ones."""
        if isinstance(self.start, str):
            return None if self.start == "random" else []
        columns = self.start
        if hasattr(columns, "fit"):
            columns = _selected_by(columns, X, y, size, n_features, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        columns = resolve_columns("start", columns, n_features, names)
        if len(columns) > size:
            raise ValueError(
                f"start holds {len(columns)} columns, but {size} are to be selected: "
                "raise n_features_to_select or start from fewer."
            )
        return columns

    def _size(self, n_features: int) -> int | None:
        return None if self.constraints else super()._size(n_features)

    def _moves(self, matrices: Matrices, size: int) -> _Moves | _ObeyingMoves:
        """How selections are completed and improved."""
        if self.constraints:
            return _ObeyingMoves(*self._feasible(matrices))
        if matrices.X.dtype == np.float32:
            matrices = replace(matrices, X=matrices.X.astype(np.float64))
        reduced = matrices.reduce("exact", size, None)
        criterion = self._criterion()
        kind = _Moves if is_frobenius(criterion) else _TurnMoves
        return kind(reduced, size, criterion, *self._fixed)

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        moves = self._moves(matrices, size)
        most = np.inf if self.max_swaps is None else self.max_swaps
        self.starts_, best = [], None
        rng = check_random_state(self.random_state)
        for number in range(self.n_starts):
            given = None if number else self._given
            start = moves.random(rng) if given is None else moves.complete(given)
            columns, errors = moves.exchange(start, most)
            self.starts_.append(np.sort(np.array(start, dtype=np.intp)))
            if best is None or errors[-1] < best[1][-1] * (1 - TIE):
                best = columns, errors
            self._say(errors)
        assert best is not None  # there is a start
        self.errors_ = np.array(best[1])
        return np.sort(best[0])

    def _store(self, matrices: Matrices, selected: np.ndarray) -> None:
        super()._store(matrices, selected)
        criterion = self._criterion()
        self.start_errors_ = np.array([matrices.error(s, criterion) for s in self.starts_])
        if self.start_errors_.min() < self.error_:  # improved by rounding alone
            at = int(self.start_errors_.argmin())
            super()._store(matrices, self.starts_[at])
            self.errors_ = self.start_errors_[[at]]
        self.n_swaps_ = len(self.errors_) - 1
        del self._fixed, self._given

    def _say(self, errors: list[float]) -> None:
        if self.verbose:
            if len(self.starts_) == 1:
                print(f"{'Start':>6} {'Error':>12} {'Exchanges':>10} {'Error':>12}", flush=True)
            number, swaps = len(self.starts_), len(errors) - 1
            print(f"{number:6d} {errors[0]:12.6g} {swaps:10d} {errors[-1]:12.6g}", flush=True)


def _selected_by(selector, X, y, size: int, n_features: int, sample_weight) -> np.ndarray:
    """What a selector selects, in its order if it has one; a copy is fitted if it is not."""
    try:
        check_is_fitted(selector)
    except NotFittedError:
        selector = clone(selector)
        if "n_features_to_select" in selector.get_params():
            selector.set_params(n_features_to_select=size)
        weighed = {} if sample_weight is None else {"sample_weight": sample_weight}
        selector.fit(X, y, **weighed)
    fitted_on = getattr(selector, "n_features_in_", n_features)
    if fitted_on != n_features:
        raise ValueError(
            f"start was fitted on {fitted_on} columns, but X has {n_features}: "
            "pass a selector that is not fitted."
        )
    if hasattr(selector, "selected_"):
        return selector.selected_
    if hasattr(selector, "get_support"):
        return selector.get_support(indices=True)
    raise ValueError(f"start must select columns; {type(selector).__name__} has no get_support.")


class _Moves:
    """How selections are completed and improved under the squared Frobenius norm."""

    def __init__(self, reduced: Reduced, size: int, criterion: Criterion, include, exclude):
        self.reduced, self.criterion, self.include = reduced, criterion, include
        self.candidates = np.setdiff1d(np.arange(reduced.n_items), [*include, *exclude])
        self.asked, useful = size, self._most_useful()
        self.size = max(min(size, useful), len(include), 1)

    def _most_useful(self) -> int:
        """More columns than this, the included ones counted, explain nothing more."""
        usable = [*self.include, *self.candidates]
        everything = len(usable) == self.reduced.n_items
        rank = self.reduced.rank if everything else self._rank(usable)
        return rank + len(self.include) - self._rank(self.include)

    def _rank(self, which: Sequence[int]) -> int:
        columns = self.reduced.columns[which]
        return int(np.linalg.matrix_rank(columns)) if columns.size else 0

    def random(self, rng: np.random.RandomState) -> list[int]:
        """A random selection."""
        count = self.size - len(self.include)
        return [*self.include, *rng.choice(self.candidates, count, replace=False).tolist()]

    def complete(self, given: Sequence[int]) -> list[int]:
        """Included columns, those given that are allowed, and what forward selection adds."""
        allowed = set(self.candidates.tolist())
        chosen = [*self.include, *(i for i in given if i in allowed)][: self.asked]
        return self._grow(chosen) or [int(self.candidates[0])]

    def _grow(self, chosen: list[int]) -> list[int]:
        """The columns and, up to ``size``, those that forward selection adds."""
        columns, weights = self.reduced.columns, self.reduced.weights
        return add_columns(columns, weights, chosen, self.candidates, self.size)

    def exchange(self, start: list[int], max_swaps: float) -> tuple[list[int], list[float]]:
        """A selection that no exchange improves, and the errors from the start on."""
        chosen, errors = exchange_columns(
            self.reduced.columns, self.reduced.weights, start,
            fixed=self.include, candidates=self.candidates, max_swaps=max_swaps,
        )  # fmt: skip
        return chosen, [self.reduced.scale**2 * error for error in errors]


class _TurnMoves(_Moves):
    """The same for any criterion: the chosen columns are exchanged in turn."""

    def _problem(self, size: int):
        return column_problem(self.reduced, size, criterion=self.criterion)

    def _grow(self, chosen: list[int]) -> list[int]:
        left = np.setdiff1d(self.candidates, chosen)
        return greedy(self._problem(self.size), chosen, left)

    def exchange(self, start: list[int], max_swaps: float) -> tuple[list[int], list[float]]:
        problem = self._problem(len(start))
        errors: list[float] = []

        def value(subset: Sequence[int]) -> float:
            error = problem.value(subset)
            if not errors or error < errors[-1]:
                errors.append(error)
            return error

        def completion_errors(chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
            if len(errors) > max_swaps:  # after enough of them it sees no improvement
                return np.full(len(candidates), np.inf)
            return problem.completion_errors(chosen, candidates)

        counted: Any = SimpleNamespace(value=value, completion_errors=completion_errors)
        return exchange(counted, start, self.include, self.candidates), errors


class _ObeyingMoves:
    """The same with constraints."""

    def __init__(self, feasible: Feasible, include: np.ndarray, candidates: np.ndarray):
        self.feasible, self.include, self.candidates = feasible, include, candidates

    def random(self, rng: np.random.RandomState) -> list[int]:
        """A random selection that obeys."""
        return self.feasible.random(self.include, self.candidates, rng)

    def complete(self, given: Sequence[int]) -> list[int]:
        """Included columns, those given that fit, and what forward selection adds."""
        return self.feasible.around(given, self.include, self.candidates)

    def exchange(self, start: list[int], max_swaps: float) -> tuple[list[int], list[float]]:
        """A selection that no exchange improves, and the errors from the start on."""
        return self.feasible.improvements(start, self.include, self.candidates, most=max_swaps)
