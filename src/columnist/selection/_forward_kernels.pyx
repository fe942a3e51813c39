# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Steps of forward selection: deflation of a Gram matrix, quadratic forms of sparse columns."""


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


def add_forms(
    const Py_ssize_t[::1] indptr,
    const Py_ssize_t[::1] indices,
    const double[::1] data,
    const double[:, ::1] block,
    Py_ssize_t first,
    double[::1] out,
):
    """Add x[rows]' block x to ``out`` for every sparse column x. No input validation. ``block``
    holds the rows ``first`` and following of a symmetric matrix; columns are in CSC form with
    sorted indices."""
    cdef Py_ssize_t last = first + block.shape[0]
    cdef Py_ssize_t column, i, j, start, stop
    cdef double inner, total
    cdef const double* row
    with nogil:
        for column in range(out.shape[0]):
            start, stop = indptr[column], indptr[column + 1]
            total = 0.0
            for i in range(start, stop):
                if indices[i] < first:
                    continue
                if indices[i] >= last:
                    break
                row = &block[indices[i] - first, 0]
                inner = 0.0
                for j in range(start, stop):
                    inner += row[indices[j]] * data[j]
                total += inner * data[i]
            out[column] += total
