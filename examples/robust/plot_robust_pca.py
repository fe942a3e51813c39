"""
Principal components that ignore outliers
=========================================

Twelve of two hundred samples come from another source. They are a few percent of the data, yet
they turn the principal components. Removing them by eye is easy in two dimensions and
hopeless in ten; removing the right ones *provably* is a search problem.
"""

# %%
# Data with a bad source
# ----------------------
# The good samples vary along three directions. The others sit together, away from all of them.

import numpy as np

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 10)) * [6, 4, 3, 1, 1, 1, 1, 1, 1, 1] + 20
X[:12] = 20 + 0.5 * rng.standard_normal((12, 10))
X[:12, 5:8] += 9

# %%
# Classical PCA takes the bad source for a principal direction. How far its three components are
# from the true ones is an angle.

from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA


def degrees_off(components):
    return np.degrees(subspace_angles(components.T, np.eye(10)[:, :3]).max())


print(f"PCA of all rows:   {degrees_off(PCA(3).fit(X).components_):.0f} degrees off")
print(f"PCA of good rows:  {degrees_off(PCA(3).fit(X[12:]).components_):.0f} degrees off")

# %%
# The best rows to do without
# ---------------------------
# Of more than :math:`10^{18}` sets of twelve rows, :class:`~columnist.robust.RobustPCA` finds the
# one whose removal leaves the smallest error, and proves that no other is better.

from columnist.robust import RobustPCA

robust = RobustPCA(3, n_outliers=12, random_state=0).fit(X)
print(robust.certificate_)
print(f"\nRobustPCA:         {degrees_off(robust.components_):.0f} degrees off")

# %%
# Why these rows?
# ---------------
# The outlier map shows each sample by two distances: how far it lies from the subspace, and how
# far out within it. The dashed lines are cut-offs that 97.5% of good samples respect.

import matplotlib.pyplot as plt

from columnist.plotting import OutlierMapDisplay, ScreeDisplay

OutlierMapDisplay.from_estimator(robust, X)
plt.show()

# %%
# The variances tell the same story: the direction of the outliers, third of all rows, is nothing
# special among the others.

ScreeDisplay.from_estimator(robust, X)
plt.show()

# %%
# How many outliers?
# ------------------
# A path over their number. Rows of a bad source hide one another, so the first few bring little;
# the last ones bring most, and after them good rows bring next to nothing.

from columnist.plotting import OutlierPathDisplay
from columnist.robust import outlier_path

path = outlier_path(X, 3, 20, time_limit=20.0, random_state=0)
OutlierPathDisplay.from_path(path)
plt.show()

# %%
# Too many do little harm: ``predict`` flags by distance, so good samples that were removed are
# taken back.

generous = RobustPCA(3, n_outliers=30, time_limit=5.0, random_state=0).fit(X)
flagged = np.flatnonzero(generous.predict(X) == -1)
print(f"{len(generous.outliers_)} removed, {len(flagged)} flagged, the bad source among them:")
print(flagged)

# %%
# Other ways
# ----------
# The classical methods, on the same data.

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
