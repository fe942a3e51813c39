"""Error criteria: functions of the singular values of a residual matrix.

A criterion is any function of the singular values that is

* **monotone**: it never decreases when a singular value grows, and
* **invariant to zeros**: appending zeros to the singular values changes nothing.

The bounds of the certified search need only these two properties. To
write your own, subclass :class:`Criterion` and define ``value``::

    class LogRank(Criterion):
        name = "logrank"

        def value(self, singular_values):
            return np.log1p(np.square(singular_values)).sum(axis=-1)

:func:`check_criterion` tests both properties on random spectra.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Criterion",
    "Frobenius",
    "KyFan",
    "Nuclear",
    "Schatten",
    "Spectral",
    "check_criterion",
    "get_criterion",
    "is_frobenius",
    "leading_values",
    "schatten_power",
]


class Criterion(ABC):
    """Base class of all error criteria.

    Subclasses define :meth:`value` on the last axis of an array of singular
    values in descending order. Set ``vectorized = False`` for a ``value`` that takes one spectrum
    at a time.
    """

    name: ClassVar[str] = "criterion"
    vectorized: ClassVar[bool] = True

    @property
    def n_leading(self) -> int | None:
        """How many of the largest singular values the value depends on; None for all.

        Overriding it avoids the computation of the others.
        """
        return None

    @abstractmethod
    def value(self, singular_values: ArrayLike) -> float:
        """Error of a residual with these singular values (last axis, descending)."""

    def values(self, spectra: np.ndarray) -> np.ndarray:
        """:meth:`value` of every row of ``spectra``."""
        if self.vectorized and _takes_rows(self):
            return np.asarray(self.value(spectra), dtype=np.float64)
        return _row_by_row(self, spectra)

    def __str__(self) -> str:
        return self.name


def _row_by_row(criterion: Criterion, spectra: np.ndarray) -> np.ndarray:
    return np.array([float(criterion.value(row)) for row in spectra], dtype=np.float64)


_TAKES_ROWS: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def _takes_rows(criterion: Criterion) -> bool:
    """Whether ``value`` gives each of many spectra the value that it has alone. One that adds up
    along the wrong axis gives a square batch values of the right shape, and proofs with them."""
    kind = type(criterion)
    if kind not in _TAKES_ROWS:
        batch = np.array([[5.0, 2.0, 1.0], [4.0, 3.0, 0.5], [7.0, 6.0, 0.25]])
        try:
            pairs = [
                (np.asarray(criterion.value(some)), _row_by_row(criterion, some))
                for some in (batch, batch[:2])
            ]
            _TAKES_ROWS[kind] = all(a.shape == b.shape and np.allclose(a, b) for a, b in pairs)
        except (TypeError, ValueError, IndexError):
            _TAKES_ROWS[kind] = False
    return _TAKES_ROWS[kind]


@dataclass(frozen=True)
class Frobenius(Criterion):
    r"""The squared Frobenius norm, :math:`\sum_i \sigma_i^2`.

    Examples
    --------
    >>> from columnist.criteria import Frobenius
    >>> Frobenius().value([3.0, 4.0])
    25.0
    """

    name: ClassVar[str] = "frobenius"

    def value(self, singular_values: ArrayLike) -> float:
        """Sum of squares."""
        s = np.asarray(singular_values, dtype=np.float64)
        return _scalar((s * s).sum(axis=-1))


@dataclass(frozen=True)
class Spectral(Criterion):
    r"""The spectral norm, :math:`\sigma_1`.

    Examples
    --------
    >>> from columnist.criteria import Spectral
    >>> Spectral().value([4.0, 3.0])
    4.0
    """

    name: ClassVar[str] = "spectral"

    @property
    def n_leading(self) -> int:
        """Only the largest."""
        return 1

    def value(self, singular_values: ArrayLike) -> float:
        """Largest singular value."""
        s = np.asarray(singular_values, dtype=np.float64)
        return _scalar(s.max(axis=-1, initial=0.0))


@dataclass(frozen=True)
class Nuclear(Criterion):
    r"""The nuclear norm, :math:`\sum_i \sigma_i`.

    Examples
    --------
    >>> from columnist.criteria import Nuclear
    >>> Nuclear().value([4.0, 3.0])
    7.0
    """

    name: ClassVar[str] = "nuclear"

    def value(self, singular_values: ArrayLike) -> float:
        """Sum of the singular values."""
        return _scalar(np.asarray(singular_values, dtype=np.float64).sum(axis=-1))


@dataclass(frozen=True)
class Schatten(Criterion):
    r"""The Schatten criterion, :math:`(\sum_i \sigma_i^p)^{1/p}`, any :math:`p > 0`.

    Below :math:`p = 1` it is not a norm, but it is monotone, and that is enough.

    Parameters
    ----------
    p : float, default=1.0
        The exponent.

    Examples
    --------
    >>> from columnist.criteria import Schatten
    >>> Schatten(0.5).value([4.0, 4.0])
    16.0
    """

    p: float = 1.0
    name: ClassVar[str] = "schatten"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.p) and self.p > 0):
            raise ValueError(f"Schatten needs a finite p > 0, got p={self.p!r}.")

    def value(self, singular_values: ArrayLike) -> float:
        """Sum of p-th powers, to the power 1/p; scaled so that nothing overflows."""
        s = np.asarray(singular_values, dtype=np.float64)
        top = s.max(axis=-1, initial=0.0)
        scale = np.where(top > 0, top, 1.0)
        ratio = s / np.expand_dims(scale, -1)
        return _scalar(top * (ratio**self.p).sum(axis=-1) ** (1.0 / self.p))

    def __str__(self) -> str:
        return f"schatten:{self.p:g}"


@dataclass(frozen=True)
class KyFan(Criterion):
    r"""The Ky Fan norm: the sum of the ``k`` largest singular values.

    Parameters
    ----------
    k : int, default=1
        Number of singular values in the sum.

    Examples
    --------
    >>> from columnist.criteria import KyFan
    >>> KyFan(2).value([4.0, 3.0, 1.0])
    7.0
    """

    k: int = 1
    name: ClassVar[str] = "kyfan"

    def __post_init__(self) -> None:
        if int(self.k) != self.k or self.k < 1:
            raise ValueError(f"KyFan needs an integer k >= 1, got k={self.k!r}.")

    @property
    def n_leading(self) -> int:
        """Only the k largest."""
        return int(self.k)

    def value(self, singular_values: ArrayLike) -> float:
        """Sum of the k largest."""
        s = np.asarray(singular_values, dtype=np.float64)
        descending = -np.sort(-s, axis=-1)
        return _scalar(descending[..., : int(self.k)].sum(axis=-1))

    def __str__(self) -> str:
        return f"kyfan:{self.k:g}"


def is_frobenius(criterion: Criterion) -> bool:
    """Whether closed forms for the squared Frobenius norm apply.

    A subclass may define another ``value``, so only the class itself qualifies.

    Examples
    --------
    >>> from columnist.criteria import Frobenius, is_frobenius
    >>> class Halved(Frobenius):
    ...     def value(self, singular_values):
    ...         return 0.5 * super().value(singular_values)
    >>> is_frobenius(Frobenius()), is_frobenius(Halved())
    (True, False)
    """
    return type(criterion) is Frobenius


def schatten_power(criterion: Criterion) -> float | None:
    """p of a Schatten criterion, 2 for Frobenius, None for others, subclasses among them.

    Examples
    --------
    >>> from columnist.criteria import Nuclear, Spectral, schatten_power
    >>> schatten_power(Nuclear()), schatten_power(Spectral())
    (1.0, None)
    """
    if type(criterion) is Schatten:
        return criterion.p
    return {Frobenius: 2.0, Nuclear: 1.0}.get(type(criterion))


def leading_values(criterion: Criterion) -> int | None:
    """How many leading singular values the error depends on; None for all.

    ``n_leading`` belongs to the ``value`` defined with it: if a subclass overrides ``value``
    only, the inherited ``n_leading`` is ignored.

    Examples
    --------
    >>> from columnist.criteria import Nuclear, Spectral, leading_values
    >>> class Both(Spectral):
    ...     def value(self, singular_values):
    ...         return Nuclear().value(singular_values)
    >>> leading_values(Spectral()), leading_values(Both())
    (1, None)
    """
    for cls in type(criterion).__mro__:
        if "n_leading" in vars(cls):
            return criterion.n_leading
        if "value" in vars(cls) or "values" in vars(cls):
            return None
    return None


_NAMED: dict[str, Callable[[], Criterion]] = {
    "frobenius": Frobenius,
    "spectral": Spectral,
    "nuclear": Nuclear,
}
_PARAMETRIC = {"schatten": (Schatten, float), "kyfan": (KyFan, int)}


def get_criterion(criterion: str | Criterion) -> Criterion:
    """Turn a name into a criterion; a criterion is returned as it is.

    Parameters
    ----------
    criterion : str or Criterion
        ``"frobenius"``, ``"spectral"``, ``"nuclear"``, ``"schatten:<p>"``,
        ``"kyfan:<k>"``, or an instance of :class:`Criterion`.

    Returns
    -------
    Criterion

    Examples
    --------
    >>> from columnist.criteria import get_criterion
    >>> get_criterion("schatten:0.5")
    Schatten(p=0.5)
    """
    if isinstance(criterion, Criterion):
        _check_finite(criterion)
        return criterion
    if isinstance(criterion, str):
        name, _, parameter = criterion.partition(":")
        if name in _NAMED and not parameter:
            return _NAMED[name]()
        if name in _PARAMETRIC and parameter:
            cls, convert = _PARAMETRIC[name]
            try:
                return cls(convert(parameter))
            except ValueError as error:
                raise ValueError(f"criterion {criterion!r} is not valid: {error}") from None
    raise ValueError(
        f"Unknown criterion {criterion!r}. Use 'frobenius', 'spectral', 'nuclear', "
        "'schatten:<p>', 'kyfan:<k>', or an instance of columnist.criteria.Criterion."
    )


def _check_finite(criterion: Criterion) -> None:
    """Raise if the error of a zero residual is not finite: errors could not be compared."""
    with np.errstate(all="ignore"):
        least = float(criterion.value(np.zeros(1)))
    if not np.isfinite(least):
        raise ValueError(
            f"{criterion} is {least} where nothing is left to explain; it has to be finite there. "
            "Add a small constant inside a logarithm or a quotient."
        )


def check_criterion(
    criterion: Criterion, *, n_trials: int = 200, random_state: int | None = 0
) -> None:
    """Test that a criterion is finite at zero, monotone, and ignores appended zeros.

    Raises
    ------
    ValueError
        With the spectra that show the failure.

    Examples
    --------
    >>> from columnist.criteria import Nuclear, check_criterion
    >>> check_criterion(Nuclear())
    """
    _check_finite(criterion)
    rng = np.random.default_rng(random_state)
    for _ in range(n_trials):
        low = np.sort(rng.exponential(size=rng.integers(0, 8)))[::-1]
        high = np.sort(low + rng.exponential(size=low.size) * (rng.random(low.size) < 0.5))[::-1]
        value, grown = float(criterion.value(low)), float(criterion.value(high))
        padded = float(criterion.value(np.append(low, np.zeros(3))))
        tolerance = 1e-10 * max(abs(value), abs(grown), 1e-300)
        if grown < value - tolerance:
            raise ValueError(
                f"{criterion} is not monotone: {value} at {low}, but {grown} at {high}."
            )
        if abs(padded - value) > tolerance:
            raise ValueError(
                f"{criterion} changes from {value} to {padded} when zeros are appended to {low}."
            )


def _scalar(value: np.ndarray) -> Any:
    """A Python float for one spectrum, the array for many."""
    return float(value) if np.ndim(value) == 0 else value
