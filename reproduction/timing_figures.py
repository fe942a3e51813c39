"""Times of searches by size: figure 5.2 of the first document, 3.4 and 4.2 of the second.

Exhaustive times are estimates: the time of one set, measured on a random sample, times the number
of sets. Searches are the package's; times are processor time of one thread.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from columnist.metrics import reconstruction_error
from columnist.robust import RobustPCA
from columnist.selection import ColumnSelector
from reproduction.cells import Cell, not_possible, skipped
from reproduction.claims import claim
from reproduction.curves import Panel
from reproduction.data import Data, MissingData
from reproduction.registry import PrintedTable, Run

__all__ = ["TABLES", "Timed", "exhaustive_seconds", "tail_error"]

SCHATTEN = "schatten:0.25"
SAMPLE = 300
LIMIT = 120.0
ALL_SETS, OPTIMAL = "all sets (estimated)", "optimal"


class Timed(NamedTuple):
    """Seconds of every program by number of columns or outliers; NaN where it was given up."""

    sizes: Sequence[int]
    seconds: Mapping[str, Sequence[float]]

    def ratio(self, slow: str, fast: str) -> float:
        """How many times longer one takes than the other, over the sizes that both finish."""
        pairs = np.array([self.seconds[slow], self.seconds[fast]])
        totals = pairs[:, np.isfinite(pairs).all(axis=0)].sum(axis=1)
        return float(totals[0] / totals[1])


def exhaustive_seconds(n: int, k: int, error_of: Callable[[np.ndarray], float]) -> float:
    """Estimated seconds of all sets of k among n."""
    rng = np.random.default_rng(0)
    sets = [rng.choice(n, k, replace=False) for _ in range(SAMPLE)]
    with threadpool_limits(1):
        started = time.process_time()
        for chosen in sets:
            error_of(chosen)
        each = (time.process_time() - started) / len(sets)
    return each * math.comb(n, k)


def search_seconds(search: Any, X: np.ndarray, *, proven: bool) -> float:
    """Seconds of a fit; NaN if a proof was wanted and there is none."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a limit that was reached is seen in the certificate
        started = time.process_time()
        certificate = search.fit(X).certificate_
        seconds = time.process_time() - started
    return math.nan if proven and not certificate.is_optimal else seconds


def selections(X: np.ndarray, sizes: Sequence[int], total: int, weights: Sequence[float]) -> Timed:
    """Columns chosen beside ``total - k`` components, or none if ``total`` is 0."""
    seconds: dict[str, list[float]] = {}
    for k in sizes:
        r2 = total - k if total else 0
        search = partial(
            ColumnSelector, k, n_components=r2, criterion=SCHATTEN, time_limit=LIMIT, n_jobs=1
        )
        error_of = partial(reconstruction_error, X, criterion=SCHATTEN, n_components=r2)
        found = {
            ALL_SETS: exhaustive_seconds(X.shape[1], k, error_of),
            OPTIMAL: search_seconds(search(search="optimal"), X, proven=True),
        }
        for weight in weights:
            weighted = search(search="weighted", epsilon=weight)
            found[f"weight {weight:g}"] = search_seconds(weighted, X, proven=False)
        for name, value in found.items():
            seconds.setdefault(name, []).append(value)
    return Timed(sizes, seconds)


def removals(X: np.ndarray, sizes: Sequence[int], r: int, weight: float) -> Timed:
    """Rows removed before r uncentred components are fitted."""
    seconds: dict[str, list[float]] = {}
    for k in sizes:
        search = partial(RobustPCA, r, n_outliers=k, centering="none", time_limit=LIMIT)
        found = {
            ALL_SETS: exhaustive_seconds(len(X), k, lambda rows: tail_error(X, rows, r)),
            OPTIMAL: search_seconds(search(random_state=0), X, proven=True),
            f"weight {weight:g}": search_seconds(
                search(search="weighted", epsilon=weight, random_state=0), X, proven=False
            ),
        }
        for name, value in found.items():
            seconds.setdefault(name, []).append(value)
    return Timed(sizes, seconds)


def tail_error(X: np.ndarray, removed: np.ndarray, r: int) -> float:
    """Squared error of the other rows by their r principal vectors, uncentred."""
    sigma = np.linalg.svd(np.delete(X, removed, axis=0), compute_uv=False)
    return float(np.sum(sigma[r:] ** 2))


@cache
def measured(data: Data, table: str) -> Timed:
    """The times of one figure."""
    return MEASURES[table](data)


MEASURES: dict[str, Callable[[Data], Timed]] = {
    "xu-fig5.2": lambda data: selections(data.matrix("libras"), (1, 2, 3, 4), 0, (0.2, 0.4, 0.8)),
    "he-fig3.4": lambda data: selections(data.matrix("vehicle"), range(1, 10), 10, (1.0,)),
    "he-fig4.2": lambda data: removals(data.matrix("vehicle").T.copy(), range(1, 10), 3, 1.0),
}
NEEDS = {"xu-fig5.2": "libras", "he-fig3.4": "vehicle", "he-fig4.2": "vehicle"}
FASTER = "significantly faster"
SAID = {"xu-fig5.2": "about 10,000 times faster", "he-fig3.4": FASTER, "he-fig4.2": FASTER}
OUR_TIMES = "ours is an estimate for our own evaluation of one set, on another machine"


def timing_cells(table: str, run: Run) -> Iterator[Cell]:
    """What the text says of a figure: a proof against all sets, a weight against a proof."""
    places = ("the optimal search against all sets", "a weighted search against the optimal one")
    said = (SAID[table], FASTER)
    if run.quick:
        yield from (skipped(*cell) for cell in zip(places, said, strict=True))
        return
    try:
        run.data.matrix(NEEDS[table])
    except MissingData as missing:
        yield from (
            not_possible(*cell, str(missing), kind="statement")
            for cell in zip(places, said, strict=True)
        )
        return
    found = measured(run.data, table)
    least = 3000.0 if table == "xu-fig5.2" else 2.0  # half a power of ten below 10,000
    gain = found.ratio(ALL_SETS, OPTIMAL)
    yield claim(places[0], said[0], f"{gain:.3g} times over all sizes", gain > least, OUR_TIMES)
    weighted = [name for name in found.seconds if name not in (ALL_SETS, OPTIMAL)]
    gain = max(found.ratio(OPTIMAL, name) for name in weighted)
    why = "the proof takes milliseconds here, most of them to begin"
    yield claim(places[1], said[1], f"{gain:.3g} times over all sizes", gain > 2.0, why)


def timing_panels(table: str, run: Run) -> Iterator[Panel]:
    """The curves, as far as there are seconds."""
    found = measured(run.data, table)
    lines = {}
    for name, seconds in found.seconds.items():
        kept = [i for i, value in enumerate(seconds) if math.isfinite(value)]
        lines[name] = ([found.sizes[i] for i in kept], [max(seconds[i], 1e-4) for i in kept])
    what = "outliers" if table == "he-fig4.2" else "columns"
    yield Panel(NEEDS[table], what, "seconds", lines, log="y")


NOTE = (
    "The curves of the print have no numbers: what the text says of them is checked. The time for "
    f"all sets is that of one, measured on {SAMPLE} of them, times their number; ours is the plain "
    "evaluation, one set after the other. Processor seconds of one thread; a proof has "
    f"{LIMIT:g} s."
)
TABLES = tuple(
    PrintedTable(
        name, title, partial(timing_cells, name), NOTE, partial(timing_panels, name)
    )
    for name, title in (
        ("xu-fig5.2", "Time of optimal and weighted selection on libras, Schatten p = 0.25"),
        ("he-fig3.4", "Time of columns and components on vehicle, ten together, Schatten p = 0.25"),
        ("he-fig4.2", "Time of the best outliers among the columns of vehicle, three components"),
    )
)  # fmt: skip
