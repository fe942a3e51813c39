# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Pairs and triples of columns that may still lead below a limit.

Let mu^i be the eigenvalues of the residual second moment after column i alone. After a tuple T of w
columns the eigenvalues nu satisfy, by interlacing,

    max over i in T of mu^i_{l+w-1}  <=  nu_l  <=  min over i in T of mu^i_l,

and their sum is known in closed form from inner products. For an error sum_l h(nu_l) with h
increasing and concave (Schatten-p with p <= 2, h(x) = x^(p/2)) the least value in that box with
that sum is found by filling the boxes of the largest eigenvalues first, along secants: the boxes do not
overlap, so their secants get steeper from the largest eigenvalue to the smallest.

No input validation.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport malloc, realloc, free

import numpy as np

from columnist.linalg._rounding cimport PARALLEL, SUMS


cdef struct Spectra:
    int d
    int drop                # eigenvalues that may vanish beside those of the tuple
    bint fill               # whether the known sum may be used (h concave)
    double slack            # rounding of one eigenvalue
    double relative         # rounding of inner products, relative to them
    const double* high      # n x d: mu
    const double* low       # n x d: mu minus its rounding
    const double* h_high    # h of both
    const double* h_low


cdef struct Tuple:
    int at[3]               # the columns
    double total            # least error sum


cdef struct Found:
    int width
    size_t count
    size_t capacity
    Tuple* tuples
    bint failed


cdef double _least(const Spectra* s, const int* tuple_at, int width, int drop, double total,
                   double limit) noexcept nogil:
    """Least error sum over the box; stops early once it reaches ``limit``."""
    cdef int d = s.d, l, k, shift = width - 1
    cdef size_t at
    cdef double low, high, h_low, h_high, left = total, result = 0.0, room
    # What the lower ends do not account for must be filled in.
    for l in range(d):
        low = 0.0
        high = s.high[<size_t> tuple_at[0] * d + l]
        for k in range(width):
            at = <size_t> tuple_at[k] * d + l
            high = min(high, s.high[at])
            if l + shift < d:
                low = max(low, s.low[at + shift])
        left -= max(high, low) if l < drop else low
    left -= 3.0 * d * s.slack
    for l in range(drop, d):
        low = h_low = 0.0
        at = <size_t> tuple_at[0] * d + l
        high = s.high[at]
        h_high = s.h_high[at]
        for k in range(width):
            at = <size_t> tuple_at[k] * d + l
            high = min(high, s.high[at])
            h_high = min(h_high, s.h_high[at])
            if l + shift < d:
                low = max(low, s.low[at + shift])
                h_low = max(h_low, s.h_low[at + shift])
        result += h_low
        room = high - low
        if s.fill and left > 0.0 and room > 0.0:
            if left >= room:
                result += h_high - h_low
            else:
                result += (h_high - h_low) * (left / room)
            left -= room
        if result >= limit:
            return result
    return result


cdef void _keep(Found* found, const int* tuple_at, double total) noexcept nogil:
    cdef int k
    cdef Tuple* grown
    if found.count == found.capacity:
        grown = <Tuple*> realloc(found.tuples, 2 * found.capacity * sizeof(Tuple))
        if grown == NULL:
            found.failed = True
            return
        found.tuples = grown
        found.capacity *= 2
    for k in range(found.width):
        found.tuples[found.count].at[k] = tuple_at[k]
    found.tuples[found.count].total = total
    found.count += 1


cdef double _caught(double a, double m, double gap_i, double gap_j, double e_i, double e_j,
                    double rounding, double relative) noexcept nogil:
    """Energy of two residuals with squared lengths, energies and inner products, at most."""
    cdef double det = gap_i * gap_j - a * a, first = 0.0
    # The squared sine itself is known up to ``relative``; below that anything may be caught.
    if gap_i > 0.0 and gap_j > 0.0:
        if det > 2.0 * relative:
            return (e_i * gap_j + e_j * gap_i - 2.0 * a * m + rounding) / (det - relative)
        return INFINITY
    if gap_i > 2.0 * relative:
        first = (e_i + rounding) / (gap_i - relative)
    elif gap_i > 0.0:
        return INFINITY
    if gap_j > 2.0 * relative:
        first = max(first, (e_j + rounding) / (gap_j - relative))
    elif gap_j > 0.0:
        return INFINITY
    return first


cdef void _scan(const Spectra* s, const double* A, const double* M, int n, double energy,
                double limit, Found* found) noexcept nogil:
    cdef int i, j, k, pair = s.drop + (found.width - 2)
    cdef int tuple_at[3]
    cdef double a, m, total, gap_j, e_j, gap_k, e_k, ak, mk, rounding, first
    for i in range(n):
        tuple_at[0] = i
        for j in range(i):
            tuple_at[1] = j
            a = A[i * n + j]
            m = M[i * n + j]
            rounding = s.relative * (M[i * n + i] + M[j * n + j])
            total = energy - _caught(a, m, A[i * n + i], A[j * n + j], M[i * n + i],
                                     M[j * n + j], rounding, s.relative)
            total = _least(s, tuple_at, 2, pair, total, limit)
            if total >= limit:
                continue
            if found.width == 2:
                _keep(found, tuple_at, total)
                if found.failed:
                    return
                continue
            if A[i * n + i] <= PARALLEL:
                first = 0.0
                gap_j, e_j = A[j * n + j], M[j * n + j]
            else:
                first = M[i * n + i]
                gap_j = max(A[j * n + j] - a * a, 1e-300) if A[j * n + j] > 0.0 else 0.0
                e_j = M[j * n + j] - 2.0 * a * m + a * a * first
            for k in range(j):
                tuple_at[2] = k
                ak = A[i * n + k]
                mk = M[i * n + k]
                gap_k = max(A[k * n + k] - ak * ak, 1e-300) if A[k * n + k] > 0.0 else 0.0
                e_k = M[k * n + k] - 2.0 * ak * mk + ak * ak * first
                total = energy - first - _caught(
                    A[j * n + k] - a * ak,
                    M[j * n + k] - a * mk - ak * m + a * ak * first,
                    gap_j, gap_k, e_j, e_k, rounding + s.relative * M[k * n + k], s.relative)
                total = _least(s, tuple_at, 3, s.drop, total, limit)
                if total < limit:
                    _keep(found, tuple_at, total)
                    if found.failed:
                        return


def surviving_tuples(double[:, ::1] high, double[:, ::1] low, double[:, ::1] h_high,
                     double[:, ::1] h_low, double[:, ::1] cosines, double[:, ::1] inner,
                     double energy, int width, int drop, double slack, double limit, bint fill,
                     double grown=1.0):
    """Pairs or triples (``width``) whose least error sum stays below ``limit``, and these sums.

    ``high``, ``low`` (n x d) are the spectra after each column, descending, and minus their
    rounding, ``h_high``, ``h_low`` are h of them; ``cosines``, ``inner`` (n x n) the inner products
    of the unit residuals and of their images z; ``energy`` is the sum of the eigenvalues before any
    of the columns. The ``drop`` leading eigenvalues do not count (columns still to come,
    components), each has the rounding ``slack``, which has ``grown`` by a factor (see
    :mod:`columnist.linalg._rounding`). ``fill`` says that h is concave: the known sum may be used.
    """
    cdef int n = high.shape[0]
    cdef Spectra s
    cdef Found found
    found.width = width
    found.count = 0
    found.capacity = 64
    found.failed = False
    found.tuples = <Tuple*> malloc(found.capacity * sizeof(Tuple))
    if found.tuples == NULL:
        raise MemoryError("Not enough memory to list the tuples of a node.")
    s.d = high.shape[1]
    s.drop = min(drop, s.d)
    s.fill = fill
    s.slack = slack
    s.relative = SUMS * grown
    s.high = s.low = s.h_high = s.h_low = NULL
    if s.d > 0 and n > 0:
        s.high = &high[0, 0]
        s.low = &low[0, 0]
        s.h_high = &h_high[0, 0]
        s.h_low = &h_low[0, 0]
    if n > 0:  # with nothing left to explain, every tuple survives
        with nogil:
            _scan(&s, &cosines[0, 0], &inner[0, 0], n, energy, limit, &found)
    try:
        if found.failed:
            raise MemoryError("Not enough memory to list the tuples of a node.")
        return _copied(&found)
    finally:
        free(found.tuples)


cdef _copied(Found* found):
    tuples = np.empty((found.count, found.width), dtype=np.int32)
    totals = np.empty(found.count)
    cdef int[:, ::1] positions = tuples
    cdef double[::1] sums = totals
    cdef size_t i
    cdef int k
    for i in range(found.count):
        for k in range(found.width):
            positions[i, k] = found.tuples[i].at[k]
        sums[i] = found.tuples[i].total
    return tuples, totals
