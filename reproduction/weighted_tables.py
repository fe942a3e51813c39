"""Weighted searches on larger sets: chapter 4 of the first document, the paper, and wide text.

Errors are squared Frobenius norms; data are raw, and isolet5 and CNAE-9 count their label as a
column. The text set TechTC01 and the first day of the URL data are not at hand.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from columnist.selection import GKSSelector, LeverageSampler, StrongRRQRSelector, TwoStageSelector
from reproduction.cells import Cell, compare, not_possible, skipped
from reproduction.data import Data, MissingData
from reproduction.printed import printed
from reproduction.reasons import by_draws, by_setting
from reproduction.registry import PrintedTable, Run, by_set
from reproduction.searches import Problem
from reproduction.settings import GKS_RANK, RRQR_F, TUNED_GKS_EXTRA, TUNED_RRQR_F
from reproduction.sizes import size_cells
from reproduction.weighted_search import printed_search

__all__ = ["TABLES"]

Row = Mapping[str, str]

EPSILON = {"madelon": 0.5, "isolet5+label": 0.9, "cnae9+label": 0.5}
ORDERS = ("h", "g", "b")
TEXTBOOK = {"h": "f+h", "g": "f+u", "b": "f+b"}
"""The printed orders by their names in :mod:`reproduction.weighted_search`."""
N_DRAWS = 40  # as the document does in its table 6.5

NOT_AT_HAND = {
    "TechTC01": "the text set TechTC01 is not at hand",
    "Day1": "the first day of the URL data is not at hand, only a small part of it",
}
UNFINISHED = "the printed search turns back, and is given up after 2 k nodes"
TIME = "a time on a machine that is not stated"
TIES = "unknown; how the printed search breaks ties is not stated"


@dataclass(frozen=True)
class Measured:
    """Error of one method on one problem, its time, and errors of other settings or of draws."""

    error: float | None
    seconds: float
    others: tuple[float, ...] = ()


@lru_cache(maxsize=256)
def measured(data: Data, name: str, k: int, method: str) -> Measured:
    """Run a method, or recall it: errors and times stand in two tables."""
    start = time.perf_counter()
    if method in ORDERS:
        problem = Problem(data, name, k, "frobenius")
        error = printed_search(problem, TEXTBOOK[method], EPSILON[name], 2 * k)
        return Measured(error, time.perf_counter() - start)
    X = data.matrix(name)
    errors = METHODS[method](X, k)
    seconds = time.perf_counter() - start
    others = (TUNED[method][1](X, k),) if method in TUNED else tuple(errors)
    return Measured(min(errors), seconds, others)


def fitted_error(selector: Any, X: Any) -> float:
    """Error of a selector; a draw with too few different candidates is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return selector.fit(X).error_


def drawn(X: Any, k: int) -> list[float]:
    """Leverage sampling, then strong RRQR with sampling weights: errors of some draws."""
    return [
        fitted_error(
            TwoStageSelector(
                LeverageSampler(replace=True, random_state=seed),
                StrongRRQRSelector(k, f=RRQR_F),
                weights="sampling",
            ),
            X,
        )
        for seed in range(N_DRAWS)
    ]


METHODS: dict[str, Callable[[Any, int], list[float]]] = {
    "GKS": lambda X, k: [fitted_error(GKSSelector(k, rank=GKS_RANK), X)],
    "GE": lambda X, k: [fitted_error(StrongRRQRSelector(k, f=RRQR_F), X)],
    "LEV_GE": drawn,
}
TUNED: dict[str, tuple[str, Callable[[Any, int], float]]] = {
    "GKS": (
        "rank = k + 1",
        lambda X, k: fitted_error(GKSSelector(k, rank=k + TUNED_GKS_EXTRA), X),
    ),
    "GE": (
        f"f = {TUNED_RRQR_F}",
        lambda X, k: fitted_error(StrongRRQRSelector(k, f=TUNED_RRQR_F), X),
    ),
}


def matrix(data: Data, name: str) -> Any:
    """A matrix, or why there is none."""
    if name in NOT_AT_HAND:
        raise MissingData(NOT_AT_HAND[name])
    return data.matrix(name)


def figures(row: Row) -> Iterator[tuple[str, str, str]]:
    """Column, place and text of the printed figures of a row."""
    sizes = [f"{key} = {row[key]}" for key in ("k", "r1", "r2") if key in row]
    for column, figure in row.items():
        if figure and column not in ("set", "k", "r1", "r2"):
            label = NAMES.get(column, column.replace("_", " "))
            yield column, ", ".join([row["set"], *sizes, label]), figure


NAMES = {
    **{order: f"order {order}" for order in ORDERS},
    **{str(n): f"bound after {n} iterations" for n in (1, 10, 100)},
    "LEV_GE": "LEV_GE",
    "a_priori": "a-priori bound",
    "a_posteriori": "a-posteriori bound",
    "error_b": "order b, error",
    "minutes_b": "order b, minutes",
}


def listed(row: Row) -> Iterator[tuple[str, str]]:
    """Place and text of the printed figures of a row."""
    return ((where, figure) for _, where, figure in figures(row))


def method_table(table: str, cell: Callable[..., Cell], run: Run) -> Iterator[Cell]:
    """Every method on every set; the quick mode keeps the smallest size, and no draws."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        matrix(run.data, name)
        for row in rows:
            for method, where, figure in figures(row):
                if run.quick and (row["k"] != "20" or method == "LEV_GE"):
                    yield skipped(where, figure)
                else:
                    found = measured(run.data, name, int(row["k"]), method)
                    yield cell(where, figure, method, found)

    yield from by_set(printed(table), compute, listed)


def error_cell(where: str, figure: str, method: str, found: Measured) -> Cell:
    """An error beside the printed one."""
    if found.error is None:
        return not_possible(where, figure, UNFINISHED, whose="search")
    detail = ""
    if method in TUNED:
        setting, (tuned,) = TUNED[method][0], found.others
        why = by_setting(figure, setting, tuned)
        detail = f"with {setting}, found by trying: {tuned:.6g}"
    else:
        why = TIES if method in ORDERS else by_draws(figure, found.others, "the number of draws")
    return compare(
        where, figure, found.error, better="smaller", random=method == "LEV_GE", why=why,
        detail=detail, whose="search" if method in ORDERS else "competitor",
    )  # fmt: skip


def minutes_cell(where: str, figure: str, method: str, found: Measured) -> Cell:
    """Our minutes beside the printed ones."""
    return not_possible(where, figure, TIME, found.seconds / 60)


def missing_table(table: str, run: Run) -> Iterator[Cell]:
    """A table of sets that are not at hand."""
    for row in printed(table):
        yield from (not_possible(*cell, NOT_AT_HAND[row["set"]]) for cell in listed(row))


def sizes(run: Run) -> Iterator[Cell]:
    """Sizes of the sets of chapter 4."""
    yield from size_cells("xu-4.2", lambda name: (*matrix(run.data, name).shape, 0))


STAND_IN = (
    "The same searches are tested on another wide text set, the longest farm ads: their bounds "
    "hold there, and more iterations never make an error or a bound worse."
)

TABLES = (
    PrintedTable(
        "xu-4.2",
        "Sizes of the sets of chapter 4",
        sizes,
        "isolet5 and CNAE-9 count their label as a column.",
    ),
    PrintedTable(
        "xu-4.3",
        "Error of weighted searches and of three older methods",
        partial(method_table, "xu-4.3", error_cell),
        "Squared Frobenius norm. h, g and b are searches of the printed kind, with our kernel for "
        "eigenvalues; the package's own begin with forward selection and exchanges, and end at "
        f"smaller errors. LEV_GE is the best of {N_DRAWS} draws of 4 k candidates.",
    ),
    PrintedTable(
        "xu-4.4",
        "Minutes of the same runs",
        partial(method_table, "xu-4.4", minutes_cell),
        "Ours are minutes of this machine; LEV_GE is 40 fits.",
    ),
    PrintedTable(
        "he-3.5",
        "Greedy selection with components on wide text: its bounds and error",
        partial(missing_table, "he-3.5"),
        "Bounds are shares of the error. " + STAND_IN,
    ),
    PrintedTable(
        "he-3.6",
        "Bounds after more iterations of optimistic search on wide text",
        partial(missing_table, "he-3.6"),
        "Bounds are shares of the error. " + STAND_IN,
    ),
    PrintedTable(
        "wastar-3",
        "Error and minutes of a weighted search on wide text",
        partial(missing_table, "wastar-3"),
        "The figures are those of table 4.3 and 4.4 of the first document, rounded. " + STAND_IN,
    ),
    PrintedTable(
        "wastar-4",
        "Columns that the optimal and a weighted search select from wide text",
        partial(missing_table, "wastar-4"),
    ),
)
