"""What do two threads gain?"""

from __future__ import annotations

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, busy, fit

__all__ = ["TITLE", "rows"]

TITLE = "Two threads against one (whole fit, best of the repeats)"

# Look-ahead within the span of the candidates, and, for the largest size, relaxation.
SIZES = {"libras": (8,), "spectf": (10, 30)}
QUICK_SIZES = {"libras": (5,), "spectf": (6,)}


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per problem."""
    sizes = QUICK_SIZES if quick else SIZES
    return [compare(name, X, k, quick) for name, X in sets.these(*sizes) for k in sizes[name]]


def compare(name: str, X, k: int, quick: bool) -> Row:
    """Both to the proof; they visit the same nodes."""
    limit, budget = (5.0, 0.0) if quick else (120.0, 15.0)

    def with_threads(n_jobs: int):
        return best_of(
            lambda: busy(lambda: fit(X, k, n_jobs=n_jobs, time_limit=limit)), budget, most=7
        )

    one_seconds, (_, one_cores, one) = with_threads(1)
    two_seconds, (_, two_cores, two) = with_threads(2)
    return {
        "set": name,
        "k": k,
        "proven": one.certificate_.is_optimal and two.certificate_.is_optimal,
        "nodes 1": one.certificate_.nodes_expanded,
        "nodes 2": two.certificate_.nodes_expanded,
        "1 thread [s]": one_seconds,
        "2 threads [s]": two_seconds,
        "cores 1": one_cores,
        "cores 2": two_cores,
        "ratio": one_seconds / two_seconds,
    }
