"""
Explain a target, or add a few components
=========================================

This example shows two variants of certified selection. With a target ``y`` the columns have to
explain ``y`` instead of each other: this is best-subset regression, with a proof. With
``n_components`` a few extracted features are added to the selected columns.
"""

# %%
# Best-subset regression
# ----------------------
# Ten baseline variables of 442 patients, and a measure of how their diabetes progressed a year
# later. The path finds the best regression for every number of variables.

import numpy as np
from sklearn.datasets import load_diabetes

from columnist import ColumnSelector, selection_path

X, y = load_diabetes(return_X_y=True, as_frame=True)
path = selection_path(X, 9, y=y, centering="mean")
for step in path:
    print(step.certificate.status, *X.columns[step.selection])

# %%
# Two popular heuristics on the same data: forward selection adds the variable that reduces the
# error most and never removes one; the lasso takes variables in the order in which they enter its
# path.

from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, lars_path


def residual_sum(columns) -> float:
    """Squared residual of y after regression on the columns."""
    Z = X.iloc[:, columns]
    return float(np.square(y - LinearRegression().fit(Z, y).predict(Z)).sum())


_, order, _ = lars_path(X.to_numpy(), y.to_numpy() - y.mean(), method="lasso")
order = list(dict.fromkeys(order))


def forward(size: int) -> np.ndarray:
    """Scikit-learn's forward selection by cross-validated R²."""
    selector = SequentialFeatureSelector(LinearRegression(), n_features_to_select=size)
    return selector.fit(X, y).get_support(indices=True)


excess_lasso = [100 * (residual_sum(order[:k]) / e - 1) for k, e in enumerate(path.errors, 1)]
excess_forward = [100 * (residual_sum(forward(k)) / e - 1) for k, e in enumerate(path.errors, 1)]

# %%
# All of these are compared by the squared residual on the same data. The proven optimum shows how
# far the heuristics are from it.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(layout="constrained")
axes.axhline(0.0, color="#0072B2", lw=2, label="best subset, proven")
axes.plot(path.sizes, excess_forward, "o-", color="#D55E00", label="forward selection")
axes.plot(path.sizes, excess_lasso, "s--", color="#009E73", label="order of the lasso")
axes.set(xlabel="number of variables", ylabel="residual above the best possible (%)")
axes.legend(frameon=False)
plt.show()

# %%
# ``y`` may be a matrix, and class labels become one indicator column per class. Integers count as
# labels too: pass measured integers as floating point numbers, ``y.astype(float)``.
#
# Columns plus components
# -----------------------
# Now the thirteen measurements of the wine data represent each other again, by six numbers per
# wine. Components explain more than columns, but to compute a component all columns must be
# measured. ``n_components`` combines both: columns and components are chosen *jointly*.

from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

wine = load_wine(as_frame=True).data
wine = StandardScaler().set_output(transform="pandas").fit_transform(wine)
budget = 6

jointly, one_after_other = [], []
for n_columns in range(1, budget + 1):
    rest = budget - n_columns
    hybrid = ColumnSelector(n_columns, n_components=rest).fit(wine)
    jointly.append(100 * hybrid.relative_error_)
    alone = ColumnSelector(n_columns).fit(wine)
    residual = wine - alone.reconstruct(alone.transform(wine))
    left = np.linalg.svd(residual, compute_uv=False)[rest:]
    one_after_other.append(100 * np.sum(left**2) / np.sum(wine.to_numpy() ** 2))
    print(n_columns, rest, hybrid.certificate_.status, *hybrid.get_feature_names_out())

# %%
# Six components without any columns leave:

floor = 100 * (1 - PCA(budget).fit(wine).explained_variance_ratio_.sum())
print(f"{floor:.2f} %")

# %%
# The joint choice is never worse than selecting columns first and extracting components afterwards,
# and usually better, for the same number of columns and components.

figure, axes = plt.subplots(layout="constrained")
sizes = np.arange(1, budget + 1)
axes.plot(sizes, one_after_other, "s--", color="#D55E00", label="columns first, then components")
axes.plot(sizes, jointly, "o-", color="#0072B2", label="chosen jointly, proven")
axes.axhline(floor, color="0.4", ls=":", label="components only (PCA)")
axes.set(
    xlabel=f"columns among the {budget} kept numbers; the rest are components",
    ylabel="error (% of the squared Frobenius norm of X)",
    ylim=(0.95 * floor, None),
)
axes.legend(frameon=False)
plt.show()

# %%
# ``transform`` returns the selected columns followed by the extracted features, so a hybrid
# selector can replace PCA in a pipeline.

hybrid = ColumnSelector(3, n_components=3).set_output(transform="pandas").fit(wine)
hybrid.transform(wine).head()
