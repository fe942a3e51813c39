"""Searches that the workers of a real cluster help with, against the same searches here."""

from __future__ import annotations

import os
import pickle
import signal
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client
from distributed.comm.core import CommClosedError
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from columnist import ColumnSelector, certify
from columnist.criteria import Criterion, get_criterion
from columnist.distributed import search_on
from columnist.distributed._run import DaskWorkers
from columnist.linalg._reduce import reduce_data
from columnist.search import _engine as engine
from columnist.search._problem import Demand
from columnist.selection._columns import column_problem

X = scale(load_breast_cancer().data)
BLOCKS = da.from_array(X, chunks=(150, X.shape[1]))


class LogEnergy(Criterion):
    """A user's own criterion."""

    name = "logenergy"

    def value(self, singular_values):
        return np.log1p(np.square(singular_values)).sum(axis=-1)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """The workers are asked from the first node on, for one node at a time: however fast nodes
    are, some are sent."""
    monkeypatch.setattr(engine, "_FAR_AFTER", 0.0)
    monkeypatch.setattr(engine, "_FAR_SECONDS", 0.0)


@pytest.fixture
def sent(monkeypatch):
    """Counts the tasks that were sent."""
    tasks = []
    plain = DaskWorkers.map

    def counting(self, function, shared, items, until):
        tasks.extend(items)
        return plain(self, function, shared, items, until)

    monkeypatch.setattr(DaskWorkers, "map", counting)
    return tasks


def assert_same(there, here):
    assert there.certificate_.status == here.certificate_.status == "optimal"
    np.testing.assert_array_equal(there.selected_, here.selected_)
    assert [tuple(s) for s in there.solutions_] == [tuple(s) for s in here.solutions_]
    np.testing.assert_allclose(there.error_, here.error_, rtol=1e-10)
    np.testing.assert_allclose(
        there.certificate_.lower_bound, here.certificate_.lower_bound, rtol=1e-9
    )


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 11},
        {"n_features_to_select": 9, "n_solutions": 5},
        {"n_features_to_select": 5, "criterion": "nuclear", "n_components": 1, "exclude": [0, 3]},
        {"n_features_to_select": 5, "criterion": LogEnergy(), "include": [2]},
    ],
)
def test_collections_are_searched_there(cluster, sent, options):
    there = ColumnSelector(**options, time_limit=None).fit(BLOCKS)
    assert sent
    assert_same(there, ColumnSelector(**options, time_limit=None).fit(X))


def test_without_a_cluster_nothing_is_sent(sent):
    assert_same(
        ColumnSelector(9, time_limit=None).fit(BLOCKS), ColumnSelector(9, time_limit=None).fit(X)
    )
    assert not sent


def test_data_in_memory(cluster, sent):
    here = ColumnSelector(11, time_limit=None).fit(X)
    assert not sent
    with search_on(cluster):
        there = ColumnSelector(11, time_limit=None).fit(X)
    assert sent
    assert_same(there, here)


def test_certify(cluster, sent):
    columns = [0, 2, 4, 7, 9, 11, 14, 18, 25, 28]
    there, here = certify(BLOCKS, columns), certify(X, columns)
    assert sent
    assert (there.status, there.better) == (here.status, here.better)
    np.testing.assert_allclose(there.lower_bound, here.lower_bound, rtol=1e-9)


@pytest.mark.parametrize("limit", [{"max_nodes": 300}, {"time_limit": 0.3}, {"max_gap": 1e-3}])
def test_limits(cluster, sent, limit):
    optimum = ColumnSelector(12, time_limit=None).fit(X).error_
    certificate = ColumnSelector(12, **limit).fit(BLOCKS).certificate_
    assert certificate.lower_bound <= optimum * (1 + 1e-9)
    assert optimum <= certificate.error * (1 + 1e-9)
    if "max_nodes" in limit:
        assert sent
        assert (certificate.status, certificate.nodes_expanded) == ("node_limit", 300)
    if "max_gap" in limit:
        assert certificate.gap <= 1e-3


class After:
    """Does something once, after so many nodes."""

    def __init__(self, nodes: int, action):
        self.nodes, self.action = nodes, action

    def __call__(self, progress):
        if self.action is not None and progress.expanded >= self.nodes:
            action, self.action = self.action, None
            action()


def test_the_cluster_goes_away_during_a_search(cluster, monkeypatch):
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    client = Client(cluster.scheduler.address, set_as_default=False)
    callback = After(100, client.close)
    with search_on(client), pytest.warns(RuntimeWarning, match="continues in this process"):
        there = ColumnSelector(11, time_limit=None, callback=callback).fit(X)
    assert callback.action is None
    assert_same(there, ColumnSelector(11, time_limit=None).fit(X))


def test_a_worker_dies_during_a_search(new_cluster, monkeypatch):
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    # Someone may just be asking the worker that dies: that takes as long as connecting may.
    with new_cluster(2, {"distributed.comm.timeouts.connect": "3s"}) as client:
        pid = next(iter(client.run(os.getpid).values()))
        callback = After(100, lambda: os.kill(pid, signal.SIGKILL))
        with search_on(client):
            there = ColumnSelector(11, time_limit=None, callback=callback).fit(X)
        client.wait_for_workers(2, timeout=60)
    assert callback.action is None
    assert_same(there, ColumnSelector(11, time_limit=None).fit(X))


def when_released(shared, file):
    """An answer that comes as soon as there is such a file."""
    while not os.path.exists(file):
        time.sleep(0.01)
    return shared


def test_nobody_waits_longer_than_allowed(cluster, tmp_path):
    workers, (open_gate, gate) = DaskWorkers(cluster), (tmp_path / "open", tmp_path / "gate")
    open_gate.touch()
    until = time.perf_counter() + 0.5
    answers = list(workers.map(when_released, "here", [open_gate, gate, open_gate], until))
    assert time.perf_counter() >= until
    assert answers[1:] == [None, None]
    gate.touch()
    assert workers.count == 2
    assert list(workers.map(when_released, "again", [gate], np.inf)) == ["again"]


@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
def test_problems_are_sent_whole(criterion):
    problem = column_problem(
        reduce_data(X, None, center=True), 5, criterion=get_criterion(criterion), include=[3],
        candidates=np.arange(2, 20), evaluate=lambda subset: 0.0,
    )  # fmt: skip
    copy = pickle.loads(pickle.dumps(problem))
    chosen, candidates = problem.root()
    demand = Demand(np.inf)
    here = problem.expand(chosen, candidates, demand, 0)
    there = copy.expand(*copy.root(), demand, 0)
    np.testing.assert_array_equal(there.items, here.items)
    np.testing.assert_array_equal(there.f, here.f)
    assert copy.root_bounds() == problem.root_bounds()


@pytest.mark.parametrize(("shape", "relaxed"), [((60, 20), True), ((60, 200), False)])
def test_the_choice_of_bounds_is_sent_along(shape, relaxed):
    """More columns than rows are dependent: there the relaxation says nothing."""
    X = np.random.default_rng(0).standard_normal(shape)
    problem = column_problem(
        reduce_data(X, None, center=False), 7, criterion=get_criterion("frobenius")
    )
    problem.expand(*problem.root(), Demand(1.0001 * problem.value(range(7))), 0)
    copy = pickle.loads(pickle.dumps(problem))
    assert (problem._relaxed is not None) == (copy._relaxed is not None) == relaxed


def test_sharing_survives_the_death_of_a_worker(monkeypatch, cluster):
    """What is sent to all workers is sent again if one of them is gone by then."""
    plain, calls = cluster.scatter, []

    def scatter(*args, **kwargs):
        calls.append(1)
        if len(calls) < 3:
            raise CommClosedError("a worker is gone")
        return plain(*args, **kwargs)

    monkeypatch.setattr(cluster, "scatter", scatter)
    workers = DaskWorkers(cluster)
    assert list(workers.map(pow, 2, [3], np.inf)) == [8]
    assert len(calls) == 3
