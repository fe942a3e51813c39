"""Limits and interrupts of RobustPCA, as a user meets them."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris

from columnist.robust import RobustPCA, outlier_path
from columnist.robust._path import NestedRows
from columnist.search import _interrupts as interrupts
from tests.clocks import CallClock
from tests.memory import in_own_process, peak_memory
from tests.robust.samples import contaminated


def interrupt_at(monkeypatch, when):
    """A signal at the ``when``-th look at the clock; returns how many looks there were."""
    looks = [0]
    original = interrupts.expired

    def expired(deadline):
        looks[0] += 1
        if looks[0] == when:
            signal.raise_signal(signal.SIGINT)
        return original(deadline)

    monkeypatch.setattr(interrupts, "expired", expired)
    return looks


def hard_rows():
    return np.random.default_rng(0).standard_normal((70, 5))


def test_an_interrupt_at_any_look_at_the_clock(monkeypatch):
    X = hard_rows()
    options = {"n_outliers": 6, "random_state": 0, "max_nodes": 4}
    with monkeypatch.context() as patched:
        looks = interrupt_at(patched, -1)
        whole = RobustPCA(2, **options).fit(X)
    assert looks[0] > 20
    for when in np.unique(np.linspace(1, looks[0], 12, dtype=int)):
        with monkeypatch.context() as patched:
            interrupt_at(patched, int(when))
            found = RobustPCA(2, **options).fit(X)
        certificate = found.certificate_
        assert certificate.status in ("interrupted", whole.certificate_.status)
        assert certificate.lower_bound <= whole.error_ * (1 + 1e-9)
        assert len(found.outliers_) == 6 and found.components_.shape == (2, 5)
        assert found.predict(X).shape == (70,)


@pytest.mark.parametrize("stage", ["_cutoffs", "_store", "_fitted", "_conclude"])
def test_an_interrupt_after_the_search_leaves_a_complete_fit(monkeypatch, stage):
    original = getattr(RobustPCA, stage)

    def interrupted(self, *args):
        signal.raise_signal(signal.SIGINT)
        return original(self, *args)

    monkeypatch.setattr(RobustPCA, stage, interrupted)
    X, _ = contaminated(30, 4, 1, 2, np.random.default_rng(0))
    found = RobustPCA(1, n_outliers=2, random_state=0).fit(X)
    assert found.certificate_.status == "optimal"
    assert found.predict(X).shape == (30,)


def test_an_interrupt_before_there_is_anything_raises(monkeypatch):
    original = RobustPCA._time_left

    def interrupted(self):
        signal.raise_signal(signal.SIGINT)
        return original(self)

    monkeypatch.setattr(RobustPCA, "_time_left", interrupted)
    with pytest.raises(KeyboardInterrupt):
        RobustPCA(1, n_outliers=2).fit(hard_rows())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_path_is_complete(monkeypatch):
    looks = interrupt_at(monkeypatch, 10)
    path = outlier_path(hard_rows(), 2, 6, random_state=0)
    assert looks[0] >= 10
    assert list(path.n_outliers) == list(range(7))
    assert path[-1].certificate.status in ("interrupted", "optimal")


@pytest.mark.parametrize(
    ("shape", "limits", "grace"),
    [
        ((8000, 12, 800), (0.02, 0.1, 0.2), 0.12),  # the first choices of rows
        ((300, 6, 30), (0.3, 0.4, 0.6), 0.25),  # the first steps of the proof
    ],
    ids=["start", "proof"],
)
def test_every_stage_looks_at_the_clock(monkeypatch, shape, limits, grace):
    """Far more work than there is time for, where 100,000 calls of functions are a second."""
    n, p, k = shape
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    X[:k] += 5.0 * rng.standard_normal((k, p))
    clock = CallClock(monkeypatch, 1e-5)
    RobustPCA(3, n_outliers=2, random_state=0).fit(X[:20])  # what is imported on the way
    for limit in limits:
        started = clock.now
        with clock.running():
            found = RobustPCA(3, n_outliers=k, time_limit=limit, random_state=0).fit(X)
        assert limit < clock.now - started < limit + grace
        assert found.certificate_.status == "time_limit"
        assert found.certificate_.lower_bound <= found.error_


def test_a_path_has_one_time_limit(clock):
    """Not every step has its own; steps without time for a search continue the one before."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 100)) * np.linspace(5.0, 0.2, 100)
    X[:30] += 3.0 * rng.standard_normal((30, 100))
    clock.charge(interrupts, "expired", 5e-3)
    clock.charge(NestedRows, "to", 0.0)
    started = clock.now
    path = outlier_path(X, 3, 60, time_limit=0.5, random_state=0)
    assert 0.25 < clock.now - started < 0.75
    assert 0 < clock.calls["to"] < len(path)
    assert len(path) == 31 and path.n_outliers[-1] == 60
    assert (np.diff(path.errors) < 0.0).all()
    kept = np.setdiff1d(np.arange(600), path[15].outliers)
    Z = X[kept] - X[kept].mean(axis=0)
    error = np.sum(np.linalg.svd(Z, compute_uv=False)[3:] ** 2)
    assert path.errors[15] == pytest.approx(error, rel=1e-9)


def test_elapsed_is_the_whole_fit():
    X = hard_rows()
    started = time.perf_counter()
    found = RobustPCA(2, n_outliers=2, random_state=0).fit(X)
    whole = time.perf_counter() - started
    certificate = found.certificate_
    assert certificate.history[-1]["elapsed"] < certificate.elapsed <= whole
    assert certificate.preparation == 0.0


def traced_fits(limits):
    """Memory that fits take: before the search, without a limit, with each (and the status)."""
    X = np.random.default_rng(0).standard_normal((300, 8))

    def traced_fit(**options):
        pca = RobustPCA(2, n_outliers=20, random_state=0, time_limit=None, **options)
        peak, pca = peak_memory(lambda: pca.fit(X))
        return peak, pca.certificate_.status

    traced_fit(max_nodes=0)  # what is imported and cached on the way
    before, _ = traced_fit(max_nodes=0)
    freely, _ = traced_fit(max_nodes=12)
    return before, freely, [traced_fit(max_nodes=12, max_memory=limit) for limit in limits]


def test_the_memory_limit_is_one_of_real_memory():
    limits = (1e6, 6e5, 1e5)
    before, freely, fits = in_own_process(traced_fits, limits)
    for limit, (peak, status) in zip(limits, fits, strict=True):
        assert status == "memory_limit"
        assert peak <= before + limit < freely


def test_enough_memory_changes_nothing():
    X = load_iris().data
    some = [
        RobustPCA(1, n_outliers=11, random_state=0, max_memory=limit).fit(X).certificate_
        for limit in (None, 1e8)
    ]
    assert some[0].status == some[1].status == "optimal"
    assert some[0].nodes_generated == some[1].nodes_generated
