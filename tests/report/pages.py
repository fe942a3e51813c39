"""What the tests of reports share: hostile names, and a reader of HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np

HOSTILE = [
    "<script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "{{7*7}}{% for %}",
    "</title><script>window.pwned=2</script>",
    "</style></script><script>window.pwned=3</script>",
    "' onfocus='window.pwned=4' autofocus='",
    "<!-- & &lt; ]]> -->",
    "javascript:window.pwned=5",
    "שלום עולם",
    "📏 length\u202e reversed",
    "two\nlines\tand a tab",
    "nul\x00 escape\x1b",
    "lone \ud800 surrogate",
    "a very long name " * 400,
    "",
    " ",
]

_VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """The elements of a page: ``elements`` holds (tag, attributes, text) in order of their ends.

    Fails on elements that are not closed in order: browsers would repair them, we must not
    need it.
    """

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str], str]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(html)
        self.close()
        assert self._open == [], f"not closed: {[tag for tag, _, _ in self._open]}"

    def handle_starttag(self, tag, attrs):
        if tag in _VOID:
            self.elements.append((tag, dict(attrs), ""))
        else:
            self._open.append((tag, dict(attrs), []))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        opened, attrs, text = self._open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        self.elements.append((tag, attrs, "".join(text)))

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)

    def all(self, tag: str, **attributes: str) -> list[tuple[dict[str, str], str]]:
        """Attributes and texts of all elements of a kind."""
        return [
            (attrs, text)
            for name, attrs, text in self.elements
            if name == tag and all(attrs.get(k.rstrip("_")) == v for k, v in attributes.items())
        ]

    def section(self, heading: str) -> str:
        """Text of the section with a heading, white space collapsed."""
        for _, text in self.all("section"):
            if text.strip().startswith(heading):
                return re.sub(r"\s+", " ", text.replace("\u00a0", " "))
        raise AssertionError(f"no section {heading!r}")


def check_page(html: str) -> Outline:
    """What must hold for every page; its outline."""
    outline = Outline(html)
    tags = [tag for tag, _, _ in outline.elements]
    charts = [attrs for attrs, _ in outline.all("svg") if attrs.get("role") == "img"]
    assert tags.count("title") == 1 + len(charts) and tags.count("desc") == len(charts)
    for tag in ("html", "main", "nav", "h1", "header", "footer", "script", "style"):
        assert tags.count(tag) == 1, tag
    assert not {"img", "iframe", "object", "embed", "form", "base"} & set(tags)
    check_names(outline)
    return outline


def check_names(outline: Outline) -> None:
    """Names of elements are unique, and whatever is referred to is there."""
    ids = [attrs["id"] for _, attrs, _ in outline.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs, _ in outline.elements:
        for key in ("aria-labelledby", "aria-describedby"):
            assert set(attrs.get(key, "").split()) <= set(ids)
        if "href" in attrs:
            href = attrs["href"]
            assert href == "data:," or (href[0] == "#" and href[1:] in ids), href
        assert not [key for key in attrs if key.startswith("on") or key in ("style", "src")]
        if tag == "svg" and attrs.get("aria-hidden") != "true":
            assert attrs["role"] == "img" and attrs["aria-labelledby"]


def hostile_data(n_rows: int = 40, seed: int = 0) -> np.ndarray:
    """Correlated columns, one per hostile name."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n_rows, 4)) @ rng.standard_normal((4, len(HOSTILE)))
    return shared + 0.3 * rng.standard_normal((n_rows, len(HOSTILE)))
