# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Which k of a few rows to remove: every set, depth first, most of them ruled out by bounds.

Rows are decided one after the other, the longest first: kept or removed. With A the eigenvalues of
the Gram matrix of all rows that are not removed yet, B those of the rows that are kept for certain
(both centred if errors are), t rows still to remove and r components, no set below this point has
an error smaller than

    sum over i of max(A_{i+t+r}, B_{i+r}).

Keeping a row changes B alone, removing one changes A alone: one small eigenproblem a node.

Eigenvalues are computed with errors that sum to at most ``_allowance``, as derived in
:mod:`columnist.robust._tails`; bounds are lowered by it. No input validation.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from scipy.linalg.cython_lapack cimport dsterf, dsytrd

from columnist.linalg._rounding cimport UNIT

import numpy as np

# A set of rows is a word of bits.
MOST_ROWS = 64


cdef struct Search:
    int n, r, roundings
    bint centred, stopped
    const double* gram
    double* spectra          # two per depth
    double* work
    int lwork
    double limit             # an error that was reached, or given: larger ones are ruled out
    double best, least       # error found, and the least it can be
    double floor             # the least that any other complete set examined can be
    uint64_t found
    bint any
    long nodes, max_nodes


cdef double _eigenvalues(Search* s, uint64_t rows, double* out, int* count) noexcept nogil:
    """Eigenvalues of some rows, descending; returns what they may be off in all."""
    cdef int n = s.n, m = 0, i, j, info = 0, lwork = s.lwork
    cdef int names[64]
    cdef double* matrix = s.work
    cdef double* means = matrix + n * n
    cdef double trace = 0.0, mean = 0.0, value
    for i in range(n):
        if rows >> i & 1:
            names[m] = i
            m += 1
    count[0] = m
    if m == 0:
        return 0.0
    for j in range(m):
        means[j] = 0.0
        for i in range(m):
            value = s.gram[names[j] * n + names[i]]
            matrix[j * m + i] = value
            means[j] += value
        means[j] /= m
        mean += means[j]
        trace += matrix[j * m + j]
    if s.centred:
        mean /= m
        for j in range(m):
            for i in range(m):
                matrix[j * m + i] -= means[i] + means[j] - mean
    dsytrd(b"L", &m, matrix, &m, out, means, means + n, means + 2 * n, &lwork, &info)
    dsterf(&m, out, means, &info)
    for i in range(m // 2):
        value = out[i]
        out[i] = out[m - 1 - i]
        out[m - 1 - i] = value
    for i in range(m):
        if out[i] < 0.0:
            out[i] = 0.0
    return UNIT * sqrt(<double> m) * (s.roundings + 4 * m + 8.0 * (m + 3) * (m + 3)) * trace


cdef double _tail(const double* A, int a, const double* B, int b, int drop, int r) noexcept nogil:
    """Sum over i of max(A[i + drop], B[i + r])."""
    cdef double total = 0.0, x, y
    cdef int i
    for i in range(max(a - drop, b - r)):
        x = A[i + drop] if i + drop < a else 0.0
        y = B[i + r] if i + r < b else 0.0
        total += max(x, y)
    return total


cdef void _visit(Search* s, int depth, int t, uint64_t alive, uint64_t kept, const double* A, int a,
                 double off_a, const double* B, int b, double off_b) noexcept nogil:
    """Rows before ``depth`` are decided; t more are to be removed."""
    cdef int n = s.n, count
    cdef double bound, low, off
    cdef double* own = s.spectra + 2 * n * depth
    cdef uint64_t row = <uint64_t> 1 << depth
    if s.stopped or n - depth < t:
        return
    s.nodes += 1
    if s.nodes > s.max_nodes:
        s.stopped = True
        return
    bound = _tail(A, a, B, b, t + s.r, s.r)
    low = bound - off_a - off_b - 4 * n * UNIT * bound
    if low >= s.limit:
        return
    if t == 0 or n - depth == t:
        if s.any and bound >= s.best:
            s.floor = min(s.floor, low)
            return
        if s.any:
            s.floor = min(s.floor, s.least)
        s.any = True
        s.best, s.least = bound, low
        s.found = ~(alive if t == 0 else kept)
        s.limit = min(s.limit, bound)
        return
    off = _eigenvalues(s, kept | row, own, &count)
    _visit(s, depth + 1, t, alive, kept | row, A, a, off_a, own, count, off)
    off = _eigenvalues(s, alive & ~row, own + n, &count)
    _visit(s, depth + 1, t - 1, alive & ~row, kept, own + n, count, off, B, b, off_b)


def best_removal(const double[:, ::1] gram, int n_components, int n_removed, bint centred,
                 double limit, long max_nodes, int roundings):
    """Look for a set of at most 64 rows to remove that leaves an error below ``limit``; ``gram``
    holds inner products, each of some ``roundings``, errors are about the mean of kept rows
    (``centred``) or the origin. Returns a bound that no other set is below; the set or None; nodes;
    and whether all sets were ruled out or examined: if not, the bound means nothing."""
    cdef int n = gram.shape[0], a
    cdef Search s
    cdef double off
    if n > 64:
        raise ValueError(f"At most {MOST_ROWS} rows; got {n}.")
    order = np.argsort(-_lengths(np.asarray(gram), centred), kind="stable")
    cdef double[:, ::1] sorted_gram = np.ascontiguousarray(np.asarray(gram)[np.ix_(order, order)])
    cdef uint64_t everyone = ~<uint64_t> 0 if n == 64 else (<uint64_t> 1 << n) - 1
    s.n, s.r, s.roundings, s.centred = n, n_components, roundings, centred
    s.stopped = s.any = False
    s.limit, s.best, s.least, s.floor, s.found = limit, limit, limit, INFINITY, 0
    s.nodes, s.max_nodes, s.lwork = 0, max_nodes, 64 * n + 64
    s.gram = &sorted_gram[0, 0]
    s.spectra = <double*> malloc((2 * n * (n + 1) + n) * sizeof(double))
    s.work = <double*> malloc((n * n + 2 * n + s.lwork) * sizeof(double))
    if s.spectra == NULL or s.work == NULL:
        free(s.spectra)
        free(s.work)
        raise MemoryError("Not enough memory for a search among a few rows.")
    with nogil:
        off = _eigenvalues(&s, everyone, s.spectra + 2 * n * (n + 1), &a)
        _visit(&s, 0, n_removed, everyone, 0, s.spectra + 2 * n * (n + 1), a, off, s.spectra, 0,
               0.0)
    free(s.spectra)
    free(s.work)
    removed = None
    if s.any:
        removed = np.sort(order[[i for i in range(n) if s.found >> i & 1]])
    return min(s.limit, s.floor), removed, s.nodes, not s.stopped


def _lengths(gram, centred):
    """Squared lengths of the rows, about their mean if errors are."""
    lengths = np.diag(gram)
    return lengths - 2.0 * gram.mean(axis=0) + gram.mean() if centred else lengths
