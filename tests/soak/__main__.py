"""``python -m tests.soak --minutes 5``: see :mod:`tests.soak`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import numpy as np
import scipy
import sklearn

import columnist
from tests.soak.parallel import share
from tests.soak.problems import KINDS, Problem
from tests.soak.store import as_code, write
from tests.soak.tally import Tally
from tests.soak.work import Plan, Report, work


def main(arguments: list[str] | None = None) -> int:
    """Run the soak; the exit status is 1 if anything was wrong."""
    options = _options(arguments)
    kinds = tuple(options.kinds.split(",")) if options.kinds else tuple(KINDS)
    strange = sorted(set(kinds) - set(KINDS))
    if strange:
        sys.exit(f"no such kind: {', '.join(strange)}; there are {', '.join(KINDS)}")
    print(f"{len(kinds)} kinds, seed {options.seed}, {options.jobs} workers", flush=True)
    journal = Journal(Path(options.keep))
    started = time.time()
    deadline = started + 60.0 * options.minutes
    plans = [
        Plan(kinds, options.seed, i, options.jobs, options.problems, deadline, not options.kinds)
        for i in range(options.jobs)
    ]
    if options.jobs == 1:
        work(plans[0], journal.note)
    else:
        share(plans, journal.note, journal.lose)
    journal.close()
    result = _result(options, journal, time.time() - started)
    if options.out:
        Path(options.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(journal.tally.faulty > 0 or bool(journal.lost))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long (default: 5)")
    parser.add_argument("--problems", type=int, help="how many random problems at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", help="only these, separated by commas")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--out", help="file for the counts (JSON)")
    parser.add_argument(
        "--keep", default="soak-failures", help="folder for minimal examples (default: %(default)s)"
    )
    return parser.parse_args(arguments)


class Journal:
    """Counts, examples and what is printed."""

    def __init__(self, keep: Path):
        self.tally = Tally()
        self.examples: dict[tuple[str, str], tuple[Problem, tuple[str, ...]]] = {}
        self.lost: list[str] = []
        self._keep = keep
        self._printed = time.monotonic()

    def note(self, report: Report) -> None:
        """News of a worker."""
        self.tally.add(report.tally)
        for problem, faults in report.examples:
            self._example(problem, faults)
        if time.monotonic() > self._printed + 30.0:
            print(f"{self.tally.problems} problems, {self.tally.faulty} violations", flush=True)
            self._printed = time.monotonic()

    def lose(self, message: str) -> None:
        """A worker that came to an end of its own."""
        print(message, flush=True)
        self.lost.append(message)

    def _example(self, problem: Problem, faults: tuple[str, ...]) -> None:
        key = problem.kind, faults[0].split(":")[0]
        if key in self.examples:
            return
        self.examples[key] = problem, faults
        print(f"\n{problem.kind}: {'; '.join(faults)}\n{as_code(problem)}\n", flush=True)
        self._keep.mkdir(parents=True, exist_ok=True)
        name = "-".join(key).replace(": ", "-").replace(" ", "-")
        write(self._keep / f"{name}.json", problem, list(faults))

    def close(self) -> None:
        """Print the summary."""
        print(self.tally.table())
        print(f"{self.tally.problems} problems, {self.tally.faulty} violations", flush=True)


def _result(options: argparse.Namespace, journal: Journal, seconds: float) -> dict:
    """What is stored: the run, the counts, and the code of every example."""
    return {
        "columnist": columnist.__version__,
        "seed": options.seed,
        "minutes": round(seconds / 60.0, 2),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": platform.machine(),
        **journal.tally.as_dict(),
        "lost_workers": journal.lost,
        "examples": [
            {"kind": kind, "faults": list(faults), "code": as_code(problem)}
            for (kind, _), (problem, faults) in journal.examples.items()
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
