"""
Components of a few features
============================

Principal components combine all features: to compute one score, every sensor must be read.
:class:`~columnist.lowrank.SparseLoadings` fits a low-rank model whose loadings are zero except for
a few features, so that the others need not be measured. This example has forty sensors, eight of
which carry a signal, and some corrupted samples.
"""

# %%
# Forty sensors, eight of which matter
# ------------------------------------
# Three hidden sources drive the first eight sensors; the others only measure noise.

import numpy as np

rng = np.random.default_rng(4)
n_samples, n_sensors, n_sources = 120, 40, 3
mixing = np.zeros((n_sensors, n_sources))
mixing[:8] = rng.standard_normal((8, n_sources))
X = rng.standard_normal((n_samples, n_sources)) @ mixing.T
X += 0.4 * rng.standard_normal(X.shape)

# %%
# How many sensors?
# -----------------
# A penalty on the lengths of the loadings determines how many sensors are used. Along the path of
# penalties, sensors without a signal are removed first.

import matplotlib.pyplot as plt

from columnist.lowrank import SparseLoadings, loadings_path

path = loadings_path(X, n_sources, alphas=40, random_state=0)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
share = path.alphas / path.alpha_max
axes.plot(share, path.scores[:, 8:], color="0.75", linewidth=1)
axes.plot(share, path.scores[:, :8], color="tab:blue", linewidth=1.5)
axes.plot([], [], color="tab:blue", label="sensors with a signal")
axes.plot([], [], color="0.75", label="sensors without")
axes.set(xscale="log", xlabel="penalty, relative to alpha_max", ylabel="length of the loadings")
axes.set_title("What a penalty leaves")
axes.legend()
plt.show()

# %%
# If the number of sensors is given, the penalty is found automatically. A refit without the
# penalty, on these sensors only, removes the shrinkage of the loadings.

model = SparseLoadings(n_sources, n_features_to_select=8, refit=True, random_state=0).fit(X)
share = model.alpha_ / model.alpha_max_
print(f"sensors {np.sort(model.selected_)}, at {share:.2f} of the largest penalty")

# %%
# A tenth of the samples is corrupted
# -----------------------------------
# Twelve samples have a disturbance in the sensors without a signal. With the quadratic loss these
# samples dominate the model. The robust loss uses the lengths of the residuals instead of their
# squares, which limits the influence of a sample.

broken = X.copy()
broken[:12, 8:] += 8.0 * rng.standard_normal((12, n_sensors - 8))

figure, panels = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
for axes, loss in zip(panels, ["quadratic", "robust"], strict=True):
    model = SparseLoadings(n_sources, loss=loss, n_features_to_select=8, random_state=0)
    model.fit(broken)
    right = np.count_nonzero(model.selected_ < 8)
    colors = np.where(np.arange(n_sensors) < 8, "tab:blue", "tab:red")
    axes.bar(np.arange(n_sensors), model.scores_, color=colors)
    axes.set(ylabel="length of the loadings", title=f"{loss} loss: {right} of 8 found")
panels[1].set_xlabel("sensor (the first eight carry the signal)")
plt.show()

# %%
# Missing readings
# ----------------
# Missing entries are left out of the loss, and the fitted model predicts them.

holes = X.copy()
holes[rng.random(X.shape) < 0.1] = np.nan
model = SparseLoadings(n_sources, n_features_to_select=8, refit=True, random_state=0).fit(holes)
filled = model.inverse_transform(model.embedding_)
missing = np.isnan(holes) & (np.arange(n_sensors) < 8)
error = np.sqrt(np.mean((filled[missing] - X[missing]) ** 2))
print(f"sensors {np.sort(model.selected_)}")
print(f"error of filled readings {error:.2f}, standard deviation {X[missing].std():.2f}")
