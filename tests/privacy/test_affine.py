"""The linear part of transformers, against differences of what they compute."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import NMF, PCA, FactorAnalysis, FastICA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from columnist.privacy._predictor import pull_back

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [1.0, 10.0, 0.1, 3.0, 1.0] + [5.0, 0.0, 1.0, -3.0, 2.0]
Y = X @ RNG.standard_normal(5)

AFFINE = [
    StandardScaler(),
    StandardScaler(with_std=False),
    RobustScaler(),
    RobustScaler(with_scaling=False),
    MinMaxScaler((-2, 5)),
    MaxAbsScaler(),
    PCA(3),
    PCA(2, whiten=True),
    TruncatedSVD(2),
    FastICA(3, random_state=0, tol=1.0),
    FactorAnalysis(2),
    SelectKBest(f_regression, k=2),
    VarianceThreshold(0.5),
    FunctionTransformer(),
    FunctionTransformer(lambda X: X[:, ::-1] * 2.0 + 1.0),
    make_pipeline(StandardScaler(), PCA(2)),
    FeatureUnion([("scale", StandardScaler()), ("parts", PCA(2))]),
    ColumnTransformer([("some", StandardScaler(), [1, 2])], remainder="passthrough"),
]


@pytest.mark.parametrize("transformer", AFFINE, ids=lambda t: type(t).__name__)
def test_linear_part(transformer):
    transformer.fit(X, Y)
    coef = np.random.default_rng(1).standard_normal((2, transformer.transform(X[:1]).shape[1]))
    found = pull_back(coef, transformer)
    rows = X[:10] - X[10:20]
    seen = (transformer.transform(X[:10]) - transformer.transform(X[10:20])) @ coef.T
    np.testing.assert_allclose(rows @ found.T, seen, rtol=1e-6, atol=1e-8)


def test_more_features_than_a_block():
    wide = FunctionTransformer(lambda X: 3.0 * X - 1.0).fit(np.ones((2, 600)))
    coef = np.random.default_rng(1).standard_normal((2, 600))
    np.testing.assert_allclose(pull_back(coef, wide), 3.0 * coef)


@pytest.mark.parametrize(
    "transformer",
    [
        PolynomialFeatures(2),
        QuantileTransformer(n_quantiles=20),
        FunctionTransformer(np.abs),
        NMF(2, max_iter=2000, init="nndsvda"),
    ],
    ids=lambda t: type(t).__name__,
)
def test_others_are_refused(transformer):
    transformer.fit(np.abs(X), Y)
    coef = np.ones((1, transformer.transform(np.abs(X[:1])).shape[1]))
    with pytest.raises(ValueError, match=r"linear map of .* cannot be obtained"):
        pull_back(coef, transformer)


def test_clipping_is_refused():
    with pytest.raises(ValueError, match="clips values"):
        pull_back(np.ones((1, 5)), MinMaxScaler(clip=True).fit(X))


def test_passing_through():
    coef = np.ones((1, 5))
    assert pull_back(coef, None) is coef and pull_back(coef, "passthrough") is coef


def test_columns_by_name():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    by_name = ColumnTransformer([("some", StandardScaler(), ["d", "b"])]).fit(frame)
    found = pull_back(np.ones((1, 2)), by_name)
    np.testing.assert_allclose(found, [[0.0, 1 / X[:, 1].std(), 0.0, 1 / X[:, 3].std(), 0.0]])


def test_a_step_that_fails_is_named():
    def fail(rows):
        if len(rows) < 50:
            raise RuntimeError("too few rows")
        return rows

    with pytest.raises(ValueError, match="fails on unit vectors: too few rows"):
        pull_back(np.ones((1, 5)), FunctionTransformer(fail).fit(X))
