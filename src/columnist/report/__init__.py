"""Reports: one self-contained HTML page about a selection, a certificate, or a cleaning."""

from columnist.report._blocks import (
    Code,
    Facts,
    Figure,
    KeyFigure,
    Legend,
    Names,
    Note,
    Section,
    Table,
    Text,
    Verdict,
)  # fmt: skip
from columnist.report._cleaning import cleaning_report
from columnist.report._outliers import outlier_report
from columnist.report._page import Origin, asked_section, page, reproduce_section, write_report
from columnist.report._selection import certificate_report, selection_report
from columnist.report._selectors import comparison_report, ranking_report
from columnist.report._subset import subset_report

__all__ = [
    "Code", "Facts", "Figure", "KeyFigure", "Legend", "Names", "Note", "Origin", "Section", "Table",
    "Text", "Verdict", "asked_section", "certificate_report", "cleaning_report",
    "comparison_report", "outlier_report", "page", "ranking_report", "reproduce_section",
    "selection_report", "subset_report", "write_report",
]  # fmt: skip
