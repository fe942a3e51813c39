"""
Strangers among the images
==========================

Twenty-five images of a handwritten zero, and among them five of other digits. Images of one kind
lie near a subspace of few dimensions; the strangers do not.
"""

# %%
# Which five images leave the best fit of four components when they are taken out?

import numpy as np
from sklearn.datasets import load_digits

from columnist.robust import RobustPCA

images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
zeros = rng.choice(np.flatnonzero(digits == 0), 25, replace=False)
others = rng.choice(np.flatnonzero(digits != 0), 5, replace=False)
rows = rng.permutation(np.concatenate([zeros, others]))
X = images[rows]

robust = RobustPCA(4, n_outliers=5, random_state=0).fit(X)
print("removed:", digits[rows][robust.outliers_])
print(robust.certificate_)

# %%
# Removed images have red frames.

import matplotlib.pyplot as plt

from columnist.plotting import OutlierImagesDisplay

OutlierImagesDisplay.from_estimator(robust, X, (8, 8))
plt.show()

# %%
# How far does each lie from the subspace? ``predict`` draws the line by itself, and works for
# images that the fit has not seen.

flags = robust.predict(X) == -1
strangers = digits[rows] != 0
print(f"flagged: {np.sum(flags & strangers)} of 5 strangers, {np.sum(flags & ~strangers)} zeros")

new = np.setdiff1d(np.arange(len(images)), rows)
is_zero = digits[new] == 0
alarms = robust.predict(images[new]) == -1
print(f"new images: {alarms[~is_zero].mean():.0%} of strangers flagged,", end=" ")
print(f"{alarms[is_zero].mean():.0%} of zeros")
