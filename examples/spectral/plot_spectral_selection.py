"""
Rank features by classes or neighbours
======================================

A feature is relevant if it takes similar values at similar samples. The similarity can be based on
classes, on neighbours, or on both. Features that are scored one by one can be redundant; features
that are selected jointly are less so.
"""

# %%
# Handwritten digits
# ------------------
# The data are 1797 images of 8 x 8 pixels. Each pixel is a feature, and neighbouring pixels are
# redundant.

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
# Ten pixels by five methods
# --------------------------
# The first method scores each pixel without classes, by a graph of neighbours; the next two score
# each pixel by the classes. The last two select pixels that explain the classes *jointly*.

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
# Positions of the pixels
# -----------------------
# Pixels with high individual scores are concentrated where the digits differ most; pixels that are
# selected jointly are spread out.

places = np.flatnonzero(load_digits().data.std(axis=0) > 0.0)
figure, axes = plt.subplots(1, len(selectors), figsize=(11, 2.6), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    image = np.zeros(64)
    image[places[selector.selected_]] = np.arange(10, 0, -1)
    ax.imshow(image.reshape(8, 8), cmap="Blues", vmin=0, vmax=12)
    ax.set_title(name, fontsize=10)
    ax.set(xticks=[], yticks=[])

# %%
# Scores of the features
# ----------------------
# :class:`~columnist.plotting.FeatureScoresDisplay` draws the ranking of any selector with scores.

from sklearn.datasets import load_wine

from columnist.plotting import FeatureScoresDisplay

wine = load_wine(as_frame=True)
FeatureScoresDisplay.from_estimator(ReliefF(4).fit(wine.data, wine.target))
plt.show()

# %%
# The path of MRSF
# ----------------
# As the penalty decreases, features enter the model one after the other. At every knot the
# optimality conditions hold up to rounding.

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
# A similarity is given by a name, a function, or a matrix. Here it is a graph of neighbours with
# half of the weight on classes.

from columnist.spectral import (
    SpectralSelector,
    fisher_similarity,
    knn_similarity,
    weighted_similarity,
)

both = weighted_similarity([knn_similarity(train), fisher_similarity(y_train)])
SpectralSelector(10, similarity=both).fit(train).selected_
