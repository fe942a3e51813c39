"""Best subsets beside other programs: ``python benchmarks/subset/run.py [parts] [--quick]``.

``--environments`` is the folder that ``benchmarks/against/environments.py`` filled,
``--yardsticks`` a folder with NumPy prototypes of the search (``bss.py``, ``bss2.py``), if there is
one. A full run stores the rows of every problem at once, as ``subset-<part>``
(:mod:`benchmarks.store`), a quick one only in the folder that ``--out`` names. With ``--only``,
problems whose title has none of the words are left out. ``--since COMMIT`` goes on where a run was
cut off: problems that are stored with all their calls, measured at that commit or a later one, are
not measured again.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

HOME = Path(__file__).resolve().parent
if str(HOME.parents[1]) not in sys.path:
    sys.path.insert(0, str(HOME.parents[1]))

from benchmarks import table  # noqa: E402
from benchmarks.against.area import Area, Problem, measure, summary  # noqa: E402
from benchmarks.against.run import filled, say_at_once  # noqa: E402
from benchmarks.data import Sets  # noqa: E402
from benchmarks.measure import Row  # noqa: E402
from benchmarks.store import FOLDER, Stored, git  # noqa: E402
from benchmarks.subset.classes import accuracy, classes  # noqa: E402
from benchmarks.subset.generated import designs, readme_case  # noqa: E402
from benchmarks.subset.incumbents import incumbents  # noqa: E402
from benchmarks.subset.judge import CappedRunner, Settings  # noqa: E402
from benchmarks.subset.real import products, sizes, targets  # noqa: E402

__all__ = ["PARTS", "main", "over_draws"]

PARTS = {
    part.__name__: part
    for part in (designs, readme_case, products, targets, incumbents, sizes, classes, accuracy)
}
TITLE = "Best subsets with a proof, beside other programs"
NOTE = """Every call runs in a process of its own, with one thread, on the same data in the same
run. Time is processor time; searches are stopped by the clock. "Time / ours" is its ratio to the
call of Columnist named beside it, where that proved its choice: median, least and largest over the
sets; above 1 they take longer. Figures of quality are means over the sets that a call answered.
Errors are computed by one formula from the columns that a program names; gaps and proofs are what
it states itself. "Refuted" would be a bound of ours above an error that some program reached."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=TITLE)
    parser.add_argument("names", nargs="*", help=f"all, or some of: {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="tiny versions, in seconds")
    parser.add_argument("--seconds", type=float, help="limit of a search (60; quick: 1)")
    parser.add_argument("--environments", type=Path, help="folder with the other programs")
    parser.add_argument("--yardsticks", type=Path, help="folder with prototypes")
    parser.add_argument("--only", nargs="+", default=(), help="words of the problems' titles")
    parser.add_argument("--since", help="commit from which on stored problems are kept")
    parser.add_argument("--data", default=os.environ.get("COLUMNIST_DATA"), help="data folder")
    parser.add_argument("--out", type=Path, help="folder of the stored rows")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(PARTS))
    if unknown:
        parser.error(f"unknown part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    for name in ("environments", "yardsticks"):
        if getattr(options, name):
            setattr(options, name, getattr(options, name).resolve())
    options.seconds = options.seconds or (1.0 if options.quick else 60.0)
    if options.out is None and not options.quick:
        options.out = FOLDER
    return options


def over_draws(rows: Sequence[Row]) -> list[Row]:
    """One line per design and call: the median of what its draws took."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        name, _, rest = row["set"].partition(", draw ")
        design = f"{name}, {rest.partition(', ')[2]}" if rest else name
        groups.setdefault((design, row["program"], row["call"]), []).append(row)
    return filled([line_of(key, group) for key, group in groups.items()])


def line_of(key: tuple[str, str, str], group: Sequence[Row]) -> Row:
    """Medians of the draws that were answered; gaps are the largest."""
    good = [row for row in group if not row["failure"]]
    line: Row = dict(zip(("set", "program", "call"), key, strict=True))
    line["answered"] = f"{len(good)} of {len(group)}"
    proofs = known(good, "proven [%]")
    line["proven"] = f"{sum(proof > 0.0 for proof in proofs)} of {len(good)}" if proofs else None
    line["largest gap [%]"] = max(known(good, "gap [%]"), default=None)
    line["largest above the best [%]"] = max(known(good, "above the best [%]"), default=None)
    for name in ("error [%]", "ms", "times ours", "MB"):
        values = known(good, name)
        line[name] = float(np.median(values)) if values else None
    return line


def known(rows: Sequence[Row], name: str) -> list[float]:
    """Values of a column where there are any."""
    return [row[name] for row in rows if row.get(name) is not None]


@cache
def contains(commit: str, since: str) -> bool:
    """Whether a commit is ``since`` or comes after it."""
    try:
        git("merge-base", "--is-ancestor", since, commit.removesuffix("-dirty"))
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def is_stored(stored: Stored, part: Area, problem: Problem, options) -> bool:
    """Whether all calls on a problem were measured since the commit that was named."""
    if options.since is None:
        return False
    for call in part.contenders(problem, options.quick):
        own = {"set": problem.title, "program": call.program, "call": call.call}
        if not stored.find(**own) or not contains(stored.run_of(**own)["commit"], options.since):
            return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    options = parse(arguments)
    settings = Settings(options.seconds, options.yardsticks, options.only)
    areas = {name: part(settings) for name, part in PARTS.items()}
    runner = CappedRunner(options.environments, options.seconds, 0.0 if options.quick else 0.5)
    sets = Sets(options.data)
    for name in options.names or areas:
        part = areas[name]
        print(f"\n== {name}: {part.title}", flush=True)
        stored, rows = Stored(f"subset-{name}", options.out), []
        for problem in part.problems(sets, options.quick):
            if is_stored(stored, part, problem, options):
                continue
            one = replace(part, problems=lambda *_, problem=problem: [problem])
            found = measure(one, sets, runner, options.quick, say_at_once)
            stored.put(found)  # at once: a part can take hours
            rows += found
        print(f"\n{table.fixed_width(filled(summary(part, rows)))}", flush=True)
    return 0


if __name__ == "__main__":
    # A run that is told to end takes the program with it that it waits for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    raise SystemExit(main())
