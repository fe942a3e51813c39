"""What does an exchange cost?

Both start from the same random selection and make the best exchange of one column each time,
on the same reduced matrix, by one thread (processor time). The table values all exchanges at
once and is updated after each; the reference rebuilds, for every chosen column, the
projection without it and the gains of all candidates, in plain NumPy matrix products.
"Step" is one exchange; "whole" is everything from the start to the check that no exchange
improves, which counts as one more. The second table has what the certified search does for its
first choice (compiled greedy steps, then the chosen columns exchanged in turn) beside forward
steps and exchanges by table.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of
from columnist.criteria import Frobenius
from columnist.linalg._reduce import Reduced, reduce_data
from columnist.search._incumbent import exchange, greedy
from columnist.selection._columns import column_problem
from columnist.selection._swaps import add_columns, exchange_columns

__all__ = ["TITLE", "compare", "rows", "tables"]

TITLE = "Cost of an exchange against recomputing every position (one thread, Frobenius)"

SIZES = {"wdbc": (10, 15), "madelon": (20, 60, 100), "isolet5": (20, 60, 100), "generated": (50,)}
QUICK_SIZES = {"wdbc": (10,), "madelon": (20,), "isolet5": (20,), "generated": (20,)}
# The issue asks for at least this ratio per exchange.
TARGET = 5


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set and size."""
    sizes = QUICK_SIZES if quick else SIZES
    with threadpool_limits(1, user_api="blas"):
        return [
            compare(name, reduce_data(X), k, 0.2 if quick else 2.0)
            for name, X in matrices(sets, sizes)
            for k in sizes[name]
        ]


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """The exchanges, and the first choice of the certified search."""
    names, own = ("set", "columns", "k"), ("greedy, in turn [ms]", "forward, table [ms]")
    last = (*own, "ratio first choice", "error table / turn")
    return {
        "One exchange": [{key: row[key] for key in row if key not in last} for row in rows],
        "First choice": [{key: row[key] for key in (*names, *last)} for row in rows],
    }


def matrices(sets: Sets, names) -> Iterator[tuple[str, np.ndarray]]:
    """The sets that can be had, and a generated one: 2000 x 500, decaying spectrum."""
    yield from sets.these(*(name for name in names if name != "generated"))
    if "generated" in names and (not sets.only or "generated" in sets.only):
        rng = np.random.default_rng(0)
        mixing = rng.standard_normal((500, 500)) / np.arange(1, 501)[:, None]
        yield "generated", rng.standard_normal((2000, 500)) @ mixing


def compare(name: str, reduced: Reduced, k: int, budget: float, recomputed: int = 3) -> Row:
    """The table on the whole way, the reference on its first ``recomputed`` exchanges."""
    columns, weights = reduced.columns, reduced.weights
    start = np.random.default_rng(0).choice(len(columns), k, replace=False).tolist()
    clock = time.process_time

    def ours(most: float = np.inf):
        return exchange_columns(columns, weights, start, max_swaps=most)

    seconds, (_, errors) = best_of(ours, budget, least=3, clock=clock)
    swaps = len(errors) - 1
    first, _ = best_of(lambda: ours(0), budget / 4, least=3, clock=clock)
    last, _ = best_of(lambda: ours(swaps), budget / 4, least=3, clock=clock)
    most = min(recomputed, swaps)
    reference, (chosen, theirs) = best_of(
        lambda: recomputing(columns, weights, start, most), budget, clock=clock
    )
    agree = ours(most)[0] == chosen and np.allclose(errors[: most + 1], theirs, rtol=1e-9)
    whole, step = seconds / (swaps + 1), (last - first) / max(swaps, 1)
    each = reference / max(most, 1)
    return {
        "set": name,
        "columns": len(columns),
        "k": k,
        "exchanges": swaps,
        "step [ms]": 1e3 * step,
        "whole [ms]": 1e3 * whole,
        "recomputing [ms]": 1e3 * each,
        "ratio step": each / step,
        "ratio whole": each / whole,
        "target": TARGET,
        "same exchanges": bool(agree),
        **in_turn(reduced, k, budget),
    }


def recomputing(columns, weights, start, most: int) -> tuple[list[int], list[float]]:
    """The best exchange, ``most`` times: for every position a new projection and all gains."""
    chosen, errors = sorted(start), [energy_without(columns, weights, start)]
    lengths = np.einsum("ij,ij->i", columns, columns)
    for _ in range(most):
        best = (np.inf, 0, 0)
        for position in range(len(chosen)):
            rest = chosen[:position] + chosen[position + 1 :]
            Q = np.linalg.qr(columns[rest].T)[0]
            residual = columns - (columns @ Q) @ Q.T
            g = np.einsum("ij,ij->i", residual, residual)
            f = np.square(residual) @ weights
            gains = np.divide(f, g, out=np.zeros_like(f), where=g > 1e-18 * lengths)
            gains[rest] = 0.0
            error = weights @ (1.0 - np.einsum("ij,ij->i", Q, Q)) - gains.max()
            best = min(best, (float(error), position, int(gains.argmax())))
        chosen[best[1]] = best[2]
        errors.append(energy_without(columns, weights, chosen))
    return sorted(chosen), errors


def energy_without(columns, weights, chosen) -> float:
    """Error of a selection, from a new QR of its columns."""
    Q = np.linalg.qr(columns[list(chosen)].T)[0]
    return float(weights @ (1.0 - np.einsum("ij,ij->i", Q, Q)))


def in_turn(reduced: Reduced, k: int, budget: float) -> Row:
    """Greedy and exchanges as the certified search makes them, beside the same by table."""
    columns, weights = reduced.columns, reduced.weights
    everything = np.arange(len(columns))
    problem = column_problem(reduced, k, criterion=Frobenius())
    clock = time.process_time

    def searched():
        return exchange(problem, greedy(problem, [], everything), [], everything)

    def tabled():
        return exchange_columns(columns, weights, add_columns(columns, weights, [], everything, k))

    turn, chosen = best_of(searched, budget / 2, clock=clock)
    table, (tabled_chosen, _) = best_of(tabled, budget / 2, clock=clock)
    return {
        "greedy, in turn [ms]": 1e3 * turn,
        "forward, table [ms]": 1e3 * table,
        "ratio first choice": turn / table,
        "error table / turn": problem.value(tabled_chosen) / problem.value(chosen),
    }
