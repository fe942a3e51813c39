"""``columnist compare``: several selectors on the same data."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput, Failed, in_options
from columnist.cli._inputs import load
from columnist.cli._options import (
    Preparing,
    Printing,
    Reading,
    Report,
    Searching,
    Selectors,
    as_size,
)
from columnist.cli._output import Screen, check_outputs, write_page
from columnist.cli._progress import Watch, watching
from columnist.cli._select import check_explain
from columnist.cli._selectors import Entry, build, find
from columnist.cli._text import count, listed, number, percent, seconds

if TYPE_CHECKING:
    from columnist.cli._prepared import Data

__all__ = ["EPILOG", "compare"]

EPILOG = examples(
    "columnist compare wine.csv -k 4 --drop class --center --scale",
    "columnist compare wine.csv -k 4 --target class --center --scale --report compare.html",
    "columnist compare data.parquet -k 10 --by certified,forward,gks,leverage --time-limit 60",
    after="The gap is proven: one certified search bounds the error of every selection. Scores are "
    "cross-validated with the selector inside the folds.",
)
_DEFAULTS = {
    "none": ("certified", "exchange", "forward", "strong-rrqr", "gks", "leverage", "laplacian"),
    "classes": ("certified", "forward", "fisher", "relief-f", "mrmr", "mrsf", "laplacian"),
    "values": ("certified", "exchange", "forward", "correlation", "matching", "gks"),
    "several": ("certified", "exchange", "forward", "matching", "rfs", "gks"),
}
_FOLDS = 5


@command
def compare(
    reading: Reading,
    preparing: Preparing,
    searching: Searching,
    printing: Printing,
    k: Annotated[
        str | None, typer.Option("-k", "--keep", help="Columns to keep: a number or a share.")
    ] = None,
    by: Selectors = None,
    explain: Annotated[
        Literal["X", "y"] | None,
        typer.Option("--explain", help="What errors measure: all columns (X) or the target (y)."),
    ] = None,
    score: Annotated[
        bool, typer.Option("--score/--no-score", help="Cross-validate, where there is a target.")
    ] = True,
    report: Report = None,
) -> None:
    """Run several selectors and compare error, proven gap, redundancy, time and score."""
    screen = Screen(printing, "compare")
    check_outputs(reading.file, report=report)
    size = as_size(k)
    if size is None:
        raise BadInput("-k is missing: how many columns should each selector keep?")
    if size == "auto":
        raise BadInput("-k auto is for select: to compare, say how many columns to keep.")
    entries = _entries(by)
    with watching(screen, f"reading {reading.file}") as watch:
        data = load(reading, screen, preparing)
        check_explain(explain, data)
        contest = Contest(data, size, "y" if data.y is not None and explain != "X" else "X",
                          searching, preparing, score and data.y is not None)  # fmt: skip
        rows = contest.run(entries or [find(n) for n in _DEFAULTS[_kind(data)]], watch)
        _check_rows(rows)
        asked = contest.asked(str(k))
        if report:
            from columnist.report import comparison_report

            page = comparison_report(
                [asdict(row) for row in rows], bound=contest.bound, asked=asked
            )
            write_page(page, report, screen)
    _show(screen, contest, rows)
    screen.finish(
        {
            "data": data.summary(),
            "explains": contest.explains,
            "lower_bound": contest.bound,
            "scoring": contest.scoring if contest.score else None,
            "selectors": [asdict(row) for row in rows],
        }
    )


def _entries(by: str | None) -> list[Entry]:
    """The selectors that were named, each once; none if those that suit the data are wanted."""
    names = [] if by is None else [name.strip() for name in by.split(",")]
    if by is not None and not any(names):
        raise BadInput("--by takes names of selectors; columnist rank --list shows all.")
    return list(dict.fromkeys(find(name) for name in names if name))


def _check_rows(rows: list[Row]) -> None:
    if not rows:
        raise Failed("interrupted before anything was found; nothing was written")
    if all(row.selected is None for row in rows):
        reasons = "; ".join(f"{row.name}: {row.note}" for row in rows)
        raise Failed(f"not one of the selectors could select: {reasons}")


def _kind(data: Data) -> str:
    """What kind of target there is."""
    if data.y is None:
        return "none"
    if data.y.ndim == 2 and data.y.shape[1] > 1:
        return "several"
    return "classes" if data.classes else "values"


@dataclass
class Row:
    """One selector's results; None where there is none."""

    name: str
    selected: list[str] | None = None
    error: float | None = None
    relative_error: float | None = None
    gap: float | None = None
    redundancy: float | None = None
    seconds: float | None = None
    score: float | None = None
    score_std: float | None = None
    note: str | None = None


class Contest:
    """Several selectors of one size on the same data."""

    def __init__(self, data, size, explains: str, searching, preparing, score: bool):
        self.data, self.size, self.explains = data, size, explains
        self.searching, self.preparing, self.score = searching, preparing, score
        self.criterion = searching.criterion or "frobenius"
        self.bound: float | None = None

    @property
    def scoring(self) -> str:
        """What the cross-validated score is."""
        return "accuracy" if self.data.classes else "r2"

    def asked(self, k: str) -> dict[str, str]:
        """What was asked, for the report."""
        what = "all columns" if self.explains == "X" else listed(self.data.table.target_names)
        return {"data": self.data.describe(), "keep": f"{k} columns", "explain": what,
                "columns": self.data.prepared()}  # fmt: skip

    def run(self, entries: list[Entry], watch: Watch) -> list[Row]:
        """All selectors, one after the other; what is interrupted ends the list."""
        rows: list[Row] = []
        try:
            self._prove(watch)
            for place, entry in enumerate(entries, start=1):
                if watch.interrupted and entry.name != "certified":
                    continue  # what the search for the bound found is kept
                watch.phase(f"{entry.name} ({place} of {len(entries)})")
                rows.append(self._row(entry, watch))
        except KeyboardInterrupt:
            watch.interrupted = True
        if watch.interrupted:
            done = count(len(rows), "selector")
            watch.screen.note(f"interrupted: {done} of {len(entries)} finished")
        return rows

    def _prove(self, watch: Watch) -> None:
        """One certified search: its bound holds for every selection of this size."""
        watch.phase("proving a bound")
        selector = self._make(find("certified"), watch)
        started = time.perf_counter()
        self._certified = selector.fit(self.data.X, self.data.y)
        self._certified_seconds = time.perf_counter() - started
        self.bound = float(selector.certificate_.lower_bound)

    def _make(self, entry: Entry, watch: Watch | None, limit: float | None = -1.0):
        """A selector with the options that it has."""
        import inspect

        known = inspect.signature(entry.load()).parameters
        given: dict[str, Any] = {}
        if "criterion" in known:
            given["criterion"] = self.criterion
        if "target" in known and entry.name != "two-stage" and self.data.y is not None:
            given["target"] = self.explains
        if "centering" in known and self.preparing.center and self.explains == "y":
            given["centering"] = "mean"
        if entry.name == "certified":
            given["n_jobs"] = self.searching.jobs
        selector = build(entry, self.size, given, {}, self.searching.seed)
        if entry.name == "certified":
            selector.set_params(
                time_limit=self.searching.seconds if limit == -1.0 else limit,
                max_gap=self.searching.max_gap or 0.0,
                callback=None if watch is None else watch.callback,
            )
        return selector

    def _row(self, entry: Entry, watch: Watch) -> Row:
        """One selector; why it fails stands in its row."""
        row = Row(entry.name)
        y = None if entry.target == "no" else self.data.y
        if entry.target == "required" and y is None:
            row.note = "needs a target"
            return row
        try:
            if entry.name == "certified":
                selector, row.seconds = self._certified, self._certified_seconds
            else:
                started = time.perf_counter()
                selector = self._make(entry, watch).fit(self.data.X, y)
                row.seconds = time.perf_counter() - started
            self._judge(row, [int(i) for i in selector.selected_])
            if self.score and not watch.interrupted:
                row.score, row.score_std = self._scored(entry)
        except (ValueError, TypeError, MemoryError) as error:
            row.note = " ".join(in_options(str(error)).split())
        return row

    def _judge(self, row: Row, columns: list[int]) -> None:
        from columnist.metrics import reconstruction_error, redundancy_rate

        data = self.data
        assert self.bound is not None  # proven before anything is judged
        options: dict[str, Any] = {
            "y": data.y if self.explains == "y" else None,
            "criterion": self.criterion,
            "centering": "mean" if self.preparing.center and self.explains == "y" else "none",
        }
        row.selected = data.names_of(columns)
        row.error = error = reconstruction_error(data.X, columns, **options)
        row.relative_error = reconstruction_error(data.X, columns, relative=True, **options)
        row.gap = max(0.0, 1.0 - self.bound / error) if error > 0.0 else 0.0
        if len(columns) < len(self._certified.selected_):
            row.gap, row.note = None, f"selected {count(len(columns), 'column')} only"
        row.redundancy = redundancy_rate(data.X, columns)

    def _scored(self, entry: Entry) -> tuple[float, float]:
        """Cross-validated score; preparation and selection happen inside every fold."""
        from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
        from sklearn.pipeline import make_pipeline

        data, seed = self.data, self.searching.seed or 0
        folds = min(_FOLDS, _smallest_class(data))
        if folds < 2:
            raise ValueError("a class with one row cannot be cross-validated")
        kind = StratifiedKFold if data.classes else KFold
        limit = self.searching.seconds
        selector = self._make(entry, None, None if limit is None else max(1.0, limit / folds))
        pipeline = make_pipeline(*_preparation(self.preparing), selector, *_predictor(data.classes))
        scores = cross_val_score(
            pipeline, data.table.X, data.y, scoring=self.scoring, error_score="raise",
            cv=kind(folds, shuffle=True, random_state=seed),
        )  # fmt: skip
        return float(scores.mean()), float(scores.std())


def _smallest_class(data: Data) -> int:
    import numpy as np

    if not data.classes or data.y is None:
        return data.X.shape[0]
    return int(np.unique(data.y, return_counts=True)[1].min())


def _preparation(preparing: Preparing) -> list[Any]:
    """The preparation of the columns as a step of a pipeline."""
    from sklearn.preprocessing import StandardScaler

    if not (preparing.center or preparing.scale):
        return []
    return [StandardScaler(with_mean=preparing.center, with_std=preparing.scale)]


def _predictor(classes: bool) -> list[Any]:
    """A plain model on standardised columns."""
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=False)
    return [scaler, LogisticRegression(max_iter=5000) if classes else RidgeCV()]


def _show(screen: Screen, contest: Contest, rows: list[Row]) -> None:
    if not screen.shows_tables:
        return
    what = "all columns" if contest.explains == "X" else listed(contest.data.table.target_names)
    screen.heading(f"{contest.data.describe()} ({contest.data.prepared()})")
    screen.line(f"Errors of {what}; no selection of this size is below {number(contest.bound)}.")
    heads = ["selector", "unexplained>", "gap>", "redundancy>", "time>"]
    if contest.score:
        heads.append(f"{contest.scoring}>")
    done = [(row.error, row) for row in rows if row.error is not None]
    order = [row for _, row in sorted(done, key=itemgetter(0))]
    table = []
    for row in order:
        line = [row.name, percent(row.relative_error), percent(row.gap),
                number(row.redundancy, 3), seconds(row.seconds)]  # fmt: skip
        if contest.score:
            spread = f" ± {row.score_std:.3f}" if row.score_std is not None else ""
            line.append("-" if row.score is None else f"{row.score:.3f}{spread}")
        table.append(line)
    if table:
        screen.table(heads, table)
    for row in rows:
        if row.note:
            screen.line(f"{row.name}: {row.note}")
