"""``columnist reproduce``: the printed tables of the documents, run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from columnist.cli.command import command, examples
from columnist.cli.data import Folder
from columnist.cli.errors import FAILED, BadInput
from columnist.cli.options import Telling
from columnist.cli.output import Screen, check_outputs
from columnist.cli.progress import watching
from columnist.cli.show import write_page
from columnist.cli.text import count, seconds

__all__ = ["EPILOG", "reproduce"]

EPILOG = examples(
    "columnist reproduce --list",
    "columnist reproduce he-3.2 xu-5.2",
    'columnist reproduce "he-3.*" --quick',
    "columnist reproduce all --quick --out reproduction.html",
)


@command
def reproduce(
    telling: Telling,
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TABLE]...", help="Tables, documents (he), patterns (he-3.*), or all."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Leave out what takes minutes; all in under five.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", help="Write the page.", metavar="PAGE.html")
    ] = None,
    data: Folder = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show the tables.")] = False,
) -> int:
    """Run printed tables again and compare them cell by cell."""
    screen = Screen(telling, "reproduce")
    if list_all:
        _list(screen)
        return 0
    if not tables:
        raise BadInput("which tables? Name some, or all (columnist reproduce --list shows them).")
    check_outputs(page=out)
    if data is not None and not Path(data).is_dir():
        raise BadInput(f"--data {data}: there is no such folder.")
    result = _run(screen, tables, quick, data)
    if out:
        write_page(result.to_html(), out, screen)
    _show(screen, result)
    screen.finish(result.to_dict())
    wrong = result.unexplained or result.failed or result.broken
    return FAILED if wrong or not any(t.cells for t in result.tables) else 0


def _list(screen: Screen) -> None:
    from columnist.reproduce import list_tables

    rows = [[t.name, t.document, t.title] for t in list_tables()]
    screen.table(["name", "document", "what it shows"], rows)
    keys = ("name", "document", "title")
    screen.finish({"tables": [dict(zip(keys, row, strict=True)) for row in rows]})


def _run(screen: Screen, tables: list[str], quick: bool, data: str | None):
    from columnist.reproduce import reproduce as run_again

    with watching(screen) as watch:
        done = 0

        def on_table(table) -> None:
            nonlocal done
            done = 0
            watch.phase(f"{table.name}: {table.title}")

        def on_cell(table, cell) -> None:
            nonlocal done
            done += 1
            watch.phase(f"{table.name}, {count(done, 'figure')}: {cell.where}")

        result = run_again(tables, quick=quick, data_home=data, on_table=on_table, on_cell=on_cell)
    if result.interrupted:
        screen.note("interrupted: what was done is kept")
    return result


def _show(screen: Screen, result) -> None:
    verdicts = list(result.counts)
    rows = [
        [t.name, *(str(t.counts[v] or "") for v in verdicts), seconds(t.seconds),
         "" if t.complete else "incomplete"]
        for t in result.tables
    ]  # fmt: skip
    total = ["all", *(str(n or "") for n in result.counts.values()), seconds(result.seconds), ""]
    screen.table(["table", *(f"{v}>" for v in verdicts), "time>", ""], [*rows, total])
    for name, cell in result.unexplained[:20]:
        screen.line(f"{name}, {cell.where}: printed {cell.printed}, ours {cell.ours}; no reason")
    for part in result.failed:
        screen.line(part.error)
    for name, why in result.broken.items():
        screen.line(f"{name}: {why}")
