"""The frame of every report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from columnist._text import number, percent, readable, rounded_percent
from columnist.plotting._picture import COLORS
from columnist.report._blocks import Block, Code, Facts, KeyFigure, Section

__all__ = ["asked_section", "page", "reproduce_section", "write_report"]

_TEMPLATES = Path(__file__).with_name("templates")
_PACKAGES = ("columnist", "numpy", "scipy", "scikit-learn")


def page(
    title: str,
    sections: Sequence[Section],
    *,
    kicker: str = "Columnist report",
    lead: str = "",
    verdict: Block | None = None,
    figures: Sequence[KeyFigure] = (),
) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    title : str
        Title; any text.
    sections : sequence of Section
        Its parts; see :mod:`columnist.report._blocks`.
    kicker : str
        What kind of page it is, above the title.
    lead : str
        Sentence below the title.
    verdict : Verdict, optional
        The conclusion.
    figures : sequence of KeyFigure
        A few numbers at the head.

    Returns
    -------
    str

    Examples
    --------
    >>> from columnist.report import Section, Text, page
    >>> html = page("1 < 2", [Section("Why", [Text("Because <b>.")])])
    >>> "<h1>1 &lt; 2</h1>" in html, "Because &lt;b&gt;." in html
    (True, True)
    """
    environment = _environment()
    markup = environment.filters["trusted"]
    style = environment.get_template("style.css").render(colors=COLORS).strip()
    script = environment.get_template("script.js").render().strip()
    return environment.get_template("page.html").render(
        title=readable(title, 400),
        kicker=kicker,
        lead=lead,
        verdict=verdict,
        figures=figures,
        sections=[(_anchor(i, s.title), s) for i, s in enumerate(sections, start=1)],
        style=markup(style),
        script=markup(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )


def _digest(text: str) -> str:
    """Hash by which the page's policy admits a style sheet or a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _anchor(place: int, title: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return f"s{place}-{words[:40]}".rstrip("-")


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "Reports need jinja2, which is not installed: "
            'pip install "columnist[report]" brings it.'
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Only what this package wrote itself is trusted: its style, its script, its drawings.
    from markupsafe import Markup

    environment.filters |= {
        "number": number, "percent": percent, "readable": readable,
        "rounded_percent": rounded_percent, "trusted": Markup,
    }  # fmt: skip
    return environment


def asked_section(
    asked: Mapping[str, object] | None, settings: Iterable[tuple[str, str]] = ()
) -> Section:
    """What was asked: the caller's words first, then the settings they do not mention."""
    rows = [(readable(key), readable(value, 1000)) for key, value in (asked or {}).items()]
    said = {key.casefold() for key, _ in rows}
    rows += [(key, value) for key, value in settings if key.casefold() not in said]
    return Section("What was asked", [Facts(rows)])


def reproduce_section(code: str) -> Section:
    """The lines that give the same answer again, and the versions they were run with."""
    versions = [("Python", platform.python_version())]
    versions += [(name, version(name)) for name in _PACKAGES]
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    rows = [("Made on", made), ("Versions", ", ".join(f"{n} {v}" for n, v in versions))]
    return Section("Reproduce this", [Code(code), Facts(rows)])


def write_report(html: str, path: str | PathLike[str]) -> None:
    """Write a report; whoever reads the file meanwhile sees the old one or the new one.

    Parameters
    ----------
    html : str
        The page.
    path : str or path-like
        Where to.
    """
    from columnist.io import atomic_path

    with atomic_path(Path(path)) as temporary:
        Path(temporary).write_text(html, encoding="utf-8")
