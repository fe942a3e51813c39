"""Help, version, usage, completion, and a light start."""

from __future__ import annotations

import subprocess
import sys

import pytest

import columnist
from columnist.cli._selectors import complete_criterion, complete_selector

COMMANDS = (
    "select",
    "apply",
    "certify",
    "rank",
    "compare",
    "outliers",
    "clean",
    "demo",
)


def test_the_program_says_what_it_can(cli):
    for arguments in ((), ("--help",)):
        answer = cli(*arguments)
        assert answer.code == 0
        assert all(name in answer.out for name in (*COMMANDS, "data", "Exit codes"))


@pytest.mark.parametrize("name", [*COMMANDS, "data list", "data fetch", "data show", "data path"])
def test_every_help_ends_with_examples(cli, name):
    answer = cli(*name.split(), "--help")
    assert answer.code == 0
    head, _, tail = answer.out.partition("Examples")
    assert "--json" in head
    assert f"columnist {name.split()[0]}" in tail


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("select", ("greedy", "optimistic", "median", "values", "label")),
        ("outliers", ("pursuit", "trimmed", "refuse")),
    ],
)
def test_choices_are_not_broken_in_a_narrow_terminal(cli, monkeypatch, command, words):
    monkeypatch.setenv("COLUMNS", "80")
    text = cli(command, "--help").out
    assert [word for word in words if word not in text] == []
    assert max(map(len, text.splitlines())) <= 80


def test_version(cli):
    answer = cli("--version")
    assert (answer.code, answer.out.strip()) == (0, f"columnist {columnist.__version__}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("chose",),
        ("select",),
        ("select", "x.csv", "--no-such-option"),
        ("select", "x.csv", "-k"),
        ("select", "x.csv", "-k", "2", "--missing", "guess"),
        ("select", "x.csv", "-k", "2", "--jobs", "two"),
        ("--no-such-option",),
        ("data", "nothing"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(cli, arguments):
    answer = cli(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1


def test_wrong_usage_names_the_help_of_the_command(cli):
    message = cli("select", "x.csv", "-k", "2", "--missing", "guess").err
    assert message.startswith("error: Invalid value for '--missing': 'guess' is not one of")
    assert "columnist select --help" in message


def test_a_group_without_a_command_shows_its_help(cli):
    answer = cli("data")
    assert (answer.code, answer.err) == (0, "")
    assert "columnist data path vehicle" in answer.out


def test_the_shell_completes_names():
    assert list(complete_selector("rel")) == ["relief", "relief-f"]
    assert list(complete_selector("qr,strong")) == ["qr,strong-rrqr"]
    assert "kyfan:3" in complete_criterion("k")


def test_help_loads_no_numbers():
    code = (
        "import sys\nfrom columnist.cli import main\nmain(['select', '--help'])\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "polars", "jinja2", "matplotlib"} & set(
        run.stderr.split()
    )


def test_without_typer_the_message_names_the_extra():
    code = (
        "import sys\nsys.modules['typer'] = None\nfrom columnist.cli import main\n"
        "sys.exit(main(['--help']))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert "columnist[cli]" in run.stderr
    assert "Traceback" not in run.stderr
