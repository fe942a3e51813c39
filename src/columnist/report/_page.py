"""The frame of every report, a self-contained HTML file, and shared sections."""

from __future__ import annotations

import base64
import hashlib
import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from columnist._text import count, number, percent, readable, rounded_percent, seconds
from columnist._verify import read_header
from columnist.plotting._picture import COLORS
from columnist.report._blocks import Block, Code, Facts, KeyFigure, Note, Section, Text
from columnist.report._figures import correlation_figure, history_figure
from columnist.report._measures import Data, redundancy
from columnist.search._certificate import Certificate
from columnist.search._words import Subject, details, explained

# Settings as they are shown in a report.
Asked = Mapping[str, object] | None


@dataclass(frozen=True)
class Origin:
    """The run of the command line that a report comes from.

    Attributes
    ----------
    command : str
        The whole command, one line that a shell understands.
    file, sha256 : str
        The file that was read, and its hash.
    notes : sequence of str
        Notes of the run: columns left out, values filled, columns scaled.
    preparation : float
        Seconds of reading and preparing the data, before the search.
    """

    command: str
    file: str = ""
    sha256: str = ""
    notes: Sequence[str] = ()
    preparation: float = 0.0


_TEMPLATES = Path(__file__).with_name("templates")
_PACKAGES = ("columnist", "numpy", "scipy", "scikit-learn")
# Parameters that change the output of a run, but not its result.
_SILENT = {"callback", "proof", "verbose"}
# Kinds of records in the files of proofs.
_COLUMN_RECORDS = ("lists", "branches", "reductions", "closed by relaxation", "copies")
_ROW_RECORDS = ("maps", "deals", "matrices", "merges", "screenings")


def page(
    title: str,
    sections: Sequence[Section],
    *,
    kicker: str = "Columnist report",
    lead: str = "",
    verdict: Block | None = None,
    figures: Sequence[KeyFigure] = (),
    notes: Sequence[str] = (),
) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    title : str
        Title; any text.
    sections : sequence of Section
        Its parts; see :mod:`columnist.report._blocks`.
    kicker : str
        Kind of page, above the title.
    lead : str
        Sentence below the title.
    verdict : Verdict, optional
        The conclusion.
    figures : sequence of KeyFigure
        A few numbers at the head.
    notes : sequence of str
        Notes about the data, at the head of the page.

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
    filled = [section for section in sections if section.blocks]
    markup = environment.filters["trusted"]
    style = environment.get_template("style.css").render(colors=COLORS).strip()
    script = environment.get_template("script.js").render().strip()
    return environment.get_template("page.html").render(
        title=readable(title, 400),
        kicker=kicker,
        lead=lead,
        verdict=verdict,
        figures=figures,
        notes=[readable(note, 1000) for note in notes],
        sections=[(_anchor(i, s.title), s) for i, s in enumerate(filled, start=1)],
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
    # Only the style, script and drawings of this package are trusted.
    from markupsafe import Markup

    environment.filters |= {
        "number": number, "percent": percent, "readable": readable,
        "rounded_percent": rounded_percent, "trusted": Markup,
    }  # fmt: skip
    return environment


def asked_section(asked: Asked, settings: Iterable[tuple[str, str]] = ()) -> Section:
    """Settings: the caller's words first, then what they do not mention."""
    rows = [(_capital(readable(k)), readable(v, 1000)) for k, v in (asked or {}).items()]
    said = {key.casefold() for key, _ in rows}
    rows += [(key, value) for key, value in settings if key.casefold() not in said]
    return Section("Settings", [Facts(rows)])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def reproduce_section(code: str, origin: Origin | None = None) -> Section:
    """The command or lines that give the same answer again, the file, and the versions."""
    versions = [("Python", platform.python_version())]
    versions += [(name, version(name)) for name in _PACKAGES]
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    rows = [("Made on", made), ("Versions", ", ".join(f"{n} {v}" for n, v in versions))]
    if origin is None:
        return Section("Reproduce this", [Code(code), Facts(rows)])
    file = [("File", origin.file), ("SHA-256", origin.sha256)]
    return Section("Reproduce this", [
        Text("Run this command in the folder where the file is:"), Code(origin.command),
        Facts([*((term, text) for term, text in file if text), *rows]),
    ])  # fmt: skip


def write_report(html: str, path: str | PathLike[str]) -> None:
    """Write a report; the file is replaced in one step.

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


def report(
    title: str, asked: Asked, settings: Iterable[tuple[str, str]], sections: Iterable[Section],
    code: str, *, origin: Origin | None = None, **head: Any,
) -> str:  # fmt: skip
    """A page that starts with the answer, and ends with settings and how to run it again."""
    end = [asked_section(asked, settings), reproduce_section(code, origin)]
    return page(title, [*sections, *end], notes=() if origin is None else origin.notes, **head)


def time_figure(certificate: Certificate, origin: Origin | None) -> KeyFigure:
    """The time of a run: reading and preparing the data, and the search."""
    before = 0.0 if origin is None else origin.preparation
    detail = "of search" if origin is None else f"{seconds(before)} of it to read and prepare"
    return KeyFigure("Time", seconds(before + certificate.elapsed), detail)


def size_of(shape: Sequence[int]) -> str:
    """Numbers of rows and columns."""
    return f"{count(shape[0], 'row')}, {count(shape[1], 'column')}"


def left_out(n: int, most: int, words: str) -> list[Block]:
    """A note on what is left out of a list, if anything; ``{}`` in the words is how many."""
    return [Note(words.format(f"{n - most:,}"))] if n > most else []


def code_of(estimator: Any, variable: str, *lines: str, home: str = "") -> str:
    """Lines that make such an estimator, by what differs from its defaults, and use it."""
    own, parts = estimator.get_params(deep=False), []
    for place, (name, parameter) in enumerate(signature(type(estimator)).parameters.items()):
        positional = place == 0 and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if name in _SILENT or (not positional and _same(own[name], parameter.default)):
            continue
        said = readable(repr(own[name]), 300)
        parts.append(said if positional else f"{name}={said}")
    made = type(estimator).__name__
    home = home or ".".join(type(estimator).__module__.split(".")[:2])  # its public package
    first = f"from {home} import {made}\n\n{variable} = {made}({', '.join(parts)})"
    return "\n".join([first, *(f"{variable}.{line}" for line in lines)])


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(value is default or value == default)
    except ValueError:  # arrays
        return False


def proof_sections(
    certificate: Certificate, subject: Subject, n_solutions: int = 1
) -> list[Section]:
    """What is proven, in words and numbers, and how the search came to it."""
    words = [Text(text) for text in explained(certificate, subject, n_solutions)]
    return [
        Section("What is proven", [*words, Facts(details(certificate, subject))]),
        Section("The search", [history_figure(certificate)]),
    ]


def proof_file_section(proof: str | PathLike | None, data: str) -> Section:
    """The file that holds the proof, and the command that checks it; nothing without a file."""
    title = "Check the proof"
    if proof is None or not (path := Path(proof)).is_file():
        return Section(title)
    header = read_header(path)
    kinds = _ROW_RECORDS if header["problem"]["kind"] == "rows" else _COLUMN_RECORDS
    records = [f"{name} {header['records'].get(str(i), 0):,}" for i, name in enumerate(kinds, 1)]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    text = (
        "This result comes with a proof. The command below checks it with a small program that "
        "shares no code with the search; it needs the proof and the data."
    )
    facts = [("File", path.name), ("SHA-256", digest), ("Records", ", ".join(records))]
    if header["problem"]["constraints"]:
        given = Counter(constraint["kind"] for constraint in header["problem"]["constraints"])
        named = [f"{kind} {number:,}" for kind, number in sorted(given.items())]
        facts.append(("Constraints", ", ".join(named)))
    return Section(title, [Text(text), Facts(facts), Code(f"columnist verify {path.name} {data}")])


def redundancy_section(data: Data, kept: np.ndarray) -> Section:
    """How redundant the selected columns are."""
    title = "Redundancy of the selected columns"
    if len(kept) < 2:
        return Section(title)
    among, remark_kept = redundancy(data, kept)
    everywhere, remark_all = redundancy(data)
    text = (
        f"Two selected columns have an absolute correlation of {number(among, 3)} on average; two "
        f"of all {data.shape[1]:,} columns have {number(everywhere, 3)}. The smaller the first "
        "number, the less redundant is the selection."
    )
    remarks = [Note(r) for r in (remark_kept, remark_all and f"All columns: {remark_all}") if r]
    heat = correlation_figure(
        data, kept, kept, title="Correlation among the selected columns",
        what="Each selected column against each.",
    )  # fmt: skip
    return Section(title, [Text(text), *remarks, *heat])
