"""A real report in the built documentation: ``example-report.html``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from columnist import ColumnSelector, selection_path
from columnist.datasets import load_wdbc
from columnist.report import selection_report

PAGE = "example-report.html"


def publish(app: Any, error: Exception | None) -> None:
    """Write the report beside the built pages."""
    if error is None and app.builder.name == "html":
        Path(app.outdir, PAGE).write_text(report(), encoding="utf-8")


def report() -> str:
    """Which eleven of thirty measurements of tumours to keep."""
    data = load_wdbc(standardize=True)
    selector = ColumnSelector(11, n_solutions=5).fit(data.data)
    path = selection_path(data.data, 16, time_limit=8.0)
    return selection_report(
        selector,
        data.data,
        names=data.feature_names,
        path=path,
        asked={"Data": "breast cancer, 569 tumours, 30 measurements, on one scale"},
        title="Which 11 of 30 tumour measurements to keep",
    )
