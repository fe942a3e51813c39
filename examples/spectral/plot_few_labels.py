"""
Select features with few labels and many samples
================================================

Labels are often expensive, while samples are cheap. With three labelled samples per class, a score
based on labels alone is unreliable; a graph of all samples shows clusters, but not which of them
are of interest. :class:`~columnist.spectral.SemiSupervisedSelector` uses both.
"""

# %%
# Two cluster structures, one of them of interest
# -----------------------------------------------
# Ten features separate three classes. Ten others separate the two laboratories in which the samples
# were measured, which is not of interest. Sixty are noise.

import numpy as np


def study(seed):
    rng = np.random.default_rng(seed)
    classes, laboratory = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    relevant = 1.2 * rng.standard_normal((3, 10))[classes]
    nuisance = rng.standard_normal((2, 10))[laboratory]
    X = np.hstack([relevant, nuisance, np.zeros((200, 60))])
    return X + rng.standard_normal(X.shape), classes


def hide(classes, n_labelled, rng):
    """Keep the label of a few samples of each class; -1 marks the others."""
    known = np.full(len(classes), -1)
    for label in range(3):
        members = np.flatnonzero(classes == label)
        known[rng.choice(members, n_labelled, replace=False)] = label
    return known


# %%
# How many of the ten features are found?
# ---------------------------------------
# The figure shows the mean of ten studies for every number of labels.

from columnist.spectral import FisherScore, LaplacianScore, SemiSupervisedSelector

sizes = [2, 3, 4, 6, 8, 12, 20]
names = ["labels alone", "graph alone", "both"]
found = np.zeros((len(sizes), len(names)))
for row, n_labelled in enumerate(sizes):
    for seed in range(10):
        X, classes = study(seed)
        y = hide(classes, n_labelled, np.random.default_rng(seed))
        fits = [
            FisherScore(10).fit(X[y >= 0], y[y >= 0]),
            LaplacianScore(10).fit(X),
            SemiSupervisedSelector(10, weight=0.5).fit(X, y),
        ]
        found[row] += [np.sum(fit.selected_ < 10) / 10 for fit in fits]

import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for column, (name, style) in enumerate(zip(names, ["s--", ":", "o-"], strict=True)):
    axes.plot(sizes, found[:, column], style, label=name)
axes.set(
    xlabel="labelled samples of each class", ylabel="relevant features among ten", ylim=(0, 10)
)
axes.legend(frameon=False, loc="lower right")
plt.show()

# %%
# With three or more labels per class the combination finds more relevant features than the graph
# alone, and with up to a dozen more than the labels alone. The graph alone does not improve,
# because it cannot distinguish classes from laboratories.
