"""Real tables: products of columns, several targets, and the size by a criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_linnerud, load_wine
from sklearn.preprocessing import PolynomialFeatures, scale

from benchmarks.against.area import Area, Problem, check_choice
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row
from benchmarks.subset.judge import (
    FORWARD,
    OURS,
    Settings,
    area,
    centred,
    certificate,
    prototype,
    ridge_error,
    subset,
)
from columnist.datasets import DataNotAvailable, fetch

__all__ = ["bic", "complete", "products", "sizes", "targets"]

TARGETS = ("atp1d", "oes10", "rf1", "scpf", "wq", "slump", "enb")
MORE = ("jura", "edm", "andro", "oes97")
KS = (5, 10, 20)
MISSING = 0.1  # a column that lacks a larger share of its values is left out

PRODUCTS = """Diabetes with squares and products

442 patients, 10 columns, their squares and products, standardised: 65 columns, one of which (the
square of the sex) says what another says. Error is the share of the variance that is left. leaps
has no time limit: it is stopped, and not asked for more columns after that."""

REAL = """Several targets of real tables

Columns and targets are standardised; error is the mean share of the targets' variance that is left.
Where values are missing, columns that lack more than a tenth of them are left out, then rows that
lack any ("of" tells the whole table), and constant columns. Each search is asked twice, with a
limit by the clock of a sixth of the seconds and of all. fastcan makes the targets orthonormal and
so answers a slightly different question. With more columns than rows (atp1d) and no ridge there is
hardly anything to be proven."""

SIZES = """The number of columns by the criterion of Bayes

BIC = n log(RSS / n) + k log n, over all choices of all sizes; the first target of each table, one
target for the others: the progression of diabetes, with and without products, the alcohol of wine,
and whether a tumour is malignant, as a number. leaps and abess are asked about all sizes too; leaps
is stopped at the limit. "Above the best" is the difference of BIC."""


def complete(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns without missing values; columns that lack much go first."""
    absent = np.isnan(X)
    columns = absent.mean(axis=0) <= MISSING
    rows = ~absent[:, columns].any(axis=1)
    return rows, columns & (np.ptp(np.where(absent, 0.0, X)[rows], axis=0) > 0.0)


@cache
def table(name: str, folder: Path) -> tuple[str, np.ndarray, np.ndarray]:
    """Title, standardised columns, and targets of a set."""
    X, Y = fetch(name, data_home=folder, download=False, return_X_y=True)
    rows, columns = complete(X)
    cut = "" if rows.all() and columns.all() else f" (of {X.shape[0]} x {X.shape[1]})"
    return name + cut, scale(X[np.ix_(rows, columns)]), Y[rows]


def tables(sets: Any, *names: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Those that are there; says which are not."""
    for name in names:
        if sets.only and name not in sets.only:
            continue
        try:
            if sets.folder is None:
                raise DataNotAvailable("no data folder (--data or COLUMNIST_DATA)")
            yield table(name, sets.folder)
        except DataNotAvailable as error:
            sets.say(f"skipped {name}: {error}")


def with_products() -> tuple[np.ndarray, np.ndarray]:
    """Diabetes with squares and products."""
    X, y = load_diabetes(return_X_y=True)
    return scale(PolynomialFeatures(2, include_bias=False).fit_transform(scale(X))), y


def product_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """One problem a size, from small to large."""
    X, y = with_products()
    for k in (2,) if quick else range(1, 13):
        yield centred("diabetes with products", X, y, k=k)


def product_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours, the prototypes, leaps, and fast ones."""
    k = dict(problem.given)
    return [
        subset(settings, problem),
        *prototype(settings, problem, "bss", "solve", copies=True),
        Contender("leaps", "exhaustive, exact", "leaps.select", OURS, k),
        Contender("abess", "splicing", "abess.select", OURS, k),
        Contender("fastcan", "beam", "fastcan.select", OURS, k | beam(problem)),
    ]


def beam(problem: Problem) -> dict[str, int]:
    """Ten candidates, as far as there are so many columns beside those that are chosen."""
    spare = problem.cases[0]["X"].shape[1] - problem.given["k"]
    return {"beam_width": max(min(10, spare), 1)}


def products(settings: Settings) -> Area:
    """The part of diabetes with products."""
    return area("products", PRODUCTS, settings, product_problems, product_calls)


def target_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """All targets of a table at once, on standardised columns."""
    if quick:
        found: Any = [("linnerud", *map(scale, load_linnerud(return_X_y=True)))]
    else:
        found = tables(sets, *TARGETS)
    for name, X, Y in found:
        for k in (2,) if quick else KS:
            if k < X.shape[1]:
                yield centred(name, X, scale(Y), k=k)


def target_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours with two limits, and fast ones."""
    k = dict(problem.given)
    limits = (settings.seconds / 6.0, settings.seconds)
    return [
        *(
            subset(replace(settings, seconds=limit), problem, f"{OURS}, {limit:g} s")
            for limit in limits
        ),
        Contender("columnist", FORWARD, "ours.select", FORWARD, k | {"selector": FORWARD}),
        Contender("abess", "splicing", "abess.select", FORWARD, k),
        Contender("fastcan", "forward", "fastcan.select", FORWARD, k),
        Contender("fastcan", "beam", "fastcan.select", FORWARD, k | beam(problem)),
    ]


def targets(settings: Settings) -> Area:
    """The part of real tables with targets."""
    return area("targets", REAL, settings, target_problems, target_calls)


def size_problems(sets: Any, quick: bool) -> Iterator[Problem]:
    """One target each, on standardised columns."""
    X, y = load_diabetes(return_X_y=True)
    yield centred("diabetes", scale(X), y)
    if quick:
        return
    wine = load_wine().data
    yield centred("wine, alcohol", scale(wine[:, 1:]), wine[:, 0])
    X, y = load_breast_cancer(return_X_y=True)
    yield centred("wdbc, malignant or not", scale(X), y)
    yield centred("diabetes with products", *with_products())
    for name, X, Y in tables(sets, *TARGETS, *MORE):
        if X.shape[1] < X.shape[0] - 2:
            yield centred(name, X, Y[:, 0])


def size_calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours, leaps and abess."""
    given = {"rule": "bic", "time_limit": settings.seconds}
    return [
        Contender("columnist", OURS, "subset.by_rule", OURS, given),
        Contender("leaps", "exhaustive, exact", "leaps.by_bic", OURS),
        Contender("abess", "splicing", "abess.by_bic", OURS),
    ]


def check_size(problem: Problem, answer: Mapping[str, Any]) -> None:
    """Different columns, any number of them."""
    m = problem.cases[0]["X"].shape[1]
    if len(answer["columns"]):
        check_choice(answer["columns"], m, m, at_most=True)


def bic(X: np.ndarray, y: np.ndarray, columns: np.ndarray) -> float:
    """The criterion of a choice."""
    n = len(X)
    error = ridge_error(X, y.reshape(n, -1), columns, 0.0)
    return n * float(np.log(error / n)) + len(columns) * float(np.log(n))


def judge_size(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """The criterion of all choices."""
    X, y = problem.cases[0]["X"], problem.cases[0]["y"]
    chosen = {name: np.asarray(one.answers[0]["columns"], int) for name, one in outcomes.items()}
    values = {name: bic(X, y, columns) for name, columns in chosen.items()}
    return {
        name: {
            "size": len(chosen[name]),
            "BIC": value,
            "above the best": max(value - min(values.values()), 0.0),
            "proven [%]": certificate(name, outcomes[name].answers[0], 0.0).get("proven [%]"),
        }
        for name, value in values.items()
    }


def sizes(settings: Settings) -> Area:
    """The part of sizes by BIC."""
    return area(
        "sizes", SIZES, settings, size_problems, size_calls,
        ("proven [%]", "above the best"), check_size, judge_size,
    )  # fmt: skip
