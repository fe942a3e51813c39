"""Problems one after the other, until the time is over or enough were tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.soak.check import faults
from tests.soak.known import known_cases
from tests.soak.problems import Problem, draw, weights
from tests.soak.run import ask
from tests.soak.shrink import shrunk
from tests.soak.tally import Tally

__all__ = ["Plan", "Report", "work"]


@dataclass(frozen=True)
class Plan:
    """What one worker does: problems ``first``, ``first + step``, ..."""

    kinds: tuple[str, ...]
    seed: int
    first: int
    step: int
    problems: int | None
    deadline: float
    known: bool = True


@dataclass(frozen=True)
class Report:
    """News of a worker: counts since the last one, and examples of new faults."""

    tally: Tally
    examples: tuple[tuple[Problem, tuple[str, ...]], ...]


def faults_of(problem: Problem) -> list[str]:
    """Solve and check."""
    return faults(problem, ask(problem))


def work(
    plan: Plan,
    tell: Callable[[Report], object],
    started: Callable[[int], object] = lambda index: None,
) -> None:
    """Solve problems and tell about them every few seconds."""
    tally, examples, seen = Tally(), [], set()
    last = time.monotonic()
    for index, problem in _problems(plan):
        started(index)
        answer = ask(problem)
        found = faults(problem, answer)
        tally.count(problem, answer, found)
        for word in dict.fromkeys(fault.split(":")[0] for fault in found):
            if (problem.kind, word) not in seen:
                seen.add((problem.kind, word))
                examples.append(_example(problem, word, found))
        if time.monotonic() > last + 5.0:
            tell(Report(tally, tuple(examples)))
            tally, examples, last = Tally(), [], time.monotonic()
    tell(Report(tally, tuple(examples)))


def _problems(plan: Plan):
    """Known cases first, then random ones; the index of a random one gives its seed."""
    for index, problem in enumerate(known_cases() if plan.known else ()):
        if index % plan.step == plan.first:
            yield -1 - index, problem
    index = plan.first
    while time.time() < plan.deadline and (plan.problems is None or index < plan.problems):
        yield index, numbered(plan.kinds, plan.seed, index)
        index += plan.step


def numbered(kinds: Sequence[str], seed: int, index: int) -> Problem:
    """The random problem of a number."""
    rng = np.random.default_rng([seed, index])
    return draw(str(rng.choice(list(kinds), p=weights(kinds))), rng)


def _example(problem: Problem, word: str, found: list[str]):
    small = shrunk(problem, word, faults_of)
    again = [fault for fault in faults_of(small) if fault.startswith(f"{word}:")]
    return small, tuple(again or [fault for fault in found if fault.startswith(f"{word}:")])
