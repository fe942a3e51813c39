"""A graph of features, as entries."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from columnist.spectral._symmetric import SparseMatrix, as_symmetric

__all__ = ["feature_graph"]


def feature_graph(S, *, name: str = "feature similarity") -> np.ndarray | sp.csr_matrix:
    """Checked entries of a symmetric matrix without negative ones, sparse if it was.

    Examples
    --------
    >>> from columnist.knowledge._graphs import feature_graph
    >>> feature_graph([[0, 1], [1, 0]])
    array([[0., 1.],
           [1., 0.]])
    """
    S = as_symmetric(S, name=name)
    entries = S.matrix if isinstance(S, SparseMatrix) else S.toarray()
    values = entries.data if sp.issparse(entries) else entries
    if values.min(initial=0.0) < 0.0:
        raise ValueError(f"The {name} has negative entries: similarities must not have.")
    return entries
