"""The comparison with other robust PCA programs: what it computes itself, and what it skips."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import robust_peers
from benchmarks.data import Sets
from columnist.robust._robpca import ROBPCA
from tests.robust.samples import contaminated, largest_angle
from tests.tools import not_installed


def pretended(X, r):
    """What rrcov would return if it were this package with given pairs of rows."""
    pairs = ROBPCA(r)._pairs(len(X), np.random.default_rng(5))
    ours = robust_peers.SameDirections(r, random_state=0, cutoff="classical")
    ours.given = pairs
    ours.fit(X)
    return {
        "loadings": ours.components_,
        "pairs": pairs,
        "kept": np.isin(np.arange(len(X)), ours.outliers_, invert=True).astype(float),
        "eigenvalues": ours.explained_variance_,
        "cutoffs": np.array([ours.score_cutoff_, ours.orthogonal_cutoff_]),
    }


def test_programs_that_are_missing_are_skipped(monkeypatch):
    skipped = []
    monkeypatch.setattr(robust_peers, "has_rrcov", lambda: False)
    monkeypatch.setattr(robust_peers, "version", missing_package)
    rows = robust_peers.synthetic([(40, 6, 2, 6)], 1, 5.0, skipped.append)
    assert any("rrcov" in line for line in skipped) and any("robpy" in line for line in skipped)
    first = next(row for row in rows if row["table"] == "Subspaces")
    assert first["rrcov"] == first["robpy"] == first["angle to rrcov"] == ""
    assert first["ROBPCA"] < first["good rows"] + 3.0
    assert {row.get("estimator") for row in rows} >= {"RobustPCA", "ROBPCA", "ROBPCA, flags"}
    assert all(row["error ratio"] >= 1.0 - 1e-9 for row in rows if "error ratio" in row)
    assert robust_peers.real(Sets(None, say=skipped.append), quick=True) == []


def missing_package(name):
    raise robust_peers.PackageNotFoundError(name)


def test_with_the_same_directions_nothing_differs():
    X, _ = contaminated(40, 30, 2, 8, np.random.default_rng(0))
    row = robust_peers.same_directions(X, 2, pretended(X, 2))
    assert row["angle to rrcov"] < 1e-6
    assert row["flags differ"] == 0 and row["flags"] >= 8
    assert row["eigenvalues differ"] < 1e-12 and row["cut-off differs"] < 1e-12


def test_results_of_the_script_are_read():
    text = "loadings 1 0 0 0 1 0\npairs 1 2 3 1\nkept 1 0\neigenvalues 4 2\n"
    found = robust_peers.parsed(text, 3)
    np.testing.assert_array_equal(found["loadings"], np.eye(2, 3))
    np.testing.assert_array_equal(found["pairs"], [[0, 1], [2, 0]])
    assert robust_peers.parsed("error no MCD here", 3) == {"error": "fails: no MCD here"}


def test_farthest_rows_are_about_their_own_mean():
    X, truth = contaminated(60, 8, 2, 12, np.random.default_rng(1), kind="clustered")
    out = robust_peers.farthest(X + 5.0, truth, 12)
    np.testing.assert_array_equal(np.sort(out), np.arange(12))
    good = X[12:] - X[12:].mean(axis=0)
    sigma = np.linalg.svd(good, compute_uv=False)
    assert robust_peers.error_without(X, out, 2) == pytest.approx(np.sum(sigma[2:] ** 2))


def test_shares_beyond_the_cutoffs():
    found = robust_peers.false_alarms([(60, 6, 2)], ["scattered"], repeats=2)
    assert [row["estimator"] for row in found] == ["TrimmedPCA"] * 2 + ["ROBPCA"] * 2
    for row in found:
        for name in ("seen", "new"):
            parts = row[f"{name} score"], row[f"{name} orthogonal"]
            assert max(parts) <= row[f"{name} either"] <= sum(parts) + 1e-9
        assert 0.0 <= row["outliers missed"] <= 100.0


def test_estimators_are_condensed_over_seeds():
    row = {"table": "Estimators", "set": "s", "estimator": "e", "missed [%]": 0.0, "proven": True}
    rows = [row | {"seed": s, "angle": a, "error ratio": 1.0 + s} for s, a in enumerate((3.0, 1.0))]
    other = {"table": "Subspaces", "set": "s", "seed": 0}
    condensed = robust_peers.tables([*rows, other])
    (line,) = condensed["Estimators"]
    assert (line["median angle"], line["largest angle"], line["proven"]) == (2.0, 3.0, "2 of 2")
    assert (line["least error ratio"], line["largest"]) == (1.0, 2.0)
    assert condensed["Subspaces"] == [{"set": "s", "seed": 0}]


def test_subspace_flags_and_variances_of_rrcov():
    """All pairs of rows (22), and the 250 that rrcov takes of more (40)."""
    if not robust_peers.has_rrcov():
        not_installed("R with rrcov")
    problems = [
        robust_peers.Problem(contaminated(n, 12, 2, 4, np.random.default_rng(n))[0], 2, mcd=False)
        for n in (22, 40)
    ]
    for problem, fit in zip(problems, robust_peers.rrcov(problems, print), strict=True):
        assert len(fit["pairs"]) == min(len(problem.X) * (len(problem.X) - 1) // 2, 250)
        row = robust_peers.same_directions(problem.X, 2, fit, mcd=False)
        assert row["angle to rrcov"] < 1e-6 and row["flags differ"] == 0
        assert row["eigenvalues differ"] < 1e-9
        own = ROBPCA(2, mcd=False, random_state=0).fit(problem.X)
        if len(problem.X) == 22:
            assert largest_angle(own.components_, fit["loadings"]) < 1e-6
