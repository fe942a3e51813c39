"""The same estimators on Dask arrays and dataframes, out of core or on a cluster.

Pass a Dask collection to ``fit``: the estimators of this package process its blocks on the workers
and merge small sums. This module has the readers of files larger than memory, sums over streams,
and progress of the computation.
"""

from __future__ import annotations

import importlib

_HOMES = {
    "ChunkWarning": "blocks",
    "ClusterError": "run",
    "Collection": "files",
    "RunningMoments": "moments",
    "moments": "moments",
    "open_collection": "files",
    "search_on": "run",
    "watch": "run",
}
__all__ = [*_HOMES]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}._{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
