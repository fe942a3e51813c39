"""Options as fields of dataclasses, and functions that take such as commands.

Commands share groups of options by inheritance. Help shows the groups from right to left.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from columnist.cli._errors import BadInput, guarded
from columnist.cli._names import expanded
from columnist.cli._selectors import complete_criterion
from columnist.cli._text import parsed


def option(
    names: str, help: str, *, default: Any = None, panel: str | None = None, **how: Any
) -> Any:
    """A field that is an option, whose names are separated by spaces."""
    info = typer.Option(*names.split(), help=help, rich_help_panel=panel, **how)
    return field(default=default, metadata={"typer": info})


def argument(metavar: str, help: str, *, default: Any = MISSING) -> Any:
    """A field that is an argument."""
    return field(default=default, metadata={"typer": typer.Argument(metavar=metavar, help=help)})


def command(group: type, function: Callable[[Any], int | None]) -> Callable[..., None]:
    """A function of such a group as Typer takes it: the fields are the options.

    What the function raises becomes one line and an exit code.
    """
    keyword, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    hints, parameters = get_type_hints(group), []
    for f in fields(group):
        parameters.append(inspect.Parameter(
            f.name, keyword, default=empty if f.default is MISSING else f.default,
            annotation=Annotated[hints[f.name], f.metadata["typer"]],
        ))  # fmt: skip

    def run(**values: Any) -> None:
        code = guarded(lambda: function(group(**values)))
        if code:
            raise typer.Exit(code)

    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # see inspect
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def examples(*lines: str, after: str = "") -> str:
    """The end of a help page: what to type, one example per line."""
    brackets = [line.replace("[", r"\[") for line in lines]
    parts = ["[bold]Examples[/bold]", *(f"  {line}" for line in brackets)]
    return "\n\n".join([*parts, *([" ", after] if after else [])])


# -- groups of options --------------------------------------------------------------

_data = partial(option, panel="Data")
_prepare = partial(option, panel="Preparation")
_search = partial(option, panel="Search")
_output = partial(option, panel="Output")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which file, and what its columns mean."""

    file: str = argument(
        "FILE",
        "CSV, TSV (also gzip), Parquet, Feather, Excel, SPSS, AnnData (.h5ad), NPY, NPZ, Matrix "
        "Market, svmlight, ARFF or MAT; - reads standard input.",
    )
    format: str | None = _data("--format", "Format, if the extension does not show it.")
    delimiter: str | None = _data("--delimiter", "Separator of a text file; detected by default.")
    header: bool | None = _data(
        "--header/--no-header",
        "Whether the first line holds the names of the columns; detected where it is clear.",
    )
    variable: str | None = _data(
        "--variable", "Array of an NPZ or MAT file, sheet of a workbook, layer of AnnData.",
        metavar="NAME"
    )  # fmt: skip
    target: list[str] | None = _data(
        "--target -t", "Columns to predict: a name, a,b or a range a:c (repeatable); label for the "
        "labels of svmlight.", metavar="NAMES"
    )  # fmt: skip
    drop: list[str] | None = _data(
        "--drop", "Columns to leave out: a name, a,b or a range a:c (repeatable).", metavar="NAMES"
    )
    id: list[str] | None = _data(
        "--id", "Columns that label the rows: a name, a,b or a range a:c (repeatable).",
        metavar="NAMES"
    )  # fmt: skip
    non_numeric: Literal["refuse", "drop"] = _data(
        "--non-numeric", "Columns of text: refuse or drop (select --dummies codes them).",
        default="refuse", metavar="HOW"
    )  # fmt: skip
    missing: Literal["refuse", "mean", "median", "drop", "covariance"] = _data(
        "--missing", "Missing values: refuse, fill with the mean or median, drop the rows; select "
        "and certify can also estimate a covariance matrix without them.",
        default="refuse", metavar="HOW"
    )  # fmt: skip
    task: Literal["auto", "classes", "values"] = _data(
        "--task",
        "What the target holds: classes, values, or auto (text, up to 20 whole numbers, any "
        "two numbers: classes).",
        default="auto",
        metavar="KIND",
    )

    def read_as(self, ids: Sequence[str] = ()) -> dict[str, Any]:
        """How the columns of the file are found; a tab may be written as ``\\t`` or ``tab``.

        ``ids`` are further columns that are no features.
        """
        words = {r"\t": "\t", "tab": "\t", "space": " "}
        delimiter = words.get(self.delimiter, self.delimiter) if self.delimiter else None
        how = {"format": self.format, "delimiter": delimiter, "header": self.header}
        roles = {"target": self.target, "drop": self.drop, "ids": [*(self.id or ()), *ids]}
        chosen = {role: partial(expanded, given) for role, given in roles.items()}
        return how | {"variable": self.variable, **chosen}


@dataclass(frozen=True, kw_only=True)
class Loading(Reading):
    """Preparation of the columns."""

    center: bool | None = _prepare(
        "--center/--no-center",
        "Subtract the mean of every column. Without any of these options, columns whose units "
        "differ are centred and scaled; others stay as they are.",
    )
    scale: bool | None = _prepare(
        "--scale/--no-scale", "Divide every column by its standard deviation."
    )
    keep_ids: bool = _prepare(
        "--keep-ids", "Keep running numbers, ids and dates, which are left out by default.",
        default=False,
    )  # fmt: skip
    max_filled: float = _prepare(
        "--max-filled", "With --missing mean or median: refuse columns with a larger share of "
        "filled values.", default=0.5, metavar="SHARE", min=0.0, max=1.0
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Weighting:
    """How often rows count."""

    weight: str | None = _data("--weight", "Column with the weights of the rows.", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class Anywhere(Loading):
    """Where the rows are visited."""

    dask: str | None = _data(
        "--dask",
        "Read the file in blocks, for data larger than memory: on all cores of this machine, "
        "or on the Dask cluster at ADDRESS (tcp://host:port). Parquet, Zarr, NPY and CSV.",
        metavar="[ADDRESS]",
    )


@dataclass(frozen=True, kw_only=True)
class Searching:
    """How to search, and when to stop."""

    criterion: str | None = _search(
        "--criterion", "Error: frobenius (default), spectral, nuclear, schatten:P, kyfan:K.",
        autocompletion=complete_criterion
    )  # fmt: skip
    search: Literal["auto", "optimal", "weighted", "greedy", "optimistic"] | None = _search(
        "--search", "Order of the search: auto, optimal, weighted, greedy or optimistic.",
        metavar="ORDER"
    )  # fmt: skip
    epsilon: float | None = _search("--epsilon", "Weight of the weighted search.")
    time_limit: str = _search("--time-limit", "Seconds, or none.", default="30", metavar="SECONDS")
    max_gap: float | None = _search("--max-gap", "Stop at this proven gap, such as 0.01.")
    jobs: int | None = _search("--jobs", "Threads; -1 takes all processors.")
    seed: int | None = _search("--seed", "Seed of the random number generator.")

    def __post_init__(self) -> None:
        if not (self.seconds is None or self.seconds >= 0.0):
            raise BadInput(f"--time-limit takes seconds or none; got {self.time_limit!r}.")
        if self.jobs == 0:
            raise BadInput("--jobs takes a number of threads, or -1 for all processors; got 0.")

    @property
    def seconds(self) -> float | None:
        """The time limit; None where there is none."""
        try:
            limit = float("inf" if self.time_limit.lower() == "none" else self.time_limit)
        except ValueError:
            limit = float("nan")
        return None if limit == float("inf") else limit

    def given(self, **further: Any) -> dict[str, Any]:
        """Parameters of the search that were given, and further ones that are not None."""
        own = {"criterion": self.criterion, "search": self.search, "epsilon": self.epsilon}
        own |= {"max_gap": self.max_gap, "n_jobs": self.jobs}
        return {name: value for name, value in (own | further).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Printing:
    """Options of the output."""

    json: bool = _output("--json", "Print the result as JSON.", default=False)
    quiet: bool = _output("--quiet -q", "Print errors only.", default=False)
    verbose: bool = _output(
        "--verbose -v", "Print the log of the search to standard error.", default=False
    )


@dataclass(frozen=True, kw_only=True)
class Out:
    """Data to be written."""

    out: str | None = _output(
        "--out", "Write data; the extension says how, - is CSV to standard output."
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report to be written."""

    report: str | None = _output(
        "--report", "Write a shareable report, one HTML file.", metavar="PAGE.html"
    )


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model to be written."""

    model: str | None = _output(
        "--model", "Write what columnist apply needs for new data.", metavar="MODEL.json"
    )


@dataclass(frozen=True, kw_only=True)
class Saving(Model, Report, Out, Printing):
    """All that can be written."""


def as_size(text: str | None) -> int | float | str | None:
    """How many columns: a count, a share, ``auto``, or None."""
    if text is None or text == "auto":
        return text
    size = parsed(text)
    if size is None or (isinstance(size, float) and not 0.0 < size < 1.0):
        raise BadInput(f"-k takes a number of columns, a share below 1, or auto; got {text!r}.")
    return size


# -- an option that may have a value --------------------------------------------------

LOCAL = "local"
ADDRESS = re.compile(r"[a-z]+://\S+|[\w.-]+:\d{1,5}")


class DaskCommand(TyperCommand):
    """A command whose option ``--dask`` takes an address, or none."""

    def parse_args(self, ctx, args):
        """Parse, with a value for ``--dask`` in any case."""
        return super().parse_args(ctx, _with_value(args))


def _with_value(arguments: Sequence[str]) -> list[str]:
    """What follows ``--dask`` is its value only if it looks like an address: it may be a file."""
    found: list[str] = []
    rest = list(arguments)
    while rest and rest[0] != "--":
        argument = rest.pop(0)
        if argument == "--dask":
            address = bool(rest and ADDRESS.fullmatch(rest[0]))
            argument = f"--dask={rest.pop(0) if address else LOCAL}"
        found.append(argument)
    return found + rest
