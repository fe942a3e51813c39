"""Pieces of results that several commands show."""

from __future__ import annotations

from typing import Any

from columnist.cli._output import Screen

__all__ = ["certificate_json", "show_certificate", "write_page"]


def show_certificate(screen: Screen, certificate) -> None:
    """The certificate below a table."""
    from columnist.search._words import facts

    screen.heading("Certificate")
    screen.facts(facts(certificate))


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
