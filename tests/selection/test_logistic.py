"""Bounds and fits of the penalised log-loss."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from columnist.selection._log_loss import LogLoss
from columnist.selection._logistic import ClassData, LogisticForm, check_lengths
from tests.examples import examples
from tests.oracles.logistic import least_objective, objective


def problem(seed: int, *, most: int = 7) -> ClassData:
    """Two to four classes; correlated, duplicated, constant, long and shifted columns."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 40)), int(rng.integers(2, most + 1))
    m = int(rng.choice([2, 2, 3, 4]))
    X = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-1.0, 1.0)
    if rng.random() < 0.3:
        X += 3.0 * X[:, :1]
    if rng.random() < 0.3:
        X[:, 1] = X[:, 0]
    if rng.random() < 0.3:
        X[:, -1] = rng.choice([0.0, 1.0, 1e3])
    if rng.random() < 0.3:
        X += 10.0
    codes = np.concatenate([np.arange(m), rng.integers(0, m, n - m)])
    return ClassData(X, codes, bool(rng.random() < 0.6), 10.0 ** rng.uniform(-2.0, 2.0))


def every(data: ClassData) -> dict[tuple[int, ...], float]:
    """What the objective of each set of columns is at most."""
    p = data.n_features
    subsets = (s for k in range(p + 1) for s in itertools.combinations(range(p), k))
    return {subset: data.fit(subset).high for subset in subsets}


def some_node(data: ClassData, rng) -> tuple[np.ndarray, np.ndarray, int]:
    p = data.n_features
    chosen = np.sort(rng.choice(p, int(rng.integers(0, p)), replace=False)).astype(np.int32)
    candidates = np.setdiff1d(np.arange(p), chosen).astype(np.int32)
    return chosen, candidates, int(rng.integers(1, len(candidates) + 1))


def completions(chosen, candidates, t: int):
    """Positions of t candidates, and the whole set."""
    for added in itertools.combinations(range(len(candidates)), t):
        yield list(added), tuple(sorted([*chosen.tolist(), *candidates[list(added)].tolist()]))


def test_fits_are_enclosed():
    for seed in range(examples(30)):
        data = problem(seed)
        data = data.take_rows(np.arange(min(10, data.n_samples)))
        subset = list(range(min(2, data.n_features)))
        fit, start = data.fit(subset), data.coefficients(subset)
        X = data.X[:, subset]
        assert 0.0 <= fit.low <= fit.high <= fit.low + 1e-10 * fit.low
        found = objective(X, data.Y, *start, data.ridge)
        assert found == pytest.approx(fit.value, rel=1e-9)
        least = least_objective(X, data.Y, start, data.ridge, center=data.center)
        assert fit.low <= least <= fit.high, seed


def test_fits_of_separated_rows_keep_their_digits():
    X, codes = np.array([[-1e4], [-2e4], [1e4], [3e4]]), np.array([0, 0, 1, 1])
    for center in (False, True):
        fit = ClassData(X, codes, center, 1e-9).fit([0])
        assert 0.0 < fit.low <= fit.high <= fit.low * (1.0 + 1e-10)
        assert fit.high < 1e-12


def test_any_scores_bound_every_choice():
    """Also where intercepts are far from balanced, and mixtures have to mend that."""
    for seed in range(examples(200)):
        data, rng = problem(seed, most=5), np.random.default_rng(seed)
        loss, form = data.loss, LogisticForm(data)
        errors = every(data)
        for size in (0.1, 1.0, 30.0):
            eta = size * rng.standard_normal((data.n_samples, loss.n_outputs))
            for scores in (eta, loss.centered(eta)[0]):
                point = loss.point(scores)
                g = form._gains(point, np.arange(data.n_features))
                for subset, error in errors.items():
                    assert point.entropy - g[list(subset)].sum() <= error, (seed, size, subset)


def test_points_are_valid_in_exact_arithmetic():
    for seed in range(examples(100)):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(2, 6))
        codes = np.concatenate([np.arange(m), rng.integers(0, m, 20)])
        loss = LogLoss(codes, True)
        eta = 10.0 ** rng.uniform(-2.0, 3.0) * rng.standard_normal((len(codes), loss.n_outputs))
        if seed % 2:
            eta = loss.centered(eta)[0]
        point = loss.point(eta)
        if m == 2:
            q = [Fraction(float(r)) + int(c) for r, c in zip(point.R[:, 0], codes, strict=True)]
            Q = [[1 - x, x] for x in q]
        else:
            Q = [[Fraction(float(x)) for x in row] for row in point.R]
            for row, c in zip(Q, codes, strict=True):
                row[c] = 0
                row[c] = 1 - sum(row)
        assert all(x >= 0 for row in Q for x in row)
        theta = Fraction(point.theta)
        for c in range(m):
            # The mixture has n_c rows of class c if this is a share of the constant rows.
            share = loss.counts[c].astype(int) - (1 - theta) * sum(row[c] for row in Q)
            assert share >= 0


def test_charges_cover_the_mixture():
    """Its entropy, and its products with the columns that it changes most."""
    seen = 0
    for seed in range(examples(50)):
        rng = np.random.default_rng(seed)
        codes = np.concatenate([np.arange(3), rng.integers(0, 3, 20)])
        loss, Y = LogLoss(codes, True), np.eye(3)[codes]
        point = loss.point(rng.standard_normal((23, 3)))
        if not 0.0 < point.theta < 1.0:
            continue
        off = point.R.sum(axis=0)
        constant = (loss.counts - (1.0 - point.theta) / point.theta * off) / len(codes)
        mixed = (1.0 - point.theta) * (point.R + Y) + point.theta * constant
        np.testing.assert_allclose(mixed.sum(axis=0), loss.counts)
        assert point.entropy <= -xlogy(mixed, mixed).sum()
        away = np.linalg.svd(np.column_stack([np.ones(len(codes)), point.R]))[0][:, 4:]
        for x in (away @ (away.T @ (constant - Y))).T:
            x /= np.linalg.norm(x)
            changed = np.linalg.norm(x @ (mixed - Y))
            assert changed <= np.linalg.norm(x @ point.R) + point.charge(len(codes))
            seen += changed > 1e-3
    assert seen


def test_relaxed_nodes_bound_every_completion():
    gaps = []
    for seed in range(examples(300)):
        data, rng = problem(seed), np.random.default_rng(seed)
        form, errors = LogisticForm(data), every(data)
        assert form.least <= errors[tuple(range(data.n_features))]
        chosen, candidates, t = some_node(data, rng)
        sets = list(completions(chosen, candidates, t))
        best = min(errors[subset] for _, subset in sets)
        for threshold in (best, 1.5 * best, np.inf):
            relaxed = form.relax(chosen, candidates, t, threshold)
            for added, subset in sets:
                assert relaxed.base - relaxed.g[added].sum() <= errors[subset], seed
            assert relaxed.bound <= best
            again = form.relax(chosen, candidates, t, threshold, relaxed.start)
            assert again.bound <= best
        gaps.append((best - form.relax(chosen, candidates, t, best).bound) / best)
    assert np.median(gaps) < 0.1


def test_relaxed_nodes_without_a_choice_reach_the_fit():
    for seed in range(examples(30)):
        data = problem(seed)
        items = np.arange(data.n_features, dtype=np.int32)
        fit = data.fit(items)
        relaxed = LogisticForm(data).relax(items[:1], items[1:], len(items) - 1, 1.01 * fit.high)
        assert relaxed.bound <= fit.high
        if data.loss.n_outputs == 1 and fit.high > 1.0:
            assert relaxed.bound >= 0.99 * fit.low


def test_additions_bound_single_columns():
    for seed in range(examples(100)):
        data, rng = problem(seed), np.random.default_rng(seed)
        chosen, candidates, _ = some_node(data, rng)
        form = LogisticForm(data)
        errors = [data.fit([*chosen, i]).high for i in candidates]
        for threshold in (min(errors), np.inf):
            assert np.all(form.additions(chosen, candidates, threshold) <= errors)
        estimates = form.estimates(chosen, candidates)
        assert estimates.min() == pytest.approx(min(errors), rel=1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_sparse_columns_are_those_of_dense_ones(center):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 9), density=0.2, rng=rng, format="csc")
    codes = np.arange(60) % 3
    dense, sparse = (ClassData(x, codes, center, 0.3) for x in (X.toarray(), X))
    R, which = rng.standard_normal((60, 3)), np.array([7, 2, 3])
    weights = rng.random(60)
    for a, b in (
        (dense.columns.rows(which), sparse.columns.rows(which)),
        (dense.columns.products(R, which), sparse.columns.products(R, which)),
        (dense.columns.products(R, np.arange(9)), sparse.columns.products(R, np.arange(9))),
        (dense.columns.squares(weights), sparse.columns.squares(weights)),
        (dense.columns.back(R[:9]), sparse.columns.back(R[:9])),
    ):
        np.testing.assert_allclose(a, b, atol=1e-12)
    forms = LogisticForm(dense), LogisticForm(sparse)
    items = np.arange(9, dtype=np.int32)
    first, second = (form.relax(items[:1], items[1:], 3, np.inf) for form in forms)
    assert first.bound == pytest.approx(second.bound, rel=1e-9)
    assert forms[0].least == pytest.approx(forms[1].least, rel=1e-6)


def test_many_columns_have_a_bound_too():
    """Fitted by another method than few of them."""
    rng = np.random.default_rng(1)
    data = ClassData(rng.standard_normal((50, 120)), np.arange(50) % 2, True, 1.0)
    fit = data.fit(range(120))
    assert 0.95 * fit.low <= LogisticForm(data).least <= fit.high


def test_columns_beyond_arithmetic_are_refused():
    data = ClassData(np.array([[1e200], [-1e200]]), np.array([0, 1]), True, 1.0)
    with pytest.raises(ValueError, match="scale the columns"):
        check_lengths(data)
