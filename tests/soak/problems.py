"""Random hostile problems, by kind.

A kind is a function that draws data; options that fit any data (criterion, order of the search,
limits, constraints, container of the data, ...) are drawn beside them. Everything about a problem
is in a :class:`Problem`, which can be written to a file and read back.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tests.soak.criteria import BUILT_IN, USERS

__all__ = ["KINDS", "Problem", "draw", "target_matrix", "weights"]

COLUMN_TASKS = ("select", "certify", "path", "fewest")
ROW_TASKS = ("outliers", "outlier path")


@dataclass(frozen=True)
class Problem:
    """One call of the library.

    Attributes
    ----------
    kind : str
        How the data were drawn.
    task : str
        ``"select"``, ``"certify"``, ``"path"``, ``"fewest"``, ``"verdicts"`` (columns),
        ``"outliers"`` or ``"outlier path"`` (rows).
    X : ndarray
        Data.
    size : int
        Columns to select, or rows to remove; the largest for paths.
    y : ndarray or None
        Target.
    criterion : str
        A name of :mod:`tests.soak.criteria`.
    options : dict
        Further parameters of the estimator.
    form : str
        Container of the data.
    given : tuple of int
        The selection to certify.
    decidable : bool
        Whether double precision is enough, so that only a proof will do.
    interrupt : float or None
        When Ctrl-C comes: as a share of the time that the call takes undisturbed.
    stop : int or None
        The call of the callback that ends the search.
    """

    kind: str
    task: str
    X: np.ndarray
    size: int
    y: np.ndarray | None = None
    criterion: str = "frobenius"
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "dense"
    given: tuple[int, ...] = ()
    decidable: bool = False
    interrupt: float | None = None
    stop: int | None = None

    def option(self, name: str, default: Any = None) -> Any:
        """A parameter of the estimator."""
        return self.options.get(name, default)

    @property
    def is_rows(self) -> bool:
        """Whether rows are removed, not columns selected."""
        return self.task in ROW_TASKS

    @property
    def must_be_proven(self) -> bool:
        """Whether only the status "optimal" will do."""
        limits = ("max_gap", "max_nodes", "time_limit", "max_memory")
        exact = self.option("search", "auto") in ("auto", "optimal")
        free = self.interrupt is None and not any(name in self.options for name in limits)
        free &= self.stop is None and self.option("reduction") != "randomized"
        return self.decidable and exact and free


def target_matrix(y: np.ndarray | None) -> np.ndarray | None:
    """What the documentation says y means: values as they are, labels as indicators."""
    if y is None:
        return None
    classes = {"f": 2, "i": 20, "u": 20}  # so many distinct numbers are labels; others always are
    if y.ndim == 1 and y.dtype.kind in "OUSbiuf":
        labels = np.unique(y)
        exactly = y.dtype.kind != "f" or len(labels) == 2
        if exactly and len(labels) <= classes.get(y.dtype.kind, np.inf):
            return (y[:, None] == labels).astype(np.float64)
    return y[:, None] if y.ndim == 1 else y


# -- data ---------------------------------------------------------------------------
# A kind of columns returns X, y or None, options, and whether double precision decides it.


def _shape(rng) -> tuple[int, int]:
    return int(rng.integers(5, 14)), int(rng.integers(4, 9))


def _normal(rng) -> np.ndarray:
    return rng.standard_normal(_shape(rng))


def _power(rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _dyadic(X: np.ndarray, bits: int) -> np.ndarray:
    """Entries of at most so many bits; with up to 24, their products and sums are exact."""
    unit = np.ldexp(1.0, int(np.frexp(np.abs(X).max(initial=0.0))[1]) - bits)
    return np.round(X / unit) * unit


def _columns_of(rng, X: np.ndarray, most: int = 3) -> np.ndarray:
    count = min(int(rng.integers(1, most + 1)), X.shape[1])
    return rng.choice(X.shape[1], count, replace=False)


def gaussian(rng):
    """Nothing special."""
    return _normal(rng), {}, True


def wide(rng):
    """Fewer rows than columns."""
    return rng.standard_normal((int(rng.integers(2, 6)), int(rng.integers(6, 10)))), {}, True


def integers(rng):
    """Small integers: exact dependencies and many ties."""
    return rng.integers(-2, 3, _shape(rng)).astype(float), {}, True


def ties(rng):
    """Parts of an orthogonal matrix: every choice is as good as many others."""
    m, n = _shape(rng)
    X = np.eye(m, n)[:, rng.permutation(n)] * float(rng.integers(1, 3))
    if rng.random() < 0.5:
        X = np.where(rng.random((m, n)) < 0.5, -1.0, 1.0)
    return X, {}, True


def copies(rng):
    """Exact copies of columns, some negated or doubled."""
    X = _dyadic(_normal(rng), 20)
    X = X[:, rng.integers(0, X.shape[1], X.shape[1])]
    return X * rng.choice([-2.0, 1.0, 1.0, 0.5], X.shape[1]), {}, True


def rounded_copies(rng):
    """Copies whose factors round: dependent up to the last digit."""
    X = _normal(rng)
    for j in _columns_of(rng, X):
        X[:, j] = X[:, (j + 1) % X.shape[1]] * rng.uniform(0.1, 3.0)
    return X, {}, False


def low_rank(rng):
    """Rank below the number of columns, exactly."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, min(m, n)))
    X = rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n))
    return X.astype(float), {}, True


def rounded_low_rank(rng):
    """Rank below the number of columns, up to rounding."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, min(m, n)))
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)), {}, False


def near_copies(rng):
    """Columns that differ from others by 1e-12 to 1e-5 of their length."""
    X = _normal(rng)
    share = _power(rng, -12.0, -5.0)
    for j in _columns_of(rng, X, 2):
        X[:, j] = X[:, (j + 1) % X.shape[1]] + share * rng.standard_normal(len(X))
    return X, {}, share >= 1e-8


def near_dependent(rng):
    """A column that differs from a combination of others by 1e-10 to 1e-4 of its length."""
    X = _normal(rng)
    share = _power(rng, -10.0, -4.0)
    X[:, 0] = X[:, 1:4] @ rng.standard_normal(3) + share * rng.standard_normal(len(X))
    return X, {}, share >= 1e-7


def long_columns(rng):
    """Columns 1e3 to 1e8 times longer than the others."""
    X = _normal(rng)
    ratio = _power(rng, 3.0, 8.0)
    X[:, _columns_of(rng, X, 2)] *= ratio
    return X, {}, ratio <= 1e6


def graded_columns(rng):
    """Lengths spread evenly over many orders of magnitude."""
    X = _normal(rng)
    orders = rng.uniform(1.0, 6.0)
    return X * np.logspace(0.0, orders, X.shape[1])[rng.permutation(X.shape[1])], {}, True


def tiny_columns(rng):
    """Columns of a length down to 1e-200 beside others of length one."""
    X = _normal(rng)
    X[:, _columns_of(rng, X)] *= _power(rng, -200.0, -20.0)
    return X, {}, False


def scales(rng):
    """All entries tiny or huge."""
    exponent = rng.uniform(-150.0, 150.0)
    return _normal(rng) * 10.0**exponent, {}, True


def offsets(rng):
    """Columns far from the origin, centred."""
    X = _normal(rng)
    offset = _power(rng, 3.0, 9.0)
    X = X + offset * (rng.choice([-1.0, 1.0], X.shape[1]) if rng.random() < 0.5 else 1.0)
    return X, {"centering": "mean"}, offset <= 1e7


def constants(rng):
    """Zero and constant columns."""
    X = _normal(rng)
    X[:, _columns_of(rng, X)] = rng.choice([0.0, 0.0, 1.0, 0.1, 1e6])
    if rng.random() < 0.1:
        X[:, 1:] = 0.0
    return X, {}, True


def heavy_rows(rng):
    """Rows 1e3 to 1e8 times longer than the others."""
    X = _normal(rng)
    ratio = _power(rng, 3.0, 8.0)
    X[: rng.integers(1, 3)] *= ratio
    return X, {}, ratio <= 1e6


def dominating_direction(rng):
    """One direction that every column shares, 1e3 to 1e8 times longer than the rest."""
    X = _normal(rng)
    ratio = _power(rng, 3.0, 8.0)
    direction = rng.standard_normal(len(X))[:, None]
    X += ratio * direction * rng.standard_normal(X.shape[1])
    return X, {}, ratio <= 1e4


def sparse_pattern(rng):
    """Mostly zeros; some columns are near copies."""
    X = _normal(rng)
    X[rng.random(X.shape) < 0.6] = 0.0
    share = _power(rng, -8.0, -3.0)
    if rng.random() < 0.5:
        X[:, 0] = X[:, 1] * (1.0 + share * rng.standard_normal(len(X)))
    return X, {"_form": str(rng.choice(["csr", "csc"]))}, True


def mixed(rng):
    """Several troubles at once."""
    X = _normal(rng)
    options = {}
    for _ in range(int(rng.integers(2, 4))):
        trouble, j = rng.integers(6), int(rng.integers(X.shape[1]))
        if trouble == 0:
            X[:, j] = X[:, (j + 1) % X.shape[1]] + _power(rng, -9.0, -3.0) * rng.standard_normal(
                len(X)
            )
        elif trouble == 1:
            X[:, j] *= _power(rng, -8.0, 8.0)
        elif trouble == 2:
            X[rng.integers(len(X))] *= _power(rng, 0.0, 6.0)
        elif trouble == 3:
            X[:, j] = X[:, (j + 2) % X.shape[1]]
        elif trouble == 4:
            X[:, j] = float(rng.integers(0, 3))
        else:
            X = X + _power(rng, 0.0, 6.0)
            options["centering"] = "mean"
    return X, options, False


def zero_error(rng):
    """A few columns explain everything."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, 4))
    X = rng.integers(-3, 4, (m, rank)) @ rng.integers(-3, 4, (rank, n))
    return X.astype(float), {"_size": rank}, True


def zero_error_rounded(rng):
    """The same, up to rounding."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, 4))
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    return X, {"_size": rank, "_target": "X"}, True


COLUMN_KINDS: dict[str, Callable] = {
    data.__name__: data
    for data in (
        gaussian, wide, integers, ties, copies, rounded_copies, low_rank, rounded_low_rank,
        near_copies, near_dependent, long_columns, graded_columns, tiny_columns, scales, offsets,
        constants, heavy_rows, dominating_direction, zero_error, zero_error_rounded,
        sparse_pattern, mixed,
    )
}  # fmt: skip


def large_pools(rng):
    """Few columns that matter among many that do not, and more sets than anyone looks at."""
    n, rank = int(rng.integers(18, 23)), int(rng.integers(2, 4))
    X = np.zeros((rank + int(rng.integers(0, 2)), n))
    X[:, n - rank :] = rng.integers(-3, 4, (len(X), rank))
    options = {"_size": int(rng.integers(rank + 1, 6)), "n_solutions": int(rng.integers(2, 6))}
    return X, options | {"_target": "X"}, True


COLUMN_KINDS["large_pools"] = large_pools

# Data whose Gram matrix tells as much as they do.
_GRAM_KINDS = ("gaussian", "wide", "integers", "ties", "copies", "low_rank", "constants",
               "zero_error")  # fmt: skip


# -- rows ---------------------------------------------------------------------------


def _row_shape(rng) -> tuple[int, int]:
    return int(rng.integers(5, 13)), int(rng.integers(2, 7))


def rows_gaussian(rng):
    """Nothing special."""
    return rng.standard_normal(_row_shape(rng)), True


def rows_integers(rng):
    """Small integers: repeated rows and ties."""
    return rng.integers(-2, 3, _row_shape(rng)).astype(float), True


def rows_outliers(rng):
    """A few rows that are far away, each in its own direction."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = _power(rng, 1.0, 8.0)
    X[: rng.integers(1, 4)] *= ratio
    return X, ratio <= 1e6


def rows_direction(rng):
    """A few rows that are far away in the same direction."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = _power(rng, 3.0, 8.0)
    X[: rng.integers(1, 4)] += ratio * rng.standard_normal(X.shape[1])
    return X, ratio <= 1e6


def rows_long_columns(rng):
    """Columns longer than the others."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = _power(rng, 3.0, 8.0)
    X[:, rng.integers(X.shape[1])] *= ratio
    return X, ratio <= 1e6


def rows_copies(rng):
    """Rows that repeat, exactly or nearly."""
    X = rng.standard_normal(_row_shape(rng))
    X = X[rng.integers(0, len(X), len(X))]
    if rng.random() < 0.5:
        X = X + _power(rng, -12.0, -5.0) * rng.standard_normal(X.shape)
        return X, False
    return X, True


def rows_low_rank(rng):
    """Rows of a subspace, exactly; some are not in it."""
    m, n = _row_shape(rng)
    rank = int(rng.integers(1, 3))
    X = (rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n))).astype(float)
    X[: rng.integers(0, 3)] += rng.integers(-3, 4, n)
    return X, True


def rows_offset(rng):
    """Rows far from the origin."""
    offset = _power(rng, 3.0, 9.0)
    return rng.standard_normal(_row_shape(rng)) + offset, offset <= 1e7


def rows_scales(rng):
    """All entries tiny or huge."""
    return rng.standard_normal(_row_shape(rng)) * 10.0 ** rng.uniform(-150.0, 150.0), True


def rows_mixed(rng):
    """Several troubles at once."""
    X = rng.standard_normal(_row_shape(rng))
    for _ in range(int(rng.integers(2, 4))):
        trouble, i = rng.integers(5), int(rng.integers(len(X)))
        if trouble == 0:
            X[i] *= _power(rng, 0.0, 7.0)
        elif trouble == 1:
            X[:, rng.integers(X.shape[1])] *= _power(rng, -6.0, 6.0)
        elif trouble == 2:
            X[i] = X[(i + 1) % len(X)] + _power(rng, -9.0, -3.0) * rng.standard_normal(X.shape[1])
        elif trouble == 3:
            X = X + _power(rng, 0.0, 6.0)
        else:
            X[:, 0] = X[:, -1]
    return X, False


ROW_KINDS: dict[str, Callable] = {
    data.__name__: data
    for data in (
        rows_gaussian, rows_integers, rows_outliers, rows_direction, rows_long_columns,
        rows_copies, rows_low_rank, rows_offset, rows_scales, rows_mixed,
    )
}  # fmt: skip


# -- options ------------------------------------------------------------------------


def _criterion(rng, kind: str) -> str:
    """Any criterion; a user's own formula only where nothing overflows."""
    if rng.random() < 0.3:
        return "frobenius"
    plain = kind in ("scales", "tiny_columns", "rows_scales")
    users = () if plain else USERS
    return str(rng.choice([*BUILT_IN, *users]))


def _search_options(rng, *, rows: bool) -> dict[str, Any]:
    """Order and limits of the search."""
    options: dict[str, Any] = {}
    search = str(rng.choice(["auto"] * 5 + ["optimal", "weighted", "greedy", "optimistic"]))
    if search != "auto":
        options["search"] = search
    if search in ("weighted", "optimistic"):
        options["epsilon"] = float(rng.choice([0.0, 0.1, 1.0]))
        if not rows and rng.random() < 0.5:
            options["weight"] = str(rng.choice(["u", "g", "h"]))
    limit = rng.random()
    if limit < 0.06:
        options["max_gap"] = float(rng.choice([1e-6, 1e-3, 0.1, 0.5]))
    elif limit < 0.12:
        options["max_nodes"] = int(rng.integers(0, 20))
    elif limit < 0.16:
        options["time_limit"] = float(rng.choice([0.0, 1e-4, 1e-3, 5e-3]))
    elif limit < 0.18:
        options["max_memory"] = float(rng.choice([1.0, 1e4, 1e6]))
    if rng.random() < 0.02:
        options["n_jobs"] = 2
    return options


def _target(rng, X: np.ndarray, kind: str) -> np.ndarray | None:
    """A vector, a matrix, labels, or none; some that columns explain."""
    forms = ["none"] * 3 + ["vector", "matrix", "labels", "strings", "explained", "graded", "far"]
    form = rng.choice(forms)
    m = len(X)
    scale = 10.0 ** rng.uniform(-150.0, 150.0) if kind == "scales" else 1.0
    if form == "vector":
        return scale * rng.standard_normal(m)
    if form == "matrix":
        return scale * rng.standard_normal((m, int(rng.integers(1, 5))))
    if form == "graded":
        return rng.standard_normal((m, 3)) * np.array([1.0, 1.0, _power(rng, 2.0, 6.0)])
    if form == "far" and kind == "offsets":
        return rng.standard_normal((m, 2)) + _power(rng, 2.0, 7.0)
    if form == "labels":
        return rng.integers(0, 3, m)
    if form == "strings":
        return np.array(["red", "green", "blue"])[rng.integers(0, 3, m)]
    if form == "explained" and kind in ("gaussian", "integers", "copies", "zero_error"):
        return X[:, :2] @ rng.integers(-2, 3, (2, 2)).astype(float)
    return None


def _constraints(rng, n: int, size: int) -> dict[str, Any]:
    """Columns in every selection, and in none."""
    if rng.random() > 0.25:
        return {}
    order = rng.permutation(n)
    include = order[: rng.integers(0, size + 1)]
    exclude = order[len(include) :][: rng.integers(0, n - size + 1)]
    both = {"include": [int(j) for j in include], "exclude": [int(j) for j in exclude]}
    return {name: columns for name, columns in both.items() if columns}


def _column_form(rng, options: dict[str, Any], y) -> str:
    forms = ["dense"] * 5 + ["csr", "csr", "csc", "frame", "fortran", "list", "float32"]
    forms += ["gram"] * (y is None and options.get("centering", "none") == "none")
    forms += ["stream"] * (y is None)
    if rng.random() < 0.04:
        return str(rng.choice(["dask", "dask frame", "dask threads"]))
    return str(rng.choice(forms))


def _draw_columns(rng, kind: str) -> Problem:
    X, options, decidable = COLUMN_KINDS[kind](rng)
    n = X.shape[1]
    size = int(options.pop("_size", rng.integers(1, min(n, 5))))
    size = int(rng.integers(n - 1, n + 1)) if n < 10 and rng.random() < 0.03 else size
    form = options.pop("_form", None)
    aim = options.pop("_target", None)
    y = None if aim == "X" else _target(rng, X, kind)
    if "centering" not in options and rng.random() < 0.2:
        options["centering"] = "mean"
    options |= _search_options(rng, rows=False)
    if rng.random() < 0.25:
        options["n_components"] = int(rng.integers(1, 3))
    if "n_solutions" not in options and rng.random() < 0.2:
        options["n_solutions"] = int(rng.integers(2, 6))
    if rng.random() < 0.04:
        options |= {"reduction": "randomized", "random_state": int(rng.integers(100))}
    if y is not None and rng.random() < 0.05:
        options["target"] = "X"
    options |= _constraints(rng, n, size)
    problem = Problem(kind, "select", X, size, y, _criterion(rng, kind), options)
    form = form or _column_form(rng, options, y)
    stop = int(rng.integers(1, 4)) if rng.random() < 0.02 else None
    problem = replace(problem, decidable=decidable, form=form, stop=stop)
    return _with_task(rng, _settled(problem))


def _settled(problem: Problem) -> Problem:
    """A problem whose container can hold its data exactly."""
    options = problem.options
    plain = problem.criterion == "frobenius" and not options.get("n_components")
    if options.get("weight") == "u" and plain and problem.y is None and "exclude" not in options:
        problem = replace(problem, options=options | {"weight": "b"})
    if problem.form == "float32":
        if problem.kind not in _GRAM_KINDS:
            return replace(problem, form="dense")
        problem = replace(problem, X=problem.X.astype(np.float32).astype(np.float64))
    if problem.form == "stream":
        if problem.kind not in (*_GRAM_KINDS, "offsets", "scales"):
            return replace(problem, form="dense")
        # Beside a long constant column, the rows themselves would be needed.
        problem = replace(problem, decidable=problem.decidable and problem.kind != "constants")
    if problem.form == "gram":
        if problem.kind not in _GRAM_KINDS:
            return replace(problem, form="dense")
        problem = replace(problem, X=_dyadic(problem.X, 24))
    return problem


def _with_task(rng, problem: Problem) -> Problem:
    """What is asked about the columns."""
    chance, n = rng.random(), problem.X.shape[1]
    options = problem.options
    if rng.random() < 0.12:
        tol = float(rng.choice([0.0, 0.01, 0.1, 0.5]))
        if options.get("search", "auto") in ("auto", "optimal") and rng.random() < 0.5:
            return replace(problem, task="verdicts", options=options | {"tol": tol})
        return replace(problem, options=options | {"solution_tol": tol})
    if chance < 0.08:
        given = sorted({*options.get("include", []), *rng.permutation(n)[: problem.size].tolist()})
        given = [int(j) for j in given if j not in options.get("exclude", [])]
        if given:
            plain = {name: v for name, v in options.items() if name != "n_solutions"}
            return replace(
                problem, task="certify", given=tuple(given), size=len(given), options=plain
            )
    if chance < 0.16 and options.get("weight") != "b":
        return replace(problem, task="path")
    if chance < 0.2 and problem.form != "gram" and problem.criterion in BUILT_IN:
        plain = {name: v for name, v in options.items() if name != "n_solutions"}
        return replace(
            problem, task="fewest", options=plain | {"tol": float(rng.choice([0.01, 0.1, 0.3]))}
        )
    return problem


def _draw_rows(rng, kind: str) -> Problem:
    X, decidable = ROW_KINDS[kind](rng)
    size = int(rng.integers(1, min(4, len(X) - 2) + 1))
    size = min(size, 3 if len(X) > 9 else 4)
    options = _search_options(rng, rows=True)
    options["centering"] = str(rng.choice(["optimal", "mean", "none"]))
    options["random_state"] = int(rng.integers(100))
    most = min(len(X) - size - 1, X.shape[1])
    options["n_components"] = int(rng.integers(0, max(1, min(most, 3)) + 1))
    form = str(rng.choice(["dense"] * 6 + ["frame", "fortran"]))
    task = "outlier path" if rng.random() < 0.1 else "outliers"
    if task == "outliers" and rng.random() < 0.1:
        # Many rows are proven in double precision alone.
        form = str(rng.choice(["dask", "dask frame"]))
        decidable &= kind in ("rows_gaussian", "rows_integers", "rows_low_rank")
    stop = int(rng.integers(1, 4)) if task == "outliers" and rng.random() < 0.02 else None
    return Problem(
        kind, task, X, size, criterion=_criterion(rng, kind), options=options, form=form,
        decidable=decidable, stop=stop,
    )  # fmt: skip


def interrupted(rng) -> Problem:
    """Ctrl-C at a random moment."""
    names = [*COLUMN_KINDS] if rng.random() < 0.5 else [*ROW_KINDS]
    names = [name for name in names if name != "large_pools"]
    problem = draw(str(rng.choice(names)), rng)
    while problem.task not in ("select", "outliers") or "dask" in problem.form:
        problem = draw(str(rng.choice(names)), rng)
    options = {k: v for k, v in problem.options.items() if k not in ("n_jobs", "time_limit")}
    moment = float(rng.uniform(0.0, 1.1))
    return replace(problem, kind="interrupted", options=options, interrupt=moment, stop=None)


KINDS: dict[str, Callable[[np.random.Generator], Problem]] = {
    **{name: lambda rng, name=name: _draw_columns(rng, name) for name in COLUMN_KINDS},
    **{name: lambda rng, name=name: _draw_rows(rng, name) for name in ROW_KINDS},
}
if hasattr(signal, "setitimer"):
    KINDS["interrupted"] = interrupted


def draw(kind: str, rng: np.random.Generator) -> Problem:
    """A random problem of a kind."""
    return KINDS[kind](rng)


def weights(kinds) -> np.ndarray:
    """How often each kind is drawn: the expensive ones less, the interrupts more."""
    rare = {"large_pools": 0.05, "interrupted": 3.0}
    drawn = np.array([rare.get(kind, 1.0) for kind in kinds])
    return drawn / drawn.sum()
