"""The relaxation against enumeration: bounds, what is excluded and fixed, children."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from columnist.linalg._reduce import reduce_data
from columnist.linalg._rounding import allowance
from columnist.selection._relax import Relaxation, RelaxationSpace
from tests.examples import examples


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
        X[:, -1] = X[:, 0] + 10.0 ** rng.integers(-9, -1) * rng.standard_normal(len(X))
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
    made = Relaxation(reduced.columns, reduced.weights, k, reduced.power, share)
    return made, reduced.scale**2


def check_node(seed: int) -> bool:
    """Whether the relaxation said something, and all of it is true."""
    X, Y, chosen, candidates, t, sets, errors, rng = node(seed)
    relax, unit = relaxation(X, Y, len(chosen) + t)
    threshold = float(rng.choice([errors.min() * 1.1, np.median(errors), np.inf])) + 1e-300
    hint = rng.uniform(0, 1, len(candidates)) if rng.random() < 0.5 else None
    bound, fixed, kept, items, f, _, _ = relax.expand(
        chosen, candidates, t, threshold / unit, hint, None, int(rng.integers(0, 5)),
        float(rng.uniform(0, 1)), RelaxationSpace(),
    )  # fmt: skip
    if bound < 0.0:
        return False
    slack = 1e-9 * errors.min() + 1e-12 * np.square(X).sum() * (Y is None)
    below = [s for s, e in zip(sets, errors, strict=True) if e < threshold - slack]
    assert min(unit * bound, threshold) <= errors.min() + slack or not below
    for subset in below:
        added = set(subset) - set(chosen.tolist())
        assert set(fixed.tolist()) <= added, "a fixed candidate is missing"
        assert added - set(fixed.tolist()) <= set(kept.tolist()), "an excluded one is there"
    if len(fixed):
        return True
    assert sorted(items.tolist()) == sorted(kept.tolist()) or not below
    place = {item: i for i, item in enumerate(items.tolist())}
    for subset, error in zip(sets, errors, strict=True):
        added = sorted(set(subset) - set(chosen.tolist()), key=lambda i: place.get(i, -1))
        if error < threshold - slack:
            assert unit * f[place[added[-1]]] <= error + slack
    return True


def test_nodes_against_enumeration():
    said = sum(check_node(seed) for seed in range(examples(2000)))
    assert said > 0.8 * examples(2000)
