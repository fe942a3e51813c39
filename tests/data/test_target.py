"""What y means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.data._target import resolve_classes, resolve_target


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        [True, False, True],
        [7, 3, 7],
        np.array([7, 3, 7], dtype=np.uint8),
        [[7], [3], [7]],
    ],
)
def test_labels_become_an_indicator(y):
    found = resolve_target(y, 3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("y", [[1.5, 2.0, -1.0], [[1.5], [2.0], [-1.0]], (1.5, 2.0, -1.0)])
def test_numbers_become_a_column(y):
    np.testing.assert_array_equal(resolve_target(y, 3), [[1.5], [2.0], [-1.0]])


def test_whole_floats_are_values():
    np.testing.assert_array_equal(resolve_target([1.0, 2.0, 1.0], 3), [[1.0], [2.0], [1.0]])


def test_objects_that_are_numbers_are_values():
    y = np.array([1.5, 2, -1.0], dtype=object)
    np.testing.assert_array_equal(resolve_target(y, 3), [[1.5], [2.0], [-1.0]])


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array, sp.csc_matrix, list])
def test_a_matrix_stays(wrap):
    Y = np.array([[1, 0], [0, 2], [3, 0]])
    found = resolve_target(wrap(Y), 3)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, Y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series(library):
    frames = pytest.importorskip(library)
    np.testing.assert_array_equal(
        resolve_target(frames.Series(["x", "y", "x"]), 3), [[1, 0], [0, 1], [1, 0]]
    )
    np.testing.assert_array_equal(resolve_target(frames.Series([0.5, 1.5]), 2), [[0.5], [1.5]])


def test_categories():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(pandas.Categorical(["x", "y", "x"]))
    np.testing.assert_array_equal(resolve_target(y, 3), [[1, 0], [0, 1], [1, 0]])


@pytest.mark.parametrize("y", [["a", "b"], [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]])
def test_wrong_length(y):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        resolve_target(y, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(value):
    with pytest.raises(ValueError, match="y contains"):
        resolve_target([1.0, value, 2.0], 3)


def test_classes_and_codes():
    classes, codes = resolve_classes(["b", "a", "b"], 3, "Fisher")
    assert list(classes) == ["a", "b"]
    assert list(codes) == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "Fisher requires y to be passed"),
        ([0.5, 1.5, 2.25], "Fisher needs class labels in y"),
        ([1, 1, 1], "at least two classes in y; got one class"),
        ([0, 1], "inconsistent numbers of samples"),
        ([[0, 1], [1, 0], [1, 1]], "1d array"),
    ],
)
def test_classes_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        resolve_classes(y, 3, "Fisher")
