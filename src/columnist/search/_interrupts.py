"""Handling of Ctrl-C without loss of results, and the deadline of a search.

KeyboardInterrupt may come between taking a branch off a list and putting its children there. Inside
:func:`deferred` the signal is only remembered: stages ask :func:`expired` where stopping is safe,
preparation calls :func:`raise_pending`. Other threads than the main one, and programs with a
handler of their own, see no change.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


class _Remembered:
    """Whether a signal came, and how many blocks wait for it; it counts only while one does."""

    depth = 0
    came = False


@contextmanager
def deferred() -> Iterator[None]:
    """Remember SIGINT instead of raising it at once: the block returns its answer even if a signal
    came while it was at work. Blocks may be nested."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _Remembered.depth == 0 and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    # Nothing is counted up or down: a signal may come between any two of these lines.
    outside = _Remembered.depth
    try:
        if outside == 0:
            _Remembered.came = False
            signal.signal(signal.SIGINT, _remember)
        _Remembered.depth = outside + 1
        yield
    finally:
        _Remembered.depth = outside
        if outside == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def keeps_answer(call: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer]:
    """Defer SIGINT during a call, and return its answer also if a signal comes right after it: in
    the few microseconds in which :func:`deferred` hands signals back to Python."""

    @wraps(call)
    def guarded(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Answer:
        answers: list[_Answer] = []
        try:
            with deferred():
                answers.append(call(*args, **kwargs))
            return answers[0]
        except KeyboardInterrupt:
            if not answers:
                raise
            return answers[0]

    return guarded


@contextmanager
def at_once() -> Iterator[None]:
    """Inside :func:`deferred`, a part that a signal ends at once: long preparation, which has
    nothing to return, and which runs elsewhere and is to be cancelled there."""
    waiting = signal.getsignal(signal.SIGINT) is _remember
    if not waiting or threading.current_thread() is not threading.main_thread():
        yield
        return
    raise_pending()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _remember)


def _remember(number, frame) -> None:
    _Remembered.came = True


def pending() -> bool:
    """Whether a signal has arrived and was not handled yet."""
    return _Remembered.came and _Remembered.depth > 0


def raise_pending() -> None:
    """Raise KeyboardInterrupt if a signal came: for stages that have nothing to return yet."""
    if pending():
        raise KeyboardInterrupt


def expired(deadline: float) -> bool:
    """Whether to stop: ``time.perf_counter()`` has passed the deadline, or a signal came."""
    return pending() or time.perf_counter() > deadline
