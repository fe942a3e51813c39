"""Errors of a selection entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.validation import check_array

from columnist.data._parameters import Integer, Number, checked
from columnist.data._validation import resolve_columns


@checked(n_components=Integer(0), threshold=Number(0.0))
def entry_errors(
    X, columns: Sequence[int | str], *, n_components: int = 0, threshold: float = 0.5
) -> tuple[float, float]:
    r"""Share of entries of X that are reconstructed wrongly, and mean absolute error of the
    entries.

    With the residual R of X after projection on the selected columns and the best
    ``n_components`` further directions,

    .. math:: \ell_0 = \frac{1}{mn} \left|\{(i, j) : |R_{ij}| > t\}\right|, \qquad
        \ell_1 = \frac{1}{mn} \sum_{ij} |R_{ij}|.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str
        The selection: indices, names of a data frame's columns, or a mask.
    n_components : int, default=0
        Extracted directions in addition to the columns.
    threshold : float, default=0.5
        Size t of a residual above which an entry is wrong; 0.5 is where integers are rounded to
        another one.

    Returns
    -------
    l0, l1 : float
        Share of wrong entries, and mean absolute residual.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.metrics import entry_errors
    >>> X = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    >>> entry_errors(X, [0])
    (0.1666..., 0.3333...)
    """
    names = getattr(X, "columns", None)
    X = check_array(X, dtype=np.float64, input_name="X")
    columns = resolve_columns("columns", columns, X.shape[1], names)
    residual = X - _projected(X, X[:, columns])
    if n_components:
        U, sigma, Vt = np.linalg.svd(residual, full_matrices=False)
        residual = (U[:, n_components:] * sigma[n_components:]) @ Vt[n_components:]
    size = np.abs(residual)
    return float(np.mean(size > threshold)), float(size.mean())


def _projected(X: np.ndarray, selected: np.ndarray) -> np.ndarray:
    """X projected on the span of the selected columns, which may depend on one another."""
    U, sigma, _ = np.linalg.svd(selected, full_matrices=False)
    rank = int(
        np.sum(sigma > np.finfo(np.float64).eps * max(selected.shape) * sigma.max(initial=0.0))
    )
    return U[:, :rank] @ (U[:, :rank].T @ X)
