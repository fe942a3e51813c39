"""``columnist data``: the data sets of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import typer

from columnist._text import count
from columnist.cli._options import Printing, argument, command, examples, option
from columnist.cli._screen import Screen, watching

EPILOG = examples(
    "columnist data list",
    "columnist data show vehicle",
    "columnist data fetch vehicle sonar",
    "columnist data path vehicle",
)

app = typer.Typer(help="Data sets: list, fetch, show, path.", invoke_without_command=True)


@app.callback()
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@dataclass(frozen=True, kw_only=True)
class Folder:
    """Where data sets are."""

    data: str | None = option(
        "--data", "Folder of the data; COLUMNIST_DATA or the user's cache.", metavar="FOLDER"
    )


@dataclass(frozen=True, kw_only=True)
class Listing(Folder, Printing):
    """Which data sets to list."""

    present: bool = option("--present", "Only those that are here.", default=False)


@app.command("list", epilog=EPILOG)
@partial(command, Listing)
def list_sets(options: Listing) -> None:
    """All data sets that can be fetched."""
    from columnist.datasets import data_home, list_datasets

    screen, folder = Screen(options, "data list"), data_home(options.data)
    found = [i for i in list_datasets(options.data) if i.present or not options.present]
    screen.heading(f"{count(len(found), 'data set')}; folder {folder}")
    rows = [
        [i.name, i.title, f"{i.shape[0]:,}", f"{i.shape[1]:,}", f"{i.n_targets} {i.kind}",
         "yes" if i.present else ""]
        for i in found
    ]  # fmt: skip
    screen.table(["name", "what", "rows>", "columns>", "target", "here"], rows)
    keys = ("name", "title", "shape", "kind", "n_targets", "source", "present", "size")
    sets = [{key: getattr(info, key) for key in keys} for info in found]
    screen.finish({"folder": str(folder), "datasets": sets})


@dataclass(frozen=True, kw_only=True)
class Fetching(Folder, Printing):
    """Which data sets to fetch."""

    names: list[str] = argument("NAME...", "Names of data sets.")


@app.command("fetch", epilog=EPILOG)
@partial(command, Fetching)
def fetch_sets(options: Fetching) -> None:
    """Put data sets in the data folder."""
    from columnist.datasets import download_dataset
    from columnist.datasets._catalogue import find_dataset

    screen = Screen(options, "data fetch")
    wanted = [find_dataset(name).name for name in options.names]
    fetched = {}
    with watching(screen) as watch:
        for name in wanted:

            def tell(file: str, there: int, whole: int) -> None:
                watch.phase(f"{file}: {there / 2**20:.1f} of {whole / 2**20:.1f} MB")

            watch.phase(name)
            paths = download_dataset(name, data_home=options.data, progress=tell)
            fetched[name] = [str(path) for path in paths]
    for name, files in fetched.items():
        for file in files:
            screen.line(f"{name}: {file}")
    screen.finish({"files_of": fetched})


@dataclass(frozen=True, kw_only=True)
class Showing(Printing):
    """Which data set to show."""

    name: str = argument("NAME", "Name of a data set.")


@app.command("show", epilog=EPILOG)
@partial(command, Showing)
def show_set(options: Showing) -> None:
    """What a data set is, where it comes from, and what to cite."""
    from columnist.datasets import describe

    screen = Screen(options, "data show")
    text = describe(options.name)
    for line in text.splitlines():
        screen.line(line)
    screen.finish({"name": options.name, "description": text})


@dataclass(frozen=True, kw_only=True)
class Finding(Folder, Printing):
    """Which data set to find."""

    name: str | None = argument("[NAME]", "A data set; the folder without one.", default=None)


@app.command("path", epilog=EPILOG)
@partial(command, Finding)
def path_of(options: Finding) -> None:
    """The data folder, or the file of a data set: ready for other commands."""
    from columnist.datasets import data_home
    from columnist.datasets._catalogue import find_dataset

    screen, name = Screen(options, "data path"), options.name
    home = data_home(options.data)
    path = home if name is None else home / find_dataset(name).data.path
    if name is not None and not path.exists():
        screen.note(f"not here yet: columnist data fetch {name}")
    screen.line(str(path))
    screen.finish({"path": str(path), "exists": path.exists()})
