"""What y means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector, selection_path
from columnist.data._target import (
    MOST_CLASSES,
    StreamTarget,
    as_target,
    open_target,
    resolve_classes,
    resolve_target,
    target_kind,
)
from columnist.spectral import MRSF


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        [True, False, True],
        [7, 3, 7],
        np.array([7, 3, 7], dtype=np.uint8),
        [7.5, 3.0, 7.5],
        [["b"], ["a"], ["b"]],
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
    np.testing.assert_array_equal(resolve_target([1.0, 2.0, 3.0], 3), [[1.0], [2.0], [3.0]])


@pytest.mark.parametrize("y", [[[7], [3], [7]], [[7.5], [3.0], [7.5]], [[True], [False], [True]]])
def test_a_matrix_with_one_column_is_numbers(y):
    assert target_kind(y) == "numbers"
    np.testing.assert_array_equal(resolve_target(y, 3), np.array(y, dtype=float))


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
    np.testing.assert_array_equal(
        resolve_target(frames.Series([0.5, 1.5, 2.0]), 3), [[0.5], [1.5], [2.0]]
    )


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


# -- one rule, whatever holds y ----------------------------------------------------

integers = st.lists(st.integers(-30, 30), min_size=1, max_size=60)
floats = st.lists(st.sampled_from([0.0, 1.0, 2.5, -3.0]), min_size=1, max_size=12)
texts = st.lists(st.sampled_from(["a", "b", "10", "2"]), min_size=1, max_size=12)
booleans = st.lists(st.booleans(), min_size=1, max_size=12)


def expected_kind(values) -> str:
    """The rule as the user guide has it."""
    different = len(set(values))
    if isinstance(values[0], (bool, str)):
        return "classes"
    few = different <= 20 if isinstance(values[0], int) else different == 2
    return "classes" if few else "numbers"


def holders(values):
    """The same values in everything that can hold them."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    array = np.array(values)
    series = pandas.Series(values)
    yield from (values, tuple(values), array, array.astype(object), series, polars.Series(values))
    yield da.from_array(array, chunks=max(1, len(values) // 3))
    yield dd.from_pandas(series, npartitions=min(3, len(values)))


@settings(max_examples=40, deadline=None)
@given(st.one_of(integers, floats, texts, booleans))
def test_all_holders_give_the_same_decision(values):
    known = as_target(np.array(values), len(values))
    assert known.kind == expected_kind(values)
    for y in holders(values):
        assert target_kind(y) == known.kind, type(y)
        along, read = open_target(y, np.empty((len(values), 1)))
        parts = along.collect(read) if hasattr(along, "collect") else [read(along)]
        np.testing.assert_array_equal(np.concatenate(parts), known.matrix)


@settings(max_examples=40, deadline=None)
@given(st.one_of(integers, floats), st.integers(1, 5))
def test_a_stream_decides_as_an_array_does(values, n_batches):
    y = np.array(values)
    stream = StreamTarget()
    for batch in np.array_split(y, n_batches):
        stream.read(batch, len(batch))
    if target_kind(y) == "numbers":
        assert stream.kind == "numbers"
    else:
        with pytest.raises(ValueError, match="classes="):
            _ = stream.kind
    assert StreamTarget(classes=np.unique(y)).kind == "classes"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_are_classes_however_many(library):
    frames = pytest.importorskip(library)
    many = [str(i) for i in range(30)]
    y = frames.Series(many, dtype="category" if library == "pandas" else frames.Categorical)
    assert target_kind(y) == "classes"
    if library == "pandas":
        numbers = frames.Series(np.arange(30)).astype("category")
        dd = pytest.importorskip("dask.dataframe")
        for holder in (numbers, numbers.to_frame(), dd.from_pandas(numbers, npartitions=2)):
            assert target_kind(holder) == "classes"


def test_the_border_of_the_rule():
    assert target_kind(np.arange(MOST_CLASSES)) == "classes"
    assert target_kind(np.arange(MOST_CLASSES + 1)) == "numbers"
    assert target_kind(np.arange(MOST_CLASSES + 1).astype(str)) == "classes"
    assert target_kind(np.tile(np.arange(MOST_CLASSES + 1), 1000)) == "numbers"
    late = np.zeros(5000)
    late[-1] = 1.0
    assert target_kind(late) == "classes"
    late[-2] = 2.0
    assert target_kind(late) == "numbers"


def test_missing_labels_of_a_nullable_type():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y contains NaN"):
        resolve_target(pandas.Series([1, None, 2], dtype="Int64"), 3)
    with pytest.raises(ValueError, match="missing labels"):
        resolve_target(pandas.Series(["a", None, "b"], dtype="string"), 3)


def test_certificates_state_how_y_was_read():
    rng = np.random.default_rng(0)
    X, values = rng.standard_normal((40, 5)), rng.standard_normal(40)
    labels = (values > 0).astype(float)
    assert ColumnSelector(2).fit(X).certificate_.target_kind is None
    numbers = ColumnSelector(2).fit(X, values).certificate_
    assert numbers.target_kind == numbers.to_dict()["target_kind"] == "numbers"
    assert "target y as numbers" in repr(numbers)
    classes = ColumnSelector(2).fit(X, labels)
    assert classes.certificate_.target_kind == "classes"
    as_text = ColumnSelector(2).fit(X, np.where(labels, "yes", "no"))
    np.testing.assert_allclose(classes.error_, as_text.error_)
    path = selection_path(X, 2, y=labels)
    assert {step.certificate.target_kind for step in path} == {"classes"}
    np.testing.assert_array_equal(
        MRSF(2).fit(X, labels).selected_, MRSF(2, response="lda").fit(X, labels).selected_
    )


def test_who_needs_classes_takes_any_integers():
    classes, _ = resolve_classes(np.tile(np.arange(50), 3), 150, "Fisher")
    assert len(classes) == 50
    classes, _ = resolve_classes([0.5, 1.5, 0.5], 3, "Fisher")
    assert len(classes) == 2
