"""
Data that do not fit in memory
==============================

Sixty sensors report for months. Their readings do not fit in memory, or arrive in batches and are
not stored. Which six sensors best represent all of them, and how reliable is the selection after
the first readings?

The error of a selection depends only on the means and inner products of the columns, which can be
accumulated batch by batch. So neither the selection nor its proof needs all rows at once.
"""

# %%
# A stream
# --------
# The sensors are in six rooms. Those of one room measure the same signal, each with its own noise.

import matplotlib.pyplot as plt
import numpy as np

from columnist import ColumnSelector, certify
from columnist.distributed import RunningMoments

ROOMS, SENSORS = 6, 60
fixed = np.random.default_rng(0)
gain = fixed.uniform(0.7, 1.3, SENSORS)
noise = fixed.uniform(0.3, 1.0, SENSORS)


def readings(batch: int, n_rows: int) -> np.ndarray:
    """Rows of one batch."""
    rng = np.random.default_rng([1, batch])
    rooms = rng.standard_normal((n_rows, ROOMS))
    return rooms[:, np.arange(SENSORS) % ROOMS] * gain + noise * rng.standard_normal(
        (n_rows, SENSORS)
    )


stream = RunningMoments()
history = []
for batch in range(30):
    n_rows = int(20 * 1.3**batch)
    stream.partial_fit(readings(batch, n_rows))
    selector = ColumnSelector(ROOMS).fit(stream)
    history.append((stream.n_samples_seen_, selector))
print(f"{stream.n_samples_seen_:,} rows, of which {n_rows:,} were held at once")
print(selector.certificate_)

# %%
# After every batch the best selection is proven for the rows seen so far. With few rows the error
# is too small, because six columns explain the noise of few rows well. :func:`~columnist.certify`
# evaluates the early selections on all rows.

seen = np.array([rows for rows, _ in history])
errors = np.array([fitted.relative_error_ for _, fitted in history])
choices = [tuple(fitted.selected_) for _, fitted in history]
verdicts = {choice: certify(stream, choice) for choice in set(choices)}
total = selector.error_ / selector.relative_error_
later = np.array([verdicts[choice].error / total for choice in choices])
excess = np.array([verdicts[choice].gap for choice in choices])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(seen, 100 * errors, marker=".", label="on the rows seen so far: the optimum")
left.plot(seen, 100 * later, marker=".", label="the same choice on all rows")
left.set(xscale="log", xlabel="rows seen", ylabel="error (% of the readings' energy)")
left.legend(frameon=False)
right.step(seen, 100 * excess, where="post")
right.set(
    xscale="log", xlabel="rows seen", ylabel="error beyond the best choice (%)", ylim=(0, None)
)
right.set_title("When the choice settles")
plt.show()

# %%
# Files and clusters
# ------------------
# Rows in a file larger than memory, or on several machines, are given as a Dask collection. Here
# the blocks are generated when they are needed; ``dask.array.from_zarr`` or
# ``dask.dataframe.read_parquet`` would read them. With a ``distributed.Client`` the same line runs
# on its workers.

import dask.array as da
from dask import delayed

from columnist.distributed import watch

sizes = [int(20 * 1.3**batch) for batch in range(30)]
blocks = [
    da.from_delayed(delayed(readings)(batch, size), shape=(size, SENSORS), dtype=float)
    for batch, size in enumerate(sizes)
]
rows = da.concatenate(blocks)
passes = []
with watch(lambda done, total: passes.append(total) if done == total else None):
    by_blocks = ColumnSelector(ROOMS).fit(rows)
print(rows.shape, "in", rows.numblocks[0], "blocks")
print("the same choice:", bool((by_blocks.selected_ == selector.selected_).all()))
print(f"{len(passes)} pass over {passes[0]} blocks")
