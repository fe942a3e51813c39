"""Real clusters of worker processes for the tests of this folder."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager

import pytest

if importlib.util.find_spec("distributed") is None:
    collect_ignore_glob = ["test_*.py"]


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


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A client of two worker processes, started once, for tests that leave them as they are.

    It is the current client in the tests that ask for it, and in no others: those run on the
    local schedulers.
    """
    with running_cluster(tmp_path_factory.mktemp("cluster"), 2) as client:
        yield client


@pytest.fixture(autouse=True)
def _current_client(request):
    if "cluster" not in request.fixturenames:
        yield
        return
    with request.getfixturevalue("cluster").as_current():
        yield


@pytest.fixture(scope="session")
def new_cluster(tmp_path_factory):
    """Throw-away clusters: ``with new_cluster(3) as client:`` starts three workers.

    ``settings`` are those of Dask's configuration, by their dotted names.
    """

    @contextmanager
    def start(n_workers: int, settings: dict | None = None):
        folder = tmp_path_factory.mktemp("cluster")
        with running_cluster(folder, n_workers, settings) as client, client.as_current():
            yield client

    return start
