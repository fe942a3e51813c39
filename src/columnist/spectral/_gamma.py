"""Increasing functions of the eigenvalues, which punish high frequencies more or less."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Gamma", "resolve_gamma"]

_NAMED = {"identity": 1, "square": 2, "cube": 3}


@dataclass(frozen=True)
class Gamma:
    """An increasing function on [0, 2]; ``power`` is r if it is the r-th power, r an integer."""

    function: Callable[[np.ndarray], np.ndarray]
    power: int | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(np.asarray(values, dtype=np.float64)), dtype=np.float64)


def resolve_gamma(gamma) -> Gamma:
    """The function that an estimator's parameter stands for.

    Parameters
    ----------
    gamma : {"identity", "square", "cube"}, float or callable
        A name, the exponent of a power, or an increasing function of an array of eigenvalues.

    Returns
    -------
    Gamma

    Examples
    --------
    >>> from columnist.spectral._gamma import resolve_gamma
    >>> resolve_gamma("cube")([0.0, 0.5, 2.0])
    array([0.   , 0.125, 8.   ])
    """
    if isinstance(gamma, str) and gamma in _NAMED:
        gamma = _NAMED[gamma]
    if callable(gamma):
        return _checked(Gamma(gamma))
    real = isinstance(gamma, numbers.Real) and not isinstance(gamma, (bool, np.bool_))
    if not real or not 0.0 < gamma < np.inf:
        listed = ", ".join(repr(name) for name in _NAMED)
        raise ValueError(
            f"gamma must be one of {listed}, an exponent > 0, or an increasing function of the "
            f"eigenvalues; got {gamma!r}."
        )
    exponent = float(gamma)
    # Rounding may put an eigenvalue of zero below it.
    return Gamma(
        lambda values: np.maximum(values, 0.0) ** exponent,
        int(exponent) if exponent.is_integer() else None,
    )


def _checked(gamma: Gamma) -> Gamma:
    """The same, tried on the interval of the eigenvalues."""
    values = gamma(np.linspace(0.0, 2.0, 21))
    if values.shape != (21,) or not np.isfinite(values).all():
        raise ValueError("gamma must map an array of eigenvalues in [0, 2] to finite values.")
    if (np.diff(values) < 0.0).any():
        raise ValueError("gamma must be increasing on [0, 2], the interval of the eigenvalues.")
    return gamma
