"""Proofs with weights and constraints: written, checked, and judged by enumeration."""

import warnings

import numpy as np
import pytest

from columnist import ColumnSelector, verify
from columnist.criteria import get_criterion
from tests.oracles.constrained import every_choice
from tests.strategies import KINDS, random_constraints, random_matrix, random_size
from tests.test_verify import CRITERIA

# Errors that are closer than this share of the target are equal.
CLOSE = 1e-6


def random_problem(rng):
    """Data, target, weights, constraints, size and options of any kind."""
    m, n = int(rng.integers(3, 16)), int(rng.integers(2, 9))
    X = random_matrix(str(rng.choice(["gaussian", "gaussian", *KINDS])), m, n, rng)
    y = rng.standard_normal((m, int(rng.integers(1, 3)))) if rng.random() < 0.3 else None
    weights, constraints, size = None, [], int(rng.integers(1, min(n, 5) + 1))
    kind = rng.choice(4, p=[0.25, 0.5, 0.2, 0.05])
    if kind in (0, 2):
        weights = rng.integers(0, 4, m) if rng.random() < 0.5 else rng.random(m) * 3.0
        weights[:2] += 1
    if kind in (1, 2):
        constraints = random_constraints(rng, n)
        size = random_size(rng, constraints, n)
    options = {}
    if rng.random() < 0.5:
        options["criterion"] = str(rng.choice(CRITERIA))
    if y is None and weights is None and rng.random() < 0.15:
        X, options["input"] = X.T @ X, "gram"
        # Roots of roots of rounding are more than it.
        options["criterion"] = str(rng.choice(["frobenius", "spectral", "nuclear"]))
    elif rng.random() < 0.4:
        options["centering"] = "mean"
    choices = {
        "n_components": int(rng.integers(1, 3)), "n_solutions": int(rng.integers(2, 6)),
        "max_nodes": int(rng.integers(0, 6)), "include": [int(rng.integers(n))],
        "solution_tol": float(rng.choice([0.0, 0.05, 0.3])),
        "max_gap": 0.1, "exclude": [int(rng.integers(n))],
    }  # fmt: skip
    options |= {name: value for name, value in choices.items() if rng.random() < 0.2}
    return X, y, weights, constraints, size, options


def errors_of(X, y, weights, options, choices):
    """The error of every choice, and that of the target, from rows that are weighed here."""
    target = X if y is None else y
    if options.get("input") == "gram":
        values, vectors = np.linalg.eigh(X)
        X = target = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
    if options.get("centering") == "mean":
        X, target = (A - w @ A / w.sum() for A in (X, target))
    X, target = (np.sqrt(w)[:, None] * A for A in (X, target))
    theta, r = get_criterion(options.get("criterion", "frobenius")), options.get("n_components", 0)

    def error(subset):
        U, s, _ = np.linalg.svd(X[:, subset], full_matrices=False)
        U = U[:, s > 1e-9 * s.max(initial=0.0)]
        values = np.linalg.svd(target - U @ (U.T @ target), compute_uv=False)[r:]
        return float(theta.value(values if len(values) else np.zeros(1)))

    total = float(theta.value(np.linalg.svd(target, compute_uv=False)))
    return {s: error(list(s)) for s in choices}, total


def check(path, seed):
    """A proof is written; it holds, and enumeration agrees."""
    rng = np.random.default_rng(seed)
    X, y, weights, constraints, size, options = random_problem(rng)
    given = options.get("include", ()), options.get("exclude", ())
    choices = every_choice(X.shape[1], constraints, size, *given)
    if not choices or set(given[0]) & set(given[1]):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = ColumnSelector(size, constraints=constraints, proof=path, **options)
        selector.fit(X, y, sample_weight=weights)
    verdict = verify(path, X, y=y)
    assert verdict.holds, (seed, str(verdict))
    errors, total = errors_of(X, y, weights, options, choices)
    claim, close = verdict.claim, CLOSE * total
    assert sorted(claim["selection"]) == selector.selected_.tolist()
    assert claim["lower_bound"] <= min(errors.values()) + close
    assert abs(errors[tuple(sorted(claim["selection"]))] - claim["error"]) <= close
    listed = {tuple(sorted(s)) for s in claim["solutions"]}
    others = min((e for s, e in errors.items() if s not in listed), default=np.inf)
    if claim["complete"]:
        limit = claim["errors"][-1]
        if claim["within"] is not None:
            limit = claim["error"] * (1.0 + claim["within"])
        assert others >= limit - close
    return verdict


@pytest.mark.parametrize("seed", range(120))
def test_random_problems(tmp_path, seed):
    check(tmp_path / "p", seed)


@pytest.mark.slow
def test_thousands_of_random_problems(tmp_path):
    held = [check(tmp_path / "p", seed) is not None for seed in range(1000, 3500)]
    assert sum(held) > 1500
