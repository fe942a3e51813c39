"""How good a selection or a prediction is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import sklearn.metrics
from sklearn.utils.validation import check_array

from columnist._matrices import Matrices
from columnist._target import resolve_target
from columnist._validation import check_choice, check_count, resolve_columns
from columnist.criteria import Criterion, get_criterion
from columnist.linalg.passes import merge_repeats

__all__ = ["hamming_loss", "reconstruction_error"]


def hamming_loss(y_true, y_pred) -> float:
    """Share of labels that are predicted wrongly, over samples *and* labels.

    Parameters
    ----------
    y_true, y_pred : array-like or sparse matrix of shape (n_samples, n_labels) or (n_samples,)
        Zeros and ones, one column per label; for vectors of classes this is the share of wrong
        ones.

    Returns
    -------
    float
        Between 0 (all right) and 1.

    See Also
    --------
    sklearn.metrics.hamming_loss : The same, with sample weights.

    Examples
    --------
    >>> from columnist.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 1], [0, 0, 1]], [[1, 1, 1], [0, 0, 0]])
    0.3333333333333333
    """
    y_true, y_pred = (y if sp.issparse(y) else np.asarray(y) for y in (y_true, y_pred))
    return float(sklearn.metrics.hamming_loss(y_true, y_pred))


def reconstruction_error(
    X,
    columns: Sequence[int | str],
    *,
    y=None,
    criterion: str | Criterion = "frobenius",
    n_components: int = 0,
    centering: str = "none",
    relative: bool = False,
) -> float:
    r"""Error of approximating X, or y, by given columns of X, computed from the data.

    .. math:: \Theta\left(T - X_S A - V C\right), \quad A, V, C \text{ optimal},

    where T is X or y, S the given columns, and V has ``n_components`` free directions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str
        The selection: indices, names of a data frame's columns, or a mask.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Target; X itself if None. A vector of strings, booleans or integers holds class labels
        and stands for their indicator matrix.
    criterion : str or Criterion, default="frobenius"
        Error of the residual; ``"frobenius"`` is the squared norm.
    n_components : int, default=0
        Free directions beside the columns.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` makes an intercept free.
    relative : bool, default=False
        Divide by the error without any column or component.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from columnist.metrics import reconstruction_error
    >>> X = load_wine(as_frame=True).data
    >>> reconstruction_error(X, ["proline", "magnesium"], relative=True) < 0.01
    True
    """
    criterion = get_criterion(criterion)
    check_count("n_components", n_components, low=0)
    check_choice("centering", centering, ("none", "mean"))
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    columns = resolve_columns("columns", columns, X.shape[1], names)
    Y = None if y is None else resolve_target(y, X.shape[0])
    matrices = Matrices(merge_repeats(X), Y, center=centering == "mean")
    error = matrices.error(columns, criterion, n_components)
    if not relative:
        return error
    total = matrices.error([], criterion)
    return error / total if total > 0.0 else 0.0
