"""Constraints on parameters, declared as data and checked in one call.

A class lists its own in ``_parameter_constraints``; shared ones are in :data:`VOCABULARY`.
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from columnist.criteria import get_criterion

_Function = TypeVar("_Function", bound=Callable)
_BOOLEANS = (bool, np.bool_)


class Constraint:
    """A constraint on a value; ``words`` complete the sentence "... must be"."""

    def __init__(self, words: str, accepts: Callable[[Any], bool]):
        self.words, self.accepts = words, accepts

    def __str__(self) -> str:
        return self.words

    def check(self, name: str, value: Any) -> None:
        """Raise unless the value is allowed."""
        if not self.accepts(value):
            raise ValueError(f"{name} must be {self}; got {value!r}.")

    def __or__(self, other: Constraint | None) -> Constraint:
        second = Constraint("None", lambda value: value is None) if other is None else other
        words = f"{self} or {second}"
        return Constraint(words, lambda value: self.accepts(value) or second.accepts(value))


class StrOptions(Constraint):
    """One of some strings."""

    def __init__(self, *options: str):
        self.options = options
        listed = ", ".join(map(repr, options))
        words = f"one of {listed}" if len(options) > 1 else listed
        super().__init__(words, lambda value: isinstance(value, str) and value in options)


class Integer(Constraint):
    """An integer of at least ``low``; no boolean."""

    def __init__(self, low: int):
        def accepts(value: Any) -> bool:
            integral = isinstance(value, numbers.Integral) and not isinstance(value, _BOOLEANS)
            return integral and int(value) >= low

        super().__init__(f"an integer >= {low}", accepts)


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
        def accepts(value: Any) -> bool:
            if not isinstance(value, numbers.Real) or isinstance(value, _BOOLEANS):
                return False
            number: Any = value
            left = low < number if above else low <= number
            return left and (number < high if below else number <= high)

        upper = "" if np.isinf(high) else f" and {'<' if below else '<='} {high:g}"
        bounded = f"a number {'>' if above else '>='} {low:g}{upper}"
        super().__init__("a number" if np.isinf(low) and np.isinf(high) else bounded, accepts)


#: A penalty or a tolerance that may be zero.
FINITE = Number(0.0, float(np.finfo(np.float64).max))


class Flag(Constraint):
    """True or False."""

    def __init__(self):
        super().__init__("True or False", lambda value: isinstance(value, _BOOLEANS))


class Methods(Constraint):
    """An instance with some methods; ``what`` names such a thing."""

    def __init__(self, what: str, *methods: str):
        def accepts(value: Any) -> bool:
            return not isinstance(value, type) and all(hasattr(value, name) for name in methods)

        super().__init__(what, accepts)


class Several(Constraint):
    """A list of instances with some methods; ``what`` names such things."""

    def __init__(self, what: str, *methods: str):
        one = Methods(what, *methods)

        def accepts(value: Any) -> bool:
            return isinstance(value, (list, tuple)) and all(map(one.accepts, value))

        super().__init__(f"a list of {what}", accepts)


class Other(Constraint):
    """Anything but a string, None or a boolean: the data decide what it means."""

    def __init__(self, what: str):
        refused = (str, type(None), *_BOOLEANS)
        super().__init__(what, lambda value: not isinstance(value, refused))


def _is_criterion(value: Any) -> bool:
    get_criterion(value)  # says itself what is wrong
    return True


#: Parameters with one meaning everywhere. The glossary of the user guide describes them, and a test
#: compares it with this table and with the signatures.
VOCABULARY: Mapping[str, Constraint] = {
    "callback": Methods("callable", "__call__") | None,
    "centering": StrOptions("none", "mean"),
    "constraints": Several("constraints", "resolve", "obeys", "allowed", "most") | None,
    "criterion": Constraint("a criterion or its name", _is_criterion),
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
