# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, embedsignature=False
"""Eigenvalues of ``diag(d) - z z'``, a diagonal matrix downdated by one vector.

The matrix enters only through its *poles* ``d[j]`` and *weights* ``w[j] = z[j]**2``. After
zero weights are dropped and equal poles merged, the eigenvalues are the roots of

    g(x) = 1 - sum_j w[j] / (d[j] - x),

one below each pole ``d[k]`` and above the next, ``d[k + 1]``. ``g`` decreases from
``+inf`` to ``-inf`` between the two. Every root is sought as a distance ``tau`` to the nearer
of its two poles, so it comes out with small *relative* error in that distance however
close it lies; the differences ``d[j] - x`` then carry no cancellation either.

One iteration is Gragg's: keep the two neighbouring poles with their own weights, and
replace all others by a constant plus extra weight at the neighbours, chosen to match
value, slope and curvature of their sum. The extra weights are never negative, so
the model decreases like ``g`` does and has exactly one root in the interval, given by a
quadratic equation. The order of convergence is three: about three evaluations of ``g``.
A bracket with (geometric) bisection catches what the model cannot do.

The last root has no pole below. It gets one without weight at ``d[n - 1] - 2 |z|**2``,
twice as far as the root can be, and is then a root like any other.
"""

import numpy as np

from libc.float cimport DBL_EPSILON, DBL_MAX, DBL_MIN
from libc.math cimport INFINITY, fabs, fmax, fmin, frexp, ldexp, sqrt

# The hot loop, in C for two reasons: compilers do not vectorise sums of doubles by
# themselves (it changes the order of the additions), and x86-64 wheels must run
# without AVX2 but should use it. All variants below add in the same order, four
# lanes over blocks of eight terms, so they agree to the last bit.
cdef extern from *:
    """
    /* Everything works on data scaled to |d| < 2^20 and sum |z| < 2^10, as far up as
       weight / gap allows: the room is for small numbers. */
    #define ROOM_EXPONENT 10
    #define WEIGHT_BOUND 0x1p20
    /* Weights and gaps below this count as zero. An eigenvalue moves by no more than
       the dropped weight or gap, and WEIGHT_BOUND / gap does not overflow. */
    #define NEGLIGIBLE 0x1p-1000
    /* A place above all poles and roots for terms that must not count. */
    #define PARKED 0x1p22
    /* 4**e and 4**-e must be normal numbers. */
    #define MAX_EXPONENT 510
    /* Third order: a relative step this small leaves an error near its cube, 1e-18. */
    #define SMALL_STEP 1e-6
    /* Terms beyond this may overflow when squared, and must be divided. */
    #define LARGE_TERMS 1e150
    #define LARGE_DIVISOR 1e160
    #define MAX_ITERATIONS 150

    typedef struct { double s0, s1, s2; } secular_sums;

    #define SECULAR_ARGS const double *p, const double *w, Py_ssize_t size, \
                         double origin, double shift, double unit, secular_sums *out

    /* Terms at `i` and `i + 4`: w r, w r (u r) and w r (u r)^2 with u = unit and
       r = 1 / (p - origin - shift). As u |r| <= 1, higher powers do not overflow. */
    #define SECULAR_STEP(V, i, a0, a1, a2) do {                                  \
        V ra = 1.0 / ((*(const V *)(p + (i)) - origin) - shift);                 \
        V rb = 1.0 / ((*(const V *)(p + (i) + 4) - origin) - shift);             \
        V ta = *(const V *)(w + (i)) * ra, tb = *(const V *)(w + (i) + 4) * rb;  \
        a0 += ta + tb; ra *= unit; rb *= unit; ta *= ra; tb *= rb;               \
        a1 += ta + tb; ta *= ra; tb *= rb;                                       \
        a2 += ta + tb;                                                           \
    } while (0)

    #if defined(__GNUC__)
    /* `aligned` because the loads need not be; `may_alias` because of the casts. */
    typedef double secular_v2 __attribute__((vector_size(16), aligned(8), may_alias));

    static void secular_sums_base(SECULAR_ARGS) {
        secular_v2 a0 = {0}, a1 = {0}, a2 = {0}, b0 = {0}, b1 = {0}, b2 = {0};
        for (Py_ssize_t j = 0; j < size; j += 8) {
            SECULAR_STEP(secular_v2, j, a0, a1, a2);
            SECULAR_STEP(secular_v2, j + 2, b0, b1, b2);
        }
        out->s0 = (a0[0] + a0[1]) + (b0[0] + b0[1]);
        out->s1 = (a1[0] + a1[1]) + (b1[0] + b1[1]);
        out->s2 = (a2[0] + a2[1]) + (b2[0] + b2[1]);
    }
    #else
    static void secular_sums_base(SECULAR_ARGS) {
        double a[4][3] = {{0.0}};
        for (Py_ssize_t j = 0; j < size; j += 8)
            for (int l = 0; l < 4; l++)
                SECULAR_STEP(double, j + l, a[l][0], a[l][1], a[l][2]);
        out->s0 = (a[0][0] + a[1][0]) + (a[2][0] + a[3][0]);
        out->s1 = (a[0][1] + a[1][1]) + (a[2][1] + a[3][1]);
        out->s2 = (a[0][2] + a[1][2]) + (a[2][2] + a[3][2]);
    }
    #endif

    static void (*secular_eval)(SECULAR_ARGS) = secular_sums_base;

    #if defined(__GNUC__) && defined(__x86_64__)
    typedef double secular_v4 __attribute__((vector_size(32), aligned(8), may_alias));

    __attribute__((target("avx2"))) static void secular_sums_avx2(SECULAR_ARGS) {
        secular_v4 a0 = {0}, a1 = {0}, a2 = {0};
        for (Py_ssize_t j = 0; j < size; j += 8)
            SECULAR_STEP(secular_v4, j, a0, a1, a2);
        out->s0 = (a0[0] + a0[1]) + (a0[2] + a0[3]);
        out->s1 = (a1[0] + a1[1]) + (a1[2] + a1[3]);
        out->s2 = (a2[0] + a2[1]) + (a2[2] + a2[3]);
    }

    static void secular_use_wide(int wide) {
        secular_eval = wide && __builtin_cpu_supports("avx2")
            ? secular_sums_avx2 : secular_sums_base;
    }
    #else
    static void secular_use_wide(int wide) { (void)wide; }
    #endif
    """
    ctypedef struct secular_sums:
        double s0, s1, s2

    const double WEIGHT_BOUND
    const double NEGLIGIBLE
    const double PARKED
    const double SMALL_STEP
    const double LARGE_TERMS
    const double LARGE_DIVISOR
    const int ROOM_EXPONENT
    const int MAX_EXPONENT
    const int MAX_ITERATIONS

    void secular_use_wide(int wide) noexcept nogil
    void secular_eval(const double* p, const double* w, Py_ssize_t size, double origin,
                      double shift, double unit, secular_sums* out) noexcept nogil


secular_use_wide(1)

ctypedef struct Poles:
    double* p            # distinct poles, descending, padded to a multiple of 8
    double* w            # their weights, all positive; zero in the padding
    Py_ssize_t* slot     # last index in d of each pole; NULL if that is its own
    Py_ssize_t count     # number of poles
    Py_ssize_t padded
    double unscale       # multiplies a scaled eigenvalue


ctypedef struct Interval:
    double origin        # the pole from which tau is measured
    double side          # +1: root at origin - tau; -1: root at origin + tau
    double gap           # distance of the two poles
    double w_near, w_far
    double lo, hi        # bracket of tau


cdef inline Py_ssize_t padded_size(Py_ssize_t n) noexcept nogil:
    return (n + 7) & ~(<Py_ssize_t> 7)


cdef Py_ssize_t downdate_work_size(Py_ssize_t n) noexcept nogil:
    return 4 * n + 16


cdef double absolute_sum(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double a = 0.0, b = 0.0, c = 0.0, e = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= n:
        a += fabs(x[i])
        b += fabs(x[i + 1])
        c += fabs(x[i + 2])
        e += fabs(x[i + 3])
        i += 4
    while i < n:
        a += fabs(x[i])
        i += 1
    return (a + b) + (c + e)


cdef int scale_exponent(const double* d, const double* z, Py_ssize_t n) noexcept nogil:
    """``e`` such that ``z / 2**e`` and ``d / 4**e`` have the size described above."""
    cdef double size = fmax(fabs(d[0]), fabs(d[n - 1]))
    cdef int e
    size = fmin(fmax(sqrt(size), absolute_sum(z, n)), DBL_MAX)
    frexp(size, &e)
    return min(max(e - ROOM_EXPONENT, -MAX_EXPONENT), MAX_EXPONENT)


cdef Py_ssize_t scale_data(
    double* p, double* w, const double* d, const double* z, Py_ssize_t n, double scale
) noexcept nogil:
    """Fill ``p`` and ``w`` without deflation; return how many entries want it."""
    cdef double squared = scale * scale, pole, zi
    cdef Py_ssize_t i, wanting = 0
    for i in range(n - 1):
        zi = z[i] * scale
        pole = d[i] * squared
        p[i] = pole
        w[i] = zi * zi
        wanting += (zi * zi < NEGLIGIBLE) | (pole - d[i + 1] * squared < NEGLIGIBLE)
    zi = z[n - 1] * scale
    p[n - 1] = d[n - 1] * squared
    w[n - 1] = zi * zi
    return wanting + (zi * zi < NEGLIGIBLE)


cdef Py_ssize_t merge_poles(Poles* poles, Py_ssize_t n) noexcept nogil:
    """Merge equal poles and drop zero weights in place; return the number left. Of a group of equal
    poles the last index stands for all: the others are eigenvalues already, equal to both of the
    entries of ``d`` that enclose them."""
    cdef Py_ssize_t i, k = 0
    cdef double weight = 0.0
    for i in range(n):
        weight += poles.w[i]
        if i + 1 < n and poles.p[i] - poles.p[i + 1] < NEGLIGIBLE:
            continue
        if weight >= NEGLIGIBLE:
            poles.p[k] = poles.p[i]
            poles.w[k] = weight
            poles.slot[k] = i
            k += 1
        weight = 0.0
    return k


cdef void prepare(
    Poles* poles, const double* d, const double* z, Py_ssize_t n, double* work
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int e = scale_exponent(d, z, n)
    poles.p = work
    poles.w = work + padded_size(n)
    poles.slot = NULL
    poles.count = n
    poles.unscale = ldexp(1.0, 2 * e)
    if scale_data(poles.p, poles.w, d, z, n, ldexp(1.0, -e)):
        poles.slot = <Py_ssize_t*> (work + 2 * padded_size(n))
        poles.count = merge_poles(poles, n)
    poles.padded = padded_size(poles.count)
    for i in range(poles.count, poles.padded):
        poles.p[i] = PARKED
        poles.w[i] = 0.0


cdef inline double signed_sqrt(double x, double side) noexcept nogil:
    return side * sqrt(fmax(x, 0.0))


cdef inline double model_step(
    double g, double q, double t_near, double pull, double side, double* ratio
) noexcept nogil:
    """Step ``y``, in units of ``near``, to the root of the model.

    The model is ``c - W / (near - y near) - V / (far - y near)`` and has the value ``g`` at
    ``y = 0``; ``q = near / far``, ``t_near = W / near`` and ``pull = q V / far``. Also sets
    ``ratio = 1 - y``, the factor by which ``tau`` changes. Both forms of a root are used,
    each where it does not cancel; towards convergence ``side * b > 0``.
    """
    cdef double a = q * (g + t_near) + pull
    cdef double b = (1.0 + q) * g + t_near + pull
    cdef double root = signed_sqrt(b * b - 4.0 * a * g, side), y
    if side * b >= 0.0:
        y = 2.0 * g / (b + root)
    else:
        y = (b - root) / (2.0 * a)
    ratio[0] = 1.0 - y
    if y > 0.5:
        # Far down towards the pole 1 - y would cancel: solve for it instead.
        b = (1.0 - q) * g + (1.0 - 2.0 * q) * t_near - pull
        root = signed_sqrt(b * b + 4.0 * a * (1.0 - q) * t_near, side)
        if side * b >= 0.0:
            ratio[0] = 2.0 * (1.0 - q) * t_near / (b + root)
        else:
            ratio[0] = (root - b) / (2.0 * a)
    return y


cdef inline double gragg_step(
    const secular_sums* rest, double g, double near, double far, double t_near, double t_far,
    double side, double* ratio,
) noexcept nogil:
    """Relative step of ``tau`` and its factor; infinite if the terms are too large."""
    cdef double q = near / far, reach = far / near, inverse = 1.0 / (1.0 - reach), size
    # The far pole counts through its slope: the term itself may be huge without effect.
    cdef double pull = q * t_far
    # Terms of the other poles' weight as seen at the two neighbours. Their signs are
    # known, and kept against rounding.
    t_near += side * inverse * fmax(rest.s1 - side * reach * rest.s2, 0.0)
    pull -= side * (reach * inverse) * fmax(rest.s1 - side * rest.s2, 0.0)
    size = fabs(g) + fabs(t_near) + fabs(pull)
    if size > LARGE_TERMS:
        if not size <= DBL_MAX:
            ratio[0] = INFINITY
            return INFINITY
        # The equation is homogeneous in the three.
        g /= LARGE_DIVISOR
        t_near /= LARGE_DIVISOR
        pull /= LARGE_DIVISOR
    return model_step(g, q, t_near, pull, side, ratio)


cdef double rounding_level(
    const Poles* poles, double origin, double shift, double t_near, double t_far
) noexcept nogil:
    """A bound on what rounding may do to ``g``."""
    cdef double total = 1.0 + fabs(t_near) + fabs(t_far)
    cdef Py_ssize_t j
    for j in range(poles.count):
        total += poles.w[j] / fabs((poles.p[j] - origin) - shift)
    return 4.0 * DBL_EPSILON * total


cdef inline double middle(double lo, double hi) noexcept nogil:
    # Roots may lie many orders of magnitude below the gap.
    if hi > 4.0 * lo:
        return sqrt(lo) * sqrt(hi)
    return lo + 0.5 * (hi - lo)


cdef inline void choose_origin(
    Interval* span, double g, double next_pole, bint is_last
) noexcept nogil:
    """Measure ``tau`` from the pole on the root's side of the midpoint."""
    cdef double swap, largest
    # At the root the near term is at most 1 plus all others on one side of it, and
    # those are no larger than `largest` on this half of the interval.
    largest = 1.0 + WEIGHT_BOUND / span.hi
    if g < 0.0 and not is_last:
        span.origin = next_pole
        span.side = -1.0
        swap = span.w_near
        span.w_near = span.w_far
        span.w_far = swap
    span.lo = fmin(fmax(span.w_near / largest, DBL_MIN), span.hi)


cdef double find_tau(
    Interval* span, const Poles* poles, double next_pole, bint is_last
) noexcept nogil:
    """Distance of the root to its origin; sets ``origin`` and ``side`` of ``span``."""
    cdef secular_sums rest
    cdef double tau = span.hi, near, far, t_near, t_far, g, step, ratio, proposal
    cdef int iteration
    for iteration in range(MAX_ITERATIONS):
        near = span.side * tau
        far = -span.side * (span.gap - tau)
        secular_eval(poles.p, poles.w, poles.padded, span.origin, -near, tau, &rest)
        t_near = span.w_near / near
        t_far = span.w_far / far
        g = ((1.0 - rest.s0) - t_far) - t_near
        if iteration == 0:
            choose_origin(span, g, next_pole, is_last)
            if span.side < 0.0:
                # Same point, seen from the other pole.
                near, far = -tau, tau
                t_near, t_far = t_far, t_near
        elif (g > 0.0) == (span.side < 0.0):
            span.lo = tau
        else:
            span.hi = tau
        step = gragg_step(&rest, g, near, far, t_near, t_far, span.side, &ratio)
        proposal = tau - tau * step if step <= 0.5 else tau * ratio
        if fabs(step) <= SMALL_STEP:
            return proposal
        if iteration >= 3 and (
            span.hi - span.lo <= DBL_EPSILON * span.hi
            or fabs(g) <= rounding_level(poles, span.origin, -near, t_near, t_far)
        ):
            return fmin(fmax(proposal, span.lo), span.hi) if fabs(step) < 1.0 else tau
        # Late, every other iteration bisects: a bound on the total.
        if not (span.lo < proposal < span.hi) or (iteration >= 8 and iteration & 1):
            proposal = middle(span.lo, span.hi)
        tau = proposal
    return tau


cdef double find_root(Poles* poles, Py_ssize_t k) noexcept nogil:
    """Scaled eigenvalue below pole ``k``."""
    cdef Interval span
    cdef bint is_last = k + 1 == poles.count
    cdef double pole = poles.p[k], weight = poles.w[k], next_pole = 0.0, tau
    span.origin = pole
    span.side = 1.0
    span.w_near = weight
    # The two neighbours are treated apart; out of the sum they go meanwhile.
    if is_last:
        span.gap = 2.0 * absolute_sum(poles.w, poles.count)
        span.w_far = 0.0
    else:
        next_pole = poles.p[k + 1]
        span.gap = pole - next_pole
        span.w_far = poles.w[k + 1]
        poles.p[k + 1] = PARKED
        poles.w[k + 1] = 0.0
    poles.p[k] = PARKED
    poles.w[k] = 0.0
    span.hi = 0.5 * span.gap
    tau = find_tau(&span, poles, next_pole, is_last)
    poles.p[k] = pole
    poles.w[k] = weight
    if not is_last:
        poles.p[k + 1] = next_pole
        poles.w[k + 1] = span.w_near if span.side < 0.0 else span.w_far
    return span.origin - span.side * tau


cdef void downdate_roots(
    const double* d, const double* z, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
    double* out, double* work,
) noexcept nogil:
    cdef Poles poles
    cdef Py_ssize_t i, k = -1, solved = -1
    cdef double root = 0.0, below
    prepare(&poles, d, z, n, work)
    for i in range(first, last):
        if poles.slot == NULL:
            k = i
        else:
            while k + 1 < poles.count and poles.slot[k + 1] <= i:
                k += 1
        below = d[i + 1] if i + 1 < n else -INFINITY
        # Above the first pole nothing moves, and between equal entries nothing can.
        if k < 0 or below == d[i]:
            out[i - first] = d[i]
            continue
        if solved != k:
            root = find_root(&poles, k) * poles.unscale
            solved = k
        # Several entries of d may enclose one root: some have no weight. The median of
        # root and neighbours merges the root into them, and keeps interlacing exact. It
        # also ends a NaN, which only an overflow of |z|**2 can have caused.
        out[i - first] = fmin(fmax(root, below), d[i])


def _use_wide_kernel(bint wide):
    """Switch the AVX2 loop on (where there is one) or off; for tests only."""
    secular_use_wide(wide)


def downdated_eigenvalues(d, Z, Py_ssize_t first=0, last=None):
    """Eigenvalues ``first .. last - 1``, descending, of ``diag(d) - z z'`` for every row z of Z.

    Only shapes are checked: entries must be finite and ``d`` must descend. Entry i never lies
    outside ``[d[i + 1], d[i]]``, in floating point too. Each eigenvalue is exact, up to its last
    rounding, for weights ``z**2`` changed by a few units of rounding, whatever range is asked for.

    >>> from columnist.linalg._secular import downdated_eigenvalues
    >>> downdated_eigenvalues([3.0, 1.0], [[1.0, 1.0], [0.0, 1.0]]).round(6).tolist()
    [[2.414214, -0.414214], [3.0, 0.0]]
    """
    d = np.ascontiguousarray(d, dtype=np.float64)
    Z = np.ascontiguousarray(Z, dtype=np.float64)
    if d.ndim != 1 or Z.ndim != 2 or Z.shape[1] != d.shape[0]:
        raise ValueError(f"d {d.shape} and Z {Z.shape} do not match: want (n,) and (n_z, n)")
    cdef Py_ssize_t row, n = d.shape[0], end = n if last is None else last
    if not 0 <= first <= end <= n:
        raise ValueError(f"need 0 <= first <= last <= {n}, got first={first}, last={end}")
    result = np.empty((Z.shape[0], end - first))
    cdef const double[::1] poles = d
    cdef const double[:, ::1] rows = Z
    cdef double[:, ::1] out = result
    cdef double[::1] work = np.empty(downdate_work_size(n))
    if result.size:
        with nogil:
            for row in range(rows.shape[0]):
                downdate_roots(&poles[0], &rows[row, 0], n, first, end, &out[row, 0], &work[0])
    return result
