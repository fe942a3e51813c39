"""Output of a command: results as tables or JSON, notes, live progress, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

from columnist._text import count, seconds
from columnist.cli._errors import BadInput, in_options
from columnist.cli._options import Printing
from columnist.cli._text import number, percent, plain, visible

# Columns of a table that is not for a terminal: never wrapped, so that grep and awk can read it.
_ENDLESS = 100_000
# A search that reported within this many seconds stops by its next report.
_ALIVE = 0.5
_SAID_IN_DEBUG_ONLY = (DeprecationWarning, PendingDeprecationWarning, RuntimeWarning)


class Screen:
    """Output of a command: results on standard output, everything else on standard error.

    With ``--json`` results are one JSON object; with ``--out -`` standard output is ``taken`` by
    the data, and tables go to standard error.
    """

    def __init__(self, printing: Printing, command: str, *, taken: bool = False):
        if taken and printing.json:
            raise BadInput("--json and --out - both want standard output: give --out a file.")
        self.json, self.quiet, self.verbose = printing.json, printing.quiet, printing.verbose
        self.command, self.taken = command, taken
        self.notes: list[str] = []
        self.files: dict[str, str] = {}
        self._begun = False
        self.live: Any = None

    @property
    def shows_tables(self) -> bool:
        """Whether tables are wanted at all."""
        return not (self.json or self.quiet)

    @cached_property
    def console(self):
        """Rich's console, made when first needed."""
        return make_console(sys.stderr if self.taken else sys.stdout)

    def heading(self, text: str) -> None:
        """A line above a table."""
        if self._begun:
            self.line()
        self._begun = True
        self.line(text, "bold")

    def line(self, text: str = "", style: str = "") -> None:
        """A sentence of the result."""
        if self.shows_tables:
            from rich.text import Text

            self.console.print(Text(visible(text), style=style), soft_wrap=not self._narrow)

    def facts(self, facts: Mapping[str, str]) -> None:
        """Print names and values, one pair per line."""
        columns = [{"style": "cyan", "no_wrap": True}, {"overflow": "fold"}]
        self._print(columns, list(facts.items()), None, box=None, show_header=False)

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[object]], *, best: int | None = None
    ) -> None:
        """A table; columns whose names end in ``>`` are aligned to the right.

        ``best`` is the row to be set off, if any.
        """
        if not self.shows_tables:
            return
        from rich import box

        left, right = {"overflow": "fold"}, {"justify": "right", "no_wrap": True}
        heads = [
            {"header": name.removesuffix(">"), **(right if name.endswith(">") else left)}
            for name in columns
        ]
        self._print(heads, rows, best, box=box.SIMPLE_HEAD if self._narrow else None)

    def certificate(self, certificate, preparation: float = 0.0) -> None:
        """A certificate below a table; ``preparation`` is the time before the search."""
        from columnist.search._words import facts

        self.heading("Certificate")
        whole = seconds(preparation + certificate.elapsed)
        time = {"time": f"{whole}, of which {seconds(preparation)} to read and prepare the data"}
        self.facts(facts(certificate) | (time if preparation else {}))

    def path(self, path) -> None:
        """Error and gap of every size."""
        rows = [
            [len(step.selection), percent(relative), percent(step.certificate.gap),
             step.certificate.status]
            for step, relative in zip(path, path.relative_errors, strict=True)
        ]  # fmt: skip
        self.table(["columns>", "unexplained>", "gap>", "status"], rows)

    def short(self, name: str, width: int = 40) -> str:
        """A name that leaves room for others, where room is scarce."""
        return visible(name, width) if self._narrow else visible(name)

    @property
    def _narrow(self) -> bool:
        """Whether the width is that of a terminal."""
        return self.console.is_terminal

    def _print(self, columns, rows, best: int | None, **how: Any) -> None:
        if not self.shows_tables:
            return
        from rich.table import Table
        from rich.text import Text

        table = Table(show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), **how)
        for column in columns:
            table.add_column(**{**column, "header": Text(column.get("header", ""))})
        for position, row in enumerate(rows):
            cells = [Text(visible(cell)) for cell in row]
            table.add_row(*cells, style="bold green" if position == best else "")
        if self._narrow:
            self.console.print(table)
            return
        with self.console.capture() as captured:
            self.console.print(table)
        lines = [line.rstrip() for line in captured.get().splitlines()]
        self.console.file.write("\n".join(lines) + "\n")

    def note(self, text: str) -> None:
        """A note, printed once."""
        text = " ".join(in_options(text).split())
        if text in self.notes:
            return
        self.notes.append(text)
        self.aside(*(("warning", text[9:]) if text.startswith("warning: ") else ("note", text)))

    def written(self, what: str, path: str) -> None:
        """A file is in place."""
        self.files[what] = path
        if path != "-":
            self.aside("written", path)

    def write_page(self, html: str, path: str) -> None:
        """Write a report and say so."""
        from columnist.report import write_report

        write_report(html, path)
        self.written("report", path)

    def aside(self, kind: str, text: str) -> None:
        """A message that is not part of the result."""
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
        """Turn warnings of the library into notes; commands have their own notes on scales."""
        from columnist.data._scales import ScaleWarning

        def show(message, category, *_: Any, **__: Any) -> None:
            if not issubclass(category, (*_SAID_IN_DEBUG_ONLY, ScaleWarning)):
                self.note(_said(str(message)))

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield

    def finish(self, result: Mapping[str, Any]) -> None:
        """The result as JSON, if that is wanted."""
        if not self.json:
            return
        from columnist import __version__

        whole = {"command": self.command, "version": __version__, **result}
        whole |= {"notes": self.notes, "files": self.files}
        ascii_only = (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"
        text = json.dumps(plain(whole), indent=2, ensure_ascii=ascii_only, allow_nan=False)
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def _said(message: str) -> str:
    """A warning in terms of the command line: solvers of scikit-learn name parameters of theirs."""
    if "failed to converge" in message:
        return "a linear model stopped before it converged; --center --scale often helps"
    return message


def certificate_json(certificate, *, history: bool = True) -> dict[str, Any] | None:
    """A certificate for JSON."""
    content = None if certificate is None else certificate.to_dict()
    if content and not history:
        content.pop("history")
    return content


def make_console(stream):
    """Colours and a width only in a terminal; NO_COLOR is respected."""
    from rich.console import Console

    terminal = bool(getattr(stream, "isatty", lambda: False)())
    width = None if terminal else _ENDLESS
    return Console(
        file=stream, force_terminal=terminal, width=width, highlight=False, markup=False,
        emoji=False, no_color=True if os.environ.get("NO_COLOR") else None,
    )  # fmt: skip


# -- progress -------------------------------------------------------------------


class Watch:
    """The state of a long piece of work.

    ``callback`` goes to a search: it draws the state, and stops the search after Ctrl-C.
    """

    def __init__(self, screen: Screen):
        self.screen = screen
        self.started = time.perf_counter()
        self.doing = ""
        self.progress: Any = None
        self.passed: tuple[int, int] | None = None
        self.interrupted = False
        self._heard = float("-inf")

    @property
    def passed_seconds(self) -> float:
        """How long the work has lasted."""
        return time.perf_counter() - self.started

    def phase(self, text: str) -> None:
        """What is being done from now on."""
        self.doing, self.progress, self.passed = text, None, None

    def blocks(self, done: int, total: int) -> None:
        """Report a pass over blocks of rows."""
        self.passed = (done, total) if done < total else None

    def callback(self, progress) -> bool:
        """Report the progress of a search; return whether to stop it."""
        self.progress, self._heard = progress, time.perf_counter()
        self.passed = None
        if self.screen.verbose:
            self.log.show(progress)
        return self.interrupted

    @cached_property
    def log(self):
        """The solver log, on standard error."""
        from columnist.search._log import SolverLog

        return SolverLog(True, sys.stderr)

    def __rich__(self):
        from rich.text import Text

        passed = time.perf_counter() - self.started
        parts = [f"{passed:.1f} s" if passed < 60 else seconds(passed)]
        if self.progress is not None:
            p = self.progress
            parts += [f"gap {percent(p.gap)}", f"best {number(p.incumbent)}"]
            parts += [f"bound {number(p.bound)}", f"{p.expanded:,} nodes", "Ctrl-C: stop"]
        if self.passed is not None:
            done, total = self.passed
            parts.append(f"{done:,} of {count(total, 'block')}")
        parts += [] if self.progress else [self.doing]  # 80 characters have room for one
        return Text("  ".join(parts), style="dim", no_wrap=True, overflow="ellipsis")

    def on_signal(self, *_: Any) -> None:
        """The first Ctrl-C lets a search end by itself; others, and a second one, interrupt."""
        searching = time.perf_counter() - self._heard < _ALIVE
        again, self.interrupted = self.interrupted, True
        if again or not searching:
            raise KeyboardInterrupt

    def settle(self, certificate) -> None:
        """Say that a search was interrupted, if it was."""
        status = getattr(certificate, "status", "")
        if status == "interrupted" or (self.interrupted and status != "optimal"):
            self.screen.note("interrupted: best so far kept")


@contextmanager
def watching(screen: Screen, doing: str = "") -> Iterator[Watch]:
    """A :class:`Watch` that is drawn, and handles Ctrl-C, during the work."""
    watch = Watch(screen)
    watch.phase(doing)
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, watch.on_signal)
            stack.callback(signal.signal, signal.SIGINT, before)
        if sys.stderr.isatty() and not (screen.quiet or screen.verbose):
            from rich.live import Live

            console = make_console(sys.stderr)
            stack.enter_context(Live(
                get_renderable=watch.__rich__, console=console, transient=True,
                refresh_per_second=8, redirect_stdout=False, redirect_stderr=False,
            ))  # fmt: skip
            screen.live = console
            stack.callback(setattr, screen, "live", None)
        stack.enter_context(screen.hears_warnings())
        yield watch
