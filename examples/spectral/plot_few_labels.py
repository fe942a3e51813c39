"""
A few labels and many samples
=============================

Labels are expensive, samples are cheap. With three labelled samples a class, a score that looks at
labels alone picks features by luck; a graph of all samples sees clusters, but not which of them
matter. :class:`~columnist.spectral.SemiSupervisedSelector` asks both.
"""

# %%
# Two structures, one of interest
# -------------------------------
# Ten features tell three classes apart. Ten others tell in which of two laboratories a sample was
# measured, which nobody asked. Sixty are noise.

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
# How many of the ten are found?
# ------------------------------
# Ten studies for every number of labels.

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
# From three labels a class on, the mixture finds more than the graph; up to a dozen, more than the
# labels, which then need no help. The graph alone stays where it is: it cannot know that the
# laboratory is of no interest.
