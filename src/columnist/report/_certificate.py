"""The report of a certificate for a selection made by anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from columnist._text import count, number, percent, ways
from columnist.report._blocks import Block, KeyFigure, Names, Section, Table, Text, Verdict
from columnist.report._common import column_names, proof_sections, redundancy_section, swapped
from columnist.report._figures import correlation_figure
from columnist.report._measures import Data, read_data
from columnist.report._page import asked_section, page, reproduce_section
from columnist.search._certificate import Certificate
from columnist.search._words import CRITERIA, Subject, verdict

__all__ = ["certificate_report"]


def certificate_report(
    certificate: Certificate,
    X,
    *,
    names: Sequence[str] | None = None,
    asked: Mapping[str, object] | None = None,
    title: str | None = None,
) -> str:
    """A page about how good a given selection is.

    Parameters
    ----------
    certificate : Certificate
        From :func:`columnist.certify`.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data it was asked about.
    names, asked, title
        As in :func:`selection_report`; names are those of a data frame by default.

    Returns
    -------
    str
        One HTML file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import certify
    >>> from columnist.report import certificate_report
    >>> X = scale(load_wine().data)
    >>> html = certificate_report(certify(X, [0, 6, 9]), X)
    >>> "A better set of 3 columns exists" in html
    True
    """
    if not certificate.selection:
        raise ValueError("The certificate names no selection: pass one that certify returned.")
    names = getattr(X, "columns", None) if names is None else names
    data = read_data(X)
    labels = column_names(names, None, data.shape[1])
    given = np.array(certificate.selection)
    if given.max() >= data.shape[1]:
        raise ValueError(
            f"The certificate speaks of column {given.max()}, but X has {data.shape[1]} columns: "
            "pass the data it was asked about."
        )
    subject = Subject("column", len(given), ways(data.shape[1], len(given)))
    sections = [
        asked_section(asked, _settings(certificate, data)),
        _answer(certificate, labels),
        *proof_sections(certificate, subject),
        *_exchange(certificate, data, labels),
        redundancy_section(data, given, labels),
        reproduce_section(
            f"from columnist import certify\n\ncertify(X, {given.tolist()!r}, "
            f"criterion={certificate.criterion!r})"
        ),
    ]
    return page(
        title or f"Is this choice of {count(len(given), 'column')} good?",
        sections,
        kicker="Certificate of a selection",
        verdict=Verdict(*verdict(certificate, subject)),
        figures=_key_figures(certificate, data),
    )


def _settings(certificate: Certificate, data: Data) -> list[tuple[str, str]]:
    target = "all columns of the data" if certificate.target == "X" else "the target y"
    return [
        ("Data", f"{count(data.shape[0], 'row')}, {count(data.shape[1], 'column')}"),
        ("To rebuild", target),
        ("Measure of error", CRITERIA.get(certificate.criterion, certificate.criterion)),
    ]


def _key_figures(certificate: Certificate, data: Data) -> list[KeyFigure]:
    size = len(certificate.selection)
    return [
        KeyFigure("Handed in", f"{size:,}", f"of {count(data.shape[1], 'column')}"),
        KeyFigure("Error", number(certificate.error), certificate.criterion),
        KeyFigure("Proven gap", percent(certificate.gap), "of the error, at most"),
        KeyFigure("Time", f"{number(certificate.elapsed, 3)} s", "of search"),
    ]


def _answer(certificate: Certificate, labels: list[str]) -> Section:
    given = [labels[j] for j in certificate.selection]
    blocks: list[Block] = [Names("The columns handed in", given)]
    if certificate.better is None:
        return Section("The answer", [*blocks, Text("No better set of this size was found.")])
    new, gone = swapped(certificate.selection, certificate.better, labels)
    blocks.append(Names("A better set", [labels[j] for j in certificate.better]))
    rows = [
        (new[i] if i < len(new) else None, gone[i] if i < len(gone) else None)
        for i in range(max(len(new), len(gone)))
    ]
    kinds = [("Takes", "text"), ("Instead of", "text")]
    caption = "What the better set exchanges (in no particular order)"
    blocks.append(Table(caption, kinds, rows, sortable=False))
    reached = certificate.history[-1]["incumbent"] if certificate.history else np.inf
    if np.isfinite(reached) and certificate.error > 0:
        saved = percent(max(1.0 - reached / certificate.error, 0.0))
        blocks.append(Text(f"It leaves {number(reached, 6)} instead of "
                           f"{number(certificate.error, 6)}: {saved} less."))  # fmt: skip
    return Section("The answer", blocks)


def _exchange(certificate: Certificate, data: Data, labels: list[str]) -> list[Section]:
    """How the columns that are exchanged go together."""
    if certificate.better is None:
        return []
    new = sorted(set(certificate.better) - set(certificate.selection))
    gone = sorted(set(certificate.selection) - set(certificate.better))
    if not new or not gone:
        return []
    blocks = correlation_figure(
        data, new, gone, labels, title="Correlation of the columns that are exchanged",
        what="New columns down the side, those they replace along the top.",
    )  # fmt: skip
    return [Section("What is exchanged", blocks)]
