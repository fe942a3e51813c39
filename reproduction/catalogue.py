"""All printed tables by name, gathered from the modules that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module

from reproduction.registry import DOCUMENTS, PrintedTable

__all__ = ["MODULES", "Catalogue", "catalogue"]

MODULES = (
    "example_tables",
    "column_tables",
    "timing_figures",
    "weighted_tables",
    "two_stage_tables",
    "multilabel_tables",
    "multilabel_figures",
    "phase_transition",
    "privacy_tables",
    "lowrank_tables",
    "robust_tables",
    "robust_toys",
    "robust_figures",
    "noise_figures",
    "spectral_tables",
    "spectral_examples",
    "row_sparse_tables",
    "gene_tables",
)
"""Modules beside this one; each has a tuple ``TABLES`` and is imported when first asked for."""


@dataclass(frozen=True)
class Catalogue:
    """The tables that can be run.

    Attributes
    ----------
    tables : dict
        :class:`~reproduction.registry.PrintedTable` by name, document by document.
    broken : dict
        Modules that could not be imported, and why: their tables are missing, no others.
    """

    tables: dict[str, PrintedTable]
    broken: dict[str, str] = field(default_factory=dict)

    def chosen(self, names: Iterable[str]) -> list[PrintedTable]:
        """Tables by name, document (``"he"``) or pattern (``"he-3.*"``), in their own order.

        Raises
        ------
        ValueError
            A name that fits nothing; names that come close are told.
        """
        wanted: set[str] = set()
        for name in [names] if isinstance(names, str) else names:
            wanted |= self._matching(name)
        return [table for name, table in self.tables.items() if name in wanted]

    def _matching(self, name: str) -> set[str]:
        pattern = "*" if name == "all" else f"{name}-*" if name in DOCUMENTS else name
        found = {table for table in self.tables if fnmatchcase(table, pattern)}
        if not found:
            raise ValueError(self._unknown(name))
        return found

    def _unknown(self, name: str) -> str:
        close = get_close_matches(name, ["all", *DOCUMENTS, *self.tables], n=3)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        known = ", ".join(["all", *DOCUMENTS])
        broken = f" (could not be read: {', '.join(self.broken)})" if self.broken else ""
        return (
            f"No printed table is called {name!r}.{hint} Name a table, a pattern such as 'he-3.*',"
            f" or one of {known}{broken}."
        )


def catalogue(modules: Iterable[str] = MODULES, package: str = __package__) -> Catalogue:
    """Gather the tables; a module that cannot be imported costs only its own."""
    found: list[PrintedTable] = []
    broken: dict[str, str] = {}
    for module in modules:
        try:
            found += import_module(f"{package}.{module}").TABLES
        except Exception as error:
            broken[module] = f"{type(error).__name__}: {error}"
    found.sort(key=_place)
    return Catalogue({table.name: table for table in found}, broken)


def _place(table: PrintedTable) -> tuple[int, list[tuple[int, int | str]]]:
    """Document, then the number by its parts: 3.10 stands behind 3.9."""
    document, _, number = table.name.partition("-")
    parts = re.findall(r"\d+|[a-z]+", number)
    order = [(0, int(part)) if part.isdigit() else (1, part) for part in parts]
    return list(DOCUMENTS).index(document), order
