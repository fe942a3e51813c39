"""Up to which k is the optimum proven within 10 s and, under the squared Frobenius norm, 60 s?

For every set and criterion k rises until the first proof that takes too long; then k
falls from n, with the short limit, because many columns are easy again. "Cores had" tells how
much of the machine the runs really got: below 2, something else ran beside them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from benchmarks.data import Sets
from benchmarks.measure import Row, busy, fit

__all__ = ["TITLE", "rows", "tables"]

TITLE = "Largest k proven optimal (two threads)"

SETS = ("wdbc", "spectf", "libras", "digits", "vehicle")
CRITERIA = ("frobenius", "spectral", "nuclear", "schatten:0.5")
LIMITS = (10.0, 60.0)
# The long limit is for this criterion.
LONG = "frobenius"
# Every k is tried here, whatever happens on the way.
EVERY = {("wdbc", "frobenius"), ("vehicle", "frobenius")}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set, criterion and k."""
    limits = (0.1, 0.5) if quick else LIMITS
    return [
        row
        for name, X in sets.these(*SETS)
        for criterion in CRITERIA
        for row in climb(name, X, criterion, limits, every=(name, criterion) in EVERY and not quick)
    ]


def climb(name: str, X: np.ndarray, criterion: str, limits, every: bool) -> Iterator[Row]:
    """k = 1, 2, ... until a failure, then n, n - 1, ... with the short limit."""
    short, long = limits[0], limits[criterion == LONG]
    n = X.shape[1]
    k, failed = 0, False
    while k < n and (every or not failed):
        k += 1
        row = prove(name, X, criterion, k, long)
        failed = not in_time(row)
        yield row
    for above in range(n, k, -1):
        row = prove(name, X, criterion, above, short)
        yield row
        if not in_time(row):
            break


def in_time(row: Row) -> bool:
    """Whether the proof was complete, and within the limit (the last node may overrun it)."""
    return row["proven"] and row["seconds"] <= row["limit [s]"]


def prove(name: str, X: np.ndarray, criterion: str, k: int, limit: float) -> Row:
    """Try to prove the optimum for one k."""
    seconds, cores, selector = busy(
        lambda: fit(X, k, criterion=criterion, n_jobs=2, time_limit=limit)
    )
    certificate = selector.certificate_
    print(
        f"  {name} {criterion} k={k}: {certificate.status} "
        f"{seconds:.2f} s, {cores:.2f} cores, {certificate.nodes_expanded} nodes, "
        f"gap {certificate.gap:.2g}",
        file=sys.stderr,
        flush=True,
    )
    return {
        "set": name,
        "columns": X.shape[1],
        "criterion": criterion,
        "k": k,
        "limit [s]": limit,
        "proven": certificate.is_optimal,
        "seconds": seconds,
        "cores": cores,
        "nodes": certificate.nodes_expanded,
        "generated": certificate.nodes_generated,
        "gap": certificate.gap,
    }


def tables(measured: list[Row]) -> dict[str, list[Row]]:
    """The summary, and one line per set and criterion with all times and nodes."""
    groups = [list(group) for _, group in groupby(measured, _problem)]
    return {
        "": [summary(group) for group in groups],
        "Seconds (nodes) for each k; > marks what was not proven": [
            detail(group) for group in groups
        ],
    }


def _problem(row: Row) -> tuple[str, str]:
    return row["set"], row["criterion"]


def summary(group: list[Row]) -> Row:
    """Every k up to the first failure, and what else was proven."""
    reached = {limit: proven_within(group, limit) for limit in LIMITS}
    first = group[0]
    long = first["criterion"] == LONG
    return {
        "set": first["set"],
        "columns": first["columns"],
        "criterion": first["criterion"],
        "10 s: every k up to": unbroken(reached[10.0]),
        "60 s: every k up to": unbroken(reached[60.0]) if long else "",
        "also in 10 s": ranges(k for k in reached[10.0] if k > unbroken(reached[10.0])),
        "also in 60 s": ranges(k for k in reached[60.0] if k > unbroken(reached[60.0]) and long),
        "cores had": cores_had(group),
    }


def cores_had(group: list[Row]) -> float:
    """Cores that the machine left to the runs of this group, on average over their time."""
    total = sum(row["seconds"] for row in group)
    return round(sum(row["cores"] * row["seconds"] for row in group) / total, 1)


def proven_within(group: list[Row], limit: float) -> list[int]:
    """Every k that took no longer."""
    return sorted(row["k"] for row in group if row["proven"] and row["seconds"] <= limit)


def unbroken(sizes: list[int]) -> int:
    """The largest k such that 1, ..., k are all there."""
    return next((k for k, size in enumerate(sizes) if size != k + 1), len(sizes))


def ranges(sizes: Iterable[int]) -> str:
    """1, 2, 3, 7 as ``1-3, 7``."""
    runs: list[list[int]] = []
    for k in sizes:
        if runs and runs[-1][-1] == k - 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def detail(group: list[Row]) -> Row:
    """Times and nodes in one line."""
    cells = []
    for row in sorted(group, key=lambda row: row["k"]):
        mark = "" if row["proven"] else ">"
        cells.append(f"{row['k']}: {mark}{short(row['seconds'])} ({short(row['nodes'])})")
    return {
        "set": group[0]["set"],
        "criterion": group[0]["criterion"],
        "k: seconds (nodes)": ", ".join(cells),
    }


def short(number: float) -> str:
    """Two digits, and k for thousands."""
    if number >= 1e4:
        return f"{number / 1e3:.0f}k"
    return f"{number:.0f}" if number >= 10 or isinstance(number, int) else f"{number:.2g}"
