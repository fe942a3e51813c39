# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Best subsets within blocks of columns, as the bound by blocks asks for them.

For a positive definite block D and U (m x q), the value of a subset T is
:math:`h(T) = \mathrm{tr}(U_T^TD_{TT}^{-1}U_T)`, which never falls as T grows. For each size j the
kernel looks for the largest value of all subsets of that size, of those that contain a column, and
of those that do not. Pairs have closed forms. Larger subsets are found by leaps and bounds: a
family holds all T with :math:`S \subseteq T \subseteq Q`, of which none exceeds
:math:`h(Q)`; it is divided by the column that Q loses most without. Values up to the *level* of
their size are irrelevant: families below it are left out, and the level stands for them. Beyond the
budget h(Q) stands for all of a family.

Leaving column i out of Q is one step of elimination on :math:`D_{QQ}^{-1}`. No rounding is charged:
see :mod:`columnist.selection._block_relaxation`. No input validation.
"""

from libc.math cimport INFINITY, sqrt

import numpy as np


cdef struct Block:
    int m           # columns
    int q           # targets
    int sizes       # largest size
    int width       # of the tables
    long left       # budget
    const double* D
    const double* U
    const double* levels
    double* best
    double* within
    double* without
    unsigned char* which
    # for every depth: columns, whether they are in S, the inverse of D and its product with U
    int* ids
    unsigned char* inside
    double* G
    double* X
    # scratch
    int* taken
    double* factor


def best_in_blocks(const double[::1] D, const double[::1] G, const double[:, ::1] U,
                   const int[::1] starts, const double[:, ::1] levels, long budget,
                   double[:, ::1] best, double[:, ::1] within, double[:, ::1] without,
                   unsigned char[:, :, ::1] which):
    """Largest values of subsets of each size; the last four arguments are results.

    Parameters
    ----------
    D, G : ndarray
        The blocks and their inverses, one after the other.
    U : ndarray of shape (p, q)
        One row for each column.
    starts : ndarray of int32 of shape (n_blocks + 1,)
        The first column of each block.
    levels : ndarray of shape (n_blocks, sizes + 1)
        Values of three columns or more up to these are irrelevant.
    budget : int
        Families that are examined in a block; 0 for single columns and pairs only.
    best : ndarray of shape (n_blocks, sizes + 1)
        For each block.
    within, without : ndarray of shape (p, sizes + 1)
        With and without each column.
    which : ndarray of uint8 of shape (n_blocks, sizes + 1, largest block)
        Subsets of the value ``best``; empty where a level stands for them.
    """
    cdef int n_blocks = len(starts) - 1, q = U.shape[1], sizes = levels.shape[1] - 1
    cdef int k, m, most = which.shape[2]
    cdef size_t at = 0
    cdef Block block
    cdef int[::1] ids = np.empty((most + 1) * most + most, dtype=np.intc)
    cdef unsigned char[::1] inside = np.empty((most + 1) * most, dtype=np.uint8)
    cdef double[::1] space = np.empty((most + 1) * most * (most + q) + most * (most + q))
    block.q, block.width = q, sizes + 1
    block.ids, block.inside, block.G = &ids[0], &inside[0], &space[0]
    block.taken = block.ids + (most + 1) * most
    block.X = block.G + (most + 1) * most * most
    block.factor = block.X + (most + 1) * most * q
    with nogil:
        for k in range(n_blocks):
            m = starts[k + 1] - starts[k]
            block.m, block.left = m, budget
            block.sizes = min(m, sizes)
            block.D, block.U, block.levels = &D[at], &U[starts[k], 0], &levels[k, 0]
            block.best = &best[k, 0]
            block.within, block.without = &within[starts[k], 0], &without[starts[k], 0]
            block.which = &which[k, 0, 0]
            _block(&block, &G[at], most)
            at += <size_t> m * m


cdef void _block(Block* b, const double* G, int most) noexcept nogil:
    """All about one block."""
    cdef int i, j, k, m = b.m, q = b.q
    cdef double whole = 0.0, low
    for i in range(m):
        b.ids[i], b.inside[i] = i, 0
        for j in range(m):
            b.G[i * m + j] = G[i * m + j]
        for k in range(q):
            b.X[i * q + k] = 0.0
            for j in range(m):
                b.X[i * q + k] += G[i * m + j] * b.U[j * q + k]
            whole += b.X[i * q + k] * b.U[i * q + k]
    whole = max(whole, 0.0)
    for j in range(b.width):
        low = min(b.levels[j], whole) if 3 <= j <= b.sizes else 0.0
        b.best[j] = low
        for k in range(most):
            b.which[j * most + k] = 0
        for i in range(m):
            b.within[i * b.width + j], b.without[i * b.width + j] = low, low
    for i in range(m):
        b.within[i * b.width] = -INFINITY
    _small(b, most)
    if b.sizes >= 3 and b.left > 0:
        _explore(b, 0, m, 0, whole, most)


cdef void _small(Block* b, int most) noexcept nogil:
    """Single columns and pairs."""
    cdef int i, j, k, m = b.m, q = b.q
    cdef double own, other, between, value
    if b.sizes < 1:
        return
    for i in range(m):
        own = 0.0
        for k in range(q):
            own += b.U[i * q + k] * b.U[i * q + k]
        b.taken[0] = i
        _record(b, 1, own / b.D[i * m + i], most)
        if b.sizes < 2:
            continue
        for j in range(i):
            other, between = 0.0, 0.0
            for k in range(q):
                other += b.U[j * q + k] * b.U[j * q + k]
                between += b.U[i * q + k] * b.U[j * q + k]
            value = own * b.D[j * m + j] + other * b.D[i * m + i] - 2.0 * between * b.D[i * m + j]
            value /= b.D[i * m + i] * b.D[j * m + j] - b.D[i * m + j] * b.D[i * m + j]
            b.taken[0], b.taken[1] = j, i
            _record(b, 2, value, most)


cdef void _record(Block* b, int size, double value, int most) noexcept nogil:
    """Note a subset, whose columns are in ``taken``, ascending."""
    cdef int i, at = 0
    if value > b.best[size]:
        b.best[size] = value
        for i in range(most):
            b.which[size * most + i] = 0
        for i in range(size):
            b.which[size * most + b.taken[i]] = 1
    for i in range(b.m):
        if at < size and b.taken[at] == i:
            b.within[i * b.width + size] = max(b.within[i * b.width + size], value)
            at += 1
        else:
            b.without[i * b.width + size] = max(b.without[i * b.width + size], value)


cdef void _explore(Block* b, int depth, int n, int n_in, double value, int most) noexcept nogil:
    """The family of subsets between S, of ``n_in`` columns, and Q, of n."""
    cdef int i, j, k, low, high, pick, m = b.m, q = b.q
    cdef int* ids = b.ids + depth * most
    cdef unsigned char* inside = b.inside + depth * most
    cdef double* G = b.G + <size_t> depth * most * most
    cdef double* X = b.X + <size_t> depth * most * q
    cdef double loss, largest
    while True:
        b.left -= 1
        low, high = max(n_in, 3), min(n, b.sizes)
        while high >= low and b.levels[high] >= value:
            high -= 1
        if high < low:
            return
        if b.left < 0:
            for j in range(low, high + 1):
                _spread(b, ids, inside, n, j, value)
            return
        if n_in == high:
            j = 0
            for i in range(n):
                if inside[i]:
                    b.taken[j] = ids[i]
                    j += 1
            _record(b, n_in, value if n_in == n else min(value, _value(b, n_in)), most)
            return
        pick, largest = -1, -1.0
        for i in range(n):
            if not inside[i]:
                loss = 0.0
                for k in range(q):
                    loss += X[i * q + k] * X[i * q + k]
                loss /= G[i * n + i]
                if pick < 0 or loss > largest:
                    pick, largest = i, loss
        _without(b, depth, n, pick, most)
        _explore(b, depth + 1, n - 1, n_in, value - largest, most)
        inside[pick] = 1
        n_in += 1


cdef void _without(Block* b, int depth, int n, int out, int most) noexcept nogil:
    """The next depth: the same without one column."""
    cdef int i, j, k, row = 0, col, q = b.q
    cdef double* G = b.G + <size_t> depth * most * most
    cdef double* X = b.X + <size_t> depth * most * q
    cdef double* H = G + <size_t> most * most
    cdef double* Y = X + most * q
    cdef double factor
    for i in range(n):
        if i == out:
            continue
        b.ids[(depth + 1) * most + row] = b.ids[depth * most + i]
        b.inside[(depth + 1) * most + row] = b.inside[depth * most + i]
        factor, col = G[i * n + out] / G[out * n + out], 0
        for j in range(n):
            if j != out:
                H[row * (n - 1) + col] = G[i * n + j] - factor * G[out * n + j]
                col += 1
        for k in range(q):
            Y[row * q + k] = X[i * q + k] - factor * X[out * q + k]
        row += 1


cdef void _spread(Block* b, const int* ids, const unsigned char* inside, int n, int size,
                  double value) noexcept nogil:
    """A value that no subset of a family exceeds."""
    cdef int i, at = 0
    b.best[size] = max(b.best[size], value)
    for i in range(n):
        while at < ids[i]:  # not in Q
            b.without[at * b.width + size] = max(b.without[at * b.width + size], value)
            at += 1
        at += 1
        b.within[ids[i] * b.width + size] = max(b.within[ids[i] * b.width + size], value)
        if not inside[i]:
            b.without[ids[i] * b.width + size] = max(b.without[ids[i] * b.width + size], value)
    while at < b.m:
        b.without[at * b.width + size] = max(b.without[at * b.width + size], value)
        at += 1


cdef double _value(Block* b, int size) noexcept nogil:
    """The value of the columns in ``taken``, by a Cholesky factorisation."""
    cdef int i, j, k, t, m = b.m, q = b.q
    cdef double* L = b.factor
    cdef double* V = b.factor + size * size
    cdef double total = 0.0, entry
    for i in range(size):
        for j in range(i + 1):
            entry = b.D[b.taken[i] * m + b.taken[j]]
            for k in range(j):
                entry -= L[i * size + k] * L[j * size + k]
            L[i * size + j] = entry / L[j * size + j] if j < i else sqrt(max(entry, 0.0))
        for t in range(q):
            entry = b.U[b.taken[i] * q + t]
            for k in range(i):
                entry -= L[i * size + k] * V[k * q + t]
            V[i * q + t] = entry / L[i * size + i]
            total += V[i * q + t] * V[i * q + t]
    return total
