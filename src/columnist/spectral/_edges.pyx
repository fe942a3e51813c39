# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Edges between rows: to the nearest of every class in Manhattan distance, and sums along them.

The distance of two rows x and y is sum over f of |x_f - y_f| scale_f. All pairs of rows meet once,
tile by tile: a strip of features of both row blocks is shifted, scaled and packed into panels of
eight rows each, feature by feature, so that eight distances grow side by side in registers. X is
never copied whole. Every pair sums its features in the same order, so the result depends neither
on the tiles nor on the number of threads nor on the width of the processor's registers.

Of a sparse row x, spread out, and another row y only the entries of y are visited:

    sum over f of |x_f - y_f| = sum of all |x_f| + sum over y_f != 0 of (|x_f - y_f| - |x_f|).

No input validation.
"""

from cython cimport final, floating
from libc.math cimport fabs
from libc.string cimport memset

import numpy as np

cdef extern from *:
    """
    #include <math.h>
    #include <stddef.h>

    /* out[r][j] += sum over k of |a[k][r] - b[k][j]|: 4 rows of a panel and 8 of another. */
    #define SUM_OF_DIFFERENCES                                                   \
        double sum[4][8] = {{0.0}};                                              \
        for (ptrdiff_t k = 0; k < width; k++, a += 8, b += 8)                    \
            for (int r = 0; r < 4; r++)                                          \
                for (int j = 0; j < 8; j++) sum[r][j] += fabs(a[r] - b[j]);      \
        for (int r = 0; r < 4; r++)                                              \
            for (int j = 0; j < 8; j++) out[r * step + j] += sum[r][j];

    #if defined(__GNUC__) && defined(__x86_64__)
    /* Wheels are built for any x86-64, but most processors can add twice as many at once. */
    __attribute__((target("avx2")))
    static void add_wide(const double *a, const double *b, ptrdiff_t width,
                         double *out, ptrdiff_t step)
    {
        SUM_OF_DIFFERENCES
    }
    #endif

    static void add_distances(const double *a, const double *b, ptrdiff_t width,
                              double *out, ptrdiff_t step)
    {
    #if defined(__GNUC__) && defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) {
            add_wide(a, b, width, out, step);
            return;
        }
    #endif
        SUM_OF_DIFFERENCES
    }
    """
    void add_distances(const double* a, const double* b, Py_ssize_t width,
                       double* out, Py_ssize_t step) noexcept nogil

cdef enum:
    PANEL = 8  # rows side by side
    BLOCK = 128  # rows of a tile, and features of a strip: two packed blocks fit the second cache
    SUMS = 512  # columns whose sums along a graph stay in the first cache


@final
cdef class NearestByClass:
    """For every row the nearest rows of every class, found as pairs of rows meet.

    ``X`` is C-contiguous, float64 or float32, or CSR; ``low`` is subtracted from every feature (of
    a sparse X, from its stored entries), and the rest multiplied by ``scale``. ``order`` holds the
    row of X at every position, with classes contiguous, ``starts`` the first position of every
    class, and n. ``positions`` are those of the ``size`` nearest rows, class by class, in no order;
    n where a class has none left. Distances within ``grid``, a power of two, count as equal; then
    the smaller position is nearer.
    """

    cdef readonly object positions
    cdef const double[:, ::1] wide
    cdef const float[:, ::1] narrow
    cdef bint is_narrow, is_sparse
    cdef const Py_ssize_t[::1] indptr
    cdef const int[::1] indices
    cdef const double[::1] data
    cdef const double[::1] low, scale
    cdef const Py_ssize_t[::1] order, starts
    cdef Py_ssize_t[::1] slots
    cdef int[::1] label
    cdef int[:, ::1] who
    cdef double[:, ::1] distance, worst
    cdef double rounder

    def __init__(self, X, const double[::1] low, const double[::1] scale,
                 const Py_ssize_t[::1] order, const Py_ssize_t[::1] starts,
                 Py_ssize_t size, double grid):
        n, counts = X.shape[0], np.diff(starts)
        self.is_narrow, self.is_sparse = X.dtype == np.float32, hasattr(X, "indptr")
        if self.is_sparse:
            self.indptr = X.indptr.astype(np.intp)
            self.indices = X.indices.astype(np.int32, copy=False)
            self.data = (X.data - np.asarray(low)[X.indices]) * np.asarray(scale)[X.indices]
        elif self.is_narrow:
            self.narrow = X
        else:
            self.wide = X
        self.low, self.scale, self.order, self.starts = low, scale, order, starts
        self.slots = np.append(0, np.cumsum(np.minimum(size, counts)))
        self.label = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        self.positions = np.full((n, self.slots[len(counts)]), n, dtype=np.int32)
        self.who = self.positions
        self.distance = np.full((n, self.slots[len(counts)]), np.inf)
        # Of the rows kept the one farthest away; the others of its class need not be examined.
        self.worst = np.full((len(counts), n), np.inf)
        self.rounder = 1.5 * 2.0**52 * grid

    def meet(self, Py_ssize_t a, Py_ssize_t a_stop, Py_ssize_t b, Py_ssize_t b_stop):
        """Every position a <= i < a_stop meets every position b <= j < b_stop. The two ranges are
        equal or disjoint. Calls whose ranges are disjoint may run at the same time."""
        cdef Py_ssize_t room = max(3 * BLOCK * BLOCK, BLOCK * BLOCK + self.low.shape[0])
        cdef double[::1] memory = np.zeros(room + PANEL)
        # Loads across two cache lines are slow.
        cdef double* work = <double*> ((<size_t> &memory[0] + 63) & ~(<size_t> 63))
        cdef Py_ssize_t i = a, j
        with nogil:
            while i < a_stop:
                j = i if a == b else b
                while j < b_stop:
                    self.tile(i, min(a_stop - i, BLOCK), j, min(b_stop - j, BLOCK), work)
                    j += BLOCK
                i += BLOCK

    cdef void tile(self, Py_ssize_t a, Py_ssize_t a_rows, Py_ssize_t b, Py_ssize_t b_rows,
                   double* work) noexcept nogil:
        """Distances of two blocks of at most BLOCK rows; then the rows get to know each other."""
        cdef Py_ssize_t i
        if self.is_sparse:
            self.sparse_distances(a, a_rows, b, b_rows, work, work + BLOCK * BLOCK)
        else:
            self.dense_distances(a, a_rows, b, b_rows, work, work + BLOCK * BLOCK)
        for i in range(a_rows):
            self.introduce(a + i, b, i + 1 if a == b else 0, b_rows, work + i * BLOCK)

    cdef void sparse_distances(self, Py_ssize_t a, Py_ssize_t a_rows, Py_ssize_t b,
                               Py_ssize_t b_rows, double* out, double* spread) noexcept nogil:
        """Distances of sparse rows; ``spread`` has room for a row, is zero and becomes so again."""
        cdef Py_ssize_t i, j, e, row, other
        cdef double norm, total
        for i in range(a_rows):
            row = self.order[a + i]
            norm = 0.0
            for e in range(self.indptr[row], self.indptr[row + 1]):
                spread[self.indices[e]] = self.data[e]
                norm += fabs(self.data[e])
            for j in range(i + 1 if a == b else 0, b_rows):
                other = self.order[b + j]
                total = 0.0
                for e in range(self.indptr[other], self.indptr[other + 1]):
                    total += (fabs(spread[self.indices[e]] - self.data[e])
                              - fabs(spread[self.indices[e]]))
                out[i * BLOCK + j] = norm + total
            for e in range(self.indptr[row], self.indptr[row + 1]):
                spread[self.indices[e]] = 0.0

    cdef void dense_distances(self, Py_ssize_t a, Py_ssize_t a_rows, Py_ssize_t b,
                              Py_ssize_t b_rows, double* out, double* packed) noexcept nogil:
        """Distances of dense rows, strip by strip; ``packed`` has room for two packed blocks."""
        cdef double* other = packed if a == b else packed + BLOCK * BLOCK
        cdef Py_ssize_t i, j, k = 0, width, m = self.low.shape[0]
        memset(out, 0, BLOCK * BLOCK * sizeof(double))
        while k < m:
            width = min(m - k, BLOCK)
            self.pack(a, a_rows, k, width, packed)
            if a != b:
                self.pack(b, b_rows, k, width, other)
            for i in range(0, a_rows, 4):
                j = i // PANEL * PANEL if a == b else 0
                while j < b_rows:
                    add_distances(packed + i // PANEL * PANEL * width + i % PANEL,
                                  other + j * width, width, out + i * BLOCK + j, BLOCK)
                    j += PANEL
            k += BLOCK

    cdef void pack(self, Py_ssize_t start, Py_ssize_t rows, Py_ssize_t first, Py_ssize_t width,
                   double* out) noexcept nogil:
        """Features first, ... of some rows, panel by panel; rows that fill up a panel are zero."""
        cdef Py_ssize_t i, k, row
        cdef double* place
        for i in range((rows + PANEL - 1) // PANEL * PANEL):
            place = out + i // PANEL * PANEL * width + i % PANEL
            if i >= rows:
                for k in range(width):
                    place[k * PANEL] = 0.0
                continue
            row = self.order[start + i]
            if self.is_narrow:
                pack_row(&self.narrow[row, first], &self.low[first], &self.scale[first], width,
                         place)
            else:
                pack_row(&self.wide[row, first], &self.low[first], &self.scale[first], width,
                         place)

    cdef void introduce(self, Py_ssize_t i, Py_ssize_t b, Py_ssize_t j, Py_ssize_t rows,
                        double* distances) noexcept nogil:
        """Position i meets the positions b + j, ..., b + rows - 1."""
        cdef Py_ssize_t k, stop
        cdef int c, own = self.label[i]
        cdef const double* theirs = &self.worst[own, b]
        cdef const double* mine
        for k in range(j, rows):
            distances[k] = (distances[k] + self.rounder) - self.rounder
        for k in range(j, rows):
            if distances[k] <= theirs[k]:
                self.offer(b + k, own, distances[k], i)
        while j < rows:
            c = self.label[b + j]
            mine = &self.worst[c, i]
            stop = min(self.starts[c + 1] - b, rows)
            for k in range(j, stop):
                if distances[k] <= mine[0]:
                    self.offer(i, c, distances[k], b + k)
            j = stop

    cdef void offer(self, Py_ssize_t i, int c, double distance, int j) noexcept nogil:
        """Put j in place of the farthest row of class c that i knows, if j is nearer: a heap."""
        cdef double* heap = &self.distance[i, self.slots[c]]
        cdef int* who = &self.who[i, self.slots[c]]
        cdef Py_ssize_t size = self.slots[c + 1] - self.slots[c], k = 0, child = 1
        if not farther(heap[0], who[0], distance, j):
            return
        while child < size:
            if child + 1 < size and farther(heap[child + 1], who[child + 1],
                                            heap[child], who[child]):
                child += 1
            if not farther(heap[child], who[child], distance, j):
                break
            heap[k], who[k] = heap[child], who[child]
            k = child
            child = 2 * k + 1
        heap[k], who[k] = distance, j
        self.worst[c, i] = heap[0]


cdef inline bint farther(double distance, int who, double other, int other_who) noexcept nogil:
    """Whether a row is farther than another; of two at the same distance the later one."""
    return distance > other or (distance == other and who > other_who)


cdef inline void pack_row(const floating* row, const double* low, const double* scale,
                          Py_ssize_t width, double* place) noexcept nogil:
    """Shift and scale some features of a row, and spread them out."""
    cdef Py_ssize_t k
    for k in range(width):
        place[k * PANEL] = (<double> row[k] - low[k]) * scale[k]


def edge_sums(const int[::1] indptr, const int[::1] indices, const double[::1] weights,
              const floating[:, :] X, bint squared=False):
    """Sum over the edges (i, j) of w_ij |f_i - f_j|, or of its square, for every column f of X. The
    graph is in compressed rows, X in rows of unit stride. Squares, with every edge once, are the
    form f'Lf of the Laplacian; nothing cancels as in f'Df - f'Sf."""
    cdef Py_ssize_t n = X.shape[0], m = X.shape[1], first = 0, width, i, e, k
    cdef const floating* a
    cdef const floating* b
    cdef double weight, difference
    sums = np.zeros(m)
    cdef double[::1] totals = sums
    cdef double* total
    if m and X.strides[1] != sizeof(floating):
        raise ValueError("rows of X must be contiguous")
    with nogil:
        while first < m:
            width = min(m - first, SUMS)
            total = &totals[first]
            for i in range(n):
                a = &X[i, first]
                for e in range(indptr[i], indptr[i + 1]):
                    b = &X[indices[e], first]
                    weight = weights[e]
                    if squared:
                        for k in range(width):
                            difference = <double> a[k] - <double> b[k]
                            total[k] += weight * difference * difference
                    else:
                        for k in range(width):
                            total[k] += weight * fabs(<double> a[k] - <double> b[k])
            first += SUMS
    return sums


def sparse_edge_sums(const int[::1] indptr, const int[::1] indices, const double[::1] weights,
                     const Py_ssize_t[::1] starts, const int[::1] columns,
                     const double[::1] data, Py_ssize_t m):
    """Sums of differences, not squared, of a sparse X of m columns, in compressed rows."""
    cdef Py_ssize_t n = indptr.shape[0] - 1, i, j, e, k
    cdef double[::1] spread = np.zeros(m)
    cdef double balance, value
    sums = np.zeros(m)
    cdef double[::1] total = sums
    with nogil:
        for i in range(n):
            for k in range(starts[i], starts[i + 1]):
                spread[columns[k]] = data[k]
            balance = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                balance += weights[e]
                j = indices[e]
                for k in range(starts[j], starts[j + 1]):
                    value = spread[columns[k]]
                    total[columns[k]] += weights[e] * (fabs(value - data[k]) - fabs(value))
            for k in range(starts[i], starts[i + 1]):
                total[columns[k]] += balance * fabs(data[k])
                spread[columns[k]] = 0.0
    return sums
