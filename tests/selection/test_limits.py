"""Limits without a clock: what is counted is the work that is done after the time is up."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist import ColumnSelector, certify, selection_path
from columnist.criteria import get_criterion
from columnist.data import _open
from columnist.search import _engine as engine
from columnist.selection import _certified as certified
from columnist.selection import _columns as columns
from columnist.selection import _swaps as swaps
from columnist.selection import _task as task
from tests.memory import in_own_process, peak_memory
from tests.oracles.brute_force import subset_error

CLASSES = {"frobenius": columns.FrobeniusColumns, "nuclear": columns.InvariantColumns}


def data(n: int = 14) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((20, n))


def bounded(certificate, X, k, criterion) -> None:
    """The certificate holds."""
    own = get_criterion(criterion)
    best = min(subset_error(X, S, own) for S in combinations(range(X.shape[1]), k))
    assert certificate.lower_bound <= best * (1.0 + 1e-9)
    assert certificate.error >= best * (1.0 - 1e-9)
    error = subset_error(X, certificate.selection, own)
    assert certificate.error == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize("search", ["auto", "optimistic", "greedy", "weighted"])
def test_no_time_is_no_step(clock, criterion, search):
    X = data(10)
    for name in ("completion_errors", "expand"):
        clock.charge(CLASSES[criterion], name, 10.0)
    selector = ColumnSelector(4, criterion=criterion, search=search, time_limit=1.0)
    certificate = selector.fit(X).certificate_
    # The first step takes longer than there is time: no second one is begun.
    assert sum(clock.calls.values()) <= 1
    assert certificate.status in ("time_limit", "heuristic")
    bounded(certificate, X, 4, criterion)


@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_steps_end_with_the_time(clock, criterion, seconds):
    """With n steps of a second each, no stage goes on behind the limit by more than one."""
    X = data(10)
    for name in ("completion_errors", "expand"):
        clock.charge(CLASSES[criterion], name, seconds)
    for limit in (0.5, 2.0, 5.0, 9.0):
        clock.calls.clear()
        selector = ColumnSelector(4, criterion=criterion, time_limit=limit).fit(X)
        assert sum(clock.calls.values()) * seconds <= limit + 2 * seconds
        bounded(selector.certificate_, X, 4, criterion)
        assert selector.certificate_.elapsed <= limit + 2 * seconds


@pytest.mark.parametrize("criterion", CLASSES)
def test_a_path_shares_the_time(clock, criterion):
    X = data(10)
    for name in ("completion_errors", "expand"):
        clock.charge(CLASSES[criterion], name, 1.0)
    path = selection_path(X, 6, criterion=criterion, time_limit=3.0)
    assert len(path) == 6
    # One expansion that was begun in time may end late, for each of the sizes.
    assert sum(clock.calls.values()) <= 3 + 6
    for size, step in enumerate(path, start=1):
        bounded(step.certificate, X, size, criterion)


@pytest.mark.parametrize("criterion", CLASSES)
def test_certify_keeps_the_time(clock, criterion):
    X = data(10)
    for name in ("completion_errors", "expand"):
        clock.charge(CLASSES[criterion], name, 1.0)
    certificate = certify(X, [0, 1, 2, 3], criterion=criterion, time_limit=2.0)
    assert sum(clock.calls.values()) <= 3
    assert certificate.selection == (0, 1, 2, 3)
    bounded(certificate, X, 4, criterion)


@pytest.mark.filterwarnings("ignore:.*reach tol.*")
@pytest.mark.parametrize("criterion", CLASSES)
def test_the_fewest_columns_in_little_time(clock, criterion):
    X = data()
    for name in ("completion_errors", "expand"):
        clock.charge(CLASSES[criterion], name, 1.0)
    selector = ColumnSelector("auto", tol=0.2, criterion=criterion, time_limit=2.0).fit(X)
    assert sum(clock.calls.values()) <= 4
    assert selector.relative_error_ <= 0.2


def test_pools_in_no_time(clock):
    """A pool is filled up with what is at hand, for a moment: no set beyond those that are wanted
    is measured, and no more than there is time for."""
    X = data(10)
    clock.charge(columns.FrobeniusColumns, "interval", 0.01)
    selector = ColumnSelector(4, n_solutions=50, time_limit=0.0).fit(X)
    assert clock.calls["interval"] <= 50 + 5
    assert len({tuple(solution) for solution in selector.solutions_}) == 50
    bounded(selector.certificate_, X, 4, "frobenius")
    clock.charge(columns.FrobeniusColumns, "interval", 1.0)
    selector = ColumnSelector(4, n_solutions=50, time_limit=5.0).fit(X)
    assert 5 <= len(selector.solutions_) < 10
    assert selector.certificate_.elapsed <= 5.0 + 2.0
    bounded(selector.certificate_, X, 4, "frobenius")


@pytest.mark.parametrize("criterion", CLASSES)
def test_forward_selection_ends_with_the_time(clock, criterion):
    """The columns that it had no time for are taken together."""
    X = np.random.default_rng(0).standard_normal((30, 40))
    clock.monkeypatch.setattr(columns, "_TABLE", 0.0)
    clock.charge(swaps._Additions, "add", 1.0)
    for limit in (0.0, 2.0, 6.0):
        clock.calls.clear()
        selector = ColumnSelector(12, criterion=criterion, time_limit=limit).fit(X)
        assert clock.calls.get("add", 0) <= limit + 1
        assert len(selector.selected_) == 12
        error = subset_error(X, selector.selected_, get_criterion(criterion))
        assert selector.error_ == pytest.approx(error, rel=1e-9)
        assert selector.certificate_.lower_bound <= selector.error_


@pytest.mark.parametrize("criterion", CLASSES)
def test_a_tolerance_is_reached_in_little_time(clock, criterion):
    """Forward selection goes on where it was, and ends with the time."""
    X = np.random.default_rng(0).standard_normal((60, 80))
    clock.charge(swaps._Additions, "add", 1.0)
    clock.charge(columns._Columns, "_reduced_interval", 0.01)
    for limit in (2.0, 20.0):
        clock.calls.clear()
        with pytest.warns(UserWarning, match="left open whether fewer do"):
            selector = ColumnSelector("auto", tol=0.2, criterion=criterion, time_limit=limit)
            selector.fit(X)
        assert clock.calls["add"] <= limit + 1
        assert selector.relative_error_ <= 0.2


@pytest.mark.parametrize("criterion", CLASSES)
def test_a_path_without_time_is_a_forward_selection(clock, criterion):
    X = data(12)
    clock.charge(swaps._Additions, "add", 1.0)
    clock.charge(task, "distinct_columns", 1.0)
    clock.charge(CLASSES[criterion], "expand", 1.0)
    path = selection_path(X, 8, criterion=criterion, time_limit=3.0)
    assert len(path) == 8 and sum(clock.calls.values()) <= 3 + 2
    assert (np.diff(path.errors) < 0.0).all()
    for size, step in enumerate(path, 1):
        assert step.certificate.status in ("time_limit", "optimal")
        bounded(step.certificate, X, size, criterion)


def test_errors_of_a_long_path_are_computed_together(clock, monkeypatch):
    monkeypatch.setattr(task, "_LONG_WORK", 0.0)
    X = data(12)
    for step in selection_path(X, 8, time_limit=0.0):
        bounded(step.certificate, X, len(step.selection), "frobenius")


def test_ties_are_not_settled_in_overtime(clock):
    """What is only nicer, smaller indices, waits for no one."""
    X = data(6)
    X = np.hstack([X, X + 0.0, X[:, :2]])
    clock.charge(engine, "search", 10.0)
    own = columns.FrobeniusColumns.completion_errors
    late = []

    def counted(self, *arguments):
        late.append(clock.now > 1005.0)
        return own(self, *arguments)

    clock.monkeypatch.setattr(columns.FrobeniusColumns, "completion_errors", counted)
    clock.monkeypatch.setattr("columnist.selection._task.search", engine.search)
    ColumnSelector(3, time_limit=5.0).fit(X)
    # The clock jumps before the search: it takes no step at all, nor does anything after it.
    assert not any(late)


def test_elapsed_is_the_whole_of_fit(clock):
    X = data(8)
    for owner, name in (
        (certified.Matrices, "reduce"),
        (certified.Sizes, "best"),
        (certified, "rebuild"),
    ):
        clock.charge(owner, name, 3.0)
    clock.charge(certified, "open_matrices", 0.25)
    certificate = ColumnSelector(3).fit(X).certificate_
    assert certificate.elapsed == pytest.approx(9.25)
    assert certificate.preparation == 0.0


def test_preparation_of_blocks_is_stated(clock):
    da = pytest.importorskip("dask.array")
    X = data(8)
    clock.charge(_open, "_from_moments", 50.0)
    selector = ColumnSelector(3, time_limit=30.0).fit(da.from_array(X, chunks=(7, 8)))
    assert selector.certificate_.preparation == pytest.approx(50.0)
    assert selector.certificate_.elapsed >= 50.0
    assert selector.certificate_.status == "optimal"  # the limit is for the search


def traced_fits(criterion, limits):
    """Memory that fits take: with nearly none allowed, without a limit, and with each."""
    X = np.random.default_rng(1).standard_normal((60, 40))
    options = {"criterion": criterion, "max_nodes": 800 if criterion == "frobenius" else 300}

    def traced_fit(max_memory):
        selector = ColumnSelector(12, max_memory=max_memory, time_limit=None, **options)
        peak, selector = peak_memory(lambda: selector.fit(X))
        assert selector.certificate_.lower_bound <= selector.certificate_.error
        return peak

    traced_fit(1e5)  # what is imported and cached once
    return traced_fit(1.0), traced_fit(None), [traced_fit(limit) for limit in limits]


@pytest.mark.parametrize(
    "criterion", ["frobenius", pytest.param("nuclear", marks=pytest.mark.slow)]
)
def test_real_memory_stays_near_the_limit(criterion):
    """What Python allocates for open nodes, measured: the limit, and a constant for the rest."""
    limits = (2e4, 5e4, 8e4)
    base, free, peaks = in_own_process(traced_fits, criterion, limits)
    spare = 4e4  # batches that are under way, and what Python keeps beside them
    for limit, peak in zip(limits, peaks, strict=True):
        assert peak <= base + limit + spare
    # Without a limit there is more to keep: else the test would show nothing.
    assert free > base + limits[-1] + spare
