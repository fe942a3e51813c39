"""How long does a fit take that was given two seconds?

Wall clock from the call until ``fit`` (or ``certify``, or a path) returned, beside the limit and
what the certificate says. Problems that are far too large to be proven in that time: in all of
them the limit ends the search, so whatever comes late is a stage that did not look at the clock.
"Late" may be two seconds at most. For a path, the certificate is that of its last step.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist import ColumnSelector, certify, selection_path
from columnist.robust import RobustPCA, outlier_path

__all__ = ["TITLE", "Sizes", "cases", "rows"]

TITLE = "Seconds until an answer, with a limit of 2 s"

LIMIT, LATE = 2.0, 2.0


@dataclass(frozen=True)
class Sizes:
    """Rows and columns of the cases, columns to choose, rows to remove."""

    wide: tuple[int, int] = (500, 5000)
    middle: tuple[int, int] = (1500, 617)
    sparse: tuple[int, int] = (2000, 5000)
    tall: tuple[int, int] = (20_000, 20)
    k: int = 20
    outliers: int = 2000
    removed: int = 50


QUICK = Sizes((50, 120), (60, 40), (80, 120), (300, 8), 4, 20, 5)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per case; the data are made, so no set is needed."""
    sizes, limit = (QUICK, 0.2) if quick else (Sizes(), LIMIT)
    return [measured(name, run, limit) for name, run in cases(sizes)]


def measured(name: str, run: Callable[[float], Any], limit: float) -> Row:
    """One call, and what its certificate says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a proof is incomplete is no news here
        seconds, answer = timed(lambda: run(limit))
    certificate = certificate_of(answer)
    print(f"  {name}: {seconds:.1f} s", file=sys.stderr, flush=True)
    return {
        "case": name,
        "limit [s]": limit,
        "seconds": seconds,
        "late [s]": max(seconds - limit, 0.0),
        "in time": seconds <= limit + LATE,
        "elapsed [s]": certificate.elapsed,
        "status": certificate.status,
        "gap [%]": 100 * certificate.gap,
    }


def certificate_of(answer: Any):
    """The certificate of an estimator or of the last step of a path; or the answer itself."""
    if hasattr(answer, "certificate_"):
        return answer.certificate_
    return answer if hasattr(answer, "status") else list(answer)[-1].certificate


def cases(sizes: Sizes) -> Iterator[tuple[str, Callable[[float], Any]]]:
    """Names, and calls that take the limit."""
    k = sizes.k
    X, Z, S = wide(*sizes.wide), middle(*sizes.middle), sparse(*sizes.sparse)
    Y = np.random.default_rng(1).standard_normal((len(Z), 10))
    T = tall(*sizes.tall, sizes.outliers)

    def select(data, target=None, size=k, **options):
        return lambda limit: ColumnSelector(size, time_limit=limit, **options).fit(data, target)

    n = {"wide": X.shape[1], "middle": Z.shape[1]}
    yield f"{n['wide']} columns, nuclear", select(X, criterion="nuclear")
    yield f"{n['middle']} columns, nuclear", select(Z, criterion="nuclear")
    yield (
        f"certify, {n['middle']} columns, nuclear",
        lambda limit: certify(Z, range(k), criterion="nuclear", time_limit=limit),
    )
    yield (
        f"selection_path, {n['middle']} columns, nuclear",
        lambda limit: selection_path(Z, k, criterion="nuclear", time_limit=limit),
    )
    yield f'"auto" with tol, {n["wide"]} columns', select(X, size="auto", tol=0.1)
    yield f"sparse, {S.shape[0]} x {S.shape[1]}", select(S)
    yield f"{n['middle']} columns, ten targets", select(Z, Y)
    yield (
        f"outlier_path, {Z.shape[0]} x {Z.shape[1]}",
        lambda limit: outlier_path(Z, 2, sizes.removed, time_limit=limit, random_state=0),
    )
    yield (
        f"RobustPCA, {T.shape[0]} x {T.shape[1]}, {sizes.outliers} outliers",
        lambda limit: RobustPCA(
            3, n_outliers=sizes.outliers, time_limit=limit, random_state=0
        ).fit(T),
    )  # fmt: skip


def wide(m: int, n: int) -> np.ndarray:
    """A fifth of the rows in rank, and noise."""
    rng = np.random.default_rng(0)
    rank = max(m // 5, 1)
    signal = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    return signal + 0.3 * rng.standard_normal((m, n))


def middle(m: int, n: int) -> np.ndarray:
    """Full rank, with singular values that fall slowly."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n)) / np.sqrt(np.arange(1, n + 1))
    return X @ rng.standard_normal((n, n))


def sparse(m: int, n: int) -> sp.csr_matrix:
    """One entry of a hundred."""
    return sp.random(m, n, 0.01, format="csr", random_state=0)


def tall(m: int, n: int, outliers: int) -> np.ndarray:
    """Rows near a subspace, and some that are anywhere."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n))
    X[:, :3] *= 10.0
    X[:outliers] = 12.0 * rng.standard_normal((outliers, n))
    return X
