"""The limit on the distance of kept rows: what it finds, and what its certificate proves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.preprocessing import scale

from columnist.robust import ROBPCA, RobustPCA, outlier_path
from tests.robust.classical import HBK, HBK_OUTLIERS, WOOD, WOOD_OUTLIERS


def error_without(X, removed, r):
    """Squared distances of the other rows from their own best subspace."""
    kept = np.delete(X, removed, axis=0)
    values = np.linalg.svd(kept - kept.mean(axis=0), compute_uv=False)
    return float((values[r:] ** 2).sum())


@pytest.mark.parametrize(
    ("X", "outliers"), [(HBK, HBK_OUTLIERS), (scale(WOOD), WOOD_OUTLIERS)], ids=["hbk", "wood"]
)
def test_outliers_that_mask_one_another(X, outliers):
    k = len(outliers)
    plain = RobustPCA(2, n_outliers=k, max_nodes=1, random_state=0).fit(X)
    assert len(set(plain.outliers_) & set(outliers)) < k  # the proof is about another error
    limited = RobustPCA(2, n_outliers=k, max_distance=1.0, random_state=0).fit(X)
    assert set(limited.far_rows_) == set(outliers)
    assert set(limited.outliers_) == set(outliers)
    assert (limited.predict(X)[list(outliers)] < 0).all()
    assert len(plain.far_rows_) == 0


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_sets_with_the_far_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, 4)) @ np.diag([3.0, 2.0, 0.5, 0.5])
    X[[2, 9]] += [0.0, 0.0, 25.0, 0.0]
    found = RobustPCA(2, n_outliers=4, max_distance=2.0, random_state=0).fit(X)
    far = set(found.far_rows_.tolist())
    assert far <= set(found.outliers_.tolist())
    reference = min(
        error_without(X, list(far | set(others)), 2)
        for others in combinations(sorted(set(range(14)) - far), 4 - len(far))
    )
    assert found.error_ == pytest.approx(reference, rel=1e-9)
    assert found.certificate_.status == "optimal"
    assert found.certificate_.lower_bound <= reference * (1 + 1e-9)
    assert found.certificate_.selection == tuple(found.outliers_.tolist())


def test_the_reference_is_robpca():
    X = 1e6 * HBK
    found = RobustPCA(1, n_outliers=30, max_distance=1.0, random_state=0).fit(X)
    distances = -ROBPCA(1, random_state=0).fit(X).score_samples(X)
    assert (distances[found.far_rows_] > 0.8).all()
    assert found.error_ == pytest.approx(error_without(X, found.outliers_, 1), rel=1e-9)


def test_bad_limits():
    with pytest.raises(ValueError, match="raise one of the two"):
        RobustPCA(2, n_outliers=3, max_distance=1.0, random_state=0).fit(HBK)
    with pytest.raises(ValueError, match="max_distance must be"):
        RobustPCA(2, n_outliers=3, max_distance=0.0).fit(HBK)
    with pytest.raises(ValueError, match="centering 'optimal' or 'none'"):
        RobustPCA(2, n_outliers=20, max_distance=1.0, centering="mean").fit(HBK)
    with pytest.raises(ValueError, match="for RobustPCA"):
        outlier_path(HBK, 2, 5, max_distance=1.0)
