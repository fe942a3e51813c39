"""Compute the published tables and figures again, and compare them cell by cell.

Not part of the installed package: ``python -m reproduction`` runs it from a checkout.
"""

from reproduction.cells import VERDICTS, Cell
from reproduction.registry import DOCUMENTS, PrintedTable
from reproduction.results import Reproduction, TableResult, stored
from reproduction.run import list_tables, reproduce

__all__ = [
    "DOCUMENTS",
    "VERDICTS",
    "Cell",
    "PrintedTable",
    "Reproduction",
    "TableResult",
    "list_tables",
    "reproduce",
    "stored",
]
