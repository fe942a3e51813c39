"""What parameters may be, as data: checked in one call, refused in one clear sentence.

A class lists what is special to it in ``_parameter_constraints``; parameters that mean the same
wherever they stand are in :data:`VOCABULARY`, and nobody repeats them.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from columnist.criteria import get_criterion

__all__ = [
    "FINITE",
    "VOCABULARY",
    "Constraint",
    "Flag",
    "Integer",
    "Methods",
    "Number",
    "Other",
    "ParameterChecks",
    "StrOptions",
    "checked",
    "constraints_of",
]

_Function = TypeVar("_Function", bound=Callable)
_BOOLEANS = (bool, np.bool_)


class Constraint(ABC):
    """What a value may be; ``str`` completes the sentence "... must be"."""

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the value is allowed."""

    @abstractmethod
    def __str__(self) -> str: ...

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value is allowed."""
        if not self.accepts(value):
            raise ValueError(f"{name} must be {self}; got {value!r}.")

    def __or__(self, other: Constraint | None) -> Constraint:
        return _Either(self, Missing() if other is None else other)


class StrOptions(Constraint):
    """One of some strings."""

    def __init__(self, *options: str):
        self.options = options

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def __str__(self) -> str:
        listed = ", ".join(map(repr, self.options))
        return f"one of {listed}" if len(self.options) > 1 else listed


class Integer(Constraint):
    """An integer of at least ``low``; no boolean."""

    def __init__(self, low: int):
        self.low = low

    def accepts(self, value: Any) -> bool:
        integral = isinstance(value, numbers.Integral) and not isinstance(value, _BOOLEANS)
        return integral and int(value) >= self.low

    def __str__(self) -> str:
        return f"an integer >= {self.low}"


class Number(Constraint):
    """A real number between ``low`` and ``high``; ``above`` and ``below`` exclude the ends."""

    def __init__(
        self,
        low: float = -np.inf,
        high: float = np.inf,
        *,
        above: bool = False,
        below: bool = False,
    ):
        self.low, self.high, self.above, self.below = low, high, above, below

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, _BOOLEANS):
            return False
        number: Any = value
        left = self.low < number if self.above else self.low <= number
        return left and (number < self.high if self.below else number <= self.high)

    def __str__(self) -> str:
        if np.isinf(self.low) and np.isinf(self.high):
            return "a number"
        upper = "" if np.isinf(self.high) else f" and {'<' if self.below else '<='} {self.high:g}"
        return f"a number {'>' if self.above else '>='} {self.low:g}{upper}"


#: A penalty or a tolerance that may be zero.
FINITE = Number(0.0, float(np.finfo(np.float64).max))


class Flag(Constraint):
    """True or False."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, _BOOLEANS)

    def __str__(self) -> str:
        return "True or False"


class Missing(Constraint):
    """None."""

    def accepts(self, value: Any) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"


class Methods(Constraint):
    """An instance with some methods; ``what`` names such a thing."""

    def __init__(self, what: str, *methods: str):
        self.what, self.methods = what, methods

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, type) and all(hasattr(value, name) for name in self.methods)

    def __str__(self) -> str:
        return self.what


class Other(Constraint):
    """Anything but a string, None or a boolean: the data decide what it means."""

    def __init__(self, what: str):
        self.what = what

    def accepts(self, value: Any) -> bool:
        return value is not None and not isinstance(value, (str, *_BOOLEANS))

    def __str__(self) -> str:
        return self.what


class _Either(Constraint):
    """What one of two constraints allows."""

    def __init__(self, first: Constraint, second: Constraint):
        self.first, self.second = first, second

    def accepts(self, value: Any) -> bool:
        return self.first.accepts(value) or self.second.accepts(value)

    def __str__(self) -> str:
        return f"{self.first} or {self.second}"


class _Criterion(Constraint):
    """A criterion or its name; :func:`get_criterion` says itself what is wrong."""

    def accepts(self, value: Any) -> bool:
        get_criterion(value)
        return True

    def __str__(self) -> str:
        return "a criterion or its name"


#: Parameters with one meaning everywhere. The glossary of the user guide describes them, and a test
#: compares it with this table and with the signatures.
VOCABULARY: Mapping[str, Constraint] = {
    "callback": Methods("callable", "__call__") | None,
    "centering": StrOptions("none", "mean"),
    "criterion": _Criterion(),
    "cutoff": StrOptions("cross-fitted", "classical"),
    "degree": Integer(1),
    "epsilon": Number(0.0, 1e100),
    "location": StrOptions("mean", "median"),
    "loss": StrOptions("quadratic", "robust"),
    "max_gap": Number(0.0, 1.0),
    "max_iter": Integer(1),
    "max_memory": Number(0.0, above=True) | None,
    "max_nodes": Integer(0) | None,
    "n_clusters": Integer(1) | None,
    "n_neighbors": Integer(1),
    "n_starts": Integer(1),
    "output": StrOptions("columns", "components"),
    "rank": Integer(1) | None,
    "replace": Flag(),
    "scaling": StrOptions("unit", "none"),
    "score": StrOptions("phi1", "phi2", "phi3"),
    "target": StrOptions("auto", "X", "y"),
    "time_limit": Number(0.0) | None,
    "width": StrOptions("auto") | Number(0.0, above=True),
}


class ParameterChecks:
    """An estimator that checks its parameters, all at once, when ``fit`` begins."""

    # What is special to a class; entries go before those of its bases and of the vocabulary.
    _parameter_constraints: ClassVar[Mapping[str, Constraint]] = {}

    def _check_parameters(self) -> None:
        """Check the parameters that do not depend on the data."""
        values = vars(self)
        own: Any = type(self)  # classes can be hashed, whatever their instances can
        for name, constraint in constraints_of(own).items():
            constraint.check(name, values[name])


@functools.cache
def constraints_of(cls: type) -> Mapping[str, Constraint]:
    """What each parameter of an estimator may be; those left out are checked with the data."""
    known = dict(VOCABULARY)
    for base in reversed(cls.__mro__):
        known |= vars(base).get("_parameter_constraints", {})
    return {name: known[name] for name in inspect.signature(cls).parameters if name in known}


def checked(**constraints: Constraint) -> Callable[[_Function], _Function]:
    """Check arguments of a function when it is called; the vocabulary holds here, too."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        known = {**VOCABULARY, **constraints}
        known = {name: known[name] for name in signature.parameters if name in known}

        @functools.wraps(function)
        def call(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            for name, constraint in known.items():
                if name in given:
                    constraint.check(name, given[name])
            return function(*args, **kwargs)

        call._parameter_constraints = known  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
