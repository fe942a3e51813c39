# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Coefficients of a relaxed best-subset problem by block coordinate descent.

For a positive semidefinite P, a diagonal D > 0, chosen items S and t further items to choose, the
relaxation is

.. math:: \min_{B,\,z} \; \mathrm{tr}(B^TPB) - 2\,\mathrm{tr}(c^TB)
          + \sum_i D_i \lVert B_i \rVert^2 / z_i, \qquad
          z_S = 1, \; 0 \le z \le 1, \; \sum_{i \notin S} z_i = t .

With a price :math:`\lambda = s^2` for z, a free row costs :math:`2 s \sqrt{D_i} \lVert B_i \rVert`
up to the length :math:`s / \sqrt{D_i}`, where z reaches 1, and
:math:`D_i \lVert B_i \rVert^2 + \lambda` beyond it. So each row has a closed form given the others:
with :math:`r = U_i + P_{ii}B_i`, :math:`U = c - PB`, it is a multiple of r of length

.. math:: 0 \;\text{ if } \lVert r \rVert \le s\sqrt{D_i}, \qquad
          \frac{\lVert r \rVert - s\sqrt{D_i}}{P_{ii}} \;\text{ below } s / \sqrt{D_i}, \qquad
          \frac{\lVert r \rVert}{P_{ii} + D_i} \;\text{ else.}

s follows the shares :math:`z_i = \min(1, \sqrt{D_i} \lVert B_i \rVert / s)` until they sum to t.
Where each output has a form P of its own, the largest :math:`P_{ii}` stands for all of them: the
step is shorter than the best one, but still one down.

Any B gives a valid bound (:mod:`columnist.selection._active`), so nothing here has to converge and
no rounding is charged. No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport sqrt

import numpy as np

# Sweeps over the rows that are not zero between two over all rows.
cdef int INNER = 3
# Share of the fall of a sweep below which another one over them is not worthwhile.
cdef double ENOUGH = 0.1
# Limits of the factor by which s may change at once.
cdef double LEAST_STEP = 0.5, LARGEST_STEP = 2.0


def descend(const double[:, :] P, const double[::1] D, const int[::1] forced,
            const int[::1] free, int t, double[:, ::1] B, double[:, ::1] U, double s, int n_sweeps):
    """Sweeps over all rows; B and U are updated in place.

    Parameters
    ----------
    P : ndarray of shape (p, p) or (q p, p)
        Symmetric; rows are contiguous. Forms of the outputs stand one below the other.
    D : ndarray of shape (p,)
        Positive.
    forced, free : ndarray of int32
        Items that are chosen, and those that may be; B is zero elsewhere.
    t : int
        How many free items are chosen.
    B, U : ndarray of shape (q, p)
        Coefficients, and what they leave of the products c.
    s : float
        Square root of the price to start from.
    n_sweeps : int
        Sweeps over all rows; each is followed by some over those that are not zero.

    Returns
    -------
    s : float
        The price at the end.
    """
    cdef int p = P.shape[1], q = B.shape[0], n = free.shape[0], k, sweep, inner, n_active
    cdef double fall, within, total
    cdef int[::1] active = np.empty(n, dtype=np.intc)
    cdef double[::1] row = np.empty(q)
    with nogil:
        for sweep in range(n_sweeps):
            fall, n_active = 0.0, 0
            for k in range(forced.shape[0]):
                fall += _step(P, D, forced[k], -1.0, B, U, row, p, q)
            for k in range(n):
                fall += _step(P, D, free[k], s, B, U, row, p, q)
                if _length(B, free[k], q) > 0.0:
                    active[n_active] = free[k]
                    n_active += 1
            for inner in range(INNER):
                within = 0.0
                for k in range(forced.shape[0]):
                    within += _step(P, D, forced[k], -1.0, B, U, row, p, q)
                for k in range(n_active):
                    within += _step(P, D, active[k], s, B, U, row, p, q)
                if within <= ENOUGH * fall:
                    break
            total = _shares(D, active, n_active, s, B, q)
            s *= min(max(total / t, LEAST_STEP), LARGEST_STEP)
    return s


cdef inline double _length(const double[:, ::1] B, int i, int q) noexcept nogil:
    cdef double total = 0.0
    cdef int j
    for j in range(q):
        total += B[j, i] * B[j, i]
    return sqrt(total)


cdef double _step(const double[:, :] P, const double[::1] D, int i, double s, double[:, ::1] B,
                  double[:, ::1] U, double[::1] row, int p, int q) noexcept nogil:
    """Set one row to its best value, a chosen one if s is negative; about how much that is worth."""
    cdef double own = P[i, i], length = 0.0, limit, wanted, factor, change, fall = 0.0
    cdef int j, k, apart = p if P.shape[0] > p else 0
    cdef double* u
    cdef const double* column
    if apart:
        for j in range(1, q):
            own = max(own, P[j * apart + i, i])
    for j in range(q):
        row[j] = U[j, i] + own * B[j, i]
        length += row[j] * row[j]
    length = sqrt(length)
    if s < 0.0:
        wanted = length / (own + D[i])
    else:
        limit = s * sqrt(D[i])
        if length <= limit:
            wanted = 0.0
        elif (length - limit) * sqrt(D[i]) < s * own:
            wanted = (length - limit) / own
        else:
            wanted = length / (own + D[i])
    factor = wanted / length if length > 0.0 else 0.0
    for j in range(q):
        change = factor * row[j] - B[j, i]
        if change == 0.0:
            continue
        fall += (own + D[i]) * change * change
        B[j, i] += change
        u = &U[j, 0]
        column = &P[j * apart + i, 0]
        for k in range(p):
            u[k] -= change * column[k]
    return fall


cdef double _shares(const double[::1] D, const int[::1] active, int n, double s,
                    const double[:, ::1] B, int q) noexcept nogil:
    """Sum of z."""
    cdef int k
    cdef double total = 0.0
    for k in range(n):
        total += min(1.0, sqrt(D[active[k]]) * _length(B, active[k], q) / s)
    return total
