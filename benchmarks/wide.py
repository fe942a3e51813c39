"""Very wide sparse data: what does a selection of 100 columns cost, in time, memory and passes?

20,000 x 3,200,000, about 100 ones a row, the popularity of the columns falling like 1/rank (the
shape of the first document's Day1, where its search took one to five hours). Every selector runs
in a process of its own; "peak" is that process, data and interpreter included. A pass is one
product X'q, timed in the same process. Nothing is made dense: forward selection takes three passes
a step, and before the first step the kernel XX' once, in blocks of rows, for the energy of every
column; that is most of its time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.data import Sets
from benchmarks.measure import Row, best_of, timed
from columnist.datasets import make_wide_sparse

__all__ = ["TITLE", "popular_columns", "rows"]

TITLE = "Very wide sparse data"
SELECTORS = ("NormSampler", "LeverageSampler", "fkv_ge", "lev_ge", "ForwardSelector")
FULL, SMALL = (20_000, 3_200_000, 100), (300, 20_000, 10)


def popular_columns(m: int, n: int, per_row: int, seed: int = 0) -> sp.csc_array:
    """A 0/1 matrix whose column of rank j has a share of ones proportional to 1/j."""
    rng = np.random.default_rng(seed)
    return make_wide_sparse(m, n, per_row=per_row, n_informative=1, random_state=rng)[0]


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per selector."""
    shape, k = (SMALL, 10) if quick else (FULL, 100)
    names = SELECTORS[:1] if quick else SELECTORS
    return [in_its_own_process(name, shape, k) for name in names]


def in_its_own_process(name: str, shape: tuple[int, int, int], k: int) -> Row:
    """Measure one selector where nothing else has used memory."""
    code = f"from benchmarks import wide; wide.measure({name!r}, {shape!r}, {k!r})"
    home = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=home, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure(name: str, shape: tuple[int, int, int], k: int) -> None:
    """Fit one selector and print what it took as JSON."""
    import resource

    from columnist import selection

    X = popular_columns(*shape)
    if name in ("fkv_ge", "lev_ge"):
        selector = getattr(selection.TwoStageSelector, name)(k, random_state=0)
        name = f"TwoStageSelector.{name}"
    else:
        options = {} if name == "ForwardSelector" else {"random_state": 0}
        selector = getattr(selection, name)(k, **options)
    seconds, fitted = timed(lambda: selector.fit(X), time.process_time)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    q = np.random.default_rng(1).standard_normal(X.shape[0])
    one_pass, _ = best_of(lambda: X.T @ q, clock=time.process_time)
    row = {
        "set": f"{X.shape[0]} x {X.shape[1]}, {X.nnz} ones",
        "k": k,
        "selector": name,
        "relative error": fitted.relative_error_,
        "seconds": seconds,
        "peak [GB]": peak,
        "ms of a pass": 1e3 * one_pass,
        "passes": seconds / one_pass,
    }
    print(json.dumps(row))
