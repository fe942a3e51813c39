"""SciPy."""

from __future__ import annotations

from scipy.linalg import qr


def pivots(X, k):
    """The first columns of a pivoted QR; R alone is the cheapest call that yields them."""
    return {"columns": qr(X, mode="r", pivoting=True)[-1][:k]}
