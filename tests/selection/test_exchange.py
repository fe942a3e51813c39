"""ExchangeSelector: never worse than its start, and no single exchange improves its end."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale
from sklearn.utils.validation import check_is_fitted

from columnist import ColumnSelector
from columnist.criteria import Frobenius
from columnist.selection._exchange import ExchangeSelector
from columnist.selection._forward import ForwardSelector
from tests.oracles.brute_force import subset_error
from tests.strategies import CRITERIA, LogEnergy, matrices, random_matrix, targets, tolerance

X = np.random.default_rng(0).standard_normal((8, 5))
LONG = np.random.default_rng(1).standard_normal((40, 25)) * np.linspace(1.0, 2.0, 25)


def centred(A):
    return A - A.mean(axis=0)


def fitted(selector, X, y=None):
    """A selector that warns if, and only if, it selects fewer columns than it was asked for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y)
    fewer = len(selector.selected_) < selector.n_features_to_select
    assert ["add nothing" in str(warning.message) for warning in caught] == [True] * fewer
    return selector


def neighbours(selected, n, include=(), exclude=()):
    """All selections that differ in one column."""
    inside = set(selected.tolist())
    for out in inside - set(include):
        for item in set(range(n)) - inside - set(exclude):
            yield sorted(inside - {out} | {item})


def assert_exchanged(selector, X, criterion, Y=None, *, tol, include=(), exclude=()):
    """What every fit promises, checked against errors from the data."""
    error = subset_error(X, selector.selected_, criterion, Y=Y)
    assert selector.error_ == pytest.approx(error, rel=1e-8, abs=tol)
    assert (np.diff(selector.selected_) > 0).all()
    assert set(include) <= set(selector.selected_.tolist())
    assert not set(exclude) & set(selector.selected_.tolist())
    assert selector.error_ <= selector.start_errors_.min()
    for start, start_error in zip(selector.starts_, selector.start_errors_, strict=True):
        from_data = subset_error(X, start, criterion, Y=Y)
        assert start_error == pytest.approx(from_data, rel=1e-8, abs=tol)
        assert error <= from_data * (1 + 1e-8) + tol
    assert len(selector.errors_) == selector.n_swaps_ + 1
    assert (np.diff(selector.errors_) < 0.0).all()
    assert selector.errors_[-1] == pytest.approx(selector.error_, rel=1e-8, abs=tol)
    for other in neighbours(selector.selected_, X.shape[1], include, exclude):
        assert subset_error(X, other, criterion, Y=Y) >= error * (1 - 1e-8) - tol


# --- against brute force --------------------------------------------------------------------


@settings(max_examples=120)
@given(matrices(), st.sampled_from(CRITERIA), st.booleans(), st.booleans(), st.data())
def test_never_worse_and_locally_optimal(X, criterion, supervised, center, data):
    n = X.shape[1]
    k = data.draw(st.integers(1, n), label="k")
    y, Y = data.draw(targets(len(X)), label="y") if supervised else (None, None)
    named = st.sampled_from(["forward", "random"])
    columns = st.lists(st.integers(0, n - 1), max_size=k, unique=True)
    start = data.draw(st.one_of(named, columns), label="start")
    selector = ExchangeSelector(
        k,
        start=start,
        criterion=criterion,
        centering="mean" if center else "none",
        n_starts=data.draw(st.integers(1, 3), label="n_starts"),
        random_state=0,
    )
    fitted(selector, X, y)
    A = centred(X) if center else X
    B = centred(Y) if center and supervised else Y
    tol = tolerance(criterion, X if Y is None else Y)
    assert 1 <= len(selector.selected_) <= k
    assert_exchanged(selector, A, criterion, B, tol=tol)


@settings(max_examples=80)
@given(matrices(min_columns=2), st.sampled_from(CRITERIA), st.data())
def test_include_and_exclude(X, criterion, data):
    n = X.shape[1]
    roles = data.draw(st.lists(st.sampled_from("iexx"), min_size=n, max_size=n), label="roles")
    include = [i for i, role in enumerate(roles) if role == "i"]
    exclude = [i for i, role in enumerate(roles) if role == "e"]
    if len(exclude) == n:
        exclude = exclude[1:]
    k = data.draw(st.integers(max(1, len(include)), n - len(exclude)), label="k")
    start = data.draw(st.lists(st.integers(0, n - 1), max_size=k, unique=True), label="start")
    selector = ExchangeSelector(
        k,
        start=start,
        n_starts=2,
        criterion=criterion,
        include=include,
        exclude=exclude,
        random_state=0,
    )
    fitted(selector, X)
    tol = tolerance(criterion, X)
    assert_exchanged(selector, X, criterion, tol=tol, include=include, exclude=exclude)


def test_finds_what_forward_selection_misses():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 3))
    # The sum looks best at first, but the three columns together explain everything.
    data = np.column_stack([A.sum(axis=1) * 1.5, A])
    forward = ForwardSelector(3).fit(data)
    selector = ExchangeSelector(3).fit(data)
    best = ColumnSelector(3).fit(data)
    assert selector.error_ <= forward.error_
    assert selector.error_ == pytest.approx(best.error_, abs=1e-9)


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_optimal_selections_stay(criterion):
    best = ColumnSelector(4, criterion=criterion).fit(LONG[:, :10])
    selector = ExchangeSelector(4, start=best.selected_, criterion=criterion).fit(LONG[:, :10])
    np.testing.assert_array_equal(selector.selected_, best.selected_)
    assert selector.n_swaps_ == 0


# --- starts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
def test_several_starts_are_never_worse(criterion):
    data = scale(load_breast_cancer().data)
    helped = False
    for seed in range(3):
        options = dict(criterion=criterion, start="random", random_state=seed)
        errors = [
            ExchangeSelector(10, n_starts=count, **options).fit(data).error_ for count in (1, 2, 4)
        ]
        assert errors == sorted(errors, reverse=True)
        helped |= errors[-1] < errors[0]
    assert helped


def test_the_best_start_is_kept():
    selector = ExchangeSelector(8, start="random", n_starts=5, random_state=3).fit(LONG)
    ends = [ExchangeSelector(8, start=start).fit(LONG) for start in selector.starts_]
    at = int(np.argmin([end.error_ for end in ends]))
    np.testing.assert_array_equal(selector.selected_, ends[at].selected_)
    np.testing.assert_array_equal(selector.errors_, ends[at].errors_)
    assert len({tuple(start) for start in selector.starts_}) == 5


def test_forward_start_is_forward_selection():
    selector = ExchangeSelector(8, n_starts=2, random_state=0).fit(LONG)
    forward = ForwardSelector(8).fit(LONG)
    np.testing.assert_array_equal(selector.starts_[0], np.sort(forward.selected_))
    assert selector.start_errors_[0] == pytest.approx(forward.error_, rel=1e-12)


@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
def test_short_start_is_completed(criterion):
    selector = ExchangeSelector(4, start=[9, 2], criterion=criterion, max_swaps=0).fit(LONG)
    forward = ForwardSelector(4, include=[9, 2], criterion=criterion).fit(LONG)
    np.testing.assert_array_equal(selector.selected_, np.sort(forward.selected_))


def test_start_with_names_and_masks():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    by_name = ExchangeSelector(2, start=["e", "b"], max_swaps=0).fit(frame)
    by_mask = ExchangeSelector(2, start=[False, True, False, False, True], max_swaps=0).fit(X)
    np.testing.assert_array_equal(by_name.selected_, [1, 4])
    np.testing.assert_array_equal(by_mask.selected_, [1, 4])


def test_start_from_a_selector():
    y = LONG[:, 3] + LONG[:, 4]
    inner = SelectKBest(f_regression, k=5)
    selector = ExchangeSelector(5, start=inner).fit(LONG, y)
    expected = clone(inner).fit(LONG, y).get_support(indices=True)
    np.testing.assert_array_equal(selector.starts_[0], expected)
    with pytest.raises(NotFittedError):
        check_is_fitted(inner)  # a copy was fitted
    again = ExchangeSelector(5, start=clone(inner).fit(LONG, y)).fit(LONG, y)
    np.testing.assert_array_equal(again.starts_[0], expected)


def test_start_from_a_selector_is_asked_for_the_same_size():
    inner = ForwardSelector(2)
    selector = ExchangeSelector(6, start=inner, max_swaps=0).fit(LONG)
    np.testing.assert_array_equal(
        selector.selected_, np.sort(ForwardSelector(6).fit(LONG).selected_)
    )
    assert inner.n_features_to_select == 2
    short = ExchangeSelector(6, start=ForwardSelector(2).fit(LONG), max_swaps=0).fit(LONG)
    np.testing.assert_array_equal(short.selected_, selector.selected_)
    assert clone(ExchangeSelector(6, start=inner)).start is not inner


def test_start_meets_the_constraints():
    options = dict(start=[0, 1, 2], include=[4], exclude=[1], max_swaps=0)
    np.testing.assert_array_equal(ExchangeSelector(3, **options).fit(X).selected_, [0, 2, 4])
    np.testing.assert_array_equal(
        ExchangeSelector(3, **options | {"exclude": None}).fit(X).selected_, [0, 1, 4]
    )


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_limit_on_exchanges(criterion):
    options = dict(start=range(8), criterion=criterion)
    whole = ExchangeSelector(8, **options).fit(LONG)
    assert whole.n_swaps_ >= 2
    for most in range(whole.n_swaps_ + 1):
        part = ExchangeSelector(8, max_swaps=most, **options).fit(LONG)
        assert part.n_swaps_ == most
        np.testing.assert_array_equal(part.errors_, whole.errors_[: most + 1])
        assert part.error_ == pytest.approx(whole.errors_[most], rel=1e-9)


# --- data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
@pytest.mark.parametrize("shape", [(30, 12), (10, 25)])
@pytest.mark.parametrize("supervised", [False, True])
def test_sparse_equals_dense(container, centering, criterion, shape, supervised):
    rng = np.random.default_rng(0)
    data = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    y = rng.standard_normal((shape[0], 2)) if supervised else None
    options = dict(criterion=criterion, centering=centering, n_starts=2, random_state=0)
    dense = ExchangeSelector(4, **options).fit(data, y)
    sparse = ExchangeSelector(4, **options).fit(container(data), y)
    np.testing.assert_array_equal(sparse.selected_, dense.selected_)
    assert sparse.error_ == pytest.approx(dense.error_, rel=1e-9)
    np.testing.assert_allclose(sparse.errors_, dense.errors_, rtol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_float32_is_read_exactly(make):
    single = LONG.astype(np.float32)
    expected = ExchangeSelector(8, start="random", random_state=0).fit(single.astype(np.float64))
    selector = ExchangeSelector(8, start="random", random_state=0).fit(make(single))
    np.testing.assert_array_equal(selector.selected_, expected.selected_)
    assert selector.error_ == pytest.approx(expected.error_, rel=1e-12)
    assert selector.transform(make(single)).dtype == np.float32


@pytest.mark.parametrize("unit", [1e-150, 1e-75, 1e75, 1e150])
@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
@pytest.mark.parametrize("supervised", [False, True])
def test_scales(unit, criterion, supervised):
    y = LONG[:, :2] ** 2 if supervised else None
    options = dict(criterion=criterion, start="random", n_starts=2, random_state=0)
    plain = ExchangeSelector(8, **options).fit(LONG, y)
    scaled = ExchangeSelector(8, **options).fit(unit * LONG, None if y is None else unit * y)
    power = unit**2 if criterion == "frobenius" else unit
    np.testing.assert_array_equal(scaled.selected_, plain.selected_)
    assert scaled.error_ == pytest.approx(power * plain.error_, rel=1e-9)
    np.testing.assert_allclose(scaled.errors_, power * plain.errors_, rtol=1e-9)
    np.testing.assert_allclose(scaled.start_errors_, power * plain.start_errors_, rtol=1e-9)


def test_a_criterion_that_does_not_scale_sees_the_true_values():
    selector = ExchangeSelector(8, criterion=LogEnergy(), start="random", random_state=0)
    selector.fit(1e-80 * LONG)
    assert selector.errors_[-1] == pytest.approx(selector.error_, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("criterion", ["frobenius", "schatten:0.5"])
@pytest.mark.parametrize("start", ["forward", "random"])
def test_more_columns_than_rank(criterion, start):
    rng = np.random.default_rng(0)
    data = random_matrix("gaussian", 10, 2, rng) @ rng.standard_normal((2, 6))
    selector = ExchangeSelector(4, criterion=criterion, start=start, random_state=0)
    with pytest.warns(UserWarning, match="selected 2 of 4 columns"):
        selector.fit(data)
    assert selector.error_ == pytest.approx(0.0, abs=1e-9)
    assert len(selector.selected_) == 2


def test_twins_in_the_start_are_replaced():
    data = np.hstack([LONG[:, :4], LONG[:, :4]])
    selector = ExchangeSelector(3, start=[0, 4, 1]).fit(data)
    assert len({i % 4 for i in selector.selected_}) == 3
    assert selector.n_swaps_ >= 1


@pytest.mark.parametrize(
    "data",
    [
        np.zeros((4, 3)),
        np.ones((4, 3)),
        np.ones((1, 3)),
        sp.csr_array((4, 3)),
        sp.csc_array((2, 3)),
    ],
)
@pytest.mark.parametrize("criterion", ["frobenius", "spectral"])
@pytest.mark.parametrize("start", ["forward", "random"])
def test_nothing_to_explain(data, criterion, start):
    options = dict(criterion=criterion, start=start, centering="mean", random_state=0)
    selector = fitted(ExchangeSelector(2, **options), data)
    assert selector.error_ == 0.0 and selector.relative_error_ == 0.0
    assert len(selector.selected_) >= 1


def test_constant_target():
    selector = fitted(ExchangeSelector(2, centering="mean"), X, np.full(8, 3.0))
    assert selector.error_ == 0.0 and len(selector.selected_) >= 1


# --- how it is used -------------------------------------------------------------------------


def test_same_seed_same_answer():
    fits = [ExchangeSelector(8, n_starts=4, random_state=7).fit(LONG) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].errors_, fits[1].errors_)
    for first, second in zip(fits[0].starts_, fits[1].starts_, strict=True):
        np.testing.assert_array_equal(first, second)


def test_ties_go_to_the_first_columns():
    data = np.eye(6)[:, [0, 1, 1, 2, 2, 3]] * [1.0, 2.0, 2.0, 2.0, 2.0, 1.0]
    selector = ExchangeSelector(2, start=[0, 5]).fit(data)
    np.testing.assert_array_equal(selector.selected_, [1, 3])


def test_verbose_prints_a_line_per_start(capsys):
    ExchangeSelector(3, n_starts=3, random_state=0, verbose=True).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and lines[-1].split()[0] == "3"


def test_no_trace_of_the_work_is_left():
    selector = ExchangeSelector(2).fit(X)
    hidden = {name for name in vars(selector) if name.startswith("_")}
    assert hidden == {"_rebuilds_x", "_centered"}  # what score needs to know of the fit


# --- bad input ------------------------------------------------------------------------------


def refuses(message, y=None, k=2, error=ValueError, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(error, match=message):
            ExchangeSelector(k, **options).fit(X, y)


@pytest.mark.parametrize("start", ["foward", "qr", ""])
def test_unknown_start(start):
    refuses("start must be one of 'forward', 'random'", start=start)


def test_no_start():
    refuses("start must be one of 'forward', 'random' or columns or a selector", start=None)


def test_start_out_of_range():
    refuses("start holds the index 5, but X has 5 columns", start=[0, 5])
    refuses("start must hold column indices or names", start=[0.5])
    refuses("but X has no column names", start=["a"])


def test_start_too_long():
    refuses("start holds 3 columns, but 2 are to be selected", start=[0, 1, 2])


def test_start_fitted_on_other_columns():
    refuses("start was fitted on 25 columns, but X has 5", start=ForwardSelector(2).fit(LONG))


def test_start_that_does_not_select():
    refuses("start must select columns; Ridge has no get_support", start=Ridge(), y=X[:, 0])


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "two", None])
def test_number_of_starts(value):
    refuses("n_starts must be an integer >= 1", n_starts=value)


@pytest.mark.parametrize("value", [-1, 1.5, True, "two"])
def test_number_of_exchanges(value):
    refuses("max_swaps must be an integer >= 0", max_swaps=value)


@pytest.mark.parametrize("k", [0, 6, 1.5, "half"])
def test_size(k):
    refuses("n_features_to_select must be", k=k)


def test_options():
    refuses("Unknown criterion", criterion="frobenious")
    refuses("centering must be one of", centering="median")
    refuses("target must be one of", target="Y")
    refuses("target='y' needs a y", target="y")


def test_constraints():
    refuses(re.escape("include and exclude share the columns [1]"), include=[1], exclude=[1, 2])
    refuses("include names 3 columns, but only 2", include=[0, 1, 2])
    refuses("exclude leaves 1 columns, but 2", exclude=[0, 1, 2, 3])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_finite(value):
    broken = X.copy()
    broken[3, 2] = value
    with pytest.raises(ValueError, match="Input X contains"):
        ExchangeSelector(2).fit(broken)
    with pytest.raises(ValueError, match="Input y contains"):
        ExchangeSelector(2).fit(X, broken)


def test_target_is_a_choice():
    y = X[:, 0] + X[:, 1]
    on_y = ExchangeSelector(2).fit(X, y)
    on_x = ExchangeSelector(2, target="X").fit(X, y)
    assert on_y.error_ == pytest.approx(0.0, abs=1e-20)
    assert on_x.error_ == pytest.approx(subset_error(X, on_x.selected_, Frobenius()))
