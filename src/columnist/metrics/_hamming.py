"""Wrong labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import sklearn.metrics

__all__ = ["hamming_loss"]


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
