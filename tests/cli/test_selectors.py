"""Selectors by name."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectorMixin

from columnist import lowrank, selection, spectral
from columnist.cli._errors import BadInput
from columnist.cli._selectors import SELECTORS, build, find, parse_parameters

X, y = load_wine(return_X_y=True)
# A classifier selects too, but is no selector; the others have a name here.
OTHERS = {
    "FastSelector",
    "MultiLabelForwardClassifier",
    "MultiLabelForwardClassifierCV",
    "SubsetClassifier",
    "SubsetRegressor",
    "QuadraticPCA",
}


def test_every_selector_of_the_library_has_a_name():
    classes = {
        name
        for family in (selection, spectral, lowrank)
        for name in family.__all__
        if inspect.isclass(getattr(family, name)) and hasattr(getattr(family, name), "fit")
    }
    assert {entry.class_name for entry in SELECTORS.values()} == classes - OTHERS


@pytest.mark.parametrize("name", SELECTORS)
def test_each_can_be_built_and_fitted(name):
    entry = SELECTORS[name]
    selector = build(entry, 4, seed=0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    selector.fit(scaled, None if entry.target == "no" else y == 1 if name == "relief" else y)
    assert len(selector.selected_) == 4
    assert len(entry.summary()) > 20
    tags = selector.__sklearn_tags__()
    assert tags.target_tags.required == (entry.target == "required")


@pytest.mark.parametrize("name", ["relief-f", "ReliefF", "relieff", "RELIEF_F", "Relief-F"])
def test_names_are_found_in_any_writing(name):
    assert find(name).class_name == "ReliefF"


def test_a_misspelt_name_gets_close_ones():
    with pytest.raises(BadInput, match="Did you mean forward"):
        find("foward")


def test_a_selector_is_a_selector():
    assert all(
        issubclass(entry.load(), SelectorMixin) or entry.name == "sparse-loadings"
        for entry in SELECTORS.values()
    )


def test_options_that_do_not_apply_are_refused():
    with pytest.raises(BadInput, match="--criterion does not apply to gks"):
        build(find("gks"), 3, {"criterion": "nuclear"})
    with pytest.raises(BadInput, match=r"no parameter 'nn'; it has: n_neighbors, n_jobs"):
        build(find("relief-f"), 3, {}, {"nn": 3})


def test_stages_are_named():
    two = build(find("two-stage"), 4, {}, {"first": "leverage", "second": "forward"}, seed=1)
    assert type(two.first).__name__ == "LeverageSampler"
    assert type(two.second).__name__ == "ForwardSelector"
    assert len(two.fit(X).selected_) == 4


def test_a_seed_goes_where_it_is_used():
    first = build(find("uniform"), 5, seed=3).fit(X).selected_
    assert np.array_equal(first, build(find("uniform"), 5, seed=3).fit(X).selected_)
    assert build(find("forward"), 5, seed=3).fit(X).selected_.size == 5


@pytest.mark.parametrize("pair", ["", "=", "novalue", " =3"])
def test_a_parameter_needs_name_and_value(pair):
    with pytest.raises(BadInput, match="name=value"):
        parse_parameters([pair])


def test_values_have_types():
    given = ["a=1", "b=1e-3", "c=True", "d=none", "e=text", "f-g=x=y"]
    assert parse_parameters(given) == {
        "a": 1, "b": 1e-3, "c": True, "d": None, "e": "text", "f_g": "x=y",
    }  # fmt: skip
