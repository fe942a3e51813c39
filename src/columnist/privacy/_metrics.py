"""Measures of what cleaning costs and what it hides."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_array

from columnist.privacy._coefficients import coefficients_of

__all__ = ["linear_privacy", "privacy_error", "utility_error", "worse_share"]

# Guesses closer than this share of their size differ by rounding.
_EQUAL = 1e-12


def utility_error(X, X_cleaned, predictor) -> np.ndarray:
    r"""Squared change of the predictor's outputs, :math:`\|Ax - A\tilde x\|^2`, for every row.

    Parameters
    ----------
    X, X_cleaned : array-like of shape (n_samples, n_features)
        Rows before and after.
    predictor : array-like of shape (n_outputs, n_features) or fitted model
        As for :class:`~columnist.privacy.NullSpaceCleaner`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from columnist.privacy import utility_error
    >>> utility_error([[3.0, 1.0]], [[1.0, -1.0]], [[1.0, -1.0], [0.0, 1.0]])
    array([4.])
    """
    X, X_cleaned = _pair("X", X, "X_cleaned", X_cleaned)
    coef = coefficients_of(predictor, X.shape[1])
    change = (X.astype(np.float64) - X_cleaned) @ coef.T
    return np.einsum("ij,ij->i", change, change)


def privacy_error(y_confidential, y_guessed) -> np.ndarray:
    r"""Squared error of an adversary's guess, :math:`\|\tilde y_c - y_c\|^2`, for every row.

    Parameters
    ----------
    y_confidential, y_guessed : array-like of shape (n_samples,) or (n_samples, n_secrets)
        The truth, or what a model finds from the rows themselves; and the guess from cleaned rows.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from columnist.privacy import privacy_error
    >>> privacy_error([5.0, 8.0], [-1.0, -1.0])
    array([36., 81.])
    """
    truth, guess = _pair("y_confidential", y_confidential, "y_guessed", y_guessed)
    return np.einsum("ij,ij->i", guess - truth, guess - truth)


def linear_privacy(y_confidential, y_guessed, y_at_mean) -> float:
    """Share of guesses that are worse than the one that does without the row.

    A guess that equals the one for the mean, up to rounding, counts one half. About one half is
    also the best to hope for: an adversary whose guesses are worse than that more often than
    not uses a bad model, and would do better to train another.

    Parameters
    ----------
    y_confidential, y_guessed : array-like of shape (n_samples,) or (n_samples, n_secrets)
        The truth and the guess. Every secret of every row counts.
    y_at_mean : float or array-like of shape (n_secrets,)
        The guess for a row that equals the mean.

    Returns
    -------
    float

    Examples
    --------
    >>> from columnist.privacy import linear_privacy
    >>> linear_privacy([1.0, 2.0, 3.0, 6.0], [1.1, 1.5, 2.0, 5.0], 3.0)
    0.25
    """
    truth, guess = _pair("y_confidential", y_confidential, "y_guessed", y_guessed)
    base = np.asarray(y_at_mean, dtype=np.float64)
    if base.ndim > 1 or base.size not in (1, truth.shape[1]):
        raise ValueError(
            f"y_at_mean must hold one value for each of the {truth.shape[1]} secrets; "
            f"got the shape {base.shape}."
        )
    return worse_share(truth, guess, base)


def worse_share(truth: np.ndarray, guess: np.ndarray, base: np.ndarray) -> float:
    """Share of guesses farther from the truth than others; equal guesses count one half."""
    worse = np.abs(guess - truth) > np.abs(base - truth)
    near = _EQUAL * (np.abs(guess) + np.abs(base) + np.abs(truth))
    return float(np.mean(np.where(np.abs(guess - base) <= near, 0.5, worse)))


def _pair(first: str, A, second: str, B) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices of one shape; vectors become columns."""
    A, B = (
        check_array(M, dtype=(np.float64, np.float32), ensure_2d=False, input_name=name)
        for name, M in ((first, A), (second, B))
    )
    A, B = (M[:, None] if M.ndim == 1 else M for M in (A, B))
    if A.shape != B.shape:
        raise ValueError(f"{first} and {second} differ in shape: {A.shape} and {B.shape}.")
    return A, B
