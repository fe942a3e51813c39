# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Quadratic forms of sparse columns."""


def add_forms(
    const Py_ssize_t[::1] indptr,
    const Py_ssize_t[::1] indices,
    const double[::1] data,
    const double[:, ::1] block,
    Py_ssize_t first,
    double[::1] out,
):
    """Add x[rows]' block x to ``out`` for every sparse column x. No input validation.

    ``block`` holds the rows ``first`` and following of a symmetric matrix; columns are in CSC
    form with sorted indices.
    """
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
