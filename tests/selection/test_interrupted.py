"""Ctrl-C at any moment: nothing is lost, nothing is claimed that was not proven."""

from __future__ import annotations

import signal
import sys
import threading
from itertools import combinations

import numpy as np
import pytest

from columnist import ColumnSelector, certify, selection_path
from columnist.criteria import Criterion, Nuclear, get_criterion
from columnist.search._interrupts import pending
from columnist.selection import _columns as columns
from tests.examples import examples
from tests.oracles.brute_force import subset_error

TOL = 1e-9


class Signals:
    """Raise SIGINT at the n-th line of code that runs in some files of the library."""

    def __init__(self, at: int, where=("columnist/search", "columnist/selection")):
        self.left, self.where, self.sent = at, where, False

    def _line(self, frame, event, argument):
        if event == "line" and not self.sent:
            self.left -= 1
            if self.left == 0:
                self.sent = True
                signal.raise_signal(signal.SIGINT)
        return self._line

    def _call(self, frame, event, argument):
        name = frame.f_code.co_filename.replace("\\", "/")
        return self._line if any(part in name for part in self.where) else None

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *details):
        sys.settrace(self.before)


@pytest.fixture(autouse=True)
def _plain_handler():
    """Python's own handler, and nothing left behind."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not pending()
    finally:
        signal.signal(signal.SIGINT, before)


def data(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((12, 8))


def optimum(X: np.ndarray, k: int, criterion: str) -> float:
    criterion = get_criterion(criterion)
    return min(subset_error(X, S, criterion) for S in combinations(range(X.shape[1]), k))


def moments(step: int, most: int):
    """Lines at which to interrupt: many at first, then further apart."""
    rng = np.random.default_rng(step)
    at = 1
    while at < most:
        yield at
        at += int(rng.integers(1, 2 * step)) + at // 60


def lines_of(call) -> int:
    """Lines that a call takes."""
    counter = Signals(sys.maxsize)
    with counter:
        call()
    return sys.maxsize - counter.left


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
@pytest.mark.parametrize(
    "options", [{}, {"n_solutions": 4}, {"max_gap": 0.005}, {"search": "optimistic"}], ids=str
)
def test_a_signal_at_any_line_of_fit(criterion, options):
    X = data()
    best = optimum(X, 3, criterion)
    heard, raised, calls = 0, 0, []
    options = {"criterion": criterion, "callback": lambda p: calls.append(p.incumbent)} | options
    most = lines_of(lambda: ColumnSelector(3, **options).fit(X))
    for at in moments(max(most // examples(150, 30), 1), most):
        calls.clear()
        try:
            with Signals(at) as signals:
                selector = ColumnSelector(3, **options).fit(X)
        except KeyboardInterrupt:
            raised += 1
            assert not np.isfinite(calls).any()  # there was no choice yet
        else:
            certificate = selector.certificate_
            heard += certificate.status == "interrupted"
            assert certificate.lower_bound <= best * (1.0 + TOL)
            assert best * (1.0 - TOL) <= certificate.error
            error = subset_error(X, selector.selected_, get_criterion(criterion))
            assert selector.error_ == pytest.approx(error, rel=1e-9)
            if certificate.status == "optimal":
                assert certificate.error <= best * (1.0 + TOL)
            if certificate.status == "gap_reached":
                assert 0.0 < certificate.gap <= options.get("max_gap", 0.0)
        assert signals.sent
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not pending()
    assert raised > 0 and heard > 0


def test_a_signal_at_any_line_of_certify():
    X, calls = data(1), []
    best, heard = optimum(X, 3, "frobenius"), 0

    def call():
        calls.clear()
        return certify(X, [0, 1, 2], callback=lambda p: calls.append(p.incumbent))

    most = lines_of(call)
    for at in moments(max(most // examples(100, 25), 1), most):
        try:
            with Signals(at):
                certificate = call()
        except KeyboardInterrupt:
            assert not calls  # the given selection is the first choice
            continue
        heard += certificate.status == "interrupted"
        assert certificate.selection == (0, 1, 2)
        assert certificate.error == pytest.approx(subset_error(X, [0, 1, 2], get_criterion(
            "frobenius")), rel=1e-9)  # fmt: skip
        assert certificate.lower_bound <= best * (1.0 + TOL)
    assert heard > 0


def test_a_signal_at_any_line_of_a_path():
    X, calls, heard = data(2), [], 0
    best = [optimum(X, k, "frobenius") for k in (1, 2, 3)]

    def call():
        calls.clear()
        return selection_path(X, 3, callback=lambda p: calls.append(p.incumbent))

    most = lines_of(call)
    for at in moments(max(most // examples(100, 25), 1), most):
        try:
            with Signals(at):
                path = call()
        except KeyboardInterrupt:
            assert not calls
            continue
        certificates = [step.certificate for step in path]
        heard += any(certificate.status == "interrupted" for certificate in certificates)
        for certificate, least in zip(certificates, best, strict=True):
            assert certificate.lower_bound <= least * (1.0 + TOL)
            assert certificate.error >= least * (1.0 - TOL)
    assert heard > 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_a_signal_from_a_timer():
    """The same without a tracer: the clock picks the moments, any of which must do."""
    X = np.random.default_rng(3).standard_normal((40, 30))
    best = ColumnSelector(6, time_limit=None).fit(X).error_
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        for seconds in np.geomspace(2e-4, 0.1, examples(25)):
            try:
                signal.setitimer(signal.ITIMER_REAL, float(seconds))
                certificate = ColumnSelector(6).fit(X).certificate_
            except KeyboardInterrupt:
                continue
            finally:
                # A late signal is none of fit's business.
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
                signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
            assert certificate.lower_bound <= best * (1.0 + TOL)
            assert certificate.error >= best * (1.0 - TOL)
    finally:
        signal.signal(signal.SIGALRM, before)


class Tripping(Criterion):
    """The nuclear norm, interrupted at its n-th call."""

    name = "tripping"

    def __init__(self, at: int):
        self.left = at

    def value(self, singular_values):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return Nuclear().value(singular_values)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("options", [{}, {"n_solutions": 4}, {"max_gap": 0.02}], ids=str)
def test_an_interrupt_inside_a_criterion(options, n_jobs):
    X = data(4)
    best = optimum(X, 3, "nuclear")
    finished = ended = 0
    step = max(1, 4 - examples(3, 1))
    for at in range(1, 4000, step):
        criterion = Tripping(at)
        try:
            selector = ColumnSelector(3, criterion=criterion, n_jobs=n_jobs, **options).fit(X)
        except KeyboardInterrupt:
            continue
        ended += 1
        certificate = selector.certificate_
        assert certificate.lower_bound <= best * (1.0 + TOL)
        assert certificate.error >= best * (1.0 - TOL)
        if certificate.status == "optimal":
            assert certificate.error <= best * (1.0 + TOL)
        if criterion.left > 0:
            finished += 1
            break
    assert ended > 1 and finished


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", ["expand", "interval"])
@pytest.mark.parametrize("options", [{}, {"n_solutions": 5}, {"max_gap": 0.02}], ids=str)
def test_an_interrupt_inside_the_search(monkeypatch, method, options, n_jobs):
    # The first choice is not the best one, so that others are measured after it.
    X = np.random.default_rng(20).standard_normal((14, 11))
    best = optimum(X, 5, "frobenius")
    own, left, lock = getattr(columns.FrobeniusColumns, method), [0], threading.Lock()

    def trips(self, *arguments):
        with lock:
            left[0] -= 1
            now = left[0] == 0
        if now:
            raise KeyboardInterrupt
        return own(self, *arguments)

    monkeypatch.setattr(columns.FrobeniusColumns, method, trips)
    # Nothing is explored ahead, so that there are nodes to interrupt.
    monkeypatch.setattr(columns.FrobeniusColumns, "_fits_shortcut", lambda *_: False)
    monkeypatch.setattr("columnist.search._engine._EFFORT", (0.0, 0.0))
    ended = 0
    for at in range(1, 500):
        left[0] = at
        try:
            certificate = ColumnSelector(5, n_jobs=n_jobs, **options).fit(X).certificate_
        except KeyboardInterrupt:
            continue
        ended += 1
        assert certificate.lower_bound <= best * (1.0 + TOL)
        assert certificate.error >= best * (1.0 - TOL)
        if certificate.status == "optimal":
            assert certificate.error <= best * (1.0 + TOL)
        if left[0] > 0:
            break
    assert ended > 1 and left[0] > 0


def test_an_interrupt_in_a_callback(monkeypatch):
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    X = data(6)
    best = optimum(X, 4, "nuclear")
    for send in (True, False):
        for at in range(1, 40):
            calls = []

            def callback(progress, calls=calls, at=at, send=send):
                calls.append(progress)
                if len(calls) == at:
                    if send:
                        signal.raise_signal(signal.SIGINT)
                    else:
                        raise KeyboardInterrupt

            selector = ColumnSelector(4, criterion="nuclear", callback=callback).fit(X)
            certificate = selector.certificate_
            assert certificate.lower_bound <= best * (1.0 + TOL) <= certificate.error * (1 + 3e-9)
            if len(calls) < at:
                assert certificate.status == "optimal"
                break
        assert at > 2


def test_a_second_fit_is_not_stopped_by_the_first_signal():
    X = data(7)

    def callback(progress):
        signal.raise_signal(signal.SIGINT)

    ColumnSelector(3, callback=callback).fit(X)
    assert ColumnSelector(3).fit(X).certificate_.status == "optimal"


def test_a_handler_of_the_program_is_left_alone():
    X, came = data(8), []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        selector = ColumnSelector(3, callback=lambda p: signal.raise_signal(signal.SIGINT)).fit(X)
        assert came and selector.certificate_.status == "optimal"
    finally:
        signal.signal(signal.SIGINT, before)
