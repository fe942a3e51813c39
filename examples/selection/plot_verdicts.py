"""
Which columns are needed, and which can be replaced?
====================================================

The best selection is rarely the only good one. Thirty measurements of cell nuclei are redundant:
several sets of eight represent them almost equally well. Which measurements do all good sets
contain, which can be replaced, and which does no good set contain? The answers are proven.
"""

# %%
# Verdicts within 3 % of the best error
# -------------------------------------

from sklearn.datasets import load_breast_cancer

from columnist import column_verdicts

cells = load_breast_cancer(as_frame=True).data
cells = (cells - cells.mean()) / cells.std()
verdicts = column_verdicts(cells, 8, tol=0.03)
verdicts

# %%
# Every column, with the best error of a set that contains it, and of one that does not:

print(verdicts.table())

# %%
# The sets
# --------
# One column of the picture for each set, the best first. Necessary measurements are dark: every set
# contains them.

import matplotlib.pyplot as plt

from columnist.plotting import VerdictDisplay

VerdictDisplay.from_verdicts(verdicts)
plt.show()

# %%
# If one measurement is expensive
# -------------------------------
# ``replaceable`` names the columns that replace a measurement in the best set without it.

for column in verdicts.selection:
    by = [cells.columns[i] for i in verdicts.replaceable.get(column, ())]
    print(f"{cells.columns[column]:24}", ", ".join(by) or "cannot be replaced")

# %%
# The wider the tolerance, the fewer columns are necessary.

for tol in (0.0, 0.01, 0.02, 0.05, 0.1):
    found = column_verdicts(cells, 8, tol=tol)
    print(f"{tol:4.0%}: {len(found.necessary)} necessary, {len(found.useless)} useless")
