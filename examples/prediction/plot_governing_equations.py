"""
Governing equations from data
=============================

Measurements of a system and of its rates of change are given; which differential equations does it
obey? Write down a library of candidate terms, and let a sparse regression choose the few that
matter: one best-subset problem per equation. :class:`columnist.SubsetRegressor` solves it with a
proof, and proves how many terms there are, too.
"""

# %%
# A system and its measurements
# -----------------------------
# The Lorenz system, in units as measured: the third variable is recorded in hundredths. The rates
# of change carry noise of a tenth of their standard deviation.

import numpy as np
from scipy.integrate import solve_ivp

units = np.array([1.0, 1.0, 0.01])
times = np.arange(0.0, 20.0, 0.05)


def rates(time, state):
    """The Lorenz system in these units."""
    x, y, z = state / units
    return units * [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z]


start = units * [-8.0, 8.0, 27.0]
states = solve_ivp(rates, (0.0, 20.0), start, t_eval=times, rtol=1e-9, atol=1e-9).y.T
exact = np.array([rates(0.0, state) for state in states])
rng = np.random.default_rng(0)
measured = exact + 0.1 * exact.std(axis=0) * rng.standard_normal(exact.shape)

# %%
# The candidates are all 35 products of up to four variables, the constant among them.

from sklearn.preprocessing import PolynomialFeatures

library = PolynomialFeatures(4).set_output(transform="pandas").fit(states)
terms = library.transform(states)
terms.columns = library.get_feature_names_out(["x", "y", "z"])
terms.shape

# %%
# Best subsets, and their number of terms
# ---------------------------------------
# The extended information criterion ``"ebic"`` knows that there are many sets to choose from.
# The intercept is one of the candidates, so it is not fitted beside them.

from columnist import SubsetRegressor

models = [SubsetRegressor("ebic", fit_intercept=False).fit(terms, measured[:, i]) for i in range(3)]
for name, model in zip("xyz", models, strict=True):
    found = zip(model.get_feature_names_out(), model.coef_[model.selected_], strict=True)
    equation = " ".join(f"{value:+.4g} {term}" for term, value in found)
    proven = model.path_.proven and model.certificate_.is_optimal
    print(f"d{name}/dt = {equation}    (proven: {proven})")

# %%
# These are the right terms, with coefficients close to the true ones. Proven means: no other set of
# terms, of any size, has a smaller criterion. What noise does to the criterion itself is another
# question; the data, not the search, have to answer it.
#
# The path of the second equation shows why three terms: the criterion rises again afterwards, and
# the band says how well each size had to be known for that.

import matplotlib.pyplot as plt

from columnist.plotting import SubsetPathDisplay

SubsetPathDisplay.from_estimator(models[1], deviations=terms.std())
plt.show()

# %%
# Sequential thresholding
# -----------------------
# The usual shortcut fits all terms by least squares, removes those with small coefficients, and
# repeats. Its threshold is a number without a natural value: coefficients depend on the units.


def thresholded(X, y, threshold):
    """Terms that sequential thresholded least squares keeps."""
    kept = np.ones(X.shape[1], dtype=bool)
    for _ in range(50):
        coef = np.zeros(X.shape[1])
        coef[kept] = np.linalg.lstsq(X[:, kept], y, rcond=None)[0]
        smaller = np.abs(coef) >= threshold
        if not smaller.any() or np.array_equal(smaller, kept):
            break
        kept = smaller
    return set(terms.columns[kept])


truth = [{"x", "y"}, {"x", "y", "x z"}, {"z", "x y"}]


def wrong_terms(X, scale, threshold):
    """Terms that are missing or superfluous, in all three equations."""
    sets = [thresholded(X, y, threshold * s) for y, s in zip(measured.T, scale, strict=True)]
    return sum(len(kept ^ true) for kept, true in zip(sets, truth, strict=True))


raw = terms.to_numpy()
scaled = raw / np.sqrt(np.mean(raw**2, axis=0))
thresholds = np.geomspace(1e-2, 3.0, 16)
as_measured = [wrong_terms(raw, np.ones(3), t) for t in thresholds]
standardised = [wrong_terms(scaled, measured.std(axis=0), t) for t in thresholds]
ours = sum(len(set(m.get_feature_names_out()) ^ t) for m, t in zip(models, truth, strict=True))

# %%
# With terms as they were measured no threshold finds the equations: the terms of the library are
# strongly dependent, so the first fit is far from the truth, and small coefficients are not
# unimportant ones. Terms of like length help, if the threshold is within a narrow range that is not
# known beforehand.

figure, axes = plt.subplots(layout="constrained")
axes.plot(thresholds, as_measured, "s-", color="#D55E00", ms=4, label="thresholding, as measured")
axes.plot(thresholds, standardised, "^-", color="#E69F00", ms=4, label="thresholding, scaled terms")
axes.axhline(ours, color="#0072B2", lw=2, label="best subsets, proven")
axes.set(xscale="log", xlabel="threshold", ylabel="wrong terms in three equations")
axes.legend(frameon=False, loc="upper right")
plt.show()

# %%
# To use this within PySINDy, see :doc:`/howto/pysindy`.
