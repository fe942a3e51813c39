"""Proofs of best-subset regression: written, checked, and judged by enumeration."""

import itertools
import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from columnist import ColumnSelector, SubsetClassifier, SubsetRegressor, verify
from columnist.selection import _relaxed, _traced
from tests.examples import slow_if
from tests.forging import Forger


def fit(path, X, y, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SubsetRegressor(k, proof=path, **options).fit(X, y)


def objective(X, y, subset, alpha, intercept):
    """What the model minimises, from normal equations."""
    if intercept:
        X, y = X - X.mean(axis=0), y - y.mean(axis=0)
    A, Y = X[:, subset], y.reshape(len(y), -1)
    A = np.vstack([A, np.sqrt(alpha) * np.eye(len(subset))])
    Y = np.vstack([Y, np.zeros((len(subset), Y.shape[1]))])
    return float(((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2).sum())


def random_problem(rng):
    m, n = int(rng.integers(4, 25)), int(rng.integers(2, 9))
    X = rng.standard_normal((m, n))
    kind = int(rng.integers(4))
    if kind == 1:
        X = rng.integers(-2, 3, (m, n)).astype(float)
    elif kind == 2:
        X[:, 1] = -2.0 * X[:, 0]
    elif kind == 3:
        X *= 2.0 ** int(rng.integers(-200, 200))
    X[0, 0] += not X.any()
    y = rng.standard_normal((m, int(rng.integers(1, 4)))) + X[:, :1] / np.abs(X).max()
    y = y[:, 0] if y.shape[1] == 1 and rng.random() < 0.5 else y
    options = {"alpha": float(rng.choice([0.0, 0.0, 0.1, 3.0])) * (kind != 3)}
    choices = {"fit_intercept": False, "n_solutions": 3, "max_nodes": 2, "max_gap": 0.1}
    options |= {name: value for name, value in choices.items() if rng.random() < 0.25}
    return X, y, int(rng.integers(1, n + 1)), options


@pytest.mark.parametrize("seed", range(60))
def test_random_problems(tmp_path, seed):
    """The proof holds, and no set has an objective below its bound."""
    X, y, k, options = random_problem(np.random.default_rng(seed))
    model = fit(tmp_path / "p", X, y, k, **options)
    verdict = verify(tmp_path / "p", X, y=y)
    assert verdict.holds, (seed, options, str(verdict))
    assert sorted(verdict.claim["selection"]) == model.selected_.tolist()
    alpha, intercept = options["alpha"], options.get("fit_intercept", True)
    errors = [
        objective(X, y, list(some), alpha, intercept)
        for some in itertools.combinations(range(X.shape[1]), k)
    ]
    total = objective(X, y, [], alpha, intercept)
    assert verdict.claim["lower_bound"] <= min(errors) + 1e-9 * max(errors) + 1e-11 * total


@pytest.mark.parametrize("seed", range(40))
def test_forged_bounds(tmp_path, seed):
    """A bound above the optimum is refuted, whatever the ridge and the tree."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 8)), rng.standard_normal((20, 1 + seed % 2))
    k, alpha = 3, float(seed % 3)
    fit(tmp_path / "p", X, y, k, alpha=alpha)
    forger = Forger(tmp_path / "p")
    sets = list(itertools.combinations(range(8), k))
    errors = [objective(X, y, list(some), alpha, True) for some in sets]
    order = np.argsort(errors)
    second = sets[order[1]]
    claim = forger.header["claim"]
    claim |= {"selection": list(second), "solutions": [list(second)]}
    claim |= {
        "error": errors[order[1]],
        "lower_bound": errors[order[1]],
        "errors": [errors[order[1]]],
    }
    assert not verify(forger.save(), X, y=y).holds
    assert not verify(forger.save(records=[]), X, y=y).holds


def test_ridge_cannot_be_changed(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    fit(tmp_path / "p", X, y, 4, alpha=0.1)
    assert verify(tmp_path / "p", X, y=y).holds
    assert not verify(tmp_path / "p", X, y=y + 1.0).holds
    for alpha, opens in ((0.2, True), (-1.0, False), (1e308 * 10, False), ("x", False)):
        forger = Forger(tmp_path / "p")
        forger.header["problem"]["alpha"] = alpha
        if opens:
            assert not verify(forger.save(), X, y=y).holds
            continue
        with pytest.raises(ValueError, match="proof"):
            verify(forger.save(), X, y=y)


@pytest.mark.parametrize("rule", ["bic", "cv"])
def test_the_proof_of_a_size_that_a_rule_chose(tmp_path, rule):
    X, y = load_diabetes(return_X_y=True)
    model = fit(tmp_path / "p", X, y, rule)
    verdict = verify(tmp_path / "p", X, y=y)
    assert verdict.holds
    assert len(verdict.claim["selection"]) == len(model.selected_)


def test_more_columns_than_samples(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 40))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(20)
    fit(tmp_path / "p", X, y, 3, alpha=1.0)
    assert verify(tmp_path / "p", X, y=y).holds


def test_no_proof_of_classes():
    with pytest.raises(TypeError, match="proof"):
        SubsetClassifier(3, proof="x")


def test_failures_leave_nothing(tmp_path):
    X = np.random.default_rng(0).standard_normal((9, 4))
    with pytest.raises(ValueError, match="no folder"):
        fit(tmp_path / "none" / "p", X, X[:, 0], 2)
    fit(tmp_path / "p", X, X[:, 0] + X[:, 1] ** 2, 2)
    assert [path.name for path in tmp_path.iterdir()] == ["p"]
    assert json.loads((tmp_path / "p").read_bytes().split(b"\n")[0])["problem"]["alpha"] == 0.0


@pytest.mark.parametrize("scale", [1.0, 3.0, -0.7])
def test_multiples_up_to_rounding_count_once(tmp_path, scale):
    """A column and its rounded multiple: sets with both are not counted, and all others are."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 9))
    X[:, 7] = scale * X[:, 2] + 5.0
    y = X @ rng.standard_normal(9) + 0.1 * rng.standard_normal(30)
    model = SubsetRegressor(4, proof=tmp_path / "p").fit(X, y)
    verdict = verify(tmp_path / "p", X, y=y)
    assert verdict.holds
    assert "a column and a multiple of it" in verdict.statement
    centred, target = X - X.mean(axis=0), y - y.mean()
    errors = [
        np.linalg.lstsq(centred[:, list(s)], target, rcond=None)[1].sum()
        for s in itertools.combinations(range(9), 4) if not {2, 7} <= set(s)
    ]  # fmt: skip
    assert model.error_ <= min(errors) * (1.0 + 1e-9)


def test_columns_that_differ_by_more_than_rounding_are_counted(tmp_path):
    """Beside a near copy of which 1e-11 is left, the other column may still be the best."""
    rng = np.random.default_rng(1)
    X, extra = rng.standard_normal((30, 8)), rng.standard_normal(30)
    X[:, 6] = X[:, 1] + 1e-11 * extra
    y = extra + 0.1 * rng.standard_normal(30)
    model = SubsetRegressor(2, proof=tmp_path / "p").fit(X, y)
    assert set(model.selected_) == {1, 6}
    verdict = verify(tmp_path / "p", X, y=y)
    assert verdict.holds and "multiple" not in verdict.statement


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(i, marks=slow_if(True)) for i in range(1, 10))]
)
def test_rounded_multiples_are_divided_first(tmp_path, monkeypatch, first):
    """Where columns are multiples of others up to rounding, relaxations begin without both."""
    monkeypatch.setattr(_relaxed, "_FEW_TRACED", 0)
    monkeypatch.setattr(_relaxed, "_FEW_SETS", 0)
    monkeypatch.setattr(_relaxed, "_WORTHWHILE", -np.inf)
    separated = []
    plain = _relaxed.RelaxedNodes._separated
    monkeypatch.setattr(
        _relaxed.RelaxedNodes, "_separated",
        lambda self, *node: separated.append(1) or plain(self, *node),
    )  # fmt: skip
    for seed in range(40 * first, 40 * (first + 1)):
        rng = np.random.default_rng(seed)
        use = _relaxed._Use(int(rng.integers(1, 4)), 0)
        monkeypatch.setattr(_relaxed, "_TRACED", use)
        monkeypatch.setattr(_traced, "_FEW_TARGETS", use)
        n, k = int(rng.integers(8, 11)), int(rng.integers(3, 5))
        X = rng.standard_normal((16, n)) @ (np.eye(n) + 0.4 * rng.standard_normal((n, n)))
        for i, j in rng.permutation(n)[:4].reshape(2, 2):
            X[:, j] = X[:, i] * rng.uniform(0.1, 3.0)
        y = None if seed % 2 else rng.standard_normal((16, 2))
        limit = None if seed % 3 else int(rng.integers(0, 10))
        found = ColumnSelector(k, proof=tmp_path / "p", max_nodes=limit).fit(X, y)
        verdict, target = verify(tmp_path / "p", X, y=y), X if y is None else y
        assert verdict.holds, verdict.statement
        best = min(_left_of(target, X, subset) for subset in itertools.combinations(range(n), k))
        assert found.certificate_.lower_bound <= best * (1.0 + 1e-9)
        if found.certificate_.status == "optimal":
            assert found.error_ <= best * (1.0 + 1e-8)
    assert separated


def _left_of(target, X, subset) -> float:
    """The error of a set, dependent columns left out."""
    U, s, _ = np.linalg.svd(X[:, subset] / np.linalg.norm(X[:, subset], axis=0))
    U = U[:, : len(s)][:, s > 1e-12]
    return float(((target - U @ (U.T @ target)) ** 2).sum())
