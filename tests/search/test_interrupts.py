"""Signals that are remembered, and where they count."""

from __future__ import annotations

import signal
import sys
import threading

import numpy as np
import pytest

from columnist.search import _interrupts as interrupts
from columnist.search._interrupts import deferred, expired, keeps_answer, pending, raise_pending


@pytest.fixture(autouse=True)
def _plain_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def test_nothing_is_pending_before_a_signal():
    with deferred():
        assert not pending() and not expired(np.inf)
        raise_pending()
        assert expired(-np.inf)


def test_a_signal_is_remembered_and_then_forgotten():
    with deferred():
        interrupt()
        assert pending() and expired(np.inf)
        with pytest.raises(KeyboardInterrupt):
            raise_pending()
        assert pending()
    assert not pending() and not expired(np.inf)
    raise_pending()
    with deferred():
        assert not pending()


def test_blocks_within_blocks():
    with deferred():
        with deferred():
            interrupt()
        assert pending()  # the outer block waits for it, too
        interrupt()
        with deferred():
            assert pending()
    assert not pending()
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_an_exception_restores_the_handler():
    with pytest.raises(ZeroDivisionError), deferred(), deferred():
        interrupt()
        raise ZeroDivisionError
    assert not pending()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_threads_see_what_the_main_thread_remembers():
    seen, inside = [], []

    def work():
        with deferred():  # changes nothing: signals go to the main thread
            inside.append(signal.getsignal(signal.SIGINT))
            seen.append(pending())

    with deferred():
        handler = signal.getsignal(signal.SIGINT)
        interrupt()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGINT) is handler
    assert seen == [True] and inside == [handler]


def test_a_block_of_another_thread_installs_nothing():
    handlers = []

    def work():
        with deferred():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]


def test_a_handler_of_the_program_stays():
    came = []

    def own(number, frame):
        came.append(number)

    signal.signal(signal.SIGINT, own)
    with deferred(), deferred():
        interrupt()
        assert came and not pending()
        assert signal.getsignal(signal.SIGINT) is own
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def signals_at_every_line(block) -> int:
    """Run a block with a signal at its first line in the module, at its second, ...; how many."""
    at = sent = 0
    while sent == at:
        at, left = at + 1, at + 1

        def line(frame, event, argument):
            nonlocal left, sent
            if event == "line":
                left -= 1
                if left == 0:
                    sent += 1
                    interrupt()
            return line

        def call(frame, event, argument, line=line):
            return line if frame.f_code.co_filename == interrupts.__file__ else None

        before = sys.gettrace()

        def begin(call=call):
            sys.settrace(call)

        def end(before=before):
            sys.settrace(before)

        block(begin, end)
    return at


def test_a_signal_at_every_line_of_a_block():
    """Whatever line it comes at: the next block begins afresh, and hears the next signal."""

    def block(begin, end):
        begin()
        try:
            with deferred(), deferred():
                pass
        except KeyboardInterrupt:
            pass
        finally:
            end()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not pending()
        with deferred():
            assert not pending()
            interrupt()
            assert pending()
        assert not pending()

    assert signals_at_every_line(block) > 10


def test_a_signal_at_every_line_after_an_answer():
    """A call that has its answer returns it, whenever the signal comes."""

    def block(begin, end):
        @keeps_answer
        def call():
            begin()
            caller = sys._getframe(1)  # runs already
            caller.f_trace = sys.gettrace()(caller, "call", None)
            return 3

        try:
            assert call() == 3
        finally:
            end()

    assert signals_at_every_line(block) > 5


def test_a_call_without_an_answer_raises():
    @keeps_answer
    def call(number, *, factor):
        """Its own docstring."""
        interrupt()
        raise_pending()
        return factor * number

    with pytest.raises(KeyboardInterrupt):
        call(2, factor=3)
    assert call.__doc__ == "Its own docstring."
