"""
How stable is a selection?
==========================

A certificate proves that no other columns are better on the given rows. With other rows of the same
kind, other columns may be best. :func:`columnist.selection_stability` selects again from resampled
rows.
"""

# %%
# Three of the thirteen measurements of 178 wines are selected, once from all rows and 50 times from
# bootstrap samples. The sizes are those for which the error on the rows left out is computed.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from columnist import ColumnSelector, selection_stability
from columnist.plotting import StabilityDisplay

X = load_wine(as_frame=True).data
X = (X - X.mean()) / X.std()
stability = selection_stability(ColumnSelector(3), X, sizes=range(1, 9), random_state=0)
print(stability)

# %%
# The first column is selected in all resamples. The others vary: names beside a bar are those of
# columns that replace a selected one more often than by chance.

StabilityDisplay.from_stability(stability)
plt.show()

# %%
# How similar are they? The last number is the squared correlation in the data.

for pair in stability.replacements:
    names = stability.name(pair.column), stability.name(pair.by)
    print(f"{names[0]} -> {names[1]}: {pair.times} of {pair.absent}, r2 {pair.r2:.2f}")
