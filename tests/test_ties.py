"""Copies of a column tie, whatever the kernel that computed their scores: the first one wins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.lowrank import QuadraticPCA
from columnist.selection import (
    CorrelationFilter,
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    MatchingFilter,
    MultiLabelInformedSelector,
    PivotedQRSelector,
    RobustL21Selector,
    StrongRRQRSelector,
)
from columnist.spectral import (
    HSIC,
    MCSF,
    MRMR,
    MRSF,
    FisherScore,
    LaplacianScore,
    ReliefF,
    SemiSupervisedSelector,
    SpectralSelector,
    TraceRatio,
    ZeroNormSVM,
)
from tests.examples import examples

CASES = 200
# What selectors are given besides X.
NOTHING, VALUES, CLASSES, LABELS = "nothing", "values", "classes", "labels"
KINDS = [
    (CorrelationFilter(), VALUES),
    (MatchingFilter(), VALUES),
    (MatchingFilter(centering="mean"), CLASSES),
    (ForwardSelector(), NOTHING),
    (ForwardSelector(), VALUES),
    (PivotedQRSelector(), NOTHING),
    (GKSSelector(), NOTHING),
    (StrongRRQRSelector(), NOTHING),
    (ExchangeSelector(), NOTHING),
    (ExchangeSelector(), VALUES),
    (RobustL21Selector(), VALUES),
    (MultiLabelInformedSelector(), LABELS),
    (SpectralSelector(), NOTHING),
    (LaplacianScore(), NOTHING),
    (FisherScore(), CLASSES),
    (ReliefF(), CLASSES),
    (TraceRatio(), CLASSES),
    (HSIC(), CLASSES),
    (MRSF(), CLASSES),
    (MRSF(response="pca"), NOTHING),
    (MCSF(), CLASSES),
    (MRMR(), CLASSES),
    (ZeroNormSVM(), CLASSES),
    (SemiSupervisedSelector(), CLASSES),
]
SLOW = (MultiLabelInformedSelector, RobustL21Selector, SemiSupervisedSelector, ZeroNormSVM)


def problem(seed, kind):
    """X with copies of columns at random places, y, and of which column each is a copy."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(10, 60)), int(rng.integers(4, 30))
    base = rng.standard_normal((m, n)) + 3.0 * rng.integers(0, 2)
    original = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, 3 * n // 2)]))
    y = base[:, :3] @ rng.standard_normal(3) + rng.standard_normal(m)
    y = {
        NOTHING: None,
        VALUES: y,
        CLASSES: (y > np.median(y)).astype(int),
        LABELS: (rng.standard_normal((m, 3)) > 0.0).astype(int),
    }[kind]
    return base[:, original], y, original, int(rng.integers(1, max(2, min(m // 2, n))))


def assert_first_copies_first(order, original):
    """Before a copy is taken, all copies of it with smaller indices are."""
    taken = set()
    for column in order:
        earlier = np.flatnonzero(original[:column] == original[column])
        assert taken.issuperset(earlier.tolist()), (column, earlier, order)
        taken.add(int(column))


@pytest.mark.parametrize(("selector", "kind"), KINDS, ids=str)
@pytest.mark.filterwarnings("ignore:.* selected .* of .* (features|columns)")
def test_copies_of_columns(selector, kind):
    for seed in range(examples(CASES // 5 if isinstance(selector, SLOW) else CASES)):
        X, y, original, size = problem(seed, kind)
        selector.set_params(n_features_to_select=size).fit(X, y)
        # A search by exchanges has no order of its own.
        order = np.sort(selector.selected_)
        assert_first_copies_first(order, original)
        if not isinstance(selector, ExchangeSelector):
            assert_first_copies_first(selector.selected_, original)


@pytest.mark.parametrize("selector", [CorrelationFilter(2), MatchingFilter(2)], ids=str)
@pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_array, np.float32])
def test_filters_rank_all_columns(selector, form):
    for seed in range(examples(CASES)):
        X, y, original, _ = problem(seed, VALUES)
        selector.fit(form(X), y)
        assert_first_copies_first(selector.ranking_, original)
        np.testing.assert_array_equal(np.sort(selector.ranking_), np.arange(X.shape[1]))
        np.testing.assert_array_equal(selector.ranking_[:2], selector.selected_)
        falling = selector.scores_[selector.ranking_]
        assert np.all(np.diff(falling) <= 1e-9 * falling[:-1])


@pytest.mark.parametrize("selector", [CorrelationFilter(2), MatchingFilter(2)], ids=str)
def test_columns_nearly_orthogonal_to_the_target(selector):
    # Their products with y are mostly rounding, which is not that of a small number.
    for seed in range(examples(CASES)):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(40, 200))
        y = rng.standard_normal(m)
        y -= y.mean()
        base = rng.standard_normal((m, 5))
        base -= base.mean(axis=0)
        base -= np.outer(y, (y @ base) / (y @ y)) * (1.0 - 10.0 ** rng.uniform(-6.0, -3.0))
        original = rng.permutation(np.repeat(np.arange(5), 4))
        selector.fit(base[:, original], y)
        assert_first_copies_first(selector.ranking_, original)


def test_loadings_of_copies():
    for seed in range(examples(CASES)):
        X, _, original, _ = problem(seed, NOTHING)
        assert_first_copies_first(QuadraticPCA(2).fit(X).ranking_, original)
