"""Printed toy data of the second dissertation, chapter 5, as arrays; rows are points."""

from __future__ import annotations

import numpy as np

from columnist.reproduce.printed import printed
from columnist.reproduce.robust_toys import matrix

__all__ = ["FIGURE_5_1", "FIGURE_5_3"]

FIGURE_5_1 = np.array([[float(row["x"]), float(row["y"])] for row in printed("he-fig5.1")])
"""Seven points; the last is the outlier."""

FIGURE_5_3 = {
    "X": matrix("X").T,
    "bias": matrix("biased")[-1, 0],
    "centred eigenvalues": matrix("centred eigenvalues").ravel(),
}
"""Three points, the bias, and eigenvalues cut to the digits given."""
