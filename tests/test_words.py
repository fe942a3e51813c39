"""The list of rewritten messages shows what the program says today."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^   \* - (?P<before>.+)\n     - (?P<after>.+)$", re.MULTILINE)


def plain(text: str) -> str:
    """A text without markup; white space, also that which does not break, is one space."""
    return re.sub(r"\s+", " ", re.sub(r"``|\\", "", text)).strip()


def listed() -> list[str]:
    """The right column of the tables."""
    rows = ROW.finditer((ROOT / "docs" / "words.rst").read_text(encoding="utf-8"))
    return [plain(row["after"]) for row in rows if row["before"] != "Before"]


def texts() -> str:
    """Every string of the source that is no docstring, one on each line."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for child in ast.iter_child_nodes(node):
                said = isinstance(child, ast.Constant) and isinstance(child.value, str)
                if said and not isinstance(node, ast.Expr):
                    found.append(plain(child.value))
    return "\n".join(found)


@pytest.fixture(scope="module")
def source() -> str:
    return texts()


def test_the_list_is_read():
    assert len(listed()) > 200


@pytest.mark.parametrize("message", listed())
def test_listed_messages_occur_in_the_source(message, source):
    parts = [part.strip(" .;:,") for part in message.split("…")]
    assert [part for part in parts if part and part not in source] == []
