"""ColumnSelector against enumeration of all subsets."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from columnist import ColumnSelector, certify
from columnist.criteria import Frobenius, Nuclear, Schatten, Spectral
from columnist.linalg._reduce import randomized_range
from tests.oracles.brute_force import best_subsets, subset_error
from tests.strategies import CRITERIA, KINDS, matrices, random_matrix, targets, tolerance

# Rank deficiency is normal here, and said aloud.
pytestmark = pytest.mark.filterwarnings("ignore:.*explain everything:UserWarning")

criteria = st.sampled_from(CRITERIA)


def centred(A):
    return A - A.mean(axis=0)


def assert_optimal(selector, best, tol):
    """The selection and its certificate agree with the enumeration."""
    optimum = best[0][0]
    certificate = selector.certificate_
    assert selector.error_ == pytest.approx(optimum, rel=1e-8, abs=tol)
    assert certificate.status == "optimal"
    assert certificate.error == selector.error_
    assert optimum - tol - 1e-8 * optimum <= certificate.lower_bound <= selector.error_
    assert certificate.selection == tuple(selector.selected_)


def assert_own_error(selector, X, criterion, n_components, Y=None, *, tol):
    """The stated error is that of the stated selection."""
    for solution in selector.solutions_:
        assert len(set(solution)) == len(solution)
        expected = subset_error(X, solution, criterion, n_components, Y)
        assert solution.error == pytest.approx(expected, rel=1e-8, abs=tol)


# --- optimal, against brute force ---------------------------------------------------------


@settings(max_examples=300)
@given(matrices(), criteria, st.integers(0, 2), st.data())
def test_best_columns(X, criterion, n_components, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    tol = tolerance(criterion, X)
    selector = ColumnSelector(k, criterion=criterion, n_components=n_components).fit(X)
    assert len(selector.selected_) == k
    assert_optimal(selector, best_subsets(X, k, criterion, n_components), tol)
    assert_own_error(selector, X, criterion, n_components, tol=tol)


@settings(max_examples=150)
@given(matrices(min_rows=2), criteria, st.integers(0, 2), st.data())
def test_best_columns_for_a_target(X, criterion, n_components, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    y, Y = data.draw(targets(X.shape[0]), label="y")
    tol = tolerance(criterion, Y)
    selector = ColumnSelector(k, criterion=criterion, n_components=n_components).fit(X, y)
    assert selector.certificate_.target == "y"
    assert_optimal(selector, best_subsets(X, k, criterion, n_components, Y), tol)
    assert_own_error(selector, X, criterion, n_components, Y, tol=tol)


@settings(max_examples=150)
@given(matrices(min_columns=2), criteria, st.integers(0, 1), st.data())
def test_include_and_exclude(X, criterion, n_components, data):
    n = X.shape[1]
    roles = data.draw(st.lists(st.sampled_from("iexx"), min_size=n, max_size=n), label="roles")
    include = [j for j, role in enumerate(roles) if role == "i"]
    exclude = [j for j, role in enumerate(roles) if role == "e"]
    most = n - len(exclude)
    assume(most >= 1)
    k = data.draw(st.integers(max(1, len(include)), most), label="k")
    selector = ColumnSelector(
        k, criterion=criterion, n_components=n_components, include=include, exclude=exclude
    ).fit(X)
    chosen = set(selector.selected_.tolist())
    assert len(chosen) == k
    assert set(include) <= chosen and not chosen & set(exclude)
    tol = tolerance(criterion, X)
    best = best_subsets(X, k, criterion, n_components, include=include, exclude=exclude)
    assert_optimal(selector, best, tol)
    assert_own_error(selector, X, criterion, n_components, tol=tol)


def test_included_columns_may_depend_on_each_other():
    X = np.array([[1.0, 1, 0, 0, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]])
    selector = ColumnSelector(4, include=[0, 1]).fit(X)
    assert selector.error_ == 0.0
    assert subset_error(X, selector.selected_, Frobenius()) == 0.0


@settings(max_examples=150)
@given(matrices(min_columns=2), criteria, st.integers(0, 1), st.integers(1, 5), st.data())
def test_pools_hold_the_best_sets(X, criterion, n_components, n_solutions, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    selector = ColumnSelector(
        k, criterion=criterion, n_components=n_components, n_solutions=n_solutions
    ).fit(X)
    best = best_subsets(X, k, criterion, n_components, n_solutions=n_solutions)
    tol = tolerance(criterion, X)
    sets = list(selector.solutions_)
    assert len(sets) == len(set(sets)) == len(best)
    errors = [solution.error for solution in selector.solutions_]
    assert errors == sorted(errors)
    np.testing.assert_allclose(errors, [error for error, _ in best], rtol=1e-8, atol=tol)
    assert_optimal(selector, best, tol)
    assert_own_error(selector, X, criterion, n_components, tol=tol)


@pytest.mark.parametrize("seed", [224, 0, 1, 2, 3])
def test_pools_hold_sets_of_dependent_columns(seed):
    # A set with a duplicate is a runner-up like any other.
    X = random_matrix("duplicates", 6, 6, np.random.default_rng(seed))
    for k in (2, 3, 4):
        if k > np.linalg.matrix_rank(X):
            continue
        selector = ColumnSelector(k, n_solutions=15).fit(X)
        best = best_subsets(X, k, Frobenius(), n_solutions=15)
        np.testing.assert_allclose(
            [solution.error for solution in selector.solutions_],
            [error for error, _ in best],
            atol=tolerance(Frobenius(), X),
        )


@settings(max_examples=60)
@given(matrices(min_rows=2), criteria, st.booleans(), st.data())
def test_centering_makes_the_mean_free(X, criterion, with_target, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    X = X + 3.0
    y, Y = data.draw(targets(X.shape[0]), label="y") if with_target else (None, None)
    free = centred(X)
    Y = None if Y is None else centred(Y)
    selector = ColumnSelector(k, criterion=criterion, centering="mean").fit(X, y)
    tol = tolerance(criterion, X if Y is None else Y + 1.0)
    assert_optimal(selector, best_subsets(free, k, criterion, Y=Y), tol)
    assert_own_error(selector, free, criterion, 0, Y, tol=tol)


@settings(max_examples=60)
@given(matrices(min_rows=2), criteria, st.integers(0, 1), st.data())
def test_gram_input(X, criterion, n_components, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    selector = ColumnSelector(k, criterion=criterion, n_components=n_components, input="gram").fit(
        X.T @ X
    )
    # Squaring halves the digits of small singular values.
    tol = tolerance(criterion, X) * (1 if isinstance(criterion, Frobenius) else 100)
    assert_optimal(selector, best_subsets(X, k, criterion, n_components), tol)
    assert_own_error(selector, X, criterion, n_components, tol=tol)


@settings(max_examples=100)
@given(
    matrices(min_rows=2, kinds=("integers", "low rank", "zero columns", "duplicates")),
    criteria,
    st.sampled_from([sp.csr_array, sp.csc_matrix]),
    st.sampled_from(["none", "mean"]),
    st.booleans(),
    st.data(),
)
def test_sparse_input(X, criterion, container, centering, with_target, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    y, Y = data.draw(targets(X.shape[0]), label="y") if with_target else (None, None)
    selector = ColumnSelector(k, criterion=criterion, centering=centering).fit(container(X), y)
    dense, target = (X, Y) if centering == "none" else (centred(X), Y)
    if target is not None and centering == "mean":
        target = centred(target)
    tol = tolerance(criterion, X if Y is None else Y)
    tol *= 1 if isinstance(criterion, Frobenius) else 100
    assert_optimal(selector, best_subsets(dense, k, criterion, Y=target), tol)
    assert_own_error(selector, dense, criterion, 0, target, tol=tol)


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-30, 1e30, 1e100, 1e150])
@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear(), Schatten(3.0)], ids=str)
def test_scale_changes_nothing_but_the_error(scale, criterion):
    X = np.random.default_rng(0).standard_normal((8, 7))
    plain = ColumnSelector(3, criterion=criterion, n_components=1).fit(X)
    scaled = ColumnSelector(3, criterion=criterion, n_components=1).fit(scale * X)
    power = 2 if isinstance(criterion, Frobenius) else 1
    np.testing.assert_array_equal(scaled.selected_, plain.selected_)
    assert scaled.error_ / scale**power == pytest.approx(plain.error_, rel=1e-9)
    assert scaled.relative_error_ == pytest.approx(plain.relative_error_, rel=1e-9)
    assert scaled.certificate_.status == "optimal"
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.column_r2_, plain.column_r2_, rtol=1e-9)
    np.testing.assert_array_equal(scaled.representative_, plain.representative_)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_beyond_the_square_root_of_the_range(scale):
    # The squared norm leaves the range of numbers, but a norm does not.
    X = np.random.default_rng(0).standard_normal((8, 7))
    plain = ColumnSelector(3, criterion="nuclear").fit(X)
    scaled = ColumnSelector(3, criterion="nuclear").fit(scale * X)
    np.testing.assert_array_equal(scaled.selected_, plain.selected_)
    assert scaled.error_ / scale == pytest.approx(plain.error_, rel=1e-9)


# --- node limits ---------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    matrices(min_rows=3, min_columns=4),
    criteria,
    st.integers(0, 1),
    st.sampled_from(["auto", "optimistic", "weighted"]),
    st.data(),
)
def test_every_node_limit_is_proven(X, criterion, n_components, search, data):
    k = data.draw(st.integers(1, X.shape[1] - 1), label="k")
    optimum = best_subsets(X, k, criterion, n_components)[0][0]
    tol = tolerance(criterion, X) + 1e-8 * optimum
    bounds, errors = [], []
    for max_nodes in itertools.count():
        selector = ColumnSelector(
            k, criterion=criterion, n_components=n_components, search=search, max_nodes=max_nodes
        ).fit(X)
        certificate = selector.certificate_
        assert certificate.nodes_expanded <= max_nodes
        assert certificate.lower_bound <= optimum + tol
        assert selector.error_ >= optimum - tol
        bounds.append(certificate.lower_bound)
        errors.append(selector.error_)
        if certificate.status == "optimal":
            break
        assert certificate.status == "node_limit"
        assert max_nodes < 500
    assert (np.diff(bounds) >= -tol).all()
    assert (np.diff(errors) <= tol).all()
    assert errors[-1] == pytest.approx(optimum, abs=tol)


# --- other orders --------------------------------------------------------------------------


def assert_guaranteed(certificate, optimum, tol, X, criterion, n_components):
    """What was promised before the search holds; nothing is only where rounding shows in it."""
    if certificate.a_priori_bound is None:
        sigma = np.linalg.svd(X, compute_uv=False)
        assert criterion.value(sigma[n_components:]) <= 1e-3 * criterion.value(sigma)
    else:
        assert certificate.error - optimum <= certificate.a_priori_bound + tol


@settings(max_examples=150)
@given(
    matrices(min_rows=2, min_columns=3),
    criteria,
    st.integers(0, 1),
    st.sampled_from("ugh"),
    st.sampled_from([0.05, 0.5, 3.0, 100.0]),
    st.data(),
)
def test_weighted_search_keeps_its_guarantee(X, criterion, n_components, weight, epsilon, data):
    k = data.draw(st.integers(1, X.shape[1] - 1), label="k")
    selector = ColumnSelector(
        k, criterion=criterion, n_components=n_components, search="weighted", weight=weight,
        epsilon=epsilon,
    ).fit(X)  # fmt: skip
    certificate = selector.certificate_
    optimum = best_subsets(X, k, criterion, n_components)[0][0]
    tol = tolerance(criterion, X) + 1e-8 * optimum
    assert certificate.status in ("bounded", "optimal")
    assert certificate.lower_bound <= optimum + tol
    assert_guaranteed(certificate, optimum, tol, X, criterion, n_components)


@settings(max_examples=100)
@given(matrices(min_rows=2, min_columns=3), st.sampled_from([0.01, 0.2, 1.0, 50.0]), st.data())
def test_weight_b_keeps_its_factor(X, epsilon, data):
    k = data.draw(st.integers(1, X.shape[1] - 1), label="k")
    selector = ColumnSelector(k, search="weighted", weight="b", epsilon=epsilon).fit(X)
    optimum = best_subsets(X, k, Frobenius())[0][0]
    tol = tolerance(Frobenius(), X)
    assert selector.error_ <= (1.0 + epsilon * (k + 1)) * optimum + tol
    assert selector.error_ - optimum <= selector.certificate_.a_priori_bound + tol
    assert selector.certificate_.lower_bound <= optimum + tol


@settings(max_examples=60)
@given(matrices(min_columns=2), criteria, st.sampled_from("uhg"), st.data())
def test_weighted_without_weight_is_optimal(X, criterion, weight, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    selector = ColumnSelector(k, criterion=criterion, search="weighted", weight=weight).fit(X)
    assert_optimal(selector, best_subsets(X, k, criterion), tolerance(criterion, X))


def forward_sets(X, k, criterion, n_components, tol, chosen=()):
    """All sets that plain forward selection may end with; ties may go either way."""
    if len(chosen) == k:
        return {chosen}
    left = [j for j in range(X.shape[1]) if j not in chosen]
    errors = [subset_error(X, (*chosen, j), criterion, n_components) for j in left]
    ties = [j for j, error in zip(left, errors, strict=True) if error <= min(errors) + tol]
    following = {tuple(sorted((*chosen, j))) for j in ties}
    return set().union(
        *(forward_sets(X, k, criterion, n_components, tol, step) for step in following)
    )


@settings(max_examples=150)
@given(matrices(max_columns=6), criteria, st.integers(0, 1), st.data())
@example(np.diag([2.0, 2.0, 1.0]), Frobenius(), 0, None)
@example(np.diag([2.0, 2.0, 1.0]), Nuclear(), 0, None)
def test_greedy_is_forward_selection(X, criterion, n_components, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k") if data is not None else 2
    assume(k <= np.linalg.matrix_rank(X))
    selector = ColumnSelector(
        k, criterion=criterion, n_components=n_components, search="greedy"
    ).fit(X)
    tol = tolerance(criterion, X)
    assert tuple(selector.selected_) in forward_sets(X, k, criterion, n_components, tol)
    optimum = best_subsets(X, k, criterion, n_components)[0][0]
    certificate = selector.certificate_
    assert certificate.status in ("heuristic", "optimal")
    assert certificate.lower_bound <= optimum + tol
    assert_guaranteed(certificate, optimum, tol, X, criterion, n_components)
    if certificate.status == "optimal":
        assert selector.error_ == pytest.approx(optimum, rel=1e-8, abs=tol)


@settings(max_examples=40)
@given(
    matrices(min_rows=3, min_columns=4),
    criteria,
    st.sampled_from([0.0, 0.5]),
    st.data(),
)
def test_optimistic_search_never_worsens(X, criterion, epsilon, data):
    k = data.draw(st.integers(1, X.shape[1] - 1), label="k")
    tol = tolerance(criterion, X)
    error, bound = np.inf, -np.inf
    for max_nodes in (0, 1, 2, 3, 5, 8, 13, 30, None):
        selector = ColumnSelector(
            k, criterion=criterion, search="optimistic", epsilon=epsilon, max_nodes=max_nodes
        ).fit(X)
        # Before its first complete set the search has none of its own to improve on.
        assert selector.error_ <= error + tol
        assert selector.certificate_.lower_bound >= bound - tol
        error, bound = selector.error_, selector.certificate_.lower_bound
    assert_optimal(selector, best_subsets(X, k, criterion), tol)


# --- the fewest columns --------------------------------------------------------------------


@settings(max_examples=80)
@given(matrices(min_columns=2), criteria, st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.7, 1.0]))
def test_auto_takes_the_fewest(X, criterion, tol):
    total = float(criterion.value(np.linalg.svd(X, compute_uv=False)))
    best = {k: best_subsets(X, k, criterion)[0][0] for k in range(1, X.shape[1] + 1)}
    near = tolerance(criterion, X)
    limit = tol * total
    assume(all(abs(e - limit) > near for e in best.values() if tol > 0.0))
    fewest = next((k for k, error in best.items() if error <= limit + near), X.shape[1])
    selector = ColumnSelector("auto", tol=tol, criterion=criterion).fit(X)
    assert len(selector.selected_) == fewest
    assert selector.relative_error_ <= tol
    assert_optimal(selector, [(best[fewest], ())], near)


def test_rounding_does_not_hide_that_columns_explain_everything():
    """Rank 5; five of the columns leave 1e-27, a little more than rounding once counted for."""
    X = np.array([
        [3, 3, -4, -2, -4, 3], [3, 7, 0, -1, -3, 2], [-5, -2, 2, -6, 1, -9],
        [-1, 2, 4, -2, 2, -4], [0, 2, 0, -4, -1, -4], [-1, 1, 6, 5, 4, 1],
    ])  # fmt: skip
    selector = ColumnSelector("auto", tol=0.0).fit(X)
    assert len(selector.selected_) == 5
    assert selector.error_ == 0.0


def test_auto_with_unreachable_tolerance_warns():
    X = np.random.default_rng(0).standard_normal((8, 4))
    with pytest.warns(UserWarning, match=r"No selection reaches tol=0.001; all 2 columns"):
        selector = ColumnSelector("auto", tol=1e-3, exclude=[0, 3]).fit(X)
    np.testing.assert_array_equal(selector.selected_, [1, 2])


def test_auto_that_runs_out_of_time_says_so():
    X = np.random.default_rng(0).standard_normal((30, 12))
    with pytest.warns(ConvergenceWarning, match=r"left open whether\s+fewer do"):
        ColumnSelector("auto", tol=0.4, max_nodes=0).fit(X)


# --- what a fitted selector tells ------------------------------------------------------------


@settings(max_examples=100)
@given(
    matrices(min_rows=2),
    st.integers(0, 2),
    st.sampled_from(["none", "mean"]),
    st.booleans(),
    st.data(),
)
def test_reconstruction_has_the_stated_error(X, n_components, centering, sparse, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    selector = ColumnSelector(k, n_components=n_components, centering=centering)
    out = selector.fit(sp.csr_array(X) if sparse else X).transform(X)
    assert out.shape == (X.shape[0], k + n_components)
    np.testing.assert_array_equal(out[:, :k], X[:, selector.selected_])
    rebuilt = selector.reconstruct(out)
    atol = 1e-9 * max(np.abs(X).max(), 1e-9)
    error = ((X - rebuilt) ** 2).sum()
    assert error == pytest.approx(selector.error_, rel=1e-8, abs=1e-9 * (X**2).sum() + 1e-30)
    total = ((X - X.mean(axis=0) if centering == "mean" else X) ** 2).sum()
    if total > 1e-20 * (X**2).sum():
        assert selector.relative_error_ == pytest.approx(selector.error_ / total, abs=1e-8)
    np.testing.assert_allclose(rebuilt[:, selector.selected_], out[:, :k], atol=10 * atol)


@settings(max_examples=60)
@given(matrices(min_rows=2), st.sampled_from(["none", "mean"]), st.data())
def test_error_and_coefficients_are_least_squares(X, centering, data):
    k = data.draw(st.integers(1, X.shape[1]), label="k")
    y, Y = data.draw(targets(X.shape[0]), label="y")
    selector = ColumnSelector(k, centering=centering).fit(X, y)
    kept = X[:, selector.selected_]
    design = np.column_stack([kept, np.ones(len(X))]) if centering == "mean" else kept
    fitted = design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    tol = tolerance(Frobenius(), Y)
    assert selector.error_ == pytest.approx(((Y - fitted) ** 2).sum(), rel=1e-8, abs=tol)
    np.testing.assert_allclose(kept @ selector.coef_ + selector.intercept_, fitted, atol=1e-8)
    np.testing.assert_allclose(selector.reconstruct(selector.transform(X)), fitted, atol=1e-8)


def test_components_are_orthonormal_and_outside_the_columns():
    X = np.random.default_rng(3).standard_normal((20, 8))
    selector = ColumnSelector(2, n_components=3).fit(X)
    V = selector.components_
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-12)
    scores = selector.transform(X)[:, 2:]
    np.testing.assert_allclose(X[:, selector.selected_].T @ scores, 0.0, atol=1e-10)


def test_components_with_a_target_live_over_the_targets():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 6)), rng.standard_normal((20, 4))
    selector = ColumnSelector(2, n_components=1).fit(X, Y)
    assert selector.components_.shape == (1, 4)
    assert selector.transform(X).shape == (20, 2)
    R = Y - selector.reconstruct(selector.transform(X))
    V = selector.components_
    assert ((R - R @ V.T @ V) ** 2).sum() == pytest.approx(selector.error_, rel=1e-10)


def test_inverse_transform_puts_the_columns_back():
    X = np.random.default_rng(0).standard_normal((9, 5))
    for n_components in (0, 2):
        selector = ColumnSelector(2, n_components=n_components).fit(X)
        back = selector.inverse_transform(selector.transform(X))
        assert back.shape == X.shape
        np.testing.assert_array_equal(back[:, selector.selected_], X[:, selector.selected_])
        assert (np.delete(back, selector.selected_, axis=1) == 0.0).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names(library):
    frames = pytest.importorskip(library)
    X = np.random.default_rng(0).standard_normal((10, 4))
    names = ["height", "weight", "age", "pulse"]
    frame = frames.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    selector = ColumnSelector(2, include=["pulse"], exclude=["height"], n_components=1).fit(frame)
    plain = ColumnSelector(2, include=[3], exclude=[0], n_components=1).fit(X)
    np.testing.assert_array_equal(selector.selected_, plain.selected_)
    out = selector.get_feature_names_out()
    assert list(out) == [names[j] for j in plain.selected_] + ["component0"]


def test_fractions_and_half():
    X = np.random.default_rng(0).standard_normal((10, 9))
    for size, expected in ((0.34, 3), (0.01, 1), (None, 4), (9, 9)):
        assert len(ColumnSelector(size, max_nodes=0).fit(X).selected_) == expected


def test_target_x_ignores_y():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 6)), rng.standard_normal(12)
    told = ColumnSelector(2, target="X").fit(X, y)
    assert told.certificate_.target == "X"
    np.testing.assert_array_equal(told.selected_, ColumnSelector(2).fit(X).selected_)
    assert told.coef_.shape == (2, 6)
    explicit = ColumnSelector(2, target="y").fit(X, y)
    assert explicit.certificate_.target == "y"
    assert explicit.error_ == ColumnSelector(2).fit(X, y).error_


# --- ties ------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(2, 4), st.integers(0, 2**32 - 1), criteria, st.data())
def test_duplicated_columns_tie_to_the_smaller_set(n, seed, criterion, data):
    rng = np.random.default_rng(seed)
    source = np.concatenate([np.arange(n), rng.integers(0, n, 3)])
    source = source[rng.permutation(len(source))]
    base = rng.standard_normal((6, n))
    X = base[:, source]
    k = data.draw(st.integers(1, n), label="k")
    selector = ColumnSelector(k, criterion=criterion).fit(X)
    tol = tolerance(criterion, X)
    optimum = best_subsets(X, k, criterion)[0][0]
    ties = [
        subset
        for subset in itertools.combinations(range(X.shape[1]), k)
        if subset_error(X, subset, criterion) <= optimum + tol
    ]
    assert tuple(selector.selected_) == min(ties)


def test_equal_columns_of_an_orthogonal_matrix_tie_to_the_first():
    for k in (1, 2, 3):
        selector = ColumnSelector(k).fit(np.eye(6, 5))
        np.testing.assert_array_equal(selector.selected_, np.arange(k))


# --- limits and workers ------------------------------------------------------------------------


def test_workers_change_nothing():
    X = np.random.default_rng(0).standard_normal((40, 16))
    for options in ({}, {"criterion": "nuclear"}, {"max_nodes": 20}, {"search": "weighted",
                    "epsilon": 0.3}, {"n_solutions": 4}):  # fmt: skip
        alone = ColumnSelector(5, n_jobs=1, **options).fit(X)
        both = ColumnSelector(5, n_jobs=2, **options).fit(X)
        assert alone.solutions_ == both.solutions_
        assert [s.error for s in alone.solutions_] == [s.error for s in both.solutions_]
        for name in ("status", "error", "lower_bound", "nodes_expanded", "nodes_generated"):
            assert getattr(alone.certificate_, name) == getattr(both.certificate_, name)


@pytest.mark.parametrize("criterion", [Frobenius(), Spectral()], ids=str)
@pytest.mark.parametrize(
    ("limit", "status"),
    [({"time_limit": 0.0}, "time_limit"), ({"max_nodes": 0}, "node_limit"),
     ({"max_memory": 1.0}, "memory_limit"), ({"max_gap": 0.5}, "gap_reached"),
     ({"callback": lambda progress: True}, "interrupted")],
)  # fmt: skip
def test_limits_keep_a_valid_certificate(criterion, limit, status):
    X = np.random.default_rng(1).standard_normal((25, 18))
    k = 7 if isinstance(criterion, Frobenius) else 3
    optimum = ColumnSelector(k, criterion=criterion).fit(X).error_
    selector = ColumnSelector(k, criterion=criterion, **limit).fit(X)
    certificate = selector.certificate_
    assert certificate.status in (status, "optimal")
    if status != "memory_limit":  # which may still finish, depth first
        assert certificate.status == status
    assert 0.0 < certificate.lower_bound <= optimum * (1 + 1e-9)
    assert selector.error_ >= optimum * (1 - 1e-9)
    assert certificate.gap <= limit.get("max_gap", 1.0) + 1e-12
    assert_own_error(selector, X, criterion, 0, tol=0.0)


def test_optimal_without_proof_warns():
    X = np.random.default_rng(0).standard_normal((30, 14))
    with pytest.warns(ConvergenceWarning, match="not proven optimal"):
        ColumnSelector(5, search="optimal", max_nodes=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ColumnSelector(5, search="auto", max_nodes=0).fit(X)
        ColumnSelector(2, search="optimal").fit(X)


# --- randomized reduction ----------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [Frobenius(), Spectral()], ids=str)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("with_target", [False, True])
def test_randomized_reduction_stays_valid(monkeypatch, criterion, sparse, with_target):
    # A sketch of the usual width would lose nothing of a small matrix.
    monkeypatch.setattr(
        "columnist.linalg._reduce.randomized_range",
        lambda X, rank, rng: randomized_range(X, 5, oversampling=0, n_iter=0, rng=rng),
    )
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 10))
        X[rng.random(X.shape) < 0.4] = 0.0
        Y = X[:, :4] @ rng.standard_normal((4, 2)) if with_target else None
        optimum = best_subsets(X, 3, criterion, Y=Y)[0][0]
        selector = ColumnSelector(
            3, criterion=criterion, reduction="randomized", random_state=seed
        ).fit(sp.csr_array(X) if sparse else X, Y)
        own = subset_error(X, selector.selected_, criterion, Y=Y)
        assert selector.certificate_.lower_bound <= optimum * (1 + 1e-9)
        assert selector.error_ == pytest.approx(own, rel=1e-9)
        assert selector.certificate_.status != "optimal" or own <= optimum * (1 + 1e-9)
        total = float(criterion.value(np.linalg.svd(X if Y is None else Y, compute_uv=False)))
        assert selector.relative_error_ == pytest.approx(selector.error_ / total, rel=1e-9)


@pytest.mark.parametrize("weight", ["u", "h"])
def test_randomized_reduction_keeps_a_priori_bounds_valid(monkeypatch, weight):
    monkeypatch.setattr(
        "columnist.linalg._reduce.randomized_range",
        lambda X, rank, rng: randomized_range(X, 5, oversampling=0, n_iter=0, rng=rng),
    )
    for seed in range(12):
        X = np.random.default_rng(seed).standard_normal((20, 10))
        optimum = best_subsets(X, 3, Frobenius())[0][0]
        for options in (
            {"search": "weighted", "weight": weight, "epsilon": 0.05},
            {"search": "greedy"},
        ):
            selector = ColumnSelector(3, reduction="randomized", random_state=seed, **options).fit(
                X
            )
            guarantee = selector.certificate_.a_priori_bound
            assert guarantee is None or selector.error_ - optimum <= guarantee + 1e-9


def test_random_state_repeats_the_sketch():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((130, 115))
    fits = [
        ColumnSelector(3, reduction="randomized", random_state=5, max_nodes=2).fit(X)
        for _ in range(2)
    ]
    assert fits[0].certificate_.lower_bound == fits[1].certificate_.lower_bound
    np.testing.assert_array_equal(fits[0].selected_, fits[1].selected_)


def test_every_kind_of_matrix_is_what_it_says():
    # The property tests above are only as good as their matrices.
    rng = np.random.default_rng(0)
    draws = {kind: [random_matrix(kind, 6, 5, rng) for _ in range(20)] for kind in KINDS}
    ranks = {kind: [np.linalg.matrix_rank(X) for X in Xs] for kind, Xs in draws.items()}
    assert min(ranks["gaussian"]) == 5
    assert max(ranks["low rank"]) < 5
    assert min(ranks["duplicates"]) < 5 and min(ranks["zero columns"]) < 5


@pytest.mark.parametrize("tiny", [1e-20, 1e-17, 1e-15, 1e-8])
def test_a_column_of_noise_proves_nothing(tiny):
    """In a reduction to the rank of the data its direction would be arbitrary."""
    rows = np.arange(50)
    noise = np.full(50, -tiny / 50)
    noise[5] = tiny
    X = np.column_stack([scale(rows % 7), noise, scale(rows % 3)])
    selector = ColumnSelector(2).fit(X)
    np.testing.assert_array_equal(selector.selected_, [0, 2])
    assert selector.certificate_.is_optimal
    left = noise - X[:, [0, 2]] @ np.linalg.lstsq(X[:, [0, 2]], noise)[0]
    np.testing.assert_allclose(selector.error_, left @ left, rtol=1e-6, atol=1e-28)


@pytest.mark.parametrize("value", [0.1, 1 / 3])
def test_constant_columns_explain_nothing_beside_an_intercept(value):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(50, value), rng.standard_normal(50)])
    y = rng.standard_normal(50)
    selector = ColumnSelector(1, centering="mean").fit(X, y)
    np.testing.assert_array_equal(selector.selected_, [1])
    assert selector.certificate_.gap == 0.0
    assert selector.column_r2_[0] == 1.0  # nothing to rebuild
    worse = certify(X, [0], y=y, centering="mean")
    assert worse.better == (1,)
    np.testing.assert_allclose(worse.error, np.sum((y - y.mean()) ** 2))
