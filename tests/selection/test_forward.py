"""Forward selection against its definition, in every way it takes a step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from columnist import ColumnSelector
from columnist.criteria import Frobenius, Nuclear, Schatten
from columnist.selection import ForwardSelector
from columnist.selection._forward_states import GramForward, TargetForward, WideForward
from tests.oracles.brute_force import subset_error
from tests.oracles.forward import greedy_extended
from tests.strategies import CRITERIA, matrices, random_matrix, targets, tolerance


def graded(m: int, n: int, condition: float, seed: int = 0) -> np.ndarray:
    """A matrix with singular values from 1 down to 1 / condition."""
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((m, n)))[0]
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return (U * np.geomspace(1.0, 1.0 / condition, n)) @ V.T


def check_greedy(X, selector, Y=None):
    """Every step of a fitted selector chose a column with the smallest error."""
    criterion = selector._criterion()
    T = X if Y is None else Y
    slack = tolerance(criterion, T)
    chosen = []
    for step, column in enumerate(selector.selected_):
        others = [i for i in range(X.shape[1]) if i not in chosen]
        errors = {i: subset_error(X, [*chosen, i], criterion, Y=Y) for i in others}
        assert errors[column] <= min(errors.values()) + slack
        assert abs(selector.errors_[step] - errors[column]) <= slack
        chosen.append(column)
    return chosen


@pytest.mark.filterwarnings("ignore:ForwardSelector selected")
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@settings(max_examples=40, deadline=None)
@given(X=matrices(), data=st.data())
def test_every_step_is_the_best_one(criterion, X, data):
    k = data.draw(st.integers(1, X.shape[1]))
    selector = ForwardSelector(k, criterion=criterion).fit(X)
    chosen = check_greedy(X, selector)
    if len(chosen) < k:  # nothing that any other column could add
        assert selector.stopped_ == "rank"
        rest = [i for i in range(X.shape[1]) if i not in chosen]
        now = subset_error(X, chosen, criterion)
        slack = tolerance(criterion, X)
        assert all(subset_error(X, [*chosen, i], criterion) >= now - slack for i in rest)


@pytest.mark.filterwarnings("ignore:ForwardSelector selected")
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
@settings(max_examples=30, deadline=None)
@given(X=matrices(min_rows=2), data=st.data())
def test_every_step_is_the_best_one_for_a_target(criterion, X, data):
    y, Y = data.draw(targets(len(X)))
    k = data.draw(st.integers(1, X.shape[1]))
    check_greedy(X, ForwardSelector(k, criterion=criterion).fit(X, y), Y)


@pytest.mark.filterwarnings("ignore:ForwardSelector selected")
@settings(max_examples=40, deadline=None)
@given(X=matrices(min_rows=2), data=st.data())
def test_centring_is_a_free_intercept(X, data):
    k = data.draw(st.integers(1, X.shape[1]))
    X = X + data.draw(st.sampled_from([0.0, 1.0, 1e4]))
    centred = ForwardSelector(k, centering="mean").fit(X)
    by_hand = X - X.mean(axis=0)
    slack = 1e-9 * max(float(np.vdot(X, X)), 1e-300)
    assert abs(centred.error_ - subset_error(by_hand, centred.selected_, Frobenius())) <= slack


@pytest.mark.parametrize("shape", [(80, 40), (60, 60)])
@pytest.mark.parametrize("condition", [1e4, 1e10, 1e16])
def test_ill_conditioned_columns_of_x(shape, condition):
    X = graded(*shape, condition)
    k = 20
    expected = greedy_extended(X, k)
    np.testing.assert_array_equal(ForwardSelector(k).fit(X).selected_, expected)
    state, allowed = WideForward(X, k), np.ones(shape[1], dtype=bool)
    chosen = []
    for _ in range(k):
        column, _ = state.best(allowed)
        state.add(column)
        allowed[column] = False
        chosen.append(column)
    assert chosen == expected


@pytest.mark.parametrize("n_targets", [1, 3])
def test_ill_conditioned_columns_for_a_target(n_targets):
    X = graded(80, 40, 1e16, seed=1)
    Y = X @ np.random.default_rng(2).standard_normal((40, n_targets))
    k = 20  # what is left then nears the share that counts as dependent
    selected = ForwardSelector(k).fit(X, Y).selected_
    np.testing.assert_array_equal(selected, greedy_extended(X, k, Y))


def test_frobenius_is_the_greedy_search():
    X = np.random.default_rng(3).standard_normal((30, 12))
    greedy = ColumnSelector(5, search="greedy").fit(X)
    forward = ForwardSelector(5).fit(X)
    assert sorted(forward.selected_) == list(greedy.selected_)
    assert forward.error_ == pytest.approx(greedy.error_, rel=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_the_ways_to_take_a_step_agree(center):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((25, 40)) @ np.diag(rng.uniform(0.5, 2.0, 40)) + 0.3
    T = X - X.mean(axis=0) if center else X
    states = [
        GramForward(X, 10, center=center),
        WideForward(X, 10, center=center),
        WideForward(sp.csc_array(X), 10, center=center),
        TargetForward(X, X, 10, center=center),
    ]
    allowed = np.ones(40, dtype=bool)
    for _ in range(10):
        steps = [state.best(allowed) for state in states]
        assert len({column for column, _ in steps}) == 1
        column = steps[0][0]
        before = states[0].error()
        for state, (_, gain) in zip(states, steps, strict=True):
            state.add(column)
            assert before - state.error() == pytest.approx(gain, rel=1e-9)
        allowed[column] = False
    rest = T - T[:, ~allowed] @ np.linalg.lstsq(T[:, ~allowed], T, rcond=None)[0]
    for state in states:
        assert state.error() == pytest.approx(float(np.vdot(rest, rest)), rel=1e-9)


@pytest.mark.parametrize("target", ["X", "y"])
@pytest.mark.parametrize("centering", ["none", "mean"])
def test_sparse_and_float32_choose_alike(target, centering):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (60, 30)) * (rng.random((60, 30)) < 0.4) * rng.uniform(1, 2, 30)
    X = X.astype(np.float32).astype(np.float64)
    y = X[:, :3] @ rng.standard_normal((3, 2)) + rng.standard_normal((60, 2))
    dense = ForwardSelector(8, target=target, centering=centering).fit(X, y)
    for other in (sp.csr_array(X), sp.csc_matrix(X), X.astype(np.float32)):
        selector = clone(dense).fit(other, y)
        np.testing.assert_array_equal(selector.selected_, dense.selected_)
        np.testing.assert_allclose(selector.errors_, dense.errors_, rtol=1e-10)


@pytest.mark.parametrize("shape", [(40, 300), (300, 40)])
def test_large_sparse_equals_small_dense(monkeypatch, shape):
    rng = np.random.default_rng(6)
    n = shape[1]
    X = (rng.random(shape) < rng.uniform(0.02, 0.6, n)) * rng.standard_normal(shape)
    X[:, ::7] = 0.0
    small = ForwardSelector(15, include=[7]).fit(X)
    monkeypatch.setattr("columnist.selection._forward._GRAM_SIDE", 0)
    monkeypatch.setattr("columnist.selection._forward._GRAM_SIDE_WIDE", 0)
    large = ForwardSelector(15, include=[7]).fit(sp.csc_array(X))
    np.testing.assert_array_equal(large.selected_, small.selected_)
    np.testing.assert_allclose(large.errors_, small.errors_, rtol=1e-10)


def test_wide_computes_everything_anew_when_much_has_shrunk(monkeypatch):
    monkeypatch.setattr("columnist.selection._forward_states._FEW", 0)
    X = graded(40, 40, 1e9, seed=7)
    state, allowed, chosen = WideForward(X, 15), np.ones(40, dtype=bool), []
    for _ in range(15):
        column, _ = state.best(allowed)
        state.add(column)
        allowed[column] = False
        chosen.append(column)
    assert chosen == greedy_extended(X, 15)


@pytest.mark.parametrize("scale", [1e-150, 1e-60, 1e60, 1e150])
@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear(), Schatten(0.5)], ids=str)
def test_scales(scale, criterion):
    X = np.random.default_rng(8).standard_normal((20, 10))
    one = ForwardSelector(4, criterion=criterion).fit(X)
    other = ForwardSelector(4, criterion=criterion).fit(X * scale)
    np.testing.assert_array_equal(one.selected_, other.selected_)
    unit = scale**2 if isinstance(criterion, Frobenius) else scale
    np.testing.assert_allclose(other.errors_, one.errors_ * unit, rtol=1e-9)
    assert other.relative_error_ == pytest.approx(one.relative_error_, rel=1e-9)


def test_rotating_rows_changes_nothing():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((15, 10))
    Q = np.linalg.qr(rng.standard_normal((15, 15)))[0]
    np.testing.assert_array_equal(
        ForwardSelector(6).fit(X).selected_, ForwardSelector(6).fit(Q @ X).selected_
    )


def test_one_fit_serves_every_smaller_size():
    X = np.random.default_rng(10).standard_normal((20, 9))
    whole = ForwardSelector(7).fit(X)
    assert (np.diff(whole.errors_) <= 0).all()
    for k in range(1, 8):
        fresh, cut = ForwardSelector(k).fit(X), whole.first(k)
        np.testing.assert_array_equal(cut.selected_, fresh.selected_)
        np.testing.assert_array_equal(cut.transform(X), fresh.transform(X))
        assert cut.error_ == pytest.approx(fresh.error_, rel=1e-12)
        assert cut.relative_error_ == pytest.approx(fresh.relative_error_, rel=1e-12)
    with pytest.raises(ValueError, match="only 7 columns were selected"):
        whole.first(8)


def test_errors_of_a_perfect_rebuild_are_not_noise():
    X = graded(30, 8, 1e6, seed=11)
    errors = ForwardSelector(8).fit(X).errors_
    expected = [subset_error(X, range(0), Frobenius())]
    selected = ForwardSelector(8).fit(X).selected_
    expected = [subset_error(X, selected[: j + 1], Frobenius()) for j in range(8)]
    np.testing.assert_allclose(errors[:-1], expected[:-1], rtol=1e-6)
    assert errors[-1] == 0.0


def test_tolerance_stops_and_auto_needs_it():
    X = random_matrix("gaussian", 30, 12, np.random.default_rng(12))
    whole = ForwardSelector(12).fit(X)
    selector = ForwardSelector("auto", tol=0.3).fit(X)
    expected = int(np.argmax(whole.errors_ <= 0.3 * float(np.vdot(X, X)))) + 1
    assert len(selector.selected_) == expected
    assert selector.stopped_ == "tol"
    assert selector.relative_error_ <= 0.3
    assert len(ForwardSelector(2, tol=0.3).fit(X).selected_) == 2
    with pytest.raises(ValueError, match="needs tol"):
        ForwardSelector("auto").fit(X)


def test_include_and_exclude(frame):
    selector = ForwardSelector(4, include=["c", "a"], exclude=[3]).fit(frame)
    assert list(selector.selected_[:2]) == [2, 0]
    assert 3 not in selector.selected_
    X = frame.to_numpy()
    best = min((subset_error(X, [2, 0, i], Frobenius()), i) for i in (1, 4, 5))
    assert selector.selected_[2] == best[1]
    with pytest.raises(ValueError, match="share the columns"):
        ForwardSelector(2, include=[1], exclude=["b"]).fit(frame)
    with pytest.raises(ValueError, match="include names 3"):
        ForwardSelector(2, include=[0, 1, 2]).fit(frame)


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(13).standard_normal((20, 6))
    return pandas.DataFrame(X, columns=list("abcdef"))


def test_dependent_included_columns_are_kept():
    X = np.random.default_rng(14).standard_normal((10, 4))
    X = np.column_stack([X, X[:, 0]])
    selector = ForwardSelector(3, include=[0, 4]).fit(X)
    assert list(selector.selected_[:2]) == [0, 4]
    assert selector.errors_[0] == pytest.approx(selector.errors_[1], rel=1e-12)


@pytest.mark.parametrize("criterion", ["frobenius", "nuclear"])
def test_rank_ends_the_selection(criterion):
    rng = np.random.default_rng(15)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 8))
    with pytest.warns(UserWarning, match="selected 3 of 5"):
        selector = ForwardSelector(5, criterion=criterion).fit(X)
    assert len(selector.selected_) == 3
    assert selector.stopped_ == "rank"
    assert selector.relative_error_ == pytest.approx(0.0, abs=1e-12)


def test_duplicates_and_constants_are_not_chosen_twice():
    rng = np.random.default_rng(16)
    X = rng.standard_normal((30, 5))
    X = np.column_stack([np.full(30, 7.0), X, X * 3.0, np.zeros(30)])
    selector = ForwardSelector(5, centering="mean").fit(X)
    assert len({(i - 1) % 5 for i in selector.selected_}) == 5
    assert 0 not in selector.selected_


def test_a_target_that_cannot_be_explained():
    X = np.eye(4)[:, :2]
    with pytest.warns(UserWarning, match="selected 1 of 2"):
        selector = ForwardSelector(2).fit(X, np.zeros(4))
    assert list(selector.selected_) == [0]
    assert selector.relative_error_ == 0.0
    for degree in (1, 2):
        with pytest.warns(UserWarning, match="selected 1 of 2"):
            selector = ForwardSelector(2, centering="mean", degree=degree).fit(X, np.full(4, 0.1))
        assert selector.relative_error_ == 0.0


def test_a_criterion_that_stands_still_does_not_end_the_selection():
    for degree in (1, 2):
        selector = ForwardSelector(3, criterion="spectral", degree=degree).fit(np.eye(3))
        assert list(selector.selected_) == [0, 1, 2]
        np.testing.assert_allclose(selector.errors_, [1.0, 1.0, 0.0], atol=1e-12)


def test_all_zero_data():
    with pytest.warns(UserWarning, match="selected 1 of 2"):
        assert list(ForwardSelector(2).fit(np.zeros((3, 4))).selected_) == [0]


def test_missing_target_values_are_named():
    X = np.random.default_rng(17).standard_normal((6, 3))
    with pytest.raises(ValueError, match="y contains NaN"):
        ForwardSelector(2).fit(X, [1.0, np.nan, 0.0, 1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "frobenious"}, "Unknown criterion"),
        ({"target": "Z"}, "target must be one of"),
        ({"target": "y"}, "target='y' needs a y"),
        ({"degree": 0}, "degree must be an integer >= 1"),
        ({"centering": "median"}, "centering must be one of"),
        ({"tol": 2.0}, "tol must be a number"),
        ({"n_features_to_select": 9}, "between 1 and the number of features"),
        ({"n_features_to_select": 1.5}, "fraction strictly between 0 and 1"),
        ({"exclude": [0, 1, 2]}, "exclude leaves 1 columns"),
    ],
)
def test_bad_parameters(parameters, message):
    X = np.random.default_rng(18).standard_normal((6, 4))
    with pytest.raises(ValueError, match=message):
        ForwardSelector(**parameters).fit(X)


def test_verbose_prints_a_line_per_step(capsys):
    X = np.random.default_rng(19).standard_normal((6, 4))
    ForwardSelector(3, verbose=True).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].split() == ["Step", "Column", "Error", "Relative"]
