"""The choices after one second, beside the heuristics of other programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from sklearn.preprocessing import scale

from benchmarks.against.area import Area, Problem
from benchmarks.against.protocol import Contender
from benchmarks.subset.generated import readme_problems, regression
from benchmarks.subset.judge import OURS, Settings, area, centred, subset
from benchmarks.subset.real import TARGETS, beam, tables, with_products

__all__ = ["incumbents"]

SECONDS = 1.0
# Rows, columns, true columns.
SHAPES = ((2500, 500, 10), (5000, 1000, 10))
CORRELATIONS = (0.5, 0.9)
SIGNALS = (0.2, 1.0)
DRAWS = 2
SIZES = (6, 8, 10, 12)
KS = (5, 10, 20)

INCUMBENTS = """Choices after one second

What is the choice worth that a search of one second returns, proven or not? Designs, diabetes with
products, the case of L0BnB's README, and real tables with their first target and with all of them.
OKRidge starts with a beam search and has one second, too; L0BnB has one second for every solution
of its path. abess and fastcan have no limit. "Above the best" compares the errors of all choices in
the row."""


def problems(settings: Settings, sets: Any, quick: bool) -> Iterator[Problem]:
    """Generated and real ones, from easy to hard."""
    if quick:
        yield centred("AR 0.5, signal 1, draw 0", *regression(120, 30, 0.5, 1.0, 3, 0), k=3)
        return
    for (n, m, k), rho, signal in product(SHAPES, CORRELATIONS, SIGNALS):
        for draw in range(DRAWS):
            name = f"AR {rho:g}, signal {signal:g}, draw {draw}"
            if settings.wants(f"{name}, {n} x {m}, k = {k}"):  # before it is drawn
                yield centred(name, *regression(n, m, rho, signal, k, draw), k=k)
    for k in SIZES:
        yield centred("diabetes with products", *with_products(), k=k)
    yield from readme_problems(sets, quick)
    for name, X, Y in tables(sets, *TARGETS):
        for k in KS:
            if k < X.shape[1]:
                yield centred(f"{name}, first target", X, scale(Y[:, 0]), k=k)
                yield centred(f"{name}, all targets", X, scale(Y), k=k)


def calls(settings: Settings, problem: Problem, quick: bool) -> list[Contender]:
    """Ours, and those that answer the same question."""
    one = replace(settings, seconds=SECONDS)
    given, limit = dict(problem.given), {"time_limit": SECONDS}
    ours = [subset(one, problem)]
    if "alpha" in given:
        return [*ours, Contender("l0bnb", "path", "l0bnb.path", OURS, given | limit)]
    others = [
        Contender("abess", "splicing", "abess.select", OURS, given),
        Contender("fastcan", "beam", "fastcan.select", OURS, given | beam(problem)),
    ]
    if problem.cases[0]["y"].ndim == 1:
        others.append(Contender("okridge", "BNBTree", "okridge.select", OURS, given | limit))
    return ours + others


def incumbents(settings: Settings) -> Area:
    """The part of choices after one second."""
    found = partial(problems, settings)
    return area("incumbents", INCUMBENTS, settings, found, calls, ("above the best [%]",))
