"""The bound by blocks of columns, and the searches that use it, against enumeration."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from columnist import SubsetRegressor
from columnist.data import Matrices
from columnist.search._problem import Demand
from columnist.selection import _block_nodes, _block_relaxation, _wide
from columnist.selection._block_diagonal import BlockDiagonal, clusters
from columnist.selection._block_nodes import relaxed_by_blocks, screened
from columnist.selection._block_sets import best_in_blocks
from tests.examples import examples
from tests.oracles.best_subset import subset_error


@pytest.fixture(autouse=True)
def always_by_blocks(monkeypatch):
    """Few columns are many, and every problem is screened at its root."""
    monkeypatch.setattr(_wide, "_MANY", 0)
    monkeypatch.setattr(_wide, "_SPREAD", -1.0)
    monkeypatch.setattr(_block_nodes, "_WORTHWHILE", -np.inf)


def correlated_columns(seed: int, p: int | None = None):
    """Columns of an autoregression with unlike lengths, some nearly copies, targets and a ridge."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(5, 10)) if p is None else p
    q, n = int(rng.integers(1, 4)), p + int(rng.integers(3, 30))
    X = rng.standard_normal((n, p))
    rho = float(rng.choice([0.0, 0.7, 0.9, 0.98]))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    if rng.random() < 0.25:
        X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-5, -1) * rng.standard_normal(n)
    if rng.random() < 0.25:
        X *= 10.0 ** rng.integers(-4, 5, p)
    Y = (X / np.linalg.norm(X, axis=0)) @ (rng.standard_normal((p, q)) * (rng.random((p, 1)) < 0.5))
    Y += 10.0 ** rng.integers(-3, 1) * rng.standard_normal((n, q))
    Y *= 10.0 ** rng.integers(-6, 7)
    return X, Y, float(rng.choice([0.0, 0.0, 0.1, 3.0])), rng


def form_of(X, Y, alpha: float):
    """As the search makes it; None where columns are too dependent."""
    matrices = Matrices(X, Y).with_ridge(alpha)
    data = _wide.wide_data(matrices, [], np.arange(X.shape[1]), distinct=False)
    return None if data is None else data.form


def node(seed: int):
    """A form, a random node of it, and the errors of its completions."""
    X, Y, alpha, rng = correlated_columns(seed)
    p, form = X.shape[1], form_of(X, Y, alpha)
    order = rng.permutation(p).astype(np.int32)
    m = int(rng.integers(0, p - 3))
    chosen, candidates = order[:m], np.sort(order[m:])
    t = int(rng.integers(1, len(candidates)))
    errors = {
        added: subset_error(X, Y, [*chosen.tolist(), *added], alpha)
        for added in combinations(candidates.tolist(), t)
    }
    return form, chosen, candidates, t, errors, rng


def assert_below(bound: float, error: float, form) -> None:
    """No more than what the oracle may have lost."""
    assert bound <= error * (1 + 1e-9) + 1e-14 * form.total


@pytest.mark.parametrize("cap", [2, 4, 24])
def test_bounds_are_below_all_sets(monkeypatch, cap):
    monkeypatch.setattr(_block_relaxation, "_CAP", cap)
    monkeypatch.setattr(_block_relaxation, "_FAMILIES", 3000 if cap > 2 else 2)
    said = 0
    for seed in range(examples(700)):
        form, chosen, candidates, t, errors, rng = node(seed)
        if form is None:
            continue
        threshold = min(errors.values()) * float(rng.choice([1.0, 1.001, 1.1, 2.0, 0.9]))
        relaxed = relaxed_by_blocks(form, chosen, candidates, t, threshold)
        if relaxed is None:
            continue
        said += 1
        for added, error in errors.items():
            assert_below(relaxed.bound, error, form)
            inside = np.isin(candidates, added)
            assert_below(relaxed.within[inside].max(), error, form)
            if not inside.all():
                assert_below(relaxed.without[~inside].max(), error, form)
    assert said > 100


def test_the_diagonal_is_below_the_gram_matrix():
    for seed in range(examples(200)):
        X, Y, alpha, rng = correlated_columns(seed)
        if (form := form_of(X, Y, alpha)) is None:
            continue
        blocks = clusters(form.gram, rng.random(len(form.gram)), 3)
        assert max(map(len, blocks)) <= 3
        order = np.concatenate(blocks)
        assert sorted(order) == list(range(X.shape[1]))
        gram = form.gram[np.ix_(order, order)]
        units = 1.0 / np.sqrt(np.diag(gram))
        try:
            diagonal = BlockDiagonal(gram, np.append(0, np.cumsum([len(b) for b in blocks])))
            weights = [np.cov(rng.standard_normal((len(b), 9))).reshape(len(b), -1) for b in blocks]
            diagonal.shape(weights, 0.1, 0.3, 2, np.inf)
        except np.linalg.LinAlgError:
            continue
        rest = gram.copy()
        for s, part in zip(diagonal.slices, diagonal.parts, strict=True):
            assert np.linalg.eigvalsh(part)[0] > 0.0
            rest[s, s] -= part
        assert np.linalg.eigvalsh(rest * units[:, None] * units)[0] > -1e-13


def largest_values(D, U, starts, sizes: int):
    """Largest values for each size by enumeration: of blocks, with and without each column."""
    p = len(U)
    best = np.zeros((len(starts) - 1, sizes + 1))
    within, without = np.full((2, p, sizes + 1), -np.inf)
    without[:, 0] = 0.0
    for b, (start, end) in enumerate(pairwise(starts)):
        for j in range(1, min(sizes, end - start) + 1):
            for local in combinations(range(end - start), j):
                rows = np.array(local)
                own = U[start:end][rows]
                value = np.vdot(own, np.linalg.solve(D[b][np.ix_(rows, rows)], own))
                inside = np.isin(np.arange(end - start), local)
                best[b, j] = max(best[b, j], value)
                np.maximum.at(within[:, j], start + np.flatnonzero(inside), value)
                np.maximum.at(without[:, j], start + np.flatnonzero(~inside), value)
    return best, within, without


@pytest.mark.parametrize("families", [100_000, 7, 0])
def test_best_subsets_in_blocks(families):
    for seed in range(examples(60)):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 8, int(rng.integers(1, 4)))
        starts = np.append(0, np.cumsum(lengths)).astype(np.int32)
        q, sizes = int(rng.integers(1, 3)), int(rng.integers(1, 7))
        D = [A @ A.T + 0.05 * np.eye(len(A)) for A in
             (rng.standard_normal((m, m + 1)) for m in lengths)]  # fmt: skip
        U = rng.standard_normal((starts[-1], q))
        expected = largest_values(D, U, starts, sizes)
        level = float(rng.choice([-np.inf, 0.5 * expected[0].max()])) if families else np.inf
        levels = np.full((len(lengths), sizes + 1), level)
        found = [np.empty_like(one) for one in expected]
        which = np.empty((len(lengths), sizes + 1, lengths.max()), dtype=np.uint8)
        G = np.concatenate([np.linalg.inv(part).ravel() for part in D])
        flat = np.concatenate([part.ravel() for part in D])
        best_in_blocks(flat, G, U, starts, levels, families, *found, which)
        sharp = families > 7 and np.isneginf(level)
        for one, other in zip(expected, found, strict=True):
            assert np.all(other >= one * (1.0 - 1e-9))
            if sharp:
                known = one > 0.0
                np.testing.assert_allclose(other[known], one[known], rtol=1e-9)
        for b, (start, end) in enumerate(pairwise(starts)):
            for j in range(1, sizes + 1):
                rows = np.flatnonzero(which[b, j])
                if len(rows):
                    own = U[start:end][rows]
                    value = np.vdot(own, np.linalg.solve(D[b][np.ix_(rows, rows)], own))
                    np.testing.assert_allclose(found[0][b, j], value, rtol=1e-9)


def test_screening_keeps_every_good_set():
    for seed in range(examples(400)):
        X, Y, alpha, rng = correlated_columns(seed)
        if (form := form_of(X, Y, alpha)) is None:
            continue
        p = X.shape[1]
        t, m = int(rng.integers(2, p - 1)), int(rng.integers(0, 2))
        include = np.sort(rng.permutation(p)[:m]).astype(np.int32)
        candidates = np.setdiff1d(np.arange(p), include).astype(np.int32)
        errors = {
            one: subset_error(X, Y, list(one), alpha)
            for one in combinations(range(p), t) if set(include.tolist()) <= set(one)
        }  # fmt: skip
        threshold = sorted(errors.values())[min(2, len(errors) - 1)] * 1.01
        found = screened(form, include, candidates, t, threshold, -np.inf, np.inf)
        if found is None:
            continue
        for one, error in errors.items():
            if error < threshold * (1 - 1e-9) - 1e-14 * form.total:
                assert found.kept[list(one)].all()
                assert set(found.fixed.tolist()) <= set(one)


def best_errors(X, Y, k: int, alpha: float) -> list[float]:
    """Errors of all sets, sorted."""
    return sorted(
        subset_error(X, Y, list(one), alpha) for one in combinations(range(X.shape[1]), k)
    )


@pytest.mark.parametrize(("asked", "cap"), [(1, 24), (10**9, 24), (10**9, 1)])
def test_searches_equal_enumeration_at_every_limit(monkeypatch, asked, cap):
    monkeypatch.setattr(_block_relaxation, "_CAP", cap)
    halves = 0
    if asked == 1:  # screened after some nodes instead
        monkeypatch.setattr(_wide, "_SPREAD", 2.0)
        monkeypatch.setattr(_wide, "_ASKED", 1)
        monkeypatch.setattr("columnist.search._engine._IMPROVE_FIRST", 1.0)
    for seed in range(examples(25)):
        X, Y, alpha, rng = correlated_columns(seed, p=6 + seed % 6)
        k = int(rng.integers(2, 5))
        best = best_errors(X, Y, k, alpha)
        slack = 1e-9 * best[0] + 1e-13 * np.linalg.norm(Y) ** 2
        for limit in (1, 2, 3, 5, None):
            model = SubsetRegressor(k, alpha=alpha, fit_intercept=False, max_nodes=limit)
            certificate = model.fit(X, Y).certificate_
            assert certificate.lower_bound <= best[0] + slack
            assert certificate.error >= best[0] - slack
        assert model.error_ <= best[0] + slack
        assert certificate.status in ("optimal", "precision_limit")
        halves += certificate.nodes_expanded > 1
    assert halves or cap > 1


def test_pools_equal_enumeration():
    for seed in range(examples(20)):
        X, Y, alpha, _ = correlated_columns(seed, p=8)
        best = best_errors(X, Y, 3, alpha)
        model = SubsetRegressor(3, alpha=alpha, fit_intercept=False, n_solutions=4).fit(X, Y)
        np.testing.assert_allclose(
            [one.error for one in model.solutions_], best[:4],
            rtol=1e-8, atol=1e-12 * np.linalg.norm(Y) ** 2,
        )  # fmt: skip


def weak_signal(seed: int):
    """Many correlated columns, few of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 60))
    for j in range(1, 60):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    return X, X[:, [5, 20, 35, 50]].sum(axis=1) + 4.0 * rng.standard_normal(300)


@pytest.mark.parametrize("seed", range(3))
def test_results_do_not_depend_on_threads(seed):
    X, y = weak_signal(seed)
    one, two = (SubsetRegressor(5, n_jobs=jobs, time_limit=None).fit(X, y) for jobs in (1, 2))
    assert one.certificate_.status == two.certificate_.status == "optimal"
    np.testing.assert_array_equal(one.selected_, two.selected_)
    assert one.certificate_.nodes_expanded == two.certificate_.nodes_expanded


@pytest.mark.parametrize("seed", range(3))
def test_both_bounds_find_the_same_set(monkeypatch, seed):
    X, y = weak_signal(seed)
    with_blocks = SubsetRegressor(4, time_limit=None).fit(X, y)
    monkeypatch.setattr(_wide.WideColumns, "_screen", lambda self: None)
    without = SubsetRegressor(4, time_limit=None).fit(X, y)
    np.testing.assert_array_equal(with_blocks.selected_, without.selected_)
    assert with_blocks.certificate_.nodes_expanded < without.certificate_.nodes_expanded


def test_copies_and_constant_columns():
    X, y = weak_signal(0)
    plain = SubsetRegressor(4, time_limit=None).fit(X, y)
    flat = np.outer(np.ones(len(X)), [1.0, 0.0])
    more = np.hstack([X, X[:, :10], -2.0 * X[:, 30:40], flat])
    copied = SubsetRegressor(4, time_limit=None).fit(more, y)
    assert copied.certificate_.is_optimal
    np.testing.assert_array_equal(copied.selected_, plain.selected_)


def test_the_log_tells_which_bound_closed_what(capsys):
    X, y = weak_signal(1)
    SubsetRegressor(4, time_limit=None, verbose=True).fit(X, y)
    assert "Bound by blocks of columns" in capsys.readouterr().out


def test_tiny_and_huge_scales():
    X, y = weak_signal(2)
    plain = SubsetRegressor(4, time_limit=None).fit(X, y)
    for scale in (1e-120, 1e100):
        model = SubsetRegressor(4, time_limit=None).fit(scale * X, y / scale)
        assert model.certificate_.is_optimal
        np.testing.assert_array_equal(model.selected_, plain.selected_)


def test_fixed_columns_that_are_a_choice_are_found():
    """Bounds of different coefficients may fix all of them, and leave candidates."""
    X, Y, alpha, _ = correlated_columns(0, p=6)
    matrices = Matrices(X, Y).with_ridge(alpha)
    data = _wide.wide_data(matrices, [], np.arange(6), distinct=False)
    problem = data.problem(3, [], lambda subset, limit=np.inf: (0.0, 0.0))
    problem._screened = _block_nodes.Screened(np.ones(6, dtype=bool), np.array([0, 2, 3]))
    chosen, candidates = problem.root()
    found = problem.expand(chosen, candidates, Demand(np.inf), 0)
    assert (0, 2, 3) in [tuple(sorted(subset)) for _, subset in found.goals]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(value):
    """By the form; the kernel does not leave its memory for them."""
    U, results = np.ones((6, 1)), [np.empty(shape) for shape in ((1, 5), (6, 5), (6, 5))]
    U[2] = value
    which = np.empty((1, 5, 6), dtype=np.uint8)
    starts, eye = np.array([0, 6], dtype=np.int32), np.eye(6)
    levels = np.full((1, 5), -np.inf)
    best_in_blocks(eye.ravel(), eye.ravel(), U, starts, levels, 1000, *results, which)
    form = _block_relaxation.BlockForm(np.eye(6) + 0.1, U.T.copy(), 6.0, 3)
    with pytest.raises(np.linalg.LinAlgError, match="too large"), np.errstate(all="ignore"):
        form.relax(1.0)


@pytest.mark.parametrize("exponent", [200, -200])
def test_pools_of_huge_and_tiny_targets(monkeypatch, exponent):
    monkeypatch.setattr(_wide.WideColumns, "_screen", lambda self: None)
    X, y = weak_signal(0)
    plain = SubsetRegressor(3, n_solutions=4, time_limit=None).fit(X, y)
    scaled = SubsetRegressor(3, n_solutions=4, time_limit=None).fit(X, np.ldexp(y, exponent))
    assert scaled.certificate_.status == plain.certificate_.status == "optimal"
    assert [tuple(one) for one in scaled.solutions_] == [tuple(one) for one in plain.solutions_]
