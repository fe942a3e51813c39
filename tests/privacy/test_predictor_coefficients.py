"""Coefficients of models, against differences of what they compute."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from columnist.privacy._predictor import coefficients_of, is_unfitted

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 5)) * [1.0, 4.0, 0.5, 2.0, 1.0] + 3.0
VALUES = X @ RNG.standard_normal((5, 2)) + 0.1 * RNG.standard_normal((80, 2))
CLASSES = np.digitize(VALUES[:, 0], np.quantile(VALUES[:, 0], [0.3, 0.6]))

REGRESSORS = [
    LinearRegression(),
    Ridge(),
    Lasso(alpha=0.01),
    PLSRegression(2),
    MultiOutputRegressor(Ridge()),
    GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2),
    TransformedTargetRegressor(Ridge()),
    make_pipeline(StandardScaler(), PCA(3), Ridge()),
    make_pipeline(StandardScaler(), make_pipeline("passthrough", Ridge())),
]
CLASSIFIERS = [
    LogisticRegression(max_iter=1000),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    OneVsRestClassifier(RidgeClassifier()),
    make_pipeline(StandardScaler(), LinearSVC()),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_regressors(model):
    model.fit(X, VALUES)
    found = coefficients_of(model, 5)
    change = model.predict(X[:9]) - model.predict(X[9:18])
    np.testing.assert_allclose((X[:9] - X[9:18]) @ found.T, change, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(coefficients_of(FrozenEstimator(model)), found)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_classifiers(model):
    model.fit(X, CLASSES)
    found = coefficients_of(model, 5)
    change = model.decision_function(X[:9]) - model.decision_function(X[9:18])
    np.testing.assert_allclose((X[:9] - X[9:18]) @ found.T, change, rtol=1e-6, atol=1e-9)


def test_other_kinds():
    network = MLPClassifier((3, 2), max_iter=3, random_state=0)
    with pytest.warns(UserWarning, match="iterations"):
        network.fit(X, CLASSES)
    np.testing.assert_array_equal(coefficients_of(network), network.coefs_[0].T)
    kernel = SVC(kernel="linear").fit(X, CLASSES)
    np.testing.assert_array_equal(coefficients_of(kernel), kernel.coef_)
    parts = PCA(2).fit(X)
    np.testing.assert_array_equal(coefficients_of(parts), parts.components_)
    sparse = LogisticRegression(max_iter=1000).fit(X, CLASSES).sparsify()
    np.testing.assert_array_equal(coefficients_of(sparse), sparse.coef_.toarray())
    np.testing.assert_array_equal(coefficients_of(sp.eye_array(3)), np.eye(3))
    assert coefficients_of([1.0, 2.0]).shape == (1, 2)


def test_fitted_or_not():
    assert is_unfitted(Ridge()) and is_unfitted(make_pipeline(StandardScaler(), Ridge()))
    assert not is_unfitted(FrozenEstimator(Ridge().fit(X, VALUES)))
    with pytest.raises(ValueError, match="is not fitted"):
        coefficients_of(Ridge())


@pytest.mark.parametrize(
    "model",
    [SVC(), KNeighborsRegressor(), RandomForestRegressor(n_estimators=2)],
    ids=str,
)
def test_models_without_a_linear_map(model):
    with pytest.raises(ValueError, match="does not begin with a linear map"):
        coefficients_of(make_pipeline(StandardScaler(), model).fit(X, CLASSES))


def test_wrong_width():
    with pytest.raises(ValueError, match="for 5 features, but X has 6"):
        coefficients_of(Ridge().fit(X, VALUES), 6)
    with pytest.raises(ValueError, match="must be coefficients"):
        coefficients_of(None)
