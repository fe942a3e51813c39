# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False
r"""Residuals and singular values in double-double arithmetic.

A number is the unevaluated sum of two doubles, hi + lo with \|lo\| at most half a unit in the last
place of hi, which carries about 32 digits on every machine (a C long double is plain double on some).
Sums and products are made of the error-free transformations of Knuth and Dekker; no fused
multiply-add is needed.

Matrices are pairs of arrays whose *rows* are the vectors. Projections are modified Gram-Schmidt with
a second pass; singular values come from one-sided Jacobi rotations, which keep small ones
accurate beside large ones. Nothing here forms a Gram matrix.

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
    cdef DD q, rest, digit
    cdef double second, third
    digit.lo = 0.0
    digit.hi = a.hi / b.hi
    rest = _add(a, _negative(_multiply(digit, b)))
    q = digit
    digit.hi = second = rest.hi / b.hi
    rest = _add(rest, _negative(_multiply(digit, b)))
    third = rest.hi / b.hi
    q = _quick_sum(q.hi, second)
    digit.hi = third
    return _add(q, digit)


cdef inline DD _root(DD a) noexcept nogil:
    """Square root: one Newton step from that of the leading part."""
    cdef DD x, rest
    if a.hi <= 0.0:
        x.hi = x.lo = 0.0
        return x
    x.hi = sqrt(a.hi)
    x.lo = 0.0
    rest = _add(a, _negative(_multiply(x, x)))
    return _quick_sum(x.hi, rest.hi / (2.0 * x.hi))


cdef DD _dot(const double* a, const double* a_lo, const double* b, const double* b_lo,
             Py_ssize_t n) noexcept nogil:
    cdef DD total, x, y
    cdef Py_ssize_t i
    total.hi = total.lo = 0.0
    for i in range(n):
        x.hi, x.lo = a[i], a_lo[i]
        y.hi, y.lo = b[i], b_lo[i]
        total = _add(total, _multiply(x, y))
    return total


cdef void _subtract(double* y, double* y_lo, DD factor, const double* x, const double* x_lo,
                    Py_ssize_t n) noexcept nogil:
    """y -= factor x."""
    cdef DD a, b
    cdef Py_ssize_t i
    factor = _negative(factor)
    for i in range(n):
        a.hi, a.lo = x[i], x_lo[i]
        b.hi, b.lo = y[i], y_lo[i]
        b = _add(b, _multiply(factor, a))
        y[i], y_lo[i] = b.hi, b.lo


cdef void _rotate(double* x, double* x_lo, double* y, double* y_lo, DD c, DD s,
                  Py_ssize_t n) noexcept nogil:
    """x, y = c x - s y, s x + c y."""
    cdef DD a, b, left, right
    cdef Py_ssize_t i
    for i in range(n):
        a.hi, a.lo = x[i], x_lo[i]
        b.hi, b.lo = y[i], y_lo[i]
        left = _add(_multiply(c, a), _negative(_multiply(s, b)))
        right = _add(_multiply(s, a), _multiply(c, b))
        x[i], x_lo[i] = left.hi, left.lo
        y[i], y_lo[i] = right.hi, right.lo


cdef DD _plain(double value) noexcept nogil:
    cdef DD result
    result.hi = value
    result.lo = 0.0
    return result


cdef void _swap(double* a, double* b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double other
    for i in range(n):
        other = a[i]
        a[i] = b[i]
        b[i] = other


cdef Py_ssize_t _orthonormalise(double* q, double* q_lo, Py_ssize_t count, Py_ssize_t n,
                                double dependent, double* lengths,
                                double* heights) noexcept nogil:
    """Orthonormal basis of the rows in place; returns how many stay.

    The row with the largest share of its length left is next: so the order in which rows are
    given does not matter, and those that are left out depend on the others if any do. They end
    with a share of at most ``dependent``. ``heights`` receives the shares in order, ``lengths`` is
    scratch.
    """
    cdef Py_ssize_t i, j, at, best, kept = 0
    cdef DD height, scale, entry
    cdef double share, largest
    for i in range(count):
        at = i * n
        lengths[i] = _root(_dot(q + at, q_lo + at, q + at, q_lo + at, n)).hi
    while kept < count:
        best, largest = kept, -1.0
        for i in range(kept, count):
            at = i * n
            height = _root(_dot(q + at, q_lo + at, q + at, q_lo + at, n))
            share = height.hi / lengths[i] if lengths[i] > 0.0 else 0.0
            if share > largest:
                best, largest = i, share
        heights[kept] = largest
        if not largest > dependent:
            return kept
        if best != kept:
            _swap(q + best * n, q + kept * n, n)
            _swap(q_lo + best * n, q_lo + kept * n, n)
            _swap(lengths + best, lengths + kept, 1)
        at = kept * n
        for j in range(kept):  # the second pass restores orthogonality
            scale = _dot(q + j * n, q_lo + j * n, q + at, q_lo + at, n)
            _subtract(q + at, q_lo + at, scale, q + j * n, q_lo + j * n, n)
        height = _root(_dot(q + at, q_lo + at, q + at, q_lo + at, n))
        scale = _divide(_plain(1.0), height)
        for j in range(n):
            entry.hi, entry.lo = q[at + j], q_lo[at + j]
            entry = _multiply(entry, scale)
            q[at + j], q_lo[at + j] = entry.hi, entry.lo
        for i in range(kept + 1, count):
            scale = _dot(q + at, q_lo + at, q + i * n, q_lo + i * n, n)
            _subtract(q + i * n, q_lo + i * n, scale, q + at, q_lo + at, n)
        kept += 1
    return kept


def residual(columns, target, double dependent=1e-13):
    """What projecting on some vectors leaves of others.

    Parameters
    ----------
    columns, target : tuple of two ndarrays of shape (k, m) and (q, m)
        Leading and trailing parts of the vectors to project on, and of those that are projected.
    dependent : float, default=1e-13
        A vector whose part outside the others is at most this share of its length adds
        nothing: so much of it is the rounding of the data themselves.

    Returns
    -------
    rest : tuple of two ndarrays of shape (q, m)
    heights : ndarray of shape (k,)
        Shares of their lengths by which vectors, the best one next, lie outside those before.
    """
    cdef double[:, ::1] q = np.array(columns[0], dtype=np.float64, order="C")
    cdef double[:, ::1] q_lo = np.array(columns[1], dtype=np.float64, order="C")
    hi = np.array(target[0], dtype=np.float64, order="C")
    lo = np.array(target[1], dtype=np.float64, order="C")
    heights, lengths = np.zeros(q.shape[0]), np.zeros(q.shape[0])
    cdef double[::1] scratch = lengths
    cdef double[:, ::1] rest = hi
    cdef double[:, ::1] rest_lo = lo
    cdef double[::1] seen = heights
    cdef Py_ssize_t k = q.shape[0], n = q.shape[1], i, j
    cdef DD scale
    if k == 0 or n == 0 or rest.shape[0] == 0:
        return (hi, lo), heights
    with nogil:
        k = _orthonormalise(&q[0, 0], &q_lo[0, 0], k, n, dependent, &scratch[0], &seen[0])
        for i in range(rest.shape[0]):
            for j in range(k):
                scale = _dot(&q[j, 0], &q_lo[j, 0], &rest[i, 0], &rest_lo[i, 0], n)
                _subtract(&rest[i, 0], &rest_lo[i, 0], scale, &q[j, 0], &q_lo[j, 0], n)
    return (hi, lo), heights


cdef void _subtract_plain(double* total, double* rest, double factor, const double* x,
                          Py_ssize_t n) noexcept nogil:
    """total + rest -= factor x, for plain numbers; without branches, so that compilers take several
    entries at a time."""
    cdef double t, f_hi, f_lo, x_hi, x_lo, p, p_lo, s, part
    cdef Py_ssize_t i
    factor = -factor
    t = 134217729.0 * factor
    f_hi = t - (t - factor)
    f_lo = factor - f_hi
    for i in range(n):
        t = 134217729.0 * x[i]
        x_hi = t - (t - x[i])
        x_lo = x[i] - x_hi
        p = factor * x[i]
        p_lo = ((f_hi * x_hi - p) + f_hi * x_lo + f_lo * x_hi) + f_lo * x_lo
        s = total[i] + p
        part = s - total[i]
        rest[i] += ((total[i] - (s - part)) + (p - part)) + p_lo
        total[i] = s


def combined(const double[:, ::1] columns, const double[:, ::1] target,
             const double[:, ::1] coefficients):
    """Target vectors less combinations of others, as if computed in twice the precision and then
    rounded.

    Parameters
    ----------
    columns, target : ndarray of shape (k, m) and (q, m)
        Vectors.
    coefficients : ndarray of shape (q, k)
        Row i is for target i.

    Returns
    -------
    ndarray of shape (q, m)
    """
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
    """Vectors less their means.

    Parameters
    ----------
    X : tuple of two ndarrays of shape (q, m)
        Leading and trailing parts.

    Returns
    -------
    tuple of two ndarrays of shape (q, m)
    """
    hi = np.array(X[0], dtype=np.float64, order="C")
    lo = np.array(X[1], dtype=np.float64, order="C")
    cdef double[:, ::1] x = hi
    cdef double[:, ::1] x_lo = lo
    cdef Py_ssize_t i, j, n = x.shape[1]
    cdef DD mean, entry
    if n == 0:
        return hi, lo
    with nogil:
        for i in range(x.shape[0]):
            mean.hi = mean.lo = 0.0
            for j in range(n):
                entry.hi, entry.lo = x[i, j], x_lo[i, j]
                mean = _add(mean, entry)
            mean = _negative(_divide(mean, _plain(<double> n)))
            for j in range(n):
                entry.hi, entry.lo = x[i, j], x_lo[i, j]
                entry = _add(entry, mean)
                x[i, j], x_lo[i, j] = entry.hi, entry.lo
    return hi, lo


def squares(X):
    """Squared length of every vector, rounded to double once.

    Parameters
    ----------
    X : tuple of two ndarrays of shape (q, m)
        Leading and trailing parts.

    Returns
    -------
    ndarray of shape (q,)
    """
    cdef double[:, ::1] x = np.ascontiguousarray(X[0], dtype=np.float64)
    cdef double[:, ::1] x_lo = np.ascontiguousarray(X[1], dtype=np.float64)
    result = np.zeros(x.shape[0])
    cdef double[::1] out = result
    cdef Py_ssize_t i, n = x.shape[1]
    if n == 0:
        return result
    with nogil:
        for i in range(x.shape[0]):
            out[i] = _dot(&x[i, 0], &x_lo[i, 0], &x[i, 0], &x_lo[i, 0], n).hi
    return result


cdef bint _sweep(double[:, ::1] x, double[:, ::1] x_lo) noexcept nogil:
    """Rotate every pair of vectors until they are orthogonal; whether any rotation was needed."""
    cdef Py_ssize_t i, j, n = x.shape[1]
    cdef DD own, other, inner, c, s, tangent
    cdef double ratio, t
    cdef bint moved = False
    for i in range(x.shape[0] - 1):
        for j in range(i + 1, x.shape[0]):
            own = _dot(&x[i, 0], &x_lo[i, 0], &x[i, 0], &x_lo[i, 0], n)
            other = _dot(&x[j, 0], &x_lo[j, 0], &x[j, 0], &x_lo[j, 0], n)
            inner = _dot(&x[i, 0], &x_lo[i, 0], &x[j, 0], &x_lo[j, 0], n)
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
            s = _multiply(c, tangent)
            _rotate(&x[i, 0], &x_lo[i, 0], &x[j, 0], &x_lo[j, 0], c, s, n)
    return moved


def singular_values(X):
    """Singular values of the matrix whose rows are these vectors, descending, as doubles.

    Parameters
    ----------
    X : tuple of two ndarrays of shape (q, m)
        Leading and trailing parts.

    Returns
    -------
    ndarray of shape (min(q, m),)
    """
    if X[0].shape[0] > X[0].shape[1]:
        X = (X[0].T, X[1].T)
    hi = np.array(X[0], dtype=np.float64, order="C")
    lo = np.array(X[1], dtype=np.float64, order="C")
    cdef double[:, ::1] x = hi
    cdef double[:, ::1] x_lo = lo
    cdef int turn
    if hi.size == 0:
        return np.zeros(0)
    with nogil:
        for turn in range(SWEEPS):
            if not _sweep(x, x_lo):
                break
    return np.sort(np.sqrt(squares((hi, lo))))[::-1]


def cholesky(G, double least=1e-13):
    """Vectors with the inner products G, in double-double arithmetic.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Symmetric and positive semi-definite up to rounding.
    least : float, default=1e-13
        Share of a squared length below which what is left of it is the rounding of G.

    Returns
    -------
    tuple of two ndarrays of shape (n, n)
        Row i is vector i.
    """
    cdef double[:, ::1] g = np.array(G, dtype=np.float64, order="C")
    cdef Py_ssize_t n = g.shape[0], i, j, step, best
    hi, lo = np.array(g), np.zeros((n, n))
    out_hi, out_lo = np.zeros((n, n)), np.zeros((n, n))
    cdef double[:, ::1] a = hi
    cdef double[:, ::1] a_lo = lo
    cdef double[:, ::1] out = out_hi
    cdef double[:, ::1] out_rest = out_lo
    diagonal = np.diag(hi).copy()
    cdef double[::1] first = diagonal
    cdef unsigned char[::1] done = np.zeros(n, dtype=np.uint8)
    cdef DD pivot, factor, entry, other
    cdef double share, largest
    with nogil:
        for step in range(n):
            best = -1
            largest = least
            for i in range(n):  # the column with the largest share of its length left
                if not done[i] and first[i] > 0.0:
                    share = a[i, i] / first[i]
                    if share > largest:
                        largest = share
                        best = i
            if best < 0:
                break
            done[best] = 1
            pivot.hi, pivot.lo = a[best, best], a_lo[best, best]
            pivot = _divide(_plain(1.0), _root(pivot))
            for i in range(n):
                entry.hi, entry.lo = a[i, best], a_lo[i, best]
                if done[i] and i != best:
                    entry.hi = entry.lo = 0.0
                entry = _multiply(entry, pivot)
                out[i, step], out_rest[i, step] = entry.hi, entry.lo
            for i in range(n):
                if done[i]:
                    continue
                factor.hi, factor.lo = out[i, step], out_rest[i, step]
                factor = _negative(factor)
                for j in range(n):
                    if done[j]:
                        continue
                    other.hi, other.lo = out[j, step], out_rest[j, step]
                    entry.hi, entry.lo = a[i, j], a_lo[i, j]
                    entry = _add(entry, _multiply(factor, other))
                    a[i, j], a_lo[i, j] = entry.hi, entry.lo
    return out_hi, out_lo
