"""
Principal components of data with outliers
==========================================

Twelve of two hundred samples come from another source. They are only a small part of the data, but
they distort the principal components. Finding them by eye is easy in two dimensions and impossible
in ten; proving that the best rows are removed is a search problem.
"""

# %%
# Data with outliers
# ------------------
# The regular samples vary along three directions. The outliers form a cluster away from them.

import numpy as np

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 10)) * [6, 4, 3, 1, 1, 1, 1, 1, 1, 1] + 20
X[:12] = 20 + 0.5 * rng.standard_normal((12, 10))
X[:12, 5:8] += 9

# %%
# Classical PCA finds a component towards the outliers. The angle between the true subspace and that
# of the three components measures the error.

from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA


def degrees_off(components):
    return np.degrees(subspace_angles(components.T, np.eye(10)[:, :3]).max())


print(f"PCA of all rows:   {degrees_off(PCA(3).fit(X).components_):.0f} degrees off")
print(f"PCA of good rows:  {degrees_off(PCA(3).fit(X[12:]).components_):.0f} degrees off")

# %%
# The best rows to remove
# -----------------------
# Of more than :math:`10^{18}` sets of twelve rows, :class:`~columnist.robust.RobustPCA` finds the
# one whose removal leaves the smallest error, and proves that no other is better.

from columnist.robust import RobustPCA

robust = RobustPCA(3, n_outliers=12, random_state=0).fit(X)
print(robust.certificate_)
print(f"\nRobustPCA:         {degrees_off(robust.components_):.0f} degrees off")

# %%
# Why these rows?
# ---------------
# The outlier map shows two distances of each sample: the orthogonal distance from the subspace, and
# the score distance within it. The dashed lines are cut-offs; 97.5% of regular samples lie below
# each of them.

import matplotlib.pyplot as plt

from columnist.plotting import OutlierMapDisplay, ScreeDisplay

OutlierMapDisplay.from_estimator(robust, X)
plt.show()

# %%
# The scree plot confirms this: the third component of all rows is the direction of the outliers.
# Without the outliers this direction does not stand out.

ScreeDisplay.from_estimator(robust, X)
plt.show()

# %%
# How many outliers?
# ------------------
# The path shows the error for every number of removed rows. Outliers in a cluster mask one another,
# so removing the first few reduces the error only a little. Removing the last of them reduces it
# most, and removing regular rows after that has almost no effect.

from columnist.plotting import OutlierPathDisplay
from columnist.robust import outlier_path

path = outlier_path(X, 3, 20, time_limit=20.0, random_state=0)
OutlierPathDisplay.from_path(path)
plt.show()

# %%
# Removing too many rows does little harm: ``predict`` flags rows by distance, so regular samples
# that were removed are usually not flagged.

generous = RobustPCA(3, n_outliers=30, time_limit=5.0, random_state=0).fit(X)
flagged = np.flatnonzero(generous.predict(X) == -1)
print(f"{len(generous.outliers_)} removed, {len(flagged)} flagged, the bad source among them:")
print(flagged)

# %%
# Other methods
# -------------
# The other robust methods on the same data:

from columnist.robust import (
    HRPCA,
    ROBPCA,
    CoherencePursuit,
    LeverageOutliers,
    OutlierPursuit,
    TrimmedPCA,
)

others = {
    "TrimmedPCA": TrimmedPCA(3, n_outliers=12),
    "ROBPCA": ROBPCA(3, random_state=0),
    "OutlierPursuit": OutlierPursuit(n_components=3, n_outliers=12),
    "CoherencePursuit": CoherencePursuit(3, n_outliers=12),
    "HRPCA": HRPCA(3, n_outliers=12, random_state=0),
    "LeverageOutliers": LeverageOutliers(3, n_outliers=12),
}
for name, estimator in others.items():
    estimator.fit(X)
    found = np.count_nonzero(estimator.outliers_ < 12)
    print(f"{name:17} {degrees_off(estimator.components_):3.0f} degrees off, {found:2} of 12 found")
