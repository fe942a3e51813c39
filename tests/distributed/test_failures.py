"""What happens when workers, the scheduler, the data or the user give up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from columnist import ColumnSelector
from columnist.distributed import ClusterError
from columnist.distributed import _run as run
from columnist.selection import ForwardSelector

# Seconds after which something hangs, however busy the machine: nothing is decided by the clock.
_PATIENCE = 600.0


def data(n_rows: int = 60, n_columns: int = 6) -> np.ndarray:
    rng = np.random.default_rng(8)
    return rng.standard_normal((n_rows, 3)) @ rng.standard_normal((3, n_columns)) + (
        0.1 * rng.standard_normal((n_rows, n_columns))
    )


def until(condition, what: str) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{what} never happened"
        time.sleep(0.01)


def held(block, folder: str, block_info=None):
    """A block that says which process has it, and waits for the file ``go``."""
    if block_info is not None:
        number = block_info[0]["chunk-location"][0]
        Path(folder, f"block{number}-{os.getpid()}").touch()
        until(Path(folder, "go").exists, "go")
    return block


def held_up(X: np.ndarray, n_blocks: int, folder) -> da.Array:
    chunks = (-(-len(X) // n_blocks), X.shape[1])
    return da.from_array(X, chunks=chunks).map_blocks(
        held, str(folder), dtype=X.dtype, meta=np.empty((0, 0))
    )


def started(folder) -> list[Path]:
    return list(Path(folder).glob("block*"))


@contextmanager
def meanwhile(action):
    """Something that another thread does."""
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    yield
    thread.join(_PATIENCE)
    assert not thread.is_alive()


@contextmanager
def interrupted_by(condition, monkeypatch):
    """Ctrl-C once something is true, and again as long as it gets lost.

    An interrupt that arrives while a finalizer runs, say during a garbage collection, ends that
    finalizer and nothing else: Python reports it as an exception that nobody could catch.
    """
    lost, over, report = threading.Event(), threading.Event(), sys.unraisablehook

    def note(unraisable):
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            lost.set()
        else:
            report(unraisable)

    def interrupt():
        until(condition, "the moment to interrupt")
        lost.set()
        while not over.wait(0.05):
            if lost.is_set():
                lost.clear()
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(sys, "unraisablehook", note)
    with meanwhile(interrupt):
        try:
            yield
        finally:
            over.set()


def test_a_worker_that_dies_changes_nothing(new_cluster, tmp_path):
    X = data()
    expected = ColumnSelector(2).fit(X)
    killed = []

    def kill():
        until(lambda: started(tmp_path), "a visit")
        killed.append(int(started(tmp_path)[0].name.partition("-")[2]))
        os.kill(killed[0], signal.SIGKILL)
        (tmp_path / "go").touch()

    with new_cluster(2) as client:
        with meanwhile(kill):
            selector = ColumnSelector(2).fit(held_up(X, 6, tmp_path))
        client.wait_for_workers(2, timeout=_PATIENCE)
    assert killed
    np.testing.assert_array_equal(selector.selected_, expected.selected_)
    np.testing.assert_allclose(selector.error_, expected.error_, rtol=1e-10)
    again = {name.name.partition("-")[0] for name in started(tmp_path)}
    assert len(started(tmp_path)) > len(again) == 6  # the lost block was visited once more


def deadly(block, block_info=None):
    if block_info is not None and block_info[0]["chunk-location"][0] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_block_that_kills_its_workers(new_cluster):
    X = da.from_array(data(), chunks=(20, 6)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    with new_cluster(1, {"distributed.scheduler.allowed-failures": 0}) as client:
        with pytest.raises(ClusterError, match="smaller chunks"):
            ColumnSelector(2).fit(X)
        client.wait_for_workers(1, timeout=_PATIENCE)


@contextmanager
def scheduler_process(folder):
    """Address of a scheduler with one worker, both processes of their own."""
    address = Path(folder, "scheduler.json")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def start(program: str, *options: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{program}", "--host", "127.0.0.1",
             "--no-dashboard", "--scheduler-file", str(address), *options],
            env={**os.environ, **path}, cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    scheduler = start("dask_scheduler", "--port", "0")
    worker = start("dask_worker", "--no-nanny", "--nthreads", "1")
    try:
        until(address.exists, "the start of the scheduler")
        yield scheduler, str(address)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.cluster
def test_the_scheduler_goes_away(tmp_path):
    X = data()
    selector = ForwardSelector(2).fit(X)
    before = {name: np.array(value) for name, value in vars(selector).items()}
    with scheduler_process(tmp_path) as (scheduler, file):
        client = Client(scheduler_file=file, set_as_default=False, timeout=_PATIENCE)

        def kill():
            until(lambda: started(tmp_path), "a visit")
            scheduler.kill()

        with meanwhile(kill), client.as_current():
            with pytest.raises(ClusterError, match="stopped before the work was done"):
                selector.fit(held_up(-X[:, ::-1], 6, tmp_path))
        (tmp_path / "go").touch()
        with suppress(TimeoutError):
            client.close(timeout=1)  # there is nobody left to answer
    assert vars(selector).keys() == before.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(selector, name), value)


def spoiled(block, block_info=None):
    if block_info is not None and block_info[0]["chunk-location"][0] == 1:
        block = block.copy()
        block[3, 2] = np.nan
    return block


def unreadable(block, block_info=None):
    if block_info is not None:
        with open("/no/such/file"):
            pass
    return block


@pytest.mark.parametrize("where", ["threads", "cluster"])
@pytest.mark.parametrize(
    ("read", "error", "words"),
    [(spoiled, ValueError, "X contains NaN"), (unreadable, FileNotFoundError, "no/such")],
)
def test_errors_of_the_data_stay_what_they_are(request, where, read, error, words):
    X = da.from_array(data(), chunks=(20, 6)).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    if where == "threads":
        with pytest.raises(error, match=words):
            ColumnSelector(2).fit(X)
        return
    with request.getfixturevalue("cluster").as_current():
        with pytest.raises(error, match=words):
            ColumnSelector(2).fit(X)


def test_an_interrupted_pass_is_cancelled(cluster, tmp_path, monkeypatch):
    X = held_up(data(), 12, tmp_path)
    try:
        with interrupted_by(lambda: started(tmp_path), monkeypatch):
            with pytest.raises(KeyboardInterrupt):
                ColumnSelector(2).fit(X)
    finally:
        (tmp_path / "go").touch()  # the workers are everybody's
    until(lambda: not any(cluster.processing().values()), "the end of all work")
    assert len(started(tmp_path)) < 12


def test_workers_without_memory_do_not_wait_for_ever(tmp_path, monkeypatch):
    """Workers in this process find it full already, and take up no work at all."""
    monkeypatch.setattr(run, "_PAUSED", 1.0)
    X = da.from_array(np.random.default_rng(0).standard_normal((60, 4)), chunks=(20, 4))
    with (
        dask.config.set({"temporary-directory": str(tmp_path)}),
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, memory_limit="64MiB",
            dashboard_address="127.0.0.1:0", silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        client.as_current(),
    ):  # fmt: skip
        until(lambda: run._all_paused(client), "the pause")
        with pytest.raises(ClusterError, match="smaller chunks"):
            ForwardSelector(2).fit(X)
