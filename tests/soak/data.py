"""Random hostile data, by kind.

A kind of columns returns X, options that belong to the data, and whether double precision decides
them; a kind of rows returns X and the latter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["COLUMN_KINDS", "GRAM_KINDS", "ROW_KINDS", "dyadic", "power"]


def _shape(rng) -> tuple[int, int]:
    return int(rng.integers(5, 14)), int(rng.integers(4, 9))


def _normal(rng) -> np.ndarray:
    return rng.standard_normal(_shape(rng))


def power(rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def dyadic(X: np.ndarray, bits: int) -> np.ndarray:
    """Entries of at most so many bits; with up to 24, their products and sums are exact."""
    unit = np.ldexp(1.0, int(np.frexp(np.abs(X).max(initial=0.0))[1]) - bits)
    return np.round(X / unit) * unit


def _columns_of(rng, X: np.ndarray, most: int = 3) -> np.ndarray:
    count = min(int(rng.integers(1, most + 1)), X.shape[1])
    return rng.choice(X.shape[1], count, replace=False)


def gaussian(rng):
    """Nothing special."""
    return _normal(rng), {}, True


def wide(rng):
    """Fewer rows than columns."""
    return rng.standard_normal((int(rng.integers(2, 6)), int(rng.integers(6, 10)))), {}, True


def integers(rng):
    """Small integers: exact dependencies and many ties."""
    return rng.integers(-2, 3, _shape(rng)).astype(float), {}, True


def ties(rng):
    """Parts of an orthogonal matrix: every choice is as good as many others."""
    m, n = _shape(rng)
    X = np.eye(m, n)[:, rng.permutation(n)] * float(rng.integers(1, 3))
    if rng.random() < 0.5:
        X = np.where(rng.random((m, n)) < 0.5, -1.0, 1.0)
    return X, {}, True


def copies(rng):
    """Exact copies of columns, some negated or doubled."""
    X = dyadic(_normal(rng), 20)
    X = X[:, rng.integers(0, X.shape[1], X.shape[1])]
    return X * rng.choice([-2.0, 1.0, 1.0, 0.5], X.shape[1]), {}, True


def rounded_copies(rng):
    """Copies whose factors round: dependent up to the last digit."""
    X = _normal(rng)
    for j in _columns_of(rng, X):
        X[:, j] = X[:, (j + 1) % X.shape[1]] * rng.uniform(0.1, 3.0)
    return X, {}, False


def low_rank(rng):
    """Rank below the number of columns, exactly."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, min(m, n)))
    X = rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n))
    return X.astype(float), {}, True


def rounded_low_rank(rng):
    """Rank below the number of columns, up to rounding."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, min(m, n)))
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)), {}, False


def near_copies(rng):
    """Columns that differ from others by 1e-12 to 1e-5 of their length."""
    X = _normal(rng)
    share = power(rng, -12.0, -5.0)
    for j in _columns_of(rng, X, 2):
        X[:, j] = X[:, (j + 1) % X.shape[1]] + share * rng.standard_normal(len(X))
    return X, {}, share >= 1e-8


def near_dependent(rng):
    """A column that differs from a combination of others by 1e-10 to 1e-4 of its length."""
    X = _normal(rng)
    share = power(rng, -10.0, -4.0)
    X[:, 0] = X[:, 1:4] @ rng.standard_normal(3) + share * rng.standard_normal(len(X))
    return X, {}, share >= 1e-7


def long_columns(rng):
    """Columns 1e3 to 1e8 times longer than the others."""
    X = _normal(rng)
    ratio = power(rng, 3.0, 8.0)
    X[:, _columns_of(rng, X, 2)] *= ratio
    return X, {}, ratio <= 1e6


def graded_columns(rng):
    """Lengths spread evenly over many orders of magnitude."""
    X = _normal(rng)
    orders = rng.uniform(1.0, 6.0)
    return X * np.logspace(0.0, orders, X.shape[1])[rng.permutation(X.shape[1])], {}, True


def tiny_columns(rng):
    """Columns of a length down to 1e-200 beside others of length one."""
    X = _normal(rng)
    X[:, _columns_of(rng, X)] *= power(rng, -200.0, -20.0)
    return X, {}, False


def scales(rng):
    """All entries tiny or huge."""
    exponent = rng.uniform(-150.0, 150.0)
    return _normal(rng) * 10.0**exponent, {}, True


def offsets(rng):
    """Columns far from the origin, centred."""
    X = _normal(rng)
    offset = power(rng, 3.0, 9.0)
    X = X + offset * (rng.choice([-1.0, 1.0], X.shape[1]) if rng.random() < 0.5 else 1.0)
    return X, {"centering": "mean"}, offset <= 1e7


def constants(rng):
    """Zero and constant columns."""
    X = _normal(rng)
    X[:, _columns_of(rng, X)] = rng.choice([0.0, 0.0, 1.0, 0.1, 1e6])
    if rng.random() < 0.1:
        X[:, 1:] = 0.0
    return X, {}, True


def heavy_rows(rng):
    """Rows 1e3 to 1e8 times longer than the others."""
    X = _normal(rng)
    ratio = power(rng, 3.0, 8.0)
    X[: rng.integers(1, 3)] *= ratio
    return X, {}, ratio <= 1e6


def dominating_direction(rng):
    """One direction that every column shares, 1e3 to 1e8 times longer than the rest."""
    X = _normal(rng)
    ratio = power(rng, 3.0, 8.0)
    direction = rng.standard_normal(len(X))[:, None]
    X += ratio * direction * rng.standard_normal(X.shape[1])
    return X, {}, ratio <= 1e4


def sparse_pattern(rng):
    """Mostly zeros; some columns are near copies."""
    X = _normal(rng)
    X[rng.random(X.shape) < 0.6] = 0.0
    share = power(rng, -8.0, -3.0)
    if rng.random() < 0.5:
        X[:, 0] = X[:, 1] * (1.0 + share * rng.standard_normal(len(X)))
    return X, {"_form": str(rng.choice(["csr", "csc"]))}, True


def mixed(rng):
    """Several troubles at once."""
    X = _normal(rng)
    options = {}
    for _ in range(int(rng.integers(2, 4))):
        trouble, j = rng.integers(6), int(rng.integers(X.shape[1]))
        if trouble == 0:
            X[:, j] = X[:, (j + 1) % X.shape[1]] + power(rng, -9.0, -3.0) * rng.standard_normal(
                len(X)
            )
        elif trouble == 1:
            X[:, j] *= power(rng, -8.0, 8.0)
        elif trouble == 2:
            X[rng.integers(len(X))] *= power(rng, 0.0, 6.0)
        elif trouble == 3:
            X[:, j] = X[:, (j + 2) % X.shape[1]]
        elif trouble == 4:
            X[:, j] = float(rng.integers(0, 3))
        else:
            X = X + power(rng, 0.0, 6.0)
            options["centering"] = "mean"
    return X, options, False


def zero_error(rng):
    """A few columns explain everything."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, 4))
    X = rng.integers(-3, 4, (m, rank)) @ rng.integers(-3, 4, (rank, n))
    return X.astype(float), {"_size": rank}, True


def zero_error_rounded(rng):
    """The same, up to rounding."""
    m, n = _shape(rng)
    rank = int(rng.integers(1, 4))
    X = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    return X, {"_size": rank, "_target": "X"}, True


COLUMN_KINDS: dict[str, Callable] = {
    data.__name__: data
    for data in (
        gaussian, wide, integers, ties, copies, rounded_copies, low_rank, rounded_low_rank,
        near_copies, near_dependent, long_columns, graded_columns, tiny_columns, scales, offsets,
        constants, heavy_rows, dominating_direction, zero_error, zero_error_rounded,
        sparse_pattern, mixed,
    )
}  # fmt: skip


def large_pools(rng):
    """Few columns that matter among many that do not, and more sets than anyone looks at."""
    n, rank = int(rng.integers(18, 23)), int(rng.integers(2, 4))
    X = np.zeros((rank + int(rng.integers(0, 2)), n))
    X[:, n - rank :] = rng.integers(-3, 4, (len(X), rank))
    options = {"_size": int(rng.integers(rank + 1, 6)), "n_solutions": int(rng.integers(2, 6))}
    return X, options | {"_target": "X"}, True


COLUMN_KINDS["large_pools"] = large_pools

# Data whose Gram matrix tells as much as they do.
GRAM_KINDS = ("gaussian", "wide", "integers", "ties", "copies", "low_rank", "constants",
               "zero_error")  # fmt: skip


# -- rows ---------------------------------------------------------------------------


def _row_shape(rng) -> tuple[int, int]:
    return int(rng.integers(5, 13)), int(rng.integers(2, 7))


def rows_gaussian(rng):
    """Nothing special."""
    return rng.standard_normal(_row_shape(rng)), True


def rows_integers(rng):
    """Small integers: repeated rows and ties."""
    return rng.integers(-2, 3, _row_shape(rng)).astype(float), True


def rows_outliers(rng):
    """A few rows that are far away, each in its own direction."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = power(rng, 1.0, 8.0)
    X[: rng.integers(1, 4)] *= ratio
    return X, ratio <= 1e6


def rows_direction(rng):
    """A few rows that are far away in the same direction."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = power(rng, 3.0, 8.0)
    X[: rng.integers(1, 4)] += ratio * rng.standard_normal(X.shape[1])
    return X, ratio <= 1e6


def rows_long_columns(rng):
    """Columns longer than the others."""
    X = rng.standard_normal(_row_shape(rng))
    ratio = power(rng, 3.0, 8.0)
    X[:, rng.integers(X.shape[1])] *= ratio
    return X, ratio <= 1e6


def rows_copies(rng):
    """Rows that repeat, exactly or nearly."""
    X = rng.standard_normal(_row_shape(rng))
    X = X[rng.integers(0, len(X), len(X))]
    if rng.random() < 0.5:
        X = X + power(rng, -12.0, -5.0) * rng.standard_normal(X.shape)
        return X, False
    return X, True


def rows_low_rank(rng):
    """Rows of a subspace, exactly; some are not in it."""
    m, n = _row_shape(rng)
    rank = int(rng.integers(1, 3))
    X = (rng.integers(-2, 3, (m, rank)) @ rng.integers(-2, 3, (rank, n))).astype(float)
    X[: rng.integers(0, 3)] += rng.integers(-3, 4, n)
    return X, True


def rows_offset(rng):
    """Rows far from the origin."""
    offset = power(rng, 3.0, 9.0)
    return rng.standard_normal(_row_shape(rng)) + offset, offset <= 1e7


def rows_scales(rng):
    """All entries tiny or huge."""
    return rng.standard_normal(_row_shape(rng)) * 10.0 ** rng.uniform(-150.0, 150.0), True


def rows_mixed(rng):
    """Several troubles at once."""
    X = rng.standard_normal(_row_shape(rng))
    for _ in range(int(rng.integers(2, 4))):
        trouble, i = rng.integers(5), int(rng.integers(len(X)))
        if trouble == 0:
            X[i] *= power(rng, 0.0, 7.0)
        elif trouble == 1:
            X[:, rng.integers(X.shape[1])] *= power(rng, -6.0, 6.0)
        elif trouble == 2:
            X[i] = X[(i + 1) % len(X)] + power(rng, -9.0, -3.0) * rng.standard_normal(X.shape[1])
        elif trouble == 3:
            X = X + power(rng, 0.0, 6.0)
        else:
            X[:, 0] = X[:, -1]
    return X, False


ROW_KINDS: dict[str, Callable] = {
    data.__name__: data
    for data in (
        rows_gaussian, rows_integers, rows_outliers, rows_direction, rows_long_columns,
        rows_copies, rows_low_rank, rows_offset, rows_scales, rows_mixed,
    )
}  # fmt: skip
