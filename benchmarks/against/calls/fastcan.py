"""fastcan."""

from __future__ import annotations

import numpy as np
from fastcan import FastCan


def select(X, k, y, eta=False, beam_width=1):
    """Columns for a target."""
    return {"columns": FastCan(k, eta=eta, beam_width=beam_width, verbose=0).fit(X, y).indices_}


def unsupervised(X, k, eta=True):
    """Columns for the leading principal components, as the manual proposes."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return select(X, k, U[:, :k] * s[:k], eta)


def itself(X, k, eta=True):
    """Columns for the matrix itself."""
    return select(X, k, X, eta)
