"""The linear part of fitted transformers: what a pipeline does to the features before its model."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

__all__ = ["pull_back"]

# Rows of the unit matrix that are transformed together.
_BLOCK = 256
# A transformer is affine if it maps random points of these sizes to where it should.
_SIZES, _TOLERANCE = (1e-2, 1.0, 1e3), 1e-6


def pull_back(coef: np.ndarray, transformer) -> np.ndarray:
    """Coefficients with respect to what goes into an affine transformer.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, n_features_out)
        Coefficients with respect to what comes out of it.
    transformer : fitted transformer, "passthrough" or None
        Scalers, selectors, PCA and truncated SVD are read; any other is tried out on the unit
        vectors, and refused if it does not map other points accordingly.

    Returns
    -------
    ndarray of shape (n_outputs, n_features_in)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from columnist.privacy._affine import pull_back
    >>> scaler = StandardScaler().fit([[0.0, 5.0], [2.0, 9.0]])
    >>> pull_back(np.array([[1.0, 1.0]]), scaler)
    array([[1. , 0.5]])
    """
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
        return _scores(coef, transformer) @ transformer.components_
    support = _support(transformer)
    if support is not None:
        wide = np.zeros((len(coef), len(support)))
        wide[:, support] = coef
        return wide
    return _tried_out(coef, transformer)


def _scores(coef: np.ndarray, decomposition) -> np.ndarray:
    """Coefficients of the scores before whitening."""
    if getattr(decomposition, "whiten", False):
        return coef / np.sqrt(decomposition.explained_variance_)
    return coef


def _support(transformer) -> np.ndarray | None:
    """Mask of the columns that a plain selector keeps."""
    if not isinstance(transformer, SelectorMixin):
        return None
    support = np.asarray(transformer.get_support())
    names = transformer.get_feature_names_out()
    return support if len(names) == support.sum() else None  # a few append further columns


def _tried_out(coef: np.ndarray, transformer: BaseEstimator) -> np.ndarray:
    """The linear part by its values at the unit vectors, a block at a time."""
    n = transformer.n_features_in_ if hasattr(transformer, "n_features_in_") else None
    if n is None:
        raise ValueError(_refusal(transformer, "it does not tell its number of features"))
    origin = _outputs(np.zeros((1, n)), transformer, coef)
    found = np.empty((len(coef), n))
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        unit = np.zeros((stop - start, n))
        unit[np.arange(stop - start), np.arange(start, stop)] = 1.0
        found[:, start:stop] = (_outputs(unit, transformer, coef) - origin).T
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
