"""What the shell proposes when the tab key is pressed."""

from __future__ import annotations

from collections.abc import Iterator

from columnist.cli._selectors import SELECTORS

__all__ = ["complete_criterion", "complete_selector"]

CRITERIA = ("frobenius", "spectral", "nuclear", "schatten:0.5", "schatten:1.5", "kyfan:3")


def complete_criterion(incomplete: str) -> Iterator[str]:
    """Criteria that begin so."""
    return (name for name in CRITERIA if name.startswith(incomplete))


def complete_selector(incomplete: str) -> Iterator[str]:
    """Selectors that begin so; of a list, the last one."""
    head, comma, last = incomplete.rpartition(",")
    return (head + comma + name for name in SELECTORS if name.startswith(last))
