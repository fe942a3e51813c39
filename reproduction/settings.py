"""One setting per method, fixed before anything is compared with the print.

Every table runs a method with the setting here. There are two exceptions: figure 8.3 of the first
dissertation states its own price of Outlier Pursuit, 1 / sqrt(log n), and table 5.1 of the second
does not tell it the number of outliers, so that the default of the package, the same price, is
used. Where another one that was found by trying gives
the printed figures, the table tells what it gives beside ours, and the verdict stays that of the
setting here.
"""

from __future__ import annotations

__all__ = ["GKS_RANK", "RRQR_F", "TUNED_GKS_EXTRA", "TUNED_PRICE", "TUNED_RRQR_F", "pursuit_price"]

RRQR_F = 2.0
"""Bound of strong rank-revealing QR: that of the package, within what Gu and Eisenstat suggest."""
TUNED_RRQR_F = 1.01

GKS_RANK = None
"""Singular vectors of GKS: as many as columns, as its authors have it and the package."""
TUNED_GKS_EXTRA = 1
"""More singular vectors than columns."""

TUNED_PRICE = 0.53
"""A price of Outlier Pursuit, found by trying 49."""


def pursuit_price(k: int) -> float:
    """The price of Outlier Pursuit that its first paper gives for k outliers."""
    return 3.0 / (7.0 * float(k) ** 0.5)
