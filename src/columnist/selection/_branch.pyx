# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Branching of column-subset nodes under the squared Frobenius norm.

:mod:`columnist.selection._frame` evaluates the children of one node. In the basis in which the
node's second moment is diagonal, its candidates' residuals are again such a problem, only
smaller: so a subtree is explored from frame to smaller frame, as far as a budget allows, and its
last columns are chosen in closed form (:mod:`columnist.selection._complete`).

No input validation: callers guarantee shapes, types and index ranges.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport malloc, free
from libc.string cimport memcpy

from scipy.linalg.cython_blas cimport dgemm
from scipy.linalg.cython_lapack cimport dorgqr

from columnist.selection._complete cimport (
    MAX_DEPTH, Best, Left, Search, behind, enumerate_child, enumeration, node_slack, offer,
    scan_node_pairs, scan_triples,
)
from columnist.selection._frame cimport (
    Frame, Node, charge_of, factor_chosen, filtered, gather, inner_products, lay_out, node_size,
    residual_error, sort_by, sum_top,
)

from typing import NamedTuple

import numpy as np


class Children(NamedTuple):
    """What :meth:`FrobeniusBrancher.children` returns."""

    bound: float
    kept: np.ndarray
    f: np.ndarray
    u: np.ndarray
    errors: np.ndarray
    items: np.ndarray
    counts: tuple
    order: np.ndarray
    charges: np.ndarray
    floor: float
    doubtful: bool


class Completions(NamedTuple):
    """What :meth:`FrobeniusBrancher.completions` returns."""

    errors: np.ndarray
    items: np.ndarray
    finished: bool
    charges: np.ndarray
    floor: float
    doubtful: bool

from columnist.linalg._rounding cimport NEARLY_DEPENDENT

cdef enum:
    RESOLVED = 0
    UNRESOLVED = 1
    EXPLORED = 128  # longest candidate list that is explored beyond its children
    SPARE = 32  # complete sets reported beside the best, where rounding cannot tell them apart


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
    rest = lay_out(&node, memory, names + n, frame.r, n, n_chosen, t)
    f = rest
    u = f + n
    lengths = u + n
    tops = lengths + n
    rest = tops + <size_t> n * (t - 1)
    integers = names + n + 3 + 5 * frame.r + n_chosen
    n = filtered(frame, chosen, kept, n, search.limit, search.allowance, &node, f, u, tops, bound)
    search.doubtful |= node.doubtful
    if n == 0:
        return RESOLVED
    if node.d == 0:  # nothing left to explain: all completions are equally good
        if search.best.wanted > 1:
            return _offer_all(search, frame, kept, n, t)
        for i in range(t):
            order[i] = frame.names[kept[i]]
        offer(search, order, t)
        return RESOLVED
    if t == 3:
        scan_triples(search, frame, &node, kept, f, u, tops, order, rest)
        return RESOLVED if search.budget >= 0.0 else UNRESOLVED
    _enter(&node, frame, kept, &inner, names, lengths)
    return _explore_children(search, &inner, &node, f, u, tops, order, t,
                             node_slack(frame, &node, kept), rest, integers, NULL)


cdef int _offer_all(Search* search, const Frame* frame, const int* kept, int n,
                    int t) noexcept nogil:
    """Offer triples until one is refused: all have the same error. Larger sets stay open."""
    cdef int i, j, k
    cdef int last[3]
    if t != 3:
        return UNRESOLVED
    for i in range(2, n):
        for j in range(1, i):
            for k in range(j):
                last[0] = frame.names[kept[k]]
                last[1] = frame.names[kept[j]]
                last[2] = frame.names[kept[i]]
                if not offer(search, last, 3):
                    return RESOLVED
    return RESOLVED


cdef int _explore_children(Search* search, const Frame* inner, Node* node, double* f,
                           const double* u, const double* tops, int* order, int t, double slack,
                           double* memory, int* integers, double* total) noexcept nogil:
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
    inner_products(node, node.z, node.d, A)
    sort_by(f, order, n)
    for p in range(t - 1, n):
        i = order[p]
        if f[i] >= search.limit:
            break
        search.slack = slack  # nodes below have set their own
        count = _compatible(A, M, n, i, order, p, u, tops, t, search, allowed, smallest)
        if total != NULL:
            f[i] = max(f[i], smallest[t - 2])
            search.budget = total[0] / 4.0
            total[0] -= search.budget
        bound = -INFINITY
        outcome = RESOLVED
        if count < t - 1 or f[i] >= search.limit:
            pass
        elif enumeration(count, t - 1) <= _operations(inner.r, count, t - 1):
            search.budget -= enumeration(count, t - 1)
            enumerate_child(search, A, M, n, i, allowed, count, t - 1, u[i],
                            tops + <size_t> i * (t - 1), inner, rest, integers + n)
            if search.budget < 0.0:
                outcome = UNRESOLVED
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
    cdef double energy, bound
    cdef Left left
    cdef const double* mine = tops + <size_t> i * (t - 1)
    cdef const double* other
    for l in range(t - 1):
        smallest[l] = INFINITY
    for q in range(count):
        j = order[q]
        left = behind(A, M, n, i, j)
        bound = -INFINITY
        if left.gap > max(1e-8, 2.0 * search.slack):
            energy = left.energy + search.slack * (M[j + <size_t> j * n] + M[i + <size_t> i * n])
            bound = u[i] - energy / (left.gap - search.slack) - search.allowance
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
    inner.constant = max(node.error - sum_top(node.lam, node.d, node.d), 0.0)
    inner.total = frame.total
    inner.growth = node.growth
    inner.power = frame.power


cdef size_t _explore_doubles(size_t r, size_t n, size_t j, size_t t) noexcept nogil:
    """Doubles for _explore and everything below it: at most n candidates at every level."""
    cdef size_t level = node_size(max(r, n), n, max(j, 1)) + (t + 4) * n + 2 * n * n + t
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
        Rounding allowance subtracted from every bound, before it grows.
    power : int, default=1
        2 if the columns come from their Gram matrix: see :mod:`columnist.selection._frame`.
    """

    cdef double[:, ::1] columns
    cdef double[::1] weights
    cdef double[::1] lengths
    cdef int[::1] names
    cdef double allowance
    cdef Frame frame

    def __init__(self, double[:, ::1] columns, double[::1] weights, double constant,
                 double allowance, int power=1):
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
        self.frame.total = np.sum(weights) + constant
        self.frame.growth = 1.0
        self.frame.power = power

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
            Complete sets found by exploring: errors and the items added. Beside the best there
            are those that rounding cannot tell from them.
        counts : tuple of int
            Nodes explored beside this one, and children for which that reached the
            end or not.
        order : ndarray of int32
            How the children were sorted (see :meth:`Workspace.last_frame`).
        charges : ndarray
            Rounding of ``errors``.
        floor : float
            Least error of complete sets that were found, but not reported for want of room.
        doubtful : bool
            Whether a column was taken for dependent that may be more than rounding.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        cdef double bound = INFINITY
        kept = np.array(candidates, dtype=np.int32)
        f = np.empty(n)
        u = np.empty(n)
        order = np.empty(n, dtype=np.int32)
        errors = np.empty(n_best + SPARE)
        charges = np.empty(n_best + SPARE)
        items = np.empty((n_best + SPARE, max(t, 1)), dtype=np.int32)
        cdef double[::1] charges_view = charges
        cdef int[::1] kept_view = kept
        cdef int[::1] order_view = order
        cdef double[::1] f_view = f
        cdef double[::1] u_view = u
        cdef double[::1] errors_view = errors
        cdef int[:, ::1] items_view = items
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef Best best
        cdef Search search
        _begin(&best, &search, &errors_view[0], &charges_view[0], &items_view[0, 0], n_best, t,
               threshold, self.allowance, budget)
        if n < t or n == 0:
            return Children(INFINITY, kept[:0], f[:0], u[:0], errors[:0], items[:0], (0, 0, 0),
                            order[:0], charges[:0], INFINITY, False)
        self._reserve(space, n, j, t)
        self._evaluates(&search, space, chosen_at, j, t)
        with nogil:
            n = self._children(chosen_at, j, &kept_view[0], n, t, space, &f_view[0],
                               &u_view[0], &order_view[0], &search, &bound)
        order = order[:n]
        return Children(bound, kept[order], f[order], u[order], errors[:best.count],
                        items[:best.count], (search.nodes, search.resolved, search.unresolved),
                        order, charges[:best.count], best.floor,
                        bool(search.doubtful or search.exact.doubtful))

    def additions(self, int[::1] chosen, int[::1] candidates, Workspace space):
        """Error of ``chosen`` alone, and of ``chosen`` plus each candidate.

        Returns
        -------
        error : float
        errors : ndarray of shape (n_candidates,)
        charge : float
            Rounding of ``error``.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        cdef double error, charge = 0.0
        errors = np.empty(n)
        cdef double[::1] view = errors
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef const int* candidates_at = &candidates[0] if n > 0 else NULL
        cdef double* out = &view[0] if n > 0 else NULL
        self._reserve(space, n, j, 4)
        with nogil:
            error = self._additions(chosen_at, j, candidates_at, n, space, out, &charge)
        return error, errors, charge

    cdef double _additions(self, const int* chosen, int j, const int* candidates, int n,
                           Workspace space, double* out, double* charge) noexcept nogil:
        cdef Node node
        cdef int r = self.frame.r, c, i, info = 0
        cdef double one = 1.0, zero = 0.0, minus = -1.0, error, length, energy, square
        cdef char* trans = b"T"
        cdef char* no = b"N"
        cdef double* column
        lay_out(&node, space.memory, space.integers, r, n, j, 1)
        j = factor_chosen(&self.frame, chosen, &node, node.q, node.tau)
        if j > 0:
            dorgqr(&r, &j, &j, node.q, &r, node.tau, node.work, &node.lwork, &info)
        error = residual_error(self.frame.weights, node.q, r, j, self.frame.constant)
        charge[0] = INFINITY
        if not node.doubtful:
            charge[0] = charge_of(&self.frame, &node, 1.0, error, self.allowance)
        if n == 0:
            return error
        gather(self.frame.columns, candidates, r, n, node.coords)
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
            if length > (NEARLY_DEPENDENT * self.frame.lengths[candidates[c]]) ** 2:
                out[c] = max(error - energy / length, 0.0)
        return error

    def completions(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                    int n_best, Workspace space, double budget):
        """The best completions of a node by two or three columns, in closed form.

        Returns
        -------
        errors : ndarray
            Errors of the best ``n_best`` completions that may be below ``threshold``, ascending,
            and of those that rounding cannot tell from them.
        items : ndarray of int32 of shape (n_found, t)
            Their columns.
        finished : bool
            False if ``budget`` operations beyond those of the node did not suffice: then
            there may be others.
        charges, floor, doubtful
            As in :meth:`children`.
        """
        cdef int n = candidates.shape[0], j = chosen.shape[0]
        errors = np.empty(n_best + SPARE)
        charges = np.empty(n_best + SPARE)
        items = np.empty((n_best + SPARE, t), dtype=np.int32)
        cdef double[::1] charges_view = charges
        cdef double[::1] errors_view = errors
        cdef int[:, ::1] items_view = items
        cdef const int* chosen_at = &chosen[0] if j > 0 else NULL
        cdef double bound = 0.0
        cdef double* scratch
        cdef Node node
        cdef Best best
        cdef Search search
        _begin(&best, &search, &errors_view[0], &charges_view[0], &items_view[0, 0], n_best, t,
               threshold, self.allowance, budget + _operations(self.frame.r, n, t))
        if n < t:
            return Completions(errors[:0], items[:0], True, charges[:0], INFINITY, False)
        self._reserve(space, n, j, t)
        self._evaluates(&search, space, chosen_at, j, t)
        with nogil:
            if t == 2:
                memcpy(space.free_integers, &candidates[0], n * sizeof(int))
                scratch = lay_out(&node, space.free_memory, space.free_integers + 3 * n,
                                   self.frame.r, n, j, 2)
                scan_node_pairs(&search, &self.frame, chosen_at, space.free_integers, n, &node,
                                 space.free_integers + n, scratch)
            else:
                _explore(&search, &self.frame, chosen_at, j, &candidates[0], n, 3,
                         space.free_memory, space.free_integers, &bound)
        return Completions(errors[:best.count], items[:best.count], search.budget >= 0.0,
                           charges[:best.count], best.floor,
                           bool(search.doubtful or search.exact.doubtful))

    cdef void _evaluates(self, Search* search, Workspace space, const int* chosen, int j,
                         int t) noexcept nogil:
        """Set aside, at the start of the workspace, what evaluating complete sets needs."""
        cdef int size = j + t
        search.top = &self.frame
        search.base = chosen
        search.n_base = j
        search.full = space.integers
        space.free_memory = lay_out(&search.exact, space.memory, space.integers + size,
                                     self.frame.r, 1, size, 1)
        space.free_integers = space.integers + 2 * size + 3 + 5 * self.frame.r

    cdef int _reserve(self, Workspace space, int n, int j, int t) except -1:
        # Filtering may shorten a long list to one that is explored, in as many dimensions at most.
        cdef size_t r = self.frame.r, explored = min(n, EXPLORED)
        cdef size_t doubles = node_size(r, 1, j + t) + node_size(r, n, j) + (t + 8) * <size_t> n
        cdef size_t integers = 2 * (j + t) + 3 + 5 * r + 16 * n + 8 * r + 16 + j
        if n > EXPLORED and t < 4:
            doubles += 2 * <size_t> n * n
        elif t <= MAX_DEPTH:
            doubles += _explore_doubles(explored, explored, 1, t)
            integers += (t + 2) * (20 * explored + 8 * r + 32 + j)
        return space.reserve(doubles, integers)

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
        rest = lay_out(&node, space.free_memory, names + n, self.frame.r, n, j, t)
        lengths = rest
        tops = lengths + n
        rest = tops + <size_t> n * max(t - 1, 1)
        n = filtered(&self.frame, chosen, kept, n, search.limit, self.allowance, &node, f, u,
                      tops, bound)
        search.doubtful |= node.doubtful
        space.last_n = n
        space.last_d = node.d
        space.last_error = node.error
        space.last_lam = node.lam
        space.last_coords = node.coords
        space.last_norms = node.norms
        if n == 0 or t < 4 or t > MAX_DEPTH or n > EXPLORED or node.d == 0 or total <= 0.0:
            sort_by(f, order, n)
            return n
        _enter(&node, &self.frame, kept, &inner, names, lengths)
        _explore_children(search, &inner, &node, f, u, tops, order, t,
                          node_slack(&self.frame, &node, kept), rest, below, &total)
        return n


cdef void _begin(Best* best, Search* search, double* errors, double* charges, int* items,
                 int n_best, int t, double threshold, double allowance,
                 double budget) noexcept nogil:
    best.count = 0
    best.wanted = n_best
    best.capacity = n_best + SPARE
    best.width = t
    best.error = errors
    best.charge = charges
    best.items = items
    best.floor = INFINITY
    search.slack = 0.0
    search.doubtful = False
    search.limit = threshold
    search.allowance = allowance
    search.budget = budget
    search.nodes = 0
    search.unresolved = 0
    search.resolved = 0
    search.best = best
    search.depth = 0
