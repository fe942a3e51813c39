"""Clusters of processes on this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["local_cluster"]


@contextmanager
def local_cluster(workers: int, memory: str = "2GiB") -> Iterator[Any]:
    """A client of worker processes with one thread each, on the loopback device."""
    import dask
    from distributed import Client, LocalCluster

    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"temporary-directory": folder}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=memory, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", worker_dashboard_address="127.0.0.1:0",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        yield client
