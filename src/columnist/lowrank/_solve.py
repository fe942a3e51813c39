"""Solution of the low-rank models: for one penalty, for a number of columns, along a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from sklearn.utils.validation import check_array

from columnist.data._parameters import Integer, Number, checked
from columnist.data._validation import random_generator
from columnist.linalg._passes import columns_of
from columnist.linalg._prox import minimize_l21, row_norms
from columnist.linalg._ties import ranked
from columnist.lowrank._base import check_rank
from columnist.lowrank._factors import Factors, Start, admm, alternate, canonical, objective_of
from columnist.lowrank._table import Table, as_table, leading_svd

SOLVERS = ("auto", "alternate", "admm")

# Share of a row's length that its part outside a column has at least: keeps the loss smooth.
_ROUNDING, _TINY = 1e-6, 1e-200
# Width of the bracket, relative to the largest penalty, at which the number is said to jump.
_NARROW = 1e-6
# The smallest penalty that leaves the number is known once it is known so well, relative to itself.
_CLOSE = 0.05
# Halvings of the penalty, at most, that bring back columns lost by solving without the others.
_RETRIES = 40
# Smallest penalty of the usual grid, relative to the largest one.
_SMALLEST = 1e-3


@checked()
def alpha_max(
    X, *, loss: str = "quadratic", centering: str = "none", location: str = "mean"
) -> float:
    r"""The smallest penalty of :class:`SparseLoadings` at which no column is selected.

    For squared errors twice the length of the longest column; for lengths of rows
    the length of the longest column once every row is brought to unit length. From there on
    zero loadings are a global solution, below it they are none.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data; NaN for missing entries.
    loss : {"quadratic", "robust"}, default="quadratic"
        Loss of the model.
    centering : {"none", "mean"}, default="none"
        Whether the centre of each column is subtracted first.
    location : {"mean", "median"}, default="mean"
        Which centre ``centering="mean"`` subtracts. Outliers move a mean.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.lowrank import alpha_max
    >>> alpha_max(np.array([[3.0, 1.0], [4.0, 1.0]]))
    10.0
    """
    table = _checked_table(X, loss, centering, location)
    largest = float(table.pull_limits(loss).max(initial=0.0))
    return largest * (table.unit if loss == "quadratic" else 1.0)


@dataclass(frozen=True)
class LoadingsPath:
    """Result of :func:`loadings_path`, with one entry per penalty."""

    alphas: np.ndarray
    """Penalties, ascending, of shape (n_alphas,)."""
    scores: np.ndarray
    """Lengths of the loadings (n_alphas, n_features); zero where a column is not selected."""
    n_selected: np.ndarray
    """Number of columns with loadings, of shape (n_alphas,)."""
    objectives: np.ndarray
    """Objectives, of shape (n_alphas,)."""
    alpha_max: float
    """Smallest penalty that leaves nothing."""

    def selected(self, index: int) -> np.ndarray:
        """Columns selected at one of the penalties, ascending."""
        return np.flatnonzero(self.scores[index])


@checked(tol=Number(0.0, above=True))
def loadings_path(
    X,
    n_components: int,
    *,
    loss: str = "quadratic",
    alphas: Sequence[float] | int = 30,
    centering: str = "none",
    location: str = "mean",
    n_starts: int = 6,
    tol: float = 1e-4,
    max_iter: int = 2000,
    random_state=None,
) -> LoadingsPath:
    """Row-sparse low-rank models for increasing penalties, each started from the previous one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data; NaN for missing entries.
    n_components : int
        Rank of the model.
    loss : {"quadratic", "robust"}, default="quadratic"
        Squared lengths or lengths of the residual's rows.
    alphas : int or sequence of float, default=30
        Penalties, or how many between a thousandth of :func:`alpha_max` and that, evenly spaced
        on a logarithmic scale.
    centering : {"none", "mean"}, default="none"
        Whether the centre of each column is subtracted first.
    location : {"mean", "median"}, default="mean"
        Which centre ``centering="mean"`` subtracts. Outliers move a mean.
    n_starts : int, default=6
        Starts of the first model.
    tol : float, default=1e-4
        Relative length of the residuals at which to stop.
    max_iter : int, default=2000
        Iterations at most, for each penalty.
    random_state : int, RandomState instance or None, default=None
        Randomness of the starts.

    Returns
    -------
    LoadingsPath

    See Also
    --------
    SparseLoadings : One model, or the one with a given number of columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.lowrank import loadings_path
    >>> path = loadings_path(scale(load_wine().data), 2, alphas=5, random_state=0)
    >>> path.n_selected
    array([13, 13, 13, 13,  0])
    """
    table = _checked_table(X, loss, centering, location)
    check_rank(n_components, table.shape)
    unit = table.unit if loss == "quadratic" else 1.0
    solver = Solver(
        table, n_components, loss, n_starts=n_starts, tol=tol, max_iter=max_iter,
        rng=random_generator(random_state),
    )  # fmt: skip
    grid = _grid(alphas, solver.top, unit)
    starts, scores, objectives = None, [], []
    for alpha in grid:
        found = solver.solve(alpha, starts=starts)
        scores.append(row_norms(found.Y))
        objectives.append(found.objective)
        starts = [found] if found.n_active else None
    lengths = np.array(scores)
    return LoadingsPath(
        grid * unit,
        lengths * table.unit,
        np.count_nonzero(lengths, axis=1),
        np.array(objectives) * (unit * table.unit),
        solver.top * unit,
    )


def _checked_table(X, loss: str, centering: str, location: str) -> Table:
    sparse = ("csr", "csc") if loss == "quadratic" else False
    X = check_array(
        X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", accept_sparse=sparse
    )
    return as_table(X, centering, location)


def _grid(alphas, top: float, unit: float) -> np.ndarray:
    """Penalties in balanced units, ascending."""
    if np.ndim(alphas) == 0:
        Integer(1).check("alphas", alphas)
        return top * np.geomspace(_SMALLEST, 1.0, alphas) if alphas > 1 else np.array([top])
    grid = np.sort(check_array(alphas, ensure_2d=False, dtype=np.float64, input_name="alphas"))
    if grid.ndim != 1 or grid[0] < 0.0:
        raise ValueError("alphas must be a list of numbers >= 0, or how many to try.")
    return grid / unit


class Solver:
    """How one problem is solved; ``"auto"`` alternates where it can, for squared errors."""

    def __init__(
        self, table: Table, rank: int, loss: str, *, method: str = "auto", n_starts: int,
        tol: float, max_iter: int, rng: np.random.Generator,
    ):  # fmt: skip
        if method == "auto":
            method = "alternate" if loss == "quadratic" else "admm"
        self.table, self.loss, self.method = table, loss, method
        self.starts = first_points(table, rank, loss, n_starts, rng)
        self.tol, self.max_iter = tol, max_iter

    @cached_property
    def limits(self) -> np.ndarray:
        """For every column the penalty from which on it cannot be the first to enter."""
        return self.table.pull_limits(self.loss)

    @property
    def top(self) -> float:
        """The smallest penalty at which no column is selected."""
        return float(self.limits.max(initial=0.0))

    def solve(
        self,
        alpha: float,
        *,
        starts: Sequence[Start | Factors] | None = None,
        columns: np.ndarray | None = None,
    ) -> Factors:
        """The best factors for a penalty, loadings orthogonal, and only in the given
        ``columns``."""
        if alpha >= self.top:
            return self._nothing()
        penalties = np.full(self.table.shape[1], float(alpha))
        if columns is not None:
            penalties[:] = np.inf
            penalties[columns] = alpha
        starts = self.starts if starts is None else starts
        run = self._admm if self.method == "admm" else self._alternate
        found = run(starts, penalties)
        objective = objective_of(self.table, found.X, found.Y, penalties, self.loss)
        return canonical(replace(found, objective=objective))

    def _alternate(self, starts: Sequence[Start | Factors], penalties: np.ndarray) -> Factors:
        if not penalties[np.isfinite(penalties)].any() and self.table.missing is None:
            starts = starts[:1]  # singular vectors: the solution
        # One at a time: the loadings of wide tables are large.
        runs = (
            alternate(self.table, start.X, penalties, tol=self.tol, max_iter=self.max_iter)
            for start in starts
        )
        return min(runs, key=lambda run: run.objective)

    def _admm(self, starts: Sequence[Start | Factors], penalties: np.ndarray) -> Factors:
        run = partial(admm, self.table, loss=self.loss, tol=self.tol, max_iter=self.max_iter)
        found = run(starts, penalties)
        if self.loss == "robust" and not found.n_active and np.isfinite(penalties).all():
            start = single_column(self.table, found.X.shape[1], float(penalties[0]))
            found = run([start], penalties)
        return found

    def _nothing(self) -> Factors:
        """Zero loadings: the solution from the largest penalty on."""
        X = self.starts[0].X
        Y = np.zeros((self.table.shape[1], X.shape[1]))
        objective = objective_of(self.table, X, Y, self.limits, self.loss)
        return Factors(X, Y, self.limits, objective, np.array([objective]), np.zeros((1, 2)), True)

    def refit(self, found: Factors, columns: np.ndarray) -> Factors:
        """The best factors found without a penalty, with loadings in these columns only. For
        squared errors without missing entries these are the principal components of the columns."""
        rank = found.X.shape[1]
        part = self.table.take(columns)
        point = np.zeros(found.X.shape)
        size = min(rank, len(columns))
        point[:, :size] = leading_svd(part, size)[0]
        starts: list[Start | Factors] = [Start(np.linalg.qr(point)[0]), found]
        return self.solve(0.0, starts=starts, columns=columns)


def first_points(
    table: Table, rank: int, loss: str, n_starts: int, rng: np.random.Generator
) -> list[Start]:
    """As many first scores as asked for, the most promising first. Squared errors: leading singular
    vectors, the longest columns, columns drawn by squared length, which are not lost on the
    penalty. Lengths: the same of rows of unit length, which outliers cannot turn far, then of the
    rows as they are, then random directions. Both have many local minima, Y = 0 among them."""
    if loss == "robust":
        norms = table.row_norms()
        scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0.0)
        balanced = replace(table, values=table.values * scale[:, None], missing=None)
        points = [leading_svd(balanced, rank)[0], _longest(balanced, rank)]
        points.append(leading_svd(table, rank)[0])
        points += [rng.standard_normal(points[0].shape) for _ in range(n_starts - 3)]
    else:
        norms = table.column_norms()
        points = [leading_svd(table, rank)[0], _longest(table, rank)]
        points += [_columns(table, _drawn(norms, rank, rng)) for _ in range(n_starts - 2)]
    return [Start(np.linalg.qr(point)[0]) for point in points[:n_starts]]


def single_column(table: Table, rank: int, alpha: float) -> Start:
    r"""The best robust model with loadings in one column, that with the largest limit.

    If only column i has loadings, :math:`z = Xy_i` can be any vector, and

    .. math:: \sum_j \sqrt{(a_{ji} - z_j)^2 + \rho_j^2} + \alpha \|z\|,

    with :math:`\rho_j` the length of the rest of row j, is convex in it. Below the largest penalty
    its minimum is not at zero, however close; iterations from elsewhere may miss it.
    """
    column = int(ranked(table.pull_limits("robust"))[0])
    values = columns_of(table.values, [column])[:, 0]
    norms = table.row_norms()
    rest = np.sqrt(np.maximum(norms**2 - values**2, (_ROUNDING * norms) ** 2 + _TINY))

    def smooth(Z):
        lengths = np.sqrt(np.square(Z[0] - values) + rest**2)
        return float(lengths.sum()), ((Z[0] - values) / lengths)[None, :]

    z = minimize_l21(smooth, np.zeros((1, len(values))), alpha, max_iter=500).W[0]
    X, Y = np.zeros((len(z), rank)), np.zeros((table.shape[1], rank))
    X[:, 0], Y[column, 0] = z, np.linalg.norm(z)
    X = np.linalg.qr(X)[0]
    return Start(X * (1.0 if X[:, 0] @ z >= 0.0 else -1.0), Y)


def _drawn(norms: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    shares = norms**2 / np.sum(norms**2) if norms.any() else np.zeros(len(norms))
    shares += 1e-9  # there may be fewer columns than wanted that are not zero
    return rng.choice(len(norms), size, replace=False, p=shares / shares.sum())


def _longest(table: Table, size: int) -> np.ndarray:
    return _columns(table, ranked(table.column_norms())[:size])


def _columns(table: Table, which: np.ndarray) -> np.ndarray:
    columns = columns_of(table.values, which)
    return columns if table.shift is None else columns - table.shift[which]


def fit_exactly(solver: Solver, size: int) -> tuple[Factors, float]:
    """Bisect the penalty until ``size`` columns have loadings, or fewer if there are no more; the
    smallest such penalty shortens loadings least. Each solution starts from that at the next
    smaller penalty, or it may be caught at zero. Where no penalty leaves this number, the longest
    loadings of the next larger one are kept, and the problem is solved for these columns alone."""
    if size >= np.count_nonzero(solver.limits):
        return solver.solve(0.0), 0.0
    low, high = 0.0, solver.top
    below: Factors | None = None
    hit: tuple[Factors, float] | None = None
    guess = None
    while high - low > max(_NARROW * solver.top, _CLOSE * high if hit else 0.0):
        alpha = guess if guess is not None else 0.5 * (low + high)
        found = solver.solve(alpha, starts=None if below is None else [below])
        if found.n_active > size:
            low, below = alpha, found
        else:
            high = alpha
        if found.n_active == size:
            hit = found, alpha
        known = solver.method == "alternate" and guess is None and hit is None
        guess = _between(found, size, low, high) if known else None
    if hit is not None:
        return hit
    if below is None:
        low, below = 0.0, solver.solve(0.0)
    if below.n_active <= size:
        return below, low
    return _restricted(solver, below, low, size)


def _between(found: Factors, size: int, low: float, high: float) -> float | None:
    """Penalty between the wanted and the next column if scores did not move; None if useless."""
    pulls = np.sort(found.pulls)[::-1]
    guess = float(pulls[size - 1] + pulls[size])
    return guess if low < guess < high else None


def _restricted(solver: Solver, found: Factors, alpha: float, size: int) -> tuple[Factors, float]:
    """Keep the columns with the longest loadings, and solve for these alone."""
    columns = ranked(found.pulls)[:size]
    for _ in range(_RETRIES):
        smaller = solver.solve(alpha, starts=[found], columns=columns)
        if smaller.n_active == size:
            break
        alpha *= 0.5
    return smaller, alpha
