"""Robust PCA of many rows, against the same in memory and against all choices."""

from __future__ import annotations

from itertools import combinations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from benchmarks.counting import count_cost
from columnist.robust import LeverageOutliers, RobustPCA, TrimmedPCA
from columnist.robust import _row_data as row_data
from columnist.robust import _solve as solve
from columnist.robust._subspace import fit_subspace
from tests.examples import examples
from tests.oracles.outliers import trimmed_error
from tests.robust.estimators import ALL, name
from tests.soak.oracle import RowTruth

ANSWERS = ["predict", "decision_function", "score_samples", "transform"]
ANSWERS += ["score_distances", "orthogonal_distances"]


@pytest.fixture(autouse=True)
def one_thread(request):
    if "cluster" in request.fixturenames:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(autouse=True)
def always_in_passes(monkeypatch):
    """Even few rows stay where they are."""
    monkeypatch.setattr(row_data, "_FEW_ROWS", 0)


def data(n=90, p=5, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.linspace(6.0, 1.0, p) + rng.standard_normal(p)
    X[rng.choice(n, k, replace=False)] += 5.0 * rng.standard_normal((k, p))
    return X


def blocks(X, *heights):
    """Blocks of given heights, the last repeated."""
    heights, chunks = list(heights), []
    while sum(chunks) < len(X):
        chunks.append(min(heights[0], len(X) - sum(chunks)))
        heights = heights[1:] or heights
    return da.from_array(X, chunks=(tuple(chunks), X.shape[1]))


def assert_same(found, expected, X, *, lazy):
    np.testing.assert_array_equal(found.outliers_, expected.outliers_)
    for attribute in ("error_", "mean_", "components_", "explained_variance_"):
        np.testing.assert_allclose(
            getattr(found, attribute), getattr(expected, attribute), rtol=1e-9, atol=1e-9
        )
    for attribute in ("score_cutoff_", "orthogonal_cutoff_"):
        np.testing.assert_allclose(getattr(found, attribute), getattr(expected, attribute), 1e-8)
    for method in ANSWERS:
        answer = getattr(found, method)(lazy)
        assert isinstance(answer, da.Array)
        np.testing.assert_allclose(
            answer.compute(), getattr(expected, method)(X), rtol=1e-8, atol=1e-8
        )


@given(
    st.lists(st.integers(1, 90), min_size=1, max_size=4).filter(lambda hs: hs[-1] >= 10),
    st.sampled_from(["optimal", "mean", "none"]),
    st.sampled_from(["cross-fitted", "classical"]),
    st.integers(0, 3),
    st.integers(0, 10**6),
)
@settings(max_examples=8)
def test_robust_pca_equals_that_in_memory(heights, centering, cutoff, r, seed):
    X = data(seed=seed)
    X = X.astype(np.float32) if seed % 3 == 0 else X
    estimator = RobustPCA(
        r, n_outliers=4, centering=centering, cutoff=cutoff, random_state=0, max_gap=0.0
    )
    expected = clone(estimator).fit(X)
    lazy = blocks(X, *heights)
    found = clone(estimator).fit(lazy)
    assert found.certificate_.status == expected.certificate_.status == "optimal"
    assert found.certificate_.lower_bound == found.error_ == found.certificate_.error
    assert found.certificate_.selection == tuple(found.outliers_)
    assert_same(found, expected, X, lazy=lazy)


@pytest.mark.parametrize("centering", ["optimal", "mean", "none"])
def test_trimmed_pca_equals_that_in_memory(centering):
    X = data(seed=3)
    for heights in ((1, 40), (90,), (7, 1, 30)):
        estimator = TrimmedPCA(2, n_outliers=0.1, centering=centering)
        lazy = blocks(X, *heights)
        assert_same(clone(estimator).fit(lazy), clone(estimator).fit(X), X, lazy=lazy)


@pytest.mark.parametrize("centering", ["optimal", "mean", "none"])
@pytest.mark.parametrize("location", ["median", "mean"])
@pytest.mark.parametrize("n_vectors", [2, None])
def test_leverages_equal_those_in_memory(centering, location, n_vectors):
    X = data(seed=4)
    estimator = LeverageOutliers(
        2, n_outliers=4, centering=centering, location=location, n_vectors=n_vectors
    )
    expected = clone(estimator).fit(X)
    lazy = blocks(X, 11, 1, 33)
    found = clone(estimator).fit(lazy)
    assert_same(found, expected, X, lazy=lazy)
    np.testing.assert_allclose(found.outlyingness_, expected.outlyingness_, rtol=1e-9)


@pytest.mark.parametrize("estimator", ALL, ids=name)
def test_every_estimator_takes_arrays_and_dataframes(estimator):
    X = data(n=40, p=3, k=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    expected = clone(estimator).fit(X)
    for lazy in (blocks(X, 13), dd.from_pandas(frame, npartitions=3)):
        found = clone(estimator).fit(lazy)
        np.testing.assert_array_equal(found.outliers_, expected.outliers_)
        np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-8, atol=1e-8)
        predicted = found.predict(lazy)
        assert isinstance(predicted, da.Array) and predicted.dtype == np.int64
        np.testing.assert_array_equal(predicted.compute(), expected.predict(X))
        np.testing.assert_array_equal(clone(estimator).fit_predict(lazy), expected.predict(X))
        coordinates = clone(estimator).fit_transform(lazy)
        np.testing.assert_allclose(coordinates, expected.transform(X), rtol=1e-8, atol=1e-8)
        rebuilt = found.inverse_transform(found.transform(lazy))
        assert isinstance(rebuilt, da.Array)
        np.testing.assert_allclose(
            rebuilt,
            expected.inverse_transform(expected.transform(X)),
            rtol=1e-8,
            atol=1e-8,
        )
    assert list(found.feature_names_in_) == ["a", "b", "c"]


@given(st.integers(0, 10**6), st.sampled_from(["optimal", "mean", "none"]), st.integers(0, 3))
@settings(max_examples=6)
def test_certificates_hold_wherever_the_search_stops(seed, centering, most_free):
    """Few rows for so many removals: the bounds are weak, and most limits are met."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 3)) * [4.0, 2.0, 1.0] + 1.0
    Z = X - X.mean(axis=0) if centering == "mean" else X
    best = min(
        trimmed_error(Z, np.delete(np.arange(11), removed), 1, centering == "optimal")
        for removed in combinations(range(11), 3)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solve, "_MOST_FREE", [0, 4, 8, 2000][most_free])
        for limits in ({}, {"max_nodes": 0}, {"max_nodes": 1}, {"max_gap": 0.3}):
            found = RobustPCA(1, n_outliers=3, centering=centering, random_state=0, **limits)
            proof = found.fit(blocks(X, 4)).certificate_
            assert proof.lower_bound <= best * (1.0 + 1e-9)
            assert best <= proof.error * (1.0 + 1e-9)
            kept = np.delete(np.arange(11), found.outliers_)
            error = trimmed_error(Z, kept, 1, centering == "optimal")
            np.testing.assert_allclose(proof.error, error, rtol=1e-9)
            if proof.status == "optimal":
                np.testing.assert_allclose(error, best, rtol=1e-9)
    if most_free == 3:
        full = RobustPCA(1, n_outliers=3, centering=centering, random_state=0).fit(blocks(X, 4))
        assert full.certificate_.status == "optimal"


def test_a_search_mends_a_bad_choice(monkeypatch):
    """Undecided rows are searched: the best choice is found from any start."""
    X = data(n=60, p=4, k=3, seed=2)
    expected = RobustPCA(2, n_outliers=3, random_state=0).fit(X)
    wrong = np.array([0, 1, 2])
    assert not set(wrong) & set(expected.outliers_)

    monkeypatch.setattr(solve._ManyRows, "first_choices", lambda self, run: iter([wrong]))
    found = RobustPCA(2, n_outliers=3, random_state=0).fit(blocks(X, 25))
    np.testing.assert_array_equal(found.outliers_, expected.outliers_)
    assert found.certificate_.status == "optimal"
    assert found.certificate_.nodes_expanded > 0


def test_limits_are_named():
    X = np.random.default_rng(5).standard_normal((12, 3))

    def status(**limits):
        found = RobustPCA(1, n_outliers=4, random_state=0, **limits).fit(blocks(X, 5))
        return found.certificate_.status

    assert status(max_nodes=0) == "node_limit"
    assert status(time_limit=0.0) == "time_limit"
    assert status(max_gap=1.0) == "gap_reached"
    assert status(callback=lambda progress: True) == "interrupted"
    with pytest.warns(UserWarning, match="not proven"):
        RobustPCA(1, n_outliers=4, random_state=0, search="optimal", max_nodes=0).fit(blocks(X, 5))


def test_progress_is_shown_and_reported(capsys):
    seen = []
    X = data()
    RobustPCA(2, n_outliers=4, random_state=0, verbose=True, callback=lambda p: seen.append(p)).fit(
        blocks(X, 30)
    )
    assert "Incumbent" in capsys.readouterr().out
    assert seen and all(p.bound <= p.incumbent for p in seen)


@pytest.mark.parametrize("estimator", [RobustPCA(2, n_outliers=3, random_state=0)])
@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scales(estimator, scale):
    X = data(n=50, k=3)
    plain = clone(estimator).fit(blocks(X, 20))
    found = clone(estimator).fit(blocks(X * scale, 20))
    np.testing.assert_array_equal(found.outliers_, plain.outliers_)
    np.testing.assert_allclose(found.error_ / scale / scale, plain.error_, rtol=1e-9)
    np.testing.assert_allclose(found.orthogonal_cutoff_ / scale, plain.orthogonal_cutoff_)
    predicted = found.predict(blocks(X * scale, 20))
    np.testing.assert_array_equal(predicted, plain.predict(X))


def test_exact_fits_and_duplicates():
    line = np.outer(np.arange(40.0), [3.0, 4.0, 0.0]) + np.array([0.0, 500.0, 1.0])
    X = np.vstack([line, [[60.0, 0.0, 0.0]], line])
    found = RobustPCA(1, n_outliers=1, random_state=0).fit(blocks(X, 17))
    assert found.outliers_.tolist() == [40]
    assert found.error_ == 0.0 and found.certificate_.status == "optimal"
    with pytest.warns(UserWarning, match="directions only"):
        constant = RobustPCA(1, n_outliers=1, random_state=0).fit(blocks(np.ones((30, 3)), 8))
    assert constant.error_ == 0.0
    same = np.repeat(data(n=20, k=0), 3, axis=0)
    expected = RobustPCA(2, n_outliers=4, random_state=0).fit(same)
    found = RobustPCA(2, n_outliers=4, random_state=0).fit(blocks(same, 7))
    np.testing.assert_allclose(found.error_, expected.error_, rtol=1e-9)
    assert found.certificate_.status == "optimal"


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("estimator", [RobustPCA(1, n_outliers=2), TrimmedPCA(1, n_outliers=2)])
def test_bad_entries_are_refused(estimator, value):
    X = data()
    found = clone(estimator).fit(blocks(X, 20))
    X[50, 2] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        clone(estimator).fit(blocks(X, 20))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        found.predict(blocks(X, 20)).compute()


def test_bad_questions_are_refused():
    X = data()
    with pytest.raises(ValueError, match="n_outliers must be"):
        RobustPCA(1, n_outliers=90).fit(blocks(X, 20))
    with pytest.raises(ValueError, match="n_components=6 is too large"):
        TrimmedPCA(6, n_outliers=2).fit(blocks(X, 20))
    with pytest.raises(ValueError, match="minimum of 2"):
        RobustPCA(1, n_outliers=0).fit(blocks(X[:1], 1))
    with pytest.raises(ValueError, match="2D array"):
        RobustPCA(1, n_outliers=0).fit(da.from_array(X[:, 0], chunks=20))
    with pytest.raises(ValueError, match="too large to be squared"):
        RobustPCA(1, n_outliers=0).fit(blocks(X * 1e160, 20))
    found = RobustPCA(1, n_outliers=2, random_state=0).fit(blocks(X, 20))
    with pytest.raises(ValueError, match="3 features"):
        found.predict(blocks(X[:, :3], 20))
    sparse = blocks(X, 20).map_blocks(sp.csr_array)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        RobustPCA(1, n_outliers=0).fit(sparse)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        found.predict(sparse)


def test_dataframes_and_empty_blocks():
    X = data()
    expected = RobustPCA(2, n_outliers=4, random_state=0).fit(X)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=4)
    for lazy in (frame, frame.map_partitions(lambda part: part), blocks(X, 30).rechunk()):
        found = RobustPCA(2, n_outliers=4, random_state=0).fit(lazy)
        assert_same(found, expected, X, lazy=lazy)
    empty = da.concatenate([blocks(X[:40], 20), blocks(X, 30)[:0], blocks(X[40:], 25)])
    found = RobustPCA(2, n_outliers=4, random_state=0).fit(empty)
    assert_same(found, expected, X, lazy=empty)


def test_other_criteria_bring_the_rows_together():
    X = data(n=30, p=4, k=2)
    estimator = RobustPCA(1, n_outliers=2, criterion="nuclear", random_state=0, max_nodes=5)
    expected = clone(estimator).fit(X)
    with count_cost() as cost:
        found = clone(estimator).fit(blocks(X, 10))
    assert cost.passes == 1
    np.testing.assert_array_equal(found.outliers_, expected.outliers_)
    bound = expected.certificate_.lower_bound
    assert found.certificate_.lower_bound == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("centering", ["mean", "optimal"])
def test_rows_far_from_zero_keep_their_digits(centering, offset):
    """Against enumeration in better arithmetic: what is stated holds, and rows are as in memory."""
    for seed in range(examples(10)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((8, 3)) + offset
        truth = RowTruth(X, 2, criterion="frobenius", n_components=1, centering=centering)
        pca = RobustPCA(1, n_outliers=2, centering=centering, random_state=0)
        found, here = clone(pca).fit(blocks(X, 3)), clone(pca).fit(X)
        certificate, best = found.certificate_, truth.best()[0]
        assert certificate.lower_bound <= best * (1.0 + 1e-9)
        low, high = truth.of(found.outliers_)
        assert low * (1.0 - 1e-9) <= certificate.error <= high * (1.0 + 1e-9)
        assert certificate.status == "optimal"
        np.testing.assert_array_equal(found.outliers_, here.outliers_)
        np.testing.assert_allclose(found.mean_, here.mean_, rtol=1e-14, atol=1e-13)
        np.testing.assert_allclose(found.components_, here.components_, atol=1e-6)
        expected = here.orthogonal_distances(X)
        np.testing.assert_allclose(found.orthogonal_distances(X), expected, atol=1e-6)


def test_few_rows_are_brought_together(monkeypatch):
    monkeypatch.undo()
    X = data()
    with count_cost() as cost:
        found = RobustPCA(2, n_outliers=4, random_state=0).fit(blocks(X, 30))
    assert cost.passes == 1
    expected = RobustPCA(2, n_outliers=4, random_state=0).fit(X)
    np.testing.assert_array_equal(found.outliers_, expected.outliers_)
    assert found.error_ == pytest.approx(expected.error_, rel=1e-12)


def test_many_rows_are_proven_on_a_cluster(cluster, monkeypatch):
    monkeypatch.undo()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9000, 6)) * [9.0, 6.0, 1.0, 1.0, 1.0, 1.0] + 3.0
    planted = np.sort(rng.choice(9000, 12, replace=False))
    X[planted, 3:5] += 9.0
    lazy = blocks(X, 2500)
    with count_cost() as cost:
        found = RobustPCA(2, n_outliers=12, random_state=0).fit(lazy)
    np.testing.assert_array_equal(found.outliers_, planted)
    assert found.certificate_.status == "optimal"
    assert cost.passes <= 10
    # What is brought together is much less than the rows.
    assert cost.reduced < 0.6 * X.nbytes * cost.passes
    kept = np.delete(X, planted, axis=0)
    expected = fit_subspace(kept, 2)
    np.testing.assert_allclose(found.components_, expected.components, atol=1e-12)
    np.testing.assert_allclose(found.mean_, expected.mean, rtol=1e-12)
    error = np.sum(expected.orthogonal_distances(kept) ** 2)
    np.testing.assert_allclose(found.error_, error, rtol=1e-12)
    assert (found.predict(lazy)[planted] == -1).all().compute()
