"""Run the benchmarks: ``python benchmarks/run.py [names] [--quick] [--data DIR]``.

Tables appear as they are measured. A full run also writes them to ``benchmarks/results.json``
and ``benchmarks/results.md``; a quick one only where ``--out`` says. With ``--sets`` or with names,
what is not measured again is kept from the earlier file.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

HOME = Path(__file__).resolve().parent
if str(HOME.parent) not in sys.path:
    sys.path.insert(0, str(HOME.parent))  # the benchmarks use the oracles of the tests

from benchmarks import (  # noqa: E402
    cleaning,
    command_line,
    compare,
    constrained,
    cost,
    exchange,
    gap,
    imports,
    large_graph,
    limits,
    lowrank,
    mrsf_path,
    out_of_core,
    parallel,
    reach,
    read_csv,
    robust_peers,
    robust_reach,
    robust_rows,
    scaling,
    secular,
    table,
    textbook,
    weighted_tables,
    wide,
    wide_dask,
)
from benchmarks.data import Sets  # noqa: E402
from benchmarks.measure import Row, machine, timed  # noqa: E402

BENCHMARKS: dict[str, ModuleType] = {
    "textbook": textbook,
    "reach": reach,
    "gap": gap,
    "limits": limits,
    "cost": cost,
    "imports": imports,
    "read_csv": read_csv,
    "command_line": command_line,
    "parallel": parallel,
    "secular": secular,
    "exchange": exchange,
    "constrained": constrained,
    "weighted_tables": weighted_tables,
    "wide": wide,
    "wide_dask": wide_dask,
    "compare": compare,
    "robust_reach": robust_reach,
    "robust_peers": robust_peers,
    "robust_rows": robust_rows,
    "large_graph": large_graph,
    "mrsf_path": mrsf_path,
    "lowrank": lowrank,
    "cleaning": cleaning,
    "out_of_core": out_of_core,
    "scaling": scaling,
}


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Benchmarks of Columnist.")
    parser.add_argument("names", nargs="*", help=f"all, or some of: {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small versions, under a minute")
    parser.add_argument("--data", default=os.environ.get("COLUMNIST_DATA"), help="data folder")
    parser.add_argument("--sets", nargs="+", default=(), help="only these data sets")
    parser.add_argument("--out", type=Path, help="results file; .md goes beside the .json")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
    if options.out is None and not options.quick:
        options.out = HOME / "results.json"
    return options


def tables_of(name: str, rows: list[Row]) -> dict[str, list[Row]]:
    """What to show: a module may condense its rows."""
    condense = getattr(BENCHMARKS[name], "tables", None)
    return condense(rows) if condense and rows else {"": rows}


def show(name: str, rows: list[Row]) -> None:
    """Print the tables of one benchmark."""
    for caption, lines in tables_of(name, rows).items():
        print(f"\n{caption}" if caption else "")
        print(table.fixed_width(lines), flush=True)


def report(results: dict[str, Any]) -> str:
    """All results as Markdown."""
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    parts = ["# Benchmark results", f"Machine: {facts}."]
    for name, module in BENCHMARKS.items():
        if name in results:
            note = (module.__doc__ or "").strip()
            parts.append(table.markdown(module.TITLE, note, tables_of(name, results[name])))
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    options = parse(arguments)
    results = table.read(options.out) if options.out else {}
    results["machine"] = machine()
    print(", ".join(f"{key} {value}" for key, value in results["machine"].items()))
    if options.quick:
        print("Quick: smaller sizes, and limits of seconds for minutes. No figures to quote.")
    sets = Sets(options.data, options.sets)
    for name in options.names or BENCHMARKS:
        print(f"\n== {name}: {BENCHMARKS[name].TITLE}", flush=True)
        seconds, rows = timed(lambda name=name: BENCHMARKS[name].rows(sets, options.quick))
        results[name] = table.merge(results.get(name, []), rows)
        show(name, rows)
        print(f"({seconds:.0f} s)", flush=True)
        if options.out:
            table.write(options.out, results, report(results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
