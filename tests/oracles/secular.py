"""Reference eigenvalues of ``diag(d) - z z'`` from a dense matrix in many digits.

Nothing here knows of secular equations, poles or deflation: the matrix is formed exactly and
handed to a general symmetric eigensolver.
"""

import mpmath


def digits_for(d, z, relative=60):
    """Digits that leave ``relative`` of them to the smallest non-zero number in the data."""
    sizes = [abs(float(x)) for x in d] + [float(x) ** 2 for x in z]
    sizes = [s for s in sizes if s > 0.0]
    if not sizes:
        return relative
    spread = mpmath.log10(max(sizes)) - mpmath.log10(min(sizes))
    return relative + int(spread)


def downdated_eigenvalues(d, z, relative=60):
    """All eigenvalues, descending, as ``mpmath`` numbers."""
    n = len(d)
    with mpmath.workdps(digits_for(d, z, relative)):
        z = [mpmath.mpf(float(x)) for x in z]
        matrix = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                matrix[i, j] = -z[i] * z[j]
            matrix[i, i] += mpmath.mpf(float(d[i]))
        values = mpmath.eigsy(matrix, eigvals_only=True)
        return sorted(values, reverse=True)
