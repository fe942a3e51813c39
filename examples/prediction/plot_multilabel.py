"""
Predict several labels from few features
========================================

A machine has forty sensors and four alarms, and several alarms may be on at once. A few sensors
have to predict all alarms. Some alarms are on if a value is too high *or* too low. A linear
function cannot predict this, but a quadratic function of the same sensor can.
"""

# %%
# The data
# --------
# There are 800 readings. Two alarms are on for values out of range, two for high values. Each
# depends on one or two sensors, and one alarm is rare.

import numpy as np
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
X = rng.standard_normal((800, 40))
X[:, 20:] = 0.6 * X[:, :20] + 0.8 * X[:, 20:]  # every sensor has a relative


def ring(strength, level):
    """Whether a noisy strength exceeds a level."""
    return strength + 0.4 * rng.standard_normal(len(X)) > level


Y = np.column_stack(
    [
        ring(np.abs(X[:, 0]) + 0.5 * X[:, 1], 1.2),  # sensor 0 out of range, or sensor 1 high
        ring(np.abs(X[:, 2] + 0.5), 1.5),  # sensor 2 out of a range that is not centred
        ring(X[:, 3] - X[:, 4], 0.5),
        ring(X[:, 5] + X[:, 1], 2.4),  # rare
    ]
).astype(int)
names = ["out of range, or high", "out of range", "difference", "both high (rare)"]
print("share of readings with each alarm:", Y.mean(axis=0).round(2))
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)

# %%
# How many sensors, and which degree?
# -----------------------------------
# One forward selection per fold and degree gives all sizes, so the whole validation curve costs ten
# selections.

from columnist.selection import MultiLabelForwardClassifierCV

classifier = MultiLabelForwardClassifierCV(20, degrees=(1, 2), random_state=0)
classifier.fit(X_train, Y_train)
print(classifier.best_params_)
print("sensors:", *np.sort(classifier.selected_))

# %%
import matplotlib.pyplot as plt

results = classifier.cv_results_
figure, axes = plt.subplots(layout="constrained")
for degree, style, color in ((1, "s--", "#D55E00"), (2, "o-", "#0072B2")):
    rows = results["degree"] == degree
    size, loss = results["n_features_to_select"][rows], results["mean_hamming_loss"][rows]
    spread = results["std_hamming_loss"][rows]
    axes.plot(size, loss, style, color=color, label=f"degree {degree}")
    axes.fill_between(size, loss - spread, loss + spread, color=color, alpha=0.15, lw=0)
best = classifier.best_params_
axes.plot(best["n_features_to_select"], 1 - classifier.best_score_, "*", color="black", ms=14,
          label="chosen")  # fmt: skip
axes.set(xlabel="number of sensors", ylabel="wrong labels on held-out readings", ylim=(0, None))
axes.xaxis.get_major_locator().set_params(integer=True)
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()

# %%
# Degree 2 needs no more sensors and has fewer errors. With more than the relevant sensors the curve
# increases again, because further sensors only fit noise.
#
# Thresholds
# ----------
# Each label has its own threshold, chosen to give the fewest errors on the training readings. For
# the second alarm it is far from one half: a parabola is not a sharp step, so its scores stay low.

scores = classifier.decision_function(X_train) + classifier.thresholds_
figure, panels = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="constrained")
for label, axes in enumerate(panels):
    on = Y_train[:, label] == 1
    bins = np.linspace(scores[:, label].min(), scores[:, label].max(), 25)
    axes.hist(scores[~on, label], bins, color="0.75", label="alarm off")
    axes.hist(scores[on, label], bins, color="#0072B2", alpha=0.7, label="alarm on")
    axes.axvline(classifier.thresholds_[label], color="#D55E00", lw=2, label="threshold")
    axes.axvline(0.5, color="black", ls=":", label="one half")
    axes.set_title(names[label], fontsize=10)
    axes.set_xlabel("score")
    axes.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("readings")
panels[0].legend(frameon=False, fontsize=8)
plt.show()

# %%
# On new readings
# ---------------

from columnist.metrics import hamming_loss
from columnist.selection import MultiLabelForwardClassifier

size = best["n_features_to_select"]
for degree in (1, 2):
    fitted = MultiLabelForwardClassifier(size, degree=degree).fit(X_train, Y_train)
    wrong = hamming_loss(Y_test, fitted.predict(X_test))
    halves = (fitted.decision_function(X_test) + fitted.thresholds_ > 0.5).astype(int)
    cut = hamming_loss(Y_test, halves)
    print(f"degree {degree}: {wrong:.3f} of the labels wrong; cut at one half: {cut:.3f}")
