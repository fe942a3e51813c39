"""
How many columns do I need?
===========================

The digits of scikit-learn are images of 8 × 8 pixels. Neighbouring pixels are redundant, so far
fewer pixels should be enough. How many, and which ones? A path of certified selections answers this
for every number of pixels, and shows which selections are proven and which are only the best found.
"""

# %%
# One selection and one certificate per size
# ------------------------------------------
# With ``centering="mean"`` an intercept is fitted, so only the variation of a pixel matters. The
# time limit is for all sizes together; time not needed for easy sizes is used for hard ones.

from sklearn.datasets import load_digits

from columnist import selection_path

digits = load_digits()
path = selection_path(digits.data, 12, centering="mean", time_limit=6.0)
path

# %%
# Small sizes are proven optimal. Where the time limit was reached, the best possible error lies in
# the shaded band. On a logarithmic axis equal gaps have equal height.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay

ErrorPathDisplay.from_path(path, log=True)
plt.show()

# %%
# Choose the size by the error
# ----------------------------
# ``n_features_to_select="auto"`` selects the fewest columns whose relative error is at most
# ``tol``.

from columnist import ColumnSelector

selector = ColumnSelector("auto", tol=0.6, centering="mean").fit(digits.data)
print(len(selector.selected_), "pixels leave", f"{100 * selector.relative_error_:.1f} %")
print(selector.certificate_)

# %%
# The certificate is that of this size. Fewer pixels are not enough, because the lower bounds of all
# smaller sizes are above the tolerance; otherwise a warning would be issued.
#
# Which pixels?
# -------------
# Red frames mark the selected pixels; the colour of the others is their explained variance. White
# pixels are constant.

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
# Two seconds are enough to prove the smallest selection. For the larger ones the result is a
# selection with a gap, which decreases with more time.
