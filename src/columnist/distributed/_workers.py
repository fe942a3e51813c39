"""Workers of a Dask cluster as helpers of searches."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from columnist.distributed._run import cluster_errors
from columnist.distributed._warn import warn_caller
from columnist.search._workers import use_workers

__all__ = ["DaskWorkers", "search_on"]


@contextmanager
def search_on(client) -> Iterator[None]:
    """Let the workers of a cluster help with long searches over data in memory.

    Searches over Dask collections use the current cluster anyway. Selections and certificates
    are the same; a search that ends within a second or so is done here.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from columnist import ColumnSelector
    >>> from columnist.distributed import search_on
    >>> X = load_breast_cancer().data
    >>> with (
    ...     Client(
    ...         n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ...     ) as client,
    ...     search_on(client),
    ... ):
    ...     selector = ColumnSelector(3, centering="mean").fit(X)
    >>> selector.certificate_.status
    'optimal'
    """
    with use_workers(DaskWorkers(client)):
        yield


def _call(function: Callable, shared: Any, packed: bytes) -> bytes:
    return pickle.dumps(function(shared, pickle.loads(packed)), protocol=5)


def _wait(future, until: float) -> bytes:
    if np.isinf(until):
        return future.result()
    return future.result(timeout=max(until - time.perf_counter(), 1e-3))


class DaskWorkers:
    """The workers of a client's cluster; see :class:`columnist.search._workers.Workers`."""

    def __init__(self, client):
        self._client = client
        self._gone = False
        self._shared: Any = None  # what was sent last, and where it is
        self._sent: Any = None

    @property
    def count(self) -> int:
        """Threads of all workers."""
        if self._gone:
            return 0
        try:
            with cluster_errors(self._client):
                if self._client.status != "running":
                    raise ConnectionError("no connection")
                return sum(self._client.nthreads().values())
        except Exception as error:
            self._give_up(error)
            return 0

    def map(self, function: Callable, shared: Any, items: Sequence, until: float) -> Iterator:
        """Results in order; None for all that does not come back, or not in time."""
        futures: list = []
        left = len(items)
        try:
            with cluster_errors(self._client):
                sent = self._send(shared)
                # Many small arrays travel faster in one piece.
                packed = [pickle.dumps(item, protocol=5) for item in items]
                futures = self._client.map(
                    _call, [function] * left, [sent] * left, packed, pure=False
                )
                while left:
                    packed_result = _wait(futures[-left], until)
                    left -= 1
                    yield pickle.loads(packed_result)
        except Exception as error:
            late = isinstance(error, TimeoutError) and time.perf_counter() >= until
            if not late:
                self._give_up(error)
            yield from [None] * left
        finally:
            if left and self._client.status == "running":
                self._client.cancel(futures, force=True)

    def _send(self, shared: Any):
        if self._shared is not shared:
            self._sent = self._client.scatter(shared, broadcast=True, hash=False)
            self._shared = shared
        return self._sent

    def _give_up(self, error: Exception) -> None:
        """Whatever went wrong there, here the search can go on."""
        self._gone = True
        warn_caller(
            f"The Dask cluster no longer helps with the search, which goes on here: {error}",
            RuntimeWarning,
        )
