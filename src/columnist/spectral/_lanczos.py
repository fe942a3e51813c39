"""Leading eigenpairs of a symmetric matrix that is known by its products. No input validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

__all__ = ["largest_eigenpairs", "worth_iterating"]

# Up to this order all eigenpairs cost less than some by iteration.
_SMALL = 200


def worth_iterating(n: int, count: int) -> bool:
    """Whether ``count`` eigenpairs of a matrix of order n cost less by iteration than all."""
    return n > _SMALL and count < n // 2


def largest_eigenpairs(
    times: Callable[[np.ndarray], np.ndarray], n: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues, descending, and their vectors, by Lanczos iterations.

    Parameters
    ----------
    times : callable
        Product of the matrix and a vector.
    n : int
        Order of the matrix.
    count : int
        How many; less than n.

    Returns
    -------
    values : ndarray of shape (count,)
    vectors : ndarray of shape (n, count)

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.spectral._lanczos import largest_eigenpairs
    >>> largest_eigenpairs(lambda v: np.arange(9.0) * v, 9, 2)[0].round(6)
    array([8., 7.])
    """
    operator = LinearOperator((n, n), matvec=lambda v: times(v.ravel()), dtype=np.float64)
    # A fixed start makes the result repeatable.
    options = {"which": "LA", "v0": np.random.RandomState(0).uniform(-1.0, 1.0, n)}
    try:
        values, vectors = eigsh(operator, count, **options)
    except ArpackNoConvergence:
        wide = min(n - 1, max(4 * count, 60))
        values, vectors = eigsh(operator, count, ncv=wide, maxiter=100 * n, **options)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]
