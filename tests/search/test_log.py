"""The solver log."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from columnist import ColumnSelector
from columnist.search._log import Progress, SolverLog

WIPE = "\r\x1b[2K"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def moment(elapsed=0.0, new=False, **changes):
    values = {"expanded": 10, "open": 5, "bound": 1.0, "incumbent": 2.0} | changes
    return Progress(elapsed=elapsed, new_incumbent=new, **values)


@pytest.mark.parametrize(
    ("bound", "incumbent", "gap"),
    [(1.0, 2.0, 0.5), (2.0, 2.0, 0.0), (0.0, 0.0, 0.0), (0.0, 3.0, 1.0)],
)
def test_gap(bound, incumbent, gap):
    assert moment(bound=bound, incumbent=incumbent).gap == gap


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"expanded": 99_999_999, "open": 98_765_432},
        {"bound": 1.23456789e-300, "incumbent": 9.87654321e300},
        {"elapsed": 86_399.9, "new": True},
        {"bound": 0.0, "incumbent": 0.0},
    ],
)
def test_fixed_width(changes):
    assert len(moment(**changes).row()) == len(moment().row())


def test_before_anything_is_known():
    row = moment(bound=-np.inf, incumbent=np.inf).row()
    assert len(row) == len(moment().row())


def test_star_marks_a_new_incumbent():
    assert moment(new=True).row().startswith("*")
    assert moment().row().startswith(" ")


def test_silent_unless_asked():
    stream = io.StringIO()
    log = SolverLog(False, stream)
    log.show(moment(new=True), force=True)
    log.message("done")
    assert stream.getvalue() == ""


def test_lines_line_up_with_the_header():
    stream = io.StringIO()
    log = SolverLog(True, stream)
    log.show(moment(new=True))
    header, row = stream.getvalue().splitlines()
    assert len(header) == len(row)
    for name in ("Expanded", "Open", "Bound", "Incumbent", "Gap", "Time"):
        end = header.index(name) + len(name)
        assert row[end - 1] != " " and (end == len(row) or row[end] == " ")


def test_header_every_twenty_lines():
    stream = io.StringIO()
    log = SolverLog(True, stream)
    for i in range(45):
        log.show(moment(float(i), new=True))
    lines = stream.getvalue().splitlines()
    headers = [i for i, line in enumerate(lines) if "Expanded" in line]
    assert headers == [0, 21, 42]
    assert len(lines) == 48


def test_throttled_between_incumbents():
    stream = io.StringIO()
    log = SolverLog(True, stream, interval=5.0)
    for elapsed in np.arange(0.0, 20.0, 0.5):
        log.show(moment(float(elapsed)))
    rows = stream.getvalue().splitlines()[1:]
    assert len(rows) == 3  # after 5, 10 and 15 seconds
    log.show(moment(19.9), force=True)
    assert len(stream.getvalue().splitlines()[1:]) == 4


def test_terminal_rewrites_one_line():
    stream = Terminal()
    log = SolverLog(True, stream)
    log.show(moment(0.2))
    log.show(moment(0.25, expanded=99))  # too soon
    log.show(moment(0.4, expanded=20))
    text = stream.getvalue()
    assert text == WIPE + moment(0.2).row() + WIPE + moment(0.4, expanded=20).row()
    log.show(moment(0.5, new=True))
    rest = stream.getvalue()[len(text) :]
    assert rest.startswith(WIPE) and rest.endswith(moment(0.5, new=True).row() + "\n")
    log.message("done")
    assert stream.getvalue().endswith("\ndone\n")


def test_a_file_gets_the_table_only():
    stream = io.StringIO()
    log = SolverLog(True, stream)
    log.show(moment(0.2))
    assert stream.getvalue() == ""


def test_notebook_rewrites_one_display(monkeypatch):
    shown = []

    class Handle:
        def update(self, content, raw):
            shown.append(content["text/plain"])

    def display(content, raw, display_id):
        shown.append(content["text/plain"])
        return Handle()

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    log = SolverLog(True)
    log.show(moment(0.2))
    log.show(moment(0.4, expanded=20))
    log.message("done")
    assert shown == [moment(0.2).row(), moment(0.4, expanded=20).row(), ""]


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_log_of_a_search(capsys, criterion):
    X = np.random.default_rng(0).standard_normal((20, 10))
    selector = ColumnSelector(4, criterion=criterion, verbose=True).fit(X)
    lines = capsys.readouterr().out.splitlines()
    end = lines.index("Certificate")
    table = [line for line in lines[:end] if not line.startswith("Bound by ")]
    assert len({len(line) for line in table}) == 1
    assert table[1].startswith("*")
    # The log ends with the search; the certificate counts the seconds until fit is done.
    printed, final = lines[end:], repr(selector.certificate_).splitlines()
    assert printed[:-1] == final[:-1]
    clocks = [line.split() for line in (printed[-1], final[-1])]
    assert clocks[0][:-2] == clocks[1][:-2] and clocks[0][0] == "search"
    assert 0.0 < float(clocks[0][-2]) <= float(clocks[1][-2])


def test_the_log_says_which_bound_closed_what(capsys):
    X = np.random.default_rng(0).standard_normal((60, 24))
    ColumnSelector(12, verbose=True, time_limit=None).fit(X)
    lines = capsys.readouterr().out.splitlines()
    told = [line.split(":")[0] for line in lines if line.startswith("Bound by ")]
    assert sorted(told) == ["Bound by relaxation", "Bound by unconstrained directions"]
