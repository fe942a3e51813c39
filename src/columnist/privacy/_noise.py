"""Noise as the alternative to cleaning."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from columnist.data._parameters import FINITE, checked
from columnist.privacy._coefficients import coefficients_of

__all__ = ["laplace_noise"]


@checked(utility=FINITE)
def laplace_noise(X, predictor, utility: float, *, random_state=None) -> np.ndarray:
    r"""Rows with Laplace noise that moves the predictor's outputs by a given amount on average.

    Independent noise of scale b changes the outputs :math:`Ax` by
    :math:`2b^2\|A\|_F^2` in expected squared norm, so
    :math:`b = \sqrt{\text{utility} / (2\|A\|_F^2)}`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    predictor : array-like of shape (n_outputs, n_features) or fitted model
        As for :class:`~columnist.privacy.NullSpaceCleaner`.
    utility : float
        Expected squared change of the outputs of a row.
    random_state : int, RandomState or None, default=None
        Source of the noise.

    Returns
    -------
    ndarray of shape (n_samples, n_features)

    Notes
    -----
    Noise of this size protects little: it is spread over all directions, those that matter to the
    predictor included. It is no differential privacy either; that needs a scale set by what one
    person can change, whatever the outputs suffer.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy import laplace_noise, utility_error
    >>> X = np.zeros((10_000, 3))
    >>> noisy = laplace_noise(X, [[1.0, 2.0, 2.0]], 0.5, random_state=0)
    >>> float(utility_error(X, noisy, [[1.0, 2.0, 2.0]]).mean().round(1))
    0.5
    """
    X = check_array(X, dtype=(np.float64, np.float32))
    size = np.linalg.norm(coefficients_of(predictor, X.shape[1]))
    if size == 0.0:
        raise ValueError(
            "The coefficients of the predictor are all zero: no noise changes its outputs."
        )
    scale = np.sqrt(utility / 2.0) / size
    noise = check_random_state(random_state).laplace(scale=scale, size=X.shape)
    return (X + noise).astype(X.dtype, copy=False)
