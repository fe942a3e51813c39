"""One vocabulary: signatures, constraints and the glossary of the user guide say the same."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from columnist.criteria import Criterion
from columnist.data._parameters import VOCABULARY, Integer, Number, StrOptions, constraints_of
from tests.test_estimators import ALL, label

GLOSSARY = Path(__file__).parents[1] / "docs" / "user_guide" / "glossary.rst"
MODULES = (
    "selection robust spectral spectral.stability lowrank privacy knowledge metrics distributed"
)


def public_callables() -> dict[str, Any]:
    """Public estimators and functions, by name."""
    found = {}
    for module in ("columnist", *(f"columnist.{name}" for name in MODULES.split())):
        there = importlib.import_module(module)
        for name in there.__all__:
            member = getattr(there, name)
            estimator = inspect.isclass(member) and hasattr(member, "get_params")
            if inspect.isfunction(member) or (estimator and not inspect.isabstract(member)):
                found[name] = member
    return found


def constraints(member) -> dict:
    if inspect.isclass(member):
        return dict(constraints_of(member))
    return getattr(member, "_parameter_constraints", {})


def written(default) -> str:
    return "required" if default is inspect.Parameter.empty else repr(default)


def uses() -> dict[str, dict[str, tuple[str, str | None]]]:
    """Parameter -> who has it -> its default and what it may be."""
    found: dict[str, dict[str, tuple[str, str | None]]] = defaultdict(dict)
    for name, member in public_callables().items():
        for parameter in inspect.signature(member).parameters.values():
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                allowed = constraints(member).get(parameter.name)
                default = written(parameter.default)
                found[parameter.name][name] = default, None if allowed is None else str(allowed)
    return found


def table() -> dict[str, tuple[str, str, str]]:
    """Parameter -> what is allowed, its default, and where it differs, as the glossary has it."""
    section = GLOSSARY.read_text().split("\nParameters\n----------\n")[1]
    text = re.split(r"\n\n(?=\S)", section.split(".. list-table::")[1])[0]
    rows = re.split(r"\n   \* - ", text)[2:]
    cells = [[" ".join(c.split()) for c in re.split(r"\n     -(?=\s|$)", row)] for row in rows]
    return {c[0].strip("`"): (c[2].strip("`"), c[3].strip("`"), c[4]) for c in cells}


def exceptions(differs: str) -> dict[str, set[str]]:
    """Who differs -> the defaults that are stated for it."""
    found: dict[str, set[str]] = defaultdict(set)
    for value, names in re.findall(r"``([^`]+)`` in ([\w, ]+):", differs):
        for name in names.split(", "):
            found[name].add(value)
    return found


SHARED = {
    name: who
    for name, who in uses().items()
    if len(who) > 1 and any(default != "required" for default, _ in who.values())
}


def test_the_glossary_has_every_shared_parameter():
    assert sorted(table()) == sorted(SHARED)


@pytest.mark.parametrize("name", sorted(SHARED))
def test_defaults_and_values_are_those_of_the_glossary(name):
    allowed, default, differs = table()[name]
    other = exceptions(differs)
    for who, (given, limits) in SHARED[name].items():
        expected = other.get(who, {default})
        assert given in expected, f"{who}({name}={given}); the glossary says {expected}"
        if limits is not None and limits != allowed:
            assert who in differs, f"{name} of {who} is {limits}; the glossary says {allowed}"
            stated = limits in differs or all(
                option in allowed + differs for option in re.findall(r"'\w+'", limits) or ["-"]
            )
            assert stated or other.get(who), f"{name} of {who}: {limits} is not stated"
    strange = set(other) - {*SHARED[name], *public_callables()}
    assert not strange, f"the glossary names {strange}"


def test_the_vocabulary_is_the_one_of_the_glossary():
    stated = table()
    for name, constraint in VOCABULARY.items():
        assert stated[name][0] == str(constraint), name


def test_centering_has_three_options():
    for name, member in public_callables().items():
        constraint = constraints(member).get("centering")
        if constraint is not None:
            assert set(constraint.options) <= {"none", "mean", "optimal"}, name


class _Nonsense:
    """No value of any parameter."""

    def __repr__(self) -> str:
        return "nonsense"


@pytest.mark.parametrize("estimator", ALL, ids=label)
def test_every_constraint_is_checked_by_fit(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), np.arange(30) % 2
    for name, constraint in constraints_of(type(estimator)).items():
        try:
            nonsense_is_allowed = constraint.accepts(_Nonsense())
        except ValueError:
            nonsense_is_allowed = False
        if not nonsense_is_allowed:
            broken = clone(estimator).set_params(**{name: _Nonsense()})
            with pytest.raises(ValueError, match=r"nonsense"):
                broken.fit(X, y)


@pytest.mark.parametrize(
    ("constraint", "good", "bad", "words"),
    [
        (StrOptions("a", "b"), ["a"], ["c", None, 1, ["a"]], "x must be one of 'a', 'b'; got"),
        (Integer(1), [1, np.int8(3)], [0, 1.0, True, "1"], "x must be an integer >= 1; got"),
        (Number(0.0), [0, 0.5, np.inf], [-1, np.nan, False, "1"], "x must be a number >= 0; got"),
        (Number(0.0, 1.0, above=True), [0.5, 1], [0, 1.5], "x must be a number > 0 and <= 1; got"),
        (Integer(0) | None, [0, None], [-1], "x must be an integer >= 0 or None; got"),
        (StrOptions("auto") | Number(0.0), ["auto", 2], ["no", -1], "x must be 'auto' or a number"),
    ],
)
def test_constraints(constraint, good, bad, words):
    for value in good:
        constraint.check("x", value)
    for value in bad:
        with pytest.raises(ValueError, match=words):
            constraint.check("x", value)


def test_criteria_are_named_as_on_the_command_line():
    X = np.random.default_rng(0).standard_normal((20, 5))
    for name in ("schatten:0.5", "kyfan:3"):
        for estimator in ALL:
            if "criterion" in constraints_of(type(estimator)):
                fitted = clone(estimator).set_params(criterion=name).fit(X, np.arange(20) % 2)
                assert not isinstance(fitted.criterion, Criterion)
