"""Leaves in exact arithmetic, judged by enumeration."""

import itertools

import numpy as np
import pytest

from columnist import ColumnSelector, SubsetRegressor, _verify, verify
from columnist._verification import Check
from columnist._verify import Refuted, Task
from tests.forging import resealed

pytest.importorskip("flint")


def check_of(tmp_path, X, k, exact=False, y=None, **options):
    """The check of a proof, whose limit may then be changed."""
    path = tmp_path / "p"
    estimator = SubsetRegressor(k, proof=path) if y is not None else ColumnSelector(
        k, proof=path, **options
    )  # fmt: skip
    estimator.fit(X, y)
    return Check(_verify.read_header(path), X, y, exact)


def confirmed(check, task):
    """What a part takes under the limit of the rules."""
    check.found.clear()
    list(check.confirm([task], 1))
    return check.found


def root(p):
    return Task(np.zeros(0, dtype=np.intp), np.arange(p))


def bound_of(rules, rule):
    """What floating point numbers make of the root."""
    node, limit = root(rules.numbers.p), rules.limit
    rules.limit = np.inf
    found = dict(rules._bounds(node, None))[rule]
    rules.limit = limit
    return node, found.value, found.by


CASES = {
    "span": {"criterion": "nuclear"},
    "span of one component": {"criterion": "frobenius", "n_components": 1},
    "span, schatten": {"criterion": "schatten:0.5"},
    "relaxation": {},
    "relaxation, target": {"y": True},
    "relaxation, targets": {"y": 5},
}


@pytest.mark.parametrize("case", CASES)
def test_a_leaf_in_doubt_is_decided(tmp_path, case):
    rng, options = np.random.default_rng(0), dict(CASES[case])
    X, rule = rng.standard_normal((20, 9)), case.split(",")[0].split(" ")[0]
    if wide := options.get("y"):
        options["y"] = X @ rng.standard_normal((9, int(wide))) + rng.standard_normal((20, 1))
    check = check_of(tmp_path, X, 4, **options)
    rules = check.rules
    node, value, by = bound_of(rules, rule)
    assert rules.limit > value
    # The limit is missed by the floating point bound, but not by the exact one.
    rules.limit = value + 1e-14 * abs(value)
    assert confirmed(check, root(9)) == {rule: 1}
    assert check.exactly["leaves"] == check.exactly["leaves in doubt"] == 1
    # A little higher it is in doubt still, and not closed.
    rules.limit = value + 0.9 * rules.doubt
    assert not check._leaves(rule, node, np.array([0]), by)[0]
    assert confirmed(check, root(9)) != {rule: 1}
    assert check.exactly["leaves in doubt"] > 1


@pytest.mark.parametrize("options", [{}, {"criterion": "nuclear"}, {"n_components": 1}])
def test_exact_leaves_are_below_the_optimum_and_above_floats(tmp_path, options):
    """Whatever is claimed above the optimum is refuted; the optimum itself holds."""
    rng = np.random.default_rng(1)
    for kind in range(4):
        X = rng.standard_normal((12, 7)) * (10.0 ** rng.integers(-6, 6, 7) if kind == 1 else 1.0)
        if kind == 2:
            X[:, 1] = X[:, 0] + 1e-9 * X[:, 2]
        if kind == 3:
            X[:, 1] = X[:, 0] + X[:, 2]
        check = check_of(tmp_path, X, 3, exact=True, **options)
        rules = check.rules
        rules.listed = set()
        sets = [tuple(s) for s in itertools.combinations(range(7), 3)]
        low, high = np.min([check._exact(s) for s in sets], axis=0)
        rules.limit = low * (1.0 - 1e-9)
        confirmed(check, root(7))
        rules.limit = high * (1.0 + 1e-9) + 1e-300
        with pytest.raises(Refuted):
            confirmed(check, root(7))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("options", [{}, {"criterion": "spectral"}, {"centering": "mean"}])
def test_all_leaves(tmp_path, k, options):
    X = np.random.default_rng(2).standard_normal((15, 10))
    path = tmp_path / "p"
    ColumnSelector(k, proof=path, **options).fit(X)
    plain, exact, shared = verify(path, X), verify(path, X, exact=True), None
    assert plain.holds and exact.holds and exact.rules == plain.rules
    assert exact.exact["leaves in doubt"] == 0
    assert exact.exact["leaves" if k > 1 else "complete sets"] > 0
    if k == 3:
        shared = verify(path, X, exact=True, n_jobs=2)
        assert (shared.rules, shared.exact) == (exact.rules, exact.exact)


def test_forged_bounds_are_refuted(tmp_path):
    X = np.random.default_rng(3).standard_normal((15, 10))
    path = tmp_path / "p"
    ColumnSelector(4, proof=path).fit(X)
    header = _verify.read_header(path)
    second = [9, 8, 7, 6]
    header["claim"]["selection"], header["claim"]["solutions"] = second, [second]
    Q = np.linalg.qr(X[:, second])[0]
    error = float(((X - Q @ (Q.T @ X)) ** 2).sum())
    header["claim"] |= {"error": error, "lower_bound": error, "errors": [error]}
    assert not verify(resealed(path, header), X, exact=True)


def test_without_flint(tmp_path, monkeypatch):
    X = np.random.default_rng(4).standard_normal((15, 6))
    path = tmp_path / "p"
    ColumnSelector(3, proof=path).fit(X)
    monkeypatch.setattr("columnist._verification.find_spec", lambda name: None)
    assert verify(path, X).holds
    with pytest.raises(ImportError, match=r"columnist\[exact\]"):
        verify(path, X, exact=True)


def test_repeated_zeros_do_not_hide_an_error(tmp_path):
    """Eigenvalues of what a near copy leaves: several are exactly zero."""
    X = np.array([
        [1.0678870080054566, -1.7842914492281936, -1.7842914337469233, 0.6955454781628593],
        [1.541899800084868, -0.01930713089347002, -0.019307109681741322, 2.3735421026309567],
        [-0.41176938014606596, -1.053388502656878, -1.053388482025937, 0.4879702829226977],
        [-1.6289193380529838, -0.598851009028548, -0.5988509981373256, 0.04540578127270197],
    ])  # fmt: skip
    check = check_of(tmp_path, X, 2, criterion="schatten:0.5")
    low, high = np.array([check._exact(s) for s in itertools.combinations(range(4), 2)]).T
    assert (high - low <= 1e-10 * high).all()
    assert verify(tmp_path / "p", X).holds
