"""The solver log: a fixed-width table, silent by default."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TextIO

_HEADER = (
    f"{'':1}{'Expanded':>10} {'Open':>10} {'Bound':>13} {'Incumbent':>13} {'Gap':>8} {'Time':>8}"
)
_LINES_PER_HEADER = 20
# Entries of the history of a certificate.
_NOTED = ("elapsed", "expanded", "open", "bound", "incumbent")


@dataclass(frozen=True)
class Progress:
    """A moment of a search; callbacks receive it, the log prints it.

    Attributes
    ----------
    expanded, open : int
        Nodes expanded so far, and branches still open.
    bound, incumbent : float
        Proven lower bound and error of the best choice so far.
    elapsed : float
        Seconds since the start.
    new_incumbent : bool
        Whether a better choice was just found.
    """

    expanded: int
    open: int
    bound: float
    incumbent: float
    elapsed: float
    new_incumbent: bool = False

    @property
    def gap(self) -> float:
        """(incumbent - bound) / incumbent, 0 when the incumbent is 0."""
        if self.incumbent == 0.0 or self.incumbent == self.bound:
            return 0.0
        return (self.incumbent - self.bound) / self.incumbent

    def entry(self) -> dict[str, float]:
        """The moment as an entry of a certificate's history."""
        return {name: getattr(self, name) for name in _NOTED}

    def row(self) -> str:
        """The line of the log; a star marks a new incumbent."""
        mark = "*" if self.new_incumbent else " "
        return (
            f"{mark}{self.expanded:>10,} {self.open:>10,} {self.bound:>13.7g} "
            f"{self.incumbent:>13.7g} {100 * self.gap:>7.2f}% {self.elapsed:>7.1f}s"
        )


class SolverLog:
    """Prints a line per new incumbent, and throttled lines in between, ``interval`` seconds apart;
    in a terminal or a notebook the moments between two lines are shown on one line that rewrites
    itself."""

    def __init__(self, verbose: bool, stream: TextIO | None = None, interval: float = 5.0):
        self.verbose = verbose
        self.stream = sys.stdout if stream is None else stream
        self.interval = interval
        self._lines = 0
        self._last_line = self._last_live = 0.0
        self._live = _live_display(self.stream) if verbose else None

    def show(self, progress: Progress, *, force: bool = False) -> None:
        """Print the moment if it is worth a line."""
        if not self.verbose:
            return
        due = progress.elapsed - self._last_line >= self.interval
        if force or due or progress.new_incumbent:
            self._print(progress)
        elif self._live is not None and progress.elapsed - self._last_live >= 0.1:
            self._last_live = progress.elapsed
            self._live.update(progress.row())

    def message(self, text: str) -> None:
        """Print a sentence of its own."""
        if self.verbose:
            self._clear()
            print(text, file=self.stream, flush=True)

    def tally(self, tally: dict[str, tuple[int, int]]) -> None:
        """Print which bound was used how often, and how many branches it closed."""
        for kind, (bounded, closed) in tally.items():
            self.message(f"Bound by {kind}: {bounded:,} nodes, {closed:,} branches closed.")

    def _print(self, progress: Progress) -> None:
        self._clear()
        if self._lines % _LINES_PER_HEADER == 0:
            print(_HEADER, file=self.stream)
        print(progress.row(), file=self.stream, flush=True)
        self._lines += 1
        self._last_line = progress.elapsed

    def _clear(self) -> None:
        if self._live is not None:
            self._live.clear()


class _TerminalLine:
    """A line that rewrites itself in a terminal."""

    def __init__(self, stream: TextIO):
        self.stream, self.shown = stream, False

    def update(self, text: str) -> None:
        self.stream.write("\r\x1b[2K" + text)
        self.stream.flush()
        self.shown = True

    def clear(self) -> None:
        if self.shown:
            self.stream.write("\r\x1b[2K")
            self.shown = False


class _NotebookLine:
    """A display that rewrites itself in a notebook."""

    def __init__(self, display):
        self._display, self._handle = display, None

    def update(self, text: str) -> None:
        content = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _live_display(stream: TextIO):
    """The live line this stream can show, if any; IPython is used only if already loaded."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if stream is sys.stdout and getattr(shell, "kernel", None) is not None:
        return _NotebookLine(sys.modules["IPython.display"].display)
    return _TerminalLine(stream) if getattr(stream, "isatty", lambda: False)() else None
