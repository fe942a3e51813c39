"""
Features that agree with classes or neighbours
==============================================

A feature is relevant if it takes similar values at similar samples. Which samples are similar can
come from classes, from neighbours, or from both; whether features are judged one by one or
together decides how many copies of the same information are kept.
"""

# %%
# Handwritten digits
# ------------------
# 1797 images of 8 x 8 pixels. Each pixel is a feature, and neighbouring pixels say much the same.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from columnist.metrics import redundancy_rate
from columnist.spectral import MCSF, MRSF, FisherScore, LaplacianScore, ReliefF

X, y = load_digits(return_X_y=True)
X = X[:, X.std(axis=0) > 0.0]
train, test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# Ten pixels, five ways
# ---------------------
# The first scores a pixel without classes, by the neighbours it keeps together; two more score it
# by the classes, each pixel by itself. The last two choose pixels that explain the classes
# *together*.

selectors = {
    "LaplacianScore": LaplacianScore(10),
    "FisherScore": FisherScore(10),
    "ReliefF": ReliefF(10),
    "MCSF": MCSF(10),
    "MRSF": MRSF(10),
}
print(f"{'':16s}{'1-NN accuracy':>14s}{'redundancy':>12s}")
for name, selector in selectors.items():
    kept = selector.fit(train, y_train).selected_
    nearest = KNeighborsClassifier(1).fit(train[:, kept], y_train)
    accuracy = nearest.score(test[:, kept], y_test)
    print(f"{name:16s}{accuracy:14.3f}{redundancy_rate(train, kept):12.3f}")

# %%
# Where the pixels are
# --------------------
# Scores of single pixels crowd where the digits differ most; sets spread out.

places = np.flatnonzero(load_digits().data.std(axis=0) > 0.0)
figure, axes = plt.subplots(1, len(selectors), figsize=(11, 2.6), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    image = np.zeros(64)
    image[places[selector.selected_]] = np.arange(10, 0, -1)
    ax.imshow(image.reshape(8, 8), cmap="Blues", vmin=0, vmax=12)
    ax.set_title(name, fontsize=10)
    ax.set(xticks=[], yticks=[])

# %%
# Who scored what
# ---------------
# :class:`~columnist.plotting.FeatureScoresDisplay` draws the ranking of any selector with scores.

from sklearn.datasets import load_wine

from columnist.plotting import FeatureScoresDisplay

wine = load_wine(as_frame=True)
FeatureScoresDisplay.from_estimator(ReliefF(4).fit(wine.data, wine.target))

# %%
# The path of MRSF
# ----------------
# As the penalty falls, features enter one after the other. At every knot the conditions that
# describe the exact solution hold to rounding.

path = MRSF(30).fit(train, y_train).path_
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.step(path.alpha, path.n_active, where="post", color="#0072B2")
left.set(xlabel="penalty", ylabel="features in the model")
left.invert_xaxis()
right.plot(path.n_active, path.residual, marker=".", color="#0072B2")
right.set(xlabel="features in the model", ylabel="length of what is unexplained")
print(f"largest violation of the optimality conditions: {path.kkt.max():.1e}")

# %%
# Any other similarity
# --------------------
# A similarity is a name, a function, or a matrix: here, a graph of neighbours with half of its
# weight on classes.

from columnist.spectral import (
    SpectralSelector,
    fisher_similarity,
    knn_similarity,
    weighted_similarity,
)

both = weighted_similarity([knn_similarity(train), fisher_similarity(y_train)])
SpectralSelector(10, similarity=both).fit(train).selected_
