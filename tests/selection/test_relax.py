"""The relaxation against enumeration: bounds, what is excluded and fixed, children."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

from columnist import ColumnSelector
from columnist.linalg._reduce import reduce_data
from columnist.linalg._rounding import allowance
from columnist.selection import _relaxed
from columnist.selection._relax import Relaxation, RelaxationSpace
from columnist.selection._relaxed import RelaxedNodes
from tests.examples import examples
from tests.oracles.relaxation import relaxed_bound


def problem(seed: int):
    """A small problem, some with targets, correlated, of unlike lengths or with near copies."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(5, 11))
    X = rng.standard_normal((p + int(rng.integers(1, 8)), p))
    if rng.random() < 0.5:  # correlated
        X += rng.uniform(0.5, 3.0) * rng.standard_normal((len(X), 1))
    if rng.random() < 0.3:
        X *= 10.0 ** rng.integers(-4, 5, p)
    if rng.random() < 0.3:
        X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-5, -1) * rng.standard_normal(len(X))
    Y = None
    if rng.random() < 0.5:
        Y = rng.standard_normal((len(X), int(rng.integers(1, 5))))
    return X, Y, rng


def errors_of(X, Y, sets) -> np.ndarray:
    T = X if Y is None else Y
    found = []
    for chosen in sets:
        Q = np.linalg.qr(X[:, list(chosen)])[0]
        found.append(np.square(T - Q @ (Q.T @ T)).sum())
    return np.array(found)


def node(seed: int):
    """A random node with the errors of all its completions."""
    X, Y, rng = problem(seed)
    p = X.shape[1]
    order = rng.permutation(p)
    m = int(rng.integers(0, p - 3))
    n = int(rng.integers(3, p - m + 1))
    t = int(rng.integers(2, n))
    chosen, candidates = order[:m].astype(np.int32), np.sort(order[m : m + n]).astype(np.int32)
    sets = [(*chosen.tolist(), *added) for added in combinations(candidates.tolist(), t)]
    return X, Y, chosen, candidates, t, sets, errors_of(X, Y, sets), rng


def relaxation(X, Y, k: int):
    reduced = reduce_data(X, Y)
    share = allowance(len(reduced.weights), 1.0)
    made = Relaxation(reduced.columns, reduced.weights, k, share, 0.9)
    return made, reduced.scale**2


def check_node(seed: int) -> bool:
    """Whether the relaxation said something, and all of it is true."""
    X, Y, chosen, candidates, t, sets, errors, rng = node(seed)
    relax, unit = relaxation(X, Y, len(chosen) + t)
    threshold = float(rng.choice([errors.min() * 1.1, np.median(errors), np.inf])) + 1e-300
    hint = rng.uniform(0, 1, len(candidates)) if rng.random() < 0.5 else None
    bound, fixed, kept, z, every_z = relax.evaluate(
        chosen, candidates, t, threshold / unit, hint, None, RelaxationSpace()
    )
    if bound < 0.0:
        return False
    assert len(z) == len(kept)
    assert len(every_z) == len(candidates)
    slack = 1e-9 * errors.min() + 1e-12 * np.square(X).sum() * (Y is None)
    below = [s for s, e in zip(sets, errors, strict=True) if e < threshold - slack]
    assert min(unit * bound, threshold) <= errors.min() + slack or not below
    fixed, kept = set(candidates[fixed].tolist()), set(candidates[kept].tolist())
    for subset in below:
        added = set(subset) - set(chosen.tolist())
        assert fixed <= added, "a fixed candidate is missing"
        assert added - fixed <= kept, "an excluded one is there"
    return True


def test_nodes_against_enumeration():
    said = sum(check_node(seed) for seed in range(examples(2000)))
    assert said > 0.8 * examples(2000)


# -- whole searches that use it wherever they can ------------------------------------


@pytest.fixture
def everywhere(monkeypatch):
    """Every node with two columns to choose or more is relaxed, whatever it gains."""
    monkeypatch.setattr(_relaxed, "_WORTHWHILE", -np.inf)
    monkeypatch.setattr(_relaxed, "_FEW_TARGETS", _relaxed._Use(1, 0))
    monkeypatch.setattr(_relaxed, "_MANY_TARGETS", _relaxed._Use(1, 0))


def enumerated(X, Y, k: int, include=()) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """All choices of k columns with the included ones, and their errors, best first."""
    sets = [s for s in combinations(range(X.shape[1]), k) if set(include) <= set(s)]
    errors = errors_of(X, Y, sets)
    order = np.argsort(errors, kind="stable")
    return [sets[i] for i in order], errors[order]


def test_searches_against_enumeration(everywhere):
    for seed in range(examples(300)):
        X, Y, rng = problem(seed)
        k = int(rng.integers(2, X.shape[1] - 1))
        include = [int(rng.integers(X.shape[1]))] if rng.random() < 0.3 else []
        n_solutions = int(rng.choice([1, 3]))
        selector = ColumnSelector(k, include=include, n_solutions=n_solutions, time_limit=None)
        selector.fit(X, Y)
        _, errors = enumerated(X, Y, k, include)
        size = np.square(X if Y is None else Y).sum()
        found = [solution.error for solution in selector.solutions_]
        assert np.allclose(found, errors[: len(found)], rtol=1e-8, atol=1e-11 * size), seed
        assert selector.certificate_.lower_bound <= errors[0] * (1 + 1e-8) + 1e-11 * size


def test_every_stopping_point(everywhere):
    for seed in range(examples(40)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((20, 12)) + rng.standard_normal((20, 1))
        Y = rng.standard_normal((20, 2)) if seed % 2 else None
        best = enumerated(X, Y, 6)[1][0]
        bounds = []
        for limit in (1, 2, 3, 5, 8, 13, 21):
            certificate = ColumnSelector(6, max_nodes=limit, time_limit=None).fit(X, Y).certificate_
            assert certificate.lower_bound <= best * (1 + 1e-9) <= certificate.error * (1 + 2e-9)
            bounds.append(certificate.lower_bound)
        assert np.all(np.diff(bounds) >= -1e-9 * best)


def test_columns_that_differ_by_rounding_are_one(everywhere):
    for seed in range(examples(40)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((25, 9))
        X[:, 4] = X[:, 1] * 3.0 * (1 + 1e-15 * rng.standard_normal(25))
        X[:, 8] = -X[:, 1] / 7.0
        y = X[:, [1, 2, 5]].sum(axis=1) + rng.standard_normal(25)
        Y = y[:, None] if seed % 2 else None
        sets = list(combinations([0, 1, 2, 3, 5, 6, 7], 4))
        best = errors_of(X, Y, sets).min()
        selector = ColumnSelector(4, time_limit=None).fit(X, None if Y is None else y)
        assert selector.certificate_.status == "optimal"
        assert selector.error_ == pytest.approx(best, rel=1e-9)


def test_the_result_does_not_depend_on_the_number_of_threads(everywhere):
    X = np.random.default_rng(5).standard_normal((40, 18))
    found = [ColumnSelector(8, n_jobs=n, max_nodes=60, time_limit=None).fit(X) for n in (1, 3)]
    one, three = (selector.certificate_ for selector in found)
    assert one.selection == three.selection
    assert one.lower_bound == pytest.approx(three.lower_bound, rel=1e-9)
    assert one.nodes_expanded == three.nodes_expanded


@pytest.mark.parametrize("with_target", [False, True])
def test_compiled_parts_equal_those_of_single_bounds(everywhere, with_target):
    """Nodes are divided in the kernel, but where copies stand for others or a proof is written."""
    for seed in range(examples(30)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 14)) + rng.standard_normal((30, 1))
        Y = rng.standard_normal((30, 2)) if with_target else None
        reduced, k = reduce_data(X, Y), int(rng.integers(4, 8))
        nodes, traced = (RelaxedNodes(reduced, k, traced=value) for value in (False, True))
        traced._use, traced._relaxation.shaped = nodes._use, True
        chosen = rng.choice(14, int(rng.integers(0, 3)), replace=False).astype(np.int32)
        candidates = np.setdiff1d(np.arange(14), chosen).astype(np.int32)
        errors = errors_of(X, Y, [[*chosen, *candidates[: k - len(chosen)]]])
        threshold = rng.uniform(0.6, 1.1) * errors[0] / reduced.scale**2
        z = rng.uniform(0, 1, len(candidates)).astype(np.float32)
        one, two = (n.divide(chosen, candidates, threshold, z, 0) for n in (nodes, traced))
        assert one.n_bounds == two.n_bounds
        for own, other in zip(one.parts, two.parts, strict=True):
            assert own.bound == pytest.approx(other.bound, rel=1e-12)
            assert own.chosen.tolist() == other.chosen.tolist()
            assert own.candidates.tolist() == other.candidates.tolist()
            assert (own.z is None) == (other.z is None)
            assert own.z is None or np.allclose(own.z, other.z)


def test_products_of_the_diabetes_data():
    """Strongly dependent columns for one target: the bound by directions says nothing there."""
    X, y = load_diabetes(return_X_y=True)
    products = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    selector = ColumnSelector(6, centering="mean", max_nodes=3000, time_limit=None)
    selector.fit(products, y)
    assert selector.certificate_.status == "optimal"


# -- the kernel against plain NumPy --------------------------------------------------


@pytest.mark.parametrize("with_target", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_the_kernel_equals_its_twin(seed, with_target):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 12)) + rng.standard_normal((40, 1))
    Y = rng.standard_normal((40, 2)) if with_target else None
    relax, unit = relaxation(X, Y, 6)
    chosen, candidates = np.array([3, 7], dtype=np.int32), np.arange(8, 12, dtype=np.int32)
    candidates = np.concatenate([np.array([0, 1, 2, 4, 5], dtype=np.int32), candidates])
    bound = relax.evaluate(chosen, candidates, 4, np.inf, None, None, RelaxationSpace())[0]
    expected = relaxed_bound(X, X if Y is None else Y, chosen, candidates, 4, n_iter=2)
    assert unit * bound == pytest.approx(expected, rel=2e-2)


@pytest.mark.parametrize("with_target", [True, False])
def test_long_lists_of_candidates(with_target):
    """Good choices must stay below the bound, and in the lists, of many candidates."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 90))
    for j in range(1, 90):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    planted = np.arange(5, 90, 18)
    Y = X[:, planted].sum(axis=1)[:, None] + rng.standard_normal((150, 1)) if with_target else None
    sets = [tuple(planted + shift) for shift in product((-1, 0, 1), repeat=len(planted))]
    errors = errors_of(X, Y, sets)
    threshold = float(np.quantile(errors, 0.9))
    relax, unit = relaxation(X, Y, len(planted))
    bound, fixed, kept, *_ = relax.evaluate(
        np.empty(0, dtype=np.int32), np.arange(90, dtype=np.int32), len(planted),
        threshold / unit, None, None, RelaxationSpace(),
    )  # fmt: skip
    assert len(fixed) == 0
    assert unit * bound <= errors.min() * (1 + 1e-12)
    for subset, error in zip(sets, errors, strict=True):
        assert error >= threshold or set(subset) <= set(kept.tolist())
