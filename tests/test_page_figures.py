"""Pages state only figures that a stored result holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.store import FOLDER, Stored, names

ROOT = Path(__file__).parents[1]
# Figures of the corrections are those of the print; messages are quoted as they were and are.
ELSEWHERE = {"generated", "auto_examples", "_build", "errata.rst", "words.rst"}
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.rst") if not ELSEWHERE & set(p.parts)),
]
UNITS = r"ms|µs|s|seconds?|minutes?|min|hours?|GB|MB|times|%|degrees"
NUMBER = r"(?<![\w.,/-])(\d[\d,]*(?:\.\d+)?)(?:\s+to\s+\d[\d.,]*)?"
FIGURE = re.compile(rf"{NUMBER}[ \n]?(?:{UNITS})(?![\w-])")
# The same in words. No number compares with these: pages state measurements in digits.
SPELLED = re.compile(
    r"\b(?:about an?|half an?|two|three|four|five|ten|twenty|thirty|hundred|several|a few)\s+"
    r"(?:(?:milli|micro)?seconds?|minutes?|hours?|percent|times\s+(?:faster|slower))\b"
)
# The comment before a paragraph says where its figures come from: stored results, "settings" for
# what is chosen and not measured, or "example" for the code and the output of the same page, which
# is run as a test.
SOURCE = re.compile(r"^(?:\.\. figures: (.*)|<!-- figures: (.*) -->)$")


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Prose, with what the comment before it says of its figures; no code and no formulas."""
    source, code = "", False
    for block in re.split(r"\n\s*\n", text):
        said = SOURCE.match(block.strip())
        if said:
            source = said[1] or said[2]
            continue
        lines = block.strip("\n").splitlines()
        indented = bool(lines) and lines[0].startswith("   ")
        literal = block.lstrip().startswith((".. code", ".. math", ">>>", "```", "$ ", "   $"))
        if not (literal or (code and indented)):
            yield source, block
        code = literal or (code and indented) or block.rstrip().endswith("::")
        source = ""


def values_of(source: str, text: str, folder: Path = FOLDER) -> list[float]:
    """All numbers that results hold, or the code of the page, there also as shares."""
    if source == "example":
        numbers = [float(n) for n in re.findall(r"\d+\.\d+|\d+", text)]
        return [*(n for n in numbers if n < 1e6), *(100.0 * n for n in numbers if n < 1.0)]
    found = []
    for name in source.split(", "):
        for row in Stored(name, folder).rows:
            found += [float(v) for v in row.values() if isinstance(v, (int, float))]
    return found


def code_of(text: str) -> str:
    """Code and its output."""
    prose = {block for _, block in paragraphs(text)}
    return "\n".join(block for block in re.split(r"\n\s*\n", text) if block not in prose)


def holds(figure: str, values: list[float]) -> bool:
    """Whether a value rounds to a figure."""
    plain = figure.replace(",", "")
    decimals = len(plain.partition(".")[2])
    return any(f"{value:.{decimals}f}" == plain for value in values)


def unsupported(text: str, folder: Path = FOLDER) -> list[str]:
    """Figures with a unit that no stored result holds."""
    found = []
    for source, block in paragraphs(text):
        if source == "settings":
            continue
        found += [match[0] for match in SPELLED.finditer(block)]
        figures = [match[1] for match in FIGURE.finditer(block)]
        if not figures:
            continue
        values = values_of(source, code_of(text), folder) if source else []
        found += [figure for figure in figures if not holds(figure, values)]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_of_a_page_are_stored(page):
    text = page.read_text(encoding="utf-8")
    assert not unsupported(text)
    sources = {name for source, _ in paragraphs(text) for name in source.split(", ")}
    assert sources - {"", "settings", "example"} <= set(names())


def test_a_doctored_page_is_found(tmp_path):
    Stored("a", tmp_path).put([{"set": "s", "ratio": 104.26, "seconds": 2.5}])
    page = "A page.\n\n.. figures: a\n\nIt is 104 times faster and takes 2.5 s.\n"
    assert unsupported(page, tmp_path) == []
    assert unsupported(page.replace("104", "105"), tmp_path) == ["105"]
    assert unsupported(page.replace(".. figures: a\n\n", ""), tmp_path) == ["104", "2.5"]
    assert unsupported(page.replace("a\n\nIt", "settings\n\nIt"), tmp_path) == []
    assert unsupported("It takes about a\nsecond, and is ten times faster.", tmp_path) == [
        "about a\nsecond", "ten times faster"
    ]  # fmt: skip
    assert unsupported(".. figures: settings\n\nIt waits for ten seconds.", tmp_path) == []
    assert unsupported("Out::\n\n   took 3 s\n\n   and 4 s\n", tmp_path) == []


def test_figures_that_are_added_to_a_page_are_found():
    """Whatever stands on a page, a measured figure without a result does not go unseen."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for figure in ("987.654 s", "12,345 times", "98.7654 %"):
            paragraph = f"\n\nIn a measurement it was {figure}.\n"
            for source in ("", "\n\n.. figures: readme\n"):  # which holds no such number
                assert unsupported(text + source + paragraph) == [figure.split()[0]], page


def test_a_doctored_readme_is_found():
    """Its one measured figure, changed in the last digit."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = [
        match[1] for source, block in paragraphs(text) if source == "readme"
        for match in FIGURE.finditer(block)
    ]  # fmt: skip
    assert figures
    for figure in figures:
        other = f"{figure[:-1]}{(int(figure[-1]) + 1) % 10}"
        assert unsupported(text.replace(f"{figure} %", f"{other} %")) == [other]


def test_the_readme_shows_the_stored_certificate():
    from tests.test_stored import docs

    page = docs("stored_pages")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.with_figures(text) == text
    assert page.with_figures(text.replace("1064.9819", "1064.9818")) == text
