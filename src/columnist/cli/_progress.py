"""Live progress on standard error, and what Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from columnist.cli._output import Screen, make_console
from columnist.cli._text import count, number, percent, seconds

__all__ = ["Watch", "watching"]

# A search that reported within this many seconds stops by its next report.
_ALIVE = 0.5


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
        self._log: Any = None

    def phase(self, text: str) -> None:
        """What is being done from now on."""
        self.doing, self.progress, self.passed = text, None, None

    def blocks(self, done: int, total: int) -> None:
        """Hear of a pass over blocks of rows."""
        self.passed = (done, total) if done < total else None

    def callback(self, progress) -> bool:
        """Hear of a search; answer whether to stop it."""
        self.progress, self._heard = progress, time.perf_counter()
        self.passed = None
        if self.screen.verbose:
            self.log.show(progress)
        return self.interrupted

    @property
    def log(self):
        """The solver log, on standard error."""
        if self._log is None:
            from columnist.search._log import SolverLog

            self._log = SolverLog(True, sys.stderr)
        return self._log

    def __rich__(self):
        from rich.text import Text

        parts = [seconds_passed(time.perf_counter() - self.started)]
        if self.progress is not None:
            p = self.progress
            parts += [
                f"gap {percent(p.gap)}",
                f"best {number(p.incumbent)}",
                f"bound {number(p.bound)}",
                f"{p.expanded:,} nodes",
            ]
        if self.passed is not None:
            done, total = self.passed
            parts.append(f"{done:,} of {count(total, 'block')}")
        parts += [self.doing, *(["Ctrl-C keeps the best"] if self.progress else [])]
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


def seconds_passed(value: float) -> str:
    """The clock of the progress line."""
    return f"{value:.1f} s" if value < 60 else seconds(value)


@contextmanager
def watching(screen: Screen, doing: str = "") -> Iterator[Watch]:
    """A :class:`Watch` that is drawn while the work lasts."""
    watch = Watch(screen)
    watch.phase(doing)
    with _handles_signals(watch), _drawn(watch), screen.hears_warnings():
        yield watch


@contextmanager
def _handles_signals(watch: Watch) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, watch.on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _drawn(watch: Watch) -> Iterator[None]:
    screen = watch.screen
    if screen.quiet or screen.verbose or not sys.stderr.isatty():
        yield
        return
    from rich.live import Live

    console = make_console(sys.stderr)
    live = Live(
        get_renderable=watch.__rich__, console=console, transient=True, refresh_per_second=8,
        redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip
    with live:
        screen.live = console
        try:
            yield
        finally:
            screen.live = None
