"""Features as the multivariate selectors compare them: centred and of unit length, or as is."""

from __future__ import annotations

import numpy as np

from columnist.linalg._passes import by_columns, squared_norms
from columnist.spectral._forms import CommonForm
from columnist.spectral._scaled_columns import ScaledColumns
from columnist.spectral._scatter import column_scatter

__all__ = ["common_features", "prepare_columns", "squared_lengths"]


def prepare_columns(X, scaling: str) -> ScaledColumns:
    """Columns of X, centred and of unit length with ``"unit"``; a constant one becomes zero.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._columns import prepare_columns
    >>> F = prepare_columns(np.array([[1.0, 2.0], [3.0, 2.0]]), "unit")
    >>> F.take([0, 1]).round(3)
    array([[-0.707,  0.   ],
           [ 0.707,  0.   ]])
    """
    if scaling == "none":
        return ScaledColumns.plain(X)
    X = by_columns(X)
    lengths = np.sqrt(column_scatter(X))
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return ScaledColumns(X, scales, means)


def common_features(form: CommonForm, shape: tuple[int, int]) -> ScaledColumns:
    """The features of a common form, which must be of the same data as X."""
    if form.features.shape != shape:
        raise ValueError(
            f"The common form is of {form.features.shape[0]} samples and "
            f"{form.features.shape[1]} features, but X has shape {shape}."
        )
    return ScaledColumns.plain(form.features)


def squared_lengths(F: ScaledColumns) -> np.ndarray:
    """Squared lengths of prepared columns."""
    if F.means is None:
        return squared_norms(F.X) * F.scales**2
    return (F.scales > 0.0).astype(np.float64)
