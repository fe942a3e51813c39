"""C entry points of the rank-one downdate; see ``secular.pyx`` for the method.

All functions are free of allocation, locks and the GIL. Two threads may call them at
the same time as long as each brings its own ``work`` (and ``out``).

Requirements, none of which is checked: ``n >= 1``, ``0 <= first <= last <= n``,
``d`` descending, all entries finite. ``d`` and ``z`` are only read.
"""


cdef Py_ssize_t downdate_work_size(Py_ssize_t n) noexcept nogil
"""Length, in doubles, of the ``work`` array of the function below: ``4 n + 16``."""


cdef void downdate_roots(
    const double* d, const double* z, Py_ssize_t n, Py_ssize_t first, Py_ssize_t last,
    double* out, double* work,
) noexcept nogil
"""Write eigenvalues ``first .. last - 1`` (descending) of ``diag(d) - z z'`` to ``out``."""
