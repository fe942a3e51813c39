"""
Select columns with a custom criterion
======================================

The squared Frobenius norm measures the unexplained variance and is dominated by the largest
residual directions. A sum of logarithms of the residual energies instead approximates the *number*
of residual directions. It is not a norm, but it never decreases when a singular value grows, which
is all that the certified search requires.
"""

# %%
# The criterion is a small class.

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from columnist.criteria import Criterion, check_criterion


@dataclass(frozen=True)
class LogEnergy(Criterion):
    """Sum of log(1 + (σ / scale)²): close to counting the directions above ``scale``."""

    scale: float = 1.0
    name: ClassVar[str] = "log-energy"

    def value(self, singular_values):
        return np.log1p(np.square(np.asarray(singular_values) / self.scale)).sum(axis=-1)


# %%
# A check on random spectra tests whether it is monotone and not changed by zeros; if it fails, it
# shows a counterexample.

# [check]
check_criterion(LogEnergy(scale=0.5))
# [/check]

# %%
# Select three of the thirteen measurements of the wine data by both criteria.

# [select]
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from columnist import ColumnSelector

X = load_wine(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(X)

by_norm = ColumnSelector(3).fit(X)
by_logarithm = ColumnSelector(3, criterion=LogEnergy()).fit(X)
for selector in (by_norm, by_logarithm):
    print(selector.certificate_.status, *selector.get_feature_names_out())
# [/select]

# %%
# The singular values of both residuals:

import matplotlib.pyplot as plt


def leftover(selector):
    """Singular values of X after its projection on the selected columns."""
    Q, _ = np.linalg.qr(X.to_numpy()[:, selector.selected_])
    return np.linalg.svd(X - Q @ (Q.T @ X.to_numpy()), compute_uv=False)


directions = np.arange(1, X.shape[1] + 1)
figure, axes = plt.subplots(layout="constrained")
axes.plot(directions, leftover(by_norm), "o-", label="squared Frobenius norm")
axes.plot(directions, leftover(by_logarithm), "s--", label="log-energy")
axes.set(xlabel="direction", ylabel="singular value of the residual", xlim=(0.5, 10.5))
axes.legend()
plt.show()
