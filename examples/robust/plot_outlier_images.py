"""
Outlier images
==============

The data are twenty-five images of a handwritten zero and five images of other digits. Images of the
same digit lie near a low-dimensional subspace; the others do not.
"""

# %%
# Which five images have to be removed for the best fit with four components?

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
# ``predict`` flags images by their distances, with a calibrated cut-off. It also works for images
# that were not used in the fit.

flags = robust.predict(X) == -1
others = digits[rows] != 0
print(f"flagged: {np.sum(flags & others)} of 5 other digits, {np.sum(flags & ~others)} zeros")

new = np.setdiff1d(np.arange(len(images)), rows)
is_zero = digits[new] == 0
alarms = robust.predict(images[new]) == -1
print(f"new images: {alarms[~is_zero].mean():.0%} of other digits flagged,", end=" ")
print(f"{alarms[is_zero].mean():.0%} of zeros")
