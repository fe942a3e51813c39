"""``--dask``: a cluster of this machine, or the one behind an address."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from typer.core import TyperCommand

from columnist.cli._errors import BadInput, Failed
from columnist.cli._output import Screen

__all__ = ["LOCAL", "DaskCommand", "on_cluster"]

LOCAL = "local"
_OPTION = "--dask"
_ADDRESS = re.compile(r"[a-z]+://\S+|[\w.-]+:\d{1,5}")
# Seconds to wait for a scheduler, and for its first worker.
_PATIENCE = 10


class DaskCommand(TyperCommand):
    """A command whose option ``--dask`` takes an address, or none."""

    def parse_args(self, ctx, args):
        """Parse, with a value for ``--dask`` in any case."""
        return super().parse_args(ctx, _with_value(args))


def _with_value(arguments: Sequence[str]) -> list[str]:
    """What follows ``--dask`` is its value only if it looks like an address: it may be a file."""
    found: list[str] = []
    rest = list(arguments)
    while rest and rest[0] != "--":
        argument = rest.pop(0)
        if argument == _OPTION:
            address = bool(rest and _ADDRESS.fullmatch(rest[0]))
            argument = f"{_OPTION}={rest.pop(0) if address else LOCAL}"
        found.append(argument)
    return found + rest


@contextmanager
def on_cluster(address: str, screen: Screen) -> Iterator[None]:
    """Dask computes there, until the end of the block."""
    if address != LOCAL and not _ADDRESS.fullmatch(address):
        raise BadInput(f"--dask takes an address such as tcp://127.0.0.1:8786; got {address!r}.")
    with ExitStack() as stack:
        stack.enter_context(_silence())
        try:
            from distributed import Client

            from columnist.distributed import ClusterError
        except ImportError as error:
            raise BadInput(f"--dask needs Dask: pip install 'columnist[dask]' ({error})") from None
        scheduler = stack.enter_context(_local_cluster()) if address == LOCAL else address
        try:
            client = stack.enter_context(Client(scheduler, timeout=_PATIENCE))
        except (OSError, TimeoutError, ValueError) as error:
            raise BadInput(f"--dask {address}: no Dask scheduler answers there.") from error
        if address == LOCAL:
            client.register_plugin(_deaf_plugin())
        _check_workers(client, address)
        _show_dashboard(client, screen)
        try:
            yield
        except ClusterError as error:
            raise Failed(str(error)) from error


@contextmanager
def _silence() -> Iterator[None]:
    """What goes wrong is said once, by an exception."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def _local_cluster() -> Iterator[object]:
    """One process per core, of one thread each; nobody from elsewhere can reach them."""
    from distributed import LocalCluster

    try:
        cluster = LocalCluster(
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL + 1,
        )
    except (OSError, RuntimeError) as error:
        raise Failed(f"no Dask cluster could be started here: {error}") from error
    with cluster:
        yield cluster


def _has_dashboard() -> bool:
    import importlib.util

    return importlib.util.find_spec("bokeh") is not None


def _deaf_plugin():
    """For workers that share a terminal with this process: Ctrl-C is not meant for them."""
    from distributed import WorkerPlugin

    class Deaf(WorkerPlugin):
        name = "columnist-deaf"

        def setup(self, worker) -> None:
            import signal

            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Deaf()


def _check_workers(client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise BadInput(f"--dask {address}: the scheduler has no workers; start some.") from None


def _show_dashboard(client, screen: Screen) -> None:
    if "dashboard" in client.scheduler_info().get("services", {}) and _has_dashboard():
        screen.passing("dashboard", client.dashboard_link)
