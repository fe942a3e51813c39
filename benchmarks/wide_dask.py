"""Very wide sparse data on a cluster: what does a selection of 100 columns cost?

20,000 x 3,200,000 with about 100 ones a row (the data of "Very wide sparse data"), in files of
2,500 rows, as a Dask array with sparse chunks on two worker processes of one thread each. A fit
reads the files, deals the columns out to the workers, and visits them there: "passes" says how
often, "MB sent" and "MB back" what went to all parts and came back. "ratio" is the time of a fit
divided by that of k products X(X'q) with the whole matrix in memory, one thread, measured after the
fit. "load" is what the machine had to do when the fit began, one for each busy thread.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.clusters import local_cluster
from benchmarks.data import Sets
from benchmarks.measure import Row, timed
from benchmarks.wide import popular_columns

__all__ = ["TITLE", "measure", "read", "rows", "selectors", "write"]

TITLE = "Very wide sparse data on a cluster"
# Rows, columns, ones a row, rows of a file, columns to select.
FULL, SMALL = (20_000, 3_200_000, 100, 2_500, 100), (300, 20_000, 10, 100, 10)


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per selector."""
    m, n, per_row, height, k = SMALL if quick else FULL
    X = popular_columns(m, n, per_row)
    with tempfile.TemporaryDirectory() as folder:
        paths = write(X, Path(folder), height)
        with local_cluster(2) as client:
            client.run(_prepare)
            return [measure(name, each, X, paths)[0] for name, each in selectors(k).items()]


def selectors(k: int) -> dict[str, Any]:
    """What is measured."""
    from columnist.selection import ForwardSelector, NormSampler, TwoStageSelector

    return {
        "NormSampler": NormSampler(k, random_state=0),
        "TwoStageSelector.fkv_ge": TwoStageSelector.fkv_ge(k, random_state=0),
        "TwoStageSelector.lev_ge": TwoStageSelector.lev_ge(k, random_state=0),
        "ForwardSelector": ForwardSelector(k),
    }


def write(X: sp.csc_array, folder: Path, height: int) -> list[Path]:
    """One file for every few rows."""
    by_rows, paths = X.tocsr(), []
    for start in range(0, X.shape[0], height):
        paths.append(folder / f"{start}.npz")
        sp.save_npz(paths[-1], by_rows[start : start + height], compressed=False)
    return paths


def read(paths: list[Path], shape: tuple[int, int]):
    """The files as a Dask array with sparse chunks."""
    import dask.array as da
    from dask.delayed import delayed

    height = -(-shape[0] // len(paths))
    heights = [min(height, shape[0] - start) for start in range(0, shape[0], height)]
    empty = sp.csr_array((0, 0))
    parts = [
        da.from_delayed(delayed(sp.load_npz)(path), (rows, shape[1]), np.float64, meta=empty)
        for path, rows in zip(paths, heights, strict=True)
    ]
    return da.concatenate(parts)


def measure(name: str, selector, X: sp.csc_array, paths: list[Path]) -> tuple[Row, Any]:
    """Fit one selector on the current cluster; what it took, and the selector."""
    from benchmarks.counting import count_cost

    load, k = os.getloadavg()[0], selector.get_params().get("n_features_to_select")
    k = selector.second.n_features_to_select if k is None else k
    with count_cost() as cost:
        seconds, fitted = timed(lambda: selector.fit(read(paths, X.shape)))
    q = np.random.default_rng(1).standard_normal(X.shape[0])
    bare, _ = timed(lambda: [X @ (X.T @ q) for _ in range(k)])
    row = {
        "set": f"{X.shape[0]} x {X.shape[1]}, {X.nnz} ones",
        "k": k,
        "selector": name,
        "relative error": fitted.relative_error_,
        "seconds": seconds,
        "k products [s]": bare,
        "ratio": seconds / bare,
        "passes": cost.passes,
        "MB sent": cost.broadcast / 1e6,
        "MB back": cost.reduced / 1e6,
        "load": load,
    }
    return row, fitted


def _prepare() -> None:
    """Import what a fit needs: that is no part of it."""
    import columnist.distributed._blocks
    import columnist.selection  # noqa: F401
