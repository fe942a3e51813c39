"""Scores of single features on 2000 samples of 1000 features.

Laplacian score and SPEC build a graph of the samples; skfeature's forms dense matrices of all pairs
and their eigenvectors. "In common" is the share of the features that our counterpart also chooses;
where both programs mean the same score it is 100. "Scores differ" is the largest difference from
our score of a feature, as a share of our largest score: fast-select computes ReliefF in single
precision, and skrebate weighs the misses of a class by other shares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.against import scores
from benchmarks.against.area import Area, Problem
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row

__all__ = ["AREA"]

CALLS = {
    "LaplacianScore",
    "SpectralSelector",
    "ReliefF",
    "lap_score",
    "SPEC, turned round",
    "reliefF",
}


def problems(sets, quick: bool) -> Iterator[Problem]:
    """Five kinds of samples, told apart by a tenth of the features."""
    X, y = scores.clusters(*((200, 100) if quick else (2000, 1000)))
    yield Problem("generated", [{"X": X, "y": y}], {"k": 50})


def contenders(problem: Problem, quick: bool) -> list[Contender]:
    """The calls of the scores that are compared here."""
    return [call for call in scores.contenders(problem, quick) if call.call in CALLS]


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """What is shared with our counterpart."""
    counterparts = {f"{c.program}: {c.call}": c.ours for c in contenders(problem, False)}
    found: dict[str, Row] = {}
    for name, outcome in outcomes.items():
        ours = outcomes.get(f"columnist: {counterparts[name]}")
        if ours:
            found[name] = beside(outcome.answers[0], ours.answers[0])
    return found


def beside(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Row:
    """How much two answers agree."""
    chosen, scores = theirs["features"], np.asarray(ours["scores"])
    shared = 100.0 * len(np.intersect1d(chosen, ours["features"])) / len(chosen)
    apart = np.abs(theirs["scores"] - scores).max() if "scores" in theirs else None
    share = None if apart is None else float(apart / np.abs(scores).max())
    return {"in common [%]": shared, "scores differ": share}


AREA = Area(
    "large",
    "Scores of features of many samples",
    __doc__.split("\n\n", 1)[1].strip(),
    problems,
    contenders,
    scores.check,
    judge,
    ("in common [%]", "scores differ"),
)
