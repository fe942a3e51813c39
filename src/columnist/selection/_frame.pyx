# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""A column-subset node in coordinates: basis, spectrum, children.

A node is a set of chosen columns S, a list of candidates N and a number t of columns still to
choose. With B the (diagonal) second moment of the target, Q an orthonormal basis of the candidates'
residuals and H = Q'BQ = V diag(lambda) V',

* the node's bound is  e(S) - sum of the t largest lambda,
* the child that takes column y has error  u = e(S) - |z|^2  and bound  f = u - sum of the t-1
  largest eigenvalues of diag(lambda) - zz',  where  z = lambda^(1/2) V'Q'y / |residual of y|.

**Rounding.** A column is known up to a unit of rounding of its length L. Once others are projected
out and only the height h is left of it, its direction is known up to L / h such units: rounding
*grows* by (L / h), and by (L / h)^2 if the columns come from their Gram matrix. The worst
growth among the chosen columns, and that of the candidate or of the span in question, make the
allowance the charge that is taken from every bound (``charge_of``). A height at the level of
rounding counts as zero.

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport fabs, sqrt, INFINITY
from libc.string cimport memcpy

from scipy.linalg.cython_blas cimport dgemm, dsyrk, dnrm2
from scipy.linalg.cython_lapack cimport (
    dgeqp3, dgeqrf, dorgqr, dormqr, dormtr, dstedc, dsterf, dsytrd,
)

from columnist.linalg._rounding cimport DEPENDENT, DOUBTFUL, INDEPENDENT, NOISE
from columnist.linalg._secular cimport downdate_roots, downdate_work_size


cdef void gather(const Frame* frame, const int* which, int count, double* out) noexcept nogil:
    cdef size_t r = frame.r
    cdef int i
    for i in range(count):
        memcpy(out + i * r, frame.columns + which[i] * r, r * sizeof(double))


cdef double _residual_error(const Node* node) noexcept nogil:
    """constant + sum_l weights_l (1 - |row l of q|^2), q an r x j orthonormal basis."""
    cdef double total = node.frame.constant, share
    cdef int i, c, r = node.r
    for i in range(r):
        share = 1.0
        for c in range(node.j):
            share -= node.q[i + <size_t> c * r] * node.q[i + <size_t> c * r]
        if share > 0.0:
            total += node.frame.weights[i] * share
    return total


cdef inline double _share(const Node* node, double height, double length) noexcept nogil:
    """Height of a column as a share of its length, squared where digits are lost twice."""
    cdef double share = height / length if length > 0.0 else 0.0
    return share if node.frame.power == 1 else share * share


cdef bint _vanishes(double share, Node* node) noexcept nogil:
    """Whether a height is nothing but rounding; notes where that is not beyond doubt."""
    if share > DEPENDENT and share > NOISE * node.r * node.growth:
        return False
    if share > DOUBTFUL:
        node.doubtful = True
    return True


cdef int factor_chosen(Node* node) noexcept nogil:
    """QR of the chosen columns into q, tau, leaving out dependent ones; how many, j, stay.
    Sets the growth of rounding that they cause."""
    cdef const Frame* frame = node.frame
    cdef double* q = node.q
    cdef int r = node.r, j = node.n_chosen, info = 0, i, kept, count = min(j, r)
    cdef double share
    for i in range(j):
        node.iwork[i] = node.chosen[i]
    node.growth = frame.growth
    while count > 0:  # no more than r are independent, and q has room for as many
        gather(frame, node.iwork, count, q)
        dgeqrf(&r, &count, q, &r, node.tau, node.work, &node.lwork, &info)
        # Only the first dependent column is known for sure: heights behind it may be borrowed.
        kept = 0
        node.growth = frame.growth
        while kept < count:
            share = _share(node, fabs(q[kept + <size_t> kept * r]),
                           frame.lengths[node.iwork[kept]])
            if _vanishes(share, node):
                break
            node.growth = max(node.growth, 1.0 / share)
            kept += 1
        if kept == count:
            break
        for i in range(kept, j - 1):
            node.iwork[i] = node.iwork[i + 1]
        j -= 1
        count = min(j, r)
    node.j = count
    return count


cdef double chosen_error(Node* node) noexcept nogil:
    """Error of the chosen columns, and their orthonormal basis in the first j columns of q."""
    cdef int r = node.r, info = 0, j = factor_chosen(node)
    if j > 0:
        dorgqr(&r, &j, &j, node.q, &r, node.tau, node.work, &node.lwork, &info)
    return _residual_error(node)


cdef void project_out(const Node* node, double* vectors, int n) noexcept nogil:
    """Take the parts along the basis in q from n vectors."""
    cdef int r = node.r, j = node.j
    cdef double one = 1.0, zero = 0.0, minus = -1.0
    dgemm(b"T", b"N", &j, &n, &r, &one, node.q, &r, vectors, &r, &zero, node.work, &j)
    dgemm(b"N", b"N", &r, &n, &j, &minus, node.q, &r, node.work, &j, &one, vectors, &r)


cdef double charge_of(const Node* node, double own, double error) noexcept nogil:
    """Rounding of a bound that is built on what the chosen columns leave, an energy of ``error``,
    by directions whose rounding grows by ``own`` more.

    With W the energy of the target, known up to the allowance, the chosen directions turn by delta =
    growth allowance / W, and those within what they leave by own delta. So the residual is known up
    to s = delta sqrt(W) + own delta sqrt(error), and its energy, or any part of it that is left,
    up to s (2 sqrt(error) + s), beside the rounding of sums: a direction that dominates the target
    costs little once it is chosen.
    """
    cdef double delta, length, off, allowance = node.frame.allowance, total = node.frame.total
    cdef double plain = node.growth * own * allowance
    if total <= 0.0:
        return plain
    delta = node.growth * allowance / total
    length = sqrt(max(error, 0.0) + allowance)
    off = delta * (sqrt(total) + own * length)
    return min(plain, allowance + off * (2.0 * length + off))


cdef double candidate_growth(const Node* node, int c) noexcept nogil:
    """Growth of the rounding of candidate c beside that by the chosen ones: by its own height or
    that of the span's last direction."""
    cdef double share = _share(node, node.norms[c], node.frame.lengths[node.kept[c]])
    return max(1.0 / share if share > 0.0 else 1.0, node.spread)


cdef double worst_growth(const Node* node) noexcept nogil:
    """The same for the worst of the candidates."""
    cdef double worst = 1.0
    cdef int c
    for c in range(node.n):
        worst = max(worst, candidate_growth(node, c))
    return worst


cdef void _normalise(Node* node, int rows) noexcept nogil:
    """Unit residuals and their norms; dependent ones become zero."""
    cdef int c, i, one = 1
    cdef double norm
    cdef double* column
    for c in range(node.n):
        column = node.coords + <size_t> c * rows
        norm = dnrm2(&rows, column, &one)
        if _vanishes(_share(node, norm, node.frame.lengths[node.kept[c]]), node):
            norm = 0.0
        node.norms[c] = norm
        norm = 1.0 / norm if norm > 0.0 else 0.0
        for i in range(rows):
            column[i] *= norm


cdef void _span_basis(Node* node) noexcept nogil:
    """Basis of the candidates' residuals and their unit coordinates; sets d. With at least r - j
    candidates the whole complement of S serves; otherwise the residuals are orthonormalised. node.q
    returns an orthonormal basis of S in its first j columns."""
    cdef int r = node.r, j = factor_chosen(node), n = node.n, info = 0, i, c, rest = r - j
    cdef double* q = node.q
    cdef double* resid = node.coords
    cdef double worst
    node.spread = 1.0
    gather(node.frame, node.kept, n, resid)
    if n >= rest:
        if j > 0:
            dormqr(b"L", b"T", &r, &n, &j, q, &r, node.tau, resid, &r, node.work, &node.lwork,
                   &info)
            dorgqr(&r, &r, &j, q, &r, node.tau, node.work, &node.lwork, &info)
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
        _normalise(node, rest)
        return
    if j > 0:
        dorgqr(&r, &j, &j, q, &r, node.tau, node.work, &node.lwork, &info)
        for i in range(2):  # the second pass restores orthogonality
            project_out(node, resid, n)
    _normalise(node, r)
    worst = worst_growth(node)
    _orthonormalise(node)
    # The span turns with the directions of the candidates, which rounding turns already.
    node.spread *= worst


cdef double _height(const Node* node, int i) noexcept nogil:
    """Share of a unit residual that the QR in ``basis`` leaves of it."""
    return _share(node, fabs(node.basis[i + <size_t> i * node.r]), 1.0)


cdef void _orthonormalise(Node* node) noexcept nogil:
    """Basis of the unit residuals in ``coords`` (r x n), which become coordinates in it. Dependent
    residuals would give directions of rounding, which may point back into the chosen columns; if
    there are any, pivoting moves them to the end, where they are cut off."""
    cdef int r = node.r, n = node.n, d = node.n, info = 0, i, c
    cdef bint dependent = False
    cdef int* pivots = node.iwork
    memcpy(node.basis, node.coords, <size_t> n * r * sizeof(double))
    dgeqrf(&r, &n, node.basis, &r, node.tau, node.work, &node.lwork, &info)
    for i in range(n):
        pivots[i] = i + 1
        if node.basis[i + <size_t> i * r] ** 2 <= INDEPENDENT ** 2:
            dependent = True
    if dependent:
        memcpy(node.basis, node.coords, <size_t> n * r * sizeof(double))
        for i in range(n):
            pivots[i] = 0
        dgeqp3(&r, &n, node.basis, &r, pivots, node.tau, node.work, &node.lwork, &info)
        d = 0
        while d < n and not _vanishes(_height(node, d), node):
            d += 1
    for i in range(d):
        node.spread = max(node.spread, 1.0 / _height(node, i))
    for c in range(n):
        for i in range(d):
            node.coords[i + <size_t> (pivots[c] - 1) * d] = (
                node.basis[i + <size_t> c * r] if i <= c else 0.0)
    dorgqr(&r, &d, &d, node.basis, &r, node.tau, node.work, &node.lwork, &info)
    node.d = d


cdef void _tridiagonal(Node* node) noexcept nogil:
    """H = Q' diag(weights) Q in tridiagonal form; its eigenvalues, and B^(1/2) Q in ``z``."""
    cdef int r = node.r, d = node.d, info = 0, i, c
    cdef double one = 1.0, zero = 0.0
    for c in range(d):
        for i in range(r):
            node.z[i + <size_t> c * r] = (node.basis[i + <size_t> c * r]
                                          * sqrt(node.frame.weights[i]))
    dsyrk(b"L", b"T", &d, &r, &one, node.z, &r, &zero, node.moment, &d)
    dsytrd(b"L", &d, node.moment, &d, node.diag, node.off, node.tau, node.work, &node.lwork,
           &info)
    memcpy(node.lam, node.diag, d * sizeof(double))
    memcpy(node.work, node.off, d * sizeof(double))
    dsterf(&d, node.lam, node.work, &info)
    for i in range(d // 2):  # ascending -> descending
        node.lam[i], node.lam[d - 1 - i] = node.lam[d - 1 - i], node.lam[i]
    for i in range(d):
        node.lam[i] = max(node.lam[i], 0.0)


cdef void _eigen_coordinates(Node* node) noexcept nogil:
    """Candidates in the eigenbasis of H, and z = lambda^(1/2) coords of each."""
    cdef int d = node.d, n = node.n, info = 0, i, c
    cdef double one = 1.0, zero = 0.0
    cdef double* source
    cdef double* target
    dstedc(b"I", &d, node.diag, node.off, node.vectors, &d, node.work, &node.lwork,
           node.iwork, &node.liwork, &info)
    dormtr(b"L", b"L", b"T", &d, &n, node.moment, &d, node.tau, node.coords, &d,
           node.work, &node.lwork, &info)
    dgemm(b"T", b"N", &d, &n, &d, &one, node.vectors, &d, node.coords, &d, &zero, node.z, &d)
    for c in range(n):
        source = node.z + <size_t> c * d
        target = node.coords + <size_t> c * d
        for i in range(d):  # eigenvalues came in ascending order
            target[i] = source[d - 1 - i]
        for i in range(d):
            source[i] = target[i] * sqrt(node.lam[i])


cdef double _child_bound(const Node* node, const double* z, double u, double head,
                         double threshold) noexcept nogil:
    """u - (sum of the t-1 largest eigenvalues of diag(lam) - zz'). ``head`` is the sum of the t-1
    largest lam. Roots are replaced from the largest; the value is exact unless it already reaches
    ``threshold``, where any valid bound will do."""
    cdef double bound = u - head
    cdef double* lam = node.lam
    cdef double* roots = node.roots
    cdef int i, d = node.d, m = min(node.t - 1, d), first = 1 if m > 2 else m
    if bound >= threshold or m <= 0:
        return bound
    downdate_roots(lam, z, d, 0, first, roots, node.secular)
    for i in range(first):
        bound += lam[i] - roots[i]
    if bound >= threshold or first == m:
        return bound
    downdate_roots(lam, z, d, first, m, roots + first, node.secular)
    for i in range(first, m):
        bound += lam[i] - roots[i]
    return bound


cdef double sum_top(const double* lam, int d, int t) noexcept nogil:
    cdef double total = 0.0
    cdef int i
    for i in range(min(t, d)):
        total += lam[i]
    return total


cdef double square(const double* z, int d) noexcept nogil:
    cdef double total = 0.0
    cdef int i
    for i in range(d):
        total += z[i] * z[i]
    return total


cdef void sort_by(const double* key, int* order, int n) noexcept nogil:
    """Insertion sort of positions by key (lists are short and nearly sorted)."""
    cdef int i, at, item
    for i in range(n):
        item = i
        at = i
        while at > 0 and key[order[at - 1]] > key[item]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = item


cdef void pack(Node* node, int m, int c) noexcept nogil:
    """Move candidate c to place m."""
    cdef size_t d = node.d
    if m < c:
        memcpy(node.coords + m * d, node.coords + c * d, d * sizeof(double))
        node.kept[m] = node.kept[c]
        node.norms[m] = node.norms[c]


cdef size_t _lwork(size_t r, size_t n, size_t j) noexcept nogil:
    # Enough for dstedc (1 + 4r + r^2), for blocked QR and for j x n products.
    cdef size_t width = max(n, r)
    return 1 + 4 * r + r * r + 64 * width + j * width


cdef size_t node_size(size_t r, size_t n, size_t j, size_t t) noexcept nogil:
    """Doubles that one node needs."""
    cdef size_t width = max(n, r)
    return (3 * r * r + 3 * r * width + 2 * width + 6 * r
            + downdate_work_size(r) + _lwork(r, n, j) + (t + 2) * n)


cdef void lay_out(Node* node, const Frame* frame, const int* chosen, int n_chosen,
                  const int* candidates, int n_candidates, int t, double* memory,
                  int* integers) noexcept nogil:
    """Assign scratch areas to a node that is yet to be prepared."""
    cdef size_t r = frame.r, n = n_candidates, width = max(n, r)
    node.frame = frame
    node.chosen = chosen
    node.r = frame.r
    node.n_chosen = n_chosen
    node.j = 0
    node.n = n_candidates
    node.t = t
    node.growth = node.spread = 1.0
    node.doubtful = False
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
    node.f = node.work + node.lwork
    node.u = node.f + n
    node.lengths = node.u + n
    node.tops = node.lengths + n
    node.memory = node.tops + n * (t - 1)
    node.kept = integers
    node.order = node.kept + n
    node.names = node.order + 2 * n
    node.iwork = node.names + n
    node.liwork = <int> (3 + 5 * r)
    node.integers = node.iwork + node.liwork + n_chosen
    if n > 0:
        memcpy(node.kept, candidates, n * sizeof(int))


cdef double prepare(Node* node, int n) noexcept nogil:
    """Basis, coordinates and spectrum of the node with its first n candidates; its bound."""
    node.n = n
    _span_basis(node)
    node.error = _residual_error(node)
    if node.d == 0:
        node.bound = node.error - charge_of(node, 1.0, node.error)
        return node.bound
    _tridiagonal(node)
    node.bound = (node.error - sum_top(node.lam, node.d, node.t)
                  - charge_of(node, node.spread, node.error))
    return node.bound


cdef int filtered(Node* node, double threshold) noexcept nogil:
    """Children below the threshold, refined until the list stops shrinking. Returns how many stay;
    coordinates, norms and z are packed to them. ``tops`` receives the t - 1 largest eigenvalues
    left in each child, ``u`` its error, less the rounding that exceeds the allowance if columns are
    left to choose."""
    cdef int c, m, i, d, previous, n = node.n, t = node.t
    cdef double head, charge, allowance = node.frame.allowance
    cdef double* f = node.f
    cdef double* u = node.u
    cdef double* z
    while True:
        if prepare(node, n) >= threshold:
            return 0
        d = node.d
        if d == 0:  # nothing left to explain: every completion has this error
            for c in range(n):
                u[c] = node.error
                f[c] = node.bound
            return n
        _eigen_coordinates(node)
        head = sum_top(node.lam, d, t - 1)
        previous = n
        m = 0
        for c in range(n):
            z = node.z + <size_t> c * d
            u[m] = node.error - square(z, d)
            charge = charge_of(node, candidate_growth(node, c), node.error)
            if t == 1:  # complete: u is the error, f the same without its rounding
                f[m] = u[m] - charge
            else:
                # What exceeds the plain allowance goes into u, for all that build on it.
                u[m] -= charge - allowance
                f[m] = max(node.bound, _child_bound(node, z, u[m] - allowance, head, threshold))
            if f[m] < threshold:
                for i in range(t - 1):
                    node.tops[m * (t - 1) + i] = node.roots[i] if i < d else 0.0
                if m < c:
                    memcpy(node.z + <size_t> m * d, z, d * sizeof(double))
                pack(node, m, c)
                m += 1
        n = m
        if n < t:
            node.bound = INFINITY
            return 0
        # A shorter list tightens the bounds once it no longer spans the complement.
        if n == previous or n >= d:
            node.n = n
            return n


cdef void inner_products(Node* node, const double* images, int rows,
                         double* products) noexcept nogil:
    """Lower triangles of a_i'a_j and z_i'z_j of the kept unit residuals, one after the other."""
    cdef int n = node.n, d = node.d
    cdef double one = 1.0, zero = 0.0
    dsyrk(b"L", b"T", &n, &d, &one, node.coords, &d, &zero, products, &n)
    dsyrk(b"L", b"T", &n, &rows, &one, images, &rows, &zero, products + <size_t> n * n, &n)
