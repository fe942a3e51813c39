"""What is said where."""

from __future__ import annotations

import io

import pytest

from columnist import Certificate
from columnist.cli._options import Printing
from columnist.cli._screen import Screen, Watch, certificate_json, make_console
from columnist.search._log import Progress
from columnist.search._words import STATUSES


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, **printing: bool) -> str:
    screen = Screen(Printing(**printing), "test")
    screen.console = make_console(stream)
    screen.heading("Heading [bold]")
    screen.table(["name", "value>"], [["[red]x[/red]", 1], ["y" * 200, 22]], best=0)
    screen.facts({"fact": "[/]", "long": "z" * 200})
    return stream.getvalue()


def test_a_pipe_gets_plain_lines():
    lines = shown(io.StringIO()).splitlines()
    assert lines[0] == "Heading [bold]"
    assert "[red]x[/red]" in lines[2] and lines[2].endswith(" 1")
    assert "y" * 200 in lines[3]
    assert lines[-1] == "long  " + "z" * 200
    assert all(line == line.rstrip() and "\x1b" not in line for line in lines)


def test_a_terminal_gets_colours_within_its_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = shown(Terminal())
    assert "\x1b[1;32m" in text
    assert "[red]x[/red]" in text
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(Terminal())
    assert "\x1b[1;32m" not in text and "\x1b[36m" not in text
    bare = text.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert all(len(line) <= 60 for line in bare.splitlines())


@pytest.mark.parametrize("printing", [{"quiet": True}, {"json": True}], ids=["quiet", "json"])
def test_tables_are_left_out(printing):
    assert shown(io.StringIO(), **printing) == ""


def test_notes_are_said_once(capsys):
    screen = Screen(Printing(), "test")
    screen.note("one\x1b[31m thing")
    screen.note("one\x1b[31m thing")
    assert capsys.readouterr().err == "note: one\\x1b[31m thing\n"


def test_the_first_ctrl_c_lets_a_search_end_by_itself():
    watch = Watch(Screen(Printing(quiet=True), "test"))
    with pytest.raises(KeyboardInterrupt):
        watch.on_signal()
    watch = Watch(Screen(Printing(quiet=True), "test"))
    moment = Progress(5, 3, 1.0, 2.0, 0.1)
    assert watch.callback(moment) is False
    watch.on_signal()
    assert watch.callback(moment) is True
    with pytest.raises(KeyboardInterrupt):
        watch.on_signal()


def test_the_line_of_progress_tells_the_gap_first():
    watch = Watch(Screen(Printing(quiet=True), "test"))
    watch.phase("choosing")
    assert "choosing" in watch.__rich__().plain
    watch.callback(Progress(1500, 3, 1.0, 2.0, 0.1))
    text = watch.__rich__().plain
    assert text.index("gap 50.00%") < text.index("best 2") < text.index("1,500 nodes")


# -- pieces that several commands show ---------------------------------------------


def certificate_shown(capsys, certificate) -> str:
    Screen(Printing(), "select").certificate(certificate)
    return capsys.readouterr().out


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_explained(capsys, status):
    text = certificate_shown(capsys, Certificate(status, 4.0, 3.0))
    assert f"status       {status} ({STATUSES[status]})" in text


def test_preparation_is_shown_where_there_was_any(capsys):
    text = certificate_shown(
        capsys, Certificate("time_limit", 4.0, 3.0, elapsed=75.0, preparation=70.0)
    )
    assert "0 expanded, 0 generated nodes, 1 min 15 s\n" in text
    assert "data passes  1 min 10 s of these, outside the time limit" in text
    assert "preparation" not in certificate_shown(capsys, Certificate("time_limit", 4.0, 3.0))


def test_json_has_it_all():
    content = certificate_json(Certificate("precision_limit", 4.0, 3.0), history=False)
    assert content["status"] == "precision_limit" and content["preparation"] == 0.0
    assert "history" not in content
    assert certificate_json(None) is None
