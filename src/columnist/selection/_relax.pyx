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
columns (then s = 0, and no decomposition is needed). *D* is a multiple of
:math:`1/(K^{-1})_{ii}`, found anew at each node, and for each part of its candidates that is clearly
smaller. *B* comes from alternating

.. math:: B = (P + D/z)^{-1}c, \qquad z_i \propto \sqrt{D_i} \lVert B_i \rVert,
          \quad z \le 1, \quad \sum z_i = t .

**Children.** Candidates are branched on one after the other, that with the most energy
:math:`z_i (\lVert c_i \rVert^2 / K_{ii} + s)` first: a child contains it, all behind it do not. The
bound of what remains is computed again after a candidate has gone, while that pays.

**Rounding.** The Gram matrix is lowered on its diagonal by a share :math:`\eta` of itself which
covers the rounding of the columns, of its own products, and of the elimination of S (whose
backward error is of that size in the *original* matrix, however dependent the columns are). So
the form at a node is below the true one, and no error of the residual columns has to be tracked.
That P is positive semidefinite is shown by a Cholesky factorisation that succeeds with less on the
diagonal than P has. The value of the bound for the B that was found is charged with the rounding of
its own sums. The energy e(S) and the eigenvalues are charged as in
:mod:`columnist.selection._frame`.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport fabs, sqrt, INFINITY
from libc.stdlib cimport qsort
from libc.string cimport memcpy

import numpy as np

from scipy.linalg.cython_blas cimport dgemm, dsymm, dsyrk, dtrmv, dtrsm
from scipy.linalg.cython_lapack cimport dgeqrf, dorgqr, dpotrf, dpotrs, dsyevr, dtrtri

from columnist.linalg._rounding cimport DEPENDENT, UNIT

# Share of the (t+1)-st eigenvalue that s is: less of the target is given away below it.
cdef double SHIFT = 0.9
# Eigenvalues beyond the t-th that may still be part of Y.
cdef int BEYOND = 8
# The largest eigenvalue that a power method has seen is taken for so much more.
cdef double SEEN = 1.03
cdef int POWER_STEPS = 8
cdef double LEAST_Z = 1e-5
# D is kept for a part of the candidates if these are many and most of what it was found for.
cdef int SMALL = 64
cdef double SHRUNK = 0.8
# How often B and z alternate at most (four times as often without a z to start from), and the share
# of the gap which they may leave unless the threshold is in reach.
cdef int TURNS = 6
cdef double SETTLED = 0.3


cdef int _descending(const void* a, const void* b) noexcept nogil:
    cdef double x = (<const double*> a)[0], y = (<const double*> b)[0]
    return 1 if x < y else (-1 if x > y else 0)


cdef class RelaxationSpace:
    """Scratch memory of one worker; grows as nodes ask for more."""

    cdef double[::1] buffer
    cdef int[::1] integers
    cdef double *K
    cdef double *P
    cdef double *F
    cdef double *W
    cdef double *L
    cdef double *c
    cdef double *cl
    cdef double *B
    cdef double *U
    cdef double *cs
    cdef double *rows
    cdef double *Q
    cdef double *M
    cdef double *V
    cdef double *Y
    cdef double *work
    cdef double *D
    cdef double *kept
    cdef double *z
    cdef double *g
    cdef double *sorted
    cdef double *lam
    cdef double *score
    cdef double *row_b
    cdef double *row_c
    cdef double *zl
    cdef double *gl
    cdef double *tau
    cdef int lwork
    cdef long size
    cdef int known

    def __init__(self):
        self.size = 0

    cdef void reserve(self, int n, int m, int r, int q):
        cdef long total, at = 0
        cdef double *base
        cdef int d = n + m
        self.lwork = 40 * (max(n, r) + 64)
        total = (5 * <long> n * n + <long> m * n + <long> m * m + 4 * <long> n * q + <long> m * q
                 + <long> d * r + 3 * <long> r * r + <long> r * q + self.lwork
                 + 16 * (<long> n + r + m) + 64)
        if total > self.size:
            self.buffer = np.empty(total)
            self.size = total
        if self.integers is None or len(self.integers) < 4 * (n + r) + 16 * (n + r):
            self.integers = np.empty(20 * (n + r) + 64, dtype=np.intc)
        base = &self.buffer[0]
        self.K = base + at; at += <long> n * n
        self.P = base + at; at += <long> n * n
        self.F = base + at; at += <long> n * n
        self.W = base + at; at += <long> m * n
        self.L = base + at; at += <long> m * m
        self.c = base + at; at += <long> n * q
        self.cl = base + at; at += <long> n * q
        self.B = base + at; at += <long> n * q
        self.U = base + at; at += <long> n * q
        self.cs = base + at; at += <long> m * q
        self.rows = base + at; at += <long> d * r
        self.Q = base + at; at += <long> r * r
        self.M = base + at; at += <long> r * r
        self.V = base + at; at += <long> r * r
        self.Y = base + at; at += <long> r * q
        self.work = base + at; at += self.lwork
        self.D = base + at; at += n
        self.kept = base + at; at += n
        self.z = base + at; at += n
        self.g = base + at; at += n
        self.sorted = base + at; at += n
        self.lam = base + at; at += n + r
        self.score = base + at; at += n
        self.row_b = base + at; at += n
        self.row_c = base + at; at += n
        self.zl = base + at; at += n
        self.gl = base + at; at += n
        self.tau = base + at; at += m + r


cdef struct Node:
    int n          # candidates
    int m          # chosen
    int t          # columns to choose
    int q          # columns of Y
    double s       # what a direction catches outside Y at most
    double energy  # lower bound of e(S) - t s - |Y|^2 + |residual of Y|^2
    double span    # the bound by unconstrained directions


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
    power : int
        2 if the columns come from their Gram matrix.
    allowance : float
        Rounding of the columns, as a share of their lengths.
    """

    cdef readonly int p, r, n_targets, power
    cdef readonly double lowered, allowance, total
    cdef double[:, ::1] columns
    cdef double[:, ::1] gram
    cdef double[:, ::1] cross
    cdef double[::1] weights
    cdef double[::1] lengths

    def __init__(self, columns, weights, int k, int power, double allowance):
        self.columns = np.ascontiguousarray(columns)
        self.weights = np.ascontiguousarray(weights)
        self.p, self.r = columns.shape
        self.power, self.allowance = power, allowance
        self.n_targets = np.count_nonzero(weights)
        self.total = float(np.sum(weights))
        # Rounding of an entry of [columns Y]'[columns Y], relative to two lengths, times the order.
        order = self.p + min(self.n_targets, self.r)
        self.lowered = order * (2.0 * allowance + (self.r + 4 * k + 16) * UNIT)
        gram = columns @ columns.T
        squares = np.square(columns).sum(axis=1)
        gram[np.diag_indices(self.p)] = squares * (1.0 - self.lowered)
        self.gram, self.lengths = gram, np.sqrt(squares)
        self.cross = np.ascontiguousarray(
            (columns[:, : self.n_targets] * np.sqrt(weights[: self.n_targets])).T)

    def expand(self, int[::1] chosen, int[::1] candidates, int t, double threshold, hint, free,
               int n_chain, double margin, RelaxationSpace space):
        """Children of a node.

        Parameters
        ----------
        chosen, candidates : ndarray of int32
            The node.
        t : int
            Columns to choose, at least 2 and fewer than there are candidates.
        threshold : float
            What reaches this need not be looked at.
        hint : ndarray of shape (n_candidates,) or None
            z to start from.
        free : ndarray of bool of shape (n_candidates,) or None
            Candidates that are not to be fixed.
        n_chain : int
            How often the bound is computed again after a candidate has gone.
        margin : float
            Share of the gap up to which that is done.
        space : RelaxationSpace
            Scratch memory.

        Returns
        -------
        bound : float
            Lower bound of the node: infinite if nothing in it is below the threshold, negative if
            the relaxation says nothing.
        fixed, kept : ndarray of int32
            Candidates that every good choice contains, and those that it may contain.
        items, f, z : ndarray
            Children in the order of the partition (empty if ``fixed`` is not), their bounds, and
            z of the items.
        n_bounds : int
            How many relaxations were solved.
        """
        cdef Node node
        cdef int n = len(candidates), m = len(chosen), q, i, count, ok
        cdef bint fixed_target = self.n_targets <= t
        cdef double bound, base
        cdef int[::1] live = np.arange(n, dtype=np.intc)
        cdef double[::1] f = np.empty(n)
        cdef int[::1] items = np.empty(n, dtype=np.intc)
        cdef double[::1] z = np.full(n, t / <double> n)
        cdef int[::1] marks = np.zeros(n, dtype=np.intc)
        cdef int n_bounds = 1, n_left, n_turns = 4 * TURNS if hint is None else TURNS
        q = self.n_targets if fixed_target else min(self.r, t + BEYOND)
        if hint is not None:
            z = np.clip(np.asarray(hint, dtype=np.float64), 10 * LEAST_Z, 1.0)
        space.reserve(n, m, self.r, q)
        node.n, node.m, node.t, node.q = n, m, t, q
        empty = np.empty(0, dtype=np.intc)
        everything = np.asarray(candidates)
        with nogil:
            ok = self._build(&node, &chosen[0] if m else NULL, &candidates[0], fixed_target, space)
            bound = -1.0
            if ok and node.span >= threshold:
                ok = 2
            elif ok:
                for i in range(n):
                    space.z[i] = z[i]
                ok = self._bound(&node, n, NULL, threshold, n_turns, space.z, space.g, &base,
                                 &bound, space)
        if ok == 2 or (ok and bound >= threshold):
            return np.inf, empty, empty, empty, np.empty(0), np.empty(0), 1
        if not ok:
            return -1.0, empty, everything, empty, np.empty(0), np.empty(0), 1
        marked = np.asarray(marks)
        if free is not None:
            marked[free] = 3
        count = self._screen(&node, n, threshold, bound, space.g, &marks[0], space.sorted)
        if count:
            return (max(bound, node.span), everything[marked == 1], everything[marked % 3 == 0],
                    empty, np.empty(0), np.asarray(<double[:n]> space.z)[marked % 3 == 0].copy(), 1)
        left = np.flatnonzero(marked % 3 == 0).astype(np.intc)
        np.asarray(live)[: len(left)] = left
        n_left = len(left)
        bound = max(bound, node.span)
        with nogil:
            count = self._chain(&node, live, n_left, threshold, bound, base, n_chain, margin,
                                &items[0], &f[0], &n_bounds, space)
        order = np.asarray(items)[:count][::-1]
        return (bound, empty, everything[left], everything[order], np.asarray(f)[:count][::-1].copy(),
                np.asarray(<double[:n]> space.z)[order].astype(np.float32), n_bounds)

    # -- the node -------------------------------------------------------------------

    cdef int _build(self, Node* node, const int* chosen, const int* candidates, bint fixed_target,
                    RelaxationSpace w) noexcept nogil:
        """Gram matrix and products of what the chosen columns leave; 0 if they are dependent."""
        cdef int n = node.n, m = node.m, q = node.q, r = self.r, i, j, info = 0
        cdef double one = 1.0, minus = -1.0, zero = 0.0, squares
        for j in range(m):
            for i in range(m):
                w.L[i + <size_t> j * m] = self.gram[chosen[j], chosen[i]]
        for j in range(n):
            for i in range(m):
                w.W[i + <size_t> j * m] = self.gram[candidates[j], chosen[i]]
            for i in range(j, n):
                w.K[i + <size_t> j * n] = self.gram[candidates[j], candidates[i]]
        if m:
            dpotrf("L", &m, w.L, &m, &info)
            if info:
                return 0
            dtrsm("L", "L", "N", "N", &m, &n, &one, w.L, &m, w.W, &m)
            dsyrk("L", "T", &n, &m, &minus, w.W, &m, &one, w.K, &n)
        if fixed_target:
            for j in range(q):
                for i in range(n):
                    w.c[i + <size_t> j * n] = self.cross[j, candidates[i]]
                for i in range(m):
                    w.cs[i + <size_t> j * m] = self.cross[j, chosen[i]]
            node.s = 0.0
            node.energy = self.total * (1.0 - self.lowered)
            node.span = 0.0
        else:
            if not self._target(node, chosen, w):
                return 0
            for i in range(m):
                memcpy(w.rows + <size_t> i * r, &self.columns[chosen[i], 0], r * sizeof(double))
            for i in range(n):
                memcpy(w.rows + <size_t> (m + i) * r, &self.columns[candidates[i], 0],
                       r * sizeof(double))
            q = node.q
            dgemm("T", "N", &n, &q, &r, &one, w.rows + <size_t> m * r, &r, w.Y, &r, &zero, w.c, &n)
            if m:
                dgemm("T", "N", &m, &q, &r, &one, w.rows, &r, w.Y, &r, &zero, w.cs, &m)
        if m:
            dtrsm("L", "L", "N", "N", &m, &q, &one, w.L, &m, w.cs, &m)
            dgemm("T", "N", &n, &q, &m, &minus, w.W, &m, w.cs, &m, &one, w.c, &n)
            squares = 0.0
            for i in range(m * q):
                squares += w.cs[i] * w.cs[i]
            node.energy -= squares * (1.0 + (m * q + 4) * UNIT)
        return 1

    cdef int _target(self, Node* node, const int* chosen, RelaxationSpace w) noexcept nogil:
        """Y and s from the eigenvectors of what the chosen columns leave of the target."""
        cdef int m = node.m, r = self.r, d = r - m, t = node.t, i, j, info = 0, found = 0
        cdef int lowest, highest, most = min(d, t + BEYOND), liwork
        cdef double one = 1.0, zero = 0.0, none = 0.0, growth = 1.0, share, energy = 0.0
        cdef double top = 0.0, excess = 0.0, charge, delta, scale
        cdef int* iwork = &w.integers[0]
        cdef int* isuppz = iwork + 16 * (r + 1)
        if d <= t or m >= r:
            return 0
        for i in range(m):
            memcpy(w.Q + <size_t> i * r, &self.columns[chosen[i], 0], r * sizeof(double))
        if m:
            dgeqrf(&r, &m, w.Q, &r, w.tau, w.work, &w.lwork, &info)
            for i in range(m):
                share = fabs(w.Q[i + <size_t> i * r]) / self.lengths[chosen[i]]
                if share <= 1e3 * DEPENDENT:
                    return 0
                growth = max(growth, 1.0 / (share if self.power == 1 else share * share))
            dorgqr(&r, &r, &m, w.Q, &r, w.tau, w.work, &w.lwork, &info)
            for j in range(d):
                for i in range(r):
                    w.V[i + <size_t> j * r] = sqrt(self.weights[i]) * w.Q[i + <size_t> (m + j) * r]
            dsyrk("L", "T", &d, &r, &one, w.V, &r, &zero, w.M, &d)
            for i in range(d):
                energy += w.M[i + <size_t> i * d]
            lowest, highest, liwork = d - most + 1, d, 10 * d
            dsyevr("V", "I", "L", &d, w.M, &d, &none, &none, &lowest, &highest, &none, &found,
                   w.lam, w.V, &d, isuppz, w.work, &w.lwork, iwork, &liwork, &info)
            if info or found < most:
                return 0
        else:
            for i in range(d):
                energy += self.weights[i]
            for j in range(most):
                w.lam[j] = self.weights[most - 1 - j]
        # ascending now: the last is the largest
        node.s = SHIFT * max(w.lam[most - 1 - t], 0.0) if t < most else 0.0
        if most < d:
            node.s = max(node.s, w.lam[0])
        for j in range(t):
            top += max(w.lam[most - 1 - j], 0.0)
        node.q = 0
        for j in range(most - 1, -1, -1):
            if w.lam[j] <= node.s:
                break
            scale = sqrt(w.lam[j] - node.s)
            excess += w.lam[j] - node.s
            if m:
                for i in range(d):
                    w.M[i + <size_t> node.q * d] = scale * w.V[i + <size_t> j * d]
            else:
                for i in range(r):
                    w.Y[i + <size_t> node.q * r] = 0.0
                w.Y[most - 1 - j + <size_t> node.q * r] = scale
            node.q += 1
        if m and node.q:
            dgemm("N", "N", &r, &node.q, &d, &one, w.Q + <size_t> m * r, &r, w.M, &d, &zero, w.Y,
                  &r)
        delta = growth * self.allowance * sqrt(self.total)
        charge = delta * (2.0 * sqrt(energy) + delta) + self.allowance * energy
        node.span = energy - top - (t + 1) * charge
        node.energy = (energy - t * node.s - (t + 1) * charge
                       - excess * (self.lowered + 2 * (r + 4) * UNIT))
        return node.q > 0

    # -- the bound ------------------------------------------------------------------

    cdef int _diagonal(self, int n, RelaxationSpace w) noexcept nogil:
        """D of the Gram matrix in P, which it is taken from; 0 if there is none."""
        cdef int i, j, info = 0, one = 1, trial
        cdef double largest = 0.0, norm, multiple, kept = 1.0 - 2.0 * n * (n + 2) * UNIT
        cdef double* v = w.row_b
        cdef double* x = w.row_c
        memcpy(w.F, w.P, <size_t> n * n * sizeof(double))
        dpotrf("L", &n, w.F, &n, &info)
        if info:
            return 0
        dtrtri("L", "N", &n, w.F, &n, &info)
        if info:
            return 0
        for j in range(n):
            norm = 0.0
            for i in range(j, n):
                norm += w.F[i + <size_t> j * n] * w.F[i + <size_t> j * n]
            w.D[j] = 1.0 / norm
            w.sorted[j] = sqrt(w.D[j])
            v[j] = 1.0
        for trial in range(POWER_STEPS):
            norm = 0.0
            for i in range(n):
                norm += v[i] * v[i]
            norm = sqrt(norm)
            for i in range(n):
                x[i] = w.sorted[i] * v[i] / norm
            dtrmv("L", "N", "N", &n, w.F, &n, x, &one)
            largest = 0.0
            for i in range(n):
                largest += x[i] * x[i]
            dtrmv("L", "T", "N", &n, w.F, &n, x, &one)
            for i in range(n):
                v[i] = w.sorted[i] * x[i]
        multiple = 1.0 / (SEEN * largest)
        for trial in range(6):
            for j in range(n):
                memcpy(w.F + j + <size_t> j * n, w.P + j + <size_t> j * n, (n - j) * sizeof(double))
                w.F[j + <size_t> j * n] = (w.P[j + <size_t> j * n] - multiple * w.D[j]) * kept
            dpotrf("L", &n, w.F, &n, &info)
            if info == 0:
                break
            multiple *= 0.85
        if info:
            return 0
        for j in range(n):
            w.D[j] *= multiple
            w.P[j + <size_t> j * n] -= w.D[j]
        return 1

    cdef int _bound(self, const Node* node, int n, const int* live, double threshold, int n_turns,
                    double* z, double* g, double* base, double* bound,
                    RelaxationSpace w) noexcept nogil:
        """Bound of the node with these candidates only; z and g are updated in their places.

        B and z alternate until they have settled, or the node is closed.
        """
        cdef int i, j, a, b, q = node.q, t = node.t, turn, info = 0, whole = node.n
        cdef double caught, gain, quick, best, one = 1.0, minus = -1.0, norm
        cdef double spread = 0.0, off, quad = 0.0, charge = 0.0, top = 0.0
        for j in range(n):
            b = live[j] if live else j
            for i in range(j, n):
                a = live[i] if live else i
                w.P[i + <size_t> j * n] = (w.K[a + <size_t> b * whole] if a >= b
                                           else w.K[b + <size_t> a * whole])
        for j in range(q):
            for i in range(n):
                a = live[i] if live else i
                w.cl[i + <size_t> j * n] = w.c[a + <size_t> j * whole]
        if live and n > SMALL and n > SHRUNK * w.known:
            for i in range(n):  # valid for every part of the list
                w.D[i] = w.kept[live[i]]
                w.P[i + <size_t> i * n] -= w.D[i]
        else:
            if not self._diagonal(n, w):
                return 0
            for i in range(n):
                w.kept[live[i] if live else i] = w.D[i]
            w.known = n
        for i in range(n):
            w.zl[i] = z[live[i] if live else i]
        for turn in range(n_turns):
            for j in range(n):
                memcpy(w.F + j + <size_t> j * n, w.P + j + <size_t> j * n, (n - j) * sizeof(double))
                w.F[j + <size_t> j * n] += w.D[j] / w.zl[j]
            dpotrf("L", &n, w.F, &n, &info)
            if info:
                return 0
            memcpy(w.B, w.cl, <size_t> n * q * sizeof(double))
            dpotrs("L", &n, &q, w.F, &n, w.B, &n, &info)
            caught = _rows(n, q, w.B, w.cl, w.row_b)
            gain = 0.0
            for i in range(n):
                w.gl[i] = w.D[i] * w.row_b[i] / (w.zl[i] * w.zl[i])
                gain += w.D[i] * w.row_b[i] / w.zl[i]
            quick = node.energy - caught + gain - _largest(w.gl, n, t, w.sorted)
            for i in range(n):
                w.gl[i] = sqrt(w.D[i] * w.row_b[i])
            _capped(w.gl, n, t, w.zl)
            best = node.energy - caught  # no B makes the bound larger at this z
            if quick >= threshold or (turn > 0 and best < threshold
                                      and best - quick <= SETTLED * (threshold - quick)):
                break  # closed, or out of reach
        # What B is worth, whatever it is.
        memcpy(w.U, w.cl, <size_t> n * q * sizeof(double))
        dsymm("L", "L", &n, &q, &minus, w.P, &n, w.B, &n, &one, w.U, &n)
        quad = caught - _rows(n, q, w.B, w.U, w.row_b)
        _rows(n, q, w.cl, w.cl, w.row_c)
        _rows(n, q, w.U, w.U, w.gl)
        for i in range(n):
            w.row_b[i], w.row_c[i], w.gl[i] = sqrt(w.row_b[i]), sqrt(w.row_c[i]), sqrt(w.gl[i])
            spread += sqrt(max(w.P[i + <size_t> i * n], 0.0)) * w.row_b[i]
        for i in range(n):
            off = (n + q + 8) * UNIT * (w.row_c[i] + w.gl[i]
                                        + sqrt(max(w.P[i + <size_t> i * n], 0.0)) * spread)
            charge += w.row_b[i] * (2.0 * off + (n * q + 8) * UNIT * (w.row_c[i] + w.gl[i]))
            norm = w.gl[i] + off
            w.gl[i] = norm * norm / w.D[i] * (1.0 + 16.0 * UNIT)
        top = _largest(w.gl, n, t, w.sorted)
        base[0] = node.energy - quad - charge - 8.0 * UNIT * (fabs(node.energy) + fabs(quad))
        bound[0] = base[0] - top * (1.0 + 2.0 * (n + 4) * UNIT)
        for i in range(n):
            a = live[i] if live else i
            z[a], g[a] = w.zl[i], w.gl[i]
        return 1

    cdef int _screen(self, const Node* node, int n, double threshold, double bound,
                     const double* g, int* marks, double* order) noexcept nogil:
        """Marks 2 what no good choice contains, 1 what every one contains, unless it is marked 3;
        how many these are."""
        cdef int i, count = 0, t = node.t
        cdef double last, next_one
        _largest(g, n, t, order)  # sorts
        last, next_one = order[t - 1], order[t]
        for i in range(n):
            if marks[i] == 0 and g[i] > next_one and bound + g[i] - next_one >= threshold:
                marks[i] = 1
                count += 1
            elif g[i] < last and bound + last - g[i] >= threshold:
                marks[i] = 2
        return count

    cdef int _chain(self, const Node* node, int[::1] live, int n, double threshold, double bound,
                    double base, int n_chain, double margin, int* items, double* f,
                    int* n_bounds, RelaxationSpace w) noexcept nogil:
        """Candidates one after the other, with the bounds of the choices that contain each one and
        none of those before."""
        cdef int i, j, pick, count = 0, t = node.t, tried = 0
        cdef double most, value, rest, others, first = bound, again = 0.0, new_base = 0.0
        for i in range(node.n):
            w.score[i] = 0.0
        for j in range(node.q):
            for i in range(node.n):
                w.score[i] += w.c[i + <size_t> j * node.n] * w.c[i + <size_t> j * node.n]
        for i in range(node.n):
            w.score[i] = w.score[i] / w.K[i + <size_t> i * node.n] + node.s
        while n >= t:
            pick, most = 0, -1.0
            for i in range(n):
                value = w.z[live[i]] * w.score[live[i]]
                if value > most:
                    pick, most = i, value
            items[count] = live[pick]
            value = w.g[live[pick]]
            for i in range(pick, n - 1):
                live[i] = live[i + 1]
            n -= 1
            for i in range(n):
                w.gl[i] = w.g[live[i]]
            rest = _largest(w.gl, n, t - 1, w.sorted) * (1.0 + 2.0 * (n + 4) * UNIT)
            f[count] = max(bound, base - value - rest)
            count += 1
            if n < t:
                break
            others = base - (rest + w.sorted[t - 1]) * (1.0 + 4.0 * UNIT)
            if others >= threshold:
                break
            bound = max(bound, others)
            if tried >= n_chain or bound > first + margin * (threshold - first):
                continue
            tried += 1
            n_bounds[0] += 1
            if not self._bound(node, n, &live[0], threshold, TURNS, w.z, w.g, &new_base, &again, w):
                tried = n_chain  # the old g have been kept
                continue
            base = new_base
            if again >= threshold:
                break
            bound = max(bound, again)
            n = self._thin(n, t, threshold, again, live, items, f, &count, w)
        for i in range(n):  # they belong to the children before, but have none of their own
            items[count], f[count] = live[i], INFINITY
            count += 1
        return count

    cdef int _thin(self, int n, int t, double threshold, double bound, int[::1] live, int* items,
                   double* f, int* count, RelaxationSpace w) noexcept nogil:
        """Leave out what no good choice contains from here on."""
        cdef int i, kept = 0
        cdef double last
        for i in range(n):
            w.gl[i] = w.g[live[i]]
        _largest(w.gl, n, t, w.sorted)
        last = w.sorted[t - 1]
        for i in range(n):
            if not (w.g[live[i]] < last and bound + last - w.g[live[i]] >= threshold):
                live[kept] = live[i]
                kept += 1
            else:
                items[count[0]], f[count[0]] = live[i], INFINITY
                count[0] += 1
        return kept


cdef double _rows(int n, int q, const double* A, const double* B, double* squares) noexcept nogil:
    """Sum of A * B, and the squared lengths of the rows of A."""
    cdef int i, j
    cdef double total = 0.0
    for i in range(n):
        squares[i] = 0.0
    for j in range(q):
        for i in range(n):
            total += A[i + <size_t> j * n] * B[i + <size_t> j * n]
            squares[i] += A[i + <size_t> j * n] * A[i + <size_t> j * n]
    return total


cdef double _largest(const double* values, int n, int t, double* order) noexcept nogil:
    """Sum of the t largest values, which are sorted into ``order``."""
    cdef int i
    cdef double total = 0.0
    memcpy(order, values, n * sizeof(double))
    qsort(order, n, sizeof(double), &_descending)
    for i in range(min(t, n)):
        total += order[i]
    return total


cdef void _capped(const double* weights, int n, int t, double* z) noexcept nogil:
    """z proportional to the weights, at most 1, with sum t."""
    cdef int i, full = 0, last = -1
    cdef double total, factor, most = 0.0
    for i in range(n):
        most = max(most, weights[i])
        z[i] = 0.0
    while full != last and full < t:
        last, total = full, 0.0
        for i in range(n):
            if z[i] < 1.0:
                total += weights[i] + 1e-12 * most
        if total <= 0.0:
            break
        factor, full = (t - full) / total, 0
        for i in range(n):
            if z[i] < 1.0:
                z[i] = factor * (weights[i] + 1e-12 * most)
            if z[i] >= 1.0:
                z[i] = 1.0
                full += 1
    for i in range(n):
        z[i] = min(max(z[i], LEAST_Z), 1.0)
