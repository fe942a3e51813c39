"""Threads share out blocks without changing a bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from columnist.robust import RobustPCA
from columnist.robust import _team as team_module
from columnist.robust._team import Team
from tests.robust.samples import contaminated


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_part_once(n_jobs, count):
    seen = np.zeros(count, dtype=int)

    def work(first, last, worker):
        assert 0 <= worker < n_jobs
        seen[first:last] += 1

    with Team(n_jobs) as team:
        team.share(count, 1.0, work)
    assert (seen == 1).all()


def test_short_work_stays_here():
    threads = []
    with Team(2) as team:
        team.share(4, 1e-6, lambda *part: threads.append(threading.current_thread()))
    assert threads == [threading.current_thread()]


def test_errors_come_through():
    def fail(first, last, worker):
        raise ValueError("no")

    with Team(2) as team, pytest.raises(ValueError, match="no"):
        team.share(2, 1.0, fail)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    monkeypatch.setattr(team_module, "_SHORT", 0.0)
    monkeypatch.setattr("columnist.search._run._HISTORY_SECONDS", 0.0)
    X, _ = contaminated(70, 6, 2, 5, np.random.default_rng(0), noise=1.0)
    found = []
    for n_jobs in (1, 2, 3):
        fitted = RobustPCA(2, n_outliers=8, random_state=0, max_nodes=12, n_jobs=n_jobs).fit(X)
        entries = [
            {key: value for key, value in entry.items() if key != "elapsed"}
            for entry in fitted.certificate_.history
        ]
        found.append((fitted.outliers_.tolist(), fitted.certificate_.lower_bound, entries))
    assert found[0] == found[1] == found[2]
    assert len(found[0][2]) > 3
