"""Pieces of results that several commands show."""

from __future__ import annotations

from typing import Any

from columnist.cli._output import Screen
from columnist.cli._text import count, number, percent, seconds

__all__ = ["certificate_facts", "certificate_json", "show_certificate", "write_page"]


def certificate_facts(certificate) -> dict[str, str]:
    """A certificate as names and values."""
    from columnist.search._certificate import STATUSES

    meaning = STATUSES.get(certificate.status, "").removeprefix("proven optimal: ")
    facts = {
        "status": f"{certificate.status} ({meaning})",
        "error": f"{number(certificate.error, 8)} ({certificate.criterion})",
        "lower bound": number(certificate.lower_bound, 8),
        "gap": percent(certificate.gap),
    }
    if certificate.a_priori_bound is not None:
        facts["a priori"] = f"error - optimum <= {number(certificate.a_priori_bound)}"
    facts["search"] = f"{count(certificate.nodes_expanded, 'node')}, {seconds(certificate.elapsed)}"
    if certificate.preparation > 0.0:
        facts["preparation"] = (
            f"{seconds(certificate.preparation)} of these, outside the time limit"
        )
    return facts


def show_certificate(screen: Screen, certificate) -> None:
    """The certificate below a table."""
    screen.heading("Certificate")
    screen.facts(certificate_facts(certificate))


def certificate_json(certificate, *, history: bool = True) -> dict[str, Any] | None:
    """A certificate for JSON."""
    if certificate is None:
        return None
    content = certificate.to_dict()
    if not history:
        content.pop("history")
    return content


def write_page(html: str, path: str, screen: Screen) -> None:
    """Write a report and say so."""
    from columnist.report import write_report

    write_report(html, path)
    screen.written("report", path)
