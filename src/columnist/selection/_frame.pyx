# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""A column-subset node in coordinates: basis, spectrum, children.

A node is a set of chosen columns S, a list of candidates N and a number t of
columns still to choose. With B the (diagonal) second moment of the target, Q an
orthonormal basis of the candidates' residuals and H = Q'BQ = V diag(lambda) V',

* the node's bound is  e(S) - sum of the t largest lambda,
* the child that takes column y has error  u = e(S) - |z|^2  and bound
  f = u - sum of the t-1 largest eigenvalues of diag(lambda) - zz',
  where z = lambda^(1/2) V'Q'y / |residual of y|.

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


cdef void gather(const double* columns, const int* which, int r, int count,
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


cdef inline double _share(double height, double length, int power) noexcept nogil:
    """Height of a column as a share of its length, squared where digits are lost twice."""
    cdef double share = height / length if length > 0.0 else 0.0
    return share if power == 1 else share * share


cdef bint _vanishes(double share, double growth, int r, Node* node) noexcept nogil:
    """Whether a height is nothing but rounding; notes where that is not beyond doubt."""
    if share > DEPENDENT and share > NOISE * r * growth:
        return False
    if share > DOUBTFUL:
        node.doubtful = True
    return True


cdef int factor_chosen(const Frame* frame, const int* chosen, Node* node) noexcept nogil:
    """QR of the chosen columns into node.q, tau, leaving out dependent ones; how many stay.

    Sets the growth of rounding that they cause.
    """
    cdef double* q = node.q
    cdef int r = node.r, j = node.n_chosen, info = 0, i, kept, count = min(j, r)
    cdef double share
    for i in range(j):
        node.iwork[i] = chosen[i]
    node.growth = frame.growth
    while count > 0:  # no more than r are independent, and q has room for as many
        gather(frame.columns, node.iwork, r, count, q)
        dgeqrf(&r, &count, q, &r, node.tau, node.work, &node.lwork, &info)
        # Only the first dependent column is known for sure: heights behind it may be borrowed.
        kept = 0
        node.growth = frame.growth
        while kept < count:
            share = _share(fabs(q[kept + <size_t> kept * r]), frame.lengths[node.iwork[kept]],
                           frame.power)
            if _vanishes(share, node.growth, r, node):
                break
            node.growth = max(node.growth, 1.0 / share)
            kept += 1
        if kept == count:
            break
        for i in range(kept, j - 1):
            node.iwork[i] = node.iwork[i + 1]
        j -= 1
        count = min(j, r)
    return count


cdef double chosen_error(const Frame* frame, const int* chosen, Node* node) noexcept nogil:
    """Error of the chosen columns, and their orthonormal basis in the first j columns of q."""
    cdef int r = node.r, info = 0, j = factor_chosen(frame, chosen, node)
    node.j = j
    if j > 0:
        dorgqr(&r, &j, &j, node.q, &r, node.tau, node.work, &node.lwork, &info)
    return _residual_error(frame.weights, node.q, r, j, frame.constant)


cdef void project_out(const Node* node, double* vectors, int n) noexcept nogil:
    """Take the parts along the basis in q from n vectors."""
    cdef int r = node.r, j = node.j
    cdef double one = 1.0, zero = 0.0, minus = -1.0
    cdef char* trans = b"T"
    cdef char* no = b"N"
    dgemm(trans, no, &j, &n, &r, &one, node.q, &r, vectors, &r, &zero, node.work, &j)
    dgemm(no, no, &r, &n, &j, &minus, node.q, &r, node.work, &j, &one, vectors, &r)


cdef double charge_of(const Frame* frame, const Node* node, double own, double error,
                      double allowance) noexcept nogil:
    """Rounding of a bound that is built on what the chosen columns leave, an energy of ``error``,
    by directions whose rounding grows by ``own`` more.

    With W the energy of the target, known up to the allowance, the chosen directions turn by delta =
    growth allowance / W, and those within what they leave by own delta. So the residual is known up
    to s = delta sqrt(W) + own delta sqrt(error), and its energy, or any part of it that is left,
    up to s (2 sqrt(error) + s), beside the rounding of sums: a direction that dominates the target
    costs little once it is chosen.
    """
    cdef double delta, length, off
    cdef double plain = node.growth * own * allowance
    if frame.total <= 0.0:
        return plain
    delta = node.growth * allowance / frame.total
    length = sqrt(max(error, 0.0) + allowance)
    off = delta * (sqrt(frame.total) + own * length)
    return min(plain, allowance + off * (2.0 * length + off))


cdef double candidate_growth(const Frame* frame, const Node* node, int name,
                             int c) noexcept nogil:
    """Growth of the rounding of candidate c beside that by the chosen ones: by its own height or
    that of the span's last direction."""
    cdef double share = _share(node.norms[c], frame.lengths[name], frame.power)
    return max(1.0 / share if share > 0.0 else 1.0, node.spread)


cdef double worst_growth(const Frame* frame, const int* names, const Node* node) noexcept nogil:
    """The same for the worst of the candidates."""
    cdef double worst = 1.0
    cdef int c
    for c in range(node.n):
        worst = max(worst, candidate_growth(frame, node, names[c], c))
    return worst


cdef void _normalise(const Frame* frame, const int* candidates, Node* node,
                     int rows) noexcept nogil:
    """Unit residuals and their norms; dependent ones become zero."""
    cdef int c, i, one = 1
    cdef double norm
    cdef double* column
    for c in range(node.n):
        column = node.coords + <size_t> c * rows
        norm = dnrm2(&rows, column, &one)
        if _vanishes(_share(norm, frame.lengths[candidates[c]], frame.power), node.growth,
                     node.r, node):
            norm = 0.0
        node.norms[c] = norm
        norm = 1.0 / norm if norm > 0.0 else 0.0
        for i in range(rows):
            column[i] *= norm


cdef void _span_basis(const Frame* frame, const int* chosen, const int* candidates,
                      Node* node) noexcept nogil:
    """Basis of the candidates' residuals and their unit coordinates; sets d.

    With at least r - j candidates the whole complement of S serves; otherwise the residuals are
    orthonormalised. node.q returns an orthonormal basis of S in its first j columns.
    """
    cdef int r = node.r, j, n = node.n, info = 0, i, c, rest
    cdef char* side = b"L"
    cdef char* trans = b"T"
    cdef double* q = node.q
    cdef double* resid = node.coords
    cdef double worst
    j = node.j = factor_chosen(frame, chosen, node)
    node.spread = 1.0
    rest = r - j
    gather(frame.columns, candidates, r, n, resid)
    if n >= rest:
        if j > 0:
            dormqr(side, trans, &r, &n, &j, q, &r, node.tau, resid, &r, node.work, &node.lwork,
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
        _normalise(frame, candidates, node, rest)
        return
    if j > 0:
        dorgqr(&r, &j, &j, q, &r, node.tau, node.work, &node.lwork, &info)
        for i in range(2):  # the second pass restores orthogonality
            project_out(node, resid, n)
    _normalise(frame, candidates, node, r)
    worst = worst_growth(frame, candidates, node)
    _orthonormalise(frame, node)
    # The span turns with the directions of the candidates, which rounding turns already.
    node.spread *= worst


cdef void _orthonormalise(const Frame* frame, Node* node) noexcept nogil:
    """Basis of the unit residuals in ``coords`` (r x n), which become coordinates in it.

    Dependent residuals would give directions of rounding, which may point back into the chosen
    columns; if there are any, pivoting moves them to the end, where they are cut off.
    """
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
        while d < n and not _vanishes(
                _share(fabs(node.basis[d + <size_t> d * r]), 1.0, frame.power), node.growth, r,
                node):
            d += 1
    for i in range(d):
        node.spread = max(node.spread, 1.0 / _share(fabs(node.basis[i + <size_t> i * r]), 1.0,
                                                    frame.power))
    for c in range(n):
        for i in range(d):
            node.coords[i + <size_t> (pivots[c] - 1) * d] = (
                node.basis[i + <size_t> c * r] if i <= c else 0.0)
    dorgqr(&r, &d, &d, node.basis, &r, node.tau, node.work, &node.lwork, &info)
    node.d = d


cdef void _tridiagonal(const double* weights, Node* node) noexcept nogil:
    """H = Q' diag(weights) Q, reduced to tridiagonal form; eigenvalues to ``lam``.

    Leaves diag(weights)^(1/2) Q in ``z``.
    """
    cdef int r = node.r, d = node.d, info = 0, i, c
    cdef double one = 1.0, zero = 0.0
    cdef char* lower = b"L"
    cdef char* trans = b"T"
    for c in range(d):
        for i in range(r):
            node.z[i + <size_t> c * r] = node.basis[i + <size_t> c * r] * sqrt(weights[i])
    dsyrk(lower, trans, &d, &r, &one, node.z, &r, &zero, node.moment, &d)
    dsytrd(lower, &d, node.moment, &d, node.diag, node.off, node.tau, node.work, &node.lwork,
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

    ``head`` is the sum of the t-1 largest lam. Roots are replaced from the largest; the value
    is exact unless it already reaches ``threshold``, where any valid bound will do.
    """
    cdef double bound = u - head
    cdef int i, m = min(t - 1, d), first = 1 if m > 2 else m
    if bound >= threshold or m <= 0:
        return bound
    downdate_roots(lam, z, d, 0, first, roots, work)
    for i in range(first):
        bound += lam[i] - roots[i]
    if bound >= threshold or first == m:
        return bound
    downdate_roots(lam, z, d, first, m, roots + first, work)
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


cdef size_t node_size(size_t r, size_t n, size_t j) noexcept nogil:
    """Doubles that one node needs."""
    cdef size_t width = max(n, r)
    return (3 * r * r + 3 * r * width + 2 * width + 6 * r
            + downdate_work_size(r) + _lwork(r, n, j))


cdef double* lay_out(Node* node, double* memory, int* integers, int rank, int n_candidates,
                     int n_chosen, int t) noexcept nogil:
    """Assign scratch areas; returns the first double behind them."""
    cdef size_t r = rank, n = n_candidates, width = max(n, r)
    node.r = rank
    node.n_chosen = n_chosen
    node.j = 0
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
    node.iwork = integers
    node.liwork = <int> (3 + 5 * r)
    return node.work + node.lwork


cdef double prepare(const Frame* frame, const int* chosen, const int* kept, int n,
                    double allowance, Node* node) noexcept nogil:
    """Basis, coordinates and spectrum of the node; returns its bound."""
    node.n = n
    _span_basis(frame, chosen, kept, node)
    node.error = _residual_error(frame.weights, node.q, node.r, node.j, frame.constant)
    if node.d == 0:
        return node.error - charge_of(frame, node, 1.0, node.error, allowance)
    _tridiagonal(frame.weights, node)
    return (node.error - sum_top(node.lam, node.d, node.t)
            - charge_of(frame, node, node.spread, node.error, allowance))


cdef int filtered(const Frame* frame, const int* chosen, int* kept, int n, double threshold,
                  double allowance, Node* node, double* f, double* u, double* tops,
                  double* bound) noexcept nogil:
    """Children below the threshold, refined until the list stops shrinking.

    Returns how many stay; coordinates, norms and z are packed to them. ``tops`` receives the
    t - 1 largest eigenvalues left in each child, ``u`` its error, less the rounding that exceeds
    the allowance if columns are left to choose.
    """
    cdef int c, m, i, d, previous, t = node.t
    cdef double head, charge
    cdef double* z
    while True:
        bound[0] = prepare(frame, chosen, kept, n, allowance, node)
        if bound[0] >= threshold:
            return 0
        d = node.d
        if d == 0:  # nothing left to explain: every completion has this error
            for c in range(n):
                u[c] = node.error
                f[c] = bound[0]
            return n
        _eigen_coordinates(node)
        head = sum_top(node.lam, d, t - 1)
        previous = n
        m = 0
        for c in range(n):
            z = node.z + <size_t> c * d
            u[m] = node.error - square(z, d)
            charge = charge_of(frame, node, candidate_growth(frame, node, kept[c], c), node.error,
                               allowance)
            if t == 1:  # complete: u is the error, f the same without its rounding
                f[m] = u[m] - charge
            else:
                # What exceeds the plain allowance goes into u, for all that build on it.
                u[m] -= charge - allowance
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


cdef void inner_products(Node* node, const double* images, int rows,
                         double* products) noexcept nogil:
    """Lower triangles of a_i'a_j and z_i'z_j of the kept unit residuals, one after the other."""
    cdef int n = node.n, d = node.d
    cdef double one = 1.0, zero = 0.0
    cdef char* trans = b"T"
    cdef char* lower = b"L"
    dsyrk(lower, trans, &n, &d, &one, node.coords, &d, &zero, products, &n)
    dsyrk(lower, trans, &n, &rows, &one, images, &rows, &zero, products + <size_t> n * n, &n)
