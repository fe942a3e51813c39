"""``columnist rank``: any selector by name, its scores and its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput
from columnist.cli._inputs import load_from, rehearse_writing
from columnist.cli._options import Out, Placing, Preparing, Printing, Reading, Report, as_size
from columnist.cli._output import Screen, certificate_json, check_outputs, write_page
from columnist.cli._progress import watching
from columnist.cli._select import check_explain, named
from columnist.cli._selectors import SELECTORS, build, complete_selector, find, parse_parameters
from columnist.cli._text import count, listed, number

if TYPE_CHECKING:
    from columnist.cli._prepared import Data

__all__ = ["EPILOG", "rank"]

EPILOG = examples(
    "columnist rank --list",
    "columnist rank wine.csv --by fisher --target class --top 5",
    "columnist rank wine.csv --by relief-f -o n_neighbors=7 --target class --out ranking.csv",
    "columnist rank spectra.npy --by laplacian -k 20 --report bands.html",
    "columnist rank data.csv --by qr -k 6 --json",
    "columnist rank big.parquet --by forward -k 20 --dask",
)
# Their scores do not depend on the columns' scales.
_SCALE_FREE = frozenset({"correlation", "fisher", "relief", "relief-f", "mrmr"})


@dataclass(frozen=True, kw_only=True)
class OptionalReading(Reading):
    """Reading, but ``--list`` needs no file."""

    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Data, in any format that select reads."),
    ] = None  # type: ignore[assignment] # the command asks for a file where it needs one


@command
def rank(
    reading: OptionalReading,
    placing: Placing,
    preparing: Preparing,
    printing: Printing,
    by: Annotated[
        str | None,
        typer.Option("--by", help="Name of the selector.", autocompletion=complete_selector),
    ] = None,
    k: Annotated[
        str | None, typer.Option("-k", "--keep", help="Columns to select; half by default.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", help="Parameter of the selector (repeatable).", metavar="NAME=VALUE"),
    ] = None,
    top: Annotated[int | None, typer.Option("--top", help="Show the first so many.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of everything random.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show all selectors.")] = False,
    out: Out = None,
    report: Report = None,
) -> None:
    """Rank columns by any selector of the library."""
    screen = Screen(printing, "rank", taken=out == "-")
    if list_all:
        _list(screen)
        return
    if reading.file is None:
        raise BadInput("FILE is missing (columnist rank --list shows the selectors).")
    if by is None:
        raise BadInput("--by is missing: by which selector? (columnist rank --list)")
    check_outputs(reading.file, out=out, report=report)
    entry, size, parameters = find(by), as_size(k), parse_parameters(option)
    if top is not None and top < 1:
        raise BadInput(f"--top takes a number from 1; got {top}.")
    rehearse_writing(out, lambda path: _write(path, Ranking([0], ["a"], [1.0], [True])))
    hint = entry.name not in _SCALE_FREE
    with (
        watching(screen, f"reading {reading.file}") as watch,
        load_from(reading, placing, preparing, screen, watch, hint=hint) as data,
    ):
        check_explain(None, data, entry.target == "required")
        selector = build(entry, size, {}, parameters, seed)
        if entry.name == "certified":
            selector.set_params(callback=watch.callback)
        watch.phase(f"ranking {count(data.X.shape[1], 'column')} by {entry.name}")
        selector.fit(data.X, data.y if entry.target != "no" else None)
        selector = named(selector, data)
        watch.settle(getattr(selector, "certificate_", None))
        ranking = Ranking.of(selector, data)
        if out:
            _write(out, ranking)
            screen.written("out", out)
        if report:
            write_page(_page(entry.name, selector, data), report, screen)
    _show(screen, entry.name, data, ranking, top, sized=size is not None)
    screen.finish(_json(entry.name, selector, data, ranking))


def _list(screen: Screen) -> None:
    rows = [[e.name, e.class_name, e.target, e.summary()] for e in SELECTORS.values()]
    screen.table(["name", "class", "target", "what it does"], rows)
    keys = ("name", "class", "target", "summary")
    screen.finish({"selectors": [dict(zip(keys, row, strict=True)) for row in rows]})


@dataclass(frozen=True)
class Ranking:
    """Columns in order, with their scores; None where there is none."""

    order: list[int]
    names: list[str]
    scores: list[float | None]
    selected: list[bool]

    @classmethod
    def of(cls, selector, data: Data) -> Ranking:
        """The order of a selector: its ranking, or what it selected."""
        chosen = [int(i) for i in selector.selected_]
        ranking = getattr(selector, "ranking_", None)
        scores = getattr(selector, "scores_", None)
        if ranking is None and scores is not None and len(scores) == data.X.shape[1]:
            from columnist.linalg._ties import ranked

            ranking = ranked(scores)
        order = chosen if ranking is None else [int(i) for i in ranking]
        values: list[float | None] = [None] * len(order)
        if scores is not None and len(scores) == data.X.shape[1]:
            values = [float(scores[i]) for i in order]
        kept = set(chosen)
        return cls(order, data.names_of(order), values, [i in kept for i in order])


def _write(out: str, ranking: Ranking) -> None:
    """The ranking as a table."""
    import numpy as np

    from columnist.io import write_table

    scores = np.array([np.nan if s is None else s for s in ranking.scores], dtype=float)
    places = np.arange(1, len(ranking.order) + 1)
    columns = [scores, np.array(ranking.selected, dtype=float)]
    write_table(
        out, np.column_stack(columns), ["score", "selected"],
        before={"rank": places, "column": np.array(ranking.names, dtype=object)},
    )  # fmt: skip


def _page(name: str, selector, data: Data) -> str:
    from columnist.report import ranking_report, selection_report

    asked = {"data": data.describe(), "by": name, "columns": data.prepared()}
    make = selection_report if name == "certified" else ranking_report
    X, y = data.for_report("X" if data.y is None else "y")
    return make(selector, X, y, names=data.names, asked=asked)


def _show(
    screen: Screen, name: str, data: Data, ranking: Ranking, top: int | None, *, sized: bool
) -> None:
    if not screen.shows_tables:
        return
    chosen = [n for n, s in zip(ranking.names, ranking.selected, strict=True) if s]
    screen.heading(f"{data.describe()} ({data.prepared()})")
    if sized or len(chosen) == len(ranking.order):
        screen.line(f"By {name}, {count(len(chosen), 'column')} selected: {listed(chosen)}")
    else:
        screen.line(f"By {name}, best first:")
    limit = len(ranking.order) if top is None else top
    scored = any(score is not None for score in ranking.scores)
    marked = sized and not all(ranking.selected)
    rows = []
    for place in range(min(limit, len(ranking.order))):
        row: list[object] = [place + 1, screen.short(ranking.names[place])]
        row += [number(ranking.scores[place])] if scored else []
        row += ["yes" if ranking.selected[place] else ""] if marked else []
        rows.append(row)
    heads = ["rank>", "column", *(["score>"] if scored else []), *(["selected"] if marked else [])]
    screen.table(heads, rows)
    if limit < len(ranking.order):
        screen.line(f"and {len(ranking.order) - limit} more")


def _json(name: str, selector, data: Data, ranking: Ranking) -> dict[str, Any]:
    return {
        "data": data.summary(),
        "method": name,
        "parameters": {
            key: value
            for key, value in selector.get_params(deep=False).items()
            if key not in ("callback", "verbose")
        },
        "selected": data.names_of([int(i) for i in selector.selected_]),
        "indices": [int(i) for i in selector.selected_],
        "error": getattr(selector, "error_", None),
        "certificate": certificate_json(getattr(selector, "certificate_", None)),
        "ranking": [
            {"column": column, "index": index, "score": score, "selected": kept}
            for column, index, score, kept in zip(
                ranking.names, ranking.order, ranking.scores, ranking.selected, strict=True
            )
        ],
    }
