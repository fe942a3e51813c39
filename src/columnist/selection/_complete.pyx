# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Completing a choice by its last columns, in closed form.

What a set of residuals catches depends only on their inner products a_i'a_j and those of
their images z_i'z_j. So pairs, triples and all subsets of a short list are compared without any
further decomposition; a set that seems good enough is evaluated by a QR of its columns.

No input validation.
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from scipy.linalg.cython_blas cimport dgemm

from columnist.linalg._rounding cimport PARALLEL, SUMS
from columnist.selection._frame cimport (
    Node, candidate_growth, charge_of, chosen_error, factor_chosen, inner_products, pack, prepare,
    sort_by, square, worst_growth,
)


cdef double node_slack(const Node* node) noexcept nogil:
    """Rounding of the inner products of a node's residuals, relative to them."""
    return SUMS * node.growth * worst_growth(node)


cdef inline double _lower(const double* A, size_t n, int i, int j) noexcept nogil:
    """Entry of a symmetric matrix of which only the lower triangle is stored."""
    return A[i + j * n] if i > j else A[j + i * n]


cdef Node* _whole(Search* search, const int* last, int count) noexcept nogil:
    """The node whose chosen columns are those of the search, the path and ``last``."""
    memcpy(search.path + search.depth, last, count * sizeof(int))
    search.exact.n_chosen = search.n_base + search.depth + count
    return &search.exact


cdef double _exact_error(Search* search, const int* last, int count) noexcept nogil:
    """Error of the path followed by ``last``, by QR of the columns themselves.

    Inner products lead here; rounding in them must not decide between complete sets.
    """
    cdef Node* node = _whole(search, last, count)
    search.budget -= 2e4 + 4.0 * node.r * node.n_chosen * node.n_chosen
    return chosen_error(node)


cdef bint _dependent(Search* search, const int* last) noexcept nogil:
    """Whether the column ``last`` depends on the path, by QR of the columns themselves."""
    cdef int before = factor_chosen(_whole(search, last, 0))
    return factor_chosen(_whole(search, last, 1)) == before


cdef bint offer(Search* search, const int* last, int count) noexcept nogil:
    """Offer the path followed by ``last``; tightens the limit. Whether there was room for it.
    Nothing is refused that its rounding might put below the limit, and the limit is an error that
    was reached, rounding included."""
    cdef Best* best = &search.best
    cdef int at, i, w = best.width
    cdef double error = _exact_error(search, last, count)
    cdef double charge = charge_of(&search.exact, 1.0, error)
    cdef double reached = 0.0
    if error - charge >= search.limit:
        return False
    if best.count < best.capacity:
        best.count += 1
    else:
        at = best.count - 1
        if error >= best.error[at]:
            best.floor = min(best.floor, error - charge)
            return False
        best.floor = min(best.floor, best.error[at] - best.charge[at])
    at = best.count - 1
    while at > 0 and best.error[at - 1] > error:
        best.error[at] = best.error[at - 1]
        best.charge[at] = best.charge[at - 1]
        memcpy(best.items + at * w, best.items + (at - 1) * w, w * sizeof(int))
        at -= 1
    best.error[at] = error
    best.charge[at] = charge
    memcpy(best.items + at * w, search.path, (search.depth + count) * sizeof(int))
    if best.count >= best.wanted:
        for i in range(best.wanted):
            reached = max(reached, best.error[i] + best.charge[i])
        search.limit = min(search.limit, reached)
        while best.count > best.wanted and (
                best.error[best.count - 1] - best.charge[best.count - 1] >= search.limit):
            best.count -= 1
    return True


cdef struct Given:
    # Candidates once column i is taken: their positions, and everything needed for their pairs.
    int count
    int* index
    Left* left


cdef void _scan_pairs(const double* A, const double* M, int stride, const Given* given,
                      double own, double error, double rounding, double doubt, Search* search,
                      const int* names) noexcept nogil:
    """Offer all pairs of candidates, given column i (energy ``own``), below the limit, and those
    that cannot be told from it, while the budget lasts. With conditional lengths g, energies e and
    inner products a, m, a pair catches (e_j g_l + e_l g_j - 2 a m) / (g_j g_l - a^2). ``rounding``
    is that of e, m, absolute, ``doubt`` that of squared lengths; ``names`` are public numbers."""
    cdef int x, y, j, l
    cdef int last[2]
    cdef Left one, two
    cdef double a, m, det, caught, slack, need = error - search.limit - search.allowance
    for x in range(given.count):
        j = given.index[x]
        one = given.left[x]
        for y in range(x):
            l = given.index[y]
            two = given.left[y]
            m = (_lower(M, stride, j, l) - one.cosine * two.inner - two.cosine * one.inner
                 + one.cosine * two.cosine * own)
            a = _lower(A, stride, j, l) - one.cosine * two.cosine
            det = max(one.gap * two.gap - a * a, 0.0)
            caught = one.energy * two.gap + two.energy * one.gap - 2.0 * a * m
            slack = search.slack * (one.energy + two.energy + own) + rounding
            # The squared sine itself is known up to ``doubt``: sets that small are evaluated.
            if det > doubt and caught + slack < need * (det - doubt):
                continue
            if search.budget < 0.0:
                return
            last[0] = names[j]
            last[1] = names[l]
            offer(search, last, 2)
            need = error - search.limit - search.allowance


cdef Left behind(const double* A, const double* M, int n, int i, int j) noexcept nogil:
    """What is left of candidate j once i is taken."""
    cdef Left left
    cdef size_t own = i + <size_t> i * n, other = j + <size_t> j * n
    left.cosine = _lower(A, n, i, j)
    left.inner = _lower(M, n, i, j)
    left.gap = max(A[other] - left.cosine * left.cosine, 0.0)
    left.energy = max(M[other] - 2.0 * left.cosine * left.inner
                      + left.cosine * left.cosine * M[own], 0.0)
    return left


cdef void _given_child(Given* given, const Search* search, const Node* node, const double* A,
                       const double* M, int p) noexcept nogil:
    """Candidates order[:p] once i = order[p] is taken; those that cannot help are left out. A pair
    (j, l) behind i catches at most the energy of j alone plus the largest eigenvalue left behind
    i."""
    cdef int q, i = node.order[p], j, n = node.n, m = 0
    cdef double slack, needed = node.u[i] - search.allowance - node.tops[2 * i] - search.limit
    cdef Left left
    for q in range(p):
        j = node.order[q]
        left = behind(A, M, n, i, j)
        slack = search.slack * (M[j + <size_t> j * n] + M[i + <size_t> i * n])
        if left.gap > max(1e-8, 2.0 * search.slack) and (
                left.energy + slack < needed * (left.gap - search.slack)):
            continue
        given.index[m] = j
        given.left[m] = left
        m += 1
    given.count = m


cdef void scan_triples(Search* search, Node* node) noexcept nogil:
    """For every child that may lead below the limit, the best pairs behind it. Children are
    numbered by their bounds and see only those before them, as in the partition of the search.
    Needs 2 n^2 + 4 n doubles behind the node."""
    cdef int i, p, n = node.n
    cdef int* order = node.order
    cdef double* A = node.memory
    cdef double* M = A + <size_t> n * n
    cdef Given given
    inner_products(node, node.z, node.d, A)
    search.slack = node_slack(node)
    sort_by(node.f, order, n)
    given.index = order + n
    given.left = <Left*> (M + <size_t> n * n)
    for i in range(n):
        node.names[i] = node.frame.names[node.kept[i]]
    for p in range(2, n):
        i = order[p]
        if node.f[i] >= search.limit or search.budget < 0.0:
            return
        _given_child(&given, search, node, A, M, p)
        search.path[search.depth] = node.names[i]
        search.depth += 1
        _scan_pairs(A, M, n, &given, M[i + <size_t> i * n], node.u[i], 0.0, search.slack, search,
                    node.names)
        search.depth -= 1


cdef void scan_node_pairs(Search* search, Node* node) noexcept nogil:
    """The best pairs of a node with two columns to choose, without eigenvectors.

    Needs 2 n^2 + 4 n doubles behind the node.
    """
    cdef int r = node.r, n = node.n, d, c, m, previous
    cdef double one = 1.0, zero = 0.0, charge, bound
    cdef double* A = node.memory
    cdef int last[2]
    cdef Given given
    for c in range(n):
        node.names[c] = node.frame.names[node.kept[c]]
    while True:
        bound = prepare(node, n)
        search.doubtful |= node.doubtful
        if bound >= search.limit:
            return
        d = node.d
        if d == 0:  # nothing left to explain: the first pairs are as good as any
            for c in range(1, n):
                for m in range(c):
                    last[0] = node.names[m]
                    last[1] = node.names[c]
                    if not offer(search, last, 2):
                        return
            return
        # prepare left B^(1/2) Q in z; the images go to the basis, no longer needed.
        dgemm(b"N", b"N", &r, &n, &d, &one, node.z, &r, node.coords, &d, &zero, node.basis, &r)
        previous = n
        m = 0
        for c in range(n):
            charge = charge_of(node, candidate_growth(node, c), node.error)
            bound = node.error - square(node.basis + <size_t> c * r, r) - node.lam[0] - charge
            if bound < search.limit:
                if m < c:
                    memcpy(node.basis + <size_t> m * r, node.basis + <size_t> c * r,
                           r * sizeof(double))
                pack(node, m, c)
                node.names[m] = node.names[c]
                m += 1
        n = m
        if n < 2:
            return
        if n == previous or n >= d:
            break
    node.n = n
    inner_products(node, node.basis, r, A)
    search.slack = node_slack(node)
    _given_all(&given, A, A + <size_t> n * n, n, node.order, A + 2 * <size_t> n * n)
    charge = charge_of(node, 1.0, node.error)
    _scan_pairs(A, A + <size_t> n * n, n, &given, 0.0, node.error - (charge - search.allowance),
                0.0, search.slack, search, node.names)


cdef void _condition(const double* A, const double* M, int stride, int x, double* A_out,
                     double* M_out) noexcept nogil:
    """Inner products of the first x residuals once residual x is projected out.

    a_ij - a_ix a_jx / a_xx, and likewise for z: lower triangles, stride x.
    """
    cdef int i, j
    cdef double ax = A[x + <size_t> x * stride], mx = M[x + <size_t> x * stride], ci, cj
    cdef double scale = 1.0 / ax if ax > PARALLEL else 0.0
    for i in range(x):
        ci = A[x + <size_t> i * stride] * scale
        for j in range(i, x):
            cj = A[x + <size_t> j * stride] * scale
            A_out[j + <size_t> i * x] = A[j + <size_t> i * stride] - ci * A[x + <size_t> j * stride]
            M_out[j + <size_t> i * x] = (
                M[j + <size_t> i * stride] - ci * M[x + <size_t> j * stride]
                - cj * M[x + <size_t> i * stride] + ci * cj * mx)


cdef void _enumerate(Search* search, const double* A, const double* M, int m, int t,
                     double error, double rounding, double doubt, const double* tops,
                     const int* names, double* memory, int* integers) noexcept nogil:
    """All t-subsets of m candidates from their inner products; for short lists. ``tops`` are the t
    largest eigenvalues left: what any columns can still catch. ``rounding`` is that of energies,
    ``doubt`` that of squared lengths, both absolute: behind a short residual both grow, and where
    nothing is left of its digits nothing is ruled out."""
    cdef int x, i
    cdef double* A_next = memory
    cdef double* M_next = A_next + <size_t> m * m
    cdef double* rest = M_next + <size_t> m * m
    cdef double length, left, slack, worse, head = 0.0
    cdef Given given
    if t == 2:
        _given_all(&given, A, M, m, integers, rest)
        _scan_pairs(A, M, m, &given, 0.0, error, rounding, doubt, search, names)
        return
    for i in range(t - 1):
        head += tops[i]
    for x in range(t - 1, m):
        if search.budget < 0.0:
            return
        length = A[x + <size_t> x * m]
        left = error
        slack = worse = 0.0
        if length > max(PARALLEL, 2.0 * doubt):
            left -= M[x + <size_t> x * m] / length
            worse = doubt / length
            slack = rounding / length + 2.0 * worse * (error - left)
        elif not _dependent(search, names + x):
            slack = worse = INFINITY
        if left - slack - head - search.allowance >= search.limit:
            continue
        _condition(A, M, m, x, A_next, M_next)
        search.path[search.depth] = names[x]
        search.depth += 1
        _enumerate(search, A_next, M_next, x, t - 1, left, rounding + slack, doubt + worse,
                   tops, names, rest, integers + m)
        search.depth -= 1


cdef void _given_all(Given* given, const double* A, const double* M, int m, int* index,
                     double* scratch) noexcept nogil:
    """All candidates, nothing taken, lengths and energies from the diagonals."""
    cdef int i
    given.count = m
    given.index = index
    given.left = <Left*> scratch
    for i in range(m):
        index[i] = i
        given.left[i].energy = max(M[i + <size_t> i * m], 0.0)
        given.left[i].gap = max(A[i + <size_t> i * m], 0.0)
        given.left[i].cosine = given.left[i].inner = 0.0


cdef double enumeration(int n, int t) noexcept nogil:
    """Operations of an enumeration, roughly: the more columns, the more a bound would spare."""
    cdef double subsets = 1.0
    cdef int i
    for i in range(t):
        subsets *= <double> (n - i) / (i + 1)
    return subsets * (1 << min(t - 1, 20))


cdef void enumerate_child(Search* search, const Node* node, const double* A, const double* M,
                          int i, const int* allowed, int count, double* memory,
                          int* integers) noexcept nogil:
    """Enumerate what completes child i from ``allowed``."""
    cdef int x, y, a, b, n = node.n, t = node.t - 1, stride = count + 1
    cdef double* A_own = memory
    cdef double* M_own = A_own + <size_t> stride * stride
    cdef double* rest = M_own + <size_t> stride * stride
    # The list with i behind it; projecting out the last one leaves the conditional products.
    for x in range(stride):
        a = allowed[x] if x < count else i
        integers[x] = node.names[a]
        for y in range(x, stride):
            b = allowed[y] if y < count else i
            A_own[y + <size_t> x * stride] = _lower(A, n, a, b)
            M_own[y + <size_t> x * stride] = _lower(M, n, a, b)
    _condition(A_own, M_own, stride, count, rest, rest + <size_t> count * count)
    search.path[search.depth] = node.names[i]
    search.depth += 1
    _enumerate(search, rest, rest + <size_t> count * count, count, t, node.u[i],
               search.slack * M[i + <size_t> i * n], search.slack, node.tops + <size_t> i * t,
               integers, rest + 2 * <size_t> count * count, integers + stride)
    search.depth -= 1
