"""Clocks that tests move on: what they show depends on no machine and on no load."""

from __future__ import annotations

import sys
from contextlib import contextmanager

__all__ = ["CallClock", "Clock"]


class Clock:
    """A clock that stands still but for the seconds that work is said to take."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        self.calls: dict[str, int] = {}
        self.monkeypatch = monkeypatch
        monkeypatch.setattr("time.perf_counter", lambda: self.now)

    def charge(self, owner, name: str, seconds: float) -> None:
        """Let every call of a function take so many seconds."""
        own = getattr(owner, name)

        def slow(*arguments, **options):
            self.calls[name] = self.calls.get(name, 0) + 1
            self.now += seconds
            return own(*arguments, **options)

        self.monkeypatch.setattr(owner, name, slow)


class CallClock(Clock):
    """A clock that every call of a function, in Python or C, moves on by so many seconds."""

    def __init__(self, monkeypatch, seconds: float):
        super().__init__(monkeypatch)
        self.seconds = seconds

    @contextmanager
    def running(self):
        """Count the calls of this thread."""

        def tick(frame, event, argument):
            if event in ("call", "c_call"):
                self.now += self.seconds

        before = sys.getprofile()
        sys.setprofile(tick)
        try:
            yield
        finally:
            sys.setprofile(before)
