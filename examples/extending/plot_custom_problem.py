"""
Search another problem: representative rows
===========================================

The search engine is not limited to columns. It chooses *k* of *n* items for any problem that can
bound partial choices. Here the items are rows: which flowers of the iris data best represent all
150, if every flower is assigned to its nearest representative? This is the *k*-medoids problem,
which is usually solved by heuristics. A class of fifty lines solves it with a proof.
"""

# %%
# The problem
# -----------
# The gain of an item never increases when other items are added before it. The sum of the largest
# current gains is therefore an upper bound on the total gain of any completion.

import numpy as np

from columnist.search import Branches, Demand


class Medoids:
    """Choose columns of a distance matrix (samples x items) with the least sum of row minima."""

    exact = True  # value() is the true error of a complete choice

    def __init__(self, distances, size):
        self.distances, self.size = distances, size
        self.n_items = distances.shape[1]
        self.farthest = distances.max(axis=1)  # where every sample is before anything is chosen

    def _nearest(self, chosen):
        near = self.distances[:, np.asarray(chosen, dtype=int)].min(axis=1, initial=np.inf)
        return np.minimum(near, self.farthest)

    def root(self):
        return np.empty(0, dtype=np.int32), np.arange(self.n_items, dtype=np.int32)

    def root_bounds(self):
        error = self.farthest.sum()
        savings = error - self.completion_errors([], np.arange(self.n_items))
        return max(error - np.sort(savings)[-self.size :].sum(), 0.0), error

    def value(self, subset):
        return float(self._nearest(subset).sum())

    def completion_errors(self, chosen, candidates):
        nearest = self._nearest(chosen)[:, None]
        return np.minimum(nearest, self.distances[:, candidates]).sum(axis=0)

    def cost(self):
        return 2e-9 * self.distances.size

    def expand(self, chosen, candidates, demand: Demand, worker: int) -> Branches:
        left = self.size - len(chosen)
        errors = self.completion_errors(chosen, candidates)
        if left == 1:
            best = np.argsort(errors, kind="stable")[: demand.n_best]
            goals = [(errors[i], (*chosen, candidates[i])) for i in best]
            return Branches(np.inf, goals=[g for g in goals if g[0] < demand.threshold])
        f = self._bounds(self.value(chosen), errors, left)
        kept = f < demand.threshold
        if kept.sum() < left:
            return Branches(np.inf)  # too few items are left for a better choice
        weight = errors[kept] if demand.weight == "u" else np.empty(0)
        return Branches(f.min(), candidates[kept], f[kept], weight)

    def _bounds(self, error, errors, left):
        """Bound of each child: its own error minus the largest savings of left - 1 others."""
        savings = error - errors
        top = np.sort(savings)[::-1][:left]
        # A child among the top ones must not count itself again.
        others = np.where(savings >= top[-1], top.sum() - savings, top[:-1].sum())
        rounding = 1e-12 * error
        return np.maximum(errors - others - rounding, 0.0)


# %%
# The search
# ----------
# Nothing else is needed: the engine provides the order, the limits, the runners-up and the proof.

from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import scale

# [search]
from columnist.search import get_policy, search

iris = load_iris()
X = scale(iris.data)
problem = Medoids(pairwise_distances(X), size=3)

greedy = search(problem, get_policy("greedy"))
best = search(problem, get_policy("optimal"), n_solutions=3)
print(best.status, best.solutions)
# [/search]

# %%
# The best representatives, with the two runners-up, are proven. For comparison, the greedy choice:

error, rows = greedy.solutions[0]
print(f"{100 * (error / best.solutions[0][0] - 1):.1f} % worse: {rows}")

# %%
import matplotlib.pyplot as plt

error, rows = best.solutions[0]
group = np.argmin(problem.distances[:, rows], axis=1)
figure, axes = plt.subplots(layout="constrained")
for i, (color, marker) in enumerate(zip(["#0072B2", "#D55E00", "#009E73"], "os^", strict=True)):
    members = iris.data[group == i]
    axes.plot(members[:, 2], members[:, 3], marker, ls="none", color=color, alpha=0.5)
    axes.plot(*iris.data[rows[i], 2:], marker, color=color, ms=14, mec="black", mew=1.5)
axes.set(
    xlabel="petal length (cm)", ylabel="petal width (cm)", title="Three proven representatives"
)
plt.show()
