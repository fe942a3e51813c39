"""
Governing equations from data
=============================

Given measurements of a system and of its rates of change, which differential equations describe it?
A sparse regression selects the relevant terms from a library of candidates, which is one
best-subset problem per equation. :class:`columnist.SubsetRegressor` solves it with a proof that
covers the number of terms as well.
"""

# %%
# A system and its measurements
# -----------------------------
# The system is the Lorenz system; the third variable is recorded in hundredths. The rates of change
# have noise of a tenth of their standard deviation.

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
# The candidates are all 35 products of up to four variables, including the constant.

from sklearn.preprocessing import PolynomialFeatures

library = PolynomialFeatures(4).set_output(transform="pandas").fit(states)
terms = library.transform(states)
terms.columns = library.get_feature_names_out(["x", "y", "z"])
terms.shape

# %%
# Best subsets and the number of terms
# ------------------------------------
# The extended information criterion ``"ebic"`` accounts for the large number of possible sets. The
# intercept is one of the candidates, so it is not fitted separately.

from columnist import SubsetRegressor

models = [SubsetRegressor("ebic", fit_intercept=False).fit(terms, measured[:, i]) for i in range(3)]
for name, model in zip("xyz", models, strict=True):
    found = zip(model.get_feature_names_out(), model.coef_[model.selected_], strict=True)
    equation = " ".join(f"{value:+.4g} {term}" for term, value in found)
    proven = model.path_.proven and model.certificate_.is_optimal
    print(f"d{name}/dt = {equation}    (proven: {proven})")

# %%
# These are the correct terms, with coefficients close to the true ones. ``proven`` means that no
# other set of terms, of any size, has a smaller criterion. It does not mean that the criterion
# always identifies the true terms, which depends on the noise.
#
# The path of the second equation shows why three terms are chosen: the criterion increases
# afterwards, and the band shows how precisely each size had to be determined to prove it.

import matplotlib.pyplot as plt

from columnist.plotting import SubsetPathDisplay

SubsetPathDisplay.from_estimator(models[1], deviations=terms.std())
plt.show()

# %%
# Sequential thresholding
# -----------------------
# The usual heuristic fits all terms by least squares, removes those with small coefficients, and
# repeats. Its threshold has no natural value, because coefficients depend on the units.


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
# With terms in their original units no threshold finds the equations: the terms of the library are
# strongly dependent, so the first fit is far from the truth, and terms with small coefficients can
# be important. Scaling the terms to equal length helps if the threshold is within a narrow range,
# which is not known in advance.

figure, axes = plt.subplots(layout="constrained")
axes.plot(thresholds, as_measured, "s-", color="#D55E00", ms=4, label="thresholding, as measured")
axes.plot(thresholds, standardised, "^-", color="#E69F00", ms=4, label="thresholding, scaled terms")
axes.axhline(ours, color="#0072B2", lw=2, label="best subsets, proven")
axes.set(xscale="log", xlabel="threshold", ylabel="wrong terms in three equations")
axes.legend(frameon=False, loc="upper right")
plt.show()

# %%
# To use this within PySINDy, see :doc:`/howto/pysindy`.
