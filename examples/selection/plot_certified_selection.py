"""
Keep eight of thirty measurements, and defend the choice
========================================================

A laboratory takes thirty measurements of every sample and wants to take only eight. Which ones? A
popular recipe reads them off a principal component analysis. This example certifies the recipe,
finds the best eight, and shows what stands behind the proof.
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
# Somebody's choice
# -----------------
# The recipe: for each of the first eight components, take the measurement with the largest
# loading that is not taken yet.

recipe: list[int] = []
for loadings in PCA(8).fit(X).components_:
    order = np.argsort(-np.abs(loadings))
    recipe.append(next(int(i) for i in order if i not in recipe))
print(*X.columns[recipe], sep="\n")

# %%
# How good is that? :func:`~columnist.certify` answers for a selection made by anyone. The gap says
# how much of the recipe's error could have been avoided, and ``better`` names columns that avoid
# it.

from columnist import certify

certificate = certify(X, recipe)
certificate

# %%
print(*X.columns[list(certificate.better)], sep="\n")

# %%
# The best choice
# ---------------
# :class:`~columnist.ColumnSelector` finds these eight directly. We also ask for the runners-up:
# that the winner is best says little if twenty other sets are nearly as good.

from columnist import ColumnSelector

selector = ColumnSelector(8, n_solutions=5).fit(X)
best = set(selector.selected_)
for columns in selector.solutions_[1:]:
    print(f"{100 * (columns.error / selector.error_ - 1):.2f} % worse")
    print("   with", *X.columns[sorted(set(columns) - best)], sep="  ")
    print("   without", *X.columns[sorted(best - set(columns))], sep="  ")

# %%
# What the search did
# -------------------
# The best error found comes down, the proven bound comes up. When they meet, no choice is left
# that could be better.

import matplotlib.pyplot as plt

from columnist.plotting import RepresentativeDisplay, SearchProgressDisplay

SearchProgressDisplay.from_estimator(selector)
plt.show()

# %%
# What is lost
# ------------
# Every dropped measurement is rebuilt from the kept ones by linear regression. The bars tell how
# well; the groups tell which kept measurement is closest to each dropped one.

RepresentativeDisplay.from_estimator(selector)
plt.show()

# %%
# The weakest bars are the price of the choice. If one of them matters more than the others, say
# so: ``include`` forces a column into the selection, and the certificate then speaks about the
# best choice among those that contain it.

weakest = X.columns[np.argmin(selector.column_r2_)]
constrained = ColumnSelector(8, include=[weakest]).fit(X)
loss = 100 * (constrained.error_ / selector.error_ - 1)
print(f"with {weakest}: error +{loss:.2f} %, {constrained.certificate_.status}")
