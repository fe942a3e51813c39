"""Selections from resampled rows, against direct computations and planted problems."""

from __future__ import annotations

import os
import signal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from columnist import (
    ColumnSelector,
    ForwardSelector,
    PivotedQRSelector,
    ScaleWarning,
    selection_stability,
)
from columnist.selection import SelectionStability
from columnist.selection._resamples import Drawing, left_out_error
from columnist.selection._stability import replacements, stability_index

WINE = StandardScaler().fit_transform(load_wine().data)
CLASSES = load_wine().target


def planted(n=120, noise=6, seed=0):
    """Two strong columns, a near-copy of the first, and weak noise."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)) * [[5.0], [4.0]]
    return np.column_stack([a, b, a + 1e-3 * rng.normal(size=n), rng.normal(size=(n, noise))])


# -- direct computations ------------------------------------------------------------


def plain_index(Z):
    """Equation of the index, term by term."""
    M, p = len(Z), len(Z[0])
    k = sum(map(sum, Z)) / M
    spread = sum(M / (M - 1) * (f := sum(z[j] for z in Z) / M) * (1 - f) for j in range(p)) / p
    return 1 - spread / (k / p * (1 - k / p))


supports = st.integers(2, 9).flatmap(
    lambda m: st.integers(2, 6).flatmap(
        lambda p: st.lists(
            st.lists(st.booleans(), min_size=p, max_size=p), min_size=m, max_size=m
        ).filter(lambda Z: any(map(any, Z)) and not all(map(all, Z)))
    )
)


@given(supports)
def test_the_index_is_the_published_one(Z):
    assert stability_index(np.array(Z))[0] == pytest.approx(plain_index(Z), abs=1e-12)


def test_the_standard_error_of_the_index_is_that_of_repetitions():
    rng = np.random.default_rng(0)
    chances = np.array([0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.0])
    found = np.array([stability_index(rng.random((100, 8)) < chances) for _ in range(600)])
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.1)


def test_the_index_of_random_columns_is_zero_and_of_equal_ones_one():
    rng = np.random.default_rng(1)
    Z = np.array([np.isin(np.arange(20), rng.choice(20, 5, replace=False)) for _ in range(400)])
    assert abs(stability_index(Z)[0]) < 0.02
    assert stability_index(np.tile([True, False, True], (5, 1))) == (1.0, 0.0)
    assert np.isnan(stability_index(np.ones((3, 2), bool))[0])


@given(st.integers(0, 2**16), st.booleans())
def test_the_error_is_that_of_a_linear_regression(seed, own):
    rng = np.random.default_rng(seed)
    X, columns = rng.normal(size=(30, 5)) + 3.0, np.array([1, 3])
    Y = None if own else rng.normal(size=(30, 2))
    drawn = np.sort(rng.choice(30, 30))
    left = np.setdiff1d(np.arange(30), drawn)
    T = X if Y is None else Y
    weights = rng.choice([0.5, 1.0, 2.0], 30)
    inside, outside = weights[drawn], weights[left, None]
    model = LinearRegression().fit(X[drawn][:, columns], T[drawn], inside)
    residual = (outside * np.square(T[left] - model.predict(X[left][:, columns]))).sum()
    mean = np.average(T[drawn], axis=0, weights=inside)
    expected = residual / (outside * np.square(T[left] - mean)).sum()
    for data in (X, sp.csc_array(X)):
        found = left_out_error(data, Y, weights, drawn, left, columns)
        assert found == pytest.approx(expected, rel=1e-8)


def test_a_constant_target_has_no_error():
    X = np.full((4, 2), 0.1)
    args = np.ones(4), np.array([0, 0, 1]), np.array([2, 3]), np.array([0])
    assert np.isnan(left_out_error(X, None, *args))
    assert np.isnan(left_out_error(WINE[:4], None, *args[:2], np.array([], int), args[3]))


def test_everything_against_a_slow_direct_run():
    found = selection_stability(
        PivotedQRSelector(3), WINE, n_resamples=6, sizes=[2, 4], random_state=3
    )
    seeds = _seeds(3, 6)
    for i, seed in enumerate(seeds):
        drawn = np.sort(np.random.default_rng(seed).choice(len(WINE), len(WINE)))
        assert np.array_equal(
            found.supports[i], PivotedQRSelector(3).fit(WINE[drawn]).get_support()
        )
        left = np.setdiff1d(np.arange(len(WINE)), drawn)
        for j, size in enumerate([2, 4]):
            kept = np.flatnonzero(PivotedQRSelector(size).fit(WINE[drawn]).get_support())
            fit = LinearRegression().fit(WINE[drawn][:, kept], WINE[drawn])
            rest = np.square(WINE[left] - fit.predict(WINE[left][:, kept])).sum()
            total = np.square(WINE[left] - WINE[drawn].mean(axis=0)).sum()
            assert found.losses[i, j] == pytest.approx(rest / total, rel=1e-8)
    f = found.supports.mean(axis=0)
    assert np.allclose(found.standard_errors, np.sqrt(f * (1 - f) / 6))


def _seeds(random_state, n):
    from columnist.data._validation import random_generator

    return random_generator(random_state).integers(2**31 - 1, size=n + 1)[1:]


def test_one_standard_error_by_hand():
    # means 5, 3, 2.5, 2.4; the standard error of the last is 0.2
    losses = np.array([[5.0, 3.2, 2.4, 2.2], [5.0, 2.8, 2.6, 2.6]])
    found = SelectionStability(
        np.array([0]), np.eye(2, 4, dtype=bool), np.array([1, 2, 3, 4]), losses, ()
    )
    assert found.errors == pytest.approx([5.0, 3.0, 2.5, 2.4])
    assert found.error_standard_errors[-1] == pytest.approx(0.2)
    assert found.best_size == 3


# -- replacements -------------------------------------------------------------------


def test_shares_of_a_place_add_up_to_one_where_the_number_is_fixed():
    found = selection_stability(ForwardSelector(3), WINE, random_state=0)
    Z = found.supports
    for c in np.flatnonzero((0 < found.frequencies) & (found.frequencies < 1)):
        shares = Z[~Z[:, c]].mean(axis=0) - Z[Z[:, c]].mean(axis=0)
        assert np.delete(shares, c).sum() == pytest.approx(1.0)
    for pair in found.replacements:
        absent = ~Z[:, pair.column]
        assert pair.absent == absent.sum()
        assert pair.times == (absent & Z[:, pair.by]).sum()
        share = Z[absent, pair.by].mean() - Z[~absent, pair.by].mean()
        assert pair.share == pytest.approx(share)
        r = np.corrcoef(WINE[:, pair.column], WINE[:, pair.by])[0, 1]
        assert pair.r2 == pytest.approx(r * r)


def test_near_copies_replace_one_another_and_noise_is_rarely_kept():
    found = selection_stability(ForwardSelector(2), planted(), random_state=0)
    f = found.frequencies
    assert f[1] == 1.0
    assert f[0] + f[2] == pytest.approx(1.0)
    assert 0.1 < f[0] < 0.9
    assert f[3:].max() == 0.0
    (pair,) = found.replacements
    assert {pair.column, pair.by} == {0, 2}
    assert pair.share == pytest.approx(1.0)
    assert pair.times == pair.absent
    assert pair.r2 > 0.999


def test_random_columns_replace_nobody():
    rng = np.random.default_rng(5)
    reported = 0
    for _ in range(200):
        Z = np.array([np.isin(np.arange(12), rng.choice(12, 4, replace=False)) for _ in range(50)])
        reported += len(replacements(Z, np.arange(4), rng.normal(size=(9, 12)), np.ones(9))) > 0
    assert reported < 20


# -- invariants ---------------------------------------------------------------------


@given(st.permutations(range(13)), st.sampled_from(["bootstrap", "subsample"]))
def test_permuted_columns_have_permuted_frequencies(order, method):
    how = {"n_resamples": 5, "method": method, "random_state": 1}
    plain = selection_stability(ForwardSelector(3), WINE, **how)
    moved = selection_stability(ForwardSelector(3), WINE[:, order], **how)
    assert np.array_equal(moved.frequencies, plain.frequencies[order])
    assert np.allclose(moved.losses, plain.losses)


def test_an_included_column_is_always_kept():
    found = selection_stability(
        ColumnSelector(3, include=[11]), WINE, n_resamples=8, random_state=0
    )
    assert found.frequencies[11] == 1.0
    assert found.n_proven == 8


@pytest.mark.parametrize("selector", [ColumnSelector(3), SelectKBest(f_classif, k=3)])
def test_the_number_of_jobs_changes_nothing(selector):
    one, two = (
        selection_stability(
            selector, WINE, CLASSES, n_resamples=8, sizes=[1, 4], random_state=7, n_jobs=n_jobs,
            time_limit=None,
        )
        for n_jobs in (1, 2)
    )  # fmt: skip
    assert np.array_equal(one.supports, two.supports)
    assert np.array_equal(one.losses, two.losses)
    assert one.replacements == two.replacements


def test_classes_are_drawn_in_proportion():
    groups = [np.arange(3), np.arange(3, 20)]
    for method, fraction, sizes in [("bootstrap", 1.0, (3, 17)), ("subsample", 0.3, (1, 5))]:
        drawn, left = Drawing(groups, method, fraction)(np.random.default_rng(0))
        assert ((drawn < 3).sum(), (drawn >= 3).sum()) == sizes
        assert not set(drawn) & set(left)
        assert set(drawn) | set(left) == set(range(20))
        assert method == "bootstrap" or len(set(drawn)) == len(drawn)


def test_frames_pipelines_and_sparse_rows_give_what_arrays_give():
    frame = load_wine(as_frame=True).data
    how = {"n_resamples": 5, "random_state": 0}
    pipeline = make_pipeline(StandardScaler(), SelectKBest(f_classif, k=3))
    named = selection_stability(pipeline, frame, CLASSES, sizes=[2, 3], **how)
    plain = selection_stability(SelectKBest(f_classif, k=3), frame.to_numpy(), CLASSES, **how)
    assert np.array_equal(named.supports, plain.supports)
    assert named.feature_names == tuple(frame.columns)
    assert named.losses[:, 1] == pytest.approx(plain.losses[:, 0])
    by_name = selection_stability(ColumnSelector(3, include=["proline"]), frame, **how)
    assert by_name.frequencies[12] == 1.0
    sparse, dense = (
        selection_stability(ForwardSelector(3), X, **how) for X in (sp.csr_array(WINE), WINE)
    )
    assert np.array_equal(sparse.supports, dense.supports)
    assert np.allclose(sparse.losses, dense.losses)


def test_the_target_of_the_error():
    how = {"n_resamples": 4, "random_state": 0}
    found = {
        (own, target): selection_stability(
            ForwardSelector(2, target=own), WINE, CLASSES, target=target, **how
        )
        for own in ("auto", "X") for target in ("auto", "X", "y")
    }  # fmt: skip
    assert [f.target for f in found.values()] == ["y", "X", "y", "X", "X", "y"]
    assert found["auto", "y"].errors[0] < 0.5


# -- weights and missing values ------------------------------------------------------


def test_weights_go_to_the_selector_and_into_the_errors():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(WINE)).astype(float)
    here = weights > 0.0
    how = {"n_resamples": 4, "random_state": 0, "sizes": [1, 3]}
    weighed = selection_stability(ForwardSelector(3), WINE, sample_weight=weights, **how)
    X, own = WINE[here], weights[here]
    for i, seed in enumerate(_seeds(0, 4)):
        drawn = np.sort(np.random.default_rng(seed).choice(len(X), len(X)))
        left = np.setdiff1d(np.arange(len(X)), drawn)
        model = ForwardSelector(3).fit(X[drawn], sample_weight=own[drawn])
        kept = np.flatnonzero(model.get_support())
        assert np.array_equal(np.flatnonzero(weighed.supports[i]), kept)
        error = left_out_error(X, None, own, drawn, left, kept)
        assert weighed.losses[i, 1] == pytest.approx(error, rel=1e-8)
    plain = selection_stability(ForwardSelector(3), WINE, **how)
    ones = selection_stability(ForwardSelector(3), WINE, sample_weight=np.ones(len(WINE)), **how)
    assert np.array_equal(ones.supports, plain.supports)
    assert np.allclose(ones.losses, plain.losses)


def test_every_step_of_a_pipeline_that_takes_weights_gets_them():
    frame = load_wine(as_frame=True).data
    weights = np.random.default_rng(0).integers(0, 3, len(frame))
    pipeline = make_pipeline(StandardScaler(), ForwardSelector(3))
    found = selection_stability(pipeline, frame, sample_weight=weights, n_resamples=3)
    rows = np.repeat(np.arange(len(frame)), weights)
    repeated = pipeline.fit(frame.iloc[rows])
    assert np.array_equal(found.selected, np.flatnonzero(repeated[-1].get_support()))
    with pytest.raises(ValueError, match="SelectKBest takes no sample_weight"):
        selection_stability(SelectKBest(), WINE, CLASSES, sample_weight=np.ones(len(WINE)))


def test_missing_values_go_to_a_selector_that_takes_them():
    X = WINE.copy()
    X[::3, 0] = X[1::9, 4] = np.nan
    selector = ColumnSelector(3, missing="covariance", centering="mean")
    weights = np.random.default_rng(0).integers(1, 3, len(X)).astype(float)
    found = selection_stability(
        selector, X, sample_weight=weights, n_resamples=3, random_state=0, sizes=[2, 3]
    )
    assert np.array_equal(found.selected, selector.fit(X, sample_weight=weights).selected_)
    complete = ~np.isnan(X).any(axis=1)
    drawn = np.sort(np.random.default_rng(_seeds(0, 3)[0]).choice(len(X), len(X)))
    left = np.setdiff1d(np.arange(len(X)), drawn)
    drawn, left = drawn[complete[drawn]], left[complete[left]]
    kept = np.flatnonzero(found.supports[0])
    error = left_out_error(WINE, None, weights, drawn, left, kept)
    assert found.losses[0, 1] == pytest.approx(error, rel=1e-8)
    with pytest.raises(ValueError, match="NaN"):
        selection_stability(ForwardSelector(3), X, n_resamples=3)


def test_without_complete_rows_there_is_no_error():
    X = WINE.copy()
    X[::2, 0] = X[1::2, 4] = np.nan
    selector = ColumnSelector(3, missing="covariance", centering="mean")
    found = selection_stability(selector, X, n_resamples=2, random_state=0)
    assert np.isnan(found.losses).all()
    assert found.supports.sum(axis=1).tolist() == [3, 3]


def test_scales_are_warned_of_once():
    X = load_wine().data
    with pytest.warns(ScaleWarning) as caught:
        selection_stability(ColumnSelector(2), X, n_resamples=4, sizes=[1, 2], n_jobs=2)
    assert len(caught) == 1


# -- interruption, and what is shown --------------------------------------------------


def test_what_is_finished_is_returned():
    seen = []

    def stop(progress):
        seen.append(tuple(progress))
        return progress.done == 3

    found = selection_stability(ForwardSelector(2), WINE, n_resamples=9, callback=stop)
    assert seen == [(1, 9), (2, 9), (3, 9)]
    assert found.n_resamples == 3
    assert found.interrupted

    def press(progress):
        if progress.done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    found = selection_stability(ForwardSelector(2), WINE, n_resamples=9, callback=press)
    assert found.n_resamples == 2
    assert found.interrupted
    with pytest.raises(KeyboardInterrupt):
        selection_stability(ForwardSelector(2), WINE, n_resamples=9, callback=lambda _: True)


def test_the_selector_is_silent_and_its_callback_is_not_copied(capsys):
    class Uncopied:
        def __call__(self, progress):
            raise AssertionError("called")

        def __deepcopy__(self, memo):
            raise AssertionError("copied")

    selector = ColumnSelector(2, callback=Uncopied(), verbose=True)
    selection_stability(selector, WINE, n_resamples=2)
    assert capsys.readouterr().out == ""


def test_a_time_limit_is_shared():
    found = selection_stability(ColumnSelector(3), WINE, n_resamples=3, time_limit=0.0)
    assert found.n_proven is not None
    assert found.supports.sum(axis=1).tolist() == [3, 3, 3]


def test_table_and_representation():
    frame = pd.DataFrame(planted(), columns=[*"abc", *(f"n{i}" for i in range(6))])
    found = selection_stability(ForwardSelector(2), frame, sizes=[1, 2], random_state=0)
    rows = pd.DataFrame(found.table())
    assert rows.column.iloc[0] == "b"
    assert rows.frequency.is_monotonic_decreasing
    replaced = rows[rows.replaced_by.map(bool)]
    assert len(replaced) == 1
    text = repr(found)
    assert "replaced by" in text
    assert "2 columns: " in text


@pytest.mark.parametrize(
    ("selector", "options", "words"),
    [
        (ForwardSelector(2), {"n_resamples": 1}, "n_resamples must be an integer >= 2"),
        (ForwardSelector(2), {"method": "jackknife"}, "method must be one of"),
        (ForwardSelector(2), {"fraction": 0.0}, "fraction must be"),
        (ForwardSelector(2), {"method": "subsample", "fraction": 1.0}, "fraction must be less"),
        (ForwardSelector(2), {"sizes": []}, "sizes is empty"),
        (ForwardSelector(2), {"sizes": [0]}, "sizes must hold"),
        (ForwardSelector(2), {"sizes": [14]}, "sizes must be between 1"),
        (ForwardSelector(2), {"target": "y"}, "target='y' needs a y"),
        (ColumnSelector(2, input="gram"), {}, "no rows to draw"),
        (StandardScaler(), {}, "has no get_support"),
        (ForwardSelector, {}, "selector must be"),
        (make_pipeline(PolynomialFeatures(2), ForwardSelector(2)), {}, "not a mask"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_error(selector, options, words):
    with pytest.raises(ValueError, match=words):
        selection_stability(selector, WINE, **{"n_resamples": 3, **options})


def test_bad_data():
    with pytest.raises(ValueError, match="minimum of 2"):
        selection_stability(ForwardSelector(2), WINE[:1])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        selection_stability(ForwardSelector(2), WINE, CLASSES[:5])
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="in memory"):
        selection_stability(ForwardSelector(2), dask.from_array(WINE))
