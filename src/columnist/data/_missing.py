r"""Missing values: means and covariances of rows with missing entries.

``"covariance"`` takes rows for draws from a Gaussian distribution, and estimates its mean and
covariance by maximum likelihood with the EM algorithm: the E-step puts the conditional means of
missing values in their places and adds their conditional covariances, the M-step takes moments.
Rows with the same gaps share one factorisation, and every two steps are prolonged where that is
better (SQUAREM). The likelihood of what was observed never falls.
Where columns are dependent, or no fewer than rows, it has no maximum; each variance then grows by
a small share in the E-step.

``"pairwise"`` takes every covariance from the rows that have both values. The result need not be
positive semidefinite; eigenvalues below zero are set to zero, and the variances restored.

A selection uses rows with these moments, and its proof holds for them, not for the unknown complete
data.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.data._matrices import Matrices
from columnist.data._weights import matrices_from
from columnist.linalg._moments import Moments
from columnist.linalg._rounding import CONSTANT

METHODS = ("covariance", "pairwise")
# EM stops when no mean and no covariance of standardised columns moves by more, or after so many
# prolonged steps.
_CLOSE, _STEPS = 1e-5, 300
# Variances of columns given all others, beside their own, that are none.
_SINGULAR = 1e-9
# What variances grow by where the likelihood has no maximum.
_RIDGE = 1e-2
# Entries of covariance matrices that are inverted together: 16 MB.
_ENTRIES = 2**21


class Estimate(NamedTuple):
    """Means and covariances; steps of EM with the log-likelihoods before each of them, and the
    ridge; how much of a pairwise matrix changed when it was made positive semidefinite."""

    mean: np.ndarray
    covariance: np.ndarray
    likelihoods: tuple[float, ...] = ()
    ridge: float = 0.0
    adjusted: float = 0.0


def has_gaps(X) -> bool:
    """Whether values are missing in checked data."""
    values = X.data if sp.issparse(X) else X
    return bool(np.isnan(values).any())


def estimated_matrices(
    X, Y: np.ndarray | None, method: str, *, weights: np.ndarray | None, center: bool, classes: bool
) -> Matrices:
    """Rows with the estimated moments of X, in which values are missing, and of a complete Y, whose
    columns sum to one if they represent ``classes``."""
    if sp.issparse(X):
        raise ValueError(f"missing={method!r} needs a dense X: pass X.toarray().")
    started = time.perf_counter()
    _check_columns(X)
    m, n = X.shape
    weights = np.ones(m) if weights is None else weights
    joint = X if Y is None else np.hstack([X, Y[:, : Y.shape[1] - classes]])
    found = estimate(joint, method, weights)
    if classes:
        found = _with_last_class(found, n)
    count: Any = float(weights.sum())
    moments = Moments(
        count, found.mean, count * found.covariance, np.zeros((0, len(found.mean))),
        np.zeros(len(found.mean)),
    )  # fmt: skip
    return matrices_from(
        moments, n, Y is not None, center=center, missing=_facts(X, method, found),
        preparation=time.perf_counter() - started,
    )  # fmt: skip


def estimate(X: np.ndarray, method: str, weights: np.ndarray) -> Estimate:
    """Means and covariances of rows with gaps. No input validation."""
    there = ~np.isnan(X)
    counts = weights @ there
    mean = weights @ np.where(there, X, 0.0) / counts
    moved = np.where(there, X - mean, 0.0)
    scale = np.sqrt(weights @ np.square(moved) / counts)
    largest = np.abs(np.where(there, X, 0.0)).max(axis=0)
    varies = scale > CONSTANT * largest
    unit = scale[varies]
    Z = np.where(there, moved, np.nan)[:, varies] / unit
    found = _pairwise(Z, weights) if method == "pairwise" else _em(Z, weights)
    covariance = np.zeros((len(scale), len(scale)))
    covariance[np.ix_(varies, varies)] = found.covariance * unit * unit[:, None]
    mean[varies] += unit * found.mean
    return found._replace(mean=mean, covariance=covariance)


# -- EM -----------------------------------------------------------------------------------


class _Model(NamedTuple):
    """What EM improves."""

    mean: np.ndarray
    covariance: np.ndarray

    def towards(self, first: _Model, second: _Model) -> _Model:
        """What two steps lead to if they shrink as they did so far (SQUAREM)."""
        steps = [np.append(a - c, b - d) for (a, b), (c, d) in ((first, self), (second, first))]
        change = steps[1] - steps[0]
        length = np.linalg.norm(change)
        factor = max(float(np.linalg.norm(steps[0]) / length), 1.0) if length > 0.0 else 1.0
        found = np.append(*self) + 2.0 * factor * steps[0] + factor**2 * change
        n = len(self.mean)
        return _Model(found[:n], found[n:].reshape(n, n))

    def distance(self, other: _Model) -> float:
        """The largest difference."""
        return max(float(np.abs(a - b).max()) for a, b in zip(self, other, strict=True))


class _GappyRows:
    """Standardised rows with gaps, and the steps of EM on them.

    With W the inverse of the covariances S of what is there in a row (zero elsewhere), and x its
    deviations from the mean (zero in the gaps), SWx has the conditional means in the gaps and x
    elsewhere, and S - SWS is the conditional covariance there and zero elsewhere: all rows together
    take a few products with S.
    """

    def __init__(self, Z: np.ndarray, weights: np.ndarray, ridge: float):
        self.weights, self.ridge, self.total = weights, ridge, float(weights.sum())
        self.there = ~np.isnan(Z)
        self.Z = np.where(self.there, Z, 0.0)
        kinds, which = np.unique(self.there, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel()))[:-1]
        self.kinds, self.rows = kinds, np.split(order, ends)
        self.counts = np.array([weights[rows].sum() for rows in self.rows])

    def step(self, model: _Model) -> tuple[float, _Model]:
        """The objective of a model, and a better one; LinAlgError if a covariance is singular."""
        mean, S = model
        moved = np.where(self.there, self.Z - mean, 0.0)
        white, caught, objective = np.empty_like(moved), np.zeros_like(S), 0.0
        height = max(1, _ENTRIES // S.size)
        for start in range(0, len(self.kinds), height):
            some = slice(start, start + height)
            there = self.kinds[some].astype(np.float64)
            inner = S * there[:, :, None] * there[:, None, :]
            np.einsum("pii->pi", inner)[:] += 1.0 - there
            L = np.linalg.cholesky(inner)
            logs = np.log(np.einsum("pii->pi", L)).sum(axis=1)
            objective -= float(self.counts[some] @ (logs + 0.5 * np.log(2 * np.pi) * there.sum(1)))
            inverses = np.linalg.inv(inner)
            np.einsum("pii->pi", inverses)[:] *= there
            caught += np.tensordot(self.counts[some], inverses, 1)
            for inverse, rows in zip(inverses, self.rows[some], strict=True):
                white[rows] = moved[rows] @ inverse
        objective -= 0.5 * float(self.weights @ np.einsum("ij,ij->i", white, moved))
        if self.ridge:
            objective -= 0.5 * self.total * self.ridge * float(np.trace(np.linalg.inv(S)))
        deviations = white @ S
        step = self.weights @ deviations / self.total
        second = (deviations.T * self.weights) @ deviations + self.total * S - S @ caught @ S
        new = second / self.total - np.outer(step, step) + self.ridge * np.eye(len(S))
        return objective, _Model(mean + step, 0.5 * (new + new.T))


def _em(Z: np.ndarray, weights: np.ndarray) -> Estimate:
    """Maximum likelihood for standardised columns; with a ridge where there is none."""
    some = ~np.isnan(Z).all(axis=1) & (weights > 0.0)  # others are not informative
    Z, weights = Z[some], weights[some]
    if len(Z) > Z.shape[1] + 1:
        try:
            return _iterated(_GappyRows(Z, weights, 0.0))
        except np.linalg.LinAlgError:
            pass
    return _iterated(_GappyRows(Z, weights, _RIDGE))


def _iterated(rows: _GappyRows) -> Estimate:
    """Steps of EM, and of what they lead to where that is better."""
    n, values = rows.Z.shape[1], []
    model = _Model(np.zeros(n), np.eye(n))
    for _ in range(_STEPS):
        before, first = rows.step(model)
        values.append(before)
        if not rows.ridge:
            _check_regular(first.covariance)
        moved = first.distance(model)
        if moved <= _CLOSE:
            break
        reached, second = rows.step(first)
        values.append(reached)
        model = _best(rows, model.towards(first, second), reached, second)
    else:
        warn_caller(
            f"The covariance matrix moved by {moved:.1e} of a variance in the last of "
            f"{len(values)} steps of the EM algorithm: too many values are missing to determine "
            "it. Leave out columns that are mostly missing.",
            ConvergenceWarning,
        )
    covariance = first.covariance - rows.ridge * np.eye(n)
    return Estimate(first.mean, covariance, tuple(values), rows.ridge)


def _best(rows: _GappyRows, bold: _Model, reached: float, safe: _Model) -> _Model:
    """The step from a bold model if that is no worse than what was reached, else the safe one."""
    try:
        value, better = rows.step(bold)
    except np.linalg.LinAlgError:
        return safe
    return better if value >= reached else safe


def _check_regular(S: np.ndarray) -> None:
    """Raise LinAlgError if a column nearly depends on the others."""
    L = np.linalg.cholesky(S)
    if (np.square(np.diag(L)) <= _SINGULAR * np.diag(S)).any():
        raise np.linalg.LinAlgError("Columns are dependent.")


# -- pairwise -----------------------------------------------------------------------------


def _pairwise(Z: np.ndarray, weights: np.ndarray) -> Estimate:
    """Covariances of standardised columns from the rows that have both values."""
    there = (~np.isnan(Z)).astype(np.float64)
    filled = np.where(there > 0.0, Z, 0.0)
    counts = (there.T * weights) @ there
    if not counts.all():
        i, j = np.argwhere(counts == 0.0)[0]
        raise ValueError(
            f"missing='pairwise' needs rows that have both values of every two columns; there is "
            f"none for the varying columns number {i} and {j}. Use missing='covariance'."
        )
    raw = (filled.T * weights) @ filled / counts
    values, vectors = np.linalg.eigh(raw)
    if values[0] >= 0.0:
        return Estimate(np.zeros(len(raw)), raw)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    lengths = np.linalg.norm(root, axis=1)
    root *= (np.sqrt(np.diag(raw)) / np.where(lengths > 0.0, lengths, 1.0))[:, None]
    psd = root @ root.T
    adjusted = float(np.linalg.norm(psd - raw) / np.linalg.norm(raw))
    return Estimate(np.zeros(len(raw)), psd, adjusted=adjusted)


# -- what is reported of them -----------------------------------------------------------------


def _check_columns(X: np.ndarray) -> None:
    empty = np.flatnonzero(np.isnan(X).all(axis=0))
    if len(empty):
        listed = ", ".join(map(str, empty[:10])) + (", ..." if len(empty) > 10 else "")
        raise ValueError(f"X has columns without any value, at {listed}: leave them out.")


def _with_last_class(found: Estimate, n: int) -> Estimate:
    """The same with the indicator of the last class: one less those of all others."""
    width = len(found.mean)
    L = np.vstack([np.eye(width), np.append(np.zeros(n), -np.ones(width - n))])
    mean = L @ found.mean
    mean[-1] += 1.0
    return found._replace(mean=mean, covariance=L @ found.covariance @ L.T)


def _facts(X: np.ndarray, method: str, found: Estimate) -> Mapping[str, Any]:
    shares = np.isnan(X).mean(axis=0)
    return {
        "method": method,
        "share": float(shares.mean()),
        "column_shares": tuple(shares.tolist()),
        "iterations": len(found.likelihoods),
        "ridge": found.ridge,
        "adjusted": found.adjusted,
    }
