"""What the parts share: settings, calls, and how choices of columns are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.against.area import Area, Problem, check_choice
from benchmarks.against.columns import EXACT, distance
from benchmarks.against.protocol import Case, Contender, Outcome, Runner
from benchmarks.measure import Row

__all__ = [
    "FORWARD", "OURS", "CappedRunner", "Settings", "area", "centred", "certificate", "check",
    "judge", "prototype", "ridge_error", "subset",
]  # fmt: skip

OURS = "SubsetRegressor"
FORWARD = "ForwardSelector"
ROUNDING = 1e-9
START = 20.0  # seconds for the imports of a program


@dataclass(frozen=True)
class Settings:
    """How long a search may take by the clock, where prototypes are, and which problems to pose.

    A problem is posed if its title has one of the words, or if there are no words.
    """

    seconds: float = 60.0
    yardsticks: Path | None = None
    words: Sequence[str] = ()

    def wants(self, title: str) -> bool:
        """Whether a problem is to be posed."""
        return not self.words or any(word in title for word in self.words)


class CappedRunner(Runner):
    """Stops what does not stop itself, and does not ask it again about the same table.

    A program with a time limit of its own gets more than that, for what it does beside its search.
    """

    def __init__(self, environments: Path | None, seconds: float, budget: float = 0.5) -> None:
        super().__init__(environments, seconds, budget)
        self.seconds = seconds
        self.gave_up: set[tuple] = set()

    def ask(
        self, contender: Contender, cases: Sequence[Case], check: Callable[[Any], object] = bool
    ) -> Outcome:
        """Answers to all cases."""
        table = contender.program, contender.call, cases[0]["X"].shape
        if table in self.gave_up:
            return Outcome(failure="not asked: no answer to an easier question about this table")
        own = "time_limit" in contender.given
        self.limit = START + len(cases) * (10.0 * self.seconds + 60.0 if own else self.seconds)
        outcome = super().ask(contender, cases, check)
        if outcome.failure.startswith("no answer within"):
            self.gave_up.add(table)
        return outcome


def area(
    key: str,
    text: str,
    settings: Settings,
    problems: Callable,
    contenders: Callable,
    quality: Sequence[str] = ("proven [%]", "gap [%]", "above the best [%]"),
    checks: Callable | None = None,
    judges: Callable | None = None,
) -> Area:
    """A part as a table of the comparison: its text is a title and a note."""
    title, _, note = text.partition("\n\n")

    def wanted(sets: Any, quick: bool) -> Iterator[Problem]:
        return (one for one in problems(sets, quick) if settings.wants(one.title))

    return Area(
        key,
        title,
        note,
        wanted,
        partial(contenders, settings),
        checks or check,
        judges or judge,
        quality,
    )


def centred(name: str, X: np.ndarray, y: np.ndarray, **given: Any) -> Problem:
    """A problem on data without their means: an intercept changes nothing."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    return Problem(name, [{"X": X - X.mean(axis=0), "y": y - y.mean(axis=0)}], given)


def subset(settings: Settings, problem: Problem, name: str = OURS) -> Contender:
    """Our certified search."""
    given = dict(problem.given) | {"time_limit": settings.seconds}
    return Contender("columnist", name, "subset.regress", name, given)


def prototype(
    settings: Settings, problem: Problem, module: str, function: str, **options: Any
) -> list[Contender]:
    """A yardstick, if its folder is known."""
    if settings.yardsticks is None:
        return []
    given = dict(problem.given) | {"time_limit": settings.seconds} | options
    given |= {"folder": str(settings.yardsticks), "module": module, "function": function}
    return [Contender("prototype", f"{module}.{function}", "prototypes.select", OURS, given)]


def check(problem: Problem, answer: Mapping[str, Any]) -> None:
    """At most k different columns."""
    m = problem.cases[0]["X"].shape[1]
    check_choice(answer["columns"], problem.given["k"], m, at_most=True)


def ridge_error(X: np.ndarray, Y: np.ndarray, columns: np.ndarray, alpha: float) -> float:
    """Least ||Y - X_S B||^2 + alpha ||B||^2."""
    A = X[:, columns]
    if alpha:
        A = np.vstack([A, np.sqrt(alpha) * np.eye(len(columns))])
        Y = np.vstack([Y, np.zeros((len(columns), Y.shape[1]))])
    B = np.linalg.lstsq(A, Y, rcond=None)[0]
    return float(((Y - A @ B) ** 2).sum())


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Errors of all choices, by one formula, and what the programs say to have proven."""
    case = problem.cases[0]
    Y = case["y"].reshape(len(case["y"]), -1)
    alpha = problem.given.get("alpha", 0.0)
    errors = {
        name: ridge_error(case["X"], Y, np.asarray(found.answers[0]["columns"], int), alpha)
        for name, found in outcomes.items()
    }
    total, least = float((Y**2).sum()), min(errors.values(), default=0.0)
    return {
        name: {
            "error [%]": 100.0 * error / total,
            "above the best [%]": distance(error, least) if least > 0.0 else None,
            **certificate(name, outcomes[name].answers[0], least + ROUNDING * total),
        }
        for name, error in errors.items()
    }


def certificate(name: str, answer: Mapping[str, Any], least: float) -> Row:
    """Gap and proof as the program states them; a bound above the least error is none."""
    if name.endswith(EXACT):
        return {"proven [%]": 100.0, "gap [%]": 0.0}
    if "gap" not in answer:
        return {}
    if answer.get("bound", least) > least:
        return {"proven [%]": 0.0, "gap [%]": None, "refuted": "bound above the best error"}
    return {"proven [%]": 100.0 * answer["proven"], "gap [%]": 100.0 * answer["gap"]}
