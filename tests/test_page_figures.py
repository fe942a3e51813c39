"""Pages state only figures that a stored result holds."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fresh import own_code
from benchmarks.shown import shown
from benchmarks.store import FOLDER, Stored, names
from tests.test_public_api import public_modules

ROOT = Path(__file__).parents[1]
# Figures of the corrections are those of the print; messages are quoted as they were and are.
ELSEWHERE = {"generated", "auto_examples", "_build", "errata.rst", "words.rst"}
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.rst") if not ELSEWHERE & set(p.parts)),
    *sorted((ROOT / "examples").rglob("*.rst")),
]
EXAMPLES = sorted((ROOT / "examples").rglob("plot_*.py"))
READING = "ten minutes"  # what a tutorial takes
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
GAP = r"(?:\\ |[\s\u00a0*`])*"  # between a number and its unit, emphasis and line breaks included
# Units, and what the columns of stored rows with such numbers are called.
UNITS = {
    r"(?:m|µ|n)?s|(?:milli|micro)?seconds?|minutes?|min|hours?|days?": r"second|\bm?s\b|time|min",
    r"[kKMGT]i?B|(?:giga|mega)bytes?": r"[MG]B|memory|bytes",
    r"times|-?fold|[x×](?![\w\s-]*\d)": r"times|ratio|/|faster|speed",
    r"%|per\s?cent": r"%|share|error|accuracy|gap",
    r"degrees|°": r"angle|degree",
}
ANY = "|".join(UNITS)
FIGURE = re.compile(
    rf"(?<![\w.,/-])(?:({NUMBER})\s*(?:to|and|or|–|-)\s*)?({NUMBER}){GAP}({ANY})(?![\w-])"
)
# Without a unit: a number with decimals, a factor, or a cell of a table written by hand.
PLAIN = re.compile(
    r"(?<![\w.,/^=+-])(\d+\.\d+)(?!\w|\.\d)|\bfactors?\s+(?:of\s+)?(\d[\d.,]*\d|\d)\b"
    r"|^\s+(?:\* )?- (\d[\d,.]*)$",
    re.MULTILINE,
)
NAMED = re.compile(
    r"\b(?:Python|BY|[tT]ables?|[fF]igures?|[cC]hapter|[sS]ection)\s+\d[\d.]*"
    r"(?:\s+(?:to|and)\s+\d[\d.]*)?|\(\d\.\d+\)"
)
# The same in words. No number compares with these: pages state measurements in digits.
SPELLED = re.compile(
    r"\b(?:(?:about an?|under an?|an|half an?|two|three|four|five|six|seven|eight|nine|ten|twelve"
    r"|twenty|thirty|sixty|hundreds?|thousands?|several|a few|within)\s+(?:of\s+)?"
    r"(?:(?:milli|micro)?seconds?|minutes?|hours?|percent|[GM]B|gigabytes?"
    r"|times\s+(?:faster|slower)|orders?\s+of\s+magnitude)|(?:ten|hundred|thousand)fold"
    r"|(?:twice|half)\s+as\s+(?:fast|slow|long|much\s+(?:time|memory))"
    r"|half\s+the\s+(?:time|memory))\b"
)
ROLE = re.compile(r":\w+(?::\w+)?:`[^`]*`")
LITERAL = re.compile(r"``[^`]*``|`[^`<]*<[^>`]*>`_*|\]\([^)]*\)|<[^>]*>")
# Settings in the notes of benchmarks that stand in no number of their code.
CHOSEN = {"large_graph": {"320"}, "out_of_core": {"30"}, "robust_reach": {"60"}}
# The comment before a paragraph says where its figures come from: stored results, "settings" for
# what is chosen and not measured, or "example" for the code and the output of the same page, which
# is run as a test.
SOURCE = re.compile(r"^(?:\.\. figures: (.*)|<!-- figures: (.*) -->)$")


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Prose, with what the comment before it says of its figures; comments of code, no formulas."""
    source, code = "", False
    for block in re.split(r"\n\s*\n", text):
        said = SOURCE.match(block.strip())
        if said:
            source = said[1] or said[2]
            continue
        lines = block.strip("\n").splitlines()
        indented = bool(lines) and lines[0].startswith("   ")
        literal = block.lstrip().startswith((".. code", ".. math", ">>>", "```", "$ ", "   $"))
        if literal or (code and indented):
            yield source, "\n".join(line.partition("  # ")[2] for line in lines)
        else:
            yield source, block
        opens = bool(lines) and lines[-1].endswith("::") and not lines[-1].lstrip().startswith("..")
        code = literal or (code and indented) or opens
        if not block.startswith(".. list-table"):  # its rows follow as a block
            source = ""


def values_of(source: str, text: str, unit: str, folder: Path = FOLDER) -> list[float]:
    """Numbers that results hold in columns of a unit, or the code of the page, there also as
    shares."""
    if source == "example":
        numbers = [float(n) for n in re.findall(r"\d+\.\d+|\d+", text)]
        return [*(n for n in numbers if n < 1e6), *(100.0 * n for n in numbers if n < 1.0)]
    columns = next((UNITS[key] for key in UNITS if unit and re.fullmatch(key, unit)), "")
    return [
        float(value)
        for name in source.split(", ") if source
        for row in Stored(name, folder).rows
        for column, value in row.items()
        if isinstance(value, (int, float)) and re.search(columns, column)
    ]  # fmt: skip


def code_of(text: str) -> str:
    """Code and its output."""
    prose = {block for _, block in paragraphs(text)}
    return "\n".join(block for block in re.split(r"\n\s*\n", text) if block not in prose)


def holds(figure: str, values: list[float]) -> bool:
    """Whether a value rounds to a figure."""
    plain = figure.replace(",", "")
    if "e" in plain:
        return any(value == float(plain) for value in values)
    decimals = len(plain.partition(".")[2])
    return any(f"{value:.{decimals}f}" == plain for value in values)


def figures_of(block: str) -> Iterator[tuple[str, str]]:
    """Figures of a paragraph, each with its unit, and figures without one."""
    block = ROLE.sub("", NAMED.sub("", block))
    for match in FIGURE.finditer(block):
        yield from ((number, match[3]) for number in match.groups()[:2] if number)
    for match in PLAIN.finditer(FIGURE.sub("", LITERAL.sub("", block))):
        yield next(filter(None, match.groups())).rstrip(".,"), ""


def unsupported(text: str, folder: Path = FOLDER) -> list[str]:
    """Figures that no stored result holds, and figures in words."""
    found = []
    for source, block in paragraphs(text):
        if source == "settings":
            continue
        found += [match[0] for match in SPELLED.finditer(block)]
        for figure, unit in figures_of(block):
            if not holds(figure, values_of(source, code_of(text), unit, folder)):
                found.append(figure)
    return found


def constants(text: str) -> list[float]:
    """Numbers in the code of a module, and all of them as percentages."""
    numbers = [
        float(node.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    ]
    return [*numbers, *(100.0 * number for number in numbers)]


def untold(text: str, values: list[float]) -> list[str]:
    """Times, memory and decimals of a text that are not among the values."""
    kinds = [*UNITS][:2]
    return [match[0] for match in SPELLED.finditer(text) if match[0] != READING] + [
        figure
        for figure, unit in figures_of(text)
        if (not unit or any(re.fullmatch(kind, unit) for kind in kinds))
        and not holds(figure, values)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_of_a_page_are_stored(page):
    text = page.read_text(encoding="utf-8")
    assert [figure for figure in unsupported(text) if figure != READING] == []
    sources = {name for source, _ in paragraphs(text) for name in source.split(", ")}
    assert sources - {"", "settings", "example"} <= set(names())


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.stem)
def test_figures_of_an_example_are_in_its_code(page):
    """What it prints stands in the gallery as it is printed when the documentation is built."""
    text = page.read_text(encoding="utf-8")
    said = [line.removeprefix("#") for line in text.splitlines() if line.startswith("#")]
    prose = "\n".join([ast.get_docstring(ast.parse(text)) or "", *said])
    assert untold(prose, constants(text)) == []


@pytest.mark.parametrize("name", names())
def test_figures_of_a_note_are_stored_or_chosen(name):
    """The note above the tables of a benchmark is the docstring of its module."""
    stored = Stored(name)
    code = (ROOT / own_code(name)).read_text(encoding="utf-8")
    values = [v for row in stored.rows for v in row.values() if isinstance(v, (int, float))]
    chosen = {"two seconds", "five hours"}  # a limit, and a time that is printed
    assert set(untold(shown(stored).note, [*constants(code), *values])) <= chosen | CHOSEN.get(
        name, set()
    )


@pytest.mark.parametrize("module", public_modules())
def test_the_reference_states_no_times(module):
    chosen = {"two seconds", "128"}  # a limit, and the size of a block
    found = importlib.import_module(module)
    for name in getattr(found, "__all__", ()):
        for _, block in paragraphs(inspect.getdoc(getattr(found, name)) or ""):
            times = [
                figure
                for figure, unit in figures_of(block)
                if unit and any(re.fullmatch(kind, unit) for kind in [*UNITS][:2])
            ]
            assert {*times, *(match[0] for match in SPELLED.finditer(block))} <= chosen, name


@pytest.mark.parametrize("page", ["CHANGELOG.md", "CONTRIBUTING.md"])
def test_other_pages_state_no_times(page):
    """They have many figures of other kinds: limits, versions, sizes of tests."""
    text = (ROOT / page).read_text(encoding="utf-8")
    kinds = [*UNITS][:2]
    times = [
        figure for figure, unit in figures_of(text) if any(re.fullmatch(k, unit) for k in kinds)
    ]
    chosen = {"two seconds", "a few seconds"}  # time limits, and the tests that count as slow
    assert set(times + [match[0] for match in SPELLED.finditer(text)]) <= chosen


def test_a_doctored_page_is_found(tmp_path):
    Stored("a", tmp_path).put([{"set": "s", "ratio": 104.26, "seconds": 2.5, "k": 3}])
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
    # A number of another kind that happens to be the same.
    assert unsupported(".. figures: a\n\nIt takes 3 s.", tmp_path) == ["3"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("* It takes 104\n  seconds.", ["104"]),
        ("It takes **104** s, or ``7`` minutes.", ["104", "7"]),
        ("It takes 104\\ s or 7\u00a0s.", ["104", "7"]),
        ("It takes 3 to 7 s, 4–8 s or 5 and 9 GB.", ["3", "7", "4", "8", "5", "9"]),
        ("It is 5.3x faster, 12× smaller, 8-fold.", ["5.3", "12", "8"]),
        ("It is faster by a factor of 12, and its accuracy is 0.652.", ["12", "0.652"]),
        ("It needs 250 kB, 3 TiB or 40 gigabytes.", ["250", "3", "40"]),
        ("It takes 15 ns, 3 milliseconds or 2 days.", ["15", "3", "2"]),
        ("It is tenfold and two orders of magnitude.", ["tenfold", "two orders of magnitude"]),
        ("It is twice as fast in half the time.", ["twice as fast", "half the time"]),
        (".. list-table::\n\n   * - a\n     - 0.65\n     - 360", ["0.65", "360"]),
        (".. figures: settings\n\n.. list-table::\n\n   * - a\n     - 0.65", []),
        (".. note::\n\n   It takes 104 s.", ["104"]),
        (".. code-block:: console\n\n   $ make bench  # 7 minutes", ["7"]),
        ("A table of 200 x 50 in figure 5.3, for Python 3.11, of equation (5.4).", []),
    ],
)
def test_ways_to_state_a_figure(text, found):
    assert sorted(unsupported(text)) == sorted(found)


def test_figures_that_are_added_to_a_page_are_found():
    """Whatever stands on a page, a measured figure without a result does not go unseen."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for figure in ("987.654 s", "12,345 times", "98.7654 %"):
            paragraph = f"\n\nIn a measurement it was {figure}.\n"
            for source in ("", "\n\n.. figures: readme\n"):  # which holds no such number
                assert unsupported(text + source + paragraph)[-1:] == [figure.split()[0]], page


def test_a_doctored_readme_is_found():
    """Its one measured figure, changed in the last digit."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = [
        match[2] for source, block in paragraphs(text) if source == "readme"
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
