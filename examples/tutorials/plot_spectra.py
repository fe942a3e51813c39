"""
Choose wavelengths of a spectrum
================================

A laboratory spectrometer records 120 wavelengths, and a handheld device can measure six. This
tutorial asks two different questions: which six wavelengths represent the whole spectrum, and which
wavelengths predict the concentration of one constituent? It takes about ten minutes.
"""

# %%
# The spectra
# -----------
# The data are generated: 120 mixtures of three constituents, whose absorption bands overlap, with a
# baseline that differs between samples, and noise. A file of spectra has wavelengths as column
# names; ``pandas.read_csv("spectra.csv")`` keeps them as text.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
wavelengths = np.arange(900, 1700, 800 / 120).round().astype(int)
BANDS = {  # centres and widths in nm
    "ethanol": [(1185, 35), (1410, 40), (1580, 60)],
    "glucose": [(980, 60), (1210, 50), (1480, 70)],
    "water": [(970, 40), (1190, 60), (1450, 60)],
}


def absorbance(bands) -> np.ndarray:
    """Spectrum of one pure constituent."""
    return sum(np.exp(-0.5 * ((wavelengths - centre) / width) ** 2) for centre, width in bands)


pure = np.array([absorbance(bands) for bands in BANDS.values()])
content = rng.dirichlet([2, 3, 12], 120)
baseline = (
    rng.normal(0, 0.02, (120, 1)) + rng.normal(0, 0.02, (120, 1)) * (wavelengths - 1300) / 400
)
spectra = content @ pure + baseline + 0.002 * rng.standard_normal((120, len(wavelengths)))
X = pd.DataFrame(spectra, columns=[f"{w} nm" for w in wavelengths])
ethanol = 100 * content[:, 0] + 0.3 * rng.standard_normal(120)

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(wavelengths, spectra[:40].T, color="0.6", lw=0.7)
ax.set(xlabel="wavelength (nm)", ylabel="absorbance")
plt.show()

# %%
# Represent the whole spectrum
# ----------------------------
# All columns are absorbances, so they are centred but not scaled. Scaling would give wavelengths
# that only carry noise the same weight as the bands.

from columnist import ColumnSelector

selector = ColumnSelector(6, centering="mean", time_limit=10).fit(X)
print(*selector.get_feature_names_out())
print(f"unexplained variance: {100 * selector.relative_error_:.3f} %")
print(selector.certificate_)

# %%
# Neighbouring wavelengths are nearly copies of each other. This makes the proof hard: very many
# selections have almost the same error. If the time limit ends the search, the status says so. The
# gap then bounds how much smaller the error of the best selection can be.
#
# Six wavelengths are enough to reconstruct the spectra, because there are only a few independent
# sources of variation: the constituents and the baseline.

rebuilt = selector.reconstruct(X)
sample = int(np.argmax(np.abs(spectra - rebuilt).max(axis=1)))
figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(wavelengths, spectra[sample], color="0.3", label="measured")
ax.plot(wavelengths, rebuilt[sample], color="#D55E00", ls="--", label="from six wavelengths")
chosen = wavelengths[selector.selected_]
ax.plot(chosen, spectra[sample][selector.selected_], "o", color="#0072B2", label="selected")
ax.set(xlabel="wavelength (nm)", ylabel="absorbance", title="The worst reconstructed sample")
ax.legend(frameon=False)
plt.show()

# %%
# Predict a concentration
# -----------------------
# For a calibration the wavelengths have to predict ethanol, not each other.
# :class:`~columnist.SubsetRegressor` finds the best subset of every size, and cross-validation
# chooses the size. The last 40 samples are kept for a test.

from columnist import SubsetRegressor

train, test = slice(None, 80), slice(80, None)
model = SubsetRegressor("cv", max_features=5, time_limit=20).fit(X[train], ethanol[train])
print(*model.get_feature_names_out())
model.path_

# %%
# The certificate belongs to the subset of the chosen size. The size itself is an estimate made by
# cross-validation, and the accuracy is measured on the samples that were not used:

error = np.sqrt(np.mean((model.predict(X[test]) - ethanol[test]) ** 2))
print(f"root mean squared error on new samples: {error:.2f} % ethanol")
print("(the reference values themselves have an error of 0.3 %)")

figure, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.plot(ethanol[test], model.predict(X[test]), "o", color="#0072B2", ms=4)
ax.axline((10, 10), slope=1, color="0.6", lw=1)
ax.set(xlabel="ethanol, reference (%)", ylabel="ethanol, predicted (%)")
plt.show()

# %%
# The two selections differ
# -------------------------
# Wavelengths that represent the spectrum need not be the best ones for a prediction, and the other
# way round. Decide first which question you have.

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for spectrum, name in zip(pure, BANDS, strict=True):
    ax.plot(wavelengths, spectrum, lw=1, label=f"pure {name}")
ax.plot(chosen, np.full(len(chosen), -0.05), "^", color="#0072B2", label="represent the spectrum")
predictive = wavelengths[model.selected_]
ax.plot(predictive, np.full(len(predictive), -0.15), "s", color="#D55E00", label="predict ethanol")
ax.set(xlabel="wavelength (nm)", ylabel="absorbance")
ax.legend(frameon=False, ncols=2, fontsize="small")
plt.show()

# %%
# Next steps
# ----------
# :doc:`/user_guide/best_subset` explains best subsets for prediction.
# :ref:`sphx_glr_auto_examples_prediction_plot_nir_calibration.py` compares them with forward
# selection.
