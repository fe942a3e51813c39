"""Computations on blocks as Dask tasks, and the workers of a cluster as helpers of searches."""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import dask.base
import numpy as np
import scipy.sparse as sp
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from columnist._warn import warn_caller
from columnist.linalg._threads import single_threaded_blas
from columnist.search._workers import use_workers

# Results merged by one task: trees of few levels that still keep few results in memory.
_FAN_IN = 8
# Blocks that are on their way here at the same time.
_IN_FLIGHT = 8
# Seconds between two looks at tasks that run elsewhere.
_TICK = 0.2
# Seconds after which workers that all have paused will not go on.
_PAUSED = 60.0
# Arrays that are sent along with the blocks are large by Dask's default.
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "10GB"}
# What Dask raises when a cluster cannot do its work, by name: not all are in every version.
_REASONS = {
    "KilledWorker": "The same task stopped several workers of the Dask cluster, most likely "
    "because they ran out of memory. Use smaller chunks, or workers with more memory each.",
    "NoWorkerError": "The Dask cluster has no workers left. Start some, and fit again.",
    "NoValidWorkerError": "No worker of the Dask cluster can take the task. Start others, and fit "
    "again.",
}


class ClusterError(RuntimeError):
    """The Dask cluster was lost, or repeatedly failed on the same work."""


class _Watch:
    """Progress of the passes over blocks, for a callback."""

    def __init__(self, callback: Callable[[int, int], object]):
        self.callback = callback
        self.planned = self.done = self.total = 0
        self.topic = self._next = ""
        self._told = (0.0, (-1, -1))

    def plan(self) -> str:
        """One visit more for the next pass; the topic where it announces its end."""
        self.planned += 1
        self._next = self._next or f"columnist-visits-{uuid.uuid4().hex}"
        return self._next

    def start(self) -> None:
        """A pass of all planned visits begins."""
        self.done, self.total, self.planned = 0, self.planned, 0
        # What is announced late must not count for the next pass.
        self.topic, self._next = self._next, ""
        self.tell()

    def tell(self) -> None:
        """Report progress, at most a few times a second; a repeated visit counts once."""
        state = min(self.done, self.total), self.total
        now, (before, last) = time.perf_counter(), self._told
        if state != last and (state[0] in (0, self.total) or now - before >= _TICK):
            self._told = now, state
            self.callback(*state)


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watch(callback: Callable[[int, int], object]) -> Iterator[None]:
    """Monitor the passes over blocks within a context.

    Parameters
    ----------
    callback : callable
        Receives the number of visits done and the number of all visits, a few times a second;
        both start again with every pass over the data. An exception in it ends the computation.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from columnist.distributed import watch
    >>> from columnist.selection import ForwardSelector
    >>> X = da.from_array(np.random.default_rng(0).standard_normal((1000, 5)), chunks=(250, 5))
    >>> seen = []
    >>> with watch(lambda done, total: seen.append((done, total))):
    ...     selector = ForwardSelector(2).fit(X)
    >>> seen[0], seen[-1]
    ((0, 4), (4, 4))
    """
    token = _WATCH.set(_Watch(callback))
    try:
        yield
    finally:
        _WATCH.reset(token)


_OBSERVER: ContextVar[Any] = ContextVar("observer", default=None)


@contextmanager
def observed(observer) -> Iterator[None]:
    """Let an observer run all visits and merges within a context, and report other transfers to it.

    ``visit(visit, block, parts)`` and ``merge(merge, results)`` run where the blocks are and may
    wrap what they return (a pair in something that ``[0]`` and ``[1]`` take apart);
    ``settle(results, seconds)`` unwraps it here; ``hear(event, value)`` is called for each
    transfer.
    """
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def tell(event: str, value: Any) -> None:
    """Report to the observer, if there is one."""
    observer = _OBSERVER.get()
    if observer is not None:
        observer.hear(event, value)


def visit_task(visit, block, *parts) -> Delayed:
    """Task that visits one block; ``visit`` itself is a delayed object, shared by all."""
    watcher = _WATCH.get()
    topic = None if watcher is None else watcher.plan()
    return _visited(visit, block, list(parts), topic, _OBSERVER.get())


def merge_tree(merge, tasks: Sequence[Delayed]) -> Delayed:
    """Merge the results of tasks, a few at a time."""
    tasks, levels, observer = list(tasks), 0, _OBSERVER.get()
    while len(tasks) > 1:
        groups = [tasks[i : i + _FAN_IN] for i in range(0, len(tasks), _FAN_IN)]
        tasks = [_merged(merge, g, observer) if len(g) > 1 else g[0] for g in groups]
        levels += 1
    tell("levels", levels)
    return tasks[0]


def compute(tasks: Sequence[Delayed]) -> list:
    """Run tasks, on the current cluster if there is one; what a task raises is raised here."""
    started = time.perf_counter()
    client, watcher, observer = cluster_client(), _WATCH.get(), _OBSERVER.get()
    if watcher is not None:
        watcher.start()
    with single_threaded_blas():
        results = _run_here(tasks, watcher) if client is None else _run(client, tasks, watcher)
    if watcher is not None:
        watcher.done = watcher.total
        watcher.tell()
    if observer is not None:
        results = observer.settle(results, time.perf_counter() - started)
    return list(results)


def compute_in_turn(visit: Delayed, rows: Sequence) -> Iterator:
    """Results of visits to many blocks, each with its parts; a few of them in flight."""
    watcher = _WATCH.get()
    for start in range(0, len(rows), _IN_FLIGHT):

        def tell_all(done: int, _: int, start=start) -> None:
            if watcher is not None:
                watcher.callback(start + done, len(rows))

        with watch(tell_all):
            results = compute([visit_task(visit, *row) for row in rows[start : start + _IN_FLIGHT]])
        yield from results


def as_matrix(block: Any) -> Any:
    """A block as visitors expect it: a NumPy array or a SciPy sparse array."""
    if isinstance(block, (int, float)):
        return block
    if hasattr(block, "to_numpy"):  # a pandas object
        block = block.to_numpy()
    elif hasattr(block, "to_scipy_sparse"):  # an array of the library sparse
        block = block.to_scipy_sparse()
    return sp.csr_array(block) if sp.issparse(block) else np.asarray(block)


@delayed
def _visited(visit: Callable, block, parts: list, topic: str | None, observer) -> Any:
    block = as_matrix(block)
    parts = [as_matrix(part) for part in parts]
    result = visit(block, *parts) if observer is None else observer.visit(visit, block, parts)
    if topic is not None:
        from distributed import get_worker

        with suppress(ValueError):  # no worker of a cluster
            get_worker().log_event(topic, 1)
    return result


@delayed
def _merged(merge: Callable, results: list, observer) -> Any:
    return merge(results) if observer is None else observer.merge(merge, results)


# -- on this machine --------------------------------------------------------------


def _run_here(tasks: Sequence[Delayed], watcher: _Watch | None) -> Sequence:
    if watcher is None:
        return dask.base.compute(*tasks)

    def finished(key, *_):
        if isinstance(key, str) and key.startswith("_visited-"):
            watcher.done += 1
            watcher.tell()

    with Callback(posttask=finished):
        return dask.base.compute(*tasks)


# -- on a cluster -----------------------------------------------------------------


def cluster_client():
    """The client of the current Dask cluster; None where Dask would compute in this process."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _run(client, tasks: Sequence[Delayed], watcher: _Watch | None) -> Sequence:
    """Results of tasks; they are cancelled if the wait ends early."""
    futures: list = []
    settings = dask.config.set(_SETTINGS)
    with settings, cluster_errors(client), _listening(client, watcher), _room_for_others():
        try:
            futures = client.compute(list(tasks))
            _wait(client, futures, watcher)
            return client.gather(futures)
        except BaseException:
            if client.status == "running":
                client.cancel(futures, force=True)
            raise


def _wait(client, futures: list, watcher: _Watch | None) -> None:
    """Until all are done, or one has failed."""
    from distributed import wait

    moving = time.perf_counter()
    while True:
        try:
            wait(futures, timeout=_TICK)
            return
        except TimeoutError:
            pass
        if watcher is not None:
            watcher.tell()
        if any(future.status not in ("pending", "finished") for future in futures):
            return
        if client.status == "closed":
            raise CancelledError
        if not _all_paused(client):
            moving = time.perf_counter()
        elif time.perf_counter() - moving > _PAUSED:
            raise ClusterError(
                f"All workers of the Dask cluster have paused for {_PAUSED:g} s: their memory is "
                "full. Use smaller chunks, or workers with more memory each."
            )


def _all_paused(client) -> bool:
    """Whether no worker takes up work, as they do when their memory is full."""
    workers = client.scheduler_info().get("workers", {}).values()
    return bool(workers) and all(worker.get("status") == "paused" for worker in workers)


@contextmanager
def cluster_errors(client) -> Iterator[None]:
    """Say in one way that the cluster failed; errors of the tasks pass."""
    try:
        yield
    except CancelledError as error:
        raise _gone(client) from error
    except Exception as error:
        name = type(error).__name__
        if name in _REASONS:
            raise ClusterError(_REASONS[name]) from error
        if client.status != "running":
            raise _gone(client) from error
        raise


def _gone(client) -> ClusterError:
    if client.status == "running":
        return ClusterError(
            "The Dask cluster dropped the work before it was done, as it does when it is "
            "restarted. Fit again."
        )
    address = getattr(client.scheduler, "address", None) or "its address"
    return ClusterError(
        f"The Dask scheduler at {address} stopped before the work was done. Start the "
        "cluster again, connect a new client, and fit again; or close the client to compute on "
        "this machine."
    )


@contextmanager
def _room_for_others() -> Iterator[None]:
    """A task that waits for other tasks leaves its thread to them."""
    from distributed import rejoin, secede

    try:
        secede()
    except (KeyError, AttributeError, ValueError):  # no task of a worker
        yield
        return
    try:
        yield
    finally:
        rejoin()


@contextmanager
def _listening(client, watcher: _Watch | None) -> Iterator[None]:
    """Count what the visits announce."""
    if watcher is None:
        yield
        return

    def heard(_event) -> None:
        watcher.done += 1

    client.subscribe_topic(watcher.topic, heard)
    try:
        yield
    finally:
        if client.status == "running":
            client.unsubscribe_topic(watcher.topic)


# -- workers ------------------------------------------------------------------------


@contextmanager
def search_on(client) -> Iterator[None]:
    """Use the workers of a cluster for long searches over data in memory.

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
                if self._shared is not shared:
                    self._sent = self._scattered(shared)
                    self._shared = shared
                # Many small arrays travel faster in one piece.
                packed = [pickle.dumps(item, protocol=5) for item in items]
                futures = self._client.map(
                    _call, [function] * left, [self._sent] * left, packed, pure=False
                )
                while left:
                    wait = max(until - time.perf_counter(), 1e-3)
                    packed_result = futures[-left].result(None if np.isinf(wait) else wait)
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

    def _scattered(self, shared: Any) -> Any:
        """What all tasks share, sent to every worker; again if one of them dies meanwhile."""
        for is_last in (False, False, True):
            try:
                return self._client.scatter(shared, broadcast=True, hash=False)
            except OSError:  # a closed connection, to the scheduler or to one of the workers
                if is_last or self._client.status != "running":
                    raise

    def _give_up(self, error: Exception) -> None:
        """Continue the search in this process."""
        self._gone = True
        warn_caller(
            f"The Dask cluster is lost; the search continues in this process: {error}",
            RuntimeWarning,
        )
