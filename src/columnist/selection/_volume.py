r"""Volume sampling: a set S of k columns with probability proportional to its squared volume.

.. math:: P(S) = \det(X_S^T X_S) / e_k(\sigma_1^2, \sigma_2^2, \dots),

:math:`e_k` the elementary symmetric polynomial of the squared singular values. Such a set is
drawn in two steps: k of the right singular vectors, with probability proportional to the
product of their :math:`\sigma^2`; then columns one by one, each with probability proportional to
its squared length in the span of those vectors, after projecting out the columns drawn before.
The expected squared Frobenius error is :math:`(k+1)\,e_{k+1}/e_k`. No input validation.
"""

from __future__ import annotations

import numpy as np

from columnist.selection._leverage import RightVectors, right_vectors
from columnist.selection._rrqr import Deflated

__all__ = ["choose_vectors", "log_symmetric", "volume_sample"]


def volume_sample(X, size: int, rng: np.random.Generator) -> list[int]:
    """A volume sample of ``size`` columns, or of as many as the rank of X.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._volume import volume_sample
    >>> X = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> drawn = volume_sample(X, 2, np.random.default_rng(0))
    >>> 2 in drawn
    True
    """
    vectors = right_vectors(X, None, None)
    size = min(size, len(vectors.values))
    return _spanning(vectors.keep(choose_vectors(vectors.values, size, rng)), rng)


def log_symmetric(log_weights: np.ndarray, size: int) -> np.ndarray:
    r"""Logarithms of elementary symmetric polynomials of positive weights.

    Entry (i, l) is :math:`\log e_l(w_1, \dots, w_i)`, from
    :math:`e_l(w_1 \dots w_i) = e_l(w_1 \dots w_{i-1}) + w_i e_{l-1}(w_1 \dots w_{i-1})`. Sums of
    positive numbers lose nothing, and logarithms neither overflow nor underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._volume import log_symmetric
    >>> np.exp(log_symmetric(np.log([1.0, 2.0, 3.0]), 2)[3]).round(6)
    array([ 1.,  6., 11.])
    """
    table = np.full((len(log_weights) + 1, size + 1), -np.inf)
    table[:, 0] = 0.0
    for i, weight in enumerate(log_weights):
        table[i + 1, 1:] = np.logaddexp(table[i, 1:], weight + table[i, :-1])
    return table


def choose_vectors(values: np.ndarray, size: int, rng: np.random.Generator) -> list[int]:
    """``size`` indices with probability proportional to the product of the squared values."""
    if size == 0:
        return []
    weights = 2.0 * np.log(values / values[0])
    table = log_symmetric(weights, size)
    chosen: list[int] = []
    for i in range(len(weights) - 1, -1, -1):
        wanted = size - len(chosen)
        if wanted == 0:
            break
        if rng.random() < np.exp(weights[i] + table[i, wanted - 1] - table[i + 1, wanted]):
            chosen.append(i)
    return chosen


def _spanning(vectors: RightVectors, rng: np.random.Generator) -> list[int]:
    """As many columns as there are vectors: the projection process."""
    size = len(vectors.values)
    columns = Deflated(vectors.data, size, left=vectors.left)
    chosen: list[int] = []
    while len(chosen) < size and columns.squares.any():
        reached = np.cumsum(columns.squares)
        # Side "right": a column of length zero is never drawn.
        drawn = int(np.searchsorted(reached, rng.random() * reached[-1], side="right"))
        if columns.take(drawn):
            chosen.append(drawn)
    return chosen
