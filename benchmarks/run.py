"""Run the benchmarks: ``python benchmarks/run.py [names] [--quick] [--data DIR]``.

Tables appear as they are measured. A full run also stores the rows (:mod:`benchmarks.store`), a
quick one only in the folder that ``--out`` names.
Rows of sets that are not measured again are kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

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
    knowledge,
    large_graph,
    limits,
    lowrank,
    missing,
    mrsf_blocks,
    mrsf_path,
    out_of_core,
    parallel,
    reach,
    read_csv,
    readme,
    robust_criteria,
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
from benchmarks.measure import Row, timed  # noqa: E402
from benchmarks.store import FOLDER, Stored, run_facts  # noqa: E402

BENCHMARKS: dict[str, ModuleType] = {
    "textbook": textbook,
    "readme": readme,
    "reach": reach,
    "gap": gap,
    "limits": limits,
    "cost": cost,
    "imports": imports,
    "read_csv": read_csv,
    "command_line": command_line,
    "missing": missing,
    "parallel": parallel,
    "secular": secular,
    "exchange": exchange,
    "constrained": constrained,
    "weighted_tables": weighted_tables,
    "wide": wide,
    "wide_dask": wide_dask,
    "compare": compare,
    "robust_reach": robust_reach,
    "robust_criteria": robust_criteria,
    "robust_peers": robust_peers,
    "robust_rows": robust_rows,
    "large_graph": large_graph,
    "mrsf_path": mrsf_path,
    "mrsf_blocks": mrsf_blocks,
    "lowrank": lowrank,
    "knowledge": knowledge,
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
    parser.add_argument("--out", type=Path, help="folder of the stored rows")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}")
    if options.out is None and not options.quick:
        options.out = FOLDER
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and store."""
    options = parse(arguments)
    print(", ".join(f"{key} {value}" for key, value in run_facts().items()))
    if options.quick:
        print("Quick: smaller sizes, and limits of seconds for minutes. No figures to quote.")
    sets = Sets(options.data, options.sets)
    for name in options.names or BENCHMARKS:
        print(f"\n== {name}: {BENCHMARKS[name].TITLE}", flush=True)
        stored = Stored(name, options.out)
        stored.begin()
        seconds, rows = timed(lambda name=name: BENCHMARKS[name].rows(sets, options.quick))
        stored.put(rows)
        show(name, stored.rows)
        print(f"({seconds:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
