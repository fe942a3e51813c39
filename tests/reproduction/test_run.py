"""A whole run: what it keeps, what it says, and the page."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import reproduction as package
from reproduction import (
    Cell,
    PrintedTable,
    Reproduction,
    TableResult,
    list_tables,
    reproduce,
    stored,
)
from reproduction import run as run_module
from reproduction.catalogue import Catalogue
from reproduction.claims import claim
from reproduction.curves import Panel
from reproduction.results import STORED


def cells_of(*cells):
    return lambda run: iter(cells)


GOOD = Cell("a", "1.5", 1.52, "reproduced", detail="proven optimal")
BETTER = Cell("b", "1.5", 1.2, "better", tolerance=0.1)
SIZE = Cell("f", "7", 7, "reproduced", kind="size")
OTHER = Cell(
    "c", "1.5", np.float64(1.9), "different", "unknown; <script>alert(1)</script> | misprint"
)
NOT = Cell("d", "7", None, "not possible", "no data")
UNEXPLAINED = Cell("e", "7", 8.0, "different")


@pytest.fixture
def known(monkeypatch):
    """Tables of this test in place of the real ones."""

    def use(*tables, broken=None):
        found = Catalogue({table.name: table for table in tables}, broken or {})
        monkeypatch.setattr(run_module, "catalogue", lambda: found)

    return use


def broken_table(run):
    yield GOOD
    raise ZeroDivisionError("by zero")


def test_cells_and_counts(known):
    known(
        PrintedTable("xu-1.1", "first", cells_of(GOOD, BETTER)),
        PrintedTable("he-1.1", "second", cells_of(OTHER, NOT, UNEXPLAINED), "a note"),
    )
    tables, cells = [], []
    result = reproduce(on_table=tables.append, on_cell=lambda t, cell: cells.append((t.name, cell)))
    assert [table.name for table in tables] == ["xu-1.1", "he-1.1"]
    assert cells == list(result.cells()) and len(cells) == 5
    assert result.counts == {
        "reproduced": 1,
        "better": 1,
        "different": 2,
        "not possible": 1,
        "skipped": 0,
    }
    assert result.tables[0].counts["better"] == 1
    assert result.complete and not result.failed and not result.interrupted
    assert result.unexplained == [("he-1.1", UNEXPLAINED)]


def test_a_table_that_breaks_off_keeps_the_others(known):
    known(
        PrintedTable("he-1.1", "breaks", broken_table), PrintedTable("he-1.2", "x", cells_of(NOT))
    )
    result = reproduce("he")
    first, second = result.tables
    assert first.cells == [GOOD] and not first.complete
    assert first.error == "he-1.1 could not be run to its end: ZeroDivisionError: by zero"
    assert second.complete and not result.complete
    assert result.failed == [first]
    assert "by zero" in result.to_html() and "by zero" in result.to_markdown()


def interrupted_table(run):
    yield GOOD
    raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_done(known):
    known(
        PrintedTable("he-1.1", "whole", cells_of(BETTER)),
        PrintedTable("he-1.2", "half", interrupted_table),
        PrintedTable("he-1.3", "never", cells_of(NOT)),
    )
    result = reproduce()
    assert [part.name for part in result.tables] == ["he-1.1", "he-1.2"]
    assert result.tables[0].complete and not result.tables[1].complete
    assert result.tables[1].cells == [GOOD] and not result.tables[1].error
    assert result.interrupted and not result.complete
    assert "he-1.2" in result.to_html() and "incomplete" in result.to_markdown()


def test_an_interrupt_that_a_search_answers_still_stops_the_run(known):
    def swallows(run):
        yield GOOD
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            yield BETTER  # the best so far, not the answer

    before = signal.getsignal(signal.SIGINT)
    known(PrintedTable("he-1.1", "half", swallows), PrintedTable("he-1.2", "x", cells_of(NOT)))
    result = reproduce()
    assert result.interrupted and [part.cells for part in result.tables] == [[GOOD]]
    assert signal.getsignal(signal.SIGINT) is before


def test_modules_that_cannot_be_read_are_told(known):
    known(PrintedTable("he-1.1", "x", cells_of(GOOD)), broken={"bad_tables": "ImportError: no"})
    result = reproduce()
    assert not result.complete
    assert result.to_dict()["broken"] == {"bad_tables": "ImportError: no"}
    assert "bad_tables" in result.to_html() and "bad_tables" in result.to_markdown()


def test_unknown_table_is_a_clear_error():
    with pytest.raises(ValueError, match=r"he-3\.22.*Did you mean he-3\.2"):
        reproduce(["he-3.22"])


def test_json_holds_everything(known):
    strange = Cell("f", "1.0", np.float32("nan"), "different", "not a number")
    known(PrintedTable("he-1.1", "x", cells_of(GOOD, OTHER, NOT, strange), "a note"))
    result = reproduce(quick=True)
    stored = json.loads(result.to_json())
    assert stored["quick"] and stored["complete"] and stored["counts"] == result.counts
    assert set(stored["versions"]) == {"python", "columnist", "numpy", "scipy", "scikit-learn"}
    (table,) = stored["tables"]
    assert (table["name"], table["note"], table["document"][:2]) == ("he-1.1", "a note", "He")
    assert [cell["ours"] for cell in table["cells"]] == [1.52, 1.9, None, "nan"]
    assert table["cells"][0]["detail"] == "proven optimal"


class Page(HTMLParser):
    """Tags that were opened, and the text of every table cell."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and self.tags[-1] in ("td", "th", "bdi", "button"):
            self.rows[-1][-1] += data.strip()


def test_page_shows_every_cell_in_words_and_escapes_text(known):
    known(
        PrintedTable("he-1.1", "first <b>", cells_of(GOOD, BETTER, OTHER, NOT), "a note"),
        PrintedTable("xu-1.1", "second", cells_of(UNEXPLAINED)),
    )
    html = reproduce().to_html()
    page = Page(html)
    assert page.tags.count("script") == 1
    assert "&lt;script&gt;alert(1)" in html and "a note" in html and "first &lt;b&gt;" in html
    assert ["a", "1.5", "1.52", "–", "method", "✓ reproduced", "proven optimal"] in page.rows
    assert ["d", "7", "–", "–", "method", "∅ not possible", "no data"] in page.rows
    assert ["he-1.1", "c", "1.5", "1.90", "–", "method", "≠ different", OTHER.why] in page.rows
    assert "no explanation yet: xu-1.1" in html
    assert not re.search(r'(src|href)="https?:', html)


def test_markdown_is_one_row_a_cell(known):
    known(PrintedTable("he-1.1", "x", cells_of(GOOD, OTHER, NOT)))
    text = reproduce().to_markdown()
    assert "| a | 1.5 | 1.52 |  | method | reproduced |  | proven optimal |" in text
    assert r"; <script>alert(1)</script> \| misprint" not in text
    assert r"; &lt;script&gt;alert(1)&lt;/script&gt; \| misprint" in text
    assert "| he-1.1 | x | 1 | 0 | 1 | 1 | 0 |" in text


def test_empty_reproduction():
    empty = Reproduction()
    assert empty.complete and empty.counts["reproduced"] == 0 and not empty.unexplained
    assert "no figures" in empty.to_markdown()


def test_public_names():
    assert isinstance(TableResult(PrintedTable("he-1.1", "x", iter)).to_dict(), dict)
    assert all(hasattr(package, name) for name in package.__all__)


def test_a_stored_result_is_read_back():
    result = reproduce("he-sec3.2.1")
    again = Reproduction.from_dict(json.loads(result.to_json()))
    assert again.to_dict() == json.loads(result.to_json())


def test_sizes_and_statements_are_not_counted(known):
    said = claim("g", "grows", "it falls", False)
    known(PrintedTable("he-1.1", "x", cells_of(GOOD, SIZE, said)))
    result = reproduce()
    assert sum(result.counts.values()) == result.counts["reproduced"] == 1
    assert result.uncounted == {
        "sizes": 1, "sizes that agree": 1, "statements": 1, "statements that agree": 0,
    }  # fmt: skip


def test_newer_tables_replace_stored_ones():
    old, new = reproduce(["he-sec3.2.1", "he-2.1"]), reproduce("he-2.1")
    new.tables[0].run = {"commit": "new"}
    both = old.replaced(new)
    assert [part.name for part in both.tables] == ["he-2.1", "he-sec3.2.1"]
    assert both.tables[0].run == {"commit": "new"}
    assert {"commit", "date", "load", "command", "processor"} <= set(both.tables[1].run)
    new.tables[0].complete = False
    assert old.replaced(new).tables[0].run == old.tables[0].run


def test_the_stored_run_is_complete_and_laid_out_as_a_new_one():
    assert [part.name for part in stored().tables] == [table.name for table in list_tables()]
    assert stored().complete and not stored().unexplained
    text = STORED.read_text(encoding="utf-8")
    assert len(stored().to_json().splitlines()) == len(text.splitlines())


def test_only_methods_of_a_document_are_better_in_the_stored_run():
    """Competitors and weighted searches that come out better than printed are different."""
    gains = [cell for _, cell in stored().cells() if cell.verdict == "better"]
    assert gains and {cell.whose for cell in gains} == {"method"}
    compared = [cell for _, cell in stored().cells() if cell.verdict in ("reproduced", "different")]
    assert all(cell.tolerance is not None for cell in compared if cell.kind != "statement")
    weighted = [c for n, c in stored().cells() if n == "xu-5.3" and "weight" in c.where]
    assert weighted and {cell.whose for cell in weighted} == {"search"}


def test_the_documentation_has_a_row_for_every_stored_table():
    path = Path(__file__).parents[2] / "docs" / "reproduction_page.py"
    spec = importlib.util.spec_from_file_location("reproduction_page", path)
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    lines = page.summary(stored()).splitlines()
    for part in stored().tables:
        assert lines.count(f"   * - {part.name}") == 1


def test_every_table_has_its_command_and_what_it_depends_on(known):
    known(PrintedTable("he-1.1", "x", cells_of(GOOD)))
    result = reproduce()
    result.tables[0].seconds = 12.0
    for text in (result.to_html(), result.to_markdown()):
        assert "python -m reproduction he-1.1\n# commit " in text
        assert "12 s" in text and "load" in text


def test_curves_are_kept_and_drawn(known):
    panel = Panel("some set", "columns", "loss", {"a": ([1, 2], np.array([0.5, 0.25]))}, log="y")
    table = PrintedTable("he-fig3.4", "x", cells_of(GOOD), panels=lambda run: [panel])
    known(table)
    assert not reproduce(quick=True).tables[0].panels
    result = reproduce()
    again = Reproduction.from_dict(json.loads(result.to_json()))
    assert again.tables[0].panels[0].to_dict() == panel.to_dict()
    for page in (result.to_html(), again.to_html()):
        assert "some set" in page and page.count("<svg") >= 2 and "0.25" in page


def test_stored_figures_keep_the_note_that_they_were_made_with():
    found = stored().to_dict()
    found["tables"][0]["note"] = "another"
    assert Reproduction.from_dict(found).tables[0].table.note == "another"
