"""Counts of what was tried and what came of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.soak.problems import Problem
from tests.soak.run import Answer

__all__ = ["Tally"]


class Tally:
    """Counts that can be added and printed."""

    def __init__(self):
        self.problems = 0
        self.faulty = 0
        self.seconds = 0.0
        # Kind -> statuses, faults; property -> counts of its values.
        self.statuses: dict[str, Counter] = defaultdict(Counter)
        self.faults: dict[str, Counter] = defaultdict(Counter)
        self.tried: dict[str, Counter] = defaultdict(Counter)
        self.kinds: Counter = Counter()

    def count(self, problem: Problem, answer: Answer, faults: list[str]) -> None:
        """One more problem."""
        self.problems += 1
        self.faulty += bool(faults)
        self.seconds += answer.seconds
        self.kinds[problem.kind] += 1
        self.statuses[problem.kind].update(answer.statuses)
        self.faults[problem.kind].update({fault.split(":")[0] for fault in faults})
        for name, value in _properties(problem).items():
            self.tried[name][str(value)] += 1

    def add(self, other: Tally) -> None:
        """The counts of another worker."""
        self.problems += other.problems
        self.faulty += other.faulty
        self.seconds += other.seconds
        self.kinds.update(other.kinds)
        for mine, theirs in (
            (self.statuses, other.statuses),
            (self.faults, other.faults),
            (self.tried, other.tried),
        ):
            for key, counts in theirs.items():
                mine[key].update(counts)

    def as_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        kinds = {
            kind: {
                "problems": count,
                "statuses": dict(self.statuses[kind].most_common()),
                "faults": dict(self.faults[kind].most_common()),
            }
            for kind, count in sorted(self.kinds.items())
        }
        tried = {name: dict(counts.most_common()) for name, counts in sorted(self.tried.items())}
        return {
            "problems": self.problems,
            "violations": self.faulty,
            "seconds_of_fits": round(self.seconds, 1),
            "kinds": kinds,
            "tried": tried,
        }

    def table(self) -> str:
        """One line per kind: problems, faults, statuses; then what was tried."""
        width = max(map(len, self.kinds), default=4)
        lines = [f"{'kind':<{width}}  problems  faults  statuses"]
        for kind, count in sorted(self.kinds.items()):
            faults = ", ".join(f"{n} {word}" for word, n in self.faults[kind].most_common())
            ended = ", ".join(f"{n} {status}" for status, n in self.statuses[kind].most_common())
            lines.append(f"{kind:<{width}}  {count:>8}  {faults or '-':>6}  {ended}")
        for name, counts in sorted(self.tried.items()):
            listed = ", ".join(f"{value} {n}" for value, n in counts.most_common())
            lines.append(f"{name}: {listed}")
        return "\n".join(lines)


def _properties(problem: Problem) -> dict[str, Any]:
    """What is counted of every problem."""
    y = problem.y
    target = "X" if y is None else "labels" if y.dtype.kind in "OUSbiu" else f"y, {y.ndim}-d"
    limits = [
        name
        for name in ("max_gap", "max_nodes", "time_limit", "max_memory")
        if name in problem.options
    ]
    limits += ["callback"] * (problem.stop is not None)
    limits += ["Ctrl-C"] * (problem.interrupt is not None)
    constrained = [name for name in ("include", "exclude") if name in problem.options]
    constrained += sorted({type(c).__name__ for c in problem.constraints})
    return {
        "task": problem.task,
        "data": problem.form,
        "criterion": problem.criterion,
        "search": problem.option("search", "auto"),
        "target": "rows" if problem.is_rows else target,
        "limit": "+".join(limits) or "none",
        "constraints": "+".join(constrained) or "none",
        "weights": problem.weights is not None,
        "proof": problem.proof,
        "solutions": problem.option("n_solutions", 1),
        "components": problem.option("n_components", 0),
        "centering": problem.option("centering", "optimal" if problem.is_rows else "none"),
    }
