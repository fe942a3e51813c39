"""Proofs with weights and constraints: written, checked, and judged by enumeration."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from columnist import ColumnSelector, SubsetRegressor, _verify, verify
from columnist._verify_exact import ExactErrors
from columnist.constraints import AtMost, Budget, Groups, Requires
from columnist.criteria import get_criterion
from tests.forging import Forger
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


@pytest.mark.parametrize("first", range(0, 120, 10))
def test_random_problems(tmp_path, first):
    assert any([check(tmp_path / "p", seed) for seed in range(first, first + 10)])


@pytest.mark.slow
def test_thousands_of_random_problems(tmp_path):
    assert sum(check(tmp_path / "p", seed) is not None for seed in range(1000, 3500)) > 1500


# -- weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("centering", ["none", "mean"])
@pytest.mark.parametrize("with_target", [False, True])
def test_a_row_of_weight_two_is_two_rows(tmp_path, centering, with_target):
    """The claims are the same, and so is what the checker computes of them."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, times = rng.standard_normal((12, 6)) + 3.0, rng.integers(0, 3, 12)
        y = rng.standard_normal((12, 2)) if with_target else None
        every = None if y is None else np.repeat(y, times, axis=0)
        ColumnSelector(2, centering=centering, proof=tmp_path / "w").fit(X, y, sample_weight=times)
        ColumnSelector(2, centering=centering, proof=tmp_path / "r").fit(
            np.repeat(X, times, axis=0), every
        )
        weighted, repeated = Forger(tmp_path / "w"), Forger(tmp_path / "r")
        assert weighted.header["problem"]["weights"] == times.tolist()
        assert weighted.header["claim"]["selection"] == repeated.header["claim"]["selection"]
        rules = [
            _verify.begin(weighted.header, X, y),
            _verify.begin(repeated.header, np.repeat(X, times, axis=0), every),
        ]
        sets = list(itertools.combinations(range(6), 2))
        ends = [one.ends(sets) * one.scale for one in rules]
        np.testing.assert_allclose(*ends, rtol=1e-12)
        exact = [
            ExactErrors(rules[0], weighted.header["problem"], X, y),
            ExactErrors(rules[1], repeated.header["problem"], np.repeat(X, times, axis=0), every),
        ]
        for subset in sets:
            found = [np.array(e(subset)) * one.scale for e, one in zip(exact, rules, strict=True)]
            np.testing.assert_allclose(*found, rtol=1e-14)


def test_rows_of_weight_zero_count_for_nothing(tmp_path):
    """Not even for the hash, or for the labels."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((12, 5)), np.array(["a", "b", "c"])[rng.integers(0, 2, 12)]
    labels[3], weights = "c", rng.random(12)
    weights[3] = 0.0
    ColumnSelector(2, proof=tmp_path / "p").fit(X, labels, sample_weight=weights)
    other, their = X.copy(), labels.copy()
    other[3], their[3] = 1e300, "d"
    assert verify(tmp_path / "p", other, y=their).holds
    assert verify(tmp_path / "p", sp.csr_array(X), y=labels).holds
    other[4, 0] = np.nextafter(other[4, 0], 9.0)
    assert not verify(tmp_path / "p", other, y=labels).holds
    assert not verify(tmp_path / "p", X[:-1], y=labels[:-1]).holds
    assert not verify(tmp_path / "p", X, y=labels[:-1]).holds


def test_weights_of_any_size(tmp_path):
    """Weights far from one, and far from one another."""
    rng = np.random.default_rng(0)
    for power in (-280, -30, 30, 280):
        X, weights = rng.standard_normal((15, 5)), 2.0 ** (power + rng.integers(-20, 20, 15))
        for criterion in ("frobenius", "nuclear"):
            ColumnSelector(2, criterion=criterion, proof=tmp_path / "p").fit(
                X, sample_weight=weights
            )
            assert verify(tmp_path / "p", X).holds


def test_too_many_weights(tmp_path, monkeypatch):
    monkeypatch.setattr("columnist.selection._proven._MOST_WEIGHTS", 10)
    X = np.random.default_rng(0).standard_normal((11, 3))
    with pytest.raises(ValueError, match="proof holds up to 10 weights, got 11"):
        ColumnSelector(2, proof=tmp_path / "p").fit(X, sample_weight=np.arange(11))


# -- what else there is -------------------------------------------------------------------


def test_constraints_of_a_user(tmp_path):
    class Mine(AtMost):
        pass

    X = np.random.default_rng(0).standard_normal((9, 4))
    with pytest.raises(ValueError, match="proof holds Groups, Budget, AtMost and Requires, not M"):
        ColumnSelector(2, constraints=[Mine([0], 1)], proof=tmp_path / "p").fit(X)
    assert list(tmp_path.iterdir()) == []


def check_regression(path, seed):
    """Regression with constraints, weights and a ridge."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    X, y = rng.standard_normal((n + 9, n)), rng.standard_normal((n + 9, int(rng.integers(1, 3))))
    constraints = random_constraints(rng, n)
    size = random_size(rng, constraints, n)
    size = size or int(rng.integers(1, 4))
    if not (choices := every_choice(n, constraints, size)):
        return
    weights = rng.random(n + 9) if rng.random() < 0.5 else np.ones(n + 9)
    alpha = float(rng.choice([0.0, 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SubsetRegressor(size, alpha=alpha, constraints=constraints, proof=path)
        model.fit(X, y, sample_weight=weights)
    verdict = verify(path, X, y=y)
    assert verdict.holds, (seed, str(verdict))
    root, shares = np.sqrt(weights)[:, None], weights / weights.sum()
    A, B = root * (X - shares @ X), root * (y - shares @ y)

    def error(subset):
        ridge = np.vstack([A[:, subset], np.sqrt(alpha) * np.eye(len(subset))])
        target = np.vstack([B, np.zeros((len(subset), B.shape[1]))])
        coef = np.linalg.lstsq(ridge, target, rcond=None)[0]
        return float(((target - ridge @ coef) ** 2).sum())

    best = min(error(list(s)) for s in choices)
    assert verdict.claim["error"] == pytest.approx(best, rel=1e-8)
    assert verdict.claim["lower_bound"] == pytest.approx(best, rel=1e-8)


@pytest.mark.parametrize("seed", range(30))
def test_regression(tmp_path, seed):
    check_regression(tmp_path / "p", seed)


def test_regression_with_a_rule(tmp_path):
    """The proof is that of the size the rule has chosen: a number of columns, or of groups."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, :4].sum(axis=1) + 0.1 * rng.standard_normal(60)
    for constraints, rule in (
        ([Groups([0, 0, 1, 1, 2, 2, 3, 3])], "cv"),
        ([AtMost([4], 0)], "bic"),
    ):
        model = SubsetRegressor(rule, constraints=constraints, proof=tmp_path / "p").fit(X, y)
        assert model.selected_.tolist() == [0, 1, 2, 3]
        assert verify(tmp_path / "p", X, y=y).holds


@pytest.mark.parametrize("exact", [False, True])
def test_processes_and_exact_arithmetic(tmp_path, exact):
    pytest.importorskip("flint")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12)) @ rng.standard_normal((12, 12))
    constraints = [Budget(rng.integers(1, 4, 12).tolist(), 9), Requires(3, [1])]
    ColumnSelector(constraints=constraints, proof=tmp_path / "p").fit(
        X, sample_weight=rng.random(30)
    )
    verdict = verify(tmp_path / "p", X, exact=exact, n_jobs=2)
    assert verdict.holds
    assert (verdict.exact["leaves"] > 0) == exact
