"""Scores of single features on 2000 samples of 1000 features.

Laplacian score and SPEC build a graph of the samples; skfeature's forms dense matrices of all pairs
and their eigenvectors. "In common" is the share of the features that our counterpart also chooses;
where both programs mean the same score it is 100.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
        chosen = outcome.answers[0]["features"]
        shared = np.intersect1d(chosen, ours.answers[0]["features"]) if ours else []
        found[name] = {"in common [%]": 100.0 * len(shared) / len(chosen) if ours else None}
    return found


AREA = Area(
    "large",
    "Scores of features of many samples",
    __doc__.split("\n\n", 1)[1].strip(),
    problems,
    contenders,
    scores.check,
    judge,
    ("in common [%]",),
)
