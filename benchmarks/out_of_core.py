"""Data larger than memory: a certified selection against a bare Gram matrix of the same file.

A Zarr file of 20,000,000 x 250 numbers (40 GB), read by two worker processes of one thread each.
"Gram" is ``(X.T @ X).compute()`` by Dask alone, "moments" our pass, which also checks every entry,
takes means, and keeps the digits that squaring loses; "fit" is ``ColumnSelector(10).fit(X)``,
search and proof included. Runs alternate, and each reads the whole file. "peak" is the largest
memory of client and workers together during a fit, interpreters included.

The stored run was made when the 30 s of the search still counted the pass, which used them up: its
status is that of the strong start. The limit begins after the pass now.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clusters import local_cluster
from benchmarks.data import Sets
from benchmarks.measure import Row, timed

__all__ = ["TITLE", "block_of", "measure", "rows", "write"]

TITLE = "Data larger than memory"
# Rows, columns, rows of a block, columns to select, seconds for the search.
FULL = (20_000_000, 250, 100_000, 10, 30.0)
SMALL = (200_000, 20, 10_000, 3, 5.0)
# Columns that go together, and the noise of the best and the worst of them.
_GROUP, _NOISE = 25, (0.02, 1.0)


def block_of(index: int, height: int, width: int) -> np.ndarray:
    """Rows of one block: groups of columns that show the same thing, some clearly, some not."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([7, index])
    loadings, noise = fixed.uniform(0.5, 1.5, width), fixed.uniform(*_NOISE, width)
    common = rng.standard_normal((height, -(-width // _GROUP)))
    X = rng.standard_normal((height, width))
    X *= noise
    X += common[:, np.arange(width) // _GROUP] * loadings
    return X


def write(path: Path, m: int, n: int, height: int) -> Path:
    """Write the blocks one after the other; noise cannot be compressed, so nothing is."""
    import zarr

    array = zarr.create_array(
        store=str(path), shape=(m, n), chunks=(height, n), dtype="float64", compressors=None
    )
    for i, start in enumerate(range(0, m, height)):
        stop = min(start + height, m)
        array[start:stop] = block_of(i, stop - start, n)
    return path


class Peak:
    """Largest memory of this process and its children while the context is open, in GB."""

    def __init__(self):
        import psutil

        self._process = psutil.Process()
        self.gigabytes = 0.0
        self._done = threading.Event()

    def __enter__(self) -> Peak:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        import psutil

        while not self._done.wait(0.05):
            total = 0
            for process in [self._process, *self._process.children(recursive=True)]:
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:  # ended meanwhile
                    continue
            self.gigabytes = max(self.gigabytes, total / 1e9)


def measure(path: Path, k: int, time_limit: float, repeats: int) -> tuple[Row, Any]:
    """Times of all three, and the fitted selector."""
    import dask.array as da

    from columnist import ColumnSelector
    from columnist.distributed import moments

    with local_cluster(2):
        X = da.from_zarr(str(path))
        selector = ColumnSelector(k, time_limit=time_limit)
        jobs: dict[str, Callable[[], Any]] = {
            "fit": lambda: selector.fit(X),
            "moments": lambda: moments(X),
            "Gram": lambda: (X.T @ X).compute(),
        }
        seconds = {name: np.inf for name in jobs}
        with Peak() as peak:  # before Dask alone, whose memory would not be given back
            seconds["fit"] = timed(jobs["fit"])[0]
        for _ in range(repeats):
            for name, job in jobs.items():
                seconds[name] = min(seconds[name], timed(job)[0])
    certificate = selector.certificate_
    row = {
        "set": f"{X.shape[0]} x {X.shape[1]}",
        "GB": X.nbytes / 1e9,
        "k": k,
        "peak [GB]": peak.gigabytes,
        **{f"{name} [s]": value for name, value in seconds.items()},
        "moments / Gram throughput": seconds["Gram"] / seconds["moments"],
        "fit / Gram throughput": seconds["Gram"] / seconds["fit"],
        "status": certificate.status,
        "gap [%]": 100 * certificate.gap,
    }
    return row, selector


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row; the file goes to the folder for temporary files and is removed again."""
    m, n, height, k, time_limit = SMALL if quick else FULL
    folder = Path(tempfile.mkdtemp(prefix="columnist-"))
    try:
        path = write(folder / "data.zarr", m, n, height)
        return [measure(path, k, time_limit, repeats=1 if quick else 2)[0]]
    finally:
        shutil.rmtree(folder)
