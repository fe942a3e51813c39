"""
How many columns do I need?
===========================

The digits of scikit-learn are images of 8 × 8 pixels. Neighbouring pixels say nearly the same, so
a camera with far fewer of them should do. How many, and which? A path of certified selections
answers for every number at once, and tells apart what is known from what is only the best found.
"""

# %%
# One selection and one certificate per size
# ------------------------------------------
# An intercept is free (``centering="mean"``), so that a pixel counts by how much it varies. The
# time limit is for all sizes together; what the easy ones leave over goes to the hard ones.

from sklearn.datasets import load_digits

from columnist import selection_path

digits = load_digits()
path = selection_path(digits.data, 12, centering="mean", time_limit=6.0)
path

# %%
# Small sizes are proven. Where time ran out, the shaded band is what remains unknown: the best
# possible error lies in it. On a logarithmic axis equal gaps look equal.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay

ErrorPathDisplay.from_path(path, log=True)
plt.show()

# %%
# Ask for an error instead of a size
# ----------------------------------
# ``n_features_to_select="auto"`` takes the fewest columns whose relative error is at most ``tol``.

from columnist import ColumnSelector

selector = ColumnSelector("auto", tol=0.6, centering="mean").fit(digits.data)
print(len(selector.selected_), "pixels leave", f"{100 * selector.relative_error_:.1f} %")
print(selector.certificate_)

# %%
# The certificate is the one of that size. That fewer pixels are not enough follows from the bounds
# of the smaller sizes, which all stay above the limit; had one of them not, a warning would say
# so.
#
# Which pixels?
# -------------
# Red frames mark the kept pixels; the shade of the others is how well they are rebuilt. White
# pixels never vary.

import numpy as np
from matplotlib.patches import Rectangle

varies = np.ptp(digits.data, axis=0) > 0

figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
for axis, size in zip(axes, (4, 8, 16), strict=True):
    fitted = ColumnSelector(size, centering="mean", time_limit=2.0).fit(digits.data)
    shares = np.where(varies, fitted.column_r2_, np.nan).reshape(8, 8)
    shown = axis.imshow(shares, cmap="cividis", vmin=0, vmax=1)
    for pixel in fitted.selected_:
        row, column = divmod(int(pixel), 8)
        frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="red", lw=2.5)
        axis.add_patch(frame)
    axis.set(xticks=[], yticks=[])
    axis.set_title(f"{size} pixels, gap {100 * fitted.certificate_.gap:.0f} %")
figure.colorbar(shown, ax=axes, label="share of the pixel rebuilt (R²)", shrink=0.8)
plt.show()

# %%
# Two seconds prove the small choice; for the larger ones they give a choice and a gap that shrinks
# with the time spent, and often that is all one needs to know.
