"""Curves of multi-label selection: figures 7.4, 7.6 and 8.4 to 8.7 of Xu."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr
from sklearn.model_selection import RepeatedKFold

from columnist.linalg._passes import columns_of
from columnist.selection import ForwardSelector
from reproduction.cells import Cell, compare, skipped
from reproduction.claims import claim
from reproduction.curves import Panel
from reproduction.data import Data
from reproduction.multilabel_tables import QUICK, Losses, forward, listed
from reproduction.printed import printed
from reproduction.registry import PrintedTable, Run, by_set

__all__ = ["TABLES"]

Row = Mapping[str, str]

# Figures 7.4 and 7.6


def curves(run: Run) -> Iterator[Cell]:
    """Cells of figure 7.4: the loss by the number of columns."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        (where, said), *_ = listed(rows[0])
        if run.quick and name not in QUICK:
            yield skipped(where, said)
            return
        losses = forward(run.data, name, 1)
        least, _, best = losses.least()
        first, last = losses.means[0], losses.means[-1]
        ours = f"{first:.3f} at 1, {least:.3f} at {best}, {last:.3f} at {losses.sizes[-1]}"
        yield claim(where, said, ours, first > least < last, "it only falls up to this size")

    yield from by_set(printed("xu-fig7.4"), compute, listed)


def powers(run: Run) -> Iterator[Cell]:
    """Cells of figure 7.6: what powers of columns change."""

    def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
        places = list(listed(rows[0]))
        if run.quick and name not in QUICK:
            yield from (skipped(*place) for place in places)
            return
        found = [forward(run.data, name, degree) for degree in (1, 2, 3)]
        yield from power_cells(places, found)

    yield from by_set(printed("xu-fig7.6"), compute, listed)


def power_cells(places: list[tuple[str, str]], found: list[Losses]) -> Iterator[Cell]:
    """Best power, best sizes, and the rise of the loss beyond them, for powers 1, 2 and 3."""
    (power, power_said), (size, size_said), (rise, rise_said) = places
    leasts = [losses.least() for losses in found]
    losses = ", ".join(f"{loss:.4f}" for loss, _, _ in leasts)
    best = 1 + int(np.argmin([loss for loss, _, _ in leasts]))
    error = max(error for _, error, _ in leasts)
    noise = f"tested: the losses differ by less than their standard error, {error:.4f}"
    gap = leasts[int(power_said) - 1][0] - leasts[best - 1][0]
    why = noise if gap < error else "unknown; the rows of the training part are not stated"
    yield compare(power, power_said, best, units=0, why=why, detail=f"losses {losses}")
    sizes = [k for _, _, k in leasts]
    falls = sizes[0] >= sizes[1] >= sizes[2] and sizes[0] > sizes[2]
    why = "losses of sizes near the best differ by less than the standard error"
    yield claim(size, size_said, ", ".join(map(str, sizes)), falls, why)
    rises = [at(losses, 60) - losses.least()[0] for losses in found]
    ours = "from best to 60 columns " + ", ".join(f"{value:+.4f}" for value in rises)
    yield claim(rise, rise_said, ours, rises[0] < rises[2], "powers do not make it rise more here")


def at(losses: Losses, k: int) -> float:
    """The loss of one size."""
    return float(losses.means[losses.sizes == k][0])


# Figures 8.4 to 8.7

SHUFFLES = 3
EXPONENTS = {
    "emotions": ((4, 8, 12, 16, 20, 30), (0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.0, 4.8, 6.0)),
    "scene": ((4, 8, 16, 32, 50), (0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.8, 6.0)),
    "medical": ((25, 50, 75), (0.4, 0.8, 1.2, 1.6, 2.4, 3.2, 4.8)),
    "enron": ((4, 8, 14, 20), (0.8, 1.6, 3.2, 4.8)),
}


@cache
def decreases(data: Data, name: str) -> dict[tuple[int, float], float]:
    """By how many per cent the loss falls below that of Frobenius, by size and exponent."""
    X, Y = data.matrix(name), data.labels(name)
    X = sp.csc_array(X) if sp.issparse(X) else X
    sizes, exponents = EXPONENTS[name]
    base = exponent_losses(X, Y, sizes, "frobenius")
    found = {p: exponent_losses(X, Y, sizes, f"schatten:{p:g}") for p in exponents}
    return {
        (k, p): 100.0 * (1.0 - losses[i] / base[i])
        for p, losses in found.items()
        for i, k in enumerate(sizes)
    }


def exponent_losses(X, Y: np.ndarray, sizes: Sequence[int], criterion: str) -> np.ndarray:
    """Mean losses of plain linear regression on chosen columns: no intercept, threshold 1/2."""
    cv = RepeatedKFold(n_splits=10, n_repeats=1 if sp.issparse(X) else SHUFFLES, random_state=0)
    losses = []
    for train, test in cv.split(Y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # too little rank
            selector = ForwardSelector(max(sizes), criterion=criterion, target="y")
            chosen = columns_of(X, selector.fit(X[train], Y[train]).selected_)
        losses.append([plain_loss(chosen[:, :k], Y, train, test) for k in sizes])
    return np.mean(losses, axis=0)


def plain_loss(chosen: np.ndarray, Y: np.ndarray, train, test) -> float:
    """Hamming loss of least squares, cut at one half."""
    coef = np.linalg.lstsq(chosen[train], Y[train])[0]
    return float(np.mean((chosen[test] @ coef > 0.5) != Y[test]))


def schatten(table: str) -> Callable[[Run], Iterator[Cell]]:
    """What the text says of one figure."""

    def place(row: Row) -> Iterator[tuple[str, str]]:
        parts = (row["set"], row["k"] and f"k = {row['k']}", row["p"] and f"p = {row['p']}")
        yield ", ".join(filter(None, (*parts, row["what"]))), row["figure"]

    def cells(run: Run) -> Iterator[Cell]:
        def compute(name: str, rows: list[Row]) -> Iterator[Cell]:
            run.data.matrix(name)
            for row in rows:
                (where, said), *_ = place(row)
                if run.quick and name not in QUICK:
                    yield skipped(where, said)
                else:
                    yield exponent_cell(row, where, said, decreases(run.data, name))

        yield from by_set(printed(table), compute, place)

    return cells


def exponent_cell(row: Row, where: str, said: str, falls: dict[tuple[int, float], float]) -> Cell:
    """One statement about exponents and losses."""
    why = "unknown; the shuffle of the ten folds is not stated, and thresholds are not either"
    if row["what"] == "largest decrease [%]":
        (k, p), fall = max(falls.items(), key=lambda item: item[1])
        detail = f"k = {k}, p = {p:g}"
        return compare(where, said, fall, better="larger", random=True, why=why, detail=detail)
    here = {p: fall for (k, p), fall in falls.items() if k == int(row["k"])}
    if row["what"] == "decrease [%]":
        fall = here[float(row["p"])]
        return compare(where, said, fall, better="larger", random=True, why=why)
    if row["what"] == "best p":
        best = max(here, key=here.__getitem__)
        return compare(where, said, best, why=why, detail=f"{here[best]:.1f} % less")
    correlation = float(spearmanr(list(here), list(here.values())).statistic)
    ours = f"rank correlation of p and decrease {correlation:+.2f}"
    return claim(where, said, ours, correlation > 0.0, why)


# Panels


def size_panels(run: Run) -> Iterator[Panel]:
    """Figure 7.4."""
    found = {row["set"]: forward(run.data, row["set"], 1) for row in printed("xu-fig7.4")}
    for name, losses in found.items():
        lines = {"forward selection": (losses.sizes, losses.means)}
        yield Panel(name, "columns", "Hamming loss", lines)


def power_panels(run: Run) -> Iterator[Panel]:
    """Figure 7.6."""
    for row in printed("xu-fig7.6"):
        found = {p: forward(run.data, row["set"], p) for p in (1, 2, 3)}
        lines = {f"p = {p}": (losses.sizes, losses.means) for p, losses in found.items()}
        yield Panel(row["set"], "columns", "Hamming loss", lines)


def exponent_panels(name: str) -> Callable[[Run], Iterator[Panel]]:
    """Figures 8.4 to 8.7."""

    def panels(run: Run) -> Iterator[Panel]:
        falls = decreases(run.data, name)
        sizes, exponents = EXPONENTS[name]
        lines = {f"k = {k}": (exponents, [falls[k, p] for p in exponents]) for k in sizes}
        yield Panel(name, "p", "decrease of the Hamming loss against p = 2 [%]", lines)

    return panels


CURVE_NOTE = "The curves of the print have no numbers: what the text says of them is checked."
SCHATTEN_NOTE = (
    "All rows, ten folds, shuffled three times (medical and enron: once); selection and regression "
    "without means or intercept, labels cut at one half. The curves have no printed numbers: what "
    "the text says of them is checked. A decrease is that of the mean Hamming loss against the "
    "Frobenius norm."
)
TABLES = (
    PrintedTable("xu-fig7.4", "Hamming loss by number of columns", curves, CURVE_NOTE, size_panels),
    PrintedTable("xu-fig7.6", "Hamming loss by power", powers, CURVE_NOTE, power_panels),
    *(
        PrintedTable(
            f"xu-fig8.{number}",
            f"Hamming loss on {name} under Schatten norms",
            schatten(f"xu-fig8.{number}"),
            SCHATTEN_NOTE,
            exponent_panels(name),
        )
        for number, name in ((4, "medical"), (5, "emotions"), (6, "enron"), (7, "scene"))
    ),
)
