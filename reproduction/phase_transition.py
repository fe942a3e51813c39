"""Outliers removed under Schatten sums: figures 8.2 and 8.3 of the first dissertation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist.datasets import make_line_and_outliers, make_low_rank_outliers
from columnist.robust._pursuit import OutlierPursuit
from columnist.robust._schatten import SchattenPCA
from reproduction.cells import Cell, skipped
from reproduction.claims import claim
from reproduction.curves import Panel
from reproduction.registry import PrintedTable, Run

__all__ = [
    "NOISES",
    "POWERS",
    "PURSUIT",
    "TABLES",
    "Phase",
    "greedy",
    "line",
    "methods",
    "phase",
    "phases",
    "planted",
]

POWERS = (0.1, 0.4, 0.7)
PURSUIT = "outlier pursuit"
SIZE, TRIALS = 400, 1
QUICK_SIZE, QUICK_TRIALS = 40, 2
RANKS = tuple(round(0.05 * i, 2) for i in range(1, 11))
SHARES = tuple(round(0.1 * i, 1) for i in range(1, 10))
NOISES = (0.0, 0.1)


class Phase(NamedTuple):
    """Whether a method finds all outliers in every trial, for one rank and share of outliers."""

    method: str
    rank: float
    share: float
    solved: bool

    @property
    def possible(self) -> bool:
        """Whether there are more good rows than their rank."""
        return round(100 * (self.rank + self.share)) < 100


def greedy(X: np.ndarray, k: int, p: float) -> SchattenPCA:
    """The greedy removal, uncentred as in the print. Only its order counts, and no cut-off."""
    options = {"n_components": 1, "centering": "none", "cutoff": "classical"}
    return SchattenPCA(k, p=p, **options).fit(X)


def pursued(X: np.ndarray, k: int) -> np.ndarray:
    """Outliers by outlier pursuit, with the price 1 / sqrt(log n)."""
    options = {"n_components": 1, "centering": "none", "tol": 1e-5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return OutlierPursuit(n_outliers=k, **options).fit(X).outliers_


def methods() -> dict[str, Callable[[np.ndarray, int], np.ndarray]]:
    """Functions from the data and k to the k rows that go first."""
    found = {f"p = {p:g}": lambda X, k, p=p: greedy(X, k, p).removal_order_ for p in POWERS}
    return {PURSUIT: pursued, **found}


def planted(n: int, r: int, k: int, seed: int) -> np.ndarray:
    """n rows in n dimensions: rank r, and noise on the first k."""
    rng = np.random.default_rng([seed, r, k])
    return make_low_rank_outliers(n, n, rank=r, n_outliers=k, random_state=rng)[0]


def phase(method: str, n: int, rank: float, share: float, trials: int) -> Phase:
    """Trials of one method, until it fails."""
    r, k = round(rank * n), round(share * n)
    solve = methods()[method]
    solved = all(set(solve(planted(n, r, k, seed), k)) == set(range(k)) for seed in range(trials))
    return Phase(method, rank, share, solved)


@cache
def phases(quick: bool) -> list[Phase]:
    """The grid of figure 8.3 for every method; quick: smaller matrices, a ninth of the cells."""
    n, trials, step = (QUICK_SIZE, QUICK_TRIALS, 3) if quick else (SIZE, TRIALS, 1)
    grid = [(rank, share) for share in SHARES[::step] for rank in RANKS[step // 2 :: step]]
    return [phase(name, n, *cell, trials) for name in methods() for cell in grid]


def phase_cells(run: Run) -> Iterator[Cell]:
    """Figure 8.3: what the text reads from it."""
    found = phases(run.quick)
    solved = {name: sum(cell.solved for cell in found if cell.method == name) for name in methods()}
    names = [f"p = {p:g}" for p in POWERS]
    counts = [solved[name] for name in names]
    ours = ", ".join(map(str, counts))
    shrinks = counts == sorted(counts, reverse=True) and counts[0] > counts[-1]
    total = sum(cell.method == PURSUIT for cell in found)
    yield claim(f"cells of {total} solved, p = 0.1, 0.4, 0.7", "falls as p grows", ours, shrinks)
    yield claim(
        "cells solved by p = 0.1 and by Outlier Pursuit", "significantly more by p = 0.1",
        f"{solved[names[0]]} against {solved[PURSUIT]}", solved[names[0]] > 1.5 * solved[PURSUIT],
    )  # fmt: skip
    best = [cell for cell in found if cell.method == names[0]]
    exact = all(cell.solved == cell.possible for cell in best)
    where = "rank 50 %, 70 % outliers, p = 0.1, n = 400"
    if run.quick:
        yield skipped(where, "all outliers found")
        return
    solved_last = any(c.solved for c in best if (c.rank, c.share) == (0.5, 0.7))
    yield claim(
        where, "all outliers found", "found" if solved_last else "not found", solved_last,
        "120 good rows cannot fill the 200 dimensions they should span, so nothing tells them from "
        "the others; p = 0.1 solves " + ("every" if exact else "not every") + " cell with more "
        "good rows than their rank",
    )  # fmt: skip


def border_panels(run: Run) -> Iterator[Panel]:
    """Up to which share of outliers every smaller one is solved, by rank; figure 8.3 in curves."""
    found = phases(run.quick)
    ranks = sorted({cell.rank for cell in found})
    lines = {}
    for name in methods():
        cells = [cell for cell in found if cell.method == name]
        lines[name] = (ranks, [border([c for c in cells if c.rank == rank]) for rank in ranks])
    lines["as many good rows as their rank"] = (ranks, [1.0 - rank for rank in ranks])
    yield Panel("n = 400", "rank / n", "largest share of outliers solved", lines)


def border(cells: Iterable[Phase]) -> float:
    """The largest share below which no cell fails; 0 if the smallest one fails."""
    solved = takewhile(lambda cell: cell.solved, sorted(cells, key=lambda cell: cell.share))
    return max((cell.share for cell in solved), default=0.0)


def line(noise: float) -> np.ndarray:
    """Ten outliers, then fifty points of a line through the origin."""
    return make_line_and_outliers(noise=noise, random_state=np.random.default_rng(0))[0]


def turn(found: SchattenPCA) -> float:
    """Degrees between the first axis and the line."""
    return float(np.degrees(np.arcsin(min(abs(found.components_[0] @ [-0.6, 0.8]), 1.0))))


def line_cells(run: Run) -> Iterator[Cell]:
    """Figure 8.2: fifteen of sixty points removed, ten of them outliers."""
    for noise in NOISES:
        found = greedy(line(noise), 15, 0.1)
        order, place = found.removal_order_, f"noise {noise:g}, p = 0.1"
        among = int(np.sum(order < 10))
        yield claim(
            f"{place}, outliers among the 15 removed", "all 10", f"{among} of 10", among == 10
        )
        angle = turn(found)
        yield claim(
            f"{place}, the line is recovered", "yes", f"{angle:.2g} degrees off", angle < 1.0
        )
        kept = set(found.outliers_)
        yield claim(
            f"{place}, after a threshold", "the true outliers", f"{len(kept)} points",
            kept == set(range(10)),
            "points of the line that noise moves by more than the threshold are taken too",
        )  # fmt: skip
        steps = -np.diff(found.schatten_path_)
        yield claim(
            f"{place}, the sum falls steeply at the tenth point", "yes" if noise == 0.0 else "no",
            f"by {steps[9] / np.median(steps):.1f} times the usual step",
            (steps[9] > 5.0 * np.median(steps)) == (noise == 0.0),
        )  # fmt: skip
        fails = int(np.sum(greedy(line(noise), 15, 0.7).removal_order_ < 10))
        yield claim(
            f"noise {noise:g}, p = 0.7, outliers among the 15 removed", "not all",
            f"{fails} of 10", fails < 10,
        )  # fmt: skip


TABLES = (
    PrintedTable(
        "xu-fig8.2",
        "A line and ten outliers",
        line_cells,
        "The points are not printed. How large p may be depends on how far the line reaches: ours "
        "is five times as long as the outliers' square is wide.",
    ),
    PrintedTable(
        "xu-fig8.3",
        "Up to which rank and share of outliers a removal works",
        phase_cells,
        f"n = {SIZE} as in print, one trial a cell where the print has ten ({QUICK_SIZE} and "
        f"{QUICK_TRIALS} in quick mode). A greedy removal succeeds if no other "
        "row goes before the last outlier; Outlier Pursuit if the longest rows of its sparse part "
        "are the outliers, an easier test than the exact support.",
        border_panels,
    ),
)
