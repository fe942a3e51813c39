"""Real clusters of worker processes."""

from __future__ import annotations

from contextlib import contextmanager

__all__ = ["running_cluster"]


@contextmanager
def running_cluster(folder, n_workers: int, settings: dict | None = None):
    """A client of so many worker processes, all gone afterwards.

    Everything stays on this machine: no dashboard, a free port of the loopback device, spilled
    data in ``folder``.
    """
    import dask
    from distributed import Client, LocalCluster

    quiet = {
        "temporary-directory": str(folder),
        "distributed.worker.daemon": True,
        "distributed.comm.timeouts.connect": "120s",
        "distributed.admin.system-monitor.gil.enabled": False,
        **(settings or {}),
    }
    with (
        dask.config.set(quiet),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            memory_limit="1GiB",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
