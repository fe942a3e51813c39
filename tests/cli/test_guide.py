"""The output that the guide to the command line shows is in the words of the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from columnist.cli import main

GUIDE = Path(__file__).parents[2] / "docs" / "user_guide" / "command_line.rst"
BLOCK = re.compile(r"\.\. code-block:: console\n\n((?:   .*\n|\n)+)")


def shown() -> list[tuple[str, list[str]]]:
    """Every command of the guide with the lines below it, if there are any."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("   $ "):
                found.append((line[5:], []))
            elif line.strip():
                found[-1][1].append(line[3:])
    return [(command, lines) for command, lines in found if lines]


def words(line: str) -> str:
    """A line without figures, and one blank in place of several."""
    return " ".join(re.sub(r"[\d.,]+(e-\d+)?[*%]?|±", "", line).split())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder with the data of the demonstration."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--out", str(folder), "--quiet"]) == 0
    return folder


def test_the_guide_shows_what_the_commands_print(cli, demo, monkeypatch):
    monkeypatch.chdir(demo)
    commands = shown()
    assert len(commands) >= 7
    for command, lines in commands:
        answer = cli(*shlex.split(command)[1:])
        assert answer.code == 0, answer.err
        printed = [words(line) for line in (answer.out + answer.err).splitlines()]
        for line in lines:
            start = words(line.partition("…")[0])
            assert any(text.startswith(start) for text in printed), (command, line)
