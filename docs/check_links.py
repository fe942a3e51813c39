"""Check the links of the built pages: ``python docs/check_links.py docs/_build/html``.

Every link inside the documentation must lead to a page, and to a place on it, that exists; links to
elsewhere must use https (``make linkcheck`` visits them). Scripts, styles, fonts and images must be
files of the documentation, so that it can be read without a network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Anchors of a page, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        link = values.get("href") or values.get("src")
        if link:
            (self.links if tag == "a" else self.loaded).append(link)


def broken(folder: Path) -> Iterator[str]:
    """One line per link that leads nowhere."""
    paths = sorted(p for p in folder.rglob("*.html") if "_static" not in p.parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    for path, page in pages.items():
        for link in page.links + page.loaded:
            elsewhere = "loaded from a network" if outside(link) and link in page.loaded else ""
            if reason := elsewhere or why_broken(link, path, folder, pages):
                yield f"{path.relative_to(folder)}: {link}: {reason}"


def outside(link: str) -> bool:
    """Whether a link leads out of the documentation."""
    return bool(urlsplit(link).netloc)


def why_broken(link: str, path: Path, folder: Path, pages: dict[Path, Page]) -> str:
    """What is wrong with a link, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in {"data", "mailto", "javascript"} or parts.scheme == "https":
        return ""
    if parts.scheme or parts.netloc:
        return "not https"
    home = folder if parts.path.startswith("/") else path.parent
    target = (home / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such page"
    known = target in pages and parts.fragment
    if known and unquote(parts.fragment) not in pages[target].anchors:
        return "no such place on the page"
    return ""


def main(folder: str) -> int:
    """Print what is broken; 1 if anything is."""
    home = Path(folder).resolve()
    if not any(home.rglob("*.html")):
        print(f"no pages in {folder}")
        return 1
    lines = list(broken(home))
    print("\n".join(lines) or "all links lead somewhere")
    return int(bool(lines))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2]))
