"""
Select wavelengths for a near-infrared calibration
==================================================

A spectrometer measures absorbance at many wavelengths; a low-cost sensor measures only a few. Which
wavelengths predict the protein content of flour best, and how many are needed?
:class:`columnist.SubsetRegressor` selects them with a proof, and their number by cross-validation.
Neighbouring wavelengths are nearly copies of each other, which makes the problem hard.
"""

# %%
# Spectra
# -------
# The spectra are generated: 150 mixtures of four constituents with overlapping bands, a baseline
# that differs between samples, and noise. The reference analysis of the laboratory has errors with
# a standard deviation of 0.7 % protein.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
wavelengths = np.arange(1100, 2500, 20)
bands = {
    "water": [1450, 1940],
    "protein": [1510, 1735, 2050, 2180],
    "fat": [1210, 1725, 1760, 2310],
    "starch": [1580, 2100, 2280],
}
widths = [45, 60, 40, 50]


def spectrum(centres):
    """Absorbance of a pure constituent."""
    shapes = (
        np.exp(-0.5 * ((wavelengths - c) / w) ** 2) for c, w in zip(centres, widths, strict=False)
    )
    return sum(shapes)


pure = np.array([spectrum(centres) for centres in bands.values()])
contents = rng.dirichlet([4, 3, 2, 6], 150)
baseline = (
    rng.normal(0, 0.05, (150, 1)) + rng.normal(0, 0.03, (150, 1)) * (wavelengths - 1800) / 700
)
absorbance = contents @ pure + baseline + 0.002 * rng.standard_normal((150, len(wavelengths)))
X = pd.DataFrame(absorbance, columns=[f"{w} nm" for w in wavelengths])
protein = 100 * contents[:, 1] + 0.7 * rng.standard_normal(150)

# %%
# How many wavelengths?
# ---------------------
# Cross-validation finds the best subsets of every size on four fifths of the samples, evaluates
# them on the rest, and chooses the smallest size within one standard error of the best mean.

from columnist import SubsetRegressor

model = SubsetRegressor("cv", max_features=6, time_limit=12).fit(X, protein)
model.path_

# %%
# The upper panel shows the coefficients. They have different signs, because the baseline
# contributes to all wavelengths and has to cancel. The middle panel shows what is proven: filled
# circles are the best subsets of their size. Open diamonds are subsets for which the time limit was
# reached; the best possible error lies in the band. The lower panel shows the cross-validation
# errors, which are estimates.

import matplotlib.pyplot as plt

from columnist.plotting import SubsetPathDisplay

SubsetPathDisplay.from_estimator(model, log=True)
plt.show()

# %%
# The selected wavelengths, with the spectra and the bands of pure protein. They are not simply the
# peaks of these bands: the model also needs wavelengths at which the other constituents and the
# baseline can be measured.

figure, (upper, lower) = plt.subplots(2, sharex=True, layout="constrained", height_ratios=[2, 1])
upper.plot(wavelengths, absorbance[:40].T, color="0.75", lw=0.7)
lower.plot(wavelengths, pure[1], color="#D55E00", label="pure protein")
for ax in (upper, lower):
    for wavelength in wavelengths[model.selected_]:
        ax.axvline(wavelength, color="#0072B2", lw=1.5)
upper.set(ylabel="absorbance")
lower.set(ylabel="absorbance", xlabel="wavelength (nm)")
lower.legend(frameon=False)
plt.show()

# %%
# Compare with forward selection
# ------------------------------
# Forward selection starts with the single best wavelength and cannot remove it later. Its error
# compared with that of the best subsets:

from columnist.selection import ForwardSelector

forward = ForwardSelector(6, centering="mean").fit(X, protein)
for size, error in zip(model.path_.sizes, model.path_.errors, strict=True):
    fit = SubsetRegressor(int(size), include=forward.selected_[:size]).fit(X, protein)
    print(f"k = {size}: forward selection has {fit.error_ / error:.2f} times this error")
