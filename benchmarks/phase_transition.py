"""Removing outliers under Schatten sums: up to which rank and share of outliers does it work?

Figure 8.3: n rows of n features, G H' with Gaussian factors of rank r, and Gaussian noise of
variance 1 added to some rows, the outliers. A greedy removal succeeds if no other row goes
before the last outlier; outlier pursuit, with 1/sqrt(log n) as the price, if the longest rows
of its sparse part are the outliers (an easier test than the exact support). A cell counts
as solved if ten trials succeed; it is left at the first failure. The print has n = 400; the grid
here has n = 100, and some cells n = 400 with one trial.

With p = 0.1 every cell with r/n + outliers/n below 1 is solved. That is as far as anything can go
without looking at lengths: at 1 the good rows are no more than their rank, and nothing tells
them from the others. The print says that rank 50% with 70% outliers is solved at p = 0.1; it lies
beyond, and is not solved here.

Figure 8.2: fifty points of a line in the plane and ten others, fifteen removed, with and without
noise. How large p may be depends on how far the line reaches: it is five times as long as
the outliers' square is wide.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.robust.pursuit import OutlierPursuit
from columnist.robust.schatten import SchattenPCA

__all__ = ["TITLE", "draw_lines", "draw_phases", "line", "planted", "rows", "tables"]

TITLE = "Outliers removed under Schatten sums (first document, figures 8.2 and 8.3)"

POWERS = (0.1, 0.4, 0.7, 1.0)
PURSUIT = "outlier pursuit"
SIZE, TRIALS = 100, 10
RANKS = tuple(round(0.05 * i, 2) for i in range(1, 11))
SHARES = tuple(round(0.1 * i, 1) for i in range(1, 10))
# Cells of the printed size: within the limit, near it, and the one the text names.
FULL_SIZE, FULL = 400, ((0.1, 0.5), (0.2, 0.7), (0.3, 0.6), (0.5, 0.4), (0.5, 0.7))
NOISES = (0.0, 0.1)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per method and cell, then one per line and p."""
    if quick:
        cells = [(40, r, share, 2) for share in SHARES[::3] for r in RANKS[1::3]]
    else:
        cells = [(SIZE, r, share, TRIALS) for share in SHARES for r in RANKS]
        cells += [(FULL_SIZE, r, share, 1) for r, share in FULL]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = [phase(name, solve, *cell) for name, solve in methods() for cell in cells]
        return found + [toy(noise, p) for noise in NOISES for p in POWERS]


def methods() -> Iterator[tuple[str, Callable[[np.ndarray, int], np.ndarray]]]:
    """Names, and functions from the data and k to the k rows that go first."""
    for p in POWERS:
        yield f"p = {p:g}", lambda X, k, p=p: greedy(X, k, p).removal_order_
    yield PURSUIT, pursued


def greedy(X: np.ndarray, k: int, p: float) -> SchattenPCA:
    """The greedy removal, uncentred as in the print."""
    return SchattenPCA(k, p=p, n_components=1, centering="none").fit(X)


def pursued(X: np.ndarray, k: int) -> np.ndarray:
    """Outliers by outlier pursuit."""
    options = {"n_components": 1, "centering": "none", "tol": 1e-5}
    return OutlierPursuit(n_outliers=k, **options).fit(X).outliers_


def planted(n: int, r: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """n rows in n dimensions: rank r, and noise on the first k."""
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, n))
    X[:k] += rng.standard_normal((k, n))
    return X


def phase(name: str, solve: Callable, n: int, rank: float, share: float, trials: int) -> Row:
    """Trials of one method in one cell, until it fails."""
    r, k = round(rank * n), round(share * n)
    started, solved = time.process_time(), 0
    for seed in range(trials):
        X = planted(n, r, k, np.random.default_rng([seed, r, k]))
        if set(solve(X, k)) != set(range(k)):
            break
        solved += 1
    return {
        "method": name,
        "n": n,
        "rank/n": rank,
        "outliers/n": share,
        "trials": trials,
        "solved before a failure": solved,
        "seconds": time.process_time() - started,
    }


def line(noise: float, seed: int = 0) -> np.ndarray:
    """Ten outliers, then fifty points of a line through the origin."""
    rng = np.random.default_rng(seed)
    inliers = np.outer(rng.uniform(-5.0, 5.0, 50), [0.8, 0.6])
    X = np.vstack([rng.uniform(-1.0, 1.0, (10, 2)), inliers])
    return X + noise * rng.standard_normal(X.shape)


def toy(noise: float, p: float) -> Row:
    """Fifteen rows of a line removed."""
    X = line(noise)
    seconds, found = timed(lambda: greedy(X, 15, p), time.process_time)
    axis = found.components_[0]
    return {
        "noise": noise,
        "p": p,
        "outliers among the first 10": int(np.sum(found.removal_order_[:10] < 10)),
        "among all 15": int(np.sum(found.removal_order_ < 10)),
        "after the threshold": len(found.outliers_),
        "angle [degrees]": float(np.degrees(np.arcsin(min(abs(axis @ [-0.6, 0.8]), 1.0)))),
        "seconds": seconds,
    }


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """The working ranges, the cells of the printed size, and the lines."""
    cells = [row for row in rows if "method" in row]
    small = [row for row in cells if row["n"] != FULL_SIZE]
    names = list(dict.fromkeys(row["method"] for row in cells))
    ranges = [range_line(name, [row for row in small if row["method"] == name]) for name in names]
    n, trials = small[0]["n"], small[0]["trials"]
    return {
        f"Figure 8.3: largest share of outliers solved in {trials} of {trials} trials "
        f"(n = {n}), by rank/n": ranges,
        f"Cells of the printed size (n = {FULL_SIZE}, one trial)": [
            row for row in cells if row["n"] == FULL_SIZE
        ],
        "Figure 8.2: fifteen of sixty points removed, ten of them outliers": [
            row for row in rows if "noise" in row
        ],
    }


def range_line(name: str, cells: list[Row]) -> Row:
    """For every rank the share up to which all cells are solved."""
    return {
        "method": name,
        **{f"{r:g}": reach(cells, r) for r in sorted({row["rank/n"] for row in cells})},
        "cells solved": sum(is_solved(row) for row in cells),
        "of": len(cells),
        "within rank + outliers < n": sum(within(row) for row in cells),
        "seconds": sum(row["seconds"] for row in cells),
    }


def is_solved(row: Row) -> bool:
    """Whether no trial failed."""
    return row["solved before a failure"] == row["trials"]


def within(row: Row) -> bool:
    """Whether there are more good rows than their rank."""
    return round((row["rank/n"] + row["outliers/n"]) * row["n"]) < row["n"]


def reach(cells: list[Row], rank: float) -> float:
    """Largest share of outliers such that this and all smaller ones are solved; 0 if none is."""
    column = sorted((row["outliers/n"], is_solved(row)) for row in cells if row["rank/n"] == rank)
    best = 0.0
    for share, solved in column:
        if not solved:
            break
        best = share
    return best


def draw_phases(rows: list[Row], path: str | Path) -> None:
    """Figure 8.3: white where every trial succeeds, black elsewhere."""
    import matplotlib.pyplot as plt

    cells = [row for row in rows if "method" in row and row["n"] != FULL_SIZE]
    names = [PURSUIT, *(f"p = {p:g}" for p in POWERS)]
    ranks = sorted({row["rank/n"] for row in cells})
    shares = sorted({row["outliers/n"] for row in cells})
    figure, axes = plt.subplots(1, len(names), figsize=(14, 3.4), sharey=True, layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        image = np.zeros((len(shares), len(ranks)))
        for row in (row for row in cells if row["method"] == name):
            at = shares.index(row["outliers/n"]), ranks.index(row["rank/n"])
            image[at] = is_solved(row)
        ax.pcolormesh(ranks, shares, image, cmap="gray", vmin=0, vmax=1, shading="nearest")
        ax.plot([0.0, 1.0], [1.0, 0.0], color="#D55E00", linewidth=1.5)
        ax.set(title=name, xlabel="rank / n", xlim=(0.025, 0.525), ylim=(0.05, 0.95))
    axes[0].set_ylabel("outliers / n")
    figure.suptitle("White: every trial solved. Orange: as many good rows as their rank.")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_lines(path: str | Path, powers: tuple[float, ...] = (0.1, 0.7)) -> None:
    """Figure 8.2: the points removed, numbered, and how the sum falls."""
    import matplotlib.pyplot as plt

    shape = (2, len(NOISES) * len(powers))
    figure, axes = plt.subplots(*shape, figsize=(14, 6), layout="constrained")
    problems = [(noise, p) for noise in NOISES for p in powers]
    for (points, curve), (noise, p) in zip(axes.T, problems, strict=True):
        X = line(noise)
        found = greedy(X, 15, p)
        points.scatter(*X.T, s=12, color="0.6")
        points.scatter(*X[found.removal_order_].T, s=30, marker="x", color="#D55E00")
        for number, row in enumerate(found.removal_order_, 1):
            points.annotate(str(number), X[row], textcoords="offset points", xytext=(3, 3))
        points.set(title=f"noise {noise:g}, p = {p:g}", aspect="equal")
        curve.plot(np.arange(16), found.schatten_path_, marker="o", color="#0072B2")
        curve.axvline(10.0, color="0.8")
        curve.set(xlabel="rows removed", ylabel="sum of p-th powers")
    figure.savefig(path, dpi=110)
    plt.close(figure)
