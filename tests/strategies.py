"""Random small problems for the property tests: every shape of trouble, and how close is equal."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from columnist.constraints import AtMost, Budget, Constraint, Groups, Requires
from columnist.criteria import Criterion, Frobenius, KyFan, Nuclear, Schatten, Spectral

__all__ = [
    "CRITERIA",
    "KINDS",
    "LogEnergy",
    "OneByOne",
    "matrices",
    "random_constraints",
    "random_matrix",
    "random_size",
    "targets",
    "tolerance",
]


class LogEnergy(Criterion):
    """A user's own criterion, for many spectra at once."""

    name = "logenergy"

    def value(self, singular_values):
        return np.log1p(np.square(singular_values)).sum(axis=-1)


class OneByOne(Criterion):
    """A user's own criterion that understands one spectrum at a time."""

    name = "onebyone"
    vectorized = False

    def value(self, singular_values):
        assert np.ndim(singular_values) == 1
        return float(sum(min(s, 1.0) + s for s in singular_values))


CRITERIA = [
    Frobenius(),
    Spectral(),
    Nuclear(),
    Schatten(0.5),
    Schatten(3.0),
    KyFan(2),
    LogEnergy(),
    OneByOne(),
]

# The small integers have exact dependencies and many ties.
KINDS = ("gaussian", "integers", "low rank", "duplicates", "zero columns", "scaled columns", "ties")


def random_matrix(kind: str, m: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """An m x n matrix of the given kind."""
    if kind == "integers":
        return rng.integers(-2, 3, (m, n)).astype(float)
    if kind == "low rank":
        rank = int(rng.integers(1, max(2, min(m, n))))
        factors = rng.integers(-2, 3, (m, rank)), rng.integers(-2, 3, (rank, n))
        return (factors[0] @ factors[1]).astype(float)
    if kind == "ties":
        return np.eye(m, n)[:, rng.permutation(n)] * rng.integers(1, 3)
    X = rng.standard_normal((m, n))
    if kind == "duplicates":
        X = X[:, rng.integers(0, n, n)] * rng.choice([-2.0, 1.0, 1.0], n)
    elif kind == "zero columns":
        X[:, rng.random(n) < 0.4] = 0.0
    elif kind == "scaled columns":
        X *= 10.0 ** rng.integers(-2, 3, n)
    return X


@st.composite
def matrices(draw, *, min_rows=1, max_rows=8, min_columns=1, max_columns=7, kinds=KINDS):
    """Matrices with more rows than columns and fewer, of every kind."""
    m = draw(st.integers(min_rows, max_rows))
    n = draw(st.integers(min_columns, max_columns))
    kind = draw(st.sampled_from(kinds))
    return random_matrix(kind, m, n, np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


@st.composite
def targets(draw, m: int):
    """A y for m rows and the matrix it means: a vector, a matrix or class labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    form = draw(st.sampled_from(["vector", "matrix", "integers", "labels"]))
    if form == "vector":
        y = rng.standard_normal(m)
        if m == 2:  # two distinct numbers are classes
            return y, (y[:, None] == np.unique(y)).astype(float)
        return y, y[:, None]
    if form == "matrix":
        y = rng.integers(-2, 3, (m, 3)).astype(float)
        return y, y
    codes = rng.integers(0, 3, m)
    y = codes if form == "integers" else np.array(["red", "green", "blue"])[codes]
    return y, (y[:, None] == np.unique(y)).astype(float)


def tolerance(criterion: Criterion, target: np.ndarray) -> float:
    """Errors closer than this are equal: a share of the criterion of the target itself.

    Under a root of the singular values rounding counts for more.
    """
    share = 1e-10 if isinstance(criterion, Frobenius) else 1e-8
    if isinstance(criterion, Schatten) and criterion.p < 1:
        share = 1e-6
    spectrum = np.linalg.svd(np.atleast_2d(target), compute_uv=False)
    return share * float(criterion.value(spectrum))


def random_constraints(rng: np.random.Generator, n: int) -> list[Constraint]:
    """One, two or three constraints."""
    found: list[Constraint] = []
    kinds = rng.permutation([Groups, Budget, AtMost, Requires])[: rng.integers(1, 4)]
    for kind in [*kinds, *rng.permutation([AtMost, Requires])[: rng.integers(0, 2)]]:
        if kind is Groups:
            found.append(Groups(rng.integers(0, max(2, n // 2), n).tolist()))
        elif kind is Budget:
            whole = rng.integers(0, 5, n).astype(float)
            costs = whole if rng.random() < 0.5 else np.round(3.0 * rng.random(n), 1) + 0.1
            share = 0.7 * rng.random() * costs.sum() + 0.5 * costs.max()
            found.append(Budget(costs.tolist(), float(np.round(share, 1))))
        elif kind is AtMost:
            some = rng.permutation(n)[: rng.integers(2, n + 1)]
            found.append(AtMost(some.tolist(), int(rng.integers(0, 3))))
        else:
            column, *others = rng.permutation(n)[: rng.integers(2, 4)].tolist()
            found.append(Requires(column, others))
    return found


def random_size(rng: np.random.Generator, constraints: list[Constraint], n: int) -> int | None:
    """A number of units, or any."""
    labels = [set(c.labels) for c in constraints if isinstance(c, Groups)]
    if any(isinstance(c, Budget) for c in constraints) and rng.random() < 0.6:
        return None
    return int(rng.integers(1, min(len(labels[0]) if labels else n, 5) + 1))
