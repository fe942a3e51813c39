"""The linear map with which a predictor begins, from coefficients, models and pipelines."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_array, check_is_fitted

# Models that only pass on to another one.
_INNER = ("best_estimator_", "regressor_")
_MANY = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)
# Rows of the unit matrix that are transformed together.
_BLOCK = 256
# A transformer is affine if it maps random points of these sizes to where it should.
_SIZES, _TOLERANCE = (1e-2, 1.0, 1e3), 1e-6


def is_model(thing) -> bool:
    """Whether this is an estimator rather than an array."""
    return hasattr(thing, "fit")


def is_unfitted(model) -> bool:
    """Whether a model has still to be fitted."""
    try:
        check_is_fitted(_thawed(model))
    except NotFittedError:
        return True
    return False


def coefficients_of(predictor, n_features: int | None = None, *, name: str = "predictor"):
    """The matrix A, n_outputs x n_features, of a predictor that computes some function of Ax. From
    coefficients, a linear model, a neural network (its first layer), a multi-output or
    one-versus-rest collection of linear models, a search over or a pipeline to one of these."""
    found = _from_model(predictor, name) if is_model(predictor) else predictor
    if isinstance(found, str) or not hasattr(found, "__len__"):
        raise ValueError(
            f"{name} must be coefficients (n_outputs, n_features) or a scikit-learn model; "
            f"got {found!r}."
        )
    found = found.toarray() if sp.issparse(found) else np.asarray(found)
    found = check_array(
        found[None] if found.ndim == 1 else found, dtype=np.float64, input_name=name
    )
    if n_features is not None and found.shape[1] != n_features:
        raise ValueError(
            f"{name} has coefficients for {found.shape[1]} features, but X has {n_features}: "
            "pass the rows as the predictor sees them."
        )
    return found


def precision_of(predictor) -> float:
    """Rounding of the coefficients of a predictor, relative to the largest. A model that was fitted
    in single precision knows its coefficients no better, whatever they are stored in later."""
    if not is_model(predictor):
        dtype = np.dtype(getattr(predictor, "dtype", np.float64))
        return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
    model = _thawed(predictor)
    if isinstance(model, Pipeline):
        return precision_of(model[-1])
    if isinstance(model, _MANY):
        return max(precision_of(part) for part in model.estimators_)
    inner = [getattr(model, name) for name in _INNER if hasattr(model, name)]
    return precision_of(inner[0] if inner else _from_model(model, "predictor"))


def _thawed(model):
    return model.estimator if isinstance(model, FrozenEstimator) else model


def _from_model(model, name: str) -> np.ndarray:
    """Coefficients of a fitted model with respect to its input."""
    model = _thawed(model)
    if is_unfitted(model):
        raise ValueError(f"{name} is not fitted: fit {model} first.")
    if isinstance(model, Pipeline):
        coef = np.atleast_2d(_from_model(model[-1], name))
        for _, transformer in reversed(model.steps[:-1]):
            coef = pull_back(coef, _thawed(transformer))
        return coef
    if isinstance(model, _MANY):
        return np.vstack([np.atleast_2d(_from_model(m, name)) for m in model.estimators_])
    for inner in _INNER:
        if hasattr(model, inner):
            return _from_model(getattr(model, inner), name)
    if hasattr(model, "coefs_"):  # a neural network
        return model.coefs_[0].T
    if isinstance(model, (PCA, IncrementalPCA, TruncatedSVD)):
        return pull_back(np.eye(len(model.components_)), model)
    try:
        coef = model.coef_
    except AttributeError:
        raise ValueError(
            f"{name} does not begin with a linear map: {model} has no coef_. Pass a linear model, "
            "a neural network, a pipeline that ends in one, or the coefficients."
        ) from None
    return coef.toarray() if sp.issparse(coef) else coef


def pull_back(coef: np.ndarray, transformer) -> np.ndarray:
    """Coefficients with respect to what goes into an affine transformer, from those of its output.
    Scalers, selectors, PCA and truncated SVD are read; any other is tried out on the unit vectors,
    and refused if it does not map other points accordingly."""
    if transformer is None or transformer == "passthrough":
        return coef
    if getattr(transformer, "clip", False):
        raise ValueError(
            f"{transformer} clips values, so it is not affine: set clip=False, or pass the "
            "coefficients of a predictor without it."
        )
    if isinstance(transformer, (StandardScaler, RobustScaler, MaxAbsScaler)):
        return coef if transformer.scale_ is None else coef / transformer.scale_
    if isinstance(transformer, MinMaxScaler):
        return coef * transformer.scale_
    if type(transformer) in (PCA, IncrementalPCA, TruncatedSVD):
        if getattr(transformer, "whiten", False):
            coef = coef / np.sqrt(transformer.explained_variance_)
        return coef @ transformer.components_
    if isinstance(transformer, SelectorMixin):
        support = np.asarray(transformer.get_support())
        if len(transformer.get_feature_names_out()) == support.sum():  # a few append others
            wide = np.zeros((len(coef), len(support)))
            wide[:, support] = coef
            return wide
    return _tried_out(coef, transformer)


def _tried_out(coef: np.ndarray, transformer: BaseEstimator) -> np.ndarray:
    """The linear part by its values at the unit vectors, a block at a time."""
    n = transformer.n_features_in_ if hasattr(transformer, "n_features_in_") else None
    if n is None:
        raise ValueError(_refusal(transformer, "it does not tell its number of features"))
    origin = _outputs(np.zeros((1, n)), transformer, coef)
    found = np.empty((len(coef), n))
    for start in range(0, n, _BLOCK):
        unit = np.eye(min(_BLOCK, n - start), n, k=start)
        found[:, start : start + len(unit)] = (_outputs(unit, transformer, coef) - origin).T
    rng = np.random.default_rng(0)
    for size in _SIZES:
        points = size * rng.standard_normal((3, n))
        expected, seen = points @ found.T + origin, _outputs(points, transformer, coef)
        if not np.allclose(seen, expected, rtol=_TOLERANCE, atol=_TOLERANCE * np.abs(seen).max()):
            raise ValueError(_refusal(transformer, "it is not an affine map of the features"))
    return found


def _outputs(points: np.ndarray, transformer, coef: np.ndarray) -> np.ndarray:
    """Outputs for points that go into the transformer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            seen = transformer.transform(_named(points, transformer))
        except Exception as error:
            raise ValueError(_refusal(transformer, f"it fails on unit vectors: {error}")) from error
    seen = seen.toarray() if sp.issparse(seen) else np.asarray(seen, dtype=np.float64)
    return seen @ coef.T


def _named(points: np.ndarray, transformer):
    """Points with the column names that the transformer knows, if it knows any."""
    names = getattr(transformer, "feature_names_in_", None)
    if names is None:
        return points
    try:
        from pandas import DataFrame
    except ImportError:
        return points
    return DataFrame(points, columns=names)


def _refusal(transformer, reason: str) -> str:
    return (
        f"The linear map of {transformer} cannot be obtained: {reason}. Pass the coefficients of "
        "the predictor with respect to the features that are to be cleaned."
    )
