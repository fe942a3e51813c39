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
    Frame, Node, candidate_growth, charge_of, chosen_error, factor_chosen, inner_products,
    prepare, sort_by, square, worst_growth,
)


cdef double node_slack(const Frame* frame, const Node* node, const int* kept) noexcept nogil:
    """Rounding of the inner products of a node's residuals, relative to them."""
    return SUMS * node.growth * worst_growth(frame, kept, node)


cdef inline double _lower(const double* A, size_t n, int i, int j) noexcept nogil:
    """Entry of a symmetric matrix of which only the lower triangle is stored."""
    return A[i + j * n] if i > j else A[j + i * n]


cdef int* _whole(Search* search, const int* last, int count) noexcept nogil:
    """The columns of the node, the path and ``last``, as the chosen ones of ``exact``."""
    memcpy(search.path + search.depth, last, count * sizeof(int))
    search.exact.n_chosen = search.n_base + search.depth + count
    return search.full


cdef double _exact_error(Search* search, const int* last, int count) noexcept nogil:
    """Error of the path followed by ``last``, by QR of the columns themselves.

    Inner products lead here; rounding in them must not decide between complete sets.
    """
    cdef Node* node = &search.exact
    cdef int* whole = _whole(search, last, count)
    search.budget -= 2e4 + 4.0 * node.r * node.n_chosen * node.n_chosen
    return chosen_error(search.top, whole, node)


cdef bint _dependent(Search* search, const int* last) noexcept nogil:
    """Whether the column ``last`` depends on the path, by QR of the columns themselves."""
    cdef int before = factor_chosen(search.top, _whole(search, last, 0), &search.exact)
    return factor_chosen(search.top, _whole(search, last, 1), &search.exact) == before


cdef bint offer(Search* search, const int* last, int count) noexcept nogil:
    """Offer the path followed by ``last``; tightens the limit. Whether there was room for it.

    Nothing is refused that its rounding might put below the limit, and the limit is an error
    that was reached, rounding included.
    """
    cdef Best* best = &search.best
    cdef int at, i, w = best.width
    cdef double error = _exact_error(search, last, count)
    cdef double charge = charge_of(search.top, &search.exact, 1.0, error, search.allowance)
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
    """Offer all pairs of candidates, given column i (energy ``own``), below the limit.

    With conditional lengths g, energies e and inner products a, m, a pair catches
    (e_j g_l + e_l g_j - 2 a m) / (g_j g_l - a^2). ``rounding`` is that of e, m in absolute
    terms, ``doubt`` that of squared lengths; ``names`` are the public numbers of the positions.
    Pairs that cannot be told from the limit are offered, and evaluated there, as long as
    the budget lasts.
    """
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


cdef void _given_child(Given* given, const double* A, const double* M, int n, int i,
                       const int* order, int count, double u, double top,
                       const Search* search) noexcept nogil:
    """Candidates order[:count] once i is taken; those that cannot help are left out.

    A pair (j, l) behind i catches at most the energy of j alone plus ``top``, the
    largest eigenvalue left behind i.
    """
    cdef int q, j, m = 0
    cdef double slack
    cdef Left left
    for q in range(count):
        j = order[q]
        left = behind(A, M, n, i, j)
        slack = search.slack * (M[j + <size_t> j * n] + M[i + <size_t> i * n])
        if left.gap > max(1e-8, 2.0 * search.slack) and (
                left.energy + slack < (u - top - search.limit) * (left.gap - search.slack)):
            continue
        given.index[m] = j
        given.left[m] = left
        m += 1
    given.count = m


cdef void scan_triples(Search* search, const Frame* frame, Node* node, const int* kept,
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
    inner_products(node, node.z, node.d, A)
    search.slack = node_slack(frame, node, kept)
    sort_by(f, order, n)
    given.index = order + n
    given.left = <Left*> (M + <size_t> n * n)
    for i in range(n):
        names[i] = frame.names[kept[i]]
    for p in range(2, n):
        i = order[p]
        if f[i] >= search.limit or search.budget < 0.0:
            return
        _given_child(&given, A, M, n, i, order, p, u[i] - search.allowance, tops[2 * i], search)
        search.path[search.depth] = names[i]
        search.depth += 1
        _scan_pairs(A, M, n, &given, M[i + <size_t> i * n], u[i], 0.0, search.slack, search,
                    names)
        search.depth -= 1


cdef void scan_node_pairs(Search* search, const Frame* frame, const int* chosen, int* kept,
                          int n, Node* node, int* order, double* scratch) noexcept nogil:
    """The best pairs of a node with two columns to choose, without eigenvectors.

    ``scratch`` holds 2 n^2 + 4 n doubles.
    """
    cdef int r = node.r, d, c, m, previous
    cdef double one = 1.0, zero = 0.0, charge, bound
    cdef char* no = b"N"
    cdef double* room = scratch + 2 * <size_t> n * n
    cdef int last[2]
    cdef Given given
    while True:
        bound = prepare(frame, chosen, kept, n, search.allowance, node)
        search.doubtful |= node.doubtful
        if bound >= search.limit:
            return
        d = node.d
        if d == 0:  # nothing left to explain: the first pairs are as good as any
            for c in range(1, n):
                for m in range(c):
                    last[0] = frame.names[kept[m]]
                    last[1] = frame.names[kept[c]]
                    if not offer(search, last, 2):
                        return
            return
        # prepare left B^(1/2) Q in z; the images go to the basis, no longer needed.
        dgemm(no, no, &r, &n, &d, &one, node.z, &r, node.coords, &d, &zero, node.basis, &r)
        previous = n
        m = 0
        for c in range(n):
            charge = charge_of(frame, node, candidate_growth(frame, node, kept[c], c), node.error,
                               search.allowance)
            bound = node.error - square(node.basis + <size_t> c * r, r) - node.lam[0] - charge
            if bound < search.limit:
                kept[m] = kept[c]
                node.norms[m] = node.norms[c]
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
    inner_products(node, node.basis, r, scratch)
    search.slack = node_slack(frame, node, kept)
    _given_all(&given, scratch, scratch + <size_t> n * n, n, order, room)
    for c in range(n):
        kept[c] = frame.names[kept[c]]
    charge = charge_of(frame, node, 1.0, node.error, search.allowance)
    _scan_pairs(scratch, scratch + <size_t> n * n, n, &given, 0.0,
                node.error - (charge - search.allowance), 0.0, search.slack, search, kept)


cdef void _condition(const double* A, const double* M, int stride, int x, double* A_out,
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
                     double error, double rounding, double doubt, const double* tops,
                     const int* names, double* memory, int* integers) noexcept nogil:
    """All t-subsets of m candidates from their inner products; for short lists.

    ``tops`` are the t largest eigenvalues left: what any columns can still catch.
    ``rounding`` is that of energies, ``doubt`` that of squared lengths, both absolute: behind
    a short residual both grow, and where nothing is left of its digits nothing is ruled out.
    """
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


cdef void enumerate_child(Search* search, const double* A, const double* M, int n, int i,
                          const int* allowed, int count, int t, double u, const double* tops,
                          const Frame* frame, double* memory, int* integers) noexcept nogil:
    """Enumerate the t-subsets of ``allowed`` behind child i."""
    cdef int x, y, a, b, stride = count + 1
    cdef double* A_own = memory
    cdef double* M_own = A_own + <size_t> stride * stride
    cdef double* rest = M_own + <size_t> stride * stride
    # The list with i behind it; projecting out the last one leaves the conditional products.
    for x in range(stride):
        a = allowed[x] if x < count else i
        integers[x] = frame.names[a]
        for y in range(x, stride):
            b = allowed[y] if y < count else i
            A_own[y + <size_t> x * stride] = _lower(A, n, a, b)
            M_own[y + <size_t> x * stride] = _lower(M, n, a, b)
    _condition(A_own, M_own, stride, count, rest, rest + <size_t> count * count)
    search.path[search.depth] = frame.names[i]
    search.depth += 1
    _enumerate(search, rest, rest + <size_t> count * count, count, t, u,
               search.slack * M[i + <size_t> i * n], search.slack, tops, integers,
               rest + 2 * <size_t> count * count, integers + stride)
    search.depth -= 1
