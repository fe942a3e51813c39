# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Sums and shares that the relaxation of a node needs (:mod:`columnist.selection._relax`)."""

from libc.math cimport exp
from libc.stdlib cimport qsort
from libc.string cimport memcpy


cdef inline int descending(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*> a)[0], y = (<const double*> b)[0]
    return 1 if x < y else (-1 if x > y else 0)


cdef inline double n_sets(int n, int t) noexcept nogil:
    """About how many ways there are to choose t of n."""
    cdef int i
    cdef double ways = 1.0
    for i in range(min(t, n - t)):
        ways *= (n - i) / (i + 1.0)
    return ways


cdef inline double rows(int n, int q, const double* A, const double* B,
                        double* squares) noexcept nogil:
    """Sum of A * B, and the squared lengths of the rows of A."""
    cdef int i, j
    cdef double total = 0.0
    for i in range(n):
        squares[i] = 0.0
    for j in range(q):
        for i in range(n):
            total += A[i + <size_t> j * n] * B[i + <size_t> j * n]
            squares[i] += A[i + <size_t> j * n] * A[i + <size_t> j * n]
    return total


cdef inline double largest(const double* values, int n, int t, double* order) noexcept nogil:
    """Sum of the t largest values, which are sorted into ``order``."""
    cdef int i
    cdef double total = 0.0
    memcpy(order, values, n * sizeof(double))
    qsort(order, n, sizeof(double), &descending)
    for i in range(min(t, n)):
        total += order[i]
    return total


cdef inline void capped(const double* weights, int n, int t, double* z) noexcept nogil:
    """z proportional to the weights, at most 1, with sum t."""
    cdef int i, full = 0, last = -1
    cdef double total, factor, most = 0.0
    for i in range(n):
        most = max(most, weights[i])
        z[i] = 0.0
    while full != last and full < t:
        last, total = full, 0.0
        for i in range(n):
            if z[i] < 1.0:
                total += weights[i] + 1e-12 * most
        if total <= 0.0:
            break
        factor, full = (t - full) / total, 0
        for i in range(n):
            if z[i] < 1.0:
                z[i] = factor * (weights[i] + 1e-12 * most)
            if z[i] >= 1.0:
                z[i] = 1.0
                full += 1
    for i in range(n):
        z[i] = min(max(z[i], 1e-5), 1.0)


cdef inline void shape(int n, const double* z, const double* v, double* D) noexcept nogil:
    """Raise D where the bound gains by it, and lower it where its multiple does: a small step, for
    v changes with D."""
    cdef int i
    cdef double free = 0.0, norm = 0.0, step
    for i in range(n):
        free += z[i] * (1.0 - z[i])
        norm += v[i] * v[i]
    for i in range(n):
        step = 0.03 * n * (z[i] * (1.0 - z[i]) / free - v[i] * v[i] / norm)
        D[i] *= exp(max(min(step, 0.2), -0.2))
