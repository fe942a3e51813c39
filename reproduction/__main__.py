"""The command ``python -m reproduction``; ``make reproduce`` sets up what it needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from columnist.report import write_report
from reproduction.registry import PrintedTable
from reproduction.results import STORED, Reproduction, stored
from reproduction.run import list_tables, reproduce

__all__ = ["main"]

FORMATS: dict[str, Callable[[Reproduction], str]] = {
    ".html": Reproduction.to_html,
    ".md": Reproduction.to_markdown,
    ".json": Reproduction.to_json,
}
SHOWN = 20  # differences without a reason


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute tables again; 1 if something differs without a reason or could not be computed."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.list:
        print(*aligned([[t.name, t.document, t.title] for t in list_tables()]), sep="\n")
        return 0
    if not options.tables:
        parser.error("name some tables, or all; --list shows them")
    for path in options.out:
        if path.suffix not in FORMATS or not path.parent.is_dir():
            parser.error(f"--out {path}: expected a file ending in {', '.join(FORMATS)}")
    if options.store and options.quick:
        parser.error("--store keeps full runs: leave out --quick")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data {options.data}: no such folder")
    try:
        result = reproduce(
            options.tables, quick=options.quick, data_home=options.data, on_table=announce
        )
    except ValueError as error:  # a name that is no table
        parser.error(str(error))
    if options.store:
        STORED.write_text(stored().replaced(result).to_json(), encoding="utf-8")
    for path in options.out:
        write_report(FORMATS[path.suffix](result), path)
    print(*report_lines(result), sep="\n")
    wrong = result.unexplained or result.failed or result.broken
    return 1 if wrong or not any(part.cells for part in result.tables) else 0


def make_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Compute the published tables again and compare them cell by cell.",
    )
    parser.add_argument(
        "tables", nargs="*", metavar="table", help="tables, documents (he), patterns (he-3.*), all"
    )
    parser.add_argument("--list", action="store_true", help="show the tables")
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes minutes; all in under five"
    )
    parser.add_argument(
        "--out",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write every cell to FILE.html, FILE.md or FILE.json; may be repeated",
    )
    parser.add_argument(
        "--store", action="store_true", help="replace these tables in the stored results"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="data; COLUMNIST_DATA or the user's cache"
    )
    return parser


def announce(table: PrintedTable) -> None:
    """Say on standard error what is being computed."""
    print(f"{table.name}: {table.title}", file=sys.stderr, flush=True)


def report_lines(result: Reproduction) -> Iterator[str]:
    """Counts of every table, then what needs attention."""
    parts = [(part.label, part.counts, part.seconds) for part in result.tables]
    rows = [["table", *result.counts, "seconds"]]
    for name, counts, seconds in [*parts, ("all", result.counts, result.seconds)]:
        rows.append([name, *(str(n or "") for n in counts.values()), f"{seconds:.1f}"])
    yield from aligned(rows)
    for name, cell in result.unexplained[:SHOWN]:
        yield f"{name}, {cell.where}: printed {cell.printed}, ours {cell.ours}; no reason"
    yield from (part.error for part in result.failed)
    yield from (f"{module}: {why}" for module, why in result.broken.items())
    if result.interrupted:
        yield "interrupted: the completed tables are kept"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


if __name__ == "__main__":
    raise SystemExit(main())
