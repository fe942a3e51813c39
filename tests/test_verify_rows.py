"""Proofs about rows: written, checked, and judged by enumeration and by forged files."""

import itertools
import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from columnist import verify
from columnist.criteria import get_criterion
from columnist.robust import RobustPCA
from tests.forging import resealed


def fit(path, X, r, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RobustPCA(r, n_outliers=k, proof=path, random_state=0, **options).fit(X)


def error(X, removed, r, centering, criterion="frobenius"):
    """The error of what is left, from singular values."""
    X = X - X.mean(axis=0) if centering == "mean" else X
    kept = np.delete(X, list(removed), axis=0)
    kept = kept - kept.mean(axis=0) if centering == "optimal" else kept
    values = np.linalg.svd(kept, compute_uv=False)[r:]
    return float(get_criterion(criterion).value(values if len(values) else np.zeros(1)))


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_of_few_sets(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 12)), int(rng.integers(2, 14))
    X = rng.standard_normal((n, p)) * 2.0 ** int(rng.integers(-100, 100))
    if seed % 4 == 1:
        X = rng.integers(-2, 3, (n, p)).astype(float)
    if seed % 4 == 2:
        X += 100.0 * X.max()
    r, k = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    centering = str(rng.choice(["optimal", "mean", "none"]))
    criterion = str(rng.choice(["frobenius", "frobenius", "nuclear", "spectral", "schatten:3"]))
    if criterion != "frobenius" and X.max() > 1e20:
        X /= X.max()
    model = fit(tmp_path / "p", X, r, k, centering=centering, criterion=criterion)
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds, (seed, str(verdict))
    assert verdict.claim["selection"] == model.outliers_.tolist()
    errors = [error(X, s, r, centering, criterion) for s in itertools.combinations(range(n), k)]
    assert verdict.claim["lower_bound"] <= min(errors) + 1e-8 * max(errors)


def wine():
    return scale(load_wine().data)


@pytest.mark.parametrize("centering", ["optimal", "mean", "none"])
def test_blocks(tmp_path, centering):
    X = wine()
    model = fit(tmp_path / "p", X, 2, 8, centering=centering)
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds, str(verdict)
    assert verdict.rules["tail sum"] > 0
    assert verdict.claim["lower_bound"] >= 0.99 * model.certificate_.lower_bound
    assert not verify(tmp_path / "p", X[::-1]).holds


@pytest.mark.parametrize("seed", range(12))
def test_blocks_are_judged_by_enumeration(tmp_path, seed, monkeypatch):
    """The same proof by blocks where all sets can be tried; bounds above the optimum are refuted
    with the same blocks."""
    from columnist.robust import _proven

    monkeypatch.setattr(_proven, "_SETS", 0)
    rng = np.random.default_rng(seed)
    n, p, k = int(rng.integers(10, 15)), int(rng.integers(3, 7)), int(rng.integers(2, 4))
    X = rng.standard_normal((n, p)) * np.linspace(3, 1, p)
    X[: seed % 3] *= 4.0
    centering = str(rng.choice(["optimal", "mean", "none"]))
    model = fit(tmp_path / "p", X, 1, k, centering=centering)
    verdict = verify(tmp_path / "p", X)
    assert verdict.holds, str(verdict)
    errors = {s: error(X, s, 1, centering) for s in itertools.combinations(range(n), k)}
    order = sorted(errors, key=errors.get)
    assert tuple(model.outliers_) == order[0]
    for place in (1, 2, 5):
        header = json.loads((tmp_path / "p").read_bytes().partition(b"\n")[0])
        some, worse = list(order[place]), errors[order[place]]
        header["claim"] |= {
            "selection": some, "solutions": [some], "errors": [worse], "error": worse,
            "lower_bound": worse,
        }  # fmt: skip
        assert not verify(resealed(tmp_path / "p", header), X).holds


def test_limited_search(tmp_path):
    X = load_iris().data
    model = fit(tmp_path / "p", scale(X), 2, 20, time_limit=1.0)
    verdict = verify(tmp_path / "p", scale(X))
    assert verdict.holds, str(verdict)
    assert 0.0 < verdict.claim["lower_bound"] <= model.certificate_.error


CLAIMS = {
    "bound raised": {"lower_bound": 1.001}, "error lowered": {"error": 0.999, "errors": 0.999},
    "all lowered": {"error": 0.999, "errors": 0.999, "lower_bound": 0.999},
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_forged_claims(tmp_path, name):
    X = wine()
    fit(tmp_path / "p", X, 2, 6)
    header = json.loads((tmp_path / "p").read_bytes().partition(b"\n")[0])
    for key, factor in CLAIMS[name].items():
        old = header["claim"][key]
        header["claim"][key] = [factor * old[0]] if isinstance(old, list) else factor * old
    assert not verify(resealed(tmp_path / "p", header), X).holds


def test_what_cannot_be_proven(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 5))
    with pytest.raises(ValueError, match="proof is not available for 12 of 60 rows"):
        fit(tmp_path / "p", X, 1, 12, criterion="nuclear")
    with pytest.raises(ValueError, match="proof is not available with max_distance"):
        fit(tmp_path / "p", X, 1, 12, max_distance=1.0)
    with pytest.raises(ValueError, match="no folder"):
        fit(tmp_path / "none" / "p", X, 1, 2)
    assert list(tmp_path.iterdir()) == []


def test_damaged_files(tmp_path):
    X = wine()
    fit(tmp_path / "p", X, 2, 6)
    content = (tmp_path / "p").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        (tmp_path / "q").write_bytes(bytes(changed)[: None if rng.random() < 0.7 else -5])
        try:
            assert not verify(tmp_path / "q", X).holds
        except ValueError as problem:
            assert "proof" in str(problem)
