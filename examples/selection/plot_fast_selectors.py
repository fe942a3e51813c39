"""
Compare fast selectors with the certified optimum
=================================================

Most selectors take milliseconds and have no guarantee; a search with a proof takes longer. How much
larger is the error of the fast selectors? The certified optimum answers this question for one data
set.
"""

# %%
# The data
# --------
# 569 tumours, thirty measurements each, scaled to mean zero and variance one. Eight measurements
# are selected to represent all thirty.

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

X = scale(load_breast_cancer().data)
k = 8

# %%
# Twelve selectors
# ----------------
# Some sample columns at random, some use a factorisation, and some minimise the error itself.

from columnist import ColumnSelector
from columnist.selection import (
    ExchangeSelector,
    ForwardSelector,
    GKSSelector,
    LeverageSampler,
    NormSampler,
    PivotedQRSelector,
    StrongRRQRSelector,
    TwoStageSelector,
    UniformSampler,
    VolumeSampler,
)

selectors = {
    "uniform": UniformSampler(k, random_state=0),
    "by length": NormSampler(k, random_state=1),
    "by leverage": LeverageSampler(k, random_state=0),
    "by volume": VolumeSampler(k, random_state=0),
    "pivoted QR": PivotedQRSelector(k),
    "GKS": GKSSelector(k),
    "strong RRQR": StrongRRQRSelector(k),
    "two stages": TwoStageSelector.lev_ge(k, random_state=0),
    "forward": ForwardSelector(k),
    "exchange": ExchangeSelector(k),
    "exchange, 20 starts": ExchangeSelector(k, n_starts=20, random_state=0),
    "certified": ColumnSelector(k),
}

# %%
# Error against time
# ------------------
# The display fits a copy of each selector, computes all errors in the same way, and takes the lower
# bound from the certificate of the search. No selector can be below it.

import matplotlib.pyplot as plt

from columnist.plotting import ComparisonDisplay

display = ComparisonDisplay.from_selectors(selectors, X, bound="certified")
plt.show()

# %%
# The excess of each error over the optimum, in numbers. Times depend on the machine that built this
# page and on its load.

for name, error, seconds in sorted(
    zip(display.names, display.errors, display.seconds, strict=True), key=lambda row: row[1]
):
    excess = 100 * (error / display.bound - 1)
    print(f"{name:20} {excess:6.1f} % above the optimum {1e3 * seconds:8.1f} ms")

# %%
# Forward selection and exchange, which minimise the error itself, are much better than selectors
# based on lengths or angles. Exchange from many random starts finds the optimum here, which only
# the certified search can show.
#
# Random selections
# -----------------
# Random selections vary, and most are worse than forward selection. (All columns of this table have
# the same length, so sampling by length is uniform sampling.)

import numpy as np

samplers = {"uniform": UniformSampler, "by leverage": LeverageSampler, "by volume": VolumeSampler}
draws = [
    [100 * sampler(k, random_state=seed).fit(X).relative_error_ for seed in range(200)]
    for sampler in samplers.values()
]
unit = 100 / display.total
forward = unit * display.errors[display.names.index("forward")]

figure, axes = plt.subplots(layout="constrained")
axes.boxplot(draws, whis=(0, 100), widths=0.4)
axes.axhline(forward, color="#0072B2", ls="--", label="forward selection")
axes.axhline(unit * display.bound, color="#D55E00", label="certified optimum")
axes.set_xticks(range(1, len(draws) + 1), list(samplers))
axes.set(ylabel="error (% of the squared Frobenius norm of X)", title="200 draws of eight columns")
axes.legend(frameon=False, loc="upper right")
axes.spines[["top", "right"]].set_visible(False)
plt.show()

for name, errors in zip(samplers, draws, strict=True):
    better = np.sum(np.array(errors) < forward)
    print(f"{name:12} {better} of {len(errors)} draws beat forward selection")
