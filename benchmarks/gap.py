"""What is proven after a minute where the optimum is out of reach?"""

from __future__ import annotations

import sys

from benchmarks.data import Sets
from benchmarks.measure import Row, busy, fit

__all__ = ["TITLE", "rows"]

TITLE = "Proven gap after 60 s (Frobenius)"

SIZES = {
    "madelon": (20,),
    "isolet5": (20,),
    "isolet5+label": (20,),
    "spectf": (20, 30),
    "digits": (20, 30),
    "libras": (20,),
}
# One thread of the prototype, 60 s: the figures to beat.
PROTOTYPE = {"madelon": 1.8, "isolet5": 22.0}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per set, size and number of threads."""
    limit, threads = (2.0, (2,)) if quick else (60.0, (1, 2))
    names = list(SIZES)[:1] if quick else list(SIZES)
    return [
        prove(name, X, n_jobs, limit, k)
        for name, X in sets.these(*names)
        for k in SIZES[name]
        for n_jobs in threads
    ]


def prove(name: str, X, n_jobs: int, limit: float, k: int) -> Row:
    """The gap after ``limit`` seconds."""
    seconds, cores, selector = busy(lambda: fit(X, k, n_jobs=n_jobs, time_limit=limit))
    certificate = selector.certificate_
    print(f"  {name} k={k} n_jobs={n_jobs}: gap {certificate.gap:.4f}", file=sys.stderr, flush=True)
    return {
        "set": name,
        "columns": X.shape[1],
        "k": k,
        "threads": n_jobs,
        "seconds": seconds,
        "cores": cores,
        "error": certificate.error,
        "lower bound": certificate.lower_bound,
        "gap [%]": 100 * certificate.gap,
        "root gap [%]": 100 * root_gap(certificate),
        "prototype [%]": PROTOTYPE.get(name, ""),
        "nodes": certificate.nodes_expanded,
    }


def root_gap(certificate) -> float:
    """The gap that the first bound leaves to the final error."""
    return 1.0 - certificate.history[0]["bound"] / certificate.error
