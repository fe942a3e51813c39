"""Row-sparse loadings: what they select, how fast, and of what size.

Rankings of pixels that no printed table has, judged as those of the printed one (``python -m
reproduction glrm-1``), beside the printed models: lengths and variances of columns, centred models,
random pixels, and "exactly": the model whose loadings live on as many pixels as are judged, found
for 10, 50, 100 and 150. Lengths of columns do as well as a model whose penalty is too small to
select, and for the nearest neighbour random pixels are better than any: bright pixels are
neighbours, and neighbours near copies.

Against scikit-learn's SparsePCA in the same run: iterations and processor seconds of one thread at
rank 50 and penalty 1e-5, and the ratio of the seconds.

Corrupted rows: rank 3 in 8 of 40 columns of 60 rows, six of which are moved far away in the other
columns; the share of the 8 that is found by the 8 longest loadings, mean of 20 tables.

Large tables: seconds of a fit, and by how much the peak of memory rises above the table itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from columnist.lowrank import QuadraticPCA, SparseLoadings
from reproduction.data import Data, MissingData
from reproduction.lowrank_tables import (
    FACES,
    RANK,
    SIZES,
    faces,
    measure,
    models,
    ranked_by_loadings,
)

__all__ = ["TITLE", "rows", "tables"]

TITLE = "Row-sparse low-rank models"

EXACT_SIZES, QUICK_SIZES = (10, 50, 100, 150), (10, 20)
ALPHA = 1e-5
N_RANDOM = 5
MEASURES = ("1-NN accuracy", "NMI", "clustering accuracy")


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """All questions."""
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*rankings(sets, quick), *corrupted(quick), *large(quick)]


def tables(rows: list[Row]) -> dict[str, list[Row]]:
    """One table per question."""
    titles = {
        "rankings": "Features ranked by their loadings, and otherwise",
        "speed": "Iterations and time against SparsePCA",
        "corrupt": "Share of the true features found",
        "large": "Large tables",
    }
    return {
        title: [
            {key: value for key, value in row.items() if key != "part"}
            for row in rows
            if row["part"] == part
        ]
        for part, title in titles.items()
    }


# -- rankings -----------------------------------------------------------------------


def pictures(sets: Sets, quick: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Faces with their persons; a few digits for a quick run."""
    if quick:
        X, y = load_digits(return_X_y=True)
        yield "digits", X[:150] / 16.0, y[:150]
        return
    for name in FACES:
        if sets.only and name not in sets.only:
            continue
        try:
            yield name, *faces(Data(sets.folder or "no data folder"), name)
        except MissingData as missing:
            sets.say(f"skipped {name}: {missing}")


def rankings(sets: Sets, quick: bool) -> Iterator[Row]:
    """Every ranking on every set, and what the models took."""
    rank, sizes = (5, QUICK_SIZES) if quick else (RANK, SIZES)
    for name, X, y in pictures(sets, quick):
        seconds: dict[str, tuple[float, int]] = {}
        for method, make in models(rank).items():
            took, model = timed(lambda make=make, X=X: make().fit(X), time.process_time)
            seconds[method] = took, getattr(model, "n_iter_", 1)
            yield judged(name, method, [ranked_by_loadings(model)], X, y, sizes)
        for method, ranking in others(X, rank).items():
            yield judged(name, method, [ranking], X, y, sizes)
        rng = np.random.default_rng(0)
        orders = [rng.permutation(X.shape[1]) for _ in range(N_RANDOM)]
        yield judged(name, "random", orders, X, y, sizes)
        yield from exactly(name, X, y, rank, quick)
        yield from speed(name, seconds)


def others(X: np.ndarray, rank: int) -> dict[str, np.ndarray]:
    """No model at all, and the models on centred data."""
    options = {"alpha": ALPHA, "centering": "mean", "random_state": 0}
    return {
        "column length": np.argsort(-np.linalg.norm(X, axis=0), kind="stable"),
        "variance": np.argsort(-X.var(axis=0), kind="stable"),
        "QuadraticPCA, centred": QuadraticPCA(rank, centering="mean").fit(X).ranking_,
        "quadratic, centred": SparseLoadings(rank, **options).fit(X).ranking_,
        "robust, centred": SparseLoadings(rank, loss="robust", **options).fit(X).ranking_,
    }


def judged(name: str, method: str, orders: list[np.ndarray], X, y, sizes) -> Row:
    """Mean measures over the sizes and orders."""
    found = [measure(X[:, order[:size]], y) for order in orders for size in sizes]
    return row_of(name, method, found)


def exactly(name: str, X, y, rank: int, quick: bool) -> Iterator[Row]:
    """Models whose loadings live on as many features as are judged."""
    for loss in ("quadratic",) if quick else ("quadratic", "robust"):
        found = []
        for size in QUICK_SIZES if quick else EXACT_SIZES:
            model = SparseLoadings(
                min(rank, size), loss=loss, n_features_to_select=size, random_state=0
            )
            found.append(measure(X[:, model.fit(X).selected_], y))
        yield row_of(name, f"{loss}, exactly", found)


def row_of(name: str, method: str, found: list[tuple[float, float, float]]) -> Row:
    """Means of the measures."""
    means = np.mean(found, axis=0)
    print(f"{name:12s} {method:24s} " + " ".join(f"{v:.3f}" for v in means), file=sys.stderr)
    row = {"part": "rankings", "set": name, "method": method}
    return row | dict(zip(MEASURES, map(float, means), strict=True))


def speed(name: str, seconds: dict[str, tuple[float, int]]) -> Iterator[Row]:
    """Iterations and seconds of every model, and how many times faster than SparsePCA."""
    theirs, their_iterations = seconds["SparsePCA"]
    for method, (took, iterations) in seconds.items():
        yield {
            "part": "speed",
            "set": name,
            "method": method,
            "iterations": iterations,
            "seconds": took,
            "their iterations / ours": their_iterations / iterations,
            "their seconds / ours": theirs / took,
        }


# -- corrupted rows -----------------------------------------------------------------


def corrupted(quick: bool) -> Iterator[Row]:
    """Both losses, with and without corrupted rows."""
    for n_corrupt in (0, 6):
        row: Row = {"part": "corrupt", "corrupted rows": n_corrupt, "rows": 60}
        for loss in ("quadratic", "robust"):
            row[loss] = float(
                np.mean([recovered(seed, n_corrupt, loss) for seed in range(2 if quick else 20)])
            )
        yield row


def recovered(seed: int, n_corrupt: int, loss: str) -> float:
    """Share of the 8 true features among the 8 selected ones."""
    rng = np.random.default_rng(seed)
    loadings = np.zeros((40, 3))
    loadings[:8] = rng.standard_normal((8, 3))
    A = rng.standard_normal((60, 3)) @ loadings.T + 0.3 * rng.standard_normal((60, 40))
    A[:n_corrupt, 8:] += 10.0 * rng.standard_normal((n_corrupt, 32))
    model = SparseLoadings(3, loss=loss, n_features_to_select=8, random_state=0).fit(A)
    return float(np.mean(model.selected_ < 8))


# -- large tables -------------------------------------------------------------------

LARGE = """
import json, resource, sys, time
import numpy as np, scipy.sparse as sp
from columnist.lowrank import SparseLoadings, alpha_max
n, p, density, options = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
if density:
    X = sp.random_array((n, p), density=density, format="csr", rng=rng)
else:
    X = rng.standard_normal((n, 10)) @ (rng.standard_normal((10, p)) * (np.arange(p) < 100) * 2.0)
    for rows in np.array_split(np.arange(n), 20):
        X[rows] += rng.standard_normal((len(rows), p))
loss = options.get("loss", "quadratic")
if "share" in options:
    options["alpha"] = options.pop("share") * alpha_max(X, loss=loss)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, start = peak(), time.perf_counter()
model = SparseLoadings(10, random_state=0, **options).fit(X)
print(json.dumps([time.perf_counter() - start, before, peak(), int(model.n_iter_),
                  len(model.selected_)]))
"""


def large(quick: bool) -> Iterator[Row]:
    """Fits in processes of their own, whose memory can be told."""
    dense, sparse = ((200, 300), (300, 2000)) if quick else ((2000, 5000), (20_000, 200_000))
    cases = [
        ("quadratic", *dense, 0.0, {"share": 0.3}),
        ("quadratic, exactly 100", *dense, 0.0, {"n_features_to_select": 100}),
        ("robust", *dense, 0.0, {"share": 0.3, "loss": "robust"}),
        ("quadratic, sparse", *sparse, 100.0 / sparse[1], {"share": 0.5}),
    ]
    for method, n, p, density, options in cases:
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            LARGE,
            json.dumps([n, p, density, options]),
        ]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, before, after, iterations, selected = json.loads(run.stdout)
        yield {
            "part": "large",
            "model": method,
            "rows": n,
            "columns": p,
            "seconds": seconds,
            "iterations": iterations,
            "selected": selected,
            "peak before [MB]": before,
            "peak after [MB]": after,
        }
