"""Bounds of relaxed nodes by one quadratic form, against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from columnist.data import Matrices
from columnist.selection import _wide
from columnist.selection._active import GramForm, shares
from tests.examples import examples
from tests.oracles.best_subset import subset_error


def random_columns(seed: int):
    """Columns of unlike lengths, correlated or nearly dependent, targets, and a ridge."""
    rng = np.random.default_rng(seed)
    p, q = int(rng.integers(5, 10)), int(rng.integers(1, 4))
    n = p + int(rng.integers(2, 12))
    X = rng.standard_normal((n, p)) + rng.uniform(0, 3) * rng.standard_normal((n, 1))
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-5, -1) * rng.standard_normal(n)
    if rng.random() < 0.3:
        X *= 10.0 ** rng.integers(-4, 5, p)
    Y = (X / np.linalg.norm(X, axis=0)) @ rng.standard_normal((p, q))
    Y += 10.0 ** rng.integers(-4, 1) * rng.standard_normal((n, q))
    return X, Y, float(rng.choice([0.0, 0.0, 0.1, 3.0])), rng


def form_of(X, Y, alpha: float) -> GramForm:
    """As the search makes it."""
    matrices = Matrices(X, Y).with_ridge(alpha)
    data = _wide.wide_data(matrices, [], np.arange(X.shape[1]), distinct=False)
    assert data is not None
    return data.form


@pytest.fixture(autouse=True)
def few_columns_are_many(monkeypatch):
    monkeypatch.setattr(_wide, "_MANY", 0)


def node(seed: int):
    """A form, a random node of it, and the errors of its completions."""
    X, Y, alpha, rng = random_columns(seed)
    p = X.shape[1]
    form = form_of(X, Y, alpha)
    order = rng.permutation(p).astype(np.int32)
    m = int(rng.integers(0, p - 3))
    chosen, candidates = order[:m], np.sort(order[m : m + int(rng.integers(3, p - m + 1))])
    t = int(rng.integers(1, len(candidates)))
    errors = {
        added: subset_error(X, Y, [*chosen.tolist(), *added], alpha)
        for added in combinations(candidates.tolist(), t)
    }
    return form, chosen, candidates, t, errors, rng


def assert_below(bound: float, error: float, form: GramForm) -> None:
    """No more than what the oracle may have lost."""
    assert bound <= error * (1 + 1e-9) + 1e-14 * form.total


def check_relaxed(relaxed, candidates, t: int, errors, form: GramForm) -> None:
    """The bound, and what it says of sets with and without each candidate."""
    assert_below(relaxed.bound, min(errors.values()), form)
    g, place = relaxed.g, {int(item): i for i, item in enumerate(candidates)}
    for added, error in errors.items():
        assert_below(relaxed.base - g[[place[item] for item in added]].sum(), error, form)
    assert relaxed.bound <= relaxed.base - np.sort(g)[::-1][:t].sum() + 1e-12 * form.total


def test_the_diagonal_is_below_the_inner_products():
    for seed in range(examples(300)):
        X, Y, alpha, _ = random_columns(seed)
        form = form_of(X, Y, alpha)
        assert np.all(form.D > 0.0)
        root = np.sqrt(np.diag(form.gram))
        scaled = (form.gram - np.diag(form.D)) / np.outer(root, root)
        assert np.linalg.eigvalsh(scaled)[0] >= -1e-14 * len(root), seed
        true = X.T @ X + alpha * np.eye(len(root))
        assert np.all(np.diag(form.gram) <= np.diag(true))
        np.testing.assert_allclose(form.P, form.gram - np.diag(form.D))


def test_any_coefficients_bound_every_completion():
    for seed in range(examples(600)):
        form, chosen, candidates, t, errors, rng = node(seed)
        good = form.relax(chosen, candidates, t, np.inf).start.T
        trials = [np.zeros_like(form.cross)]
        for scale in (1.0, 0.5, 10.0):
            B = np.zeros_like(form.cross)
            B[:, candidates] = good * scale * rng.uniform(0.5, 1.5, good.shape)
            B[:, chosen] = form._of_chosen(chosen, B) * rng.uniform(0.9, 1.1)
            trials.append(B)
        trials.append(rng.standard_normal(form.cross.shape) / np.sqrt(np.diag(form.gram)))
        outside = np.setdiff1d(np.arange(form.n_items), [*chosen, *candidates])
        for B in trials:
            B[:, outside] = 0.0
            found, value = form._look(B, form._left(B), chosen, candidates, t)
            check_relaxed(found, candidates, t, errors, form)
            assert found.bound <= value + 1e-12 * (form.total + abs(value)), seed


def test_relaxed_nodes_and_what_they_screen():
    for seed in range(examples(600)):
        form, chosen, candidates, t, errors, rng = node(seed)
        best = min(errors.values())
        threshold = float(rng.choice([1.05 * best, np.median(list(errors.values())), np.inf]))
        relaxed = form.relax(chosen, candidates, t, threshold)
        check_relaxed(relaxed, candidates, t, errors, form)
        assert relaxed.z.min() >= 0.0 and relaxed.z.max() <= 1.0
        assert relaxed.z.sum() <= t * (1 + 1e-9)
        again = form.relax(chosen, candidates, t, threshold, relaxed.start)
        check_relaxed(again, candidates, t, errors, form)


def test_a_form_of_its_own_says_the_same():
    for seed in range(examples(300)):
        form, chosen, candidates, t, errors, _ = node(seed)
        try:
            own = form.narrowed(chosen, candidates)
        except np.linalg.LinAlgError:
            continue
        every = np.arange(len(candidates), dtype=np.int32)
        relaxed = own.relax(every[:0], every, t, np.inf)
        assert_below(own.least, min(errors.values()), form)
        check_relaxed(relaxed, candidates, t, errors, form)


def test_errors_of_complete_choices():
    for seed in range(examples(300)):
        X, Y, alpha, rng = random_columns(seed)
        form, p = form_of(X, Y, alpha), X.shape[1]
        order = rng.permutation(p).astype(np.int32)
        m = int(rng.integers(0, p - 1))
        chosen, candidates = order[:m], order[m:]
        found = form.additions(chosen, candidates, np.inf)
        for item, bound in zip(candidates, found, strict=True):
            subset = np.append(chosen, item)
            error = subset_error(X, Y, subset, alpha)
            assert_below(bound, error, form)
            assert_below(form.error(subset), error, form)
            if np.linalg.cond(X[:, subset] / np.linalg.norm(X[:, subset], axis=0)) < 100.0:
                assert bound == pytest.approx(error, abs=1e-9 * form.total)


def test_little_is_left_of_nearly_dependent_columns():
    """Errors of a billionth of the target from inner products: rounding has to be charged."""
    for seed in range(examples(300)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 7))
        X[:, 4:] = X[:, :3] + 10.0 ** rng.uniform(-6, -3) * X[:, 4:]
        X *= 10.0 ** rng.integers(-3, 4, 7)
        Y = (X / np.linalg.norm(X, axis=0)) @ rng.standard_normal((7, 1))
        Y += 10.0 ** rng.uniform(-8, -4) * rng.standard_normal((30, 1))
        matrices = Matrices(X, Y)
        data = _wide.wide_data(matrices, [], np.arange(7), distinct=False)
        if data is None:  # no D to be had
            continue
        every = np.arange(7, dtype=np.int32)
        for t in (3, 5, 6):
            best = min(subset_error(X, Y, subset, 0.0) for subset in combinations(range(7), t))
            relaxed = data.form.relax(every[:0], every, t, np.inf)
            assert relaxed.bound <= best * (1 + 1e-5), seed
            subset = np.array(every[:t])
            assert data.form.error(subset) <= subset_error(X, Y, subset, 0.0) * (1 + 1e-5), seed


def test_dependent_columns_have_no_form():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5))
    X[:, 4] = X[:, 0] + X[:, 1]
    Y = rng.standard_normal((20, 1))
    assert _wide.wide_data(Matrices(X, Y), [], np.arange(5), distinct=True) is None
    assert _wide.wide_data(Matrices(X, Y).with_ridge(1.0), [], np.arange(5), distinct=True)


def test_shares():
    for seed in range(examples(200)):
        rng = np.random.default_rng(seed)
        lengths = (
            np.abs(rng.standard_normal(8)) * (rng.random(8) < 0.8) * 10.0 ** rng.uniform(-3, 3, 8)
        )
        t = int(rng.integers(1, 8))
        z = shares(lengths, t)
        positive = int((lengths > 0).sum())
        assert z.min() >= 0.0 and z.max() <= 1.0 and not z[lengths == 0.0].any()
        assert z.sum() == pytest.approx(min(t, positive))
        free = (z > 0.0) & (z < 1.0)
        if free.any():
            ratio = z[free] / lengths[free]
            np.testing.assert_allclose(ratio, ratio[0])
