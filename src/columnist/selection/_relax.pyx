# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""A node of column selection by relaxation: its bound, what it excludes and fixes, its children.

At a node S is chosen, t columns of the candidates C are still to choose. K is the Gram matrix of
what S leaves of the candidates, M the second moment of what it leaves of the target, with
eigenvalues :math:`\lambda_1 \ge \lambda_2 \ge \dots` For every s and every Y with
:math:`YY^T + sI \succeq M`, with :math:`c = A^TY` the products of candidates and Y, every diagonal
:math:`0 \prec D \preceq K`, :math:`P = K - D`, and **any** coefficients B,

.. math:: \text{error} \ge e(S) - ts - \mathrm{tr}(B^TPB)
          - \sum_{t\text{ largest}} g_i, \qquad g_i = \lVert c_i - P_iB \rVert^2 / D_i .

(What t directions catch of M is at most ts more than what they catch of :math:`YY^T`; the quadratic
form of the regression of Y on the candidates is :math:`B^TPB`, which is convex, and
:math:`\sum D_i \lVert B_i \rVert^2`, whose rows are free where they are chosen and zero elsewhere.)
So candidate j can be left out if the bound and :math:`g_{(t)} - g_j` reach the threshold, and i is
fixed if the bound and :math:`g_i - g_{(t+1)}` do.

*Y* holds the eigenvectors of M beyond s, or is the target itself if that has no more than t
columns (then s = 0, and no decomposition is needed). Only the span of the candidates counts: with
:math:`K = LL^T` and c the products of candidates and target, M is :math:`L^{-1}cc^TL^{-T}`, and what
excluded columns have outside is lost. *B* comes from alternating

.. math:: B = (P + D/z)^{-1}c, \qquad z_i \propto \sqrt{D_i} \lVert B_i \rVert,
          \quad z \le 1, \quad \sum z_i = t .

*D* is found anew at each node. It starts from :math:`1/(K^{-1})_{ii}` and takes a few steps up. By
:math:`\log D_i` the bound has the derivative :math:`D_i \lVert B_i \rVert^2 (1/z_i - 1)`, nearly
in proportion to :math:`z_i(1 - z_i)`. The logarithm of the largest multiple of D that is below K
has the derivative :math:`-v_i^2`, v the unit eigenvector of the largest eigenvalue of
:math:`D^{1/2}K^{-1}D^{1/2}`. Each step follows the sum of both, as shares of their totals.

**Children.** A node has two: with and without the candidate of the most energy
:math:`z_i (\lVert c_i \rVert^2 / K_{ii})`.

**Rounding.** The Gram matrix of columns and target is lowered on its diagonal by a share
:math:`\eta` of itself which covers the rounding of the columns, of its own products, and of the
elimination of S (whose backward error is of that size in the *original* matrix, however dependent
the columns are). What a choice leaves, the trace of a Schur complement, falls with the matrix: so
K and c at a node, as they are computed, belong to a problem whose errors are below the true ones,
and no error of the residual columns has to be tracked.
That P is positive semidefinite is shown by a Cholesky factorisation that succeeds with less on the
diagonal than P has. The decomposition is known up to a matrix with entries of at most
:math:`\varepsilon \sqrt{K_{ii}K_{jj}}`, which is below :math:`n \varepsilon \max_i (K_{ii}/D_i) K`
since :math:`D \preceq K`: that is added to s. The value of the bound for the B that was found is
charged with the rounding of its own sums.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy

import numpy as np

from scipy.linalg.cython_blas cimport dgemm, dsymm, dsyrk, dtrmm, dtrmv, dtrsm
from scipy.linalg.cython_lapack cimport dpotrf, dpotrs, dsyevd, dtrtri

from columnist.linalg._rounding cimport UNIT
from columnist.selection._parts cimport CLOSED, LEFT, OPEN, Part, choose, decide
from columnist.selection._shares cimport capped, largest, n_sets, rows, shape

# The largest eigenvalue that a power method has seen is taken for so much more, D for so much less
# if it still is too large.
cdef double SEEN = 1.01, LOWER = 0.97
cdef int POWER_STEPS = 8
# How often D is shaped, and the steps of the power method for each.
cdef int SHAPINGS = 3, STEPS_EACH = 4
# How often B and z alternate at most (four times as often without a z to start from), and the share
# of the gap which they may leave unless the threshold is in reach.
cdef int TURNS = 8
cdef double SETTLED = 0.015


cdef struct Node:
    int n          # candidates
    int m          # chosen
    int t          # columns to choose
    int q          # columns of Y
    double s       # what a direction catches outside Y at most
    double energy  # lower bound of e(S) - t s
    double span    # the bound by unconstrained directions


cdef class RelaxationSpace:
    """Scratch memory of one worker; grows as nodes ask for more."""

    cdef double[::1] buffer
    cdef int[::1] integers
    # n x n: Gram matrix, its factor, the same less D, scratch
    cdef double *K
    cdef double *L
    cdef double *P
    cdef double *F
    # n x q
    cdef double *c
    cdef double *B
    cdef double *U
    # n x T: products with all targets; m x n, m x m, m x T: what belongs to the chosen columns
    cdef double *C
    cdef double *W
    cdef double *S
    cdef double *cs
    # n
    cdef double *D
    cdef double *z
    cdef double *g
    cdef double *sorted
    cdef double *lam
    cdef double *score
    cdef double *row_b
    cdef double *row_c
    cdef double *work
    cdef int lwork
    cdef long size
    # a part of a node, and what becomes of its candidates
    cdef int[::1] items
    cdef float[::1] hints
    cdef int* marks
    cdef Part part

    def __init__(self):
        self.size = 0

    cdef void reserve(self, int n, int m, int T, int q):
        cdef long total, at = 0
        cdef double *base
        self.lwork = 2 * n * n + 6 * n + 1
        total = (4 * <long> n * n + 3 * <long> n * q + <long> n * T + <long> m * (n + m + T)
                 + 8 * <long> n + self.lwork)
        if total > self.size:
            self.buffer = np.empty(total)
            self.size = total
        if self.integers is None or len(self.integers) < 5 * n + 3:
            self.integers = np.empty(5 * n + 3, dtype=np.intc)
        base = &self.buffer[0]
        self.K = base + at; at += <long> n * n
        self.L = base + at; at += <long> n * n
        self.P = base + at; at += <long> n * n
        self.F = base + at; at += <long> n * n
        self.c = base + at; at += <long> n * q
        self.B = base + at; at += <long> n * q
        self.U = base + at; at += <long> n * q
        self.C = base + at; at += <long> n * T
        self.W = base + at; at += <long> m * n
        self.S = base + at; at += <long> m * m
        self.cs = base + at; at += <long> m * T
        self.D = base + at; at += n
        self.z = base + at; at += n
        self.g = base + at; at += n
        self.sorted = base + at; at += n
        self.lam = base + at; at += n
        self.score = base + at; at += n
        self.row_b = base + at; at += n
        self.row_c = base + at; at += n
        self.work = base + at; at += self.lwork

    cdef void reserve_part(self, int n, int k):
        """Room for a part with n candidates of which k are chosen in all."""
        if self.items is None or len(self.items) < 2 * n + k:
            self.items = np.empty(2 * n + k, dtype=np.intc)
            self.hints = np.empty(n, dtype=np.float32)
        self.part.chosen, self.part.z = &self.items[0], &self.hints[0]
        self.part.candidates = self.part.chosen + k
        self.marks = self.part.candidates + n


cdef class Relaxation:
    """The relaxation of a problem; see the module docstring.

    Parameters
    ----------
    columns : ndarray of shape (p, r)
        The columns of the data, one per row.
    weights : ndarray of shape (r,)
        Diagonal second moment of the target, descending.
    k : int
        Columns that are chosen in all.
    allowance : float
        Rounding of the columns, as a share of their lengths.
    shift : float
        The share of the (t+1)-st eigenvalue that s is. Less than 1 gives away less of the target
        where the columns are nearly independent; 1 is best where they are nearly dependent, for
        then the bound is about that by unconstrained directions.
    """

    cdef public double shift
    cdef public bint shaped
    cdef readonly int p, n_targets
    cdef readonly double lowered, total
    cdef double[:, ::1] gram
    cdef double[:, ::1] cross

    def __init__(self, columns, weights, int k, double allowance, double shift,
                 bint shaped=True):
        self.shift, self.shaped = shift, shaped
        self.p, r = columns.shape
        self.n_targets = np.count_nonzero(weights)
        self.total = float(np.sum(weights))
        # Rounding of an entry of [columns Y]'[columns Y], relative to two lengths, times the order.
        order = self.p + self.n_targets
        self.lowered = order * (2.0 * allowance + (r + 4 * k + 16) * UNIT)
        gram = columns @ columns.T
        squares = np.square(columns).sum(axis=1)
        gram[np.diag_indices(self.p)] = squares * (1.0 - self.lowered)
        self.gram = gram
        self.cross = np.ascontiguousarray(
            (columns[:, : self.n_targets] * np.sqrt(weights[: self.n_targets])).T)

    def evaluate(self, int[::1] chosen, int[::1] candidates, int t, double threshold, hint, free,
                 RelaxationSpace space):
        """Bound a node, and say what every good choice of it contains.

        Parameters
        ----------
        chosen, candidates : ndarray of int32
            The node.
        t : int
            Columns to choose, at least 1 and fewer than there are candidates.
        threshold : float
            What reaches this need not be examined.
        hint : ndarray of shape (n_candidates,) or None
            z to start from.
        free : ndarray of bool of shape (n_candidates,) or None
            Candidates that are not to be fixed.
        space : RelaxationSpace
            Scratch memory.

        Returns
        -------
        bound : float
            Lower bound of the node: infinite if nothing in it is below the threshold, negative if
            the relaxation says nothing.
        fixed : ndarray of int
            Positions of the candidates that every good choice contains.
        kept : ndarray of int
            Positions of the others that it may contain, the one to branch on last.
        z : ndarray
            z of the latter.
        every_z : ndarray
            z of all candidates.
        """
        cdef int n = len(candidates), m = len(chosen), ok
        cdef int n_turns = 4 * TURNS if hint is None else TURNS
        cdef double bound = -1.0
        cdef double[::1] start
        cdef int[::1] marks = np.zeros(n, dtype=np.intc)
        space.reserve(n, m, self.n_targets, max(n, self.n_targets))
        start = np.full(n, t / <double> n) if hint is None else hint.astype(np.float64)
        marked = np.asarray(marks)
        if free is not None:
            marked[free] = 3
        with nogil:
            capped(&start[0], n, t, space.z)
            ok = self._look(n, m, t, &chosen[0] if m else NULL, &candidates[0], threshold, n_turns,
                            &bound, &marks[0], space)
        if not ok:
            return -1.0, marked[:0], np.arange(n), start, start
        every_z = np.asarray(<double[:n]> space.z).astype(np.float32)
        if bound >= threshold:
            return np.inf, marked[:0], marked[:0], every_z[:0], every_z
        kept = np.flatnonzero(marked % 3 == 0)
        kept = kept[np.argsort(np.asarray(<double[:n]> space.score)[kept], kind="stable")]
        return bound, np.flatnonzero(marked == 1), kept, every_z[kept], every_z

    def divide(self, int[::1] chosen, int[::1] candidates, float[::1] z, int k, double threshold,
               int last, double few, RelaxationSpace space):
        """The parts of a node with its last candidate and without, each without what is decided.

        Parameters
        ----------
        chosen, candidates, z : ndarray
            The node.
        k : int
            Columns that are chosen in all.
        threshold : float
            What reaches this need not be examined.
        last, few : int
            So many columns to choose, or complete sets, are left to the other bound.
        space : RelaxationSpace
            Scratch memory.

        Returns
        -------
        parts : list of (float, ndarray, ndarray, ndarray or None)
            Bound, chosen columns, candidates, the one to branch on last, and their z, None for
            what is left to the other bound, of the parts that hold something.
        n_bounds : int
            How many bounds were computed.
        """
        cdef int n = len(candidates) - 1, m = len(chosen), chooses, n_bounds = 0
        cdef Part* part = &space.part
        space.reserve(n, k, self.n_targets, max(n, self.n_targets))
        space.reserve_part(n, k)
        parts = []
        for chooses in (1, 0):
            part.m, part.n, part.t, part.bound, part.n_bounds = m, n, k - m, -INFINITY, 0
            if m:
                memcpy(part.chosen, &chosen[0], m * sizeof(int))
            if n:
                memcpy(part.candidates, &candidates[0], n * sizeof(int))
                memcpy(part.z, &z[0], n * sizeof(float))
            with nogil:
                if chooses:
                    choose(part, candidates[n])
                self._shrink(part, threshold, last, few, space)
            n_bounds += part.n_bounds
            if part.state != CLOSED:
                parts.append((
                    part.bound, _array(part.chosen, part.m), _array(part.candidates, part.n),
                    np.array(<float[:part.n]> part.z) if part.state == OPEN else None,
                ))  # fmt: skip
        return parts, n_bounds

    cdef void _shrink(self, Part* part, double threshold, int last, double few,
                      RelaxationSpace w) noexcept nogil:
        """Take what is decided out of a part, until nothing more is fixed."""
        cdef int i, n, m
        cdef double bound
        while True:
            n, m = part.n, part.m
            if n < part.t:
                part.state = CLOSED
                return
            part.state = LEFT
            if part.t <= last or n <= part.t or n_sets(n, part.t) <= few:
                return
            for i in range(n):
                w.marks[i], w.g[i] = 0, part.z[i]
            capped(w.g, n, part.t, w.z)
            part.n_bounds += 1
            if not self._look(n, m, part.t, part.chosen, part.candidates, threshold, TURNS, &bound,
                              w.marks, w):
                return
            part.bound = max(part.bound, bound)
            if bound >= threshold:
                part.state = CLOSED
                return
            decide(part, w.marks, w.score, w.z)
            if part.m == m:
                part.state = OPEN
                return

    cdef int _look(self, int n, int m, int t, const int* chosen, const int* candidates,
                   double threshold, int n_turns, double* bound, int* marks,
                   RelaxationSpace w) noexcept nogil:
        """The bound of a node, and, below the threshold, the marks of its candidates and scores;
        0 if the relaxation says nothing."""
        cdef Node node
        node.n, node.m, node.t, node.q = n, m, t, self.n_targets
        bound[0] = -1.0
        if not (self._build(&node, chosen, candidates, w) and self._diagonal(n, w)
                and self._target(&node, self.n_targets <= t, w)):
            return 0
        if node.span < threshold and not self._bound(&node, threshold, n_turns, bound, w):
            return 0
        if max(node.span, bound[0]) < threshold:
            self._screen(&node, threshold, bound[0], marks, w)
        bound[0] = max(node.span, bound[0])
        return 1

    # -- the node -------------------------------------------------------------------

    cdef int _build(self, Node* node, const int* chosen, const int* candidates,
                    RelaxationSpace w) noexcept nogil:
        """Gram matrix and products of what the chosen columns leave; 0 if they are dependent."""
        cdef int n = node.n, m = node.m, T = self.n_targets, i, j, info = 0
        cdef double one = 1.0, minus = -1.0, squares = 0.0
        for j in range(m):
            for i in range(j, m):
                w.S[i + <size_t> j * m] = self.gram[chosen[j], chosen[i]]
        for j in range(n):
            for i in range(m):
                w.W[i + <size_t> j * m] = self.gram[candidates[j], chosen[i]]
            for i in range(j, n):
                w.K[i + <size_t> j * n] = self.gram[candidates[j], candidates[i]]
        for j in range(T):
            for i in range(n):
                w.C[i + <size_t> j * n] = self.cross[j, candidates[i]]
            for i in range(m):
                w.cs[i + <size_t> j * m] = self.cross[j, chosen[i]]
        node.energy = self.total * (1.0 - self.lowered)
        if m:
            dpotrf("L", &m, w.S, &m, &info)
            if info:
                return 0
            dtrsm("L", "L", "N", "N", &m, &n, &one, w.S, &m, w.W, &m)
            dsyrk("L", "T", &n, &m, &minus, w.W, &m, &one, w.K, &n)
            dtrsm("L", "L", "N", "N", &m, &T, &one, w.S, &m, w.cs, &m)
            dgemm("T", "N", &n, &T, &m, &minus, w.W, &m, w.cs, &m, &one, w.C, &n)
            for i in range(m * T):
                squares += w.cs[i] * w.cs[i]
            node.energy -= squares * (1.0 + (m * T + 4) * UNIT)
        rows(n, T, w.C, w.C, w.score)
        return 1

    cdef int _target(self, Node* node, bint fixed_target, RelaxationSpace w) noexcept nogil:
        """c = A'Y and s, from the decomposition of what the chosen columns leave of the target."""
        cdef int n = node.n, t = node.t, T = self.n_targets, i, j, info = 0, liwork = 5 * n + 3
        cdef double one = 1.0, zero = 0.0, total = 0.0, top = 0.0, ratio = 0.0, scale, s, charge
        node.span = 0.0
        if fixed_target:
            memcpy(w.c, w.C, <size_t> n * T * sizeof(double))
            return 1
        dtrsm("L", "L", "N", "N", &n, &T, &one, w.L, &n, w.C, &n)
        dsyrk("L", "N", &n, &T, &one, w.C, &n, &zero, w.F, &n)
        for i in range(n):
            total += w.F[i + <size_t> i * n]
            ratio = max(ratio, w.K[i + <size_t> i * n] / w.D[i])
        dsyevd("V", "L", &n, w.F, &n, w.lam, w.work, &w.lwork, &w.integers[0], &liwork, &info)
        if info:
            return 0
        # ascending: the last is the largest
        s = self.shift * max(w.lam[n - 1 - t], 0.0)
        # Products and decomposition; the factor and its use, against K by way of D.
        charge = (100.0 * n + 2.0 * T + 8.0 * n * (n + 2.0) * ratio) * UNIT * total
        node.q = 0
        for j in range(n - 1, -1, -1):
            if j >= n - t:
                top += w.lam[j]
            if w.lam[j] > s:
                scale = sqrt(w.lam[j] - s)
                for i in range(n):
                    w.c[i + <size_t> node.q * n] = scale * w.F[i + <size_t> j * n]
                node.q += 1
        if node.q == 0:
            return 0
        dtrmm("L", "L", "N", "N", &n, &node.q, &one, w.L, &n, w.c, &n)
        node.span = node.energy - top - t * charge
        node.energy -= t * (s + charge)
        return 1

    # -- the bound ------------------------------------------------------------------

    cdef int _diagonal(self, int n, RelaxationSpace w) noexcept nogil:
        """D, P = K - D and the factor of K; 0 if there is no D."""
        cdef int i, j, info = 0, trial
        cdef double norm, most, multiple, lower = LOWER, kept = 1.0 - 2.0 * n * (n + 2) * UNIT
        memcpy(w.L, w.K, <size_t> n * n * sizeof(double))
        dpotrf("L", &n, w.L, &n, &info)
        if info:
            return 0
        memcpy(w.F, w.L, <size_t> n * n * sizeof(double))
        dtrtri("L", "N", &n, w.F, &n, &info)
        if info:
            return 0
        for j in range(n):
            norm = 0.0
            for i in range(j, n):
                norm += w.F[i + <size_t> j * n] * w.F[i + <size_t> j * n]
            w.D[j], w.row_b[j] = 1.0 / norm, 1.0
        most = self._most(n, POWER_STEPS, w)
        for trial in range(SHAPINGS if self.shaped else 0):
            shape(n, w.z, w.row_b, w.D)
            most = self._most(n, STEPS_EACH, w)
        multiple = 1.0 / (SEEN * most)
        for trial in range(6):
            for j in range(n):
                memcpy(w.F + j + <size_t> j * n, w.K + j + <size_t> j * n, (n - j) * sizeof(double))
                w.F[j + <size_t> j * n] = (w.K[j + <size_t> j * n] - multiple * w.D[j]) * kept
            dpotrf("L", &n, w.F, &n, &info)
            if info == 0:
                break
            multiple *= lower
            lower *= lower
        if info:
            return 0
        memcpy(w.P, w.K, <size_t> n * n * sizeof(double))
        for j in range(n):
            w.D[j] *= multiple
            w.P[j + <size_t> j * n] -= w.D[j]
        return 1

    cdef double _most(self, int n, int steps, RelaxationSpace w) noexcept nogil:
        """About the largest eigenvalue of the inverse of K, the inverse of whose factor is in F,
        scaled by D on both sides; its eigenvector replaces the one to start from."""
        cdef int i, trial, one = 1
        cdef double most = 0.0, norm
        cdef double* v = w.row_b
        cdef double* x = w.row_c
        for i in range(n):
            w.sorted[i] = sqrt(w.D[i])
        for trial in range(steps):
            norm = 0.0
            for i in range(n):
                norm += v[i] * v[i]
            norm = sqrt(norm)
            for i in range(n):
                x[i] = w.sorted[i] * v[i] / norm
            dtrmv("L", "N", "N", &n, w.F, &n, x, &one)
            most = 0.0
            for i in range(n):
                most += x[i] * x[i]
            dtrmv("L", "T", "N", &n, w.F, &n, x, &one)
            for i in range(n):
                v[i] = w.sorted[i] * x[i]
        return most

    cdef int _bound(self, const Node* node, double threshold, int n_turns, double* bound,
                    RelaxationSpace w) noexcept nogil:
        """Bound of the node, and its g; z is updated in its place.

        B and z alternate until they have settled, or the node is closed.
        """
        cdef int i, j, n = node.n, q = node.q, t = node.t, turn, info = 0
        cdef double caught, gain, quick, best
        for turn in range(n_turns):
            for j in range(n):
                memcpy(w.F + j + <size_t> j * n, w.P + j + <size_t> j * n, (n - j) * sizeof(double))
                w.F[j + <size_t> j * n] += w.D[j] / w.z[j]
            dpotrf("L", &n, w.F, &n, &info)
            if info:
                return 0
            memcpy(w.B, w.c, <size_t> n * q * sizeof(double))
            dpotrs("L", &n, &q, w.F, &n, w.B, &n, &info)
            caught = rows(n, q, w.B, w.c, w.row_b)
            gain = 0.0
            for i in range(n):
                w.g[i] = w.D[i] * w.row_b[i] / (w.z[i] * w.z[i])
                gain += w.D[i] * w.row_b[i] / w.z[i]
            quick = node.energy - caught + gain - largest(w.g, n, t, w.sorted)
            for i in range(n):
                w.g[i] = sqrt(w.D[i] * w.row_b[i])
            capped(w.g, n, t, w.z)
            best = node.energy - caught  # no B makes the bound larger at this z
            if quick >= threshold or (turn > 0 and best < threshold
                                      and best - quick <= SETTLED * (threshold - quick)):
                break  # closed, or out of reach
        bound[0] = self._worth(node, caught, w)
        return 1

    cdef double _worth(self, const Node* node, double caught, RelaxationSpace w) noexcept nogil:
        """The bound for the B that was found, whatever it is, and its g."""
        cdef int i, n = node.n, q = node.q
        cdef double one = 1.0, minus = -1.0, norm, spread = 0.0, off, quad, charge = 0.0
        memcpy(w.U, w.c, <size_t> n * q * sizeof(double))
        dsymm("L", "L", &n, &q, &minus, w.P, &n, w.B, &n, &one, w.U, &n)
        quad = caught - rows(n, q, w.B, w.U, w.row_b)
        rows(n, q, w.c, w.c, w.row_c)
        rows(n, q, w.U, w.U, w.g)
        for i in range(n):
            w.row_b[i], w.row_c[i], w.g[i] = sqrt(w.row_b[i]), sqrt(w.row_c[i]), sqrt(w.g[i])
            spread += sqrt(max(w.P[i + <size_t> i * n], 0.0)) * w.row_b[i]
        for i in range(n):
            off = (n + q + 8) * UNIT * (w.row_c[i] + w.g[i]
                                        + sqrt(max(w.P[i + <size_t> i * n], 0.0)) * spread)
            charge += w.row_b[i] * (2.0 * off + (n * q + 8) * UNIT * (w.row_c[i] + w.g[i]))
            norm = w.g[i] + off
            w.g[i] = norm * norm / w.D[i] * (1.0 + 16.0 * UNIT)
            w.score[i] *= w.z[i] / w.K[i + <size_t> i * n]
        return (node.energy - quad - charge - 8.0 * UNIT * (fabs(node.energy) + fabs(quad))
                - largest(w.g, n, node.t, w.sorted) * (1.0 + 2.0 * (n + 4) * UNIT))

    cdef void _screen(self, const Node* node, double threshold, double bound, int* marks,
                      RelaxationSpace w) noexcept nogil:
        """Marks 2 what no good choice contains, 1 what every one contains, unless it is marked 3;
        the g are sorted already."""
        cdef int i, t = node.t
        cdef double last = w.sorted[t - 1], next_one = w.sorted[t]
        for i in range(node.n):
            if marks[i] == 0 and w.g[i] > next_one and bound + w.g[i] - next_one >= threshold:
                marks[i] = 1
            elif w.g[i] < last and bound + last - w.g[i] >= threshold:
                marks[i] = 2


cdef object _array(const int* values, int n):
    return np.array(<int[:n]> <int*> values) if n else np.empty(0, dtype=np.intc)
