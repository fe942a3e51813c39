"""The linear map with which a predictor begins, from coefficients, models and pipelines."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted

from columnist.privacy._affine import pull_back

__all__ = ["coefficients_of", "is_model", "is_unfitted", "precision_of"]

# Models that only pass on to another one.
_INNER = ("best_estimator_", "regressor_")
_MANY = (MultiOutputRegressor, MultiOutputClassifier, OneVsRestClassifier)


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
    """The matrix A of a predictor that computes some function of :math:`Ax`.

    Parameters
    ----------
    predictor : array-like of shape (n_outputs, n_features), or fitted model
        Coefficients, or a linear model, a neural network (its first layer), a multi-output or
        one-versus-rest collection of linear models, a search over or a pipeline to one of these.
    n_features : int, optional
        Width that is expected.
    name : str, default="predictor"
        How messages call it.

    Returns
    -------
    ndarray of shape (n_outputs, n_features)

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from columnist.privacy._coefficients import coefficients_of
    >>> model = LinearRegression().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 2.0, 3.0])
    >>> coefficients_of(model).round(6).tolist()
    [[2.0, 3.0]]
    """
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
    """Rounding of the coefficients of a predictor, relative to the largest.

    A model that was fitted in single precision knows its coefficients no better, whatever they
    are stored in later.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._coefficients import precision_of
    >>> precision_of([[1.0, 2.0]]) < 1e-15, precision_of(np.ones((1, 2), np.float32)) < 1e-15
    (True, False)
    """
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
