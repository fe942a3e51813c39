"""Error of rebuilding data from some of their columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_array

from columnist.criteria import Criterion, get_criterion
from columnist.data import matrices_of
from columnist.data._parameters import Integer, checked
from columnist.data._validation import resolve_columns

__all__ = ["reconstruction_error"]


@checked(n_components=Integer(0))
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
    names = getattr(X, "columns", None)
    X = check_array(X, accept_sparse="csc", dtype=[np.float64, np.float32], input_name="X")
    columns = resolve_columns("columns", columns, X.shape[1], names)
    matrices = matrices_of(X, y, target=y is not None, center=centering == "mean")
    error = matrices.error(columns, criterion, n_components)
    if not relative:
        return error
    total = matrices.error([], criterion)
    return error / total if total > 0.0 else 0.0
