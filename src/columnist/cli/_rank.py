"""``columnist rank``: any selector by name, its scores and its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._options import Anywhere, Out, Printing, Report, argument, as_size, option
from columnist.cli._screen import certificate_json
from columnist.cli._selectors import SELECTORS, build, complete_selector, find, parse_parameters
from columnist.cli._task import Task
from columnist.cli._text import listed, number

EXAMPLES = (
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
class Options(Report, Out, Printing, Anywhere):
    """Options of the ranking."""

    file: str | None = argument(  # type: ignore[assignment] # --list needs none
        "FILE", "Data, in any format that select reads.", default=None
    )
    by: str | None = option("--by", "Name of the selector.", autocompletion=complete_selector)
    k: str | None = option("-k --keep", "Columns to select; half by default.")
    parameter: list[str] | None = option(
        "-o", "Parameter of the selector (repeatable).", metavar="NAME=VALUE"
    )
    top: int | None = option("--top", "Number of columns to show.")
    seed: int | None = option("--seed", "Seed of the random number generator.")
    list_all: bool = option("--list", "Show all selectors.", default=False)


class Rank(Task):
    """Rank columns by any selector of the library."""

    command = "rank"
    options: Options
    # A method is run as published.
    scales = False
    scores: list[float | None]

    def run(self) -> int:
        if self.options.list_all:
            return self._list()
        if self.options.file is None:
            raise BadInput("FILE is missing (columnist rank --list shows the selectors).")
        return super().run()

    def _list(self) -> int:
        rows = [[e.name, e.class_name, e.target, e.summary()] for e in SELECTORS.values()]
        self.screen.table(["name", "class", "target", "description"], rows)
        keys = ("name", "class", "target", "summary")
        self.screen.finish({"selectors": [dict(zip(keys, row, strict=True)) for row in rows]})
        return 0

    def check(self) -> None:
        by, top = self.options.by, self.options.top
        if by is None:
            raise BadInput("--by is missing: by which selector? (columnist rank --list)")
        self.entry, self.size = find(by), as_size(self.options.k)
        self.parameters = parse_parameters(self.options.parameter)
        if top is not None and top < 1:
            raise BadInput(f"--top takes a number from 1; got {top}.")
        self.names, self.scores, self.kept = ["a"], [1.0], [True]
        self.rehearse(self.write_data)
        self.hint = self.entry.name not in _SCALE_FREE

    def work(self) -> None:
        entry, data = self.entry, self.data
        self.explains(None, entry.target == "required")
        selector = build(entry, self.size, {}, self.parameters, self.options.seed)
        if entry.name == "certified":
            selector.set_params(callback=self.watch.callback)
        doing = f"ranking {count(data.X.shape[1], 'column')} by {entry.name}"
        self.selector = self.fit(selector, doing, data.y if entry.target != "no" else None)
        self._put_in_order()

    def _put_in_order(self) -> None:
        """The order of a selector: its ranking, or what it selected."""
        self.chosen = [int(i) for i in self.selector.selected_]
        ranking = getattr(self.selector, "ranking_", None)
        scores = getattr(self.selector, "scores_", None)
        if scores is not None and len(scores) != self.data.X.shape[1]:
            scores = None
        if ranking is None and scores is not None:
            from columnist.linalg._ties import ranked

            ranking = ranked(scores)
        self.order = self.chosen if ranking is None else [int(i) for i in ranking]
        self.names = self.data.names_of(self.order)
        self.scores = [None if scores is None else float(scores[i]) for i in self.order]
        kept = set(self.chosen)
        self.kept = [i in kept for i in self.order]

    def write_data(self, path: str) -> None:
        """The ranking as a table."""
        import numpy as np

        from columnist.io import write_table

        values = [[np.nan if s is None else s for s in self.scores], self.kept]
        places, names = np.arange(1, len(self.names) + 1), np.array(self.names, dtype=object)
        write_table(
            path, np.array(values, dtype=float).T, ["score", "selected"],
            before={"rank": places, "column": names},
        )  # fmt: skip

    def page(self) -> str:
        asked = self.asked(by=self.entry.name)
        return self.selection_page(self.selector, "X" if self.data.y is None else "y", asked)

    def show(self) -> None:
        screen, name, total = self.screen, self.entry.name, len(self.order)
        sized = self.size is not None
        if sized or all(self.kept):
            chosen = [n for n, kept in zip(self.names, self.kept, strict=True) if kept]
            screen.line(f"By {name}, {count(len(chosen), 'column')} selected: {listed(chosen)}")
        else:
            screen.line(f"By {name}, best first:")
        columns: dict[str, list[Any]] = {
            "rank>": list(range(1, total + 1)),
            "column": [screen.short(name) for name in self.names],
        }
        if any(score is not None for score in self.scores):
            columns["score>"] = [number(score) for score in self.scores]
        if sized and not all(self.kept):
            columns["selected"] = ["yes" if kept else "" for kept in self.kept]
        limit = self.options.top or total
        screen.table(list(columns), list(zip(*columns.values(), strict=True))[:limit])
        if limit < total:
            screen.line(f"and {total - limit} more")

    def json(self) -> dict[str, Any]:
        parameters = self.selector.get_params(deep=False)
        hidden = ("callback", "verbose")
        keys = ("column", "index", "score", "selected")
        rows = zip(self.names, self.order, self.scores, self.kept, strict=True)
        return {
            "data": self.data.summary(),
            "method": self.entry.name,
            "parameters": {key: parameters[key] for key in parameters if key not in hidden},
            "selected": self.data.names_of(self.chosen),
            "indices": self.chosen,
            "error": getattr(self.selector, "error_", None),
            "certificate": certificate_json(self.certificate),
            "ranking": [dict(zip(keys, row, strict=True)) for row in rows],
        }
