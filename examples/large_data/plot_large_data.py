"""
Rows that never come together
=============================

Sixty sensors report for months. Their readings fill more disks than memory, or arrive in batches
and are gone. Which six sensors stand for all, and how sure is that after the first day?

The error of a choice depends on means and inner products of columns alone, and those can be summed
up batch by batch, anywhere. So nobody has to hold all rows: neither for the choice nor for its
proof.
"""

# %%
# A stream
# --------
# Sensors sit in six rooms. Those of a room follow the same course, each with noise of its own.

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
# After every batch the best choice so far is proven again, for the rows seen so far. Few rows
# flatter it: six columns explain the noise of few rows well. How good was the early choice really?
# :func:`~columnist.certify` tells, once all rows have been seen.

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
# Rows that lie in a file too large for memory, or on several machines, are a Dask collection. Here
# the blocks are made when they are visited; ``dask.array.from_zarr`` or
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
