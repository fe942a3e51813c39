"""How good is robust PCA next to other programs, and how often does it cry wolf?

The others are ``PcaHubert`` of R's rrcov, the reference for ROBPCA, and robpy. What is not
installed is skipped, with a line that says so.

Subspaces: rows around a subspace, a fifth of them outliers, in one tight cluster or scattered;
angles are the largest principal ones, in degrees. rrcov takes the same 250 pairs of rows for its
directions whatever the seed: given these pairs, ROBPCA should find its subspace and flag the same
rows; with random pairs of its own it should be as close to the truth as rrcov, within a degree.
"Good rows" is plain PCA without the outliers, which nobody can be expected to beat.

Estimators: of all outliers, the share that is not among the k rows removed (for ROBPCA, rrcov and
robpy the k farthest from the subspace), and the error of a PCA of the other rows, divided by that
of ``RobustPCA``, which had two seconds for its proof. "Flags" are the rows that rrcov or ROBPCA
flag, however many, against ``RobustPCA`` with as many outliers.

False alarms: shares of good rows beyond the cut-offs for score and orthogonal distances, each 2.5%
if Gaussian distances were known; "seen" are rows of the fit, "new" are others. TrimmedPCA removes a
tenth of clean rows, and the true number of outliers otherwise: a tenth of the rows in a cluster, or
a fifth scattered, four times as far from the subspace as good rows.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row
from columnist.robust._baselines import HRPCA, CoherencePursuit, LeverageOutliers, TrimmedPCA
from columnist.robust._certified import RobustPCA
from columnist.robust._pursuit import OutlierPursuit
from columnist.robust._robpca import ROBPCA
from tests.oracles.outliers import trimmed_error
from tests.robust.samples import contaminated, largest_angle

__all__ = ["TITLE", "rows", "tables"]

TITLE = "Robust PCA against other programs"
SEEDS = 5
KINDS = ("clustered", "scattered")
# Rows, columns, components, outliers.
SIZES = [(100, 10, 2, 20), (200, 50, 3, 40), (100, 200, 3, 20)]
# Real sets and the numbers of components tried.
REAL = {"wine": (2, 4), "iris": (1, 2), "wdbc raw": (3, 6), "glass": (2, 4), "ionosphere": (3, 5)}
# Rows, columns, components.
CLEAN = [
    (100, 5, 2), (500, 5, 2), (100, 20, 3), (50, 20, 3),
    (1000, 50, 5), (100, 100, 3), (50, 200, 3), (200, 1000, 5),
]  # fmt: skip
DIRTY = [(100, 5, 2), (500, 5, 2), (100, 20, 3), (50, 20, 3), (100, 100, 3), (50, 200, 3)]
SHARES = {"": 0.0, "clustered": 0.1, "scattered": 0.2}
REPEATS = 20

# Name -> an estimator that removes k rows.
REMOVERS: dict[str, Callable[[int, int, int], Any]] = {
    "TrimmedPCA": lambda r, k, seed: TrimmedPCA(r, n_outliers=k),
    "OutlierPursuit": lambda r, k, seed: OutlierPursuit(n_components=r, n_outliers=k),
    "CoherencePursuit": lambda r, k, seed: CoherencePursuit(r, n_outliers=k),
    "HRPCA": lambda r, k, seed: HRPCA(r, n_outliers=k, random_state=seed),
    "LeverageOutliers": lambda r, k, seed: LeverageOutliers(r, n_outliers=k),
}


@dataclass(frozen=True)
class Problem:
    """Data, number of components, and whether small data are left to the MCD alone."""

    X: np.ndarray
    n_components: int
    mcd: bool = True


class SameDirections(ROBPCA):
    """ROBPCA along directions through given pairs of rows."""

    given: np.ndarray

    def _pairs(self, n, rng):
        return self.given


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per data set, seed and program, marked with the table it belongs to."""
    seeds, sizes, repeats = (2, SIZES[:1], 2) if quick else (SEEDS, SIZES, REPEATS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            *synthetic(sizes, seeds, 0.5 if quick else 2.0, sets.say),
            *real(sets, quick),
            *false_alarms(CLEAN[:4:3] if quick else CLEAN, [""], repeats),
            *false_alarms(DIRTY[:1] if quick else DIRTY, KINDS, repeats),
        ]


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """Table by table; of the estimators' rows, the spread over the seeds."""
    by_table: dict[str, list[Row]] = {}
    for row in rows:
        plain = {key: value for key, value in row.items() if key != "table"}
        by_table.setdefault(row["table"], []).append(plain)
    if "Estimators" in by_table:
        by_table["Estimators"] = spread(by_table["Estimators"])
    return by_table


def spread(rows: list[Row]) -> list[Row]:
    """One line per data set and estimator."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["set"], row["estimator"]), []).append(row)
    return [
        {
            "set": name,
            "estimator": estimator,
            "median angle": float(np.median([row["angle"] for row in group])),
            "largest angle": max(row["angle"] for row in group),
            "missed [%]": float(np.mean([row["missed [%]"] for row in group])),
            "least error ratio": min(row["error ratio"] for row in group),
            "largest": max(row["error ratio"] for row in group),
            "proven": f"{sum(row['proven'] for row in group)} of {len(group)}",
        }
        for (name, estimator), group in groups.items()
    ]


def synthetic(sizes: Sequence[tuple], seeds: int, limit: float, say) -> list[Row]:
    """Rows of the tables of subspaces and of estimators."""
    samples = {
        (f"{kind} {size[0]} x {size[1]}", seed): (size, kind)
        for kind in KINDS for size in sizes for seed in range(seeds)
    }  # fmt: skip
    made = {
        key: contaminated(*size, np.random.default_rng(key[1]), kind=kind)
        for key, (size, kind) in samples.items()
    }
    theirs = rrcov([Problem(X, samples[key][0][2]) for key, (X, _) in made.items()], say)
    found: list[Row] = []
    for (key, (X, truth)), fit in zip(made.items(), theirs, strict=True):
        k = samples[key][0][3]
        axes = {"rrcov": fit.get("loadings"), "robpy": robpy(X, len(truth), key[1], say)}
        ours = ROBPCA(len(truth), random_state=key[1]).fit(X)
        found.append(subspaces(key, X, truth, k, fit, axes["robpy"], ours))
        flags = {"ROBPCA": ours.outliers_}
        if "kept" in fit:
            flags["rrcov"] = np.flatnonzero(fit["kept"] == 0)
        planes = {"ROBPCA": ours.components_} | {n: a for n, a in axes.items() if a is not None}
        found += estimators(key, X, truth, k, planes, flags, limit)
    return found


def subspaces(key, X, truth, k: int, fit: dict, theirs, ours: ROBPCA) -> Row:
    """Angles of ROBPCA, rrcov and robpy."""
    good = X[k:] - X[k:].mean(axis=0)
    best = np.linalg.svd(good, full_matrices=False)[2][: len(truth)]
    row: Row = {"table": "Subspaces", "set": key[0], "seed": key[1]}
    row |= same_directions(X, len(truth), fit)
    row["rrcov"] = largest_angle(fit["loadings"], truth) if "loadings" in fit else ""
    row["ROBPCA"] = largest_angle(ours.components_, truth)
    row["robpy"] = "" if theirs is None else largest_angle(theirs, truth)
    row["good rows"] = largest_angle(best, truth)
    row["within 1"] = row["ROBPCA"] <= row["rrcov"] + 1.0 if "loadings" in fit else ""
    return row


def same_directions(X: np.ndarray, r: int, fit: dict, mcd: bool = True) -> Row:
    """How far ROBPCA with rrcov's directions is from rrcov."""
    names = ("angle to rrcov", "flags", "flags differ", "eigenvalues differ", "cut-off differs")
    if "loadings" not in fit:
        return dict.fromkeys(names, "")
    ours = SameDirections(r, mcd=mcd, random_state=0, cutoff="classical")
    ours.given = fit["pairs"]
    ours.fit(X)
    flags = np.flatnonzero(fit["kept"] == 0)
    ratios = ours.explained_variance_ / fit["eigenvalues"][:r]
    values = (
        largest_angle(ours.components_, fit["loadings"]),
        len(flags),
        len(np.setxor1d(flags, ours.outliers_)),
        float(np.abs(ratios - 1.0).max()),
        abs(ours.orthogonal_cutoff_ / fit["cutoffs"][1] - 1.0),
    )
    return dict(zip(names, values, strict=True))


def estimators(key, X, truth, k: int, planes, flags, limit: float) -> list[Row]:
    """Angle, outliers missed and error of every estimator."""
    r = len(truth)
    certified = fit_certified(X, r, k, limit)
    chosen = {"RobustPCA": (certified.components_, certified.outliers_, certified)}
    for name, make in REMOVERS.items():
        found = make(r, k, key[1]).fit(X)
        chosen[name] = found.components_, found.outliers_, certified
    for name, axes in planes.items():
        chosen[name] = axes, farthest(X, axes, k), certified
    for name, rows_out in flags.items():
        same_size = fit_certified(X, r, len(rows_out), limit)
        chosen[f"{name}, flags"] = planes[name], rows_out, same_size
    return [
        {
            "table": "Estimators",
            "set": key[0],
            "seed": key[1],
            "estimator": name,
            "angle": largest_angle(axes, truth),
            "missed [%]": 100.0 * len(np.setdiff1d(np.arange(k), out)) / k,
            "error ratio": error_without(X, out, r) / reference.error_,
            "proven": reference.certificate_.status == "optimal",
        }
        for name, (axes, out, reference) in chosen.items()
    ]


def fit_certified(X: np.ndarray, r: int, k: int, limit: float) -> RobustPCA:
    """The certified choice of k outliers."""
    return RobustPCA(r, n_outliers=k, time_limit=limit, random_state=0).fit(X)


def farthest(X: np.ndarray, axes: np.ndarray, k: int) -> np.ndarray:
    """The k rows farthest from a subspace through the mean of the others.

    The mean is found with them, from the median on.
    """
    centre = np.median(X, axis=0)
    for _ in range(20):
        Z = X - centre
        distances = np.linalg.norm(Z - (Z @ axes.T) @ axes, axis=1)
        out = np.argsort(-distances, kind="stable")[:k]
        centre = np.delete(X, out, axis=0).mean(axis=0)
    return out


def error_without(X: np.ndarray, out: np.ndarray, r: int) -> float:
    """Error of a PCA of the other rows."""
    kept = np.setdiff1d(np.arange(len(X)), out)
    return trimmed_error(X, kept, r, centred=True)


def real(sets: Sets, quick: bool) -> list[Row]:
    """ROBPCA with rrcov's directions on real data, raw and standardised."""
    names: list[Row] = []
    problems: list[Problem] = []
    for name, X in sets.these(*(("iris",) if quick else REAL)):
        for scaled in (False, True):
            for r in REAL[name]:
                for mcd in (False, True):
                    names.append({"set": name, "scaled": scaled, "components": r, "mcd": mcd})
                    problems.append(Problem(standardised(X) if scaled else X, r, mcd))
    found = []
    for name, problem, fit in zip(names, problems, rrcov(problems, sets.say), strict=True):
        if fit:
            row = same_directions(problem.X, problem.n_components, fit, problem.mcd)
            found.append({"table": "Real sets"} | name | row | {"rrcov": fit.get("error", "")})
    return found


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns of variance one; constant ones are dropped."""
    X = X[:, np.ptp(X, axis=0) > 0.0]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def false_alarms(sizes: Sequence[tuple], kinds: Sequence[str], repeats: int) -> list[Row]:
    """Shares of good rows beyond the cut-offs."""
    found = []
    for n, p, r in sizes:
        for kind in kinds:
            k = int(SHARES[kind] * n)
            makers = {
                "TrimmedPCA": lambda cut, r=r, k=k: TrimmedPCA(r, n_outliers=k or 0.1, cutoff=cut),
                "ROBPCA": lambda cut, r=r: ROBPCA(r, random_state=0, cutoff=cut),
            }
            for name, make in makers.items():
                for cutoff in ("cross-fitted", "classical"):
                    shares = [beyond(make(cutoff), n, p, r, k, kind, s) for s in range(repeats)]
                    row = {"table": f"False alarms [%], {'with outliers' if k else 'clean rows'}"}
                    row["set"] = f"{n} x {p}, r = {r}" + f", {k} {kind}" * bool(k)
                    found.append(row | {"estimator": name, "cut-offs": cutoff} | average(shares))
    return found


def average(shares: list[dict[str, float]]) -> Row:
    """Means in percent."""
    return {key: float(np.mean([100.0 * share[key] for share in shares])) for key in shares[0]}


def beyond(estimator, n: int, p: int, r: int, k: int, kind: str, seed: int) -> dict[str, float]:
    """Shares of seen and of new good rows beyond the two cut-offs, and of outliers within."""
    rng = np.random.default_rng(seed)
    # Outliers are to be far from the subspace, but not its largest variance.
    spread = np.linspace(3.5, 2.5, r) * (np.sqrt(p - r) if k else 1.0)
    deviations = np.append(spread, np.ones(p - r))
    X, new = (rng.standard_normal((size, p)) * deviations for size in (n, 2000))
    X[:k] = outlying_rows(k, p, r, kind, rng)
    estimator.fit(X)
    shares = {}
    for name, good in (("seen", X[k:]), ("new", new)):
        score, orthogonal = estimator.score_distances(good), estimator.orthogonal_distances(good)
        shares[f"{name} score"] = float(np.mean(score > estimator.score_cutoff_))
        shares[f"{name} orthogonal"] = float(np.mean(orthogonal > estimator.orthogonal_cutoff_))
        shares[f"{name} either"] = float(np.mean(estimator.predict(good) < 0))
    if k:
        shares["outliers missed"] = float(np.mean(estimator.predict(X[:k]) > 0))
    return shares


def outlying_rows(k: int, p: int, r: int, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Four times as far from the subspace as good rows."""
    directions = np.zeros((k, p))
    if kind == "clustered":
        directions[:, r] = 1.0
        return 4.0 * np.sqrt(p - r) * directions + 0.5 * rng.standard_normal((k, p))
    directions[:, r:] = rng.standard_normal((k, p - r))
    return 4.0 * np.sqrt(p - r) * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def rrcov(problems: Sequence[Problem], say) -> list[dict[str, Any]]:
    """Results of rrcov's PcaHubert; empty ones if it is not installed."""
    script = Path(__file__).with_name("rrcov.R")
    if not has_rrcov():
        say("skipped rrcov: R with its package rrcov is not installed")
        return [{} for _ in problems]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = ["name,components,mcd"]
        for place, problem in enumerate(problems):
            np.savetxt(folder / f"{place}.csv", problem.X, delimiter=",", fmt="%.17g")
            lines.append(f"{place},{problem.n_components},{int(problem.mcd)}")
        (folder / "jobs.csv").write_text("\n".join(lines) + "\n")
        subprocess.run(["Rscript", str(script), name], check=True, capture_output=True)
        return [
            parsed((folder / f"{place}.txt").read_text(), problem.X.shape[1])
            for place, problem in enumerate(problems)
        ]


@cache
def has_rrcov() -> bool:
    """Whether R and the package are there."""
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "-e", "quit(status = !requireNamespace('rrcov', quietly = TRUE))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def parsed(text: str, p: int) -> dict[str, Any]:
    """Numbers of one result by name; rows count from 0."""
    fields = dict(line.partition(" ")[::2] for line in text.splitlines())
    if "error" in fields:
        return {"error": f"fails: {fields['error']}"}
    numbers = {key: np.array(value.split(), dtype=float) for key, value in fields.items()}
    pairs = numbers["pairs"].astype(int).reshape(-1, 2) - 1
    return numbers | {"loadings": numbers["loadings"].reshape(-1, p), "pairs": pairs}


def robpy(X: np.ndarray, r: int, seed: int, say) -> np.ndarray | None:
    """Axes of robpy's ROBPCA, or None if it is not installed.

    Its last step turns the axes within the subspace; it needs an old scikit-learn and is left out.
    """
    try:
        version("robpy")
    except PackageNotFoundError:
        if seed == 0:
            say("skipped robpy: not installed")
        return None
    estimator = import_module("robpy.pca").ROBPCA
    found = estimator(n_components=r, final_MCD_step=False, random_seed=seed).fit(X)
    return found.components_.T
