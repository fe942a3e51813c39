"""
Select eight of thirty measurements, with a proof
=================================================

A laboratory takes thirty measurements of every sample and wants to take only eight. Which ones? A
popular heuristic selects them by a principal component analysis. This example evaluates the
heuristic, finds the best eight measurements, and shows how the proof was found.
"""

# %%
# The data
# --------
# 569 tumours, thirty measurements, each scaled to mean zero and variance one.

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

X = load_breast_cancer(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(X)

# %%
# A heuristic selection
# ---------------------
# For each of the first eight components, select the measurement with the largest loading that is
# not selected yet.

recipe: list[int] = []
for loadings in PCA(8).fit(X).components_:
    order = np.argsort(-np.abs(loadings))
    recipe.append(next(int(i) for i in order if i not in recipe))
print(*X.columns[recipe], sep="\n")

# %%
# :func:`~columnist.certify` evaluates any selection, including ones made by other tools. The gap is
# the share of the error that a better selection can avoid, and ``better`` is such a selection.

from columnist import certify

certificate = certify(X, recipe)
certificate

# %%
print(*X.columns[list(certificate.better)], sep="\n")

# %%
# The best selection
# ------------------
# :class:`~columnist.ColumnSelector` finds these eight directly. We also ask for the next best
# selections, to see how close they are.

from columnist import ColumnSelector

selector = ColumnSelector(8, n_solutions=5).fit(X)
best = set(selector.selected_)
for columns in selector.solutions_[1:]:
    print(f"{100 * (columns.error / selector.error_ - 1):.2f} % worse")
    print("   with", *X.columns[sorted(set(columns) - best)], sep="  ")
    print("   without", *X.columns[sorted(best - set(columns))], sep="  ")

# %%
# Progress of the search
# ----------------------
# The best error found decreases, and the proven lower bound increases. When they meet, no other
# selection can be better.

import matplotlib.pyplot as plt

from columnist.plotting import RepresentativeDisplay, SearchProgressDisplay

SearchProgressDisplay.from_estimator(selector)
plt.show()

# %%
# Explained variance of the dropped measurements
# ----------------------------------------------
# Every dropped measurement is predicted from the selected ones by linear regression. The bars show
# the explained variance (R²); the groups show which selected measurement represents each dropped
# one best.

RepresentativeDisplay.from_estimator(selector)
plt.show()

# %%
# The shortest bars show what the selection explains worst. If one of these measurements is
# important, ``include`` forces it into the selection. The certificate then refers to the selections
# that contain it.

weakest = X.columns[np.argmin(selector.column_r2_)]
constrained = ColumnSelector(8, include=[weakest]).fit(X)
loss = 100 * (constrained.error_ / selector.error_ - 1)
print(f"with {weakest}: error +{loss:.2f} %, {constrained.certificate_.status}")
