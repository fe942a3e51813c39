"""The criteria of the soak: what the library is given, and an independent formula for each.

A name is what :func:`library_criterion` and :func:`formula` understand: ``"frobenius"``,
``"spectral"``, ``"nuclear"``, ``"schatten:<p>"``, ``"kyfan:<k>"``, or one of ``USERS``, the
criteria a user might write.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from columnist.criteria import Criterion, Frobenius, KyFan, Nuclear, Schatten, Spectral

__all__ = ["BUILT_IN", "USERS", "formula", "library_criterion"]

BUILT_IN = (
    "frobenius",
    "spectral",
    "nuclear",
    "schatten:0.5",
    "schatten:1.5",
    "schatten:2",
    "schatten:3",
    "kyfan:1",
    "kyfan:2",
    "kyfan:3",
)


def _squares_and_top(s):
    return np.square(s).sum(axis=-1) + np.max(s, axis=-1, initial=0.0)


def _powers(s):
    return np.power(s, 1.5).sum(axis=-1)


def _capped(s):
    return np.minimum(s, 1.0).sum(axis=-1) + 0.01 * np.sum(s, axis=-1)


def _two_tops(s):
    s = np.asarray(s)
    return s[..., :1].sum(axis=-1) + 0.5 * s[..., 1:2].sum(axis=-1)


def _logs(s):
    return np.log1p(np.square(s)).sum(axis=-1)


def _shifted(s):
    return np.sum(s, axis=-1) - 10.0


def _saturated(s):
    return -1.0 / (1.0 + np.square(s).sum(axis=-1))


class LogEnergy(Criterion):
    """A user's own criterion, for many spectra at once."""

    name = "logenergy"

    def value(self, singular_values):
        return _logs(singular_values)


class OneByOne(Criterion):
    """A user's own criterion that understands one spectrum at a time."""

    name = "onebyone"
    vectorized = False

    def value(self, singular_values):
        if np.ndim(singular_values) != 1:
            raise TypeError("one spectrum at a time")
        return float(_capped(singular_values))


class SquaresAndTop(Frobenius):
    """A subclass of a built-in criterion with a value of its own."""

    def value(self, singular_values):
        return _squares_and_top(singular_values)


class Powers(Nuclear):
    """The same of another parent."""

    def value(self, singular_values):
        return _powers(singular_values)


class Capped(Schatten):
    """The same of a parent with a parameter."""

    def value(self, singular_values):
        return _capped(singular_values)


class TwoTops(KyFan):
    """The same of a parent that says how many values count."""

    def value(self, singular_values):
        return _two_tops(singular_values)


class AllOfThem(Spectral):
    """The same, with more values than the parent's."""

    @property
    def n_leading(self):
        return None

    def value(self, singular_values):
        return _logs(singular_values)


class Renamed(Nuclear):
    """A subclass that changes no value."""

    name = "renamed"


class Shifted(Criterion):
    """Negative values, and positive ones for large residuals."""

    name = "shifted"

    def value(self, singular_values):
        return _shifted(singular_values)


class Saturated(Criterion):
    """Negative values only."""

    name = "saturated"

    def value(self, singular_values):
        return _saturated(singular_values)


_USERS: dict[str, tuple[Callable[[], Criterion], Callable]] = {
    "LogEnergy": (LogEnergy, _logs),
    "OneByOne": (OneByOne, _capped),
    "SquaresAndTop": (SquaresAndTop, _squares_and_top),
    "Powers": (Powers, _powers),
    "Capped": (lambda: Capped(1.0), _capped),
    "TwoTops": (lambda: TwoTops(2), _two_tops),
    "AllOfThem": (AllOfThem, _logs),
    "Renamed": (Renamed, lambda s: np.sum(s, axis=-1)),
    "Shifted": (Shifted, _shifted),
    "Saturated": (Saturated, _saturated),
}
USERS = tuple(_USERS)


def library_criterion(name: str) -> str | Criterion:
    """What to pass to the library."""
    return _USERS[name][0]() if name in _USERS else name


def formula(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The value of spectra (last axis, descending), by a formula of the soak's own."""
    if name in _USERS:
        return _USERS[name][1]
    family, _, parameter = name.partition(":")
    if family == "frobenius":
        return lambda s: np.square(s).sum(axis=-1)
    if family == "schatten":
        return lambda s: _schatten(s, float(parameter))
    tops = {"spectral": 1, "nuclear": None}.get(family, int(parameter) if parameter else None)
    return lambda s: s[..., :tops].sum(axis=-1)


def _schatten(s: np.ndarray, p: float) -> np.ndarray:
    top = np.max(s, axis=-1, initial=0.0)
    safe = np.where(top > 0.0, top, 1.0)
    return top * np.power(s / safe[..., None], p).sum(axis=-1) ** (1.0 / p)
