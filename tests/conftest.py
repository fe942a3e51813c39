"""Settings shared by all tests."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager

import hypothesis
import pytest

from tests.clocks import Clock
from tests.clusters import running_cluster
from tests.examples import scale_examples

# Figures are drawn without a display.
os.environ.setdefault("MPLBACKEND", "Agg")

# Help has no colours where it is read by a test: these ask for them wherever it goes.
for _name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)

# Examples differ widely in cost, so no deadline. Continuous integration repeats the same
# examples at every run; elsewhere each run explores new ones.
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "explore")
)

# Files whose tests share the cluster of a run: they stay in one process.
_ON_THE_CLUSTER = ("tests/distributed/", "tests/cli/test_dask.py")


def pytest_configure(config):
    """Hear Ctrl-C also where a shell has started the run in the background, with it ignored."""
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(config, val, argname):
    """Name cases of bytes by their argument: bytes may hold a clock, and processes must agree."""
    return argname if isinstance(val, bytes) else None


def pytest_generate_tests(metafunc):
    """Turn the knob for the number of examples on each test with Hypothesis."""
    scale_examples(metafunc.function)


@pytest.hookimpl(tryfirst=True)  # before the marks choose among the tests
def pytest_collection_modifyitems(items):
    """Mark what uses worker processes; to start some for one test alone is slow."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"cluster", "new_cluster"}:
            item.add_marker(pytest.mark.cluster)
        if "new_cluster" in fixtures:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a file in one process, which reads its data once, and so the cluster's."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            on_the_cluster = nodeid.startswith(_ON_THE_CLUSTER)
            return "cluster" if on_the_cluster else super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.fixture
def clock(monkeypatch):
    """A clock in place of the real one that only the test moves on."""
    return Clock(monkeypatch)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A client of two worker processes, started once, for tests that leave them as they are.

    In ``tests/distributed`` it is the current client in the tests that ask for it, and in no
    others: those run on the local schedulers.
    """
    with running_cluster(tmp_path_factory.mktemp("cluster"), 2) as client:
        yield client


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
