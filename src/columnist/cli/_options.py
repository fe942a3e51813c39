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
from columnist.cli._selectors import complete_criterion

__all__ = ["LOCAL", "Anywhere", "DaskCommand", "Loading", "Model", "Out", "Printing", "Reading"]
__all__ += ["Report", "Saving", "Searching", "argument", "as_number", "as_size", "command"]
__all__ += ["examples", "option"]


def option(*names: str, default: Any = None, panel: str | None = None, **how: Any) -> Any:
    """A field that is an option."""
    info = typer.Option(*names, rich_help_panel=panel, **how)
    return field(default=default, metadata={"typer": info})


def argument(metavar: str, help: str, *, default: Any = MISSING) -> Any:
    """A field that is an argument."""
    return field(default=default, metadata={"typer": typer.Argument(metavar=metavar, help=help)})


def command(group: type) -> Callable[[Callable[[Any], int | None]], Callable[..., None]]:
    """A function of such a group as Typer takes it: the fields are the options.

    What the function raises becomes one line and an exit code.
    """
    hints = get_type_hints(group)
    parameters = [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if f.default is MISSING else f.default,
            annotation=Annotated[hints[f.name], f.metadata["typer"]],
        )
        for f in fields(group)
    ]

    def as_typer_takes_it(function: Callable[[Any], int | None]) -> Callable[..., None]:
        def run(**values: Any) -> None:
            code = guarded(lambda: function(group(**values)))
            if code:
                raise typer.Exit(code)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # see inspect
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return as_typer_takes_it


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
        "CSV, TSV (also gzip), Parquet, Feather, NPY, NPZ, Matrix Market, svmlight, ARFF or MAT; "
        "- reads standard input.",
    )
    format: str | None = _data("--format", help="Format, where the extension does not tell.")
    delimiter: str | None = _data("--delimiter", help="Separator of a text file; detected.")
    header: bool | None = _data(
        "--header/--no-header", help="Whether the first line holds names; detected."
    )
    variable: str | None = _data("--variable", help="Array of an NPZ or MAT file.", metavar="NAME")
    target: list[str] | None = _data(
        "--target",
        "-t",
        metavar="NAME",
        help="Column to be explained (repeatable); label for the labels of svmlight.",
    )
    drop: list[str] | None = _data(
        "--drop", help="Column to leave out (repeatable).", metavar="NAME"
    )
    id: list[str] | None = _data(
        "--id", help="Column that names the rows (repeatable).", metavar="NAME"
    )
    non_numeric: Literal["refuse", "drop"] = _data(
        "--non-numeric", default="refuse", metavar="HOW", help="Columns of text: refuse or drop."
    )
    missing: Literal["refuse", "mean", "median", "drop"] = _data(
        "--missing",
        default="refuse",
        metavar="HOW",
        help="Missing values: refuse, fill with the mean or median, or drop the rows.",
    )
    task: Literal["auto", "classes", "values"] = _data(
        "--task",
        default="auto",
        metavar="KIND",
        help="What the target holds: classes, values, or auto (text, up to 20 whole numbers, any "
        "two numbers: classes).",
    )

    def read_as(self) -> dict[str, Any]:
        """How the columns of the file are found; a tab may be written as ``\\t`` or ``tab``."""
        words = {r"\t": "\t", "tab": "\t", "space": " "}
        delimiter = words.get(self.delimiter, self.delimiter) if self.delimiter else None
        return {
            "format": self.format,
            "delimiter": delimiter,
            "header": self.header,
            "variable": self.variable,
            "target": self.target or (),
            "ids": self.id or (),
        }


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Where the rows are visited."""

    dask: str | None = _data(
        "--dask",
        metavar="[ADDRESS]",
        help="Read the file in blocks, for data larger than memory: on all cores of this machine, "
        "or on the Dask cluster at ADDRESS (tcp://host:port). Parquet, Zarr, NPY and CSV.",
    )


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """What is done to the columns before anything else."""

    center: bool = _prepare(
        "--center/--no-center", default=False, help="Subtract every column's mean."
    )
    scale: bool = _prepare(
        "--scale/--no-scale", default=False, help="Divide every column by its standard deviation."
    )


@dataclass(frozen=True, kw_only=True)
class Loading(Preparing, Reading):
    """How a file becomes data."""


@dataclass(frozen=True, kw_only=True)
class Anywhere(Preparing, Placing, Reading):
    """How a file becomes data, in memory or elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Searching:
    """How to search, and when to stop."""

    criterion: str | None = _search(
        "--criterion",
        autocompletion=complete_criterion,
        help="Error: frobenius (default), spectral, nuclear, schatten:P, kyfan:K.",
    )
    search: Literal["auto", "optimal", "weighted", "greedy", "optimistic"] | None = _search(
        "--search",
        metavar="ORDER",
        help="Order of the search: auto, optimal, weighted, greedy or optimistic.",
    )
    epsilon: float | None = _search("--epsilon", help="Weight of the weighted search.")
    time_limit: str = _search(
        "--time-limit", default="30", help="Seconds, or none.", metavar="SECONDS"
    )
    max_gap: float | None = _search(
        "--max-gap", help="Proven gap that is good enough, such as 0.01."
    )
    jobs: int | None = _search("--jobs", help="Threads; -1 takes all processors.")
    seed: int | None = _search("--seed", help="Seed of everything random.")

    def __post_init__(self) -> None:
        if not self._limit >= 0.0:
            raise BadInput(f"--time-limit takes seconds or none; got {self.time_limit!r}.")
        if self.jobs == 0:
            raise BadInput("--jobs takes a number of threads, or -1 for all processors; got 0.")

    @property
    def _limit(self) -> float:
        try:
            return float("inf" if self.time_limit.lower() == "none" else self.time_limit)
        except ValueError:
            return float("nan")

    @property
    def seconds(self) -> float | None:
        """The time limit; None where there is none."""
        return None if self._limit == float("inf") else self._limit

    def given(self, **further: Any) -> dict[str, Any]:
        """Parameters of the search that were given, and further ones that are not None."""
        own = {
            "criterion": self.criterion,
            "search": self.search,
            "epsilon": self.epsilon,
            "max_gap": self.max_gap,
            "n_jobs": self.jobs,
        }
        return {name: value for name, value in (own | further).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Printing:
    """What is said, and how."""

    json: bool = _output("--json", default=False, help="Print the result as JSON.")
    quiet: bool = _output("--quiet", "-q", default=False, help="Say nothing but errors.")
    verbose: bool = _output(
        "--verbose", "-v", default=False, help="Print the log of the search to standard error."
    )


@dataclass(frozen=True, kw_only=True)
class Out:
    """Data to be written."""

    out: str | None = _output(
        "--out", help="Write data; the extension says how, - is CSV to standard output."
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """A page to be written."""

    report: str | None = _output("--report", help="Write a page.", metavar="PAGE.html")


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model to be written."""

    model: str | None = _output(
        "--model", help="Write what columnist apply needs for new data.", metavar="MODEL.json"
    )


@dataclass(frozen=True, kw_only=True)
class Saving(Model, Report, Out, Printing):
    """All that can be written."""


# -- values ---------------------------------------------------------------------------


def as_number(text: str, option: str) -> int | float:
    """A count or a share, from text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise BadInput(f"{option} takes a number; got {text!r}.")


def as_size(text: str | None) -> int | float | str | None:
    """How many columns: a count, a share, ``auto``, or None."""
    if text is None or text == "auto":
        return text
    try:
        size = as_number(text, "-k")
    except BadInput:
        size = float("nan")
    if isinstance(size, float) and not 0.0 < size < 1.0:
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
