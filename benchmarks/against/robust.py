"""Subspaces with outliers.

Rows around a subspace, a fifth of them outliers, in a tight cluster or scattered, five draws each;
and images of the digit 0 with a tenth of other digits among them. Angles are the largest principal
ones, in degrees, to the true subspace (digits: to the PCA of the zeros alone). "Found" is the share
of the outliers among as many rows as there are outliers, those farthest from the subspace. Time is
that of one draw. TrimmedPCA and RobustPCA are told the number of outliers, the others are not;
RobustPCA has two seconds for its proof. Plain PCA shows what is at stake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.against.area import Area, Problem
from benchmarks.against.protocol import Contender, Outcome
from benchmarks.measure import Row
from tests.robust.samples import contaminated, largest_angle

__all__ = ["AREA"]

# Rows, columns, components, outliers.
SIZES = [(100, 10, 2, 20), (200, 50, 3, 40), (100, 200, 3, 20)]
KINDS = ("clustered", "scattered")
DRAWS = 5


def problems(sets, quick: bool) -> Iterator[Problem]:
    """Generated rows, then images."""
    for size in SIZES[:1] if quick else SIZES:
        for kind in KINDS[:1] if quick else KINDS:
            yield generated(size, kind, 2 if quick else DRAWS)
    if not quick:
        yield zeros()


def generated(size: tuple[int, int, int, int], kind: str, draws: int) -> Problem:
    """Outliers come first; the truth is their number and the axes of each draw."""
    made = [contaminated(*size, np.random.default_rng(seed), kind=kind) for seed in range(draws)]
    truth = size[3], [axes for _, axes in made]
    return Problem(kind, [{"X": X} for X, _ in made], {"n_components": size[2]}, truth)


def zeros(r: int = 5) -> Problem:
    """Images of the digit 0, after a tenth as many images of other digits."""
    images, digits = load_digits(return_X_y=True)
    good = images[digits == 0]
    k = len(good) // 10
    others = images[digits != 0]
    bad = others[np.random.default_rng(0).choice(len(others), k, replace=False)]
    axes = np.linalg.svd(good - good.mean(axis=0), full_matrices=False)[2][:r]
    return Problem(
        "zeros of digits", [{"X": np.vstack([bad, good])}], {"n_components": r}, (k, [axes])
    )


def contenders(problem: Problem, quick: bool) -> list[Contender]:
    """Ours, then the others."""
    r = dict(problem.given)
    told = r | {"n_outliers": problem.truth[0]}
    limit = {"time_limit": 0.5 if quick else 2.0}
    ours = {
        "ROBPCA": r | {"random_state": 0},
        "TrimmedPCA": told,
        "RobustPCA": told | limit,
    }
    return [
        *(
            Contender("columnist", name, "ours.robust", "ROBPCA", given | {"estimator": name})
            for name, given in ours.items()
        ),
        Contender("rrcov", "PcaHubert", "rrcov.hubert", "ROBPCA", r),
        Contender("robpy", "ROBPCA", "robpy.robpca", "ROBPCA", r),
        Contender("robpy", "PCALocantore", "robpy.spherical", "ROBPCA", r),
        Contender("scikit-learn", "MinCovDet", "sklearn.determinant", "ROBPCA", r),
        Contender("scikit-learn", "PCA, not robust", "sklearn.pca", "ROBPCA", r),
    ]


def check(problem: Problem, answer: Mapping[str, Any]) -> None:
    """Orthonormal axes and a centre."""
    r, p = problem.given["n_components"], problem.cases[0]["X"].shape[1]
    axes = axes_of(answer, r, p)
    if not np.allclose(axes @ axes.T, np.eye(r), atol=1e-6):
        raise ValueError("axes are not orthonormal")
    if np.shape(answer["centre"]) != (p,):
        raise ValueError("no centre")


def axes_of(answer: Mapping[str, Any], r: int, p: int) -> np.ndarray:
    """Axes as rows; R sends them one after the other. Fewer than r axes are an error."""
    return np.asarray(answer["axes"], dtype=float).reshape(r, p)


def judge(problem: Problem, outcomes: Mapping[str, Outcome]) -> dict[str, Row]:
    """Angles and outliers, over the draws."""
    k, subspaces = problem.truth
    found: dict[str, Row] = {}
    for name, outcome in outcomes.items():
        angles, shares = [], []
        for case, truth, answer in zip(problem.cases, subspaces, outcome.answers, strict=True):
            axes = axes_of(answer, *truth.shape)
            angles.append(largest_angle(axes, truth))
            shares.append(share_found(case["X"], axes, np.asarray(answer["centre"]), k))
        found[name] = {
            "median angle": float(np.median(angles)),
            "largest angle": max(angles),
            "found [%]": 100.0 * float(np.mean(shares)),
        }
    return found


def share_found(X: np.ndarray, axes: np.ndarray, centre: np.ndarray, k: int) -> float:
    """Share of the first k rows among the k farthest from the subspace."""
    residual = X - centre
    residual -= residual @ axes.T @ axes
    farthest = np.argsort(-np.linalg.norm(residual, axis=1), kind="stable")[:k]
    return float(np.mean(farthest < k))


AREA = Area(
    "robust",
    "Subspaces with outliers",
    (__doc__ or "").partition("\n\n")[2].strip(),
    problems,
    contenders,
    check,
    judge,
    ("median angle", "largest angle", "found [%]"),
)
