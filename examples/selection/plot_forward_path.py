"""
Every size from one forward selection
=====================================

Forward selection adds one column at a time and never removes one, so one fit gives the result for
every smaller number of columns. How far is this path from the best selections, and can it be
improved afterwards?
"""

# %%
# One fit
# -------
# The data are thirty measurements of 569 tumours. The columns are listed in order of selection,
# with the error after each.

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from columnist.selection import ForwardSelector

X = load_breast_cancer(as_frame=True).data
X = StandardScaler().set_output(transform="pandas").fit_transform(X)

forward = ForwardSelector(15).fit(X)
for column, error in zip(forward.selected_, forward.errors_ / X.size, strict=True):
    print(f"{X.columns[column]:25} {100 * error:5.1f} % left")

# %%
# ``first`` returns the selector with fewer columns, without computing anything again.

four = forward.first(4)
print(*four.get_feature_names_out(), f"{100 * four.relative_error_:.1f} %", sep="\n")

# %%
# ``tol`` stops at an error instead of a number of columns.

enough = ForwardSelector("auto", tol=0.1).fit(X)
print(len(enough.selected_), "columns leave", f"{100 * enough.relative_error_:.1f} %")

# %%
# The certified path
# ------------------
# The best selection of every size, each with a proof.

from columnist import selection_path

path = selection_path(X, 15, time_limit=8.0)

# %%
# Exchanging columns
# ------------------
# Columns that were selected early may be a poor choice later. Exchange starts from each prefix of
# the path and swaps columns as long as this reduces the error.

from columnist.selection import ExchangeSelector

exchanged = [
    ExchangeSelector(int(size), start=forward.first(int(size))).fit(X).error_ for size in path.sizes
]

# %%
# The differences are small on the scale of the errors, so the second panel shows the excess over
# the proven bound.

import matplotlib.pyplot as plt
import numpy as np

from columnist.plotting import ErrorPathDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
ErrorPathDisplay.from_path(path, ax=left)
left.plot(path.sizes, 100 * forward.errors_ / path.total, "x--", color="0.35", label="forward")
left.legend(frameon=False)

right.axhline(0.0, color="#D55E00", lw=1.5, label="proven bound")
for errors, style, label in (
    (forward.errors_, {"marker": "x", "ls": "--", "color": "0.35"}, "forward"),
    (np.array(exchanged), {"marker": "o", "color": "#0072B2"}, "forward, then exchange"),
):
    right.plot(path.sizes, 100 * (errors / path.lower_bounds - 1), label=label, **style)
right.set(xlabel="number of columns", ylabel="error above the proven bound (%)")
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False)
plt.show()

# %%
# A few exchanges remove most of the excess of forward selection, in milliseconds. Only the lower
# bound shows this.
