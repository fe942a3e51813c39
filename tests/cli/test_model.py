"""The model file is checked strictly."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.cli._errors import BadInput
from columnist.cli._model import Model, read_model, write_model

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def small() -> Model:
    arrays = {
        "selected": np.array([0, 2]),
        "coef": np.arange(6.0).reshape(2, 3),
        "intercept": np.zeros(3),
        "components": np.ones((1, 3)),
    }
    return Model("selection", ("a", "b", "<c>"), arrays, mean=np.ones(3), scale=np.ones(3))


@given(st.lists(NUMBERS, min_size=3, max_size=3))
def test_numbers_keep_all_their_digits(tmp_path_factory, values):
    path = str(tmp_path_factory.getbasetemp() / "digits.json")
    model = small()
    model.arrays["intercept"] = np.array(values)
    write_model(model, path)
    found = read_model(path)
    np.testing.assert_array_equal(found.arrays["intercept"], values)
    assert found.columns == model.columns
    assert found.fill is None


def change(content, place, value):
    *way, last = place
    for step in way:
        content = content[step]
    if value is ...:
        del content[last]
    else:
        content[last] = value


WRONG = {
    "other format": (["format"], "pickle"),
    "no format": (["format"], ...),
    "later version": (["version"], 99),
    "unknown kind": (["kind"], "magic"),
    "kind of another": (["kind"], "outliers"),
    "no columns": (["columns"], ...),
    "columns not text": (["columns"], [1, 2, 3]),
    "columns twice": (["columns"], ["a", "a", "b"]),
    "no arrays": (["arrays"], ...),
    "arrays not a mapping": (["arrays"], [1]),
    "selected too large": (["arrays", "selected"], [0, 3]),
    "selected negative": (["arrays", "selected"], [-1]),
    "selected not whole": (["arrays", "selected"], [0.5]),
    "selected true": (["arrays", "selected"], [True]),
    "selected empty": (["arrays", "selected"], []),
    "coef too short": (["arrays", "coef"], [[1, 2, 3]]),
    "coef ragged": (["arrays", "coef"], [[1, 2, 3], [1, 2]]),
    "coef text": (["arrays", "coef"], [["1", 2, 3], [1, 2, 3]]),
    "intercept null": (["arrays", "intercept"], [1, None, 2]),
    "intercept huge": (["arrays", "intercept"], [1, 10**400, 2]),
    "mean too long": (["prepare", "mean"], [1, 2, 3, 4]),
    "scale zero": (["prepare", "scale"], [1, 0, 1]),
    "no prepare": (["prepare"], ...),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_line(tmp_path, case):
    path = tmp_path / "model.json"
    write_model(small(), str(path))
    content = json.loads(path.read_text())
    change(content, *WRONG[case])
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=r"model\.json") as caught:
        read_model(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "a,b\n1,2\n", "NaN", "[" * 100_000])
def test_other_files_are_no_models(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(BadInput, match="no model"):
        read_model(str(path))


def test_a_model_cut_off_is_no_model(tmp_path):
    path = tmp_path / "model.json"
    write_model(small(), str(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cut off"):
        read_model(str(path))


def test_bytes_are_no_model(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(BadInput, match="not JSON"):
        read_model(str(path))
    with pytest.raises(BadInput, match="no such file"):
        read_model(str(tmp_path / "absent.json"))
