"""scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.covariance import MinCovDet
from sklearn.decomposition import PCA
from sklearn.feature_selection import SequentialFeatureSelector, f_classif, mutual_info_classif
from sklearn.linear_model import LinearRegression, LogisticRegressionCV, orthogonal_mp


def sequential(X, y, k):
    """Forward selection by the error on the rows of the fit, so that the question is the same."""
    rows = np.arange(len(X))
    chosen = SequentialFeatureSelector(
        LinearRegression(), n_features_to_select=k, cv=[(rows, rows)], n_jobs=1
    ).fit(X, y)
    return {"columns": np.flatnonzero(chosen.get_support())}


def pursuit(X, y, k):
    """Orthogonal matching pursuit."""
    scale = np.linalg.norm(X, axis=0)
    coef = orthogonal_mp(X / scale, y, n_nonzero_coefs=k)
    return {"columns": np.flatnonzero(coef)}


def f_test(X, y, k):
    """Analysis of variance."""
    return {"features": np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")[:k]}


def information(X, y, k):
    """Mutual information with the class, from nearest neighbours."""
    scores = mutual_info_classif(X, y, random_state=0, n_jobs=1)
    return {"features": np.argsort(-scores, kind="stable")[:k]}


def determinant(X, n_components):
    """Leading axes of the minimum covariance determinant."""
    fitted = MinCovDet(random_state=0).fit(X)
    axes = np.linalg.eigh(fitted.covariance_)[1][:, ::-1][:, :n_components].T
    return {"axes": axes, "centre": fitted.location_}


def pca(X, n_components):
    """Plain principal components, for scale."""
    fitted = PCA(n_components).fit(X)
    return {"axes": fitted.components_, "centre": fitted.mean_}


def everything(X, y, k):
    """No choice at all, for scale."""
    return {"features": np.arange(X.shape[1])}


def lasso_labels(X, y, new, solver="liblinear"):
    """Classes of new rows by logistic regression with an L1 penalty, its weight by folds."""
    model = LogisticRegressionCV(Cs=10, cv=3, l1_ratios=(1.0,), solver=solver, random_state=0).fit(
        X, y
    )
    return {"labels": model.predict(new), "size": np.count_nonzero(model.coef_)}
