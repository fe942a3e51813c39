# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Sums over the edges of a sparse graph.

For the Laplacian L of a symmetric similarity S and every column f of X,

    f'Lf = sum over i < j of S_ij (f_i - f_j)^2,

which never cancels, as f'Df - f'Sf does, and needs no second matrix of the size of X. The rows of X
are read along an edge, so they should be contiguous. No input validation.
"""

from cython cimport floating

import numpy as np

# Columns of a strip: a strip of two rows and its sums stay in the first-level cache.
cdef Py_ssize_t STRIP = 512


def laplacian_forms(const int[::1] indptr, const int[::1] indices, const double[::1] weights,
                    const floating[:, :] X):
    """f'Lf of every column f of X; the graph is in compressed rows, X in rows of unit stride.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from columnist.spectral._edges import laplacian_forms
    >>> S = sp.csr_matrix([[0.0, 2.0], [2.0, 0.0]])
    >>> laplacian_forms(S.indptr, S.indices, S.data, np.array([[0.0, 1.0], [3.0, 1.0]]))
    array([18.,  0.])
    """
    cdef Py_ssize_t n = X.shape[0], m = X.shape[1], start = 0, width
    sums = np.zeros(m)
    cdef double[::1] total = sums
    if m and X.strides[1] != sizeof(floating):
        raise ValueError("rows of X must be contiguous")
    if n and m:
        with nogil:
            while start < m:
                width = STRIP if m - start > STRIP else m - start
                _strip(&indptr[0], &indices[0] if indices.shape[0] else NULL,
                       &weights[0] if weights.shape[0] else NULL, n,
                       &X[0, start], X.strides[0] // <Py_ssize_t> sizeof(floating), width,
                       &total[start])
                start += STRIP
    return sums


cdef void _strip(const int* indptr, const int* indices, const double* weights, Py_ssize_t n,
                 const floating* X, Py_ssize_t step, Py_ssize_t width,
                 double* total) noexcept nogil:
    """Add every edge i < j to the sums of some columns."""
    cdef Py_ssize_t i, e, k
    cdef double weight, difference
    cdef const floating* a
    cdef const floating* b
    for i in range(n):
        a = X + i * step
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] <= i:
                continue
            b = X + indices[e] * step
            weight = weights[e]
            for k in range(width):
                difference = <double> a[k] - <double> b[k]
                total[k] += weight * difference * difference
