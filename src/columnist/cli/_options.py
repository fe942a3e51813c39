"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from columnist.cli._errors import BadInput
from columnist.cli._selectors import complete_criterion, complete_selector

__all__ = ["Model", "Out", "Placing", "Preparing", "Reading", "Report", "Searching", "Selectors"]
__all__ += ["Printing", "as_number", "as_size", "as_time_limit"]

_DATA, _PREPARE, _SEARCH, _OUTPUT = "Data", "Preparation", "Search", "Output"


def _data(*names: str, **how):
    return typer.Option(*names, rich_help_panel=_DATA, **how)


def _prepare(*names: str, **how):
    return typer.Option(*names, rich_help_panel=_PREPARE, **how)


def _search(*names: str, **how):
    return typer.Option(*names, rich_help_panel=_SEARCH, **how)


def _output(*names: str, **how):
    return typer.Option(*names, rich_help_panel=_OUTPUT, **how)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Which file, and what its columns mean."""

    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="CSV, TSV (also gzip), Parquet, Feather, NPY, NPZ, Matrix Market, svmlight, ARFF "
            "or MAT; - reads standard input.",
        ),
    ]
    format: Annotated[
        str | None, _data("--format", help="Format, where the extension does not tell.")
    ] = None
    delimiter: Annotated[
        str | None, _data("--delimiter", help="Separator of a text file; detected.")
    ] = None
    header: Annotated[
        bool | None,
        _data("--header/--no-header", help="Whether the first line holds names; detected."),
    ] = None
    variable: Annotated[
        str | None, _data("--variable", help="Array of an NPZ or MAT file.", metavar="NAME")
    ] = None
    target: Annotated[
        list[str] | None,
        _data(
            "--target",
            "-t",
            help="Column to be explained (repeatable); label for the labels of svmlight.",
            metavar="NAME",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        _data("--drop", help="Column to leave out (repeatable).", metavar="NAME"),
    ] = None
    id: Annotated[
        list[str] | None,
        _data("--id", help="Column that names the rows (repeatable).", metavar="NAME"),
    ] = None
    non_numeric: Annotated[
        Literal["refuse", "drop"],
        _data("--non-numeric", help="Columns of text: refuse or drop.", metavar="HOW"),
    ] = "refuse"
    missing: Annotated[
        Literal["refuse", "mean", "median", "drop"],
        _data(
            "--missing",
            help="Missing values: refuse, fill with the mean or median, or drop the rows.",
            metavar="HOW",
        ),
    ] = "refuse"
    task: Annotated[
        Literal["auto", "classes", "values"],
        _data(
            "--task",
            help="What the target holds: classes, values, or auto (text, up to 20 whole numbers, "
            "any two numbers: classes).",
            metavar="KIND",
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class Placing:
    """Where the rows are visited."""

    dask: Annotated[
        str | None,
        _data(
            "--dask",
            help="Read the file in blocks, for data larger than memory: on all cores of this "
            "machine, or on the Dask cluster at ADDRESS (tcp://host:port). Parquet, Zarr, NPY and "
            "CSV.",
            metavar="[ADDRESS]",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Preparing:
    """What is done to the columns before anything else."""

    center: Annotated[
        bool, _prepare("--center/--no-center", help="Subtract every column's mean.")
    ] = False
    scale: Annotated[
        bool, _prepare("--scale/--no-scale", help="Divide every column by its standard deviation.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Searching:
    """How to search, and when to stop."""

    criterion: Annotated[
        str | None,
        _search(
            "--criterion",
            help="Error: frobenius (default), spectral, nuclear, schatten:P, kyfan:K.",
            autocompletion=complete_criterion,
        ),
    ] = None
    search: Annotated[
        Literal["auto", "optimal", "weighted", "greedy", "optimistic"] | None,
        _search(
            "--search",
            help="Order of the search: auto, optimal, weighted, greedy or optimistic.",
            metavar="ORDER",
        ),
    ] = None
    epsilon: Annotated[
        float | None, _search("--epsilon", help="Weight of the weighted search.")
    ] = None
    time_limit: Annotated[
        str, _search("--time-limit", help="Seconds, or none.", metavar="SECONDS")
    ] = "30"
    max_gap: Annotated[
        float | None, _search("--max-gap", help="Proven gap that is good enough, such as 0.01.")
    ] = None
    jobs: Annotated[int | None, _search("--jobs", help="Threads; -1 takes all processors.")] = None
    seed: Annotated[int | None, _search("--seed", help="Seed of everything random.")] = None

    def __post_init__(self) -> None:
        as_time_limit(self.time_limit)
        if self.jobs == 0:
            raise BadInput("--jobs takes a number of threads, or -1 for all processors; got 0.")

    @property
    def seconds(self) -> float | None:
        """The time limit as a number."""
        return as_time_limit(self.time_limit)


@dataclass(frozen=True, kw_only=True)
class Printing:
    """What is said, and how."""

    json: Annotated[bool, _output("--json", help="Print the result as JSON.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Say nothing but errors.")] = False
    verbose: Annotated[
        bool, _output("--verbose", "-v", help="Print the log of the search to standard error.")
    ] = False


Out = Annotated[
    str | None,
    _output("--out", help="Write data; the extension says how, - is CSV to standard output."),
]
Report = Annotated[str | None, _output("--report", help="Write a page.", metavar="PAGE.html")]
Model = Annotated[
    str | None,
    _output("--model", help="Write what columnist apply needs for new data.", metavar="MODEL.json"),
]
Selectors = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Selectors, separated by commas; columnist rank --list shows all.",
        autocompletion=complete_selector,
    ),
]


def as_number(text: str, option: str) -> int | float:
    """A count or a share, from text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise BadInput(f"{option} takes a number; got {text!r}.")


def as_size(text: str | None, option: str = "-k") -> int | float | str | None:
    """How many columns: a count, a share, ``auto``, or None."""
    if text is None or text == "auto":
        return text
    try:
        size = as_number(text, option)
    except BadInput:
        size = float("nan")
    if isinstance(size, float) and not 0.0 < size < 1.0:
        raise BadInput(
            f"{option} takes a number of columns, a share below 1, or auto; got {text!r}."
        )
    return size


def as_time_limit(text: str) -> float | None:
    """Seconds, or None for no limit."""
    if text.lower() in ("none", "inf"):
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not value >= 0.0:
        raise BadInput(f"--time-limit takes seconds or none; got {text!r}.")
    return None if value == float("inf") else value
