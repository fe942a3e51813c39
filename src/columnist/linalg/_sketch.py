"""Randomized range finder for matrices too large to decompose."""

from __future__ import annotations

import numpy as np

__all__ = ["randomized_range"]


def randomized_range(
    X, rank: int, *, n_iter: int = 4, oversampling: int = 10, rng: np.random.Generator
) -> np.ndarray:
    r"""Orthonormal basis that captures most of the range of ``X``.

    Subspace iteration on a Gaussian sketch: :math:`Q = \mathrm{orth}((XX^T)^q X\Omega)`,
    orthonormalised after every product. ``X`` is an array, a SciPy sparse matrix or a
    linear operator; it is only multiplied, never copied. No input validation.

    Parameters
    ----------
    X : array-like, sparse matrix or LinearOperator of shape (m, n)
        The matrix.
    rank : int
        Number of directions wanted.
    n_iter : int, default=4
        Power iterations: more of them separate close singular values better.
    oversampling : int, default=10
        Extra directions.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (m, min(rank + oversampling, m, n))

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.linalg._sketch import randomized_range
    >>> X = np.outer(np.arange(5.0), np.ones(4))
    >>> Q = randomized_range(X, 1, rng=np.random.default_rng(0))
    >>> bool(np.allclose(Q @ (Q.T @ X), X))
    True
    """
    m, n = X.shape
    width = min(rank + oversampling, m, n)
    Q, _ = np.linalg.qr(X @ rng.standard_normal((n, width)))
    for _ in range(n_iter):
        Z, _ = np.linalg.qr(X.T @ Q)
        Q, _ = np.linalg.qr(X @ Z)
    return Q
