"""Reports in a real browser; skipped where Chromium is not installed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from columnist import ColumnSelector, selection_path
from columnist._text import readable
from columnist.report import (
    certificate_report,
    cleaning_report,
    comparison_report,
    outlier_report,
    ranking_report,
    selection_report,
)
from tests.report.pages import HOSTILE, hostile_data

# The documentation, where it is built: its landing page and the guide.
_BUILT = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = sorted([*_BUILT.glob("*.html"), *_BUILT.glob("user_guide/*.html")])
# Text and background of everything that is read, and the contrast between the two.
CONTRASTS = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const paint = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => {
    const c = [r, g, b][i] / 255;
    return sum + w * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const color = paint(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('script,.said,.tip,desc,title')) continue;
    const svg = e instanceof SVGElement, style = getComputedStyle(e);
    let back = behind(e.closest('svg') || e);
    if (e.classList.contains('figure')) back = paint(getComputedStyle(e.previousSibling).fill);
    const a = light(paint(svg ? style.fill : style.color)), b = light(back);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([e.outerHTML.slice(0, 200), ratio]);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def hostile_page(folder):
    """A report whose every name is hostile, with every part that a report can have."""
    X = hostile_data()
    path = selection_path(X, 7, time_limit=2.0)
    selector = ColumnSelector(5, n_solutions=3).fit(X)
    asked = {name: name for name in HOSTILE}
    html = selection_report(selector, X, names=HOSTILE, path=path, asked=asked, title=HOSTILE[3])
    page = folder / "hostile.html"
    page.write_text(html, encoding="utf-8")
    return page


@pytest.fixture
def opened(browser, hostile_page):
    browser.media(prefers_color_scheme="light")
    browser.resize(1280)
    browser.open(hostile_page)
    return browser


def other_reports() -> dict[str, str]:
    from columnist import certify
    from columnist.privacy import NullSpaceCleaner
    from columnist.robust import TrimmedPCA
    from columnist.spectral import FisherScore

    X, y = hostile_data(), np.arange(40) % 2
    cleaner = NullSpaceCleaner(X[:2]).fit(X)
    rows = [
        {"name": name, "selected": HOSTILE, "error": 2.0 + i, "seconds": 1.0 + i, "note": name}
        for i, name in enumerate(HOSTILE)
    ]
    labels = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
    estimator = TrimmedPCA(2, n_outliers=9).fit(X)
    names = {"names": HOSTILE, "title": HOSTILE[4]}
    return {
        "certificate": certificate_report(certify(X, [0, 1, 2], time_limit=1.0), X, **names),
        "ranking": ranking_report(FisherScore(4).fit(X, y), X, y, **names),
        "comparison": comparison_report(rows, bound=1.5, title=HOSTILE[0]),
        "outliers": outlier_report(estimator, X, labels=labels, **names),
        "cleaning": cleaning_report(cleaner, X, cleaner.transform(X), **names),
    }


def test_hostile_names_are_text_and_nothing_runs(opened):
    assert opened.complaints() == []
    assert opened.run("typeof window.pwned") == "undefined"
    assert opened.run("document.scripts.length") == 1
    assert opened.run("document.querySelectorAll('img,iframe,[onerror],[onfocus]').length") == 0
    shown = opened.run("[...document.querySelectorAll('bdi')].map((e) => e.textContent)")
    assert {readable(name) for name in HOSTILE} <= set(shown)
    assert opened.run("document.title") == readable(HOSTILE[3]).strip()


def test_a_script_that_slipped_in_would_be_blocked(browser, hostile_page, folder):
    """The policy is the second wall: take the first one down, and nothing runs."""
    html = hostile_page.read_text(encoding="utf-8")
    attack = "<script>window.pwned=9</script><img src=x onerror='window.pwned=9'><h1>"
    page = folder / "breached.html"
    page.write_text(html.replace("<h1>", attack, 1), encoding="utf-8")
    browser.open(page)
    assert browser.run("typeof window.pwned") == "undefined"
    assert any("Content Security Policy" in text for text in browser.complaints())


def test_every_other_report_renders_in_silence(browser, folder):
    for name, html in other_reports().items():
        page = folder / f"{name}.html"
        page.write_text(html, encoding="utf-8")
        for width in (360, 1280):
            browser.resize(width)
            browser.open(page)
            assert browser.complaints() == [], name
            assert browser.run("typeof window.pwned") == "undefined"
            assert browser.run("document.documentElement.scrollWidth") <= width, name
        for scheme in ("light", "dark"):
            browser.media(prefers_color_scheme=scheme)
            assert browser.run(CONTRASTS) == [], (name, scheme)


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_window(opened, width):
    opened.resize(width)
    assert opened.run("document.documentElement.scrollWidth") <= width
    shown = opened.run(
        "[...document.querySelectorAll('.two svg.chart')].filter((e) => e.getClientRects().length)"
        ".map((e) => e.getBoundingClientRect().width)"
    )
    assert len(shown) == 4 and max(shown) <= width


def test_tips_appear_on_hover_and_go(opened):
    opened.point_at(".wide circle[data-tip]")
    assert opened.run("!document.querySelector('.tip').hidden")
    told = opened.run("document.querySelector('.tip').textContent")
    assert told == opened.run("document.querySelector('.wide circle[data-tip]').dataset.tip")
    box = json.loads(
        opened.run("JSON.stringify(document.querySelector('.tip').getBoundingClientRect())")
    )
    assert box["left"] >= 0 and box["right"] <= 1280 and box["top"] >= 0
    opened.press("Escape")
    assert opened.run("document.querySelector('.tip').hidden")


def test_tips_are_reached_by_keyboard(opened):
    focus = "document.querySelector('svg[data-stride]').focus({focusVisible: true})"
    opened.run(focus)
    tip = (
        "document.querySelector('.tip').hidden ? null : document.querySelector('.tip').textContent"
    )
    cells = opened.run(
        "[...document.querySelector('svg[data-stride]').querySelectorAll('[data-tip]')]"
        ".map((e) => e.dataset.tip)"
    )
    stride = opened.run("Number(document.querySelector('svg[data-stride]').dataset.stride)")
    assert opened.run(tip) == cells[0]
    for key, place in [("ArrowRight", 1), ("ArrowDown", 1 + stride), ("ArrowLeft", stride),
                       ("ArrowUp", 0), ("End", len(cells) - 1), ("ArrowRight", len(cells) - 1),
                       ("Home", 0)]:  # fmt: skip
        opened.press(key)
        assert opened.run(tip) == cells[place], key
    assert opened.run("document.querySelector('.said').textContent") == cells[0]
    opened.press("Tab")
    assert opened.run(tip) is None


def test_the_tab_key_begins_at_the_skip_link(opened):
    opened.press("Tab")
    assert opened.run("document.activeElement.className") == "skip"
    assert opened.run("document.activeElement.getBoundingClientRect().left") >= 0
    opened.press("Enter")
    assert opened.run("document.activeElement.id") == "main"


def test_tables_are_sorted_by_their_headings(opened):
    opened.run("window.t = [...document.querySelectorAll('table.sortable')]"
               ".find((e) => e.caption.textContent.includes('worst explained'))")  # fmt: skip
    column = "[...t.tBodies[0].rows].map((r) => r.cells[%d].dataset.value)"
    assert opened.run("t.tHead.rows[0].cells[3].querySelector('button').click(), true")
    values = [float(v) for v in opened.run(column % 3)]
    assert values == sorted(values, reverse=True) and len(set(values)) > 1
    assert opened.run("t.tHead.rows[0].cells[3].getAttribute('aria-sort')") == "descending"
    opened.run("t.tHead.rows[0].cells[3].querySelector('button').click()")
    assert [float(v) for v in opened.run(column % 3)] == values[::-1]
    opened.run("t.tHead.rows[0].cells[0].querySelector('button').click()")
    assert opened.run("t.tHead.rows[0].cells[0].getAttribute('aria-sort')") == "ascending"
    assert not opened.run("t.tHead.rows[0].cells[3].hasAttribute('aria-sort')")
    names = opened.run("[...t.tBodies[0].rows].map((r) => r.cells[0].textContent.trim())")
    assert names == opened.run(
        "[...t.tBodies[0].rows].map((r) => r.cells[0].textContent.trim())"
        ".sort((a, b) => a.localeCompare(b, undefined, {numeric: true}))"
    )


def test_the_button_turns_the_colours_round(opened):
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened.run(background)
    opened.point_at(".theme", click=True)
    dark = opened.run(background)
    assert dark != light
    opened.media(prefers_color_scheme="dark")  # what the reader chose stays
    opened.point_at(".theme", click=True)
    assert opened.run(background) == light
    opened.run("delete document.documentElement.dataset.theme")
    assert opened.run(background) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(opened, scheme):
    opened.media(prefers_color_scheme=scheme)
    opened.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    assert opened.run(CONTRASTS) == []


def test_print_is_light_and_has_no_controls(opened):
    light = opened.run("getComputedStyle(document.body).color")
    opened.run("document.documentElement.dataset.theme = 'dark'")
    opened.media("print", prefers_color_scheme="dark")
    assert opened.run("getComputedStyle(document.body).color") == light
    hidden = "[...document.querySelectorAll('.theme,.contents,summary,.tip')]"
    assert opened.run(f"{hidden}.every((e) => !e.getClientRects().length)")
    assert opened.pdf().startswith(b"%PDF")
    opened.media()


def test_tables_fit_the_width_of_printed_paper(browser, folder):
    whole = {"error": 1004.03, "relative_error": 0.999999, "gap": 0.1234, "redundancy": 0.328}
    rows = [
        {"name": name, "selected": ["alcalinity_of_ash", "flavanoids"], "seconds": 0.00385,
         "score": 0.944, **whole}
        for name in ("certified", "strong-rrqr", "semi-supervised")
    ]  # fmt: skip
    page = folder / "paper.html"
    page.write_text(comparison_report(rows, bound=900.0), encoding="utf-8")
    browser.open(page)
    browser.media("print")
    browser.resize(680)  # A4 without its margins
    widths = "[...document.querySelectorAll('table')].map((e) => e.getBoundingClientRect().right)"
    assert max(browser.run(widths)) <= 680
    browser.media()
    browser.resize(1280)


def test_without_motion_where_readers_want_none(opened):
    opened.media(prefers_reduced_motion="reduce")
    assert opened.run("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_figures_are_named_for_screen_readers(opened):
    tree = opened.send("Accessibility.getFullAXTree")["nodes"]
    images = [n for n in tree if n.get("role", {}).get("value") in ("img", "image")]
    named = [n for n in images if n.get("name", {}).get("value")]
    assert len(named) >= 5
    assert all(n.get("description", {}).get("value") for n in named)


def test_long_tables_can_be_searched(browser, folder):
    X = np.random.default_rng(0).standard_normal((50, 40))
    names = [f"column {i}" for i in range(40)]
    page = folder / "long.html"
    selector = ColumnSelector(3, search="greedy").fit(X)
    page.write_text(selection_report(selector, X, names=names), encoding="utf-8")
    browser.media()
    browser.open(page)
    browser.run("window.i = document.querySelector('.find input'); i.value = 'column 3 '.trim();"
                "i.dispatchEvent(new Event('input', {bubbles: true}))")  # fmt: skip
    shown = browser.run(
        "[...document.querySelectorAll('.find + .scroll tbody tr')].filter((r) => !r.hidden)"
        ".map((r) => r.textContent)"
    )
    assert 0 < len(shown) < 37 and all("column 3" in text for text in shown)
    assert browser.run("document.querySelector('.found').textContent") == f"{len(shown)} of 37 rows"


@pytest.mark.skipif(not PAGES, reason="the documentation is not built")
@pytest.mark.parametrize("width", [390, 1200])
def test_no_page_of_the_documentation_scrolls_sideways(browser, width):
    browser.resize(width)
    for page in PAGES:
        browser.open(page)
        assert browser.run("document.documentElement.scrollWidth") <= width, page.name
