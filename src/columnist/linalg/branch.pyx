# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
"""Branching of a column-subset node under the squared Frobenius norm.

A node is a set of chosen columns S, a list of candidates N and a number t of
columns still to choose. With B the (diagonal) second moment of the target, Q an
orthonormal basis of the candidates' residuals and H = Q'BQ = V diag(lambda) V',

* the node's bound is  e(S) - sum of the t largest lambda,
* the child that takes column y has error  u = e(S) - |z|^2  and bound
  f = u - sum of the t-1 largest eigenvalues of diag(lambda) - zz',
  where z = lambda^(1/2) V'Q'y / |residual of y|.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport sqrt, INFINITY
from libc.stdlib cimport malloc, free
from libc.string cimport memcpy

from scipy.linalg.cython_blas cimport dgemm, dsyrk, dnrm2
from scipy.linalg.cython_lapack cimport (
    dgeqrf, dorgqr, dormqr, dormtr, dstedc, dsterf, dsytrd,
)

from columnist.linalg.secular cimport downdate_roots, downdate_work_size

import numpy as np

# A residual shorter than this share of its column counts as dependent.
cdef double DEPENDENT = 1e-9

cdef class Workspace:
    """Scratch memory for one thread; grows on demand and is then reused."""

    cdef double* memory
    cdef int* integers
    cdef size_t n_doubles
    cdef size_t n_integers

    def __cinit__(self):
        self.memory = NULL
        self.integers = NULL
        self.n_doubles = 0
        self.n_integers = 0

    def __dealloc__(self):
        free(self.memory)
        free(self.integers)

    @property
    def nbytes(self):
        """Bytes held."""
        return 8 * self.n_doubles + 4 * self.n_integers

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


cdef struct Node:
    # Pointers into a workspace; all matrices are column-major.
    int r            # rows of the reduced matrix
    int n_chosen     # chosen columns
    int j            # independent ones among them
    int n            # candidates
    int t            # columns still to choose
    int d            # dimension of the candidates' span
    double error     # e(S), the constant part included
    double* basis    # r x d
    double* moment   # d x d, H and then its reflectors
    double* coords   # d x n, candidates in the basis
    double* norms    # n
    double* lam      # d, descending
    double* work
    int lwork
    int* iwork
    int liwork


cdef struct Layout:
    # Scratch areas beside those of Node.
    double* q
    double* vectors
    double* z
    double* tau
    double* diag
    double* off
    double* roots
    double* secular


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
        kept = 0
        for i in range(j):
            length = dnrm2(&r, columns + <size_t> node.iwork[i] * r, &one)
            if q[i + <size_t> i * r] ** 2 > (DEPENDENT * length) ** 2:
                node.iwork[kept] = node.iwork[i]
                kept += 1
        if kept == j:
            break
        j = kept
    return j


cdef int _span_basis(const double* columns, const int* chosen, const int* candidates,
                     Node* node, double* q, double* tau) noexcept nogil:
    """Basis of the candidates' residuals and their coordinates; sets d.

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
        return 0
    if j > 0:
        dorgqr(&r, &j, &j, q, &r, tau, node.work, &node.lwork, &info)
        for i in range(2):  # the second pass restores orthogonality
            dgemm(trans, no, &j, &n, &r, &one, q, &r, resid, &r, &zero, node.work, &j)
            dgemm(no, no, &r, &n, &j, &minus, q, &r, node.work, &j, &one, resid, &r)
    memcpy(node.basis, resid, <size_t> n * r * sizeof(double))
    dgeqrf(&r, &n, node.basis, &r, tau, node.work, &node.lwork, &info)
    for c in range(n):
        for i in range(n):
            resid[i + <size_t> c * n] = node.basis[i + <size_t> c * r] if i <= c else 0.0
    dorgqr(&r, &n, &n, node.basis, &r, tau, node.work, &node.lwork, &info)
    node.d = n
    return 0


cdef void _measure(const double* lengths, const int* candidates, Node* node) noexcept nogil:
    """Norms of the residuals; dependent columns get norm 0."""
    cdef int c, one = 1, d = node.d
    cdef double norm
    for c in range(node.n):
        norm = dnrm2(&d, node.coords + <size_t> c * d, &one)
        node.norms[c] = norm if norm > DEPENDENT * lengths[candidates[c]] else 0.0


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


cdef void _eigen_coordinates(Node* node, double* diag, double* off, double* tau,
                             double* vectors, double* out) noexcept nogil:
    """z of every candidate: lambda^(1/2) V'(coords) / norm, one after the other in ``out``."""
    cdef int d = node.d, n = node.n, info = 0, i, c
    cdef double one = 1.0, zero = 0.0, scale
    cdef char* compute = b"I"
    cdef char* side = b"L"
    cdef char* lower = b"L"
    cdef char* trans = b"T"
    cdef char* no = b"N"
    dstedc(compute, &d, diag, off, vectors, &d, node.work, &node.lwork,
           node.iwork, &node.liwork, &info)
    dormtr(side, lower, trans, &d, &n, node.moment, &d, tau, node.coords, &d,
           node.work, &node.lwork, &info)
    # Vectors come in ascending order: reverse while multiplying by the roots.
    dgemm(trans, no, &d, &n, &d, &one, vectors, &d, node.coords, &d, &zero, out, &d)
    for c in range(n):
        scale = 1.0 / node.norms[c] if node.norms[c] > 0.0 else 0.0
        for i in range(d // 2):
            zero = out[i + <size_t> c * d]
            out[i + <size_t> c * d] = out[d - 1 - i + <size_t> c * d]
            out[d - 1 - i + <size_t> c * d] = zero
        for i in range(d):
            out[i + <size_t> c * d] *= scale * sqrt(node.lam[i])


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


cdef double _pair_gain(const double* a, const double* b, const double* ya, const double* yb,
                       int d, int r, double c) noexcept nogil:
    """Energy caught by two nearly parallel unit residuals a, b with images ya, yb."""
    cdef double length = 0.0, energy = 0.0, step, first = _square(ya, r)
    cdef int i
    for i in range(d):
        step = b[i] - c * a[i]
        length += step * step
    if length <= DEPENDENT * DEPENDENT:
        return max(first, _square(yb, r))
    for i in range(r):
        step = yb[i] - c * ya[i]
        energy += step * step
    return first + energy / length


cdef struct Pairs:
    # The best pairs of a node, ascending by error.
    int count
    int capacity
    double* error
    int* first
    int* second


cdef void _insert_pair(Pairs* best, double error, int a, int b) noexcept nogil:
    cdef int at
    if best.count < best.capacity:
        best.count += 1
    elif error >= best.error[best.count - 1]:
        return
    at = best.count - 1
    while at > 0 and best.error[at - 1] > error:
        best.error[at] = best.error[at - 1]
        best.first[at] = best.first[at - 1]
        best.second[at] = best.second[at - 1]
        at -= 1
    best.error[at] = error
    best.first[at] = a
    best.second[at] = b


cdef void _collect_pairs(Node* node, const double* images, const int* kept, double allowance,
                         double threshold, double* cosine, double* inner,
                         Pairs* best) noexcept nogil:
    """Best pairs with error below ``threshold``.

    With unit residuals a, b, c = a'b and images y = B^(1/2) a, the energy caught by
    the pair is (|y_a|^2 + |y_b|^2 - 2 c y_a'y_b) / (1 - c^2).
    """
    cdef int n = node.n, d = node.d, r = node.r, i, k
    cdef double one = 1.0, zero = 0.0, c, gain, gap, error, limit = threshold
    cdef char* trans = b"T"
    cdef char* lower = b"L"
    dsyrk(lower, trans, &n, &d, &one, node.coords, &d, &zero, cosine, &n)
    dsyrk(lower, trans, &n, &r, &one, images, &r, &zero, inner, &n)
    for i in range(n):
        for k in range(i + 1, n):
            c = cosine[k + <size_t> i * n]
            gap = 1.0 - c * c
            if gap < 1e-4:
                gain = _pair_gain(node.coords + <size_t> i * d, node.coords + <size_t> k * d,
                                  images + <size_t> i * r, images + <size_t> k * r, d, r, c)
            else:
                gain = (inner[i + <size_t> i * n] + inner[k + <size_t> k * n]
                        - 2.0 * c * inner[k + <size_t> i * n]) / gap
            error = node.error - gain
            if error - allowance < limit:
                _insert_pair(best, error, kept[i], kept[k])
                if best.count == best.capacity and best.error[best.count - 1] < limit:
                    limit = best.error[best.count - 1]


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
    cdef double constant
    cdef double allowance
    cdef int r

    def __init__(self, double[:, ::1] columns, double[::1] weights, double constant,
                 double allowance):
        self.columns = columns
        self.weights = weights
        self.lengths = np.linalg.norm(np.asarray(columns), axis=1)
        self.constant = constant
        self.allowance = allowance
        self.r = columns.shape[1]

    def children(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                 Workspace space):
        """Bounds of the children of a node.

        Returns
        -------
        bound : float
            Lower bound for every completion of the node; ``inf`` if none can
            be below ``threshold``.
        kept : ndarray of int32
            Candidates whose child may be below ``threshold``.
        f, u : ndarray
            Bound and error of each kept child.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        cdef double bound = INFINITY
        kept = np.array(candidates, dtype=np.int32)
        f = np.empty(n)
        u = np.empty(n)
        cdef int[::1] kept_view = kept
        cdef double[::1] f_view = f
        cdef double[::1] u_view = u
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        if n < t or n == 0:
            return INFINITY, kept[:0], f[:0], u[:0]
        self._reserve(space, n, j)
        with nogil:
            n = self._children(chosen_at, j, &kept_view[0], n, t, threshold, space,
                               &f_view[0], &u_view[0], &bound)
        return bound, kept[:n], f[:n], u[:n]

    def pairs(self, int[::1] chosen, int[::1] candidates, double threshold, int n_best,
              Workspace space):
        """The best completions of a node by two columns, in closed form.

        Returns
        -------
        errors : ndarray
            Errors of at most ``n_best`` pairs below ``threshold``, ascending.
        first, second : ndarray of int32
            Their columns.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        kept = np.array(candidates, dtype=np.int32)
        errors = np.empty(n_best)
        first = np.empty(n_best, dtype=np.int32)
        second = np.empty(n_best, dtype=np.int32)
        cdef int[::1] kept_view = kept
        cdef double[::1] errors_view = errors
        cdef int[::1] first_view = first
        cdef int[::1] second_view = second
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef double[::1] scratch
        cdef Pairs best
        best.count = 0
        best.capacity = n_best
        best.error = &errors_view[0]
        best.first = &first_view[0]
        best.second = &second_view[0]
        if n >= 2:
            self._reserve(space, n, j)
            scratch = np.empty(2 * n * n + n * self.r)
            with nogil:
                self._pairs(chosen_at, j, &kept_view[0], n, threshold, space, &scratch[0], &best)
        return errors[:best.count], first[:best.count], second[:best.count]

    cdef int _reserve(self, Workspace space, int n, int j) except -1:
        cdef size_t r = self.r, width = n if n > self.r else self.r
        cdef size_t doubles = (
            3 * r * r                    # q, moment, vectors
            + 3 * r * width                # basis, coords, z
            + 2 * width + 6 * r            # norms, tau, lam, diag, off, roots
            + downdate_work_size(self.r)
            + self._lwork(n, j)
        )
        return space.reserve(doubles, 3 + 5 * r + j)

    cdef size_t _lwork(self, int n, int j) noexcept nogil:
        # Enough for dstedc (1 + 4r + r^2), for blocked QR and for j x n products.
        cdef size_t r = self.r, width = n if n > self.r else self.r
        return 1 + 4 * r + r * r + 64 * width + <size_t> j * width

    cdef void _layout(self, Node* node, Layout* at, Workspace space, int n, int j,
                      int t) noexcept nogil:
        cdef size_t r = self.r, width = n if n > self.r else self.r
        node.r = self.r
        node.n_chosen = j
        node.j = 0
        node.t = t
        at.q = space.memory
        node.moment = at.q + r * r
        at.vectors = node.moment + r * r
        node.basis = at.vectors + r * r
        node.coords = node.basis + r * width
        at.z = node.coords + r * width
        node.norms = at.z + r * width
        at.tau = node.norms + width
        node.lam = at.tau + width
        at.diag = node.lam + r
        at.off = at.diag + r
        at.roots = at.off + r
        at.secular = at.roots + 2 * r
        node.work = at.secular + downdate_work_size(self.r)
        node.lwork = <int> self._lwork(n, j)
        node.iwork = space.integers
        node.liwork = <int> (3 + 5 * r)

    cdef double _prepare(self, const int* chosen, const int* kept, int n, Node* node,
                         Layout* at) noexcept nogil:
        """Basis, coordinates and spectrum of the node; returns its bound."""
        node.n = n
        _span_basis(&self.columns[0, 0], chosen, kept, node, at.q, at.tau)
        node.error = _residual_error(&self.weights[0], at.q, node.r, node.j, self.constant)
        if node.d == 0:
            return node.error - self.allowance
        _measure(&self.lengths[0], kept, node)
        _tridiagonal(&self.weights[0], node, at.z, at.diag, at.off, at.tau)
        return node.error - _sum_top(node.lam, node.d, node.t) - self.allowance

    cdef int _children(self, const int* chosen, int j, int* kept, int n, int t,
                       double threshold, Workspace space, double* f, double* u,
                       double* bound) noexcept nogil:
        cdef int c, m, d, previous
        cdef double head
        cdef double* z
        cdef Node node
        cdef Layout at
        self._layout(&node, &at, space, n, j, t)
        while True:
            bound[0] = self._prepare(chosen, kept, n, &node, &at)
            if bound[0] >= threshold:
                return 0
            d = node.d
            if d == 0:  # nothing left to explain: every completion has this error
                for c in range(n):
                    u[c] = node.error
                    f[c] = bound[0]
                return n
            _eigen_coordinates(&node, at.diag, at.off, at.tau, at.vectors, at.z)
            head = _sum_top(node.lam, d, t - 1)
            previous = n
            m = 0
            for c in range(n):
                z = at.z + <size_t> c * d
                u[m] = node.error - _square(z, d)
                f[m] = max(bound[0], _child_bound(node.lam, z, d, t, u[m] - self.allowance,
                                                  head, threshold, at.roots, at.secular))
                if f[m] < threshold:
                    kept[m] = kept[c]
                    m += 1
            n = m
            if n < t:
                bound[0] = INFINITY
                return 0
            # A shorter list tightens the bounds once it no longer spans the complement.
            if n == previous or n >= d:
                return n

    cdef void _pairs(self, const int* chosen, int j, int* kept, int n, double threshold,
                     Workspace space, double* images, Pairs* best) noexcept nogil:
        cdef int r = self.r, d, c, i, m, previous
        cdef double one = 1.0, zero = 0.0, scale, energy
        cdef char* no = b"N"
        cdef double* cosine = images + <size_t> n * r
        cdef double* inner = cosine + <size_t> n * n
        cdef Node node
        cdef Layout at
        self._layout(&node, &at, space, n, j, 2)
        while True:
            if self._prepare(chosen, kept, n, &node, &at) >= threshold:
                return
            d = node.d
            if d == 0:  # nothing left to explain: the first pairs are as good as any
                for c in range(1, n):
                    _insert_pair(best, node.error, kept[0], kept[c])
                return
            for c in range(n):
                scale = 1.0 / node.norms[c] if node.norms[c] > 0.0 else 0.0
                for i in range(d):
                    node.coords[i + <size_t> c * d] *= scale
            # _prepare left B^(1/2) Q in z
            dgemm(no, no, &r, &n, &d, &one, at.z, &r, node.coords, &d, &zero, images, &r)
            previous = n
            m = 0
            for c in range(n):
                energy = _square(images + <size_t> c * r, r)
                if node.error - energy - node.lam[0] - self.allowance < threshold:
                    kept[m] = kept[c]
                    if m < c:
                        memcpy(images + <size_t> m * r, images + <size_t> c * r,
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
        _collect_pairs(&node, images, kept, self.allowance, threshold, cosine, inner, best)
