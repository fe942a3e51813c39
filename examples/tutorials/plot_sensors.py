"""
Reduce a sensor network
=======================

A city measures air quality at 24 stations and can maintain only seven. Which stations should stay?
There is already a proposal. This tutorial evaluates it, finds the best selection, respects
constraints, looks for faulty rows and tests the result on later data. It takes about ten minutes.
"""

# %%
# The measurements
# ----------------
# The data are generated: daily means of 24 stations over two years. Stations of one district
# follow the same course, streets are higher than parks, and every station has noise of its own. The
# first year is used to select, the second to test.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
DISTRICTS = ["centre", "north", "harbour", "hills", "airport", "valley"]
KINDS = ["street", "school", "park", "roof"]
stations = [f"{district} {kind}" for district in DISTRICTS for kind in KINDS]
level = rng.uniform(18, 40, 24)
response = np.tile([1.4, 1.0, 0.7, 0.8], 6) * rng.uniform(0.8, 1.2, 24)

days = np.arange(730)
season = 6 * np.cos(2 * np.pi * days / 365)
weather = rng.standard_normal((730, 1)) * 4 + season[:, None]
district = 4 * rng.standard_normal((730, 6)) + weather
values = level + np.repeat(district, 4, axis=1) * response + 1.5 * rng.standard_normal((730, 24))
air = pd.DataFrame(values, columns=stations)
first, second = air[:365], air[365:]
first.iloc[:3, :4].round(1)

# %%
# Evaluate a proposal
# -------------------
# The proposal keeps the schools of all districts and one street.
# :func:`~columnist.certify` evaluates any selection, however it was made. All stations measure in
# the same unit, so the columns are centred but not scaled.

from columnist import certify

proposal = ["centre street", *(f"{district} school" for district in DISTRICTS)]
certificate = certify(first, proposal, centering="mean")
certificate

# %%
# The gap is the share of the proposal's error that a better selection can avoid, and ``better``
# names such a selection.
#
# Find the best stations
# ----------------------

from columnist import ColumnSelector

selector = ColumnSelector(7, centering="mean", n_solutions=3).fit(first)
print(*selector.get_feature_names_out(), sep="\n")
print(f"unexplained variance: {selector.relative_error_:.2%}, {selector.certificate_.status}")

# %%
# The groups show which selected station represents each closed one, and how much of its variance
# remains explained.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay, RepresentativeDisplay

RepresentativeDisplay.from_estimator(selector)
plt.show()

# %%
# Constraints
# -----------
# A station at the airport's school is required by law, and the street in the harbour is going to be
# closed.

allowed = ColumnSelector(
    7, centering="mean", include=["airport school"], exclude=["harbour street"]
).fit(first)
print(*allowed.get_feature_names_out(), sep="\n")
excess = 100 * (allowed.error_ / selector.error_ - 1)
print(f"error +{excess:.1f} %, {allowed.certificate_.status} among the allowed selections")

# %%
# Would fewer stations be enough?
# -------------------------------

from columnist import selection_path

path = selection_path(first, 10, centering="mean", time_limit=20)
ErrorPathDisplay.from_path(path)
plt.show()

# %%
# The error falls steeply up to six stations, one for each district, and slowly after that.
#
# Faulty days
# -----------
# Faulty measurements can distort a selection. In this copy of the data two stations report wrong
# values on each of five days. :class:`~columnist.robust.RobustPCA` removes the five days without
# which six components fit best, and proves that removing five other days cannot give a better fit.

from columnist.robust import RobustPCA

damaged = first.copy()
faulty = np.sort(rng.choice(365, 5, replace=False))
for day in faulty:
    pair = rng.choice(24, 2, replace=False)
    damaged.iloc[day, pair] += [60, -60]

robust = RobustPCA(6, n_outliers=5, random_state=0).fit(damaged)
print("damaged:", *faulty)
print("removed:", *np.sort(robust.outliers_))
print(robust.certificate_)

# %%
# Such a proof is about the objective, the error of the fit. A group of outliers that attract a
# component of their own can stay in the fit; :doc:`/user_guide/robust_pca` says more about it.
#
# The next year
# -------------
# The certificate is a statement about the first year. The second year tests the selection: its
# stations predict the others with the coefficients of the first year.

proposed = ColumnSelector(7, centering="mean", include=proposal).fit(first)
for name, model in {"proposal": proposed, "best": selector, "best allowed": allowed}.items():
    residual = second - model.reconstruct(second[model.get_feature_names_out()])
    share = (residual**2).to_numpy().sum() / ((second - second.mean()) ** 2).to_numpy().sum()
    print(f"{name:13} {model.relative_error_:.2%} in the first year, {share:.2%} in the second")

# %%
# Next steps
# ----------
# * ``columnist select air.csv -k 7 --center --report air.html`` writes a report for people who do
#   not use Python.
# * :ref:`sphx_glr_auto_examples_large_data_plot_large_data.py` selects from streams and from files
#   larger than memory.
