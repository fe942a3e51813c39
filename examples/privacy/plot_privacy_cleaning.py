"""
Remove what a predictor does not need
=====================================

A service answers one question about an image, but the image contains much more information. If the
service starts with a linear map, as linear models and neural networks do, everything in the null
space of the map can be removed first without changing the answer.
"""

# %%
# The service
# -----------
# The images are handwritten digits of 8 x 8 pixels. The service distinguishes odd and even digits.
# *Which* digit it is should remain private.

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, digit = load_digits(return_X_y=True)
odd = digit % 2
service = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(X[900:], odd[900:])
print(f"odd or even: {service.score(X[:900], odd[:900]):.1%} right")

# %%
# Cleaned images
# --------------
# :class:`~columnist.privacy.NullSpaceCleaner` takes the fitted pipeline, including its scaling. The
# map has one output, so only one of 64 numbers remains; the rest is replaced by that of the mean
# image. The last row shows the differences between the cleaned images, amplified: they are
# multiples of one pattern.

import matplotlib.pyplot as plt

from columnist.privacy import NullSpaceCleaner

cleaner = NullSpaceCleaner(service).fit(X[900:])
cleaned = cleaner.transform(X)
print(f"after cleaning: {service.score(cleaned[:900], odd[:900]):.1%} right")

shown = {
    "image": (X, {"cmap": "gray_r", "vmin": 0, "vmax": 16}),
    "cleaned": (cleaned, {"cmap": "gray_r", "vmin": 0, "vmax": 16}),
    "less mean": (cleaned - cleaner.mean_, {"cmap": "RdBu", "vmin": -0.7, "vmax": 0.7}),
}
figure, axes = plt.subplots(3, 10, figsize=(10, 3.4), layout="constrained")
for line, (name, (images, style)) in zip(axes, shown.items(), strict=True):
    for ax, image in zip(line, images, strict=False):
        ax.imshow(image.reshape(8, 8), **style)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
for ax, name in zip(axes[0], digit, strict=False):
    ax.set_title(name)
plt.show()

# %%
# What remains
# ------------
# The report states what was kept, what was removed, what a linear adversary can still learn, and
# what is not protected. The adversary here trains on cleaned images of known digits.

print(cleaner.report(X, digit))

# %%
# The adversary predicts digits better than at random, because knowing that a digit is odd halves
# the number of possibilities. This information is part of the output, so no cleaning can remove it.
#
# With a tolerance
# ----------------
# A service with more outputs reveals more. This one returns ten scores, one for each digit. There
# are two secrets: how bold the writing is (the sum of all pixels), which the service does not need,
# and whether the digit has a loop (0, 6, 8, 9), which its scores nearly determine. ``utility`` is
# the allowed change of the scores of every image, in squared norm. The alternative is noise that
# changes them as much on average.

import numpy as np
from sklearn.linear_model import Ridge

from columnist.privacy import attack, laplace_noise

scores = Ridge(alpha=10.0).fit(X, np.eye(10)[digit])
secrets = {"boldness": X.sum(axis=1), "loop": np.isin(digit, [0, 6, 8, 9]).astype(float)}
tolerances = [0.001, 0.01, 0.1, 0.3, 1.0]
found = {}
for utility in tolerances:
    ways = {
        "cleaned": NullSpaceCleaner(scores, utility=utility).fit(X),
        "noise": lambda rows, u=utility: laplace_noise(rows, scores, u, random_state=0),
    }
    for way, clean in ways.items():
        for name, secret in secrets.items():
            seen = attack(clean, X, secret, cv=3, random_state=0).retrained
            found.setdefault((way, name), []).append(seen)

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
colors, lines = {"boldness": "#0072B2", "loop": "#D55E00"}, {"noise": "s--", "cleaned": "o-"}
for (way, name), values in found.items():
    ax.semilogx(tolerances, values, lines[way], color=colors[name], label=f"{name}, {way}")
ax.set(
    xlabel="tolerance for the squared change of the ten scores",
    ylabel="share of the secret found ($R^2$)",
    ylim=(-0.03, 1.03),
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.show()

# %%
# The adversary is retrained on cleaned and on noisy images. Noise does not hide a secret as long as
# the scores remain usable. Cleaning hides boldness at any tolerance. The loop is hidden only when
# the tolerance is as large as the scores themselves (their squared norm is about one): a secret
# that depends on the outputs cannot be hidden from somebody who receives the outputs.
