# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Residuals and singular values in double-double arithmetic.

A number is the unevaluated sum of two doubles, hi + lo with \|lo\| at most half a unit in the last
place of hi, which carries about 32 digits on every machine (a C long double is plain double on some).
Sums and products are made of the error-free transformations of Knuth and Dekker; no fused
multiply-add is needed.

Matrices are pairs of arrays, leading and trailing parts, whose *rows* are the vectors. Projections
are modified Gram-Schmidt with a second pass; singular values come from one-sided Jacobi rotations,
which keep small ones accurate beside large ones. Nothing here forms a Gram matrix.

No input validation. Entries must be near 1 in size (callers divide by a power of two): the second
halves of products below 1e-290 vanish.
"""

from libc.math cimport fabs, sqrt

import numpy as np

# Rotations smaller than this (relative) are not needed: what they change is of second order.
cdef double ROTATION = 1e-20
# Sweeps after which Jacobi rotations have long converged.
cdef int SWEEPS = 60
# Entries that are worked on at a time, so that they stay near the processor.
cdef Py_ssize_t BLOCK = 256


cdef struct DD:
    double hi
    double lo


cdef struct Row:  # a vector: leading and trailing parts of its entries
    double* hi
    double* lo


cdef inline DD _plain(double value) noexcept nogil:
    cdef DD result
    result.hi = value
    result.lo = 0.0
    return result


cdef inline DD _quick_sum(double a, double b) noexcept nogil:
    """a + b without error, for abs(a) >= abs(b)."""
    cdef DD s
    s.hi = a + b
    s.lo = b - (s.hi - a)
    return s


cdef inline DD _sum(double a, double b) noexcept nogil:
    """a + b without error."""
    cdef DD s
    cdef double part
    s.hi = a + b
    part = s.hi - a
    s.lo = (a - (s.hi - part)) + (b - part)
    return s


cdef inline DD _product(double a, double b) noexcept nogil:
    """a * b without error."""
    cdef DD p
    cdef double t, a_hi, a_lo, b_hi, b_lo
    t = 134217729.0 * a
    a_hi = t - (t - a)
    a_lo = a - a_hi
    t = 134217729.0 * b
    b_hi = t - (t - b)
    b_lo = b - b_hi
    p.hi = a * b
    p.lo = ((a_hi * b_hi - p.hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo
    return p


cdef inline DD _add(DD a, DD b) noexcept nogil:
    cdef DD s = _sum(a.hi, b.hi), t = _sum(a.lo, b.lo)
    s = _quick_sum(s.hi, s.lo + t.hi)
    return _quick_sum(s.hi, s.lo + t.lo)


cdef inline DD _negative(DD a) noexcept nogil:
    a.hi = -a.hi
    a.lo = -a.lo
    return a


cdef inline DD _multiply(DD a, DD b) noexcept nogil:
    cdef DD p = _product(a.hi, b.hi)
    return _quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi))


cdef inline DD _divide(DD a, DD b) noexcept nogil:
    """One step of long division beyond double precision, twice."""
    cdef DD first = _plain(a.hi / b.hi), second, rest
    rest = _add(a, _negative(_multiply(first, b)))
    second = _plain(rest.hi / b.hi)
    rest = _add(rest, _negative(_multiply(second, b)))
    return _add(_quick_sum(first.hi, second.hi), _plain(rest.hi / b.hi))


cdef inline DD _root(DD a) noexcept nogil:
    """Square root: one Newton step from that of the leading part."""
    cdef DD x, rest
    if a.hi <= 0.0:
        return _plain(0.0)
    x = _plain(sqrt(a.hi))
    rest = _add(a, _negative(_multiply(x, x)))
    return _quick_sum(x.hi, rest.hi / (2.0 * x.hi))


cdef inline DD _get(Row x, Py_ssize_t i) noexcept nogil:
    cdef DD entry
    entry.hi = x.hi[i]
    entry.lo = x.lo[i]
    return entry


cdef inline void _set(Row x, Py_ssize_t i, DD entry) noexcept nogil:
    x.hi[i] = entry.hi
    x.lo[i] = entry.lo


cdef inline Row _row(double[:, ::1] hi, double[:, ::1] lo, Py_ssize_t i) noexcept nogil:
    cdef Row x
    x.hi = &hi[i, 0]
    x.lo = &lo[i, 0]
    return x


cdef DD _dot(Row a, Row b, Py_ssize_t n) noexcept nogil:
    cdef DD total = _plain(0.0)
    cdef Py_ssize_t i
    for i in range(n):
        total = _add(total, _multiply(_get(a, i), _get(b, i)))
    return total


cdef void _subtract(Row y, DD factor, Row x, Py_ssize_t n) noexcept nogil:
    """y -= factor x."""
    cdef Py_ssize_t i
    factor = _negative(factor)
    for i in range(n):
        _set(y, i, _add(_get(y, i), _multiply(factor, _get(x, i))))


cdef void _rotate(Row x, Row y, DD c, DD s, Py_ssize_t n) noexcept nogil:
    """x, y = c x - s y, s x + c y."""
    cdef DD a, b
    cdef Py_ssize_t i
    for i in range(n):
        a, b = _get(x, i), _get(y, i)
        _set(x, i, _add(_multiply(c, a), _negative(_multiply(s, b))))
        _set(y, i, _add(_multiply(s, a), _multiply(c, b)))


cdef void _swap(Row a, Row b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef DD other
    for i in range(n):
        other = _get(a, i)
        _set(a, i, _get(b, i))
        _set(b, i, other)


cdef Py_ssize_t _orthonormalise(double[:, ::1] hi, double[:, ::1] lo, double dependent,
                                double[::1] lengths, double[::1] heights) noexcept nogil:
    """Orthonormal basis of the rows in place; returns how many stay. The row with the largest share
    of its length left is next: so the order in which rows are given does not matter, and those that
    are left out depend on the others if any do. They end with a share of at most ``dependent``.
    ``heights`` receives the shares in order, ``lengths`` is scratch."""
    cdef Py_ssize_t i, j, best, kept = 0, count = hi.shape[0], n = hi.shape[1]
    cdef Row q, other
    cdef DD scale
    cdef double share, largest
    for i in range(count):
        q = _row(hi, lo, i)
        lengths[i] = _root(_dot(q, q, n)).hi
    while kept < count:
        best, largest = kept, -1.0
        for i in range(kept, count):
            q = _row(hi, lo, i)
            share = _root(_dot(q, q, n)).hi / lengths[i] if lengths[i] > 0.0 else 0.0
            if share > largest:
                best, largest = i, share
        heights[kept] = largest
        if not largest > dependent:
            return kept
        q = _row(hi, lo, kept)
        if best != kept:
            _swap(_row(hi, lo, best), q, n)
            lengths[best], lengths[kept] = lengths[kept], lengths[best]
        for j in range(kept):  # the second pass restores orthogonality
            other = _row(hi, lo, j)
            _subtract(q, _dot(other, q, n), other, n)
        scale = _divide(_plain(1.0), _root(_dot(q, q, n)))
        for j in range(n):
            _set(q, j, _multiply(_get(q, j), scale))
        for i in range(kept + 1, count):
            other = _row(hi, lo, i)
            _subtract(other, _dot(q, other, n), q, n)
        kept += 1
    return kept


def _copied(X):
    """Both parts as arrays of our own."""
    return tuple(np.array(part, dtype=np.float64, order="C") for part in X)


def residual(columns, target, double dependent=1e-13):
    """What projecting on vectors (k x m) leaves of others (q x m), both in two parts. A vector
    whose part outside the others is at most ``dependent`` of its length adds nothing: so much is
    the rounding of the data themselves. Also returns the shares of their lengths by which vectors,
    the best one next, lie outside those before."""
    parts, rests = _copied(columns), _copied(target)
    heights = np.zeros(len(parts[0]))
    cdef double[:, ::1] hi = parts[0], lo = parts[1], rest_hi = rests[0], rest_lo = rests[1]
    cdef double[::1] scratch = np.zeros(len(parts[0])), seen = heights
    cdef Py_ssize_t k, n = hi.shape[1], i, j
    cdef Row q, rest
    if hi.shape[0] == 0 or n == 0 or rest_hi.shape[0] == 0:
        return rests, heights
    with nogil:
        k = _orthonormalise(hi, lo, dependent, scratch, seen)
        for i in range(rest_hi.shape[0]):
            rest = _row(rest_hi, rest_lo, i)
            for j in range(k):
                q = _row(hi, lo, j)
                _subtract(rest, _dot(q, rest, n), q, n)
    return rests, heights


cdef void _subtract_plain(double* total, double* rest, double factor, const double* x,
                          Py_ssize_t n) noexcept nogil:
    """total + rest -= factor x, for plain numbers; without branches, so that compilers take several
    entries at a time."""
    cdef DD product, s
    cdef Py_ssize_t i
    for i in range(n):
        product = _product(-factor, x[i])
        s = _sum(total[i], product.hi)
        rest[i] += s.lo + product.lo
        total[i] = s.hi


def combined(const double[:, ::1] columns, const double[:, ::1] target,
             const double[:, ::1] coefficients):
    """Target vectors (q x m) less combinations of columns (k x m) by coefficients (q x k), as if
    computed in twice the precision and then rounded."""
    result = np.array(target)
    cdef double[:, ::1] total = result
    cdef double[::1] rest = np.zeros(BLOCK)
    cdef Py_ssize_t m = target.shape[1], start = 0, width, i, j
    if result.size == 0:
        return result
    with nogil:
        while start < m:
            width = min(BLOCK, m - start)
            for i in range(target.shape[0]):
                for j in range(width):
                    rest[j] = 0.0
                for j in range(columns.shape[0]):
                    _subtract_plain(&total[i, start], &rest[0], coefficients[i, j],
                                    &columns[j, start], width)
                for j in range(width):
                    total[i, start + j] += rest[j]
            start += width
    return result


def centered(X):
    """Vectors (q x m, in two parts) less their means."""
    parts = _copied(X)
    cdef double[:, ::1] hi = parts[0], lo = parts[1]
    cdef Py_ssize_t i, j, n = hi.shape[1]
    cdef Row x
    cdef DD mean
    if n == 0:
        return parts
    with nogil:
        for i in range(hi.shape[0]):
            x, mean = _row(hi, lo, i), _plain(0.0)
            for j in range(n):
                mean = _add(mean, _get(x, j))
            mean = _negative(_divide(mean, _plain(<double> n)))
            for j in range(n):
                _set(x, j, _add(_get(x, j), mean))
    return parts


def squares(X):
    """Squared length of every vector (q x m, in two parts), rounded to double once."""
    cdef double[:, ::1] hi = np.ascontiguousarray(X[0], dtype=np.float64)
    cdef double[:, ::1] lo = np.ascontiguousarray(X[1], dtype=np.float64)
    result = np.zeros(hi.shape[0])
    cdef double[::1] out = result
    cdef Py_ssize_t i, n = hi.shape[1]
    cdef Row x
    if n == 0:
        return result
    with nogil:
        for i in range(hi.shape[0]):
            x = _row(hi, lo, i)
            out[i] = _dot(x, x, n).hi
    return result


cdef bint _sweep(double[:, ::1] hi, double[:, ::1] lo) noexcept nogil:
    """Rotate every pair of vectors until they are orthogonal; whether any rotation was needed."""
    cdef Py_ssize_t i, j, n = hi.shape[1]
    cdef Row x, y
    cdef DD own, other, inner, c, tangent
    cdef double ratio, t
    cdef bint moved = False
    for i in range(hi.shape[0] - 1):
        x = _row(hi, lo, i)
        for j in range(i + 1, hi.shape[0]):
            y = _row(hi, lo, j)
            own, other, inner = _dot(x, x, n), _dot(y, y, n), _dot(x, y, n)
            if inner.hi == 0.0 or fabs(inner.hi) <= ROTATION * sqrt(own.hi) * sqrt(other.hi):
                continue
            moved = True
            ratio = (_add(other, _negative(own)).hi) / (2.0 * inner.hi)
            t = 1.0 / (fabs(ratio) + sqrt(1.0 + ratio * ratio))
            if ratio < 0.0:
                t = -t
            # Any t makes a rotation, but c and s must belong together to the last digit.
            tangent = _plain(t)
            c = _divide(_plain(1.0), _root(_add(_plain(1.0), _multiply(tangent, tangent))))
            _rotate(x, y, c, _multiply(c, tangent), n)
    return moved


def singular_values(X):
    """Singular values of the matrix (in two parts) as doubles, descending: min(q, m) of them."""
    if X[0].shape[0] > X[0].shape[1]:
        X = (X[0].T, X[1].T)
    parts = _copied(X)
    cdef double[:, ::1] hi = parts[0], lo = parts[1]
    cdef int turn
    if parts[0].size == 0:
        return np.zeros(0)
    with nogil:
        for turn in range(SWEEPS):
            if not _sweep(hi, lo):
                break
    return np.sort(np.sqrt(squares(parts)))[::-1]


def cholesky(G, double least=1e-13):
    """Vectors, one a row, with the inner products G (positive semi-definite up to rounding).

    What is left of a squared length below its share ``least`` is the rounding of G.
    """
    parts = _copied((G, np.zeros_like(G)))
    found = np.zeros_like(parts[0]), np.zeros_like(parts[0])
    cdef double[:, ::1] hi = parts[0], lo = parts[1], out_hi = found[0], out_lo = found[1]
    cdef Py_ssize_t n = hi.shape[0], i, j, step, best
    cdef double[::1] first = np.diag(parts[0]).copy()
    cdef unsigned char[::1] done = np.zeros(n, dtype=np.uint8)
    cdef Row a, out
    cdef DD pivot, factor, entry
    cdef double share, largest
    with nogil:
        for step in range(n):
            best = -1
            largest = least
            for i in range(n):  # the column with the largest share of its length left
                if not done[i] and first[i] > 0.0:
                    share = hi[i, i] / first[i]
                    if share > largest:
                        largest = share
                        best = i
            if best < 0:
                break
            done[best] = 1
            pivot = _divide(_plain(1.0), _root(_get(_row(hi, lo, best), best)))
            for i in range(n):
                entry = _get(_row(hi, lo, i), best)
                if done[i] and i != best:
                    entry = _plain(0.0)
                _set(_row(out_hi, out_lo, i), step, _multiply(entry, pivot))
            for i in range(n):
                if done[i]:
                    continue
                a = _row(hi, lo, i)
                factor = _negative(_get(_row(out_hi, out_lo, i), step))
                for j in range(n):
                    if not done[j]:
                        out = _row(out_hi, out_lo, j)
                        _set(a, j, _add(_get(a, j), _multiply(factor, _get(out, step))))
    return found
