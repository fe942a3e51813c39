"""Sums over a stream, against all rows at once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector, certify
from columnist.distributed import RunningMoments
from columnist.selection import ExchangeSelector, ForwardSelector

rng = np.random.default_rng(84)
X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 6)) + 0.3 * rng.standard_normal((50, 6))
X += np.array([0.0, 5.0, 0.0, -1.0, 0.0, 0.0])
y = X @ rng.standard_normal(6) + rng.standard_normal(50)
labels = np.where(y > np.median(y), "high", "low")


def stream(edges, target=None, **options) -> RunningMoments:
    running = RunningMoments(**options)
    for a, b in zip([0, *edges], [*edges, len(X)], strict=True):
        if b > a:
            running.partial_fit(X[a:b], None if target is None else target[a:b])
    return running


cuts = st.lists(st.integers(0, 50), max_size=6).map(sorted)


@settings(max_examples=25)
@given(cuts, st.sampled_from(["none", "mean"]), st.sampled_from([None, "values", "labels"]))
def test_every_way_to_cut_a_stream(edges, centering, kind):
    target = {None: None, "values": y, "labels": labels}[kind]
    options = {"classes": ["high", "low"]} if kind == "labels" else {}
    running = stream(edges, target, **options)
    for selector in (ColumnSelector(2, centering=centering), ForwardSelector(3)):
        there = selector.fit(running)
        selected, error = there.selected_.copy(), there.error_
        here = selector.fit(X, target)
        np.testing.assert_array_equal(selected, here.selected_)
        np.testing.assert_allclose(error, here.error_, rtol=1e-9)


def test_what_was_seen():
    running = stream([7, 30])
    assert running.n_samples_seen_ == 50
    assert running.n_features_in_ == 6
    np.testing.assert_allclose(running.mean_, X.mean(axis=0))
    np.testing.assert_allclose(running.covariance_, np.cov(X.T, bias=True))
    with_target = stream([7, 30], y)
    assert with_target.has_target and not running.has_target
    np.testing.assert_allclose(with_target.covariance_, running.covariance_)


def test_merge():
    first, second = stream([], y), stream([20], y)
    assert first.merge(second) is first
    twice = RunningMoments().partial_fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert first.n_samples_seen_ == 100
    np.testing.assert_allclose(first.covariance_, twice.covariance_)
    empty = RunningMoments()
    assert empty.merge(RunningMoments()) is empty
    assert empty.merge(second).n_samples_seen_ == 50
    second.merge(RunningMoments())
    assert second.n_samples_seen_ == 50
    np.testing.assert_array_equal(
        ExchangeSelector(2).fit(pickle.loads(pickle.dumps(second))).selected_,
        ExchangeSelector(2).fit(X, y).selected_,
    )


def test_certify():
    there, here = certify(stream([10]), [0, 1]), certify(X, [0, 1])
    assert there.better == here.better
    np.testing.assert_allclose(there.gap, here.gap, rtol=1e-8)


def test_sparse_and_single_rows():
    running = RunningMoments()
    for row in X:
        running.partial_fit(sp.csr_array(row[None]))
    np.testing.assert_allclose(running.covariance_, np.cov(X.T, bias=True), atol=1e-12)


def test_labels_that_a_batch_does_not_show():
    order = np.argsort(labels)
    running = RunningMoments(classes=["low", "high"])
    for part in np.array_split(order, 4):
        running.partial_fit(X[part], labels[part])
    here = ColumnSelector(2).fit(X, labels)
    np.testing.assert_allclose(ColumnSelector(2).fit(running).error_, here.error_, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: RunningMoments().mean_, "call partial_fit first"),
        (lambda: ColumnSelector(1).fit(RunningMoments()), "call partial_fit first"),
        (lambda: stream([]).partial_fit(X[:, :3]), "3 features, but the rows before had 6"),
        (lambda: stream([]).partial_fit(X, y), "y must be given for all rows or for none"),
        (lambda: stream([], y).merge(stream([])), "y must be given for all rows or for none"),
        (lambda: stream([], labels), "classes="),
        (lambda: stream([], labels, classes=["low"]), "not in classes"),
        (lambda: stream([], y[:20]), "inconsistent"),
        (lambda: ColumnSelector(1).fit(stream([]), y), "belongs to partial_fit"),
        (lambda: ColumnSelector(1, target="y").fit(stream([])), "needs a y"),
        (lambda: ColumnSelector(1).fit(X).transform(stream([])), "keeps sums, not rows"),
        (lambda: RunningMoments().partial_fit(np.full((2, 2), np.nan)), "X contains NaN"),
    ],
)
def test_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call()
