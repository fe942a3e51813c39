"""
Missing values: select without filling
======================================

Replacing missing values by the means of their columns reduces the correlations between columns.
Here 30 % of the values of the breast-cancer data are removed at random, several times. Five columns
are selected from the remaining values, once with filled means and once with a covariance matrix
estimated by the EM algorithm (``missing="covariance"``). The selections are compared by their error
on the *complete* data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from columnist import ColumnSelector
from columnist.metrics import reconstruction_error

X = StandardScaler().fit_transform(load_breast_cancer().data)
best = ColumnSelector(5, centering="mean").fit(X).relative_error_


def gaps(share, seed):
    """The data with values removed at random, standardised by what is left."""
    rng = np.random.default_rng(seed)
    return StandardScaler().fit_transform(np.where(rng.random(X.shape) < share, np.nan, X))


# %%
# One draw
# --------
#
# The certificate states what it holds for, and the share of missing values.
Z = gaps(0.3, seed=0)
selector = ColumnSelector(5, centering="mean", missing="covariance").fit(Z)
selector.certificate_

# %%
# ``transform`` returns the selected columns with their missing values.
print(np.isnan(selector.transform(Z)).mean(axis=0).round(2))

# %%
# Against filling
# ---------------
#
# Each method is used on three draws; the errors are those of the complete data.
methods = {"filled with means": "mean", "missing='covariance'": "covariance"}
errors = {label: [] for label in methods}
for seed in range(3):
    Z = gaps(0.3, seed)
    for label, method in methods.items():
        if method == "mean":
            chosen = ColumnSelector(5, centering="mean").fit(SimpleImputer().fit_transform(Z))
        else:
            chosen = ColumnSelector(5, centering="mean", missing=method).fit(Z)
        error = reconstruction_error(X, chosen.selected_, centering="mean", relative=True)
        errors[label].append(100 * error)

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
for place, values in enumerate(errors.values()):
    ax.plot(values, [place] * len(values), "o", markersize=9, alpha=0.6)
ax.axvline(100 * best, color="black", linestyle="--", linewidth=1)
ax.annotate("best columns", (100 * best, 0.5), xytext=(5, 0), textcoords="offset points")
ax.set(yticks=range(len(errors)), yticklabels=errors, ylim=(-0.5, len(errors) - 0.5))
ax.set_xlabel("unexplained variance of the complete data [%]")
plt.show()

# %%
# Both choices are proven for the data that they see. Filled data are other data: their best columns
# are not those of the complete ones.
