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
from libc.string cimport memset

from columnist.linalg._rounding cimport NEARLY_DEPENDENT
from columnist.selection._complete cimport (
    MAX_DEPTH, Best, Left, Search, behind, enumerate_child, enumeration, node_slack, offer,
    scan_node_pairs, scan_triples,
)
from columnist.selection._frame cimport (
    Frame, Node, charge_of, chosen_error, filtered, gather, inner_products, lay_out, node_size,
    project_out, sort_by, sum_top,
)

from collections import namedtuple

import numpy as np

# Their fields are typed, and explained, in the stub of this module.
Children = namedtuple(
    "Children", "bound kept f u errors items counts order charges floor doubtful"
)
Completions = namedtuple("Completions", "errors items finished charges floor doubtful")

cdef enum:
    RESOLVED = 0
    UNRESOLVED = 1
    EXPLORED = 128  # longest candidate list that is explored beyond its children
    SPARE = 32  # complete sets reported beside the best, where rounding cannot tell them apart


cdef class Workspace:
    """Scratch memory for one thread; grows on demand and is then reused."""

    cdef double* memory
    cdef int* integers           # in the same block
    cdef size_t size             # doubles held
    cdef Node last               # the node expanded last

    def __dealloc__(self):
        free(self.memory)

    @property
    def nbytes(self):
        """Bytes held."""
        return self.size * sizeof(double)

    def last_frame(self):
        """Error, spectrum and residuals (n x d, in its basis) of the node expanded last. Rows stand
        in the order of the candidates kept, before they were sorted by bound. Valid right after
        :meth:`FrobeniusBrancher.children`."""
        cdef int n = self.last.n, d = self.last.d
        lam, coords = np.empty(d), np.empty((n, d))
        if n > 0 and d > 0:
            lam[:] = <double[:d]> self.last.lam
            coords[:] = <double[:n, :d]> self.last.coords
            coords *= np.asarray(<double[:n]> self.last.norms)[:, None]
        return self.last.error, lam, coords

    cdef int reserve(self, size_t doubles, size_t integers) except -1:
        cdef size_t size = doubles + (integers + 1) // 2
        if size > self.size:
            free(self.memory)
            self.size = 0
            self.memory = <double*> malloc(size * sizeof(double))
            if self.memory == NULL:
                raise MemoryError("Not enough memory to expand a node of the search.")
            self.size = size
        self.integers = <int*> (self.memory + doubles)
        return 0


cdef double _operations(int r, int n, int t) noexcept nogil:
    """Operations of one node, roughly; the constant stands for the calls."""
    cdef double width = min(r, n)
    return 3e4 + 6.0 * r * n * width + 10.0 * width * width * width + 40.0 * n * t * width


cdef int _explore(Search* search, const Frame* frame, const int* chosen, int n_chosen,
                  const int* candidates, int n, int t, double* memory, int* integers,
                  double* bound) noexcept nogil:
    """Depth-first search below a node with t >= 3 columns to choose; ``bound`` receives its bound.
    RESOLVED: every completion below the limit was offered. UNRESOLVED: the budget ran out; what was
    offered stays valid."""
    cdef Node node
    cdef int i
    search.nodes += 1
    search.budget -= _operations(frame.r, n, t)
    if search.budget < 0.0:
        return UNRESOLVED
    lay_out(&node, frame, chosen, n_chosen, candidates, n, t, memory, integers)
    n = filtered(&node, search.limit)
    bound[0] = node.bound
    search.doubtful |= node.doubtful
    if n == 0:
        return RESOLVED
    if node.d == 0:  # nothing left to explain: all completions are equally good
        if search.best.wanted > 1:
            return _offer_all(search, &node)
        for i in range(t):
            node.order[i] = frame.names[node.kept[i]]
        offer(search, node.order, t)
        return RESOLVED
    if t == 3:
        scan_triples(search, &node)
        return RESOLVED if search.budget >= 0.0 else UNRESOLVED
    return _explore_children(search, &node, NULL)


cdef int _offer_all(Search* search, const Node* node) noexcept nogil:
    """Offer triples until one is refused: all have the same error. Larger sets stay open."""
    cdef int i, j, k
    cdef int last[3]
    if node.t != 3:
        return UNRESOLVED
    for i in range(2, node.n):
        for j in range(1, i):
            for k in range(j):
                last[0] = node.frame.names[node.kept[k]]
                last[1] = node.frame.names[node.kept[j]]
                last[2] = node.frame.names[node.kept[i]]
                if not offer(search, last, 3):
                    return RESOLVED
    return RESOLVED


cdef int _explore_children(Search* search, Node* node, double* total) noexcept nogil:
    """Explore the children of a node, cheapest first. Without ``total``, stops as soon as one child
    is unresolved. With ``total``, the operations to share among all of them, f becomes infinite
    where a child was explored to its end, and is raised to what is known of it otherwise."""
    cdef int n = node.n, t = node.t, p, i, count, outcome
    cdef double* f = node.f
    cdef double* A = node.memory
    cdef double* M = A + <size_t> n * n
    cdef double* smallest = M + <size_t> n * n
    cdef double* rest = smallest + t
    cdef int* allowed = node.integers
    cdef int* below = allowed + n
    cdef double bound, slack = node_slack(node)
    cdef Frame inner
    _enter(node, &inner)
    inner_products(node, node.z, node.d, A)
    sort_by(f, node.order, n)
    for p in range(t - 1, n):
        i = node.order[p]
        if f[i] >= search.limit:
            break
        search.slack = slack  # nodes below have set their own
        count = _compatible(A, M, node, i, p, search, allowed, smallest)
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
            enumerate_child(search, node, A, M, i, allowed, count, rest, below)
            if search.budget < 0.0:
                outcome = UNRESOLVED
        else:
            search.path[search.depth] = inner.names[i]
            search.depth += 1
            outcome = _explore(search, &inner, &i, 1, allowed, count, t - 1, rest, below, &bound)
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


cdef int _compatible(const double* A, const double* M, const Node* node, int i, int count,
                     const Search* search, int* allowed, double* smallest) noexcept nogil:
    """Candidates order[:count] that a completion through i may still use. After columns i and j the
    eigenvalues lie below those after either one, so every completion through both has at least the
    error u_ij - sum over l <= t - 2 of min(mu^i_l, mu^j_l). ``smallest`` receives the t - 1
    smallest of these bounds, ascending: the last one bounds every completion through i."""
    cdef int q, j, l, at, m = 0, n = node.n, t = node.t
    cdef double energy, bound
    cdef Left left
    cdef const double* mine = node.tops + <size_t> i * (t - 1)
    cdef const double* other
    for l in range(t - 1):
        smallest[l] = INFINITY
    for q in range(count):
        j = node.order[q]
        left = behind(A, M, n, i, j)
        bound = -INFINITY
        if left.gap > max(1e-8, 2.0 * search.slack):
            energy = left.energy + search.slack * (M[j + <size_t> j * n] + M[i + <size_t> i * n])
            bound = node.u[i] - energy / (left.gap - search.slack) - search.allowance
            other = node.tops + <size_t> j * (t - 1)
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


cdef void _enter(Node* node, Frame* inner) noexcept nogil:
    """The smaller frame of a node: its unit residuals with lambda as weights."""
    cdef const Frame* frame = node.frame
    cdef int i
    for i in range(node.n):
        node.names[i] = frame.names[node.kept[i]]
        node.lengths[i] = (frame.lengths[node.kept[i]] / node.norms[i] if node.norms[i] > 0.0
                           else 1.0)
    inner[0] = Frame(
        r=node.d, columns=node.coords, weights=node.lam, lengths=node.lengths, names=node.names,
        constant=max(node.error - sum_top(node.lam, node.d, node.d), 0.0), total=frame.total,
        allowance=frame.allowance, growth=node.growth, power=frame.power,
    )


cdef size_t _explore_doubles(size_t r, size_t n, size_t j, size_t t) noexcept nogil:
    """Doubles for _explore and everything below it: at most n candidates at every node."""
    cdef size_t level = node_size(max(r, n), n, max(j, 1), t) + 2 * n + 2 * n * n + t
    cdef size_t listed = 2 * (n + 1) * (n + 1) + 4 * n
    return t * (level + listed) + listed


cdef class FrobeniusBrancher:
    """Expands nodes of the column-subset search for one reduced problem.

    Row i of ``columns`` (n, r) holds column i of the data in a basis where the target's second
    moment is diagonal, ``weights`` that diagonal, ``constant`` the error that no column can
    reduce. ``allowance`` is taken from every bound for rounding, before it grows; ``power`` is 2
    if the columns come from their Gram matrix: see :mod:`columnist.selection._frame`.
    """

    cdef double[:, ::1] columns
    cdef double[::1] weights, lengths
    cdef int[::1] names
    cdef Frame frame

    def __init__(self, double[:, ::1] columns, double[::1] weights, double constant,
                 double allowance, int power=1):
        self.columns = columns
        self.weights = weights
        self.lengths = np.linalg.norm(np.asarray(columns), axis=1)
        self.names = np.arange(columns.shape[0], dtype=np.int32)
        self.frame = Frame(
            r=columns.shape[1], columns=&self.columns[0, 0], weights=&self.weights[0],
            lengths=&self.lengths[0], names=&self.names[0], constant=constant,
            total=np.sum(weights) + constant, allowance=allowance, growth=1.0, power=power,
        )

    def children(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                 Workspace space, double budget=0.0, int n_best=1):
        """Children of a node with t >= 1 columns to choose, in the order of the partition. Those
        whose bound reaches ``threshold`` are left out. ``budget`` operations are spent on exploring
        the others at once (t >= 4), to report ``n_best`` complete sets."""
        cdef int m = candidates.shape[0], n = 0
        cdef double total = budget
        cdef Node node
        cdef Search search
        errors, charges, items = self._begin(&search, space, chosen, m, t, threshold, n_best,
                                             budget)
        if m < t:
            none = np.empty(0, dtype=np.int32)
            return Children(INFINITY, none, errors[:0], errors[:0], errors[:0], items[:0],
                            (0, 0, 0), none, charges[:0], INFINITY, False)
        with nogil:
            self._node(&node, &search, &candidates[0], m, t)
            n = filtered(&node, threshold)
            search.doubtful = node.doubtful
            space.last = node
            space.last.n = n
            if 4 <= t <= MAX_DEPTH and 0 < n <= EXPLORED and node.d > 0 and total > 0.0:
                _explore_children(&search, &node, &total)
            else:
                sort_by(node.f, node.order, n)
        order = np.array(<int[:m]> node.order)[:n]
        return Children(node.bound, np.asarray(<int[:m]> node.kept)[order],
                        np.asarray(<double[:m]> node.f)[order],
                        np.asarray(<double[:m]> node.u)[order],
                        errors[:search.best.count], items[:search.best.count],
                        (search.nodes, search.resolved, search.unresolved), order,
                        charges[:search.best.count], search.best.floor,
                        bool(search.doubtful or search.exact.doubtful))

    def additions(self, int[::1] chosen, int[::1] candidates, Workspace space):
        """Error of ``chosen`` alone, of ``chosen`` plus each candidate, rounding of the first."""
        cdef int n = candidates.shape[0], j = chosen.shape[0], r = self.frame.r, c, i
        cdef double error, length, energy, square, charge = INFINITY
        cdef double* column
        cdef Node node
        errors = np.empty(n)
        cdef double[::1] out = errors
        self._reserve(space, n, j, 4)
        with nogil:
            lay_out(&node, &self.frame, &chosen[0], j, &candidates[0], n, 1, space.memory,
                    space.integers)
            error = chosen_error(&node)
            if not node.doubtful:
                charge = charge_of(&node, 1.0, error)
            gather(&self.frame, node.kept, n, node.coords)
            if node.j > 0 and n > 0:
                project_out(&node, node.coords, n)
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
        return error, errors, charge

    def completions(self, int[::1] chosen, int[::1] candidates, int t, double threshold,
                    int n_best, Workspace space, double budget):
        """The best ``n_best`` completions of a node by two or three columns, in closed form.

        Not ``finished`` if ``budget`` operations beyond those of the node did not suffice.
        """
        cdef int n = candidates.shape[0]
        cdef double bound = 0.0
        cdef Node node
        cdef Search search
        errors, charges, items = self._begin(&search, space, chosen, n, t, threshold, n_best,
                                             budget + _operations(self.frame.r, n, t))
        with nogil:
            if n >= t and t == 2:
                self._node(&node, &search, &candidates[0], n, 2)
                scan_node_pairs(&search, &node)
            elif n >= t:
                _explore(&search, &self.frame, search.exact.chosen, search.n_base, &candidates[0],
                         n, 3, search.exact.memory, search.exact.integers, &bound)
        return Completions(errors[:search.best.count], items[:search.best.count],
                           search.budget >= 0.0, charges[:search.best.count], search.best.floor,
                           bool(search.doubtful or search.exact.doubtful))

    cdef void _node(self, Node* node, const Search* search, const int* candidates, int n,
                    int t) noexcept nogil:
        """Lay out the node of a search, behind what evaluating complete sets needs."""
        lay_out(node, &self.frame, search.exact.chosen, search.n_base, candidates, n, t,
                search.exact.memory, search.exact.integers)

    cdef tuple _begin(self, Search* search, Workspace space, int[::1] chosen, int n, int t,
                      double threshold, int n_best, double budget):
        """Prepare a search for complete sets; returns what receives errors, charges, items.

        Sets aside, at the start of the workspace, what evaluating complete sets needs.
        """
        cdef int j = chosen.shape[0], size = j + t, capacity = n_best + SPARE, i
        errors, charges = np.empty(capacity), np.empty(capacity)
        items = np.empty((capacity, t), dtype=np.int32)
        cdef double[::1] errors_view = errors, charges_view = charges
        cdef int[:, ::1] items_view = items
        self._reserve(space, n, j, t)
        memset(search, 0, sizeof(Search))
        search.best = Best(
            count=0, wanted=n_best, capacity=capacity, width=t, error=&errors_view[0],
            charge=&charges_view[0], items=&items_view[0, 0], floor=INFINITY,
        )
        search.limit = threshold
        search.allowance = self.frame.allowance
        search.budget = budget
        search.n_base = j
        search.path = space.integers + j
        for i in range(j):
            space.integers[i] = chosen[i]
        lay_out(&search.exact, &self.frame, space.integers, size, NULL, 0, 1, space.memory,
                space.integers + size)
        return errors, charges, items

    cdef int _reserve(self, Workspace space, int n, int j, int t) except -1:
        # Filtering may shorten a long list to one that is explored, in as many dimensions at most.
        cdef size_t r = self.frame.r, explored = min(n, EXPLORED)
        cdef size_t doubles = (node_size(r, 0, j + t, 1) + node_size(r, n, j, t)
                               + 6 * <size_t> n)
        cdef size_t integers = 2 * (j + t) + 3 + 5 * r + 16 * n + 8 * r + 16 + j
        if n > EXPLORED and t < 4:
            doubles += 2 * <size_t> n * n
        elif t <= MAX_DEPTH:
            doubles += _explore_doubles(explored, explored, 1, t)
            integers += (t + 2) * (20 * explored + 8 * r + 32 + j)
        return space.reserve(doubles, integers)
