"""What the areas share: problems, and one row per problem and call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.against.protocol import Case, Contender, Outcome, Runner
from benchmarks.measure import Row

__all__ = ["Area", "Problem", "check_choice", "measure", "summary"]


@dataclass(frozen=True)
class Problem:
    """Data in cases: programs see ``cases`` and ``given``, the judge also ``truth``."""

    name: str
    cases: Sequence[Case]
    given: Mapping[str, Any]
    truth: Any = field(default=None, repr=False)

    @property
    def title(self) -> str:
        """Name and size; cases of one problem are about equally large."""
        n, m = self.cases[0]["X"].shape
        targets = self.cases[0].get("y", np.empty(0))
        several = f", {targets.shape[1]} targets" if targets.ndim == 2 else ""
        given = [f"{SHORT.get(key, key)} = {value}" for key, value in self.given.items()]
        return ", ".join([self.name, f"{n} x {m}{several}", *given])


SHORT = {"n_components": "r"}


@dataclass(frozen=True)
class Area:
    """One table.

    ``judge`` turns the answers of all calls on a problem (call -> outcome; only good ones) into
    columns; ``quality`` names the columns that the summary takes the mean of.
    """

    key: str
    title: str
    note: str
    problems: Callable[[Any, bool], Iterable[Problem]]
    contenders: Callable[[Problem, bool], Sequence[Contender]]
    check: Callable[[Problem, Mapping[str, Any]], object]
    judge: Callable[[Problem, Mapping[str, Outcome]], dict[str, Row]]
    quality: Sequence[str]


def measure(area: Area, sets, runner: Runner, quick: bool, say=print) -> list[Row]:
    """One row per problem and call."""
    found: list[Row] = []
    for problem in area.problems(sets, quick):
        say(f"  {problem.title}")
        contenders = area.contenders(problem, quick)
        outcomes = {}
        for contender in contenders:
            outcome = runner.ask(contender, problem.cases, lambda a, p=problem: area.check(p, a))
            outcomes[label(contender)] = outcome
            say(f"    {label(contender)}: {outcome.failure or f'{mean_ms(outcome):.4g} ms'}")
        good = {name: outcome for name, outcome in outcomes.items() if not outcome.failure}
        quality = area.judge(problem, good)
        found += [row_of(problem, each, outcomes, quality) for each in contenders]
    return found


def label(contender: Contender) -> str:
    """A call among those of all programs."""
    return f"{contender.program}: {contender.call}"


def row_of(
    problem: Problem, contender: Contender, outcomes: Mapping[str, Outcome], quality: Mapping
) -> Row:
    """A line of the table; what could not be measured is None."""
    outcome = outcomes[label(contender)]
    ours = outcomes.get(f"columnist: {contender.ours}")
    row: Row = {"set": problem.title, "program": contender.program, "call": contender.call}
    row |= quality.get(label(contender), {})
    if outcome.failure:
        return row | {"failure": outcome.failure}
    ratio = mean_ms(outcome) / mean_ms(ours) if ours and finished(ours) else None
    return row | {
        "ms": mean_ms(outcome),
        "wall ms": 1e3 * float(np.mean(outcome.waited)) if outcome.waited else None,
        "times ours": ratio,
        "compared with": contender.ours if ratio else "",
        "MB": outcome.megabytes,
        "first ms": 1e3 * outcome.first if contender.warm else None,
        "version": outcome.version,
        "failure": "",
    }


def finished(ours: Outcome) -> bool:
    """Whether a time is one to compare with: not that of a search which was stopped."""
    return not ours.failure and all(answer.get("proven", True) for answer in ours.answers)


def mean_ms(outcome: Outcome) -> float:
    """Milliseconds of one case."""
    return 1e3 * float(np.mean(outcome.seconds))


def check_choice(chosen: Any, k: int, n_columns: int, at_most: bool = False) -> np.ndarray:
    """A choice of k different columns, or fewer where that is fair."""
    columns = np.asarray(chosen, dtype=float)
    if columns.ndim != 1 or not np.array_equal(columns, np.round(columns)):
        raise ValueError("column numbers expected")
    wrong = len(columns) > k if at_most else len(columns) != k
    if wrong or len(np.unique(columns)) != len(columns):
        raise ValueError(f"{len(np.unique(columns))} columns instead of {k}")
    if len(columns) == 0 or columns.min() < 0 or columns.max() >= n_columns:
        raise ValueError("columns that do not exist")
    return columns.astype(int)


def summary(area: Area, rows: Sequence[Row]) -> list[Row]:
    """One line per call, over all its sets: the table of an area."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["program"], row["call"]), []).append(row)
    found = []
    for (program, call), group in groups.items():
        good = [row for row in group if not row["failure"]]
        ratios = [row["times ours"] for row in good if row["times ours"] is not None]
        line: Row = {"program": program, "call": call, "answered": f"{len(good)} of {len(group)}"}
        for name in area.quality:
            values = [row[name] for row in good if row.get(name) is not None]
            line[name] = float(np.mean(values)) if values else None
        line["time / ours"] = float(np.median(ratios)) if ratios else None
        line["least"], line["largest"] = (min(ratios), max(ratios)) if ratios else (None, None)
        line["compared with"] = next((name for row in good if (name := row["compared with"])), "")
        line["MB, largest"] = max((row["MB"] for row in good), default=None)
        failures = [row["failure"] for row in group if row["failure"]]
        line["failures"] = "; ".join(dict.fromkeys(failures))
        found.append(line)
    return found
