"""The same estimators on Dask arrays and dataframes, out of core or on a cluster.

Pass a Dask collection to ``fit`` and nothing else changes: the estimators of this package visit
its blocks where they are and merge small sums. This module holds what else is needed around
that: readers of files larger than memory, sums over streams, and counters of work and traffic.
"""

from __future__ import annotations

import importlib

__all__ = [
    "ChunkWarning",
    "ClusterError",
    "Collection",
    "Cost",
    "RunningMoments",
    "column_norms",
    "count_cost",
    "least_squares",
    "moments",
    "open_collection",
    "randomized_svd",
    "row_leverages",
    "search_on",
    "tall_qr",
    "watch",
]

_HOMES = {
    "ChunkWarning": "chunks",
    "ClusterError": "run",
    "Collection": "files",
    "Cost": "cost",
    "RunningMoments": "running",
    "column_norms": "reductions",
    "count_cost": "cost",
    "least_squares": "reductions",
    "moments": "reductions",
    "open_collection": "files",
    "randomized_svd": "reductions",
    "row_leverages": "reductions",
    "search_on": "workers",
    "tall_qr": "reductions",
    "watch": "run",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}._{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
