# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Block coordinate descent for row-sparse least squares, one row of W after the other.

For 1/2 ||Y - XW||^2 + t sum_j ||w_j|| the best row w_j, all others fixed, is the pull

    p = x_j'R + ||x_j||^2 w_j,    R = Y - XW,

shortened by t and divided by ||x_j||^2; zero if p is not longer than t. The rows come from the
residual R itself, or, where X'X is known, from Q = X'Y - X'X W. No input validation.
"""

from libc.math cimport sqrt
from scipy.linalg.cython_blas cimport daxpy, ddot, dger


cdef double _update(const double* slope, double curvature, double t, double* w, double* change,
                    int q) noexcept nogil:
    """Put the best row into w and minus its change into ``change``; squared length of the latter.

    ``slope`` holds x_j'R.
    """
    cdef int k
    cdef double pull, length = 0.0, shrink = 0.0, moved = 0.0
    for k in range(q):
        pull = slope[k] + curvature * w[k]
        change[k] = pull
        length += pull * pull
    length = sqrt(length)
    if length > t and curvature > 0.0:
        shrink = (1.0 - t / length) / curvature
    for k in range(q):
        pull = shrink * change[k]
        change[k] = w[k] - pull
        w[k] = pull
        moved += change[k] * change[k]
    return moved


def descend_gram(const double[:, ::1] G, double[:, ::1] Q, double[:, ::1] W, double t,
                 double[::1] work, double tol, int max_sweeps):
    """Sweeps over the rows of W with the Gram matrix G; W and Q = X'Y - GW change in place. Ends
    after ``max_sweeps``, or when a sweep moves X W, row by row, by no more than ``tol``: sum_j G_jj
    ||change of w_j||^2 <= tol^2. ``work`` holds one row. Returns the sweeps made."""
    cdef int rows = <int> W.shape[0], q = <int> W.shape[1], j, sweep = 0, one = 1
    cdef double moved, total, unit = 1.0
    if rows == 0 or q == 0:
        return 0
    with nogil:
        while sweep < max_sweeps:
            total = 0.0
            sweep += 1
            for j in range(rows):
                moved = _update(&Q[j, 0], G[j, j], t, &W[j, 0], &work[0], q)
                if moved > 0.0:
                    total += G[j, j] * moved
                    # Q, read by columns, is its transpose.
                    dger(&q, &rows, &unit, &work[0], &one, <double*> &G[j, 0], &one,
                         &Q[0, 0], &q)
            if total <= tol * tol:
                break
    return sweep


def descend_columns(const double[:, ::1] columns, const double[::1] squares, double[:, ::1] R,
                    double[:, ::1] W, double t, double[:, ::1] work, double tol, int max_sweeps):
    """The same with the residual; columns of X as rows of ``columns``, R transposed.

    ``squares`` holds the squared lengths of the columns, ``work`` two rows of W.
    """
    cdef int rows = <int> W.shape[0], q = <int> W.shape[1], n = <int> R.shape[1]
    cdef int j, k, sweep = 0, one = 1
    cdef double moved, total
    if rows == 0 or q == 0 or n == 0:
        return 0
    with nogil:
        while sweep < max_sweeps:
            total = 0.0
            sweep += 1
            for j in range(rows):
                for k in range(q):
                    work[0, k] = ddot(&n, <double*> &columns[j, 0], &one, &R[k, 0], &one)
                moved = _update(&work[0, 0], squares[j], t, &W[j, 0], &work[1, 0], q)
                if moved > 0.0:
                    total += squares[j] * moved
                    for k in range(q):
                        daxpy(&n, &work[1, k], <double*> &columns[j, 0], &one, &R[k, 0], &one)
            if total <= tol * tol:
                break
    return sweep
