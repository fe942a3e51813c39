"""Bad input: one clear error, or a warned and valid answer."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

from columnist import ColumnSelector, certify, selection_path
from columnist.criteria import Spectral

X = np.random.default_rng(0).standard_normal((8, 5))
Y = np.random.default_rng(1).standard_normal((8, 2))
G = X.T @ X


def refuses(message, data=X, y=None, k=2, **options):
    """``fit`` raises a ValueError with this message and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            ColumnSelector(k, **options).fit(data, y)


# --- data ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csc_array])
def test_not_finite(value, container):
    broken = X.copy()
    broken[3, 2] = value
    word = "NaN" if np.isnan(value) else "infinity"
    refuses(f"Input X contains {word}", container(broken))


def test_strings():
    refuses("could not convert string to float", [["a", "b"], ["c", "d"]], k=1)


def test_complex_numbers():
    refuses("Complex data not supported", X + 1j)


def test_one_dimension():
    refuses("Expected 2D array", X[0])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing(shape):
    refuses("minimum of 1 is required", np.zeros(shape), k=1)
    refuses("minimum of 1 is required", sp.csr_array(shape, dtype=float), k=1)


def test_sizes_that_do_not_fit_the_frame_of_transform():
    selector = ColumnSelector(2).fit(X)
    with pytest.raises(ValueError, match="X has 4 features, but ColumnSelector is expecting 5"):
        selector.transform(X[:, :4])


def test_squares_beyond_the_range_of_numbers():
    refuses("(?i)overflow|scale|large", 1e200 * X)


# --- size ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 6])
def test_size_out_of_range(k):
    refuses(re.escape(f"must be between 1 and the number of features (5); got {k}"), k=k)


@pytest.mark.parametrize("k", [0.0, 1.0, -0.5, 2.5, np.nan, True, "half", [2]])
def test_size_of_no_meaning(k):
    refuses("must be an integer >= 1, a fraction strictly between 0 and 1, or None", k=k)


def test_auto_without_tolerance():
    refuses("n_features_to_select='auto' needs tol", k="auto")


@pytest.mark.parametrize("tol", [-0.1, 1.5, np.nan, "small"])
def test_tolerance_out_of_range(tol):
    refuses("tol must be a number >= 0 and <= 1", k="auto", tol=tol)


@pytest.mark.parametrize("value", [-1, 1.0, True, "one", None])
def test_components(value):
    refuses("n_components must be an integer >= 0", n_components=value)


# --- constraints -----------------------------------------------------------------------------


def test_constraints_in_conflict():
    refuses(r"include and exclude share the columns \[1, 4\]", include=[0, 1, 4], exclude=[-1, 1])


def test_too_much_included():
    refuses("include names 3 columns, but only 2 are to be selected", include=[0, 1, 2])


def test_too_much_excluded():
    refuses("exclude leaves 1 columns, but 2 are to be selected", exclude=[0, 1, 2, 3])
    refuses("exclude names every column", exclude=range(5), k="auto", tol=0.1)


@pytest.mark.parametrize("index", [5, -6, 100])
def test_unknown_index(index):
    refuses(f"include holds the index {index}, but X has 5 columns", include=[index])
    refuses(f"exclude holds the index {index}, but X has 5 columns", exclude=[index])


@pytest.mark.parametrize("value", [1.5, None, True])
def test_columns_that_are_no_columns(value):
    refuses("include must hold column indices or names", include=[0, value])


def test_unknown_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    refuses("include names the column 'z', which X does not have", frame, include=["z"])
    refuses("exclude names the column 'A', which X does not have", frame, exclude=["A"])


def test_names_without_names():
    refuses("but X has no column names", include=["a"])


# --- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "criterion", ["frobenious", "Frobenius", "", "schatten", "kyfan:", "frobenius:2", None, 2]
)
def test_unknown_criterion(criterion):
    refuses("Unknown criterion", criterion=criterion)


@pytest.mark.parametrize("criterion", ["schatten:0", "schatten:x", "kyfan:0", "kyfan:1.5"])
def test_criterion_with_bad_parameter(criterion):
    refuses(f"criterion '{criterion}' is not valid", criterion=criterion)


def test_criterion_class_instead_of_object():
    refuses("Unknown criterion", criterion=Spectral)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search", "optimum"),
        ("search", None),
        ("target", "Y"),
        ("centering", "median"),
        ("centering", True),
        ("weight", "f"),
        ("input", "covariance"),
        ("reduction", "random"),
    ],
)
def test_misspelt_choice(name, value):
    refuses(f"{name} must be one of .*; got {value!r}", **{name: value})


def test_misspelt_option():
    with pytest.raises(TypeError, match="n_solution"):
        ColumnSelector(2, n_solution=3)
    with pytest.raises(TypeError, match="timelimit"):
        certify(X, [0, 1], timelimit=3)
    with pytest.raises(TypeError, match="timelimit"):
        selection_path(X, 2, timelimit=3)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "1", True, None])
def test_epsilon(value):
    refuses("epsilon must be a", search="weighted", epsilon=value)
    refuses("epsilon must be a", search="weighted", weight="h", epsilon=value)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "small"])
def test_max_gap(value):
    refuses("max_gap must be a number >= 0 and <= 1", max_gap=value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_solutions", 0),
        ("n_solutions", 2.0),
        ("time_limit", -1),
        ("time_limit", np.nan),
        ("time_limit", "1h"),
        ("max_nodes", -1),
        ("max_nodes", 10.5),
        ("max_memory", 0),
        ("max_memory", -1e9),
        ("callback", 3),
    ],
)
def test_numbers_out_of_range(name, value):
    refuses(f"{name} must be .*; got ", **{name: value})


def test_no_workers():
    refuses("n_jobs == 0", n_jobs=0)


@pytest.mark.parametrize("search", ["weighted", "optimistic"])
@pytest.mark.parametrize(
    ("options", "y"),
    [
        ({"criterion": "nuclear"}, None),
        ({"n_components": 1}, None),
        ({"exclude": [0]}, None),
        ({}, Y),
    ],
)
def test_weight_b_where_its_bound_fails(search, options, y):
    refuses("weight='b' is a bound only for", y=y, search=search, weight="b", epsilon=1, **options)


# --- y ---------------------------------------------------------------------------------------


def test_target_y_without_y():
    refuses("target='y' needs a y", target="y")


@pytest.mark.parametrize("y", [Y[:-1], Y[:-1, 0], ["a"] * 7, np.arange(9)])
def test_y_of_the_wrong_length(y):
    refuses("inconsistent numbers of samples", y=y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_y_not_finite(value):
    for y in (Y.copy(), Y[:, 0].copy(), Y[:, 0].astype(object)):
        y[0] = value
        refuses("y contains (NaN|infinity)", y=y)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels(missing):
    refuses("(?i)y .*(NaN|missing|None)", y=["a", "b", missing, "a", "b", "a", "b", "a"])


def test_y_with_three_dimensions():
    refuses("dim|array", y=np.zeros((8, 2, 2)))


def test_y_of_no_dimension():
    refuses("(?i)dim|scalar|array|0d|inconsistent", y=3.0)


# --- gram ------------------------------------------------------------------------------------


def test_gram_not_square():
    refuses(r"needs a square matrix; got shape \(8, 5\)", input="gram")


def test_gram_not_symmetric():
    broken = G.copy()
    broken[0, 1] += 1.0
    refuses("needs a symmetric matrix", broken, input="gram")


def test_gram_not_positive():
    refuses("needs a positive semi-definite matrix", G - 3.0 * np.eye(5), input="gram")
    refuses("needs a positive semi-definite matrix", -G, input="gram")


def test_gram_with_y():
    refuses("input='gram' has no rows to match y with", G, y=np.ones(5), input="gram")


def test_gram_centred():
    refuses("input='gram' cannot be centred", G, input="gram", centering="mean")


def test_gram_sparse():
    with pytest.raises(TypeError, match="Sparse data was passed"):
        ColumnSelector(2, input="gram").fit(sp.csr_array(G))


# --- poor but valid --------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["frobenius", "spectral", "nuclear", "schatten:0.5"])
@pytest.mark.parametrize("centering", ["none", "mean"])
def test_one_row(criterion, centering):
    with pytest.warns(UserWarning, match="1 columns explain everything that 2 could"):
        selector = ColumnSelector(2, criterion=criterion, centering=centering).fit([[3.0, 1, 2]])
    assert len(selector.selected_) == 2
    assert (selector.error_, selector.certificate_.status) == (0.0, "optimal")


@pytest.mark.parametrize("k", [1, None, 0.9, "auto"])
@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
def test_one_column(k, criterion):
    selector = ColumnSelector(k, tol=0.1, criterion=criterion).fit(X[:, :1])
    np.testing.assert_array_equal(selector.selected_, [0])
    assert selector.error_ == pytest.approx(0.0, abs=1e-15)
    assert selector.certificate_.gap == 0.0


@pytest.mark.parametrize("criterion", ["frobenius", "spectral", "nuclear", "schatten:0.5"])
@pytest.mark.parametrize("n_components", [0, 1])
@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("options", [{}, {"include": [1, 2]}, {"search": "greedy"}], ids=str)
def test_all_zero(criterion, n_components, container, options):
    zeros = container(np.zeros((4, 3)))
    said = pytest.warns(UserWarning, match="explain everything")
    with nullcontext() if "include" in options else said:
        selector = ColumnSelector(2, criterion=criterion, n_components=n_components, **options).fit(
            zeros
        )
    assert len(set(selector.selected_)) == 2
    assert (selector.error_, selector.relative_error_) == (0.0, 0.0)
    assert selector.certificate_.status == "optimal"
    assert (selector.certificate_.lower_bound, selector.certificate_.gap) == (0.0, 0.0)
    assert np.isfinite(selector.coef_).all() and np.isfinite(selector.column_r2_).all()
    rebuilt = selector.reconstruct(selector.transform(np.zeros((4, 3))))
    np.testing.assert_array_equal(rebuilt, np.zeros((4, 3)))


def test_all_zero_target():
    selector = ColumnSelector(2).fit(X, np.zeros(8))
    assert (selector.error_, selector.relative_error_) == (0.0, 0.0)
    assert selector.certificate_.status == "optimal"


def test_one_class():
    selector = ColumnSelector(2).fit(X, ["same"] * 8)
    assert selector.coef_.shape == (2, 1)
    centred = ColumnSelector(2, centering="mean").fit(X, ["same"] * 8)
    assert centred.error_ == pytest.approx(0.0, abs=1e-20)


def test_empty_sparse_large():
    with pytest.warns(UserWarning, match="explain everything"):
        selector = ColumnSelector(2).fit(sp.csr_array((20000, 600), dtype=float))
    np.testing.assert_array_equal(selector.selected_, [0, 1])
    assert selector.certificate_.status == "optimal"


def test_constant_columns_when_the_mean_is_free():
    with pytest.warns(UserWarning, match="explain everything"):
        selector = ColumnSelector(2, centering="mean").fit(np.full((5, 3), 7.0))
    assert selector.error_ == 0.0
    np.testing.assert_allclose(selector.reconstruct(np.full((5, 2), 7.0)), 7.0)


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_more_solutions_than_subsets(criterion, k):
    selector = ColumnSelector(k, n_solutions=99, criterion=criterion).fit(X)
    sets = set(selector.solutions_)
    count = {1: 5, 2: 10, 4: 5, 5: 1}[k]
    assert len(sets) == len(selector.solutions_) == count
    assert selector.certificate_.status == "optimal"


def test_more_columns_than_rank_is_said_once():
    low = np.outer(np.arange(1.0, 7), np.ones(4))
    with pytest.warns(UserWarning, match="1 columns explain everything that 3 could") as caught:
        selector = ColumnSelector(3).fit(low)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(selector.selected_, [0, 1, 2])


# --- certify and selection_path --------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], "columns is empty"),
        ([5], "columns holds the index 5, but X has 5 columns"),
        (["a"], "X has no column names"),
        ([0.5], "columns must hold column indices or names"),
    ],
)
def test_certify_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        certify(X, columns)


def test_certify_contradiction():
    with pytest.raises(ValueError, match=r"columns contradicts include or exclude at \[1, 3\]"):
        certify(X, [0, 1], exclude=[1], include=[3])


@pytest.mark.parametrize("size", [0, -1, 2.0, None, "auto"])
def test_path_of_no_size(size):
    with pytest.raises(ValueError, match="max_features must be an integer >= 1"):
        selection_path(X, size)


def test_path_too_long():
    with pytest.raises(ValueError, match="but 6 are to be selected"):
        selection_path(X, 6)


def test_path_shorter_than_what_is_included():
    with pytest.raises(ValueError, match="include names 3 columns, but only 2"):
        selection_path(X, 2, include=[0, 1, 2])


def test_data_are_not_changed():
    for data, options in ((X, {"centering": "mean"}), (G, {"input": "gram"}), (X, {})):
        before = data.copy()
        ColumnSelector(2, n_components=1, **options).fit(data)
        np.testing.assert_array_equal(data, before)
    sparse = sp.csr_array(X)
    ColumnSelector(2, centering="mean").fit(sparse)
    np.testing.assert_array_equal(sparse.toarray(), X)
