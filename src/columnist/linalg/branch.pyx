# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Branching of column-subset nodes under the squared Frobenius norm.

A node is a set of chosen columns S, a list of candidates N and a number t of
columns still to choose. With B the (diagonal) second moment of the target, Q an
orthonormal basis of the candidates' residuals and H = Q'BQ = V diag(lambda) V',

* the node's bound is  e(S) - sum of the t largest lambda,
* the child that takes column y has error  u = e(S) - |z|^2  and bound
  f = u - sum of the t-1 largest eigenvalues of diag(lambda) - zz',
  where z = lambda^(1/2) V'Q'y / |residual of y|.

In the basis QV the candidates' residuals, with lambda as weights, are again such a
problem, only smaller: so a subtree is explored from frame to smaller frame, and its last three
columns are chosen in closed form from inner products.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport sqrt, INFINITY
from libc.stdlib cimport malloc, free
from libc.string cimport memcpy

from scipy.linalg.cython_blas cimport dgemm, dsyrk, dnrm2
from scipy.linalg.cython_lapack cimport (
    dgeqp3, dgeqrf, dorgqr, dormqr, dormtr, dstedc, dsterf, dsytrd,
)

from columnist.linalg.secular cimport downdate_roots, downdate_work_size

import numpy as np

# A residual shorter than this share of its column counts as dependent.
cdef double DEPENDENT = 1e-9
# Heights in a QR of unit columns above this leave no doubt that they are independent.
cdef double INDEPENDENT = 1e-6
# Squared lengths below this are rounding.
cdef double PARALLEL = 1e-14
# Rounding of the sums behind a pair's energy, relative to them.
cdef double SLACK = 64 * 2.220446049250313e-16

cdef enum:
    RESOLVED = 0
    UNRESOLVED = 1
    MAX_DEPTH = 64
    EXPLORED = 128  # longest candidate list that is explored beyond its children


cdef class Workspace:
    """Scratch memory for one thread; grows on demand and is then reused."""

    cdef double* memory
    cdef int* integers
    cdef double* free_memory     # behind what evaluating complete sets needs
    cdef int* free_integers
    cdef size_t n_doubles
    cdef size_t n_integers
    cdef int last_n, last_d
    cdef double last_error
    cdef double* last_lam
    cdef double* last_coords
    cdef double* last_norms

    def __cinit__(self):
        self.memory = NULL
        self.integers = NULL
        self.n_doubles = 0
        self.n_integers = 0
        self.last_n = self.last_d = 0

    def __dealloc__(self):
        free(self.memory)
        free(self.integers)

    @property
    def nbytes(self):
        """Bytes held."""
        return 8 * self.n_doubles + 4 * self.n_integers

    def last_frame(self):
        """Error, spectrum and residuals (n x d, in its basis) of the node expanded last.

        Rows stand in the order of the candidates kept, before they were sorted by bound.
        Valid right after :meth:`FrobeniusBrancher.children`.
        """
        lam = np.empty(self.last_d)
        coords = np.empty((self.last_n, self.last_d))
        cdef double[::1] lam_view = lam
        cdef double[:, ::1] coords_view = coords
        if self.last_n > 0 and self.last_d > 0:
            memcpy(&lam_view[0], self.last_lam, self.last_d * sizeof(double))
            memcpy(&coords_view[0, 0], self.last_coords,
                   <size_t> self.last_n * self.last_d * sizeof(double))
        cdef int i
        for i in range(self.last_n):
            coords[i] *= self.last_norms[i]
        return self.last_error, lam, coords

    cdef int reserve(self, size_t doubles, size_t integers) except -1:
        if doubles > self.n_doubles:
            free(self.memory)
            self.n_doubles = 0
            self.memory = <double*> malloc(doubles * sizeof(double))
            if self.memory == NULL:
                raise MemoryError("Not enough memory to expand a node of the search.")
            self.n_doubles = doubles
        if integers > self.n_integers:
            free(self.integers)
            self.n_integers = 0
            self.integers = <int*> malloc(integers * sizeof(int))
            if self.integers == NULL:
                raise MemoryError("Not enough memory to expand a node of the search.")
            self.n_integers = integers
        return 0


cdef struct Frame:
    # A problem in coordinates: r x n columns (column-major), weights of the coordinates.
    int r
    const double* columns
    const double* weights
    const double* lengths   # of the original columns, in the frame's units
    const int* names        # public number of each column
    double constant         # error that no column of the frame can reduce


cdef struct Node:
    # One node in a frame; pointers into a workspace, matrices column-major.
    int r            # coordinates of the frame
    int n_chosen     # columns to take
    int j            # independent ones among them
    int n            # candidates
    int t            # columns still to choose
    int d            # dimension of the candidates' span
    double error     # e(S), the constant part included
    double* basis    # r x d, later the images of the candidates
    double* moment   # d x d, H and then its reflectors
    double* coords   # d x n, candidates in the basis
    double* norms    # n
    double* lam      # d, descending
    double* z        # d x n
    double* q        # r x r
    double* vectors  # d x d
    double* tau
    double* diag
    double* off
    double* roots
    double* secular
    double* work
    int lwork
    int* iwork
    int liwork


cdef void _gather(const double* columns, const int* which, int r, int count,
                  double* out) noexcept nogil:
    cdef int i
    for i in range(count):
        memcpy(out + <size_t> i * r, columns + <size_t> which[i] * r, r * sizeof(double))


cdef double _residual_error(const double* weights, const double* q, int r, int j,
                            double constant) noexcept nogil:
    """constant + sum_l weights_l (1 - |row l of q|^2), q an r x j orthonormal basis."""
    cdef double total = constant, share
    cdef int i, c
    for i in range(r):
        share = 1.0
        for c in range(j):
            share -= q[i + <size_t> c * r] * q[i + <size_t> c * r]
        if share > 0.0:
            total += weights[i] * share
    return total


cdef int _factor_chosen(const double* columns, const int* chosen, Node* node, double* q,
                        double* tau) noexcept nogil:
    """QR of the chosen columns into ``q``, leaving out dependent ones; returns how many stay.

    Callers choose at most r columns.
    """
    cdef int r = node.r, j = node.n_chosen, info = 0, i, kept, one = 1
    cdef double length
    for i in range(j):
        node.iwork[i] = chosen[i]
    while j > 0:
        _gather(columns, node.iwork, r, j, q)
        dgeqrf(&r, &j, q, &r, tau, node.work, &node.lwork, &info)
        # Only the first dependent column is known for sure: heights behind it may be borrowed.
        kept = 0
        while kept < j and kept < r:
            length = dnrm2(&r, columns + <size_t> node.iwork[kept] * r, &one)
            if not q[kept + <size_t> kept * r] ** 2 > (DEPENDENT * length) ** 2:
                break
            kept += 1
        if kept == j:
            break
        for i in range(kept, j - 1):
            node.iwork[i] = node.iwork[i + 1]
        j -= 1
    return j


cdef void _normalise(const double* lengths, const int* candidates, Node* node,
                     int rows) noexcept nogil:
    """Unit residuals and their norms; dependent ones become zero."""
    cdef int c, i, one = 1
    cdef double norm
    cdef double* column
    for c in range(node.n):
        column = node.coords + <size_t> c * rows
        norm = dnrm2(&rows, column, &one)
        if not norm > DEPENDENT * lengths[candidates[c]]:
            norm = 0.0
        node.norms[c] = norm
        norm = 1.0 / norm if norm > 0.0 else 0.0
        for i in range(rows):
            column[i] *= norm


cdef void _span_basis(const double* columns, const double* lengths, const int* chosen,
                      const int* candidates, Node* node, double* q, double* tau) noexcept nogil:
    """Basis of the candidates' residuals and their unit coordinates; sets d.

    With at least r - j candidates the whole complement of S serves; otherwise
    the residuals are orthonormalised. ``q`` (r x r) and ``tau`` (r) are scratch;
    ``q`` returns an orthonormal basis of S in its first j columns.
    """
    cdef int r = node.r, j, n = node.n, info = 0, i, c, rest
    cdef double one = 1.0, zero = 0.0, minus = -1.0
    cdef char* side = b"L"
    cdef char* trans = b"T"
    cdef char* no = b"N"
    cdef double* resid = node.coords
    j = node.j = _factor_chosen(columns, chosen, node, q, tau)
    rest = r - j
    _gather(columns, candidates, r, n, resid)
    if n >= rest:
        if j > 0:
            dormqr(side, trans, &r, &n, &j, q, &r, tau, resid, &r, node.work, &node.lwork, &info)
            dorgqr(&r, &r, &j, q, &r, tau, node.work, &node.lwork, &info)
            memcpy(node.basis, q + <size_t> j * r, <size_t> rest * r * sizeof(double))
        else:
            for c in range(r):
                for i in range(r):
                    node.basis[i + <size_t> c * r] = 1.0 if i == c else 0.0
        # Keep the last r - j rows of the rotated candidates, packed.
        for c in range(n):
            for i in range(rest):
                resid[i + <size_t> c * rest] = resid[j + i + <size_t> c * r]
        node.d = rest
        _normalise(lengths, candidates, node, rest)
        return
    if j > 0:
        dorgqr(&r, &j, &j, q, &r, tau, node.work, &node.lwork, &info)
        for i in range(2):  # the second pass restores orthogonality
            dgemm(trans, no, &j, &n, &r, &one, q, &r, resid, &r, &zero, node.work, &j)
            dgemm(no, no, &r, &n, &j, &minus, q, &r, node.work, &j, &one, resid, &r)
    _normalise(lengths, candidates, node, r)
    _orthonormalise(node, tau)


cdef void _orthonormalise(Node* node, double* tau) noexcept nogil:
    """Basis of the unit residuals in ``coords`` (r x n), which become coordinates in it.

    Dependent residuals would give directions of rounding, which may point back into the chosen
    columns; if there are any, pivoting moves them to the end, where they are cut off.
    """
    cdef int r = node.r, n = node.n, d = node.n, info = 0, i, c
    cdef bint dependent = False
    cdef int* pivots = node.iwork
    memcpy(node.basis, node.coords, <size_t> n * r * sizeof(double))
    dgeqrf(&r, &n, node.basis, &r, tau, node.work, &node.lwork, &info)
    for i in range(n):
        pivots[i] = i + 1
        if node.basis[i + <size_t> i * r] ** 2 <= INDEPENDENT ** 2:
            dependent = True
    if dependent:
        memcpy(node.basis, node.coords, <size_t> n * r * sizeof(double))
        for i in range(n):
            pivots[i] = 0
        dgeqp3(&r, &n, node.basis, &r, pivots, tau, node.work, &node.lwork, &info)
        d = 0
        while d < n and node.basis[d + <size_t> d * r] ** 2 > DEPENDENT ** 2:
            d += 1
    for c in range(n):
        for i in range(d):
            node.coords[i + <size_t> (pivots[c] - 1) * d] = (
                node.basis[i + <size_t> c * r] if i <= c else 0.0)
    dorgqr(&r, &d, &d, node.basis, &r, tau, node.work, &node.lwork, &info)
    node.d = d


cdef void _tridiagonal(const double* weights, Node* node, double* scaled, double* diag,
                       double* off, double* tau) noexcept nogil:
    """H = Q' diag(weights) Q, reduced to tridiagonal form; eigenvalues to ``lam``."""
    cdef int r = node.r, d = node.d, info = 0, i, c
    cdef double one = 1.0, zero = 0.0, swap
    cdef char* lower = b"L"
    cdef char* trans = b"T"
    for c in range(d):
        for i in range(r):
            scaled[i + <size_t> c * r] = node.basis[i + <size_t> c * r] * sqrt(weights[i])
    dsyrk(lower, trans, &d, &r, &one, scaled, &r, &zero, node.moment, &d)
    dsytrd(lower, &d, node.moment, &d, diag, off, tau, node.work, &node.lwork, &info)
    memcpy(node.lam, diag, d * sizeof(double))
    memcpy(node.work, off, d * sizeof(double))
    dsterf(&d, node.lam, node.work, &info)
    for i in range(d // 2):  # ascending -> descending
        swap = node.lam[i]
        node.lam[i] = node.lam[d - 1 - i]
        node.lam[d - 1 - i] = swap
    for i in range(d):
        if node.lam[i] < 0.0:
            node.lam[i] = 0.0


cdef void _eigen_coordinates(Node* node) noexcept nogil:
    """Candidates in the eigenbasis of H, and z = lambda^(1/2) coords of each."""
    cdef int d = node.d, n = node.n, info = 0, i, c
    cdef double one = 1.0, zero = 0.0
    cdef char* compute = b"I"
    cdef char* side = b"L"
    cdef char* lower = b"L"
    cdef char* trans = b"T"
    cdef char* no = b"N"
    cdef double* source
    cdef double* target
    dstedc(compute, &d, node.diag, node.off, node.vectors, &d, node.work, &node.lwork,
           node.iwork, &node.liwork, &info)
    dormtr(side, lower, trans, &d, &n, node.moment, &d, node.tau, node.coords, &d,
           node.work, &node.lwork, &info)
    dgemm(trans, no, &d, &n, &d, &one, node.vectors, &d, node.coords, &d, &zero, node.z, &d)
    for c in range(n):
        source = node.z + <size_t> c * d
        target = node.coords + <size_t> c * d
        for i in range(d):  # eigenvalues came in ascending order
            target[i] = source[d - 1 - i]
        for i in range(d):
            source[i] = target[i] * sqrt(node.lam[i])


cdef double _child_bound(const double* lam, const double* z, int d, int t, double u,
                         double head, double threshold, double* roots,
                         double* work) noexcept nogil:
    """u - (sum of the t-1 largest eigenvalues of diag(lam) - zz').

    ``head`` is the sum of the t-1 largest lam. Roots are replaced one by one
    from the largest; the value returned is exact unless it already reaches
    ``threshold``, where any valid bound will do.
    """
    cdef double bound = u - head
    cdef int i, m = t - 1
    if m > d:
        m = d
    if bound >= threshold or m <= 0:
        return bound
    if m > 2:
        downdate_roots(lam, z, d, 0, 1, roots, work)
        bound += lam[0] - roots[0]
        if bound >= threshold:
            return bound
        downdate_roots(lam, z, d, 1, m, roots + 1, work)
        for i in range(1, m):
            bound += lam[i] - roots[i]
        return bound
    downdate_roots(lam, z, d, 0, m, roots, work)
    for i in range(m):
        bound += lam[i] - roots[i]
    return bound


cdef double _sum_top(const double* lam, int d, int t) noexcept nogil:
    cdef double total = 0.0
    cdef int i
    for i in range(min(t, d)):
        total += lam[i]
    return total


cdef double _square(const double* z, int d) noexcept nogil:
    cdef double total = 0.0
    cdef int i
    for i in range(d):
        total += z[i] * z[i]
    return total


cdef void _sort_by(const double* key, int* order, int n) noexcept nogil:
    """Insertion sort of positions by key (lists are short and nearly sorted)."""
    cdef int i, at, item
    for i in range(n):
        item = i
        at = i
        while at > 0 and key[order[at - 1]] > key[item]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


cdef void _pack(Node* node, int m, int c) noexcept nogil:
    """Move candidate c to place m."""
    cdef size_t d = node.d
    if m == c:
        return
    memcpy(node.z + m * d, node.z + c * d, d * sizeof(double))
    memcpy(node.coords + m * d, node.coords + c * d, d * sizeof(double))
    node.norms[m] = node.norms[c]


cdef size_t _lwork(size_t r, size_t n, size_t j) noexcept nogil:
    # Enough for dstedc (1 + 4r + r^2), for blocked QR and for j x n products.
    cdef size_t width = max(n, r)
    return 1 + 4 * r + r * r + 64 * width + j * width


cdef size_t _node_size(size_t r, size_t n, size_t j) noexcept nogil:
    """Doubles that one node needs."""
    cdef size_t width = max(n, r)
    return (3 * r * r + 3 * r * width + 2 * width + 6 * r
            + downdate_work_size(r) + _lwork(r, n, j))


cdef double* _lay_out(Node* node, double* memory, int* integers, int rank, int n_candidates,
                      int n_chosen, int t) noexcept nogil:
    """Assign scratch areas; returns the first double behind them."""
    cdef size_t r = rank, n = n_candidates, width = max(n, r)
    node.r = rank
    node.n_chosen = n_chosen
    node.j = 0
    node.t = t
    node.q = memory
    node.moment = node.q + r * r
    node.vectors = node.moment + r * r
    node.basis = node.vectors + r * r
    node.coords = node.basis + r * width
    node.z = node.coords + r * width
    node.norms = node.z + r * width
    node.tau = node.norms + width
    node.lam = node.tau + width
    node.diag = node.lam + r
    node.off = node.diag + r
    node.roots = node.off + r
    node.secular = node.roots + 2 * r
    node.work = node.secular + downdate_work_size(r)
    node.lwork = <int> _lwork(r, n, n_chosen)
    node.iwork = integers
    node.liwork = <int> (3 + 5 * r)
    return node.work + node.lwork


cdef double _prepare(const Frame* frame, const int* chosen, const int* kept, int n,
                     double allowance, Node* node) noexcept nogil:
    """Basis, coordinates and spectrum of the node; returns its bound."""
    node.n = n
    _span_basis(frame.columns, frame.lengths, chosen, kept, node, node.q, node.tau)
    node.error = _residual_error(frame.weights, node.q, node.r, node.j, frame.constant)
    if node.d == 0:
        return node.error - allowance
    _tridiagonal(frame.weights, node, node.z, node.diag, node.off, node.tau)
    return node.error - _sum_top(node.lam, node.d, node.t) - allowance


cdef int _filtered(const Frame* frame, const int* chosen, int* kept, int n, double threshold,
                   double allowance, Node* node, double* f, double* u, double* tops,
                   double* bound) noexcept nogil:
    """Children below the threshold, refined until the list stops shrinking.

    Returns how many stay; coordinates, norms and z are packed to them. ``tops`` receives the
    t - 1 largest eigenvalues left in each child.
    """
    cdef int c, m, i, d, previous, t = node.t
    cdef double head
    cdef double* z
    while True:
        bound[0] = _prepare(frame, chosen, kept, n, allowance, node)
        if bound[0] >= threshold:
            return 0
        d = node.d
        if d == 0:  # nothing left to explain: every completion has this error
            for c in range(n):
                u[c] = node.error
                f[c] = bound[0]
            return n
        _eigen_coordinates(node)
        head = _sum_top(node.lam, d, t - 1)
        previous = n
        m = 0
        for c in range(n):
            z = node.z + <size_t> c * d
            u[m] = node.error - _square(z, d)
            f[m] = max(bound[0], _child_bound(node.lam, z, d, t, u[m] - allowance, head,
                                              threshold, node.roots, node.secular))
            if f[m] < threshold:
                kept[m] = kept[c]
                for i in range(t - 1):
                    tops[m * (t - 1) + i] = node.roots[i] if i < d else 0.0
                _pack(node, m, c)
                m += 1
        n = m
        if n < t:
            bound[0] = INFINITY
            return 0
        # A shorter list tightens the bounds once it no longer spans the complement.
        if n == previous or n >= d:
            node.n = n
            return n


cdef void _inner_products(Node* node, const double* images, int rows,
                          double* products) noexcept nogil:
    """Lower triangles of a_i'a_j and z_i'z_j of the kept unit residuals, one after the other."""
    cdef int n = node.n, d = node.d
    cdef double one = 1.0, zero = 0.0
    cdef char* trans = b"T"
    cdef char* lower = b"L"
    dsyrk(lower, trans, &n, &d, &one, node.coords, &d, &zero, products, &n)
    dsyrk(lower, trans, &n, &rows, &one, images, &rows, &zero, products + <size_t> n * n, &n)


cdef struct Best:
    # The best completions of a node, ascending by error; `width` items each.
    int count
    int capacity
    int width
    double* error
    int* items


cdef struct Search:
    # A depth-first search below one node.
    double limit        # complete sets must stay below it
    double allowance
    double budget       # operations left
    long nodes          # nodes expanded
    long unresolved     # children given up for lack of budget
    long resolved       # children explored to their end
    Best* best
    int depth           # columns on the path
    int path[MAX_DEPTH]
    const Frame* top    # the problem itself, and the columns of the node in it
    const int* base
    int n_base
    Node exact          # scratch to evaluate complete sets
    int* full


cdef double _exact_error(Search* search, const int* last, int count) noexcept nogil:
    """Error of the path followed by ``last``, by QR of the columns themselves.

    Inner products lead here; rounding in them must not decide between complete sets.
    """
    cdef Node* node = &search.exact
    cdef int r = node.r, i, j, info = 0
    for i in range(search.n_base):
        search.full[i] = search.base[i]
    for i in range(search.depth):
        search.full[search.n_base + i] = search.path[i]
    for i in range(count):
        search.full[search.n_base + search.depth + i] = last[i]
    node.n_chosen = search.n_base + search.depth + count
    j = _factor_chosen(search.top.columns, search.full, node, node.q, node.tau)
    if j > 0:
        dorgqr(&r, &j, &j, node.q, &r, node.tau, node.work, &node.lwork, &info)
    return _residual_error(search.top.weights, node.q, r, j, search.top.constant)


cdef void _offer(Search* search, const int* last, int count) noexcept nogil:
    """Offer the path followed by ``last``; tightens the limit."""
    cdef Best* best = search.best
    cdef int at, i, w = best.width
    cdef double error = _exact_error(search, last, count)
    if error >= search.limit:
        return
    if best.count < best.capacity:
        best.count += 1
    elif error >= best.error[best.count - 1]:
        return
    at = best.count - 1
    while at > 0 and best.error[at - 1] > error:
        best.error[at] = best.error[at - 1]
        for i in range(w):
            best.items[at * w + i] = best.items[(at - 1) * w + i]
        at -= 1
    best.error[at] = error
    for i in range(search.depth):
        best.items[at * w + i] = search.path[i]
    for i in range(count):
        best.items[at * w + search.depth + i] = last[i]
    if best.count == best.capacity and best.error[best.count - 1] < search.limit:
        search.limit = best.error[best.count - 1]


cdef struct Given:
    # Candidates once column i is taken: everything needed for their pairs.
    int count
    int* index       # positions
    double* cosine   # c_j = a_i'a_j
    double* inner    # m_j = z_i'z_j
    double* gap      # squared length of a_j without its part along a_i
    double* energy   # z_j likewise: |z_j - c_j z_i|^2


cdef void _scan_pairs(const double* A, const double* M, int stride, const Given* given,
                      double own, double error, double rounding, Search* search,
                      const int* names) noexcept nogil:
    """Offer all pairs of candidates, given column i (energy ``own``), below the limit.

    With conditional lengths g, energies e and inner products a, m, a pair catches
    (e_j g_l + e_l g_j - 2 a m) / (g_j g_l - a^2). ``rounding`` is that of e, m in absolute
    terms; ``names`` are the public numbers of the positions.
    """
    cdef int x, y, j, l
    cdef int last[2]
    cdef double cj, mj, gj, ej, a, m, det, caught, need, slack, gain
    need = error - search.limit - search.allowance
    for x in range(given.count):
        j = given.index[x]
        cj = given.cosine[x]
        mj = given.inner[x]
        gj = given.gap[x]
        ej = given.energy[x]
        for y in range(x):
            l = given.index[y]
            if j > l:  # only the lower triangle is stored
                a = A[j + <size_t> l * stride]
                m = M[j + <size_t> l * stride]
            else:
                a = A[l + <size_t> j * stride]
                m = M[l + <size_t> j * stride]
            m = m - cj * given.inner[y] - given.cosine[y] * mj + cj * given.cosine[y] * own
            a = a - cj * given.cosine[y]
            det = max(gj * given.gap[y] - a * a, 0.0)
            caught = ej * given.gap[y] + given.energy[y] * gj - 2.0 * a * m
            slack = SLACK * (ej + given.energy[y] + own) + rounding
            if caught + slack < need * det:
                continue
            if det <= PARALLEL:
                gain = 0.0
                if gj > PARALLEL:
                    gain = ej / gj
                if given.gap[y] > PARALLEL:
                    gain = max(gain, given.energy[y] / given.gap[y])
            else:
                gain = caught / det
            if error - gain - search.allowance < search.limit + slack / max(det, PARALLEL):
                last[0] = names[j]
                last[1] = names[l]
                _offer(search, last, 2)
                need = error - search.limit - search.allowance


cdef void _given_nothing(Given* given, const double* products, int* index, int n,
                         double* energy) noexcept nogil:
    """All candidates, nothing taken: unit lengths (0 for dependent ones)."""
    cdef int i
    given.count = n
    given.index = index
    given.energy = energy
    given.cosine = energy + n
    given.inner = energy + 2 * n
    given.gap = energy + 3 * n
    for i in range(n):
        given.index[i] = i
        given.cosine[i] = 0.0
        given.inner[i] = 0.0
        given.gap[i] = 1.0 if products[i + <size_t> i * n] > 0.5 else 0.0


cdef void _given_child(Given* given, const double* A, const double* M, int n, int i,
                       const int* order, int count, double u, double top,
                       double limit) noexcept nogil:
    """Candidates order[:count] once i is taken; those that cannot help are left out.

    A pair (j, l) behind i catches at most the energy of j alone plus ``top``, the
    largest eigenvalue left behind i.
    """
    cdef int q, j, m = 0
    cdef double c, inner, gap, energy, own = M[i + <size_t> i * n]
    for q in range(count):
        j = order[q]
        if j > i:
            c = A[j + <size_t> i * n]
            inner = M[j + <size_t> i * n]
        else:
            c = A[i + <size_t> j * n]
            inner = M[i + <size_t> j * n]
        gap = max(A[j + <size_t> j * n] - c * c, 0.0)
        energy = max(M[j + <size_t> j * n] - 2.0 * c * inner + c * c * own, 0.0)
        if gap > 1e-8 and energy < (u - top - limit) * gap:
            continue
        given.index[m] = j
        given.cosine[m] = c
        given.inner[m] = inner
        given.gap[m] = gap
        given.energy[m] = energy
        m += 1
    given.count = m


cdef void _scan_triples(Search* search, const Frame* frame, Node* node, const int* kept,
                        const double* f, const double* u, const double* tops, int* order,
                        double* scratch) noexcept nogil:
    """For every child that may lead below the limit, the best pairs behind it.

    Children are numbered by their bounds and see only those before them, as in
    the partition of the search. ``scratch`` holds 2 n^2 + 4 n doubles, ``order`` 3 n integers.
    """
    cdef int i, p, n = node.n
    cdef int* names = order + 2 * n
    cdef double* A = scratch
    cdef double* M = A + <size_t> n * n
    cdef Given given
    _inner_products(node, node.z, node.d, A)
    _sort_by(f, order, n)
    given.index = order + n
    given.cosine = M + <size_t> n * n
    given.inner = given.cosine + n
    given.gap = given.inner + n
    given.energy = given.gap + n
    for i in range(n):
        names[i] = frame.names[kept[i]]
    for p in range(2, n):
        i = order[p]
        if f[i] >= search.limit:
            return
        _given_child(&given, A, M, n, i, order, p, u[i] - search.allowance,
                     tops[2 * i], search.limit)
        search.path[search.depth] = names[i]
        search.depth += 1
        _scan_pairs(A, M, n, &given, M[i + <size_t> i * n], u[i], 0.0, search, names)
        search.depth -= 1


cdef void _scan_node_pairs(Search* search, const Frame* frame, const int* chosen, int* kept,
                           int n, Node* node, int* order, double* scratch) noexcept nogil:
    """The best pairs of a node with two columns to choose, without eigenvectors.

    ``scratch`` holds 2 n^2 + 4 n doubles.
    """
    cdef int r = node.r, d, c, m, previous
    cdef double one = 1.0, zero = 0.0
    cdef char* no = b"N"
    cdef double* energy = scratch + 2 * <size_t> n * n
    cdef int last[2]
    cdef Given given
    while True:
        if _prepare(frame, chosen, kept, n, search.allowance, node) >= search.limit:
            return
        d = node.d
        if d == 0:  # nothing left to explain: the first pairs are as good as any
            for c in range(1, n):
                last[0] = frame.names[kept[0]]
                last[1] = frame.names[kept[c]]
                _offer(search, last, 2)
            return
            # _prepare left B^(1/2) Q in z; the images go to the basis, no longer needed.
        dgemm(no, no, &r, &n, &d, &one, node.z, &r, node.coords, &d, &zero, node.basis, &r)
        previous = n
        m = 0
        for c in range(n):
            energy[m] = _square(node.basis + <size_t> c * r, r)
            if node.error - energy[m] - node.lam[0] - search.allowance < search.limit:
                kept[m] = kept[c]
                if m < c:
                    memcpy(node.basis + <size_t> m * r, node.basis + <size_t> c * r,
                           r * sizeof(double))
                    memcpy(node.coords + <size_t> m * d, node.coords + <size_t> c * d,
                           d * sizeof(double))
                m += 1
        n = m
        if n < 2:
            return
        if n == previous or n >= d:
            break
    node.n = n
    _inner_products(node, node.basis, r, scratch)
    _given_nothing(&given, scratch, order, n, energy)
    _public(frame, kept, n)
    _scan_pairs(scratch, scratch + <size_t> n * n, n, &given, 0.0, node.error, 0.0, search, kept)


cdef void _public(const Frame* frame, int* kept, int n) noexcept nogil:
    """Replace positions by public numbers."""
    cdef int i
    for i in range(n):
        kept[i] = frame.names[kept[i]]


cdef void _condition(const double* A, const double* M, int m, int stride, int x, double* A_out,
                     double* M_out) noexcept nogil:
    """Inner products of the first x residuals once residual x is projected out.

    a_ij - a_ix a_jx / a_xx, and likewise for z: lower triangles, stride x.
    """
    cdef int i, j
    cdef double ax = A[x + <size_t> x * stride], mx = M[x + <size_t> x * stride], ci, cj
    cdef double scale = 1.0 / ax if ax > PARALLEL else 0.0
    cdef size_t at
    for i in range(x):
        ci = A[x + <size_t> i * stride] * scale
        for j in range(i, x):
            at = j + <size_t> i * stride
            cj = A[x + <size_t> j * stride] * scale
            A_out[j + <size_t> i * x] = A[at] - ci * A[x + <size_t> j * stride]
            M_out[j + <size_t> i * x] = (M[at] - ci * M[x + <size_t> j * stride]
                                         - cj * M[x + <size_t> i * stride] + ci * cj * mx)


cdef void _enumerate(Search* search, const double* A, const double* M, int m, int t,
                     double error, double rounding, const double* tops, const int* names,
                     double* memory, int* integers) noexcept nogil:
    """All t-subsets of m candidates from their inner products; for short lists.

    ``tops`` are the t largest eigenvalues left: what any columns can still catch.
    """
    cdef int x, i
    cdef double* A_next = memory
    cdef double* M_next = A_next + <size_t> m * m
    cdef double* rest = M_next + <size_t> m * m
    cdef double length, left, slack, head = 0.0
    cdef Given given
    if t == 2:
        given.energy = rest
        _given_all(&given, A, M, m, integers, rest)
        _scan_pairs(A, M, m, &given, 0.0, error, rounding, search, names)
        return
    for i in range(t - 1):
        head += tops[i]
    for x in range(t - 1, m):
        length = A[x + <size_t> x * m]
        left = error
        slack = 0.0
        if length > PARALLEL:
            left -= M[x + <size_t> x * m] / length
            slack = rounding / length
        if left - slack - head - search.allowance >= search.limit:
            continue
        _condition(A, M, m, m, x, A_next, M_next)
        search.path[search.depth] = names[x]
        search.depth += 1
        _enumerate(search, A_next, M_next, x, t - 1, left, rounding + slack,
                   tops, names, rest, integers + m)
        search.depth -= 1


cdef void _given_all(Given* given, const double* A, const double* M, int m, int* index,
                     double* scratch) noexcept nogil:
    """All candidates, nothing taken, lengths and energies from the diagonals."""
    cdef int i
    given.count = m
    given.index = index
    given.energy = scratch
    given.gap = scratch + m
    given.cosine = scratch + 2 * m
    given.inner = scratch + 3 * m
    for i in range(m):
        index[i] = i
        given.energy[i] = max(M[i + <size_t> i * m], 0.0)
        given.gap[i] = max(A[i + <size_t> i * m], 0.0)
        given.cosine[i] = 0.0
        given.inner[i] = 0.0


cdef double _binomial(int n, int k) noexcept nogil:
    cdef double result = 1.0
    cdef int i
    for i in range(k):
        result *= <double> (n - i) / (i + 1)
    return result


cdef double _enumeration(int n, int t) noexcept nogil:
    """Operations of an enumeration, roughly: the more columns, the more a bound would spare."""
    return _binomial(n, t) * (1 << min(t - 1, 20))


cdef void _enumerate_child(Search* search, const double* A, const double* M, int n, int i,
                           const int* allowed, int count, int t, double u, const double* tops,
                           const Frame* frame, double* memory, int* integers) noexcept nogil:
    """Enumerate the t-subsets of ``allowed`` behind child i."""
    cdef int x, y, a, b, low, high
    cdef double* A_own = memory
    cdef double* M_own = A_own + <size_t> (count + 1) * (count + 1)
    cdef double* rest = M_own + <size_t> (count + 1) * (count + 1)
    cdef int stride = count + 1
    # The list with i behind it; projecting out the last one leaves the conditional products.
    for x in range(stride):
        a = allowed[x] if x < count else i
        integers[x] = frame.names[a]
        for y in range(x, stride):
            b = allowed[y] if y < count else i
            low, high = min(a, b), max(a, b)
            A_own[y + <size_t> x * stride] = A[high + <size_t> low * n]
            M_own[y + <size_t> x * stride] = M[high + <size_t> low * n]
    _condition(A_own, M_own, stride, stride, count, rest, rest + <size_t> count * count)
    search.path[search.depth] = frame.names[i]
    search.depth += 1
    _enumerate(search, rest, rest + <size_t> count * count, count, t, u,
               SLACK * M[i + <size_t> i * n], tops, integers, rest + 2 * <size_t> count * count,
               integers + stride)
    search.depth -= 1


cdef double _operations(int r, int n, int t) noexcept nogil:
    """Operations of one node, roughly; the constant stands for the calls."""
    cdef double width = min(r, n)
    return 3e4 + 6.0 * r * n * width + 10.0 * width * width * width + 40.0 * n * t * width


cdef int _explore(Search* search, const Frame* frame, const int* chosen, int n_chosen,
                  const int* candidates, int n, int t, double* memory, int* integers,
                  double* bound) noexcept nogil:
    """Depth-first search below a node with t >= 3 columns to choose.

    RESOLVED: every completion below the limit was offered. UNRESOLVED: the budget ran
    out; what was offered stays valid. ``bound`` receives the node's own bound.
    """
    cdef Node node
    cdef Frame inner
    cdef int* kept = integers
    cdef int* order
    cdef int* names
    cdef double* f
    cdef double* u
    cdef double* tops
    cdef double* lengths
    cdef double* rest
    cdef int i
    search.nodes += 1
    search.budget -= _operations(frame.r, n, t)
    if search.budget < 0.0:
        return UNRESOLVED
    order = kept + n
    names = order + 2 * n
    memcpy(kept, candidates, n * sizeof(int))
    rest = _lay_out(&node, memory, names + n, frame.r, n, n_chosen, t)
    f = rest
    u = f + n
    lengths = u + n
    tops = lengths + n
    rest = tops + <size_t> n * (t - 1)
    integers = names + n + 3 + 5 * frame.r + n_chosen
    n = _filtered(frame, chosen, kept, n, search.limit, search.allowance, &node, f, u, tops, bound)
    if n == 0:
        return RESOLVED
    if node.d == 0:
        for i in range(t):
            order[i] = frame.names[kept[i]]
        _offer(search, order, t)
        return RESOLVED
    if t == 3:
        _scan_triples(search, frame, &node, kept, f, u, tops, order, rest)
        return RESOLVED
    _enter(&node, frame, kept, &inner, names, lengths)
    return _explore_children(search, &inner, &node, f, u, tops, order, t, rest, integers, NULL)


cdef int _explore_children(Search* search, const Frame* inner, Node* node, double* f,
                           const double* u, const double* tops, int* order, int t, double* memory,
                           int* integers, double* total) noexcept nogil:
    """Explore the children of a node, cheapest first.

    Without ``total``, stops as soon as one child is unresolved. With ``total``, the
    operations to share among all of them, f becomes infinite where a child was explored to
    its end, and is raised to what is known of it otherwise.
    """
    cdef int n = node.n, p, i, count, outcome
    cdef size_t square = <size_t> n * n
    cdef double* A = memory
    cdef double* M = A + square
    cdef double* smallest = M + square
    cdef double* rest = smallest + t
    cdef int* allowed = integers
    cdef double bound
    _inner_products(node, node.z, node.d, A)
    _sort_by(f, order, n)
    for p in range(t - 1, n):
        i = order[p]
        if f[i] >= search.limit:
            break
        count = _compatible(A, M, n, i, order, p, u, tops, t, search, allowed, smallest)
        if total != NULL:
            f[i] = max(f[i], smallest[t - 2])
            search.budget = total[0] / 4.0
            total[0] -= search.budget
        bound = -INFINITY
        outcome = RESOLVED
        if count < t - 1 or f[i] >= search.limit:
            pass
        elif _enumeration(count, t - 1) <= _operations(inner.r, count, t - 1):
            _enumerate_child(search, A, M, n, i, allowed, count, t - 1, u[i],
                             tops + <size_t> i * (t - 1), inner, rest, integers + n)
        else:
            search.path[search.depth] = inner.names[i]
            search.depth += 1
            outcome = _explore(search, inner, &i, 1, allowed, count, t - 1, rest,
                               integers + n, &bound)
            search.depth -= 1
        if total != NULL:
            if outcome == RESOLVED:
                f[i] = INFINITY
                search.resolved += 1
            else:
                f[i] = max(f[i], bound)
                search.unresolved += 1
            total[0] += max(search.budget, 0.0)
            if total[0] <= 0.0:
                break
        elif outcome == UNRESOLVED:
            return UNRESOLVED
    return RESOLVED


cdef int _compatible(const double* A, const double* M, int n, int i, const int* order, int count,
                     const double* u, const double* tops, int t, const Search* search,
                     int* allowed, double* smallest) noexcept nogil:
    """Candidates order[:count] that a completion through i may still use.

    After columns i and j the eigenvalues lie below those after either one, so every
    completion through both has at least the error
    u_ij - sum over l <= t - 2 of min(mu^i_l, mu^j_l). ``smallest`` receives the t - 1 smallest of
    these bounds, ascending: the last one bounds every completion through i.
    """
    cdef int q, j, l, at, m = 0
    cdef double c, inner, gap, energy, bound, own = M[i + <size_t> i * n]
    cdef const double* mine = tops + <size_t> i * (t - 1)
    cdef const double* other
    for l in range(t - 1):
        smallest[l] = INFINITY
    for q in range(count):
        j = order[q]
        if j > i:
            c = A[j + <size_t> i * n]
            inner = M[j + <size_t> i * n]
        else:
            c = A[i + <size_t> j * n]
            inner = M[i + <size_t> j * n]
        gap = A[j + <size_t> j * n] - c * c
        bound = -INFINITY
        if gap > 1e-8:
            energy = M[j + <size_t> j * n] - 2.0 * c * inner + c * c * own
            energy += SLACK * (M[j + <size_t> j * n] + own)
            bound = u[i] - energy / gap - search.allowance
            other = tops + <size_t> j * (t - 1)
            for l in range(t - 2):
                bound -= min(mine[l], other[l])
        if bound < search.limit:
            allowed[m] = j
            m += 1
        at = t - 2
        if bound < smallest[at]:
            while at > 0 and smallest[at - 1] > bound:
                smallest[at] = smallest[at - 1]
                at -= 1
            smallest[at] = bound
    return m


cdef void _enter(Node* node, const Frame* frame, const int* kept, Frame* inner, int* names,
                 double* lengths) noexcept nogil:
    """The smaller frame of a node: its unit residuals with lambda as weights."""
    cdef int i
    for i in range(node.n):
        names[i] = frame.names[kept[i]]
        lengths[i] = frame.lengths[kept[i]] / node.norms[i] if node.norms[i] > 0.0 else 1.0
    inner.r = node.d
    inner.columns = node.coords
    inner.weights = node.lam
    inner.lengths = lengths
    inner.names = names
    inner.constant = max(node.error - _sum_top(node.lam, node.d, node.d), 0.0)


cdef size_t _explore_doubles(size_t r, size_t n, size_t j, size_t t) noexcept nogil:
    """Doubles for _explore and everything below it: at most n candidates at every level."""
    cdef size_t level = _node_size(max(r, n), n, max(j, 1)) + (t + 4) * n + 2 * n * n + t
    cdef size_t listed = 2 * (n + 1) * (n + 1) + 4 * n
    return t * (level + listed) + listed


cdef class FrobeniusBrancher:
    """Expands nodes of the column-subset search for one reduced problem.

    Parameters
    ----------
    columns : ndarray of shape (n, r)
        Row i holds column i of the data in a basis where the target's second
        moment is diagonal.
    weights : ndarray of shape (r,)
        That diagonal, non-negative.
    constant : float
        Error that no column can reduce (energy outside the columns' span).
    allowance : float
        Rounding allowance subtracted from every bound.
    """

    cdef double[:, ::1] columns
    cdef double[::1] weights
    cdef double[::1] lengths
    cdef int[::1] names
    cdef double allowance
    cdef Frame frame

    def __init__(self, double[:, ::1] columns, double[::1] weights, double constant,
                 double allowance):
        self.columns = columns
        self.weights = weights
        self.lengths = np.linalg.norm(np.asarray(columns), axis=1)
        self.names = np.arange(columns.shape[0], dtype=np.int32)
        self.allowance = allowance
        self.frame.r = columns.shape[1]
        self.frame.columns = &self.columns[0, 0]
        self.frame.weights = &self.weights[0]
        self.frame.lengths = &self.lengths[0]
        self.frame.names = &self.names[0]
        self.frame.constant = constant

    def children(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                 Workspace space, double budget=0.0, int n_best=1):
        """Children of a node, in the order of the partition.

        Parameters
        ----------
        chosen, candidates : ndarray of int32
            The node.
        t : int
            Columns still to choose, at least 1.
        threshold : float
            Children whose bound reaches it are left out.
        space : Workspace
            Scratch memory of the calling thread.
        budget : float, default=0.0
            Operations to spend on exploring children at once (t >= 4).
        n_best : int, default=1
            Complete sets to report.

        Returns
        -------
        bound : float
            Lower bound for every completion of the node; ``inf`` if none can
            be below ``threshold``.
        kept : ndarray of int32
            Items of the children, ascending by bound.
        f, u : ndarray
            Bound and error of each child; the bound is ``inf`` where the child was
            explored to its end.
        errors, items : ndarray
            Complete sets found by exploring: errors and the items added.
        counts : tuple of int
            Nodes explored beside this one, and children for which that reached the
            end or not.
        order : ndarray of int32
            How the children were sorted (see :meth:`Workspace.last_frame`).
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        cdef double bound = INFINITY
        kept = np.array(candidates, dtype=np.int32)
        f = np.empty(n)
        u = np.empty(n)
        order = np.empty(n, dtype=np.int32)
        errors = np.empty(n_best)
        items = np.empty((n_best, max(t, 1)), dtype=np.int32)
        cdef int[::1] kept_view = kept
        cdef int[::1] order_view = order
        cdef double[::1] f_view = f
        cdef double[::1] u_view = u
        cdef double[::1] errors_view = errors
        cdef int[:, ::1] items_view = items
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef Best best
        cdef Search search
        _begin(&best, &search, &errors_view[0], &items_view[0, 0], n_best, t, threshold,
               self.allowance, budget)
        if n < t or n == 0:
            return INFINITY, kept[:0], f[:0], u[:0], errors[:0], items[:0], (0, 0, 0), order[:0]
        self._reserve(space, n, j, t)
        self._evaluates(&search, space, chosen_at, j, t)
        with nogil:
            n = self._children(chosen_at, j, &kept_view[0], n, t, space, &f_view[0],
                               &u_view[0], &order_view[0], &search, &bound)
        order = order[:n]
        return (bound, kept[order], f[order], u[order], errors[:best.count],
                items[:best.count], (search.nodes, search.resolved, search.unresolved), order)

    def additions(self, int[::1] chosen, int[::1] candidates, Workspace space):
        """Error of ``chosen`` alone, and of ``chosen`` plus each candidate.

        Returns
        -------
        error : float
        errors : ndarray of shape (n_candidates,)
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        cdef double error
        errors = np.empty(n)
        cdef double[::1] view = errors
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef const int* candidates_at = &candidates[0] if n > 0 else NULL
        cdef double* out = &view[0] if n > 0 else NULL
        self._reserve(space, n, j, 4)
        with nogil:
            error = self._additions(chosen_at, j, candidates_at, n, space, out)
        return error, errors

    cdef double _additions(self, const int* chosen, int j, const int* candidates, int n,
                           Workspace space, double* out) noexcept nogil:
        cdef Node node
        cdef int r = self.frame.r, c, i, info = 0
        cdef double one = 1.0, zero = 0.0, minus = -1.0, error, length, energy, square
        cdef char* trans = b"T"
        cdef char* no = b"N"
        cdef double* column
        _lay_out(&node, space.memory, space.integers, r, n, j, 1)
        j = _factor_chosen(self.frame.columns, chosen, &node, node.q, node.tau)
        if j > 0:
            dorgqr(&r, &j, &j, node.q, &r, node.tau, node.work, &node.lwork, &info)
        error = _residual_error(self.frame.weights, node.q, r, j, self.frame.constant)
        if n == 0:
            return error
        _gather(self.frame.columns, candidates, r, n, node.coords)
        if j > 0:
            dgemm(trans, no, &j, &n, &r, &one, node.q, &r, node.coords, &r, &zero, node.work, &j)
            dgemm(no, no, &r, &n, &j, &minus, node.q, &r, node.work, &j, &one, node.coords, &r)
        for c in range(n):
            column = node.coords + <size_t> c * r
            length = 0.0
            energy = 0.0
            for i in range(r):
                square = column[i] * column[i]
                length += square
                energy += square * self.frame.weights[i]
            out[c] = error
            if length > (DEPENDENT * self.frame.lengths[candidates[c]]) ** 2:
                out[c] = max(error - energy / length, 0.0)
        return error

    def completions(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                    int n_best, Workspace space):
        """The best completions of a node by two or three columns, in closed form.

        Returns
        -------
        errors : ndarray
            Errors of at most ``n_best`` completions that may be below
            ``threshold``, ascending.
        items : ndarray of int32 of shape (n_found, t)
            Their columns.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        errors = np.empty(n_best)
        items = np.empty((n_best, t), dtype=np.int32)
        cdef double[::1] errors_view = errors
        cdef int[:, ::1] items_view = items
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef double bound = 0.0
        cdef double* scratch
        cdef Node node
        cdef Best best
        cdef Search search
        _begin(&best, &search, &errors_view[0], &items_view[0, 0], n_best, t, threshold,
               self.allowance, INFINITY)
        if n < t:
            return errors[:0], items[:0]
        self._reserve(space, n, j, t)
        self._evaluates(&search, space, chosen_at, j, t)
        with nogil:
            if t == 2:
                memcpy(space.free_integers, &candidates[0], n * sizeof(int))
                scratch = _lay_out(&node, space.free_memory, space.free_integers + 3 * n,
                                   self.frame.r, n, j, 2)
                _scan_node_pairs(&search, &self.frame, chosen_at, space.free_integers, n, &node,
                                 space.free_integers + n, scratch)
            else:
                _explore(&search, &self.frame, chosen_at, j, &candidates[0], n, 3,
                         space.free_memory, space.free_integers, &bound)
        return errors[:best.count], items[:best.count]

    cdef void _evaluates(self, Search* search, Workspace space, const int* chosen, int j,
                         int t) noexcept nogil:
        """Set aside, at the start of the workspace, what evaluating complete sets needs."""
        cdef int size = j + t
        search.top = &self.frame
        search.base = chosen
        search.n_base = j
        search.full = space.integers
        space.free_memory = _lay_out(&search.exact, space.memory, space.integers + size,
                                     self.frame.r, 1, size, 1)
        space.free_integers = space.integers + 2 * size + 3 + 5 * self.frame.r

    cdef int _reserve(self, Workspace space, int n, int j, int t) except -1:
        cdef size_t r = self.frame.r, levels = t + 1
        cdef size_t exact = _node_size(r, 1, j + t), listed = 2 * (j + t) + 3 + 5 * r
        if n <= EXPLORED:
            return space.reserve(
                exact + _node_size(r, n, j) + (t + 4) * n + _explore_doubles(n, n, 1, t),
                listed + (levels + 1) * (20 * n + 8 * r + 32 + j))
        return space.reserve(
            exact + _node_size(r, n, j) + (t + 8) * <size_t> n
            + (2 * <size_t> n * n if t < 4 else 0),
            listed + 16 * n + 8 * r + 16 + j)

    cdef int _children(self, const int* chosen, int j, int* kept, int n, int t, Workspace space,
                       double* f, double* u, int* order, Search* search,
                       double* bound) noexcept nogil:
        cdef Node node
        cdef Frame inner
        cdef double* rest
        cdef double* tops
        cdef double* lengths
        cdef double total = search.budget
        cdef int* names = space.free_integers
        cdef int* below = names + n + 3 + 5 * self.frame.r + j
        rest = _lay_out(&node, space.free_memory, names + n, self.frame.r, n, j, t)
        lengths = rest
        tops = lengths + n
        rest = tops + <size_t> n * max(t - 1, 1)
        n = _filtered(&self.frame, chosen, kept, n, search.limit, self.allowance, &node, f, u,
                      tops, bound)
        space.last_n = n
        space.last_d = node.d
        space.last_error = node.error
        space.last_lam = node.lam
        space.last_coords = node.coords
        space.last_norms = node.norms
        if n == 0 or t < 4 or t > MAX_DEPTH or n > EXPLORED or node.d == 0 or total <= 0.0:
            _sort_by(f, order, n)
            return n
        _enter(&node, &self.frame, kept, &inner, names, lengths)
        _explore_children(search, &inner, &node, f, u, tops, order, t, rest, below, &total)
        return n


cdef void _begin(Best* best, Search* search, double* errors, int* items, int n_best, int t,
                 double threshold, double allowance, double budget) noexcept nogil:
    best.count = 0
    best.capacity = n_best
    best.width = t
    best.error = errors
    best.items = items
    search.limit = threshold
    search.allowance = allowance
    search.budget = budget
    search.nodes = 0
    search.unresolved = 0
    search.resolved = 0
    search.best = best
    search.depth = 0
