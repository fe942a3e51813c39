# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Rank-one deflation of a symmetric matrix, and what is left of its columns, in one pass."""


def deflate(double[:, ::1] G, const double[::1] w, double[::1] energy):
    """G - ww' in place; ``energy`` receives the squared lengths of its columns.

    Reads and writes G once, where separate steps would read it twice. No input validation.
    """
    cdef Py_ssize_t n = G.shape[0], i, j
    cdef double factor, value
    cdef double* row
    with nogil:
        for j in range(n):
            energy[j] = 0.0
        for i in range(n):
            row = &G[i, 0]
            factor = w[i]
            for j in range(n):
                value = row[j] - factor * w[j]
                row[j] = value
                energy[j] += value * value
