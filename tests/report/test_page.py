from __future__ import annotations

import base64
import hashlib
import re
import sys

import pytest

from columnist._text import readable
from columnist.report import (
    Code,
    Facts,
    KeyFigure,
    Names,
    Note,
    Section,
    Table,
    Text,
    Verdict,
    asked_section,
    page,
    reproduce_section,
    write_report,
)
from columnist.report._page import _environment
from tests.report.pages import HOSTILE, check_page


def everything(text: str) -> str:
    """A page with a text in every place that takes one."""
    blocks = [
        Text(text), Note(text), Verdict("open", text), Names(text, [text]), Facts([(text, text)]),
        Code(text), Table(text, [(text, "text"), ("n", "names")], [(text, [text]), (text, [])]),
    ]  # fmt: skip
    return page(
        text, [asked_section({text: text}), Section(text, blocks)], kicker=text, lead=text,
        verdict=Verdict("proven", text), figures=[KeyFigure(text, text, text)],
    )  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_is_text_everywhere(text):
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    outline = check_page(everything(text))
    assert outline.all("title")[0][1] == outline.all("h1")[0][1] == readable(text, 400)
    assert [t for _, t in outline.all("code")] == [text]
    assert len(outline.all("li")) == 1 + 2  # a name, and two entries of the contents


def test_the_policy_admits_this_script_and_this_style_only():
    outline = check_page(everything("x"))
    (policy,) = [a["content"] for a, _ in outline.all("meta") if "http-equiv" in a]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    for tag in ("script", "style"):
        digest = hashlib.sha256(outline.all(tag)[0][1].encode()).digest()
        assert f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_nothing_points_elsewhere():
    html = everything("x")
    assert not re.search(r"https?:|//[a-z]|url\(|@import|@font-face", html)


def test_landmarks_headings_and_language():
    sections = [Section("One", [Text("a")]), Section("Two", [Text("b")])]
    outline = check_page(page("Title", sections))
    assert outline.all("html")[0][0]["lang"] == "en"
    headings = [tag for tag, _, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert headings == ["h1", "h2", "h2"]
    (skip,) = outline.all("a", class_="skip")
    assert skip[0]["href"] == "#main"
    assert outline.all("nav")[0][0]["aria-label"] == "Contents"
    assert all(a["aria-labelledby"] for a, _ in outline.all("section"))


def test_cells_of_every_kind():
    kinds = [(k, k) for k in ("text", "number", "percent", "bar", "names", "count", "decimal")]
    rows = [("a", 1.5, 0.25, 2.0, ["x", "y"], 1200, -0.5), (None,) * 7]
    outline = check_page(page("t", [Section("s", [Table("c", kinds, rows)])]))
    cells = [text.replace("\u00a0", " ") for _, text in outline.all("td")]
    assert cells[:7] == ["a", "1.5", "25 %", "200.0 %", "x, y", "1,200", "−0.500"]
    assert cells[7:] == ["–"] * 7
    bars = [float(a["width"]) for a, _ in outline.all("rect") if a.get("class") != "rail"]
    assert bars == [90.0]  # a bar ends at the end of its rail


def test_what_was_asked_wins_over_settings():
    section = asked_section({"Data": "mine"}, [("data", "theirs"), ("keep", "4")])
    assert section.blocks[0].rows == [("Data", "mine"), ("keep", "4")]


def test_reproduce_tells_versions_and_date():
    rows = dict(reproduce_section("x = 1").blocks[1].rows)
    assert "columnist" in rows["Versions"] and "numpy" in rows["Versions"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", rows["Made on"])


def test_a_report_is_written_whole(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    write_report("new 📏", path)
    assert path.read_text(encoding="utf-8") == "new 📏"
    assert list(tmp_path.iterdir()) == [path]


def test_without_jinja_the_message_names_the_extra(monkeypatch):
    _environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"columnist\[report\]"):
        page("t", [])
