"""Results on the screen, as JSON, and in files."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from columnist.cli._errors import BadInput, in_options
from columnist.cli._options import Printing
from columnist.cli._text import plain, visible

__all__ = ["Screen", "certificate_json", "check_outputs", "show_certificate", "write_page"]

# Columns of a table that is not for a terminal: never wrapped, so that grep and awk can read it.
_ENDLESS = 100_000
_SAID_IN_DEBUG_ONLY = (DeprecationWarning, PendingDeprecationWarning, RuntimeWarning)


class Screen:
    """What a command says: results to standard output, everything else to standard error.

    With ``--json`` results are one JSON object; with ``--out -`` standard output belongs to the
    data, and tables go to standard error.

    Parameters
    ----------
    printing : Printing
        The options.
    command : str
        Name of the command.
    taken : bool, default=False
        Whether standard output belongs to the data.
    """

    def __init__(self, printing: Printing, command: str, *, taken: bool = False):
        if taken and printing.json:
            raise BadInput("--json and --out - both want standard output: give --out a file.")
        self.json, self.quiet, self.verbose = printing.json, printing.quiet, printing.verbose
        self.command, self.taken = command, taken
        self.notes: list[str] = []
        self.files: dict[str, str] = {}
        self._console: Any = None
        self._begun = False
        self.live: Any = None

    @property
    def shows_tables(self) -> bool:
        """Whether tables are wanted at all."""
        return not (self.json or self.quiet)

    @property
    def console(self):
        """Rich's console, made when first needed."""
        if self._console is None:
            self._console = make_console(sys.stderr if self.taken else sys.stdout)
        return self._console

    def heading(self, text: str) -> None:
        """A line above a table."""
        if self.shows_tables:
            from rich.text import Text

            if self._begun:
                self.console.print()
            self._begun = True
            self.console.print(Text(visible(text), style="bold"), soft_wrap=not self._narrow)

    def line(self, text: str = "", style: str = "") -> None:
        """A sentence of the result."""
        if self.shows_tables:
            from rich.text import Text

            self.console.print(Text(visible(text), style=style), soft_wrap=not self._narrow)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Names and values, one pair per line."""
        if not self.shows_tables:
            return
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in facts.items():
            table.add_row(Text(name), Text(visible(value)))
        self._print(table)

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[object]], *, best: int | None = None
    ) -> None:
        """A table; columns whose names end in ``>`` are aligned to the right.

        ``best`` is the row to be set off, if any.
        """
        if not self.shows_tables:
            return
        from rich import box
        from rich.table import Table
        from rich.text import Text

        style = box.SIMPLE_HEAD if self._narrow else None
        table = Table(box=style, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
        for name in columns:
            right = name.endswith(">")
            table.add_column(
                Text(name.removesuffix(">")),
                justify="right" if right else "left",
                no_wrap=right,
                overflow="ellipsis" if right else "fold",
            )
        for position, row in enumerate(rows):
            cells = [Text(visible(cell)) for cell in row]
            table.add_row(*cells, style="bold green" if position == best else "")
        self._print(table)

    def short(self, name: str, width: int = 40) -> str:
        """A name that leaves room for others, where room is scarce."""
        return visible(name, width) if self._narrow else visible(name)

    @property
    def _narrow(self) -> bool:
        """Whether the width is that of a terminal."""
        return self.console.is_terminal

    def _print(self, table) -> None:
        if self._narrow:
            self.console.print(table)
            return
        with self.console.capture() as captured:
            self.console.print(table)
        lines = [line.rstrip() for line in captured.get().splitlines()]
        self.console.file.write("\n".join(lines) + "\n")

    def note(self, text: str) -> None:
        """Something worth knowing, said once."""
        text = " ".join(in_options(text).split())
        if text in self.notes:
            return
        self.notes.append(text)
        self._aside("note", text)

    def written(self, what: str, path: str) -> None:
        """A file is in place."""
        self.files[what] = path
        if path != "-":
            self._aside("written", path)

    def passing(self, kind: str, text: str) -> None:
        """Something of this moment, which belongs to no result."""
        self._aside(kind, text)

    def _aside(self, kind: str, text: str) -> None:
        if self.quiet:
            return
        line = f"{kind}: {visible(text)}"
        if self.live is None:
            print(line, file=sys.stderr, flush=True)
            return
        from rich.text import Text

        self.live.print(Text(line), soft_wrap=True)  # above the line that is being drawn

    @contextmanager
    def hears_warnings(self) -> Iterator[None]:
        """Warnings of the library become notes."""

        def show(message, category, *_: Any, **__: Any) -> None:
            if not issubclass(category, _SAID_IN_DEBUG_ONLY):
                self.note(str(message))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield

    def finish(self, result: Mapping[str, Any]) -> None:
        """The result as JSON, if that is wanted."""
        if not self.json:
            return
        from columnist import __version__

        whole = {
            "command": self.command,
            "version": __version__,
            **result,
            "notes": self.notes,
            "files": self.files,
        }
        ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
        text = json.dumps(plain(whole), indent=2, ensure_ascii=ascii_only, allow_nan=False)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def make_console(stream):
    """Colours and a width only in a terminal; NO_COLOR is respected."""
    from rich.console import Console

    terminal = bool(getattr(stream, "isatty", lambda: False)())
    width = None if terminal else _ENDLESS
    return Console(
        file=stream,
        force_terminal=terminal,
        width=width,
        no_color=True if os.environ.get("NO_COLOR") else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def check_outputs(
    source: str | None = None,
    *,
    out: str | None = None,
    report: str | None = None,
    model: str | None = None,
    blocks: bool = False,
) -> None:
    """Refuse what cannot be written, before the long work begins.

    ``blocks`` says that data are written block by block.
    """
    given = {"--out": out, "--report": report, "--model": model}
    endings = {"--report": (".html", ".htm"), "--model": (".json",)}
    seen: dict[Path, str] = {}
    for option, path in given.items():
        if path is None or (option == "--out" and path == "-"):
            continue
        _check_place(option, path, folder=blocks and option == "--out")
        if option in endings and not path.lower().endswith(endings[option]):
            raise BadInput(f"{option} {path}: the name must end in {' or '.join(endings[option])}.")
        place = Path(path).resolve()
        if source not in (None, "-") and place == Path(source).resolve():
            raise BadInput(f"{option} {path} is the file that is read: choose another name.")
        if place in seen:
            raise BadInput(f"{seen[place]} and {option} both name {path}.")
        seen[place] = option
    if out is not None and out != "-":
        _check_format(out, blocks)


def _check_place(option: str, path: str, *, folder: bool) -> None:
    """``folder`` says that a folder of Zarr may be replaced."""
    from columnist.io._inputs import is_zarr

    place = Path(path)
    around = place.parent
    if "\0" in path or not place.name:
        raise BadInput(f"{option} {path!r} is no name of a file.")
    if place.is_dir() and not (folder and is_zarr(path)):
        raise BadInput(f"{option} {path} is a folder: name a file in it.")
    if not around.is_dir():
        raise BadInput(f"{option} {path}: there is no folder {around}; make it first.")
    if not os.access(around, os.W_OK | os.X_OK):
        raise BadInput(f"{option} {path}: the folder {around} cannot be written to.")


def _check_format(path: str, blocks: bool) -> None:
    from columnist.io import FORMATS, DataFileError
    from columnist.io._inputs import extension_format, is_zarr
    from columnist.io._write import streamed_format

    if blocks:
        try:
            streamed_format(path)
        except DataFileError as error:
            raise BadInput(f"--out {path}: {error}") from None
        return
    if is_zarr(path):
        raise BadInput(f"--out {path}: Zarr is written with --dask only.")
    if extension_format(path) is None:
        known = ", ".join(extensions[0] for extensions in FORMATS.values())
        raise BadInput(f"--out {path}: unknown extension; use one of {known}.")


# -- pieces that several commands show ---------------------------------------------


def show_certificate(screen: Screen, certificate) -> None:
    """The certificate below a table."""
    from columnist.search._words import facts

    screen.heading("Certificate")
    screen.facts(facts(certificate))


def certificate_json(certificate, *, history: bool = True) -> dict[str, Any] | None:
    """A certificate for JSON."""
    if certificate is None:
        return None
    content = certificate.to_dict()
    if not history:
        content.pop("history")
    return content


def write_page(html: str, path: str, screen: Screen) -> None:
    """Write a report and say so."""
    from columnist.report import write_report

    write_report(html, path)
    screen.written("report", path)
