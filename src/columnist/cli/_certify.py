"""``columnist certify``: how good is a selection made elsewhere?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import FAILED, BadInput
from columnist.cli._inputs import load, names_in, resolve_names
from columnist.cli._options import Preparing, Printing, Reading, Report, Searching
from columnist.cli._output import (
    Screen,
    certificate_json,
    check_outputs,
    show_certificate,
    write_page,
)
from columnist.cli._progress import watching
from columnist.cli._select import check_explain
from columnist.cli._text import count, listed

if TYPE_CHECKING:
    from columnist.cli._prepared import Data

__all__ = ["EPILOG", "certify"]

EPILOG = examples(
    "columnist certify wine.csv alcohol flavanoids color_intensity --center --scale",
    'columnist certify wine.csv --columns "alcohol,flavanoids,hue" --target class --report p.html',
    "columnist certify new.csv --columns-from model.json --json",
    "columnist certify data.npy x1 x4 --strict && echo nothing is better",
)


@command
def certify(
    reading: Reading,
    preparing: Preparing,
    searching: Searching,
    printing: Printing,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[COLUMN]...", help="The selection.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--columns", help="The selection, separated by commas.")
    ] = None,
    columns_from: Annotated[
        str | None,
        typer.Option(
            "--columns-from",
            help="A file with the selection: a model, the JSON of select or rank, a JSON list, or "
            "one name a line.",
            metavar="FILE",
        ),
    ] = None,
    components: Annotated[
        int, typer.Option("--components", help="Extracted features beside the columns.")
    ] = 0,
    explain: Annotated[
        Literal["X", "y"] | None,
        typer.Option("--explain", help="All columns (X) or the target (y)."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a better selection is found.")
    ] = False,
    report: Report = None,
) -> int:
    """Prove how good a given selection is, and show a better one if there is."""
    screen = Screen(printing, "certify")
    check_outputs(reading.file, report=report)
    given = _from_file(columns_from) if columns_from else []
    with watching(screen, f"reading {reading.file}") as watch:
        data = load(reading, screen, preparing)
        check_explain(explain, data)
        wanted = [*(names or []), *names_in(columns, data.names), *given]
        if not wanted:
            raise BadInput("which columns? Name them after FILE, or use --columns.")
        selection = resolve_names(wanted, data.names, "the selection")
        watch.phase(f"proving {count(len(selection), 'column')}")
        y = None if explain == "X" else data.y
        certificate = _certificate(data, selection, y, components, searching, watch.callback)
        watch.settle(certificate)
        asked = {"data": data.describe(), "selection": listed(wanted), "columns": data.prepared()}
        if report:
            from columnist.report import certificate_report

            page = certificate_report(certificate, data.X, names=data.names, asked=asked)
            write_page(page, report, screen)
    _show(screen, data, certificate)
    screen.finish(_json(data, certificate))
    return FAILED if strict and certificate.better is not None else 0


def _certificate(data: Data, selection, y, components: int, searching: Searching, callback):
    import columnist

    options: dict[str, Any] = {
        "search": searching.search,
        "epsilon": searching.epsilon,
        "max_gap": searching.max_gap,
        "n_jobs": searching.jobs,
        "random_state": searching.seed,
    }
    certificate = columnist.certify(
        data.X, selection, y=y, criterion=searching.criterion or "frobenius",
        n_components=components, time_limit=searching.seconds, callback=callback,
        centering="none" if data.mean is None or y is None else "mean",
        **{name: value for name, value in options.items() if value is not None},
    )  # fmt: skip
    return replace(certificate, names=tuple(data.names_of(certificate.selection)))


def _from_file(path: str) -> list[str]:
    """The selection in a file: a model, a result, a list of names."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{path}: this is not text.") from None
    try:
        content = json.loads(text)
    except ValueError:
        content = [line.strip() for line in text.splitlines() if line.strip()]
    found = _names_of(content)
    if not found:
        raise BadInput(
            f"{path} holds no selection: a model, the output of --json, a JSON list of names, or "
            "one name a line is expected."
        )
    return list(found)


def _names_of(content: Any) -> Sequence[str] | None:
    if isinstance(content, dict):
        if content.get("format") == "columnist model":
            try:
                return [content["columns"][i] for i in content["arrays"]["selected"]]
            except (KeyError, IndexError, TypeError):
                return None
        content = content.get("selected")
    if isinstance(content, list) and content and all(isinstance(name, str) for name in content):
        return content
    return None


def _show(screen: Screen, data: Data, certificate) -> None:
    if not screen.shows_tables:
        return
    from columnist.search._words import gap_words

    screen.heading(f"{data.describe()} ({data.prepared()})")
    screen.line(f"Selection: {listed(data.names_of(certificate.selection), 30)}")
    if certificate.better is not None:
        better = set(certificate.better)
        gone = data.names_of([i for i in certificate.selection if i not in better])
        new = data.names_of([i for i in certificate.better if i not in certificate.selection])
        screen.line(f"Better:    {listed(data.names_of(certificate.better), 30)}", "green")
        if len(new) < len(better):
            screen.line(f"           {listed(new)} instead of {listed(gone)}")
    else:
        said = gap_words(certificate, "selection of this size")
        screen.line(f"{said[0].upper()}{said[1:]}.", "green" if certificate.is_optimal else "")
    show_certificate(screen, certificate)


def _json(data: Data, certificate) -> dict[str, Any]:
    better = certificate.better
    return {
        "data": data.summary(),
        "selected": data.names_of(certificate.selection),
        "indices": list(certificate.selection),
        "explains": certificate.target,
        "error": certificate.error,
        "better": None if better is None else data.names_of(better),
        "better_indices": None if better is None else list(better),
        "certificate": certificate_json(certificate),
    }
