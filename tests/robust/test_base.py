"""What all robust PCA estimators share: subspace, distances, flags, and bad input."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from columnist.data._blocks import as_rows
from columnist.robust._base import (
    most_outlying,
    normality,
    of_block,
    points,
    resolve_components,
    resolve_outliers,
)
from columnist.robust._baselines import LeverageOutliers, TrimmedPCA
from columnist.robust._cutoffs import Cutoffs
from columnist.robust._subspace import Subspace, fit_subspace
from tests.data.test_blocks import Slices
from tests.robust.estimators import ALL, name

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 4)) * [5, 1, 1, 1] + [1, 2, 3, 4]
X[[3, 7, 20, 21]] += [0, 30, 0, 0]

every = pytest.mark.parametrize("estimator", ALL, ids=name)


# --- what a fit promises ---------------------------------------------------------------------


@every
def test_error_is_that_of_the_kept_rows(estimator):
    found = clone(estimator).fit(X)
    kept = np.delete(X, found.outliers_, axis=0)
    rest = kept - found.inverse_transform(found.transform(kept))
    assert found.error_ == pytest.approx(np.sum(rest**2), rel=1e-9)
    assert list(found.outliers_) == sorted(set(found.outliers_))


@every
def test_axes_are_orthonormal_with_fixed_signs(estimator):
    found = clone(estimator).fit(X)
    axes = found.components_
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(axes)), atol=1e-10)
    assert np.all(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)] > 0.0)


@every
def test_distances_and_flags(estimator):
    found = clone(estimator).fit(X)
    T = found.transform(X)
    np.testing.assert_allclose(
        found.score_distances(X), np.sqrt((T**2 / found.explained_variance_).sum(1)), rtol=1e-9
    )
    np.testing.assert_allclose(
        found.orthogonal_distances(X),
        np.linalg.norm(X - found.inverse_transform(T), axis=1),
        rtol=1e-9,
    )
    far = (found.score_distances(X) > found.score_cutoff_) | (
        found.orthogonal_distances(X) > found.orthogonal_cutoff_
    )
    np.testing.assert_array_equal(found.predict(X), np.where(far, -1, 1))
    np.testing.assert_array_equal(found.decision_function(X) < 0.0, far)
    np.testing.assert_array_equal(clone(estimator).fit_predict(X), found.predict(X))
    assert np.all(found.score_samples(X) <= 0.0)


@every
def test_far_rows_are_flagged_and_the_centre_is_not(estimator):
    found = clone(estimator).fit(X)
    across = np.linalg.svd(found.components_)[2][-1]
    points = found.mean_ + np.array([[0], [1e3]]) * across
    np.testing.assert_array_equal(found.predict(points), [1, -1])
    points = found.mean_ + np.array([[0], [1e3]]) * found.components_[0]
    np.testing.assert_array_equal(found.predict(points), [1, -1])


# --- scales and types ------------------------------------------------------------------------


@every
@pytest.mark.parametrize("scale", [2.0**-498, 2.0**498])
def test_tiny_and_huge(estimator, scale):
    plain, scaled = clone(estimator).fit(X), clone(estimator).fit(X * scale)
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-9)
    assert scaled.error_ == pytest.approx(plain.error_ * scale**2)
    np.testing.assert_allclose(scaled.explained_variance_, plain.explained_variance_ * scale**2)
    np.testing.assert_allclose(
        scaled.decision_function(X * scale), plain.decision_function(X), atol=1e-8
    )
    np.testing.assert_allclose(
        scaled.transform(X * scale), plain.transform(X) * scale, atol=1e-9 * scale
    )


@every
def test_single_precision(estimator):
    single = X.astype(np.float32)
    one, two = clone(estimator).fit(single), clone(estimator).fit(single.astype(np.float64))
    np.testing.assert_array_equal(one.outliers_, two.outliers_)
    assert one.error_ == two.error_


@every
def test_names_of_frames(estimator):
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = clone(estimator).set_output(transform="pandas").fit(frame)
    assert list(found.feature_names_in_) == list("abcd")
    prefix = type(estimator).__name__.lower()
    assert list(found.transform(frame).columns) == [f"{prefix}0"]


@every
def test_pickle_keeps_the_fit(estimator):
    found = clone(estimator).fit(X)
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.decision_function(X), found.decision_function(X))


# --- nothing to explain ----------------------------------------------------------------------


@every
@pytest.mark.parametrize("value", [0.0, 7.3])
@pytest.mark.filterwarnings("ignore:TrimmedPCA")
def test_all_points_equal(estimator, value):
    same = np.full((12, 3), value)
    with pytest.warns(UserWarning, match="vary in 0 directions only"):
        found = clone(estimator).fit(same)
    assert found.error_ <= 1e-20
    np.testing.assert_allclose(found.components_ @ found.components_.T, [[1.0]])
    np.testing.assert_array_equal(found.predict(same), 1)
    np.testing.assert_array_equal(found.predict(value + np.eye(3)), -1)


@every
def test_rows_on_a_line(estimator):
    line = np.outer(np.arange(20.0), [3.0, 4.0, 0.0]) + 5.0
    found = clone(estimator).fit(line)
    assert found.error_ <= 1e-18
    np.testing.assert_allclose(found.components_, [[0.6, 0.8, 0.0]], atol=1e-9)
    np.testing.assert_array_equal(found.predict(line), 1)
    assert found.predict(line[:1] + np.array([0.0, 0.0, 0.1]))[0] == -1


def test_more_components_than_directions():
    line = np.outer(np.arange(20.0), [3.0, 4.0, 0.0])
    with pytest.warns(UserWarning, match="vary in 1 directions only; the other 1 components"):
        found = TrimmedPCA(2, n_outliers=2).fit(line)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(2), atol=1e-12)


# --- bad input -------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(estimator, value):
    broken = X.copy()
    broken[3, 2] = value
    with pytest.raises(ValueError, match="Input X contains"):
        clone(estimator).fit(broken)


@every
def test_sparse(estimator):
    with pytest.raises(TypeError, match="Sparse data was passed"):
        clone(estimator).fit(sp.csr_array(X))


@every
def test_one_row(estimator):
    with pytest.raises(ValueError, match="1 sample"):
        clone(estimator).fit(X[:1])


@every
def test_two_rows(estimator):
    found = clone(estimator).fit(X[:2])
    np.testing.assert_allclose(found.mean_, X[:2].mean(axis=0))
    assert found.error_ < 1e-15


@every
def test_too_large_to_square(estimator):
    with pytest.raises(ValueError, match="too large to be squared"):
        clone(estimator).fit(1e160 * X)


@every
def test_misspelt_cutoff(estimator):
    with pytest.raises(ValueError, match="cutoff must be one of 'cross-fitted', 'classical'"):
        clone(estimator).set_params(cutoff="clasical").fit(X)


@pytest.mark.parametrize("estimator", [e for e in ALL if hasattr(e, "n_components")], ids=name)
@pytest.mark.parametrize(("r", "message"), [(5, "too large for"), (-1, "n_components must be")])
def test_number_of_components(estimator, r, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).set_params(n_components=r).fit(X)


@pytest.mark.parametrize("estimator", [e for e in ALL if hasattr(e, "n_outliers")], ids=name)
@pytest.mark.parametrize("k", [40, -1, 1.0, "many", True])
def test_number_of_outliers(estimator, k):
    with pytest.raises(ValueError, match="n_outliers must be"):
        clone(estimator).set_params(n_outliers=k).fit(X)


def test_misspelt_centering():
    with pytest.raises(ValueError, match="centering must be one of"):
        LeverageOutliers(1, n_outliers=1, centering="medain").fit(X)


def test_wrong_number_of_scores():
    found = TrimmedPCA(1, n_outliers=2).fit(X)
    with pytest.raises(ValueError, match="X has 2 columns, but TrimmedPCA found 1 components"):
        found.inverse_transform(np.zeros((3, 2)))


# --- helpers ---------------------------------------------------------------------------------


def test_numbers_and_fractions():
    assert [resolve_outliers(k, 30) for k in (0, 29, 0.0, 0.1, 0.99)] == [0, 29, 0, 3, 29]
    assert resolve_components(3, 3, 5) == 3
    with pytest.raises(ValueError, match="between 1 and 2"):
        resolve_components(3, 2, 5)


def test_ties_go_to_the_earlier_row():
    np.testing.assert_array_equal(most_outlying(np.array([1.0, 3.0, 2.0, 3.0, 2.0]), 3), [1, 2, 3])


# -- questions about rows, in memory and block by block ------------------------------


@pytest.mark.parametrize(
    ("question", "power"),
    [
        (Subspace.scores, 1),
        (Subspace.score_distances, 0),
        (Subspace.orthogonal_distances, 1),
        (partial(normality, Cutoffs(2.0, 3.0)), 0),
    ],
)
def test_answers_do_not_depend_on_the_unit_or_on_the_blocks(question, power):
    X = np.random.default_rng(0).standard_normal((30, 4)) + 2.0
    fit = fit_subspace(X, 2)
    plain = of_block(question, fit, 1.0, X)
    if isinstance(question, partial):
        question = partial(normality, Cutoffs(2.0, 3.0 / 8))
    visit = partial(of_block, question, fit.scaled(1 / 8), 8.0)
    for rows in (as_rows(X), Slices(X, [7, 7, 20])):
        found = rows.map(visit, 2 if plain.ndim == 2 else None)
        np.testing.assert_allclose(8.0**power * found, plain, rtol=1e-12)


def test_normality_is_the_larger_distance_in_units_of_its_cutoff():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 6.0], [9.0, 0.0]])
    answers = normality(Cutoffs(2.0, 3.0), fit_subspace(X[:2], 1), X)
    deviation = np.sqrt(2.0)
    np.testing.assert_allclose(-answers, [0.5 / deviation, 0.5 / deviation, 2.0, 4.5 / deviation])


def test_points():
    visit = partial(points, np.array([1.0, 2.0]), np.array([[0.6, 0.8]]))
    coordinates = np.array([[0.0], [5.0], [10.0]])
    expected = [[1.0, 2.0], [4.0, 6.0], [7.0, 10.0]]
    np.testing.assert_allclose(visit(coordinates), expected)
    np.testing.assert_allclose(Slices(coordinates, [1]).map(visit, 2), expected)
