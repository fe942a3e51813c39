"""The smallest problem that still goes wrong in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.soak.problems import ROW_TASKS, Problem

__all__ = ["shrunk"]

Check = Callable[[Problem], list[str]]


def shrunk(problem: Problem, word: str, check: Check, seconds: float = 5.0) -> Problem:
    """Drop options, rows, columns and digits while a fault of the class ``word`` remains.

    Parameters
    ----------
    problem : Problem
        A problem with such a fault.
    word : str
        The first word of the fault.
    check : callable
        Faults of a problem.
    seconds : float
        Time to spend.
    """
    deadline = time.monotonic() + seconds
    found = True
    while found and problem.interrupt is None:
        found = False
        for smaller in _smaller(problem, digits=word != "caution"):
            if time.monotonic() > deadline:
                return problem
            if _fails(smaller, word, check):
                problem, found = smaller, True
                break
    return problem


def _fails(problem: Problem, word: str, check: Check) -> bool:
    if problem.size is not None and problem.size > problem.X.shape[problem.task not in ROW_TASKS]:
        return False
    try:
        return any(fault.startswith(f"{word}:") for fault in check(problem))
    except (ValueError, IndexError, KeyError):
        # A smaller problem need not be a valid one.
        return False


def _smaller(problem: Problem, digits: bool) -> Iterator[Problem]:
    if problem.form != "dense":
        yield replace(problem, form="dense")
    if problem.weights is not None:
        X, y = problem.rows
        yield replace(problem, X=X, y=y, weights=None)
    for left in range(len(problem.constraints)):
        kept = problem.constraints[:left] + problem.constraints[left + 1 :]
        if kept or problem.size is not None:
            yield replace(problem, constraints=kept)
    for name in problem.options:
        if not (problem.is_rows and name in ("n_components", "random_state")):
            kept = {key: value for key, value in problem.options.items() if key != name}
            yield replace(problem, options=kept)
    if problem.task in ("path", "outlier path"):
        yield replace(problem, task="outliers" if problem.is_rows else "select")
    if problem.option("n_solutions", 1) > 2:
        yield replace(problem, options=problem.options | {"n_solutions": 2})
    if problem.option("solution_tol") is not None:
        kept = {key: v for key, v in problem.options.items() if key != "solution_tol"}
        yield replace(problem, options=kept)
    if (problem.size or 0) > 1 and problem.task != "certify":
        yield replace(problem, size=problem.size - 1)
    yield from _fewer_entries(problem)
    # Whether double precision decides a problem is known for the numbers as they were drawn.
    if digits:
        if problem.criterion not in ("frobenius", "nuclear"):
            yield replace(problem, criterion="nuclear")
        yield from _rounder(problem)


def _fewer_entries(problem: Problem) -> Iterator[Problem]:
    X, y = problem.X, problem.y
    if y is not None:
        yield replace(problem, y=None)
        if y.ndim == 2 and y.shape[1] > 1:
            yield replace(problem, y=y[:, :1])
    for j in range(X.shape[1] if not problem.constraints else 0):
        if X.shape[1] > 2 and j not in (*problem.option("include", ()), *problem.given):
            yield _without_column(problem, j)
    for i in range(len(X)):
        if len(X) > 2:
            rest = None if y is None else np.delete(y, i, axis=0)
            counts = None if problem.weights is None else np.delete(problem.weights, i)
            yield replace(problem, X=np.delete(X, i, axis=0), y=rest, weights=counts)


def _without_column(problem: Problem, j: int) -> Problem:
    def moved(columns) -> list[int]:
        return [c - (c > j) for c in columns if c != j]

    options = dict(problem.options)
    for name in ("include", "exclude"):
        if name in options:
            options[name] = moved(options[name])
    return replace(
        problem, X=np.delete(problem.X, j, axis=1), options=options,
        given=tuple(moved(problem.given)),
    )  # fmt: skip


def _rounder(problem: Problem) -> Iterator[Problem]:
    for digits in (1, 3, 6):
        X = np.array([[float(f"{x:.{digits - 1}e}") for x in row] for row in problem.X])
        if not np.array_equal(X, problem.X):
            yield replace(problem, X=X)
