"""From a file to what a fit needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from columnist.cli._errors import BadInput
from columnist.cli._options import Placing, Preparing, Reading
from columnist.cli._output import Screen
from columnist.cli._text import count, listed

if TYPE_CHECKING:
    from columnist.cli._prepared import Data
    from columnist.cli._progress import Watch
    from columnist.io import Table

__all__ = ["as_delimiter", "load", "load_from", "mention", "mention_gaps", "names_in"]
__all__ += ["rehearse", "rehearse_writing", "resolve_names"]


def load(
    reading: Reading,
    screen: Screen,
    preparing: Preparing,
    *,
    ids: Sequence[str] = (),
    hint: bool = True,
) -> Data:
    """Read a file and prepare its columns; say what had to be done.

    ``ids`` are further columns that are no features; ``hint`` is whether scales matter.
    """
    from pathlib import Path

    from columnist.cli._prepared import FileHere, prepare
    from columnist.io import read_table

    if Path(reading.file).is_dir():
        raise BadInput(
            f"{reading.file} is a folder: select, rank and outliers read those of Zarr and "
            "Parquet with --dask."
        )
    table = read_table(
        reading.file, format=reading.format, delimiter=as_delimiter(reading.delimiter),
        header=reading.header, variable=reading.variable, target=reading.target or (),
        drop=reading.drop or (), ids=[*(reading.id or ()), *ids],
        non_numeric=reading.non_numeric, missing=reading.missing,
    )  # fmt: skip
    file = FileHere(table)
    return prepare(file, preparing, reading.missing, reading.task, screen, hint=hint)


@contextmanager
def load_from(
    reading: Reading,
    placing: Placing,
    preparing: Preparing,
    screen: Screen,
    watch: Watch,
    *,
    hint: bool = True,
) -> Iterator[Data]:
    """The data of a file in memory, or with ``--dask`` in blocks that workers read.

    The workers are there until the end of the block.
    """
    if placing.dask is None:
        yield load(reading, screen, preparing, hint=hint)
        return
    try:
        from columnist.cli._in_blocks import FileInBlocks, open_in_blocks
    except ModuleNotFoundError as error:
        raise BadInput(f"--dask needs {error.name}: pip install 'columnist[dask]'") from error
    from columnist.cli._cluster import on_cluster
    from columnist.cli._prepared import prepare
    from columnist.distributed._run import watch as watch_blocks

    collection = open_in_blocks(reading)
    watch.phase("starting Dask")
    with on_cluster(placing.dask, screen), watch_blocks(watch.blocks):
        watch.phase(f"reading {reading.file}")
        file = FileInBlocks(collection, reading.missing)
        yield prepare(file, preparing, reading.missing, reading.task, screen, hint=hint)
        watch.phase("stopping Dask")


def as_delimiter(text: str | None) -> str | None:
    """A tab may be written as ``\\t`` or ``tab``."""
    return {r"\t": "\t", "tab": "\t", "space": " "}.get(text, text) if text else None


def mention(table: Table, screen: Screen) -> None:
    """Say what of a file is left out or changed."""
    reasons: dict[str, list[str]] = {}
    for name, why in table.ignored.items():
        if why != "on request":
            reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        screen.note(f"{count(len(names), 'column')} left out ({why}): {listed(names)}")
    mention_gaps(table, screen)
    if table.renamed:
        screen.note(f"repeated or empty column names changed: {listed(list(table.renamed))}")


def mention_gaps(table: Table, screen: Screen) -> None:
    """Say which missing values were filled in, or how many rows are left without them."""
    if table.imputed:
        total = sum(number for number, _ in table.imputed.values())
        where = listed(list(table.imputed))
        screen.note(f"{count(total, 'missing value')} filled in: {where}")
    if table.rows is not None:
        screen.note(f"rows with missing values dropped; {count(len(table.rows), 'row')} left")


def rehearse(out: str | None, data: Data) -> None:
    """Refuse a format that cannot hold the ids or targets, before the long work begins."""
    rehearse_writing(out, data.write_one_row)


def rehearse_writing(out: str | None, write: Callable[[str], None]) -> None:
    """Write something small elsewhere, and say what is wrong about the name that was given."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from columnist.io import DataFileError

    if out is None or out == "-":
        return
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / Path(out).name)
        try:
            write(path)
        except DataFileError as error:
            raise BadInput(str(error).replace(path, f"--out {out}")) from None


def names_in(text: str | None, names: Sequence[str]) -> list[str]:
    """Names separated by commas; a name that holds commas may stand alone."""
    if text is None:
        return []
    if text in names:
        return [text]
    return [part.strip() for part in text.split(",") if part.strip()]


def resolve_names(given: Sequence[str] | None, names: Sequence[str], option: str) -> list[int]:
    """Places of columns named on the command line."""
    import difflib

    places = {name: i for i, name in enumerate(names)}
    found = []
    for name in given or ():
        if name not in places:
            close = difflib.get_close_matches(name, list(names)[:100_000], n=3)
            hint = f"did you mean {listed(close)}?" if close else f"there are: {listed(names)}."
            raise BadInput(f"{option} names the column {name!r}, which is not there; {hint}")
        found.append(places[name])
    return list(dict.fromkeys(found))
