"""``columnist select``: keep the best columns, with a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from columnist.cli._command import command, examples
from columnist.cli._errors import BadInput
from columnist.cli._inputs import load_from, rehearse, resolve_names
from columnist.cli._model import Model as FittedModel
from columnist.cli._model import write_model
from columnist.cli._options import (
    Model,
    Out,
    Placing,
    Preparing,
    Printing,
    Reading,
    Report,
    Searching,
    as_size,
)
from columnist.cli._output import (
    Screen,
    certificate_json,
    check_outputs,
    show_certificate,
    write_page,
)
from columnist.cli._progress import Watch, watching
from columnist.cli._selectors import build, complete_selector, find, parse_parameters
from columnist.cli._text import count, listed, number, percent

if TYPE_CHECKING:
    from columnist.cli._prepared import Data
    from columnist.selection import SelectionPath

__all__ = ["EPILOG", "select"]

EPILOG = examples(
    "columnist select wine.csv -k 4 --center --scale",
    "columnist select wine.csv -k 4 --target class --report wine.html",
    "columnist select genes.parquet -k 10 --time-limit 300 --out kept.parquet --model genes.json",
    "columnist select survey.csv -k auto --tol 0.1 --id respondent --missing median --json",
    "columnist select big.parquet -k 10 --center --scale --dask --out kept.parquet",
    "columnist select big.zarr -k 10 --dask tcp://127.0.0.1:8786",
    "cat data.csv | columnist select - -k 3 --method forward --out - > small.csv",
    after="Ctrl-C keeps the best so far, writes everything, and says so.",
)
# Beyond this many columns the share of each one is left out of the JSON.
_MANY_COLUMNS = 10_000


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """What to choose."""

    k: Annotated[
        str | None,
        typer.Option(
            "-k", "--keep", help="Columns to keep: a number, a share below 1, or auto with --tol."
        ),
    ] = None
    tol: Annotated[
        float | None, typer.Option("--tol", help="With -k auto: relative error to reach.")
    ] = None
    components: Annotated[
        int | None, typer.Option("--components", help="Extracted features beside the columns.")
    ] = None
    include: Annotated[
        list[str] | None,
        typer.Option("--include", help="Column that must be kept (repeatable).", metavar="NAME"),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", help="Column that must not be kept (repeatable).",
                     metavar="NAME"),
    ] = None  # fmt: skip
    explain: Annotated[
        Literal["X", "y"] | None,
        typer.Option(
            "--explain", help="What the kept columns must explain: all columns (X) or the target "
            "(y); the target where one is given."
        ),
    ] = None  # fmt: skip
    solutions: Annotated[
        int | None, typer.Option("--solutions", help="How many of the best sets to find and prove.")
    ] = None
    path: Annotated[
        int | None, typer.Option("--path", help="Also every size up to this one.", metavar="K")
    ] = None
    method: Annotated[
        str,
        typer.Option(
            "--method", help="certified, or any other selector.", autocompletion=complete_selector
        ),
    ] = "certified"
    option: Annotated[
        list[str] | None,
        typer.Option("-o", help="Further parameter of the method (repeatable).",
                     metavar="NAME=VALUE"),
    ] = None  # fmt: skip


@command
def select(
    reading: Reading,
    placing: Placing,
    choosing: Choosing,
    preparing: Preparing,
    searching: Searching,
    printing: Printing,
    out: Out = None,
    report: Report = None,
    model: Model = None,
) -> None:
    """Keep the columns that explain the others, or a target, best: with a proof."""
    screen = Screen(printing, "select", taken=out == "-")
    blocks = placing.dask is not None
    check_outputs(reading.file, out=out, report=report, model=model, blocks=blocks)
    size, entry = as_size(choosing.k), find(choosing.method)
    if size is None:
        raise BadInput(
            "-k is missing: how many columns should be kept? (-k auto --tol 0.1 decides)"
        )
    with (
        watching(screen, f"reading {reading.file}") as watch,
        load_from(reading, placing, preparing, screen, watch) as data,
    ):
        rehearse(out, data)
        check_explain(choosing.explain, data, entry.target == "required")
        check_choice(choosing, data.names)
        selector = make_selector(entry, size, choosing, searching, data, watch)
        watch.phase(f"choosing {choosing.k} of {count(data.X.shape[1], 'column')}")
        selector.fit(data.X, data.y)
        selector = named(selector, data)
        watch.settle(getattr(selector, "certificate_", None))
        path = None
        if choosing.path is not None:
            path = make_path(choosing, searching, data, watch)
        watch.phase("writing")
        chosen = Chosen.of(selector, data, choosing, entry.name, searching.criterion)
        if out:
            write_selected(out, data, chosen.ascending, selector)
            screen.written("out", out)
        if model:
            write_model(chosen.model(), model)
            screen.written("model", model)
        if report:
            write_page(selection_page(chosen, searching, path), report, screen)
    show(screen, chosen, path)
    screen.finish(chosen.json(path))


def check_explain(explain: str | None, data: Data, required: bool = False) -> None:
    """A target has to be there where one is asked for."""
    if data.y is None and (explain == "y" or required):
        raise BadInput("a target is needed: name its column with --target.")


def check_choice(choosing: Choosing, names: Sequence[str]) -> None:
    """Refuse options that contradict one another, or sizes beyond the columns that are left."""
    certified = find(choosing.method).name == "certified"
    if certified and choosing.tol is not None and choosing.k != "auto":
        raise BadInput("--tol goes with -k auto: the fewest columns that leave no larger error.")
    both = set(choosing.include or ()) & set(choosing.exclude or ())
    if both:
        raise BadInput(f"--include and --exclude both name {listed(sorted(both))}: choose one.")
    free = len(names) - len(set(choosing.exclude or ()))
    if choosing.path is not None and not 1 <= choosing.path <= free:
        raise BadInput(f"--path takes a number from 1 to {free}; got {choosing.path}.")


def make_selector(entry, size, choosing: Choosing, searching: Searching, data: Data, watch: Watch):
    """The selector that was asked for; options that it does not have are refused."""
    names = data.names
    given: dict[str, Any] = {
        "criterion": searching.criterion,
        "search": searching.search,
        "epsilon": searching.epsilon,
        "max_gap": searching.max_gap,
        "n_jobs": searching.jobs,
        "n_components": choosing.components,
        "n_solutions": choosing.solutions,
        "tol": choosing.tol,
        "include": resolve_names(choosing.include, names, "--include") or None,
        "exclude": resolve_names(choosing.exclude, names, "--exclude") or None,
    }
    if choosing.explain is not None and data.y is not None:
        given["target"] = choosing.explain
    if entry.name == "certified":
        given["callback"] = watch.callback
    settings = parse_parameters(choosing.option)
    selector = build(entry, size, given, settings, searching.seed)
    if entry.name == "certified":
        selector.set_params(time_limit=searching.seconds)
    if data.mean is not None and "centering" in selector.get_params() and data.y is not None:
        selector.set_params(centering="mean")
    return selector


def make_path(
    choosing: Choosing, searching: Searching, data: Data, watch: Watch
) -> SelectionPath | None:
    """Every size up to one; None if interrupted before there is anything."""
    from columnist import selection_path

    if watch.interrupted or choosing.path is None:
        return None
    watch.phase(f"every size up to {choosing.path}")
    options: dict[str, Any] = {
        "criterion": searching.criterion or "frobenius",
        "n_components": choosing.components or 0,
        "include": resolve_names(choosing.include, data.names, "--include") or None,
        "exclude": resolve_names(choosing.exclude, data.names, "--exclude") or None,
        "n_jobs": searching.jobs,
        "centering": "none" if data.mean is None else "mean",
    }
    y = None if choosing.explain == "X" else data.y
    try:
        path = selection_path(
            data.X, choosing.path, y=y, time_limit=searching.seconds, callback=watch.callback,
            **options,
        )  # fmt: skip
    except KeyboardInterrupt:
        path = None
    watch.settle(None)
    return path


def named(selector, data: Data):
    """The selector, with the names of the columns in its certificate."""
    certificate = getattr(selector, "certificate_", None)
    if certificate is not None and certificate.names is None:
        names = tuple(data.names_of(certificate.selection))
        selector.certificate_ = replace(certificate, names=names)
    return selector


@dataclass(frozen=True)
class Chosen:
    """A selection with all that is told about it."""

    selector: Any
    data: Data
    method: str
    asked: dict[str, str]
    explains: str
    error: float
    relative_error: float
    rebuilt: Any

    @classmethod
    def of(
        cls, selector, data: Data, choosing: Choosing, method: str, criterion: str | None
    ) -> Chosen:
        """Errors and coefficients of any selector's choice, computed from the data."""
        from columnist.criteria import get_criterion
        from columnist.selection._rebuild import rebuild

        explains = "X" if data.y is None or choosing.explain == "X" else "y"
        if method == "certified":
            error, relative = selector.error_, selector.relative_error_
            rebuilt = selector
        else:
            columns = [int(i) for i in selector.selected_]
            matrices = data.matrices(explains, center=data.mean is not None)
            measure = get_criterion(criterion or "frobenius")
            error, total = matrices.error(columns, measure), matrices.error([], measure)
            relative = error / total if total > 0.0 else 0.0
            rebuilt = rebuild(matrices, columns, 0)
        keep = f"{choosing.k} columns"
        if choosing.k == "auto":
            keep = f"the fewest columns that leave at most {choosing.tol:g} unexplained"
        asked = {"data": data.describe(), "keep": keep, "method": method,
                 "columns": data.prepared()}  # fmt: skip
        if explains == "y":
            asked["explain"] = listed(data.table.target_names)
        return cls(selector, data, method, asked, explains, error, relative, rebuilt)

    @property
    def selected(self) -> list[int]:
        """Columns in the selector's order."""
        return [int(i) for i in self.selector.selected_]

    @property
    def ascending(self) -> list[int]:
        """Columns in the order of the file."""
        return sorted(self.selected)

    @property
    def certificate(self):
        """The proof, if there is one."""
        return getattr(self.selector, "certificate_", None)

    @property
    def shares(self):
        """Share of each column that the selection rebuilds, and which kept one stands for it."""
        rebuilt = self.rebuilt
        if hasattr(rebuilt, "column_r2_"):
            return rebuilt.column_r2_, rebuilt.representative_
        return rebuilt.r2, rebuilt.representative

    def model(self) -> FittedModel:
        """What new data need."""
        import numpy as np

        order = np.argsort(self.selected)
        coef = getattr(self.rebuilt, "coef_", getattr(self.rebuilt, "coef", None))
        intercept = getattr(self.rebuilt, "intercept_", getattr(self.rebuilt, "intercept", None))
        components = getattr(self.rebuilt, "components_", np.zeros((0, 0)))
        arrays: dict[str, Any] = {"selected": np.array(self.ascending)}
        if self.explains == "X" and coef is not None and coef.size <= 1_000_000:
            arrays |= {"coef": coef[order], "intercept": intercept}
            if len(components):
                arrays["components"] = components
        facts = {
            "method": self.method,
            "explains": self.explains,
            "target": list(self.data.table.target_names),
            "error": self.error,
            "relative_error": self.relative_error,
            "certificate": certificate_json(self.certificate, history=False),
        }
        return FittedModel.of("selection", self.data, arrays, facts)

    def json(self, path) -> dict[str, Any]:
        """The result for JSON."""
        data = self.data
        shares, stands_for = self.shares
        result: dict[str, Any] = {
            "data": data.summary(),
            "method": self.method,
            "explains": self.explains,
            "selected": data.names_of(self.selected),
            "indices": self.selected,
            "error": self.error,
            "relative_error": self.relative_error,
            "certificate": certificate_json(self.certificate),
            "solutions": [
                {"columns": data.names_of(s), "error": s.error}
                for s in getattr(self.selector, "solutions_", [])
            ],
            "column_r2": None,
            "representative": None,
            "path": None if path is None else path_json(path, data),
        }
        if len(shares) <= _MANY_COLUMNS:
            result["column_r2"] = dict(zip(data.names, shares.tolist(), strict=True))
            by = data.names_of(stands_for)
            result["representative"] = dict(zip(data.names, by, strict=True))
        return result


def path_json(path, data: Data) -> list[dict[str, Any]]:
    """A path for JSON, one entry per size."""
    return [
        {
            "size": len(step.selection),
            "selected": data.names_of(step.selection),
            "relative_error": relative,
            **{
                key: value
                for key, value in (certificate_json(step.certificate, history=False) or {}).items()
                if key in ("status", "error", "lower_bound", "gap")
            },
        }
        for step, relative in zip(path, path.relative_errors.tolist(), strict=True)
    ]


def write_selected(out: str, data: Data, columns: Sequence[int], selector) -> None:
    """Ids, the kept columns as read, extracted features, targets."""
    extracts = bool(getattr(selector, "n_components", 0) and len(selector.components_))
    data.write_columns(out, columns, selector if extracts else None)


def selection_page(chosen: Chosen, searching: Searching, path) -> str:
    """The report as HTML."""
    from columnist.report import ranking_report, selection_report

    data = chosen.data
    X, y = data.for_report(chosen.explains)
    asked = {**chosen.asked, "time limit": f"{searching.time_limit} s"}
    if chosen.method == "certified":
        return selection_report(chosen.selector, X, y, names=data.names, path=path, asked=asked)
    return ranking_report(chosen.selector, X, y, names=data.names, asked=asked)


def show(screen: Screen, chosen: Chosen, path) -> None:
    """The result as tables."""
    import numpy as np

    if not screen.shows_tables:
        return
    data, names = chosen.data, chosen.data.names
    shares, stands_for = chosen.shares
    selected = chosen.ascending
    what = "all columns" if chosen.explains == "X" else listed(data.table.target_names)
    screen.heading(f"{data.describe()} ({data.prepared()})")
    screen.line(
        f"Keep {count(len(selected), 'column')} of {len(names):,}: "
        f"{percent(chosen.relative_error)} of {what} is left unexplained."
    )
    rows = []
    for column in selected:
        others = [i for i in np.flatnonzero(stands_for == column) if i != column]
        others.sort(key=lambda i: -shares[i])
        shown = ", ".join(f"{screen.short(names[i])} ({percent(shares[i], 0)})" for i in others[:6])
        more = f" and {len(others) - 6} more" if len(others) > 6 else ""
        rows.append([screen.short(names[column]), shown + more])
    screen.table(["kept", "stands for (explained by all kept)"], rows)
    if chosen.certificate is not None:
        show_certificate(screen, chosen.certificate)
    else:
        screen.facts({"error": number(chosen.error), "proof": f"none: {chosen.method} gives none"})
    show_runners_up(screen, chosen)
    if path is not None:
        show_path(screen, path)


def show_runners_up(screen: Screen, chosen: Chosen) -> None:
    """The other solutions, by what they exchange."""
    solutions = getattr(chosen.selector, "solutions_", [])
    if len(solutions) < 2:
        return
    best, names = set(solutions[0]), chosen.data.names
    rows = []
    for place, solution in enumerate(solutions, start=1):
        gone = [names[i] for i in sorted(best - set(solution))]
        new = [names[i] for i in sorted(set(solution) - best)]
        worse = solution.error / solutions[0].error - 1 if solutions[0].error > 0 else None
        rows.append([place, number(solution.error), percent(worse), listed(new), listed(gone)])
    screen.heading("The best sets")
    screen.table(["place>", "error>", "worse by>", "with", "instead of"], rows, best=0)


def show_path(screen: Screen, path) -> None:
    """Error and gap of every size."""
    screen.heading("Every size")
    rows = [
        [len(step.selection), percent(relative), percent(step.certificate.gap),
         step.certificate.status]
        for step, relative in zip(path, path.relative_errors, strict=True)
    ]  # fmt: skip
    screen.table(["columns>", "unexplained>", "gap>", "status"], rows)
