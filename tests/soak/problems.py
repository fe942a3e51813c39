"""Random hostile problems.

Data are drawn by kind (:mod:`tests.soak.data`); options that fit any data (criterion, order of the
search, limits, constraints, weights, container of the data, ...) are drawn beside them. Everything
about a problem is in a :class:`Problem`, which can be written to a file and read back.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from columnist.constraints import Constraint
from tests.oracles.constrained import every_choice
from tests.soak.criteria import BUILT_IN, USERS
from tests.soak.data import COLUMN_KINDS, GRAM_KINDS, ROW_KINDS, dyadic, power
from tests.strategies import random_constraints, random_size

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
    size : int or None
        Columns to select, or rows to remove; the largest for paths. With constraints, the number of
        units (columns or groups), or None for any number.
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
    constraints : tuple of Constraint
        Further constraints.
    weights : ndarray of int or None
        How often each row counts.
    proof : bool
        Whether a proof is written, and checked.
    """

    kind: str
    task: str
    X: np.ndarray
    size: int | None
    y: np.ndarray | None = None
    criterion: str = "frobenius"
    options: dict[str, Any] = field(default_factory=dict)
    form: str = "dense"
    given: tuple[int, ...] = ()
    decidable: bool = False
    interrupt: float | None = None
    stop: int | None = None
    constraints: tuple[Constraint, ...] = ()
    weights: np.ndarray | None = None
    proof: bool = False

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray | None]:
        """X and y with every row as often as it counts."""
        if self.weights is None:
            return self.X, self.y
        y = None if self.y is None else np.repeat(self.y, self.weights, axis=0)
        return np.repeat(self.X, self.weights, axis=0), y

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
        return rng.standard_normal((m, 3)) * np.array([1.0, 1.0, power(rng, 2.0, 6.0)])
    if form == "far" and kind == "offsets":
        return rng.standard_normal((m, 2)) + power(rng, 2.0, 7.0)
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
    return _with_more(rng, _with_task(rng, _settled(problem)))


def _settled(problem: Problem) -> Problem:
    """A problem whose container can hold its data exactly."""
    options = problem.options
    plain = problem.criterion == "frobenius" and not options.get("n_components")
    if options.get("weight") == "u" and plain and problem.y is None and "exclude" not in options:
        problem = replace(problem, options=options | {"weight": "b"})
    if problem.form == "float32":
        if problem.kind not in GRAM_KINDS:
            return replace(problem, form="dense")
        problem = replace(problem, X=problem.X.astype(np.float32).astype(np.float64))
    if problem.form == "stream":
        if problem.kind not in (*GRAM_KINDS, "offsets", "scales"):
            return replace(problem, form="dense")
        # Beside a long constant column, the rows themselves would be needed.
        problem = replace(problem, decidable=problem.decidable and problem.kind != "constants")
    if problem.form == "gram":
        if problem.kind not in GRAM_KINDS:
            return replace(problem, form="dense")
        problem = replace(problem, X=dyadic(problem.X, 24))
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


def _with_more(rng, problem: Problem) -> Problem:
    """Constraints, weights of rows and a proof, where they are possible."""
    fits = problem.option("reduction") is None
    exact = problem.option("search", "auto") in ("auto", "optimal") and fits
    exact &= "weight" not in problem.options and problem.task in ("select", "verdicts")
    if exact and rng.random() < 0.15:
        problem = _constrained(rng, problem)
    if problem.form not in ("gram", "stream") and rng.random() < 0.1:
        weights = rng.integers(0, 4, len(problem.X))
        weights[:2] += 1
        # The rows of weighted means and inner products have rounding of their own.
        decidable = problem.decidable and problem.kind in GRAM_KINDS
        problem = replace(problem, weights=weights, decidable=decidable)
    asked = rng.random() < (0.5 if problem.constraints or problem.weights is not None else 0.2)
    return replace(problem, proof=True) if asked and _may_have_proof(problem) else problem


def _constrained(rng, problem: Problem) -> Problem:
    """A problem with constraints that some selection obeys."""
    n = problem.X.shape[1]
    constraints = random_constraints(rng, n)
    size = random_size(rng, constraints, n)
    given = problem.option("include", ()), problem.option("exclude", ())
    if n > 9 or not every_choice(n, constraints, size, *given):
        return problem
    return replace(problem, constraints=tuple(constraints), size=size)


def _may_have_proof(problem: Problem) -> bool:
    """Whether a proof can be written for a problem."""
    known = problem.criterion in BUILT_IN and problem.option("reduction") is None
    in_memory = "dask" not in problem.form and problem.form != "stream"
    return problem.task == "select" and known and in_memory


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
