"""``columnist data``: the data sets of the documents."""

from __future__ import annotations

from typing import Annotated

import typer

from columnist.cli._command import command, examples
from columnist.cli._options import Printing
from columnist.cli._output import Screen
from columnist.cli._progress import watching
from columnist.cli._text import count

__all__ = ["EPILOG", "app"]

EPILOG = examples(
    "columnist data list",
    "columnist data show vehicle",
    "columnist data fetch vehicle sonar",
    "columnist data path vehicle",
)
Folder = Annotated[
    str | None,
    typer.Option(
        "--data", help="Folder of the data; COLUMNIST_DATA or the user's cache.", metavar="FOLDER"
    ),
]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of data sets.")]

app = typer.Typer(help="Data sets: list, fetch, show, path.", invoke_without_command=True)


@app.callback()
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list", epilog=EPILOG)
@command
def list_sets(
    printing: Printing,
    data: Folder = None,
    present: Annotated[bool, typer.Option("--present", help="Only those that are here.")] = False,
) -> None:
    """All data sets that can be fetched."""
    from columnist.datasets import data_home, list_datasets

    screen = Screen(printing, "data list")
    found = [info for info in list_datasets(data) if info.present or not present]
    screen.heading(f"{count(len(found), 'data set')}; folder {data_home(data)}")
    rows = [
        [i.name, i.title, f"{i.shape[0]:,}", f"{i.shape[1]:,}", f"{i.n_targets} {i.kind}",
         "yes" if i.present else ""]
        for i in found
    ]  # fmt: skip
    screen.table(["name", "what", "rows>", "columns>", "target", "here"], rows)
    keys = ("name", "title", "shape", "kind", "n_targets", "source", "present", "size")
    screen.finish(
        {
            "folder": str(data_home(data)),
            "datasets": [{key: getattr(info, key) for key in keys} for info in found],
        }
    )


@app.command("fetch", epilog=EPILOG)
@command
def fetch_sets(names: Names, printing: Printing, data: Folder = None) -> None:
    """Put data sets in the data folder."""
    from columnist.datasets import download_dataset
    from columnist.datasets._catalogue import find_dataset

    screen = Screen(printing, "data fetch")
    wanted = [find_dataset(name).name for name in names]
    fetched = {}
    with watching(screen) as watch:
        for name in wanted:

            def tell(file: str, there: int, whole: int) -> None:
                watch.phase(f"{file}: {there / 2**20:.1f} of {whole / 2**20:.1f} MB")

            watch.phase(name)
            fetched[name] = [str(p) for p in download_dataset(name, data_home=data, progress=tell)]
    for name, paths in fetched.items():
        for path in paths:
            screen.line(f"{name}: {path}")
    screen.finish({"files_of": fetched})


@app.command("show", epilog=EPILOG)
@command
def show_set(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a data set.")],
    printing: Printing,
) -> None:
    """What a data set is, where it comes from, and what to cite."""
    from columnist.datasets import describe

    screen = Screen(printing, "data show")
    text = describe(name)
    for line in text.splitlines():
        screen.line(line)
    screen.finish({"name": name, "description": text})


@app.command("path", epilog=EPILOG)
@command
def path_of(
    printing: Printing,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A data set; the folder without one.")
    ] = None,
    data: Folder = None,
) -> None:
    """The data folder, or the file of a data set: ready for other commands."""
    from columnist.datasets import data_home
    from columnist.datasets._catalogue import find_dataset

    screen = Screen(printing, "data path")
    home = data_home(data)
    path = home if name is None else home / find_dataset(name).data.path
    if name is not None and not path.exists():
        screen.note(f"not here yet: columnist data fetch {name}")
    screen.line(str(path))
    screen.finish({"path": str(path), "exists": path.exists()})
