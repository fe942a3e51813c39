"""Compare with other programs: ``python benchmarks/against/run.py [areas] [--quick]``.

``--environments`` is the folder that ``environments.py`` filled. A full run stores its rows as
``peers-<area>`` (:mod:`benchmarks.store`), a quick one only in the folder that ``--out`` names.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

HOME = Path(__file__).resolve().parent
if str(HOME.parents[1]) not in sys.path:
    sys.path.insert(0, str(HOME.parents[1]))

from benchmarks import table  # noqa: E402
from benchmarks.against import columns, large, robust, scores, target  # noqa: E402
from benchmarks.against.area import Area, measure, summary  # noqa: E402
from benchmarks.against.protocol import Runner  # noqa: E402
from benchmarks.data import Sets  # noqa: E402
from benchmarks.measure import Row, timed  # noqa: E402
from benchmarks.store import FOLDER, Stored  # noqa: E402

__all__ = ["AREAS", "details", "failures", "main", "versions"]

AREAS: dict[str, Area] = {
    module.AREA.key: module.AREA for module in (columns, target, scores, large, robust)
}
NOTE = """Every call runs in a process of its own, with one thread, on the same data in the same
run. Time is processor time, the least of several calls (for R the mean); "time / ours" is its ratio
to the call of Columnist named beside it, median over the sets, then least and largest: above 1 they
take longer. MB is the largest resident memory during the call, beside program and data. Figures of
quality are means over the sets that a call answered: compare calls that answered all."""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Columnist beside other programs.")
    parser.add_argument("names", nargs="*", help=f"all, or some of: {', '.join(AREAS)}")
    parser.add_argument("--quick", action="store_true", help="small versions, about a minute")
    parser.add_argument("--environments", type=Path, help="folder with the other programs")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a call may take")
    parser.add_argument("--data", default=os.environ.get("COLUMNIST_DATA"), help="data folder")
    parser.add_argument("--out", type=Path, help="folder of the stored rows")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(AREAS))
    if unknown:
        parser.error(f"unknown area {', '.join(unknown)}; choose from {', '.join(AREAS)}")
    if options.environments:
        options.environments = options.environments.resolve()
    if options.out is None and not options.quick:
        options.out = FOLDER
    return options


def filled(rows: Sequence[Row]) -> list[Row]:
    """Rows of equal columns; what is not known is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: "" if row.get(name) is None else row[name] for name in names} for row in rows]


def details(rows: Sequence[Row]) -> list[Row]:
    """All measurements, without what the summary tells."""
    hidden = ("version", "failure", "compared with")
    kept = [
        {key: row[key] for key in row if key not in hidden} for row in rows if not row["failure"]
    ]
    lines = filled(kept)
    empty = {name for name in lines[0] if all(line[name] == "" for line in lines)} if lines else ()
    return [{key: line[key] for key in line if key not in empty} for line in lines]


def failures(rows: Sequence[Row]) -> list[str]:
    """One line per call and reason, with the sets."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["failure"]:
            key = row["program"], row["call"], row["failure"]
            groups.setdefault(key, []).append(row["set"])
    return [
        f"{program}, {call}: {failure} ({'; '.join(sets)})"
        for (program, call, failure), sets in groups.items()
    ]


def versions(rows: Sequence[Row]) -> dict[str, str]:
    """Programs that answered, with their versions."""
    return {row["program"]: row["version"] for row in rows if row.get("version")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    options = parse(arguments)
    runner = Runner(options.environments, options.limit, 0.05 if options.quick else 0.5)
    sets = Sets(options.data)
    for name in options.names or AREAS:
        area, stored = AREAS[name], Stored(f"peers-{name}", options.out)
        print(f"\n== {name}: {area.title}", flush=True)
        stored.begin()
        seconds, rows = timed(
            lambda area=area: measure(area, sets, runner, options.quick, say_at_once)
        )
        stored.put(rows)
        print(f"\n{table.fixed_width(filled(summary(area, rows)))}\n({seconds:.0f} s)", flush=True)
    return 0


def say_at_once(line: str) -> None:
    """Print without delay."""
    print(line, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
