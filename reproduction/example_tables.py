"""The small examples of the second document that can be done by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from columnist.metrics import reconstruction_error
from columnist.selection import ColumnSelector
from reproduction.cells import Cell, compare
from reproduction.printed import printed
from reproduction.registry import PrintedTable, Run

__all__ = ["TABLES"]

CM_PER_FOOT = 30.48
KG_PER_POUND = 0.45359237


def persons(run: Run) -> Iterator[Cell]:
    """The labels and the repeated feature, from the other features."""
    for row in printed("he-2.1"):
        metres, kg = float(row["height_cm"]) / 100, KG_PER_POUND * float(row["weight_lb"])
        person = row["person"]
        yield compare(f"{person}, height in feet", row["height_ft"], 100 * metres / CM_PER_FOOT)
        yield compare(f"{person}, body mass index", row["bmi"], kg / metres**2)
        yield compare(f"{person}, weight in kg", row["weight_kg"], kg)


def two_steps(run: Run) -> Iterator[Cell]:
    """One column and one component of a 3 x 3 matrix, in every order."""
    for row in printed("he-sec3.2.1-errors"):
        X = small_matrix(row["matrix"])
        column = chosen(X, row["steps"])
        where = f"{row['matrix']}, {row['steps']}"
        yield compare(f"{where}, column", row["column"], column + 1, units=0)
        norm = reconstruction_error(X, [column], n_components=int(row["r2"])) ** 0.5
        if row["steps"] == "extract then select":
            norm = min(errors_after_component(X)) ** 0.5
        yield compare(f"{where}, norm of the error", row["norm"], norm)


def small_matrix(name: str) -> np.ndarray:
    """A printed 3 x 3 matrix."""
    rows = (row for row in printed("he-sec3.2.1-matrices") if row["matrix"] == name)
    return np.array([[float(row[x]) for x in ("x1", "x2", "x3")] for row in rows])


def chosen(X: np.ndarray, steps: str) -> int:
    """The column that the steps choose."""
    if steps == "extract then select":
        return int(np.argmin(errors_after_component(X)))
    r2 = 1 if steps == "together" else 0
    return int(ColumnSelector(1, n_components=r2, search="optimal").fit(X).selected_[0])


def errors_after_component(X: np.ndarray) -> list[float]:
    """Squared error of every column beside the first principal component of X."""
    component = np.linalg.svd(X)[0][:, 0]
    bases = (np.linalg.qr(np.column_stack([component, column]))[0] for column in X.T)
    return [float(((X - Q @ (Q.T @ X)) ** 2).sum()) for Q in bases]


TABLES = (
    PrintedTable(
        "he-2.1",
        "Toy data: three persons, two of six columns repeat others",
        persons,
        "Height in centimetres, age and weight in pounds are given; the other columns follow. "
        "Some figures are cut off, not rounded.",
    ),
    PrintedTable(
        "he-sec3.2.1",
        "Selecting a column and extracting a component: one after the other is not optimal",
        two_steps,
        "The matrices are input. Frobenius norm; 77.4 and 20.44 are cut off, not rounded.",
    ),
)
