"""
Categories and a budget
=======================

Which measurements should a clinic take to predict the course of diabetes, if each has a cost? Some
columns are cheap questions, some are blood tests, and two are categories, whose indicator columns
are selected together. For every budget, the search finds the best set of measurements and proves
how good it is.
"""

# %%
# The data
# --------
# The body mass index is converted to a category, as in a questionnaire. ``dummies`` creates one
# column for each level, and a :class:`~columnist.constraints.Groups` so that they are selected
# together.

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from columnist.constraints import dummies

data = load_diabetes(as_frame=True, scaled=False)
frame, y = data.data.drop(columns="sex"), data.target
frame["sex"] = np.where(data.data["sex"] == 1, "a", "b")
frame["bmi"] = pd.cut(frame["bmi"], [0, 22, 25, 30, 99], labels=["low", "normal", "high", "obese"])
X, groups = dummies(frame)
print(*X.columns)

# %%
# The prices
# ----------
# The cost of a group is the sum of the costs of its columns, so the cost of the category is divided
# among its levels.

prices = {"age": 0, "sex": 0, "bmi": 1, "bp": 2}
prices |= {"s1": 4, "s2": 4, "s3": 4, "s4": 2, "s5": 6, "s6": 3}
labels = np.array(groups.labels)
costs = {c: prices[g] / np.sum(labels == g) for c, g in zip(X.columns, labels, strict=True)}

# %%
# One budget
# ----------

from columnist import ColumnSelector
from columnist.constraints import Budget

selector = ColumnSelector(centering="mean", constraints=[groups, Budget(costs, 10)]).fit(X, y)
print(*selector.get_feature_names_out())
print(selector.certificate_)

# %%
# Every budget
# ------------
# The usual heuristic is greedy selection by gain per cost. Here the error of the best set equals
# its bound for every budget: the curve is proven, and shows how much a larger budget lowers the
# error.

import matplotlib.pyplot as plt

from columnist.selection import budget_path

budgets = range(31)
path = budget_path(X, costs, budgets, y=y, constraints=[groups], centering="mean")
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.step(budgets, path.relative_errors, where="post", label="error of the selection")
axis.fill_between(
    budgets, path.lower_bounds / path.total, path.relative_errors, step="post", alpha=0.3,
    label="not excluded",
)  # fmt: skip
axis.set(xlabel="budget", ylabel="unexplained variance")
axis.legend()
plt.show()
