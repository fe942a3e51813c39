"""``columnist compare``: several selectors on the same data."""

from __future__ import annotations

import inspect
import time
from dataclasses import asdict, dataclass
from operator import itemgetter
from typing import Any, Literal

from columnist._text import count, seconds
from columnist.cli._errors import BadInput, Failed, in_options
from columnist.cli._options import (
    Loading,
    Printing,
    Report,
    Searching,
    Weighting,
    as_size,
    option,
)
from columnist.cli._selectors import Entry, build, complete_selector, find
from columnist.cli._task import Task
from columnist.cli._text import number, percent

EXAMPLES = (
    "columnist compare wine.csv -k 4 --drop class --center --scale",
    "columnist compare wine.csv -k 4 --target class --center --scale --report compare.html",
    "columnist compare data.parquet -k 10 --by certified,forward,gks,leverage --time-limit 60",
)
_DEFAULTS = {
    "none": ("certified", "exchange", "forward", "strong-rrqr", "gks", "leverage", "laplacian"),
    "classes": ("certified", "forward", "fisher", "relief-f", "mrmr", "mrsf", "laplacian"),
    "values": ("certified", "exchange", "forward", "correlation", "matching", "gks"),
    "several": ("certified", "exchange", "forward", "matching", "rfs", "gks"),
}
_FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Options(Report, Printing, Searching, Weighting, Loading):
    """What to compare."""

    k: str | None = option("-k --keep", "Number of columns to select, or a share below 1.")
    by: str | None = option(
        "--by", "Selectors, separated by commas; columnist rank --list shows all.",
        autocompletion=complete_selector
    )  # fmt: skip
    explain: Literal["X", "y"] | None = option(
        "--explain", "What errors measure: all columns (X) or the target (y)."
    )
    score: bool = option(
        "--score/--no-score", "Cross-validate, where there is a target.", default=True
    )


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


class Compare(Task):
    """Run several selectors and compare error, proven gap, redundancy, time and score."""

    command = "compare"
    note = (
        "The gap is proven: one certified search bounds the error of every selection. Scores are "
        "cross-validated with the selector inside the folds."
    )
    options: Options
    bound: float | None = None

    def check(self) -> None:
        self.size, by = as_size(self.options.k), self.options.by
        if self.size is None:
            raise BadInput("-k is missing: how many columns should each selector select?")
        if self.size == "auto":
            raise BadInput(
                "-k auto is for select: to compare, give the number of columns to select."
            )
        names = [] if by is None else [name.strip() for name in by.split(",")]
        if by is not None and not any(names):
            raise BadInput("--by takes names of selectors; columnist rank --list shows all.")
        self.entries = list(dict.fromkeys(find(name) for name in names if name))

    def work(self) -> None:
        options, data = self.options, self.data
        self.explained = self.explains(options.explain)
        self.measure: dict[str, Any] = {"criterion": options.criterion or "frobenius"}
        if self.explained == "y" and data.mean is not None:
            self.measure["centering"] = "mean"
        self.scoring = None
        if options.score and data.y is not None:
            self.scoring = "accuracy" if data.classes else "r2"
        kind = "none" if data.y is None else "classes" if data.classes else "values"
        if data.y is not None and data.y.ndim == 2 and data.y.shape[1] > 1:
            kind = "several"
        self.rows = self._run(self.entries or [find(name) for name in _DEFAULTS[kind]])
        if not self.rows:
            raise Failed("interrupted before anything was found; nothing was written")
        if all(row.selected is None for row in self.rows):
            reasons = "; ".join(f"{row.name}: {row.note}" for row in self.rows)
            raise Failed(f"none of the selectors could select columns: {reasons}")

    def _run(self, entries: list[Entry]) -> list[Row]:
        """All selectors, one after the other; what is interrupted ends the list."""
        rows: list[Row] = []
        watch = self.watch
        try:
            self._prove()
            for place, entry in enumerate(entries, start=1):
                if watch.interrupted and entry.name != "certified":
                    continue  # what the search for the bound found is kept
                watch.phase(f"{entry.name} ({place} of {len(entries)})")
                rows.append(self._row(entry))
        except KeyboardInterrupt:
            watch.interrupted = True
        if watch.interrupted:
            done = count(len(rows), "selector")
            self.screen.note(f"interrupted: {done} of {len(entries)} finished")
        return rows

    def _prove(self) -> None:
        """One certified search: its bound holds for every selection of this size."""
        self.watch.phase("proving a bound")
        selector = self._made(find("certified"), self.options.seconds)
        selector.set_params(callback=self.watch.callback)
        self._certified = self._timed(selector, self.data.y)
        self.bound = float(selector.certificate_.lower_bound)

    def _timed(self, selector, y) -> tuple[Any, float]:
        """The selector, fitted, and how long that took."""
        weighed = self.weighed(selector)
        started = time.perf_counter()
        return selector.fit(self.data.X, y, **weighed), time.perf_counter() - started

    def _made(self, entry: Entry, limit: float | None = None):
        """A selector with the options that it has."""
        known, options = inspect.signature(entry.load()).parameters, self.options
        given = {name: value for name, value in self.measure.items() if name in known}
        if "target" in known and entry.name != "two-stage" and self.data.y is not None:
            given["target"] = self.explained
        selector = build(entry, self.size, given, {}, options.seed)
        if entry.name == "certified":
            gap = options.max_gap or 0.0
            selector.set_params(time_limit=limit, max_gap=gap, n_jobs=options.jobs)
        return selector

    def _row(self, entry: Entry) -> Row:
        """One selector; why it fails stands in its row."""
        row = Row(entry.name)
        y = None if entry.target == "no" else self.data.y
        if entry.target == "required" and y is None:
            row.note = "needs a target"
            return row
        try:
            proven = entry.name == "certified"
            fitted = self._certified if proven else self._timed(self._made(entry), y)
            selector, row.seconds = fitted
            self._judge(row, [int(i) for i in selector.selected_])
            if self.scoring and not self.watch.interrupted:
                row.score, row.score_std = self._scored(entry)
        except (ValueError, TypeError, MemoryError) as error:
            row.note = " ".join(in_options(str(error)).split())
        return row

    def _judge(self, row: Row, columns: list[int]) -> None:
        from columnist.metrics import reconstruction_error, redundancy_rate

        data = self.data
        assert self.bound is not None  # proven before anything is judged
        y = data.y if self.explained == "y" else None
        options = {"y": y, "sample_weight": data.weights, **self.measure}
        row.selected = data.names_of(columns)
        row.error = error = reconstruction_error(data.X, columns, **options)
        row.relative_error = reconstruction_error(data.X, columns, relative=True, **options)
        row.gap = max(0.0, 1.0 - self.bound / error) if error > 0.0 else 0.0
        if len(columns) < len(self._certified[0].selected_):
            row.gap, row.note = None, f"selected {count(len(columns), 'column')} only"
        row.redundancy = redundancy_rate(data.X, columns)

    def _scored(self, entry: Entry) -> tuple[float, float]:
        """Cross-validated score; preparation and selection happen inside every fold."""
        import numpy as np
        from sklearn.linear_model import LogisticRegression, RidgeCV
        from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        data, options = self.data, self.options
        sizes = np.unique(data.y, return_counts=True)[1] if data.classes else data.X.shape[:1]
        folds = min(_FOLDS, *sizes)
        if folds < 2:
            raise ValueError("a class with one row cannot be cross-validated")
        kind, limit = StratifiedKFold if data.classes else KFold, options.seconds
        pipeline = make_pipeline(
            StandardScaler(with_mean=data.mean is not None, with_std=data.scale is not None),
            self._made(entry, None if limit is None else max(1.0, limit / folds)),
            # A plain model on standardised columns.
            StandardScaler(with_mean=False),
            LogisticRegression(max_iter=5000) if data.classes else RidgeCV(),
        )
        weighed = {} if data.weights is None else {
            f"{name}__sample_weight": data.weights for name, _ in pipeline.steps
        }  # fmt: skip
        scores = cross_val_score(
            pipeline, data.table.X, data.y, scoring=self.scoring, error_score="raise",
            cv=kind(folds, shuffle=True, random_state=options.seed or 0), params=weighed,
        )  # fmt: skip
        return float(scores.mean()), float(scores.std())

    def page(self) -> str:
        from columnist.report import comparison_report

        keep, explain = f"{self.options.k} columns", self.data.what(self.explained)
        asked = self.asked(select=keep, explain=explain)
        return comparison_report(
            [asdict(row) for row in self.rows], bound=self.bound, asked=asked, origin=self.origin()
        )

    def show(self) -> None:
        what, bound = self.data.what(self.explained), number(self.bound)
        self.screen.line(f"Errors of {what}; no selection of this size is below {bound}.")
        heads = ["selector", "unexplained>", "gap>", "redundancy>", "time>"]
        heads += [f"{self.scoring}>"] if self.scoring else []
        done = [(row.error, row) for row in self.rows if row.error is not None]
        table = []
        for _, row in sorted(done, key=itemgetter(0)):
            line = [row.name, percent(row.relative_error), percent(row.gap),
                    number(row.redundancy, 3), seconds(row.seconds)]  # fmt: skip
            if self.scoring:
                spread = f" ± {row.score_std:.3f}" if row.score_std is not None else ""
                line.append("-" if row.score is None else f"{row.score:.3f}{spread}")
            table.append(line)
        if table:
            self.screen.table(heads, table)
        for row in self.rows:
            if row.note:
                self.screen.line(f"{row.name}: {row.note}")

    def json(self) -> dict[str, Any]:
        return {
            "data": self.data.summary(),
            "explains": self.explained,
            "lower_bound": self.bound,
            "scoring": self.scoring,
            "selectors": [asdict(row) for row in self.rows],
        }
