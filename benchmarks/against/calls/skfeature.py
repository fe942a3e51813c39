"""skfeature-chappers."""

from __future__ import annotations

import numpy as np
from skfeature.utility.construct_W import construct_W


def fisher(X, y, k):
    """Fisher score; features in the order that it calls best first."""
    from skfeature.function.similarity_based.fisher_score import fisher_score

    return {"features": fisher_score(X, y, mode="index")[:k]}


def relief(X, y, k, n_neighbors=10):
    """ReliefF."""
    from skfeature.function.similarity_based.reliefF import reliefF

    return {"features": reliefF(X, y, mode="index", k=n_neighbors)[:k]}


def laplacian(X, y, k, n_neighbors=5):
    """Laplacian score on its own graph of neighbours."""
    from skfeature.function.similarity_based.lap_score import lap_score

    width = float(np.var(X, axis=0).sum())
    graph = construct_W(
        X,
        metric="euclidean",
        neighbor_mode="knn",
        weight_mode="heat_kernel",
        k=n_neighbors,
        t=width,
    )
    return {"features": lap_score(X, mode="index", W=graph)[:k]}


def spec(X, y, k, reverse=False):
    """SPEC with its own kernel; ``reverse`` turns its order round."""
    from skfeature.function.similarity_based.SPEC import spec

    order = np.asarray(spec(X, mode="index", style=0))
    return {"features": order[::-1][:k] if reverse else order[:k]}


def trace_ratio(X, y, k):
    """The trace ratio with its class graphs."""
    from skfeature.function.similarity_based.trace_ratio import trace_ratio

    return {"features": np.asarray(trace_ratio(X, y, k, mode="index"))[:k]}
