"""Reconstruction error against brute force and the selectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.criteria import Frobenius, Nuclear
from columnist.metrics import reconstruction_error
from tests.oracles.brute_force import subset_error
from tests.strategies import CRITERIA, matrices, targets, tolerance


@settings(max_examples=60)
@given(
    matrices(),
    st.sampled_from(CRITERIA),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_error_by_definition(X, criterion, n_components, center, sparse, data):
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    by_hand = X - X.mean(axis=0) if center else X
    error = reconstruction_error(
        sp.csr_array(X) if sparse else X, columns, criterion=criterion, n_components=n_components,
        centering="mean" if center else "none",
    )  # fmt: skip
    expected = subset_error(by_hand, columns, criterion, n_components)
    # Through the Gram matrix of sparse data half of the digits are lost.
    slack = tolerance(criterion, X) * (1.0 if not sparse else 1e2)
    assert error == pytest.approx(expected, rel=1e-8, abs=slack)


@settings(max_examples=40)
@given(matrices(min_rows=2), st.sampled_from(CRITERIA), st.booleans(), st.data())
def test_error_of_a_target(X, criterion, sparse, data):
    y, Y = data.draw(targets(X.shape[0]), label="y")
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True), label="columns")
    error = reconstruction_error(
        sp.csc_array(X) if sparse else X, columns, y=y, criterion=criterion
    )
    expected = subset_error(X, columns, criterion, Y=Y)
    slack = tolerance(criterion, Y) * (1.0 if not sparse else 1e2)
    assert error == pytest.approx(expected, rel=1e-8, abs=slack)


@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize(
    "form", ["strings", "objects", "integers", "list", "booleans", "floats", "column"]
)
def test_same_error_as_a_selector(form, centering):
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((20, 6)), rng.integers(0, 2, 20)
    y = {
        "strings": np.array(["no", "yes"])[codes],
        "objects": pd.Series(np.array(["no", "yes"])[codes]),
        "integers": codes,
        "list": codes.tolist(),
        "booleans": codes.astype(bool),
        "floats": codes.astype(float),
        "column": codes[:, None],
    }[form]
    selector = ColumnSelector(2, centering=centering).fit(X, y)
    error = reconstruction_error(X, selector.selected_, y=y, centering=centering)
    assert error == pytest.approx(selector.error_, rel=1e-10)
    relative = reconstruction_error(X, selector.selected_, y=y, centering=centering, relative=True)
    assert relative == pytest.approx(selector.relative_error_, rel=1e-10)


def test_columns_by_name_and_by_mask():
    frame = pd.DataFrame(np.random.default_rng(2).standard_normal((8, 4)), columns=list("abcd"))
    expected = reconstruction_error(frame.to_numpy(), [3, 1])
    assert reconstruction_error(frame, ["d", "b"]) == expected
    assert reconstruction_error(frame, [False, True, False, True]) == pytest.approx(expected)
    pl = pytest.importorskip("polars")
    assert reconstruction_error(pl.DataFrame(frame.to_dict("list")), ["d", "b"]) == expected


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()], ids=str)
@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
def test_scales(criterion, scale, form):
    X = np.random.default_rng(3).standard_normal((9, 5))
    for options in ({}, {"centering": "mean"}, {"y": X[:, :2] + 1.0}):
        errors = [
            reconstruction_error(form(s * X), [1, 4], criterion=criterion, relative=True, **options)
            for s in (1.0, scale)
        ]
        assert errors[1] == pytest.approx(errors[0], rel=1e-10)


def test_float32_is_summed_in_double_precision():
    X = np.random.default_rng(4).standard_normal((30, 6)).astype(np.float32)
    for criterion in (Frobenius(), Nuclear()):
        error = reconstruction_error(X, [0, 2], criterion=criterion)
        wide = reconstruction_error(X.astype(np.float64), [0, 2], criterion=criterion)
        assert error == pytest.approx(wide, rel=1e-12)


def test_nothing_to_rebuild():
    X = np.zeros((4, 3))
    assert reconstruction_error(X, [0]) == 0.0
    assert reconstruction_error(X, [0], relative=True) == 0.0
    X = np.eye(3)
    assert reconstruction_error(X, [0, 1, 2], n_components=2, criterion="nuclear") == 0.0
    assert reconstruction_error(X, [], relative=True) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": [7]}, "columns holds the index 7, but X has 3 columns"),
        ({"columns": ["a"]}, "X has no column names"),
        ({"criterion": "frobenious"}, "Unknown criterion"),
        ({"centering": "median"}, "centering must be one of"),
        ({"n_components": -1}, "n_components must be an integer >= 0"),
        ({"y": [1.0, np.nan, 0.0, 2.0]}, "NaN"),
        ({"y": ["a", None, "b", "a"]}, "missing labels"),
        ({"y": ["a", np.nan, "b", "a"]}, "missing labels"),
        ({"y": [1.0, 2.0]}, "inconsistent numbers of samples"),
        ({"X": [[1.0, np.inf, 0.0]] * 4}, "infinity"),
    ],
)
def test_bad_input(arguments, message):
    arguments = {"X": np.eye(4, 3), "columns": [0], **arguments}
    with pytest.raises(ValueError, match=message):
        reconstruction_error(**arguments)
