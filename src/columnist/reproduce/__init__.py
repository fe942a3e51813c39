"""Run the printed tables and figures of the documents again, and compare cell by cell."""

from columnist.reproduce.cells import VERDICTS, Cell
from columnist.reproduce.registry import DOCUMENTS, PrintedTable
from columnist.reproduce.results import Reproduction, TableResult
from columnist.reproduce.run import list_tables, reproduce

__all__ = [
    "DOCUMENTS",
    "VERDICTS",
    "Cell",
    "PrintedTable",
    "Reproduction",
    "TableResult",
    "list_tables",
    "reproduce",
]
