# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Tail sums of many symmetric matrices, and the programme that adds them up.

The tail sum of a symmetric matrix is the sum of all but its ``top`` largest eigenvalues,
g(M) = min of <Q, M> over projectors Q of rank d - top. It is concave and positively homogeneous,
hence superadditive: g(M + N) >= g(M) + g(N).

Rows are dealt into blocks, and every block lists sets of its rows that may be removed.
Block b holds a matrix R_b that contains its rows outside a *reference* set; the matrix of a
listed set S is

    M_S = R_b + sum over the reference rows not in S of y y' - sum over the other rows of S of y y'.

Rebuilding M_S costs less than its eigenvalues, so none is stored; and where the reference holds
the outliers, no large row is ever subtracted from a matrix that contains it.

Every tail sum is a rigorous lower bound. With N = |R_b|_F + sum of the |y|^2 added or subtracted
(m of them), forming M_S errs by at most (m + 2) u N, the Householder reduction to tridiagonal
form by (4 d^2 + 10 d) u N and the eigenvalues of that form by 12 d^(3/2) u N, all in the
Frobenius norm and all below 8 (d + 3)^2 u N together, but for entries below 1e-145 that count as
zero; by Hoffman and Wielandt the sum of at most d
eigenvalues moves by at most sqrt(d) times as much. This is subtracted. Sums are rounded down.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from scipy.linalg.cython_lapack cimport dsterf, dsyevr, dsytrd

from columnist.linalg._rounding cimport UNIT

import numpy as np

# Reflections of vectors with a smaller squared norm are left out; allowances make up for that.
cdef double TINY = 1e-290
# Up to this order calls cost LAPACK's reduction more than its arithmetic.
cdef int SMALL = 64


cdef double _lower(double value) noexcept nogil:
    """A number below what a sum that was rounded to ``value`` can be."""
    return value - 3.0 * UNIT * fabs(value) if value < INFINITY else value


cdef double _allowance(int d, int updates, double scale) noexcept nogil:
    """Rounding of a tail sum; ``scale`` bounds the norms that went into its matrix."""
    return UNIT * sqrt(<double> d) * (updates + 2 + 8.0 * (d + 3) * (d + 3)) * scale + 1e-140


cdef double _norm(const double* values, int64_t count) noexcept nogil:
    cdef double total = 0.0
    cdef int64_t i
    for i in range(count):
        total += values[i] * values[i]
    return sqrt(total)


cdef void _add_square(double* M, int d, const double* y, double sign) noexcept nogil:
    """Add sign * y y' to the lower triangle of M, stored by columns."""
    cdef int i, j
    cdef double factor
    cdef double* column
    for j in range(d):
        factor = sign * y[j]
        column = M + <size_t> j * d
        for i in range(j, d):
            column[i] += factor * y[i]


cdef void _tridiagonalise(double* M, int d, double* diagonal, double* beside,
                          double* w) noexcept nogil:
    """Householder reduction of the lower triangle of M, which is destroyed."""
    cdef int i, j, k
    cdef double alpha, square, beta, tau, factor, total
    cdef double* v
    cdef double* column
    for k in range(d - 1):
        v = M + <size_t> k * d
        diagonal[k] = v[k]
        alpha, square = v[k + 1], 0.0
        for i in range(k + 2, d):
            square += v[i] * v[i]
        if square < TINY:
            beside[k] = alpha
            continue
        beta = sqrt(alpha * alpha + square)
        if alpha > 0.0:
            beta = -beta
        beside[k] = beta
        tau = (beta - alpha) / beta
        factor = 1.0 / (alpha - beta)
        v[k + 1] = 1.0
        w[k + 1] = 0.0
        for i in range(k + 2, d):
            v[i] *= factor
            w[i] = 0.0
        for j in range(k + 1, d):  # w = M v
            column = M + <size_t> j * d
            factor, total = v[j], column[j] * v[j]
            for i in range(j + 1, d):
                total += column[i] * v[i]
                w[i] += column[i] * factor
            w[j] += total
        total = 0.0
        for i in range(k + 1, d):
            w[i] *= tau
            total += w[i] * v[i]
        total *= -0.5 * tau
        for i in range(k + 1, d):
            w[i] += total * v[i]
        for j in range(k + 1, d):
            column = M + <size_t> j * d
            factor, total = v[j], w[j]
            for i in range(j, d):
                column[i] -= v[i] * total + w[i] * factor
    diagonal[d - 1] = M[<size_t> d * d - 1]


cdef class _Scratch:
    """Memory for one matrix of order d, its eigenvalues and LAPACK."""

    cdef int d, lwork
    cdef double* matrix
    cdef double* vectors
    cdef double* diagonal
    cdef double* work
    cdef int* iwork

    def __cinit__(self, int d):
        cdef size_t square = <size_t> d * d
        self.d = d
        self.lwork = 64 * d + 64
        self.matrix = <double*> malloc((2 * square + 3 * d + self.lwork) * sizeof(double))
        self.iwork = <int*> malloc(12 * (d + 1) * sizeof(int))
        if self.matrix == NULL or self.iwork == NULL:
            raise MemoryError("Not enough memory for a matrix of the block bound.")
        self.vectors = self.matrix + square
        self.diagonal = self.vectors + square
        self.work = self.diagonal + 3 * d

    def __dealloc__(self):
        free(self.matrix)
        free(self.iwork)

    cdef double tail(self, int top) noexcept nogil:
        """Sum of the d - top smallest eigenvalues of ``matrix``, which is destroyed."""
        cdef int d = self.d, info = 0, i
        cdef double total = 0.0
        if top >= d:
            return 0.0
        if d <= SMALL:
            _tridiagonalise(self.matrix, d, self.diagonal, self.diagonal + d, self.work)
        else:
            dsytrd(b"L", &d, self.matrix, &d, self.diagonal, self.diagonal + d,
                   self.diagonal + 2 * d, self.work, &self.lwork, &info)
        dsterf(&d, self.diagonal, self.diagonal + d, &info)
        if info != 0:
            return -INFINITY
        for i in range(d - top):
            total += self.diagonal[i]
        return total

    cdef void top_projector(self, int top, double* out) noexcept nogil:
        """Projector onto the ``top`` leading eigenvectors of ``matrix``, which is destroyed."""
        cdef int d = self.d, info = 0, found = 0, first = d - top + 1, liwork = 10 * d, i, j, v
        cdef double zero = 0.0, total
        dsyevr(b"V", b"I", b"L", &d, self.matrix, &d, &zero, &zero, &first, &d, &zero, &found,
               self.diagonal, self.vectors, &d, self.iwork + 10 * d, self.work, &self.lwork,
               self.iwork, &liwork, &info)
        for i in range(d):
            for j in range(i + 1):
                total = 0.0
                for v in range(found):
                    total += self.vectors[i + v * d] * self.vectors[j + v * d]
                out[i * d + j] = out[j * d + i] = total


def rank_one_tails(const double[:, ::1] matrix, const double[:, ::1] rows,
                   const double[::1] weights, const double[::1] signs, int top):
    """Tail sums of ``weights[i] * matrix + signs[i] * y y'``, y the i-th row, as they round."""
    cdef int d = matrix.shape[0]
    cdef Py_ssize_t i, j
    out = np.empty(rows.shape[0])
    cdef double[::1] values = out
    cdef _Scratch scratch = _Scratch(d)
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(<Py_ssize_t> d * d):
                scratch.matrix[j] = weights[i] * (&matrix[0, 0])[j]
            _add_square(scratch.matrix, d, &rows[i, 0], signs[i])
            values[i] = scratch.tail(top)
    return out


def least_elsewhere(const double[:, ::1] least, Py_ssize_t k):
    """Least total of all blocks but one, for every block and number of removals in that one.
    ``least[b, j]`` is the least cost of block b with j removals; there are k in all. Returns the
    table of what the others cost with k - j removals and, as a vector, the totals of all blocks for
    every number up to k; sums are rounded down."""
    cdef Py_ssize_t B = least.shape[0], w = least.shape[1] - 1, b, i, j
    cdef double total
    before = np.full((B + 1, k + 1), np.inf)
    behind = np.full((2, k + 1), np.inf)
    others = np.full((B, w + 1), np.inf)
    cdef double[:, ::1] F = before
    cdef double[:, ::1] G = behind
    cdef double[:, ::1] out = others
    with nogil:
        F[0, 0] = 0.0
        G[B % 2, 0] = 0.0
        for b in range(B):
            _convolve(&F[b, 0], &least[b, 0], &F[b + 1, 0], k, w)
        for b in range(B - 1, -1, -1):
            for j in range(min(w, k) + 1):
                for i in range(k - j + 1):
                    total = F[b, i] + G[(b + 1) % 2, k - j - i]
                    if total < out[b, j]:
                        out[b, j] = total
                out[b, j] = _lower(out[b, j])
            _convolve(&G[(b + 1) % 2, 0], &least[b, 0], &G[b % 2, 0], k, w)
    return others, before[B]


cdef void _convolve(const double* a, const double* b, double* out, Py_ssize_t k,
                    Py_ssize_t w) noexcept nogil:
    """out[j] = min over i of a[j - i] + b[i], rounded down; j up to k, i up to w."""
    cdef Py_ssize_t i, j
    cdef double total
    for j in range(k + 1):
        out[j] = INFINITY
    for i in range(min(k, w) + 1):
        if b[i] == INFINITY:
            continue
        for j in range(i, k + 1):
            total = a[j - i] + b[i]
            if total < out[j]:
                out[j] = total
    for j in range(k + 1):
        out[j] = _lower(out[j])


cdef class BlockTables:
    """Lower bounds on the tail sum of every listed set of every block. A block is a tuple: its rows
    (int32); the listed sets as bit masks over them, (s, words) uint64; the reference set as such a
    mask; how many rows each set removes (ascending); bounds known so far; and R_b. So many
    ``workers`` may call at the same time, each with its own number."""

    cdef int d, top, n_blocks
    cdef int64_t[::1] evaluations     # by worker
    cdef const double[:, ::1] rows
    cdef double[::1] squares          # |y|^2
    cdef double[:, :, ::1] R
    cdef double[::1] norms            # |R_b|_F
    cdef int32_t[::1] names
    cdef int64_t[::1] name_start
    cdef uint64_t[::1] masks
    cdef int64_t[::1] mask_start
    cdef uint64_t[::1] reference
    cdef int64_t[::1] word_start
    cdef int64_t[::1] cells           # first set of every size, block by block, and the end
    cdef int64_t[::1] cell_start
    cdef double[::1] T
    cdef uint8_t[::1] exact
    cdef list scratches
    cdef readonly object matrices, bounds, starts

    def __init__(self, const double[:, ::1] rows, int top, list blocks, int workers=1):
        cdef int b
        self.rows, self.top = rows, top
        self.d, self.n_blocks = rows.shape[1], len(blocks)
        self.squares = np.einsum("ij,ij->i", rows, rows)
        names, masks, reference, sizes, bounds, matrices = zip(*blocks)
        self.names = np.concatenate(names).astype(np.int32)
        self.name_start = _offsets(names)
        self.masks = np.concatenate([mask.ravel() for mask in masks])
        self.mask_start = _offsets([mask.ravel() for mask in masks])
        self.reference = np.concatenate(reference)
        self.word_start = _offsets(reference)
        self.starts = _offsets(sizes)
        firsts = [
            start + np.searchsorted(size, np.arange(size.max() + 2))
            for start, size in zip(self.starts, sizes)
        ]
        self.cells = np.concatenate(firsts)
        self.cell_start = _offsets(firsts)
        self.bounds = np.concatenate(bounds)
        self.T = self.bounds
        self.exact = np.zeros(len(self.bounds), dtype=np.uint8)
        self.matrices = np.array(matrices)
        self.R = self.matrices
        self.norms = np.empty(self.n_blocks)
        self.scratches = [_Scratch(self.d) for _ in range(workers)]
        self.evaluations = np.zeros(workers, dtype=np.int64)
        for b in range(self.n_blocks):
            self.norms[b] = _norm(&self.R[b, 0, 0], self.d * self.d)

    @property
    def n_evaluated(self):
        """Tail sums computed so far."""
        return int(np.sum(self.evaluations))

    cdef double _build(self, int b, int64_t s, _Scratch scratch) noexcept nogil:
        """Put M_S into the scratch matrix; returns the allowance for its tail sum."""
        cdef int d = self.d, w, row, count = 0
        cdef int words = <int> (self.word_start[b + 1] - self.word_start[b])
        cdef const uint64_t* mask
        cdef const uint64_t* reference
        cdef const int32_t* name
        cdef uint64_t put_back, changed
        cdef double scale = self.norms[b]
        memcpy(scratch.matrix, &self.R[b, 0, 0], <size_t> d * d * sizeof(double))
        if words > 0:
            mask = &self.masks[0] + self.mask_start[b]
            mask += (s - self.cells[self.cell_start[b]]) * words
            reference = &self.reference[0] + self.word_start[b]
            for w in range(words):
                changed = mask[w] ^ reference[w]
                put_back = reference[w]
                name = &self.names[0] + self.name_start[b] + 64 * w
                while changed:
                    if changed & 1:
                        row = name[0]
                        _add_square(scratch.matrix, d, &self.rows[row, 0],
                                    1.0 if put_back & 1 else -1.0)
                        scale += self.squares[row]
                        count += 1
                    changed >>= 1
                    put_back >>= 1
                    name += 1
        return _allowance(d, count, scale)

    cdef void _evaluate(self, int b, int64_t s, _Scratch scratch, int worker) noexcept nogil:
        cdef double allowance, value
        if self.exact[s]:
            return
        allowance = self._build(b, s, scratch)
        value = _lower(scratch.tail(self.top) - allowance)
        if value > self.T[s]:
            self.T[s] = value
        self.exact[s] = True
        self.evaluations[worker] += 1

    def evaluate(self, int block, int64_t start, int64_t stop, int worker=0):
        """Bring the bounds of the sets ``start`` to ``stop`` of a block up to date."""
        cdef int64_t s
        cdef _Scratch scratch = self.scratches[worker]
        with nogil:
            for s in range(start, stop):
                self._evaluate(block, s, scratch, worker)

    def evaluate_picks(self, const int64_t[::1] picks, int first, int last, int worker=0):
        """Bring the bounds of one set in each of the blocks ``first`` to ``last`` up to date."""
        cdef int b
        cdef _Scratch scratch = self.scratches[worker]
        with nogil:
            for b in range(first, last):
                self._evaluate(b, picks[b], scratch, worker)

    def shift(self, const double[:, :, ::1] matrices, int first=0, int last=-1, int worker=0):
        """Replace every R_b; bounds follow by g(M + D) >= g(M) + g(D), D = new R_b - R_b.

        With ``first`` and ``last``: of these blocks alone.
        """
        cdef int b, d = self.d, end = self.n_blocks if last < 0 else last
        cdef _Scratch scratch = self.scratches[worker]
        cdef int64_t i, s
        cdef double drift
        cdef double* old
        cdef const double* new
        with nogil:
            for b in range(first, end):
                old, new = &self.R[b, 0, 0], &matrices[b, 0, 0]
                for i in range(d * d):
                    scratch.matrix[i] = new[i] - old[i]
                drift = _norm(scratch.matrix, d * d)
                if drift == 0.0:
                    continue
                drift = scratch.tail(self.top) - _allowance(d, 0, drift)
                memcpy(old, new, <size_t> d * d * sizeof(double))
                self.norms[b] = _norm(old, d * d)
                for s in range(self.cells[self.cell_start[b]],
                               self.cells[self.cell_start[b + 1] - 1]):
                    self.T[s] = _lower(self.T[s] + drift)
                    self.exact[s] = False

    cdef int _sizes(self, int b) noexcept nogil:
        """One more than the largest number of removals in block b."""
        return <int> (self.cell_start[b + 1] - self.cell_start[b]) - 1

    cdef void _least(self, int b, int size, double* least, int64_t* at) noexcept nogil:
        """Least bound among the sets of one size, and where it stands."""
        cdef int64_t s, cell = self.cell_start[b] + size
        least[0] = INFINITY
        at[0] = -1
        for s in range(self.cells[cell], self.cells[cell + 1]):
            if self.T[s] < least[0]:
                least[0] = self.T[s]
                at[0] = s

    def minimise(self, int k, int64_t budget, evaluate=None):
        """Least total of one set per block with k removals in all, a lower bound in any case; the
        picks, one per block (none if no choice removes k rows); whether all are up to date. Only
        picks are evaluated (by ``evaluate``, a round at a time, if given), until all are up to date
        or ``budget`` evaluations are spent."""
        cdef int B = self.n_blocks, b, j, size
        cdef int width = min(max(self._sizes(b) for b in range(B)), k + 1)
        cdef bint stale = True
        cdef double total
        table = np.full((B, width), np.inf)
        places = np.full((B, width), -1, dtype=np.int64)
        forward = np.full((B + 1, k + 1), np.inf)
        choices = np.zeros((B, k + 1), dtype=np.int32)
        picks = np.empty(B, dtype=np.int64)
        cdef double[:, ::1] least = table
        cdef int64_t[:, ::1] at = places
        cdef double[:, ::1] F = forward
        cdef int32_t[:, ::1] choice = choices
        cdef int64_t[::1] pick = picks
        cdef _Scratch scratch = self.scratches[0]
        cdef bint alone = evaluate is None
        with nogil:
            for b in range(B):
                for j in range(min(self._sizes(b), k + 1)):
                    self._least(b, j, &least[b, j], &at[b, j])
            F[0, 0] = 0.0
            while stale:
                for b in range(B):
                    for j in range(k + 1):
                        F[b + 1, j] = INFINITY
                        for size in range(min(self._sizes(b), j + 1)):
                            total = F[b, j - size] + least[b, size]
                            if total < F[b + 1, j]:
                                F[b + 1, j] = total
                                choice[b, j] = size
                        F[b + 1, j] = _lower(F[b + 1, j])
                if F[B, k] == INFINITY or budget <= 0:
                    break
                stale = False
                j = k
                for b in range(B - 1, -1, -1):
                    size = choice[b, j]
                    pick[b] = at[b, size]
                    j -= size
                    if not self.exact[pick[b]]:
                        stale = True
                        budget -= 1
                        if alone:
                            self._evaluate(b, pick[b], scratch, 0)
                            self._least(b, size, &least[b, size], &at[b, size])
                if stale and not alone:
                    with gil:
                        evaluate(picks)
                    j = k
                    for b in range(B - 1, -1, -1):
                        size = choice[b, j]
                        self._least(b, size, &least[b, size], &at[b, size])
                        j -= size
        if forward[B, k] == np.inf:
            return np.inf, picks[:0], True
        return forward[B, k], picks, not stale

    def top_projectors(self, const int64_t[::1] picks, double[:, :, ::1] out, int first=0,
                       int last=-1, int worker=0):
        """Projector onto the leading eigenvectors of M_S, for one set S of every block.

        With ``first`` and ``last``: of these blocks alone.
        """
        cdef int b, end = self.n_blocks if last < 0 else last
        cdef _Scratch scratch = self.scratches[worker]
        if self.top == 0:
            out[first:end] = 0.0
            return
        with nogil:
            for b in range(first, end):
                self._build(b, picks[b], scratch)
                scratch.top_projector(self.top, &out[b, 0, 0])


def _offsets(parts):
    """Where each part begins when they are laid end to end, and the end."""
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)
