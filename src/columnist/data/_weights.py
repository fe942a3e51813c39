r"""Weights of samples. Only this module handles them: the data that it returns have no weights.

A sample of weight w counts like w equal rows, and one of weight zero like none. With the weighted
means :math:`\mu`, errors are those of the rows :math:`\sqrt{w_i}(x_i - \mu)`; a reflection that
turns the vector of the :math:`\sqrt{w_i}` into a constant one makes plain means of the weighted
ones (:meth:`columnist.linalg._moments.Moments.sample`). What is left are some rows with the
weighted means and inner products, like those that represent a collection, and the rounding of
roots and reflection is charged in the same way: a claim that double precision cannot decide is not
made. Whole weights of small data need no such care: where it matters, rows are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from columnist.data._matrices import SMALL_ENTRIES, Matrices
from columnist.data._validation import check_weights, rows_at
from columnist.linalg._memory import check_memory
from columnist.linalg._moments import moments_of


class WeightedRows(NamedTuple):
    """Rows that have a weight, as they are: X, the target, which may be None, the weights, None if
    all of them are one, and which of the rows that were given these are."""

    X: Any
    Y: Any
    weights: np.ndarray | None
    places: np.ndarray
    n_given: int

    def some(self, which: np.ndarray) -> WeightedRows:
        """Some of them."""
        Y = None if self.Y is None else self.Y[which]
        weights = None if self.weights is None else self.weights[which]
        return self._replace(X=self.X[which], Y=Y, weights=weights, places=self.places[which])


def present_rows(X, y, sample_weight) -> WeightedRows:
    """The rows whose weight is not zero. ``y`` may be anything that has as many rows."""
    given = check_weights(sample_weight, X.shape[0])
    places = np.flatnonzero(given)
    weights = given[places]
    if len(places) < len(given):
        X, y = X[places], rows_at(y, places)
    plain = np.array_equal(weights, np.ones(len(weights)))
    return WeightedRows(X, y, None if plain else weights, places, len(given))


def weighted_matrices(rows: WeightedRows, *, center: bool, means: bool = False) -> Matrices:
    """Matrices with the weighted errors of checked rows; with ``means`` their plain means are the
    weighted ones, whether these are free or not."""
    X, Y, weights = rows.X, rows.Y, rows.weights
    if weights is None:
        return Matrices(X, Y, center=center, rows=rows)
    total, source = float(weights.sum()), repeated(X, Y, weights, center=center)
    if sp.issparse(X) and not (center or means):
        root = np.sqrt(weights)
        Y = None if Y is None else root[:, None] * Y
        scaled = (sp.diags_array(root) @ X).asformat(X.format)
        return Matrices(scaled, Y, sample=True, source=source, n_rows=total, rows=rows)
    if sp.issparse(X):
        m, n = X.shape
        check_memory(
            3.0 * 8.0 * min(m, 2 * n) * n,
            f"Sample weights with free means, for a sparse {m} x {n} matrix,",
            "Use centering='none', or select rows or columns first.",
        )
    moments = moments_of(_joint(X, Y), weights)
    matrices = matrices_from(
        moments, X.shape[1], Y is not None, center=center, means=means, source=source
    )
    return replace(matrices, rows=rows)


def some_rows(matrices: Matrices, which: np.ndarray) -> Matrices:
    """The same for some rows, with their weights."""
    if matrices.rows is None:
        return matrices.take_rows(which)
    return weighted_matrices(matrices.rows.some(which), center=matrices.center)


def rows_as_given(matrices: Matrices, which: np.ndarray) -> tuple[Any, Any, np.ndarray | None]:
    """Some rows of X and of the target in their own units, and their weights if they have any."""
    if matrices.rows is not None:
        X, Y, weights, *_ = matrices.rows.some(which)
        return X, Y, weights
    assert matrices.Y is not None  # a score has a target
    return matrices.X[which] * matrices.x_scale, matrices.Y[which] * matrices.y_scale, None


def matrices_from(
    moments, n: int, target: bool, *, center: bool, means: bool = False, source=None, **facts: Any
) -> Matrices:
    """A few rows with the means and inner products of all, of which the first n are columns of X
    and the others the target. Where means are free the rows are without them, unless ``means`` are
    asked for: columns far from zero keep more digits so."""
    removes = center and not means
    sample, mean = moments.sample(centered=removes), moments.mean
    return Matrices(
        sample.rows[:, :n], sample.rows[:, n:] if target else None, center=center,
        unit=float(np.sqrt(sample.weight)), sample=True, source=source,
        removed=(mean[:n], mean[n:] if target else mean[:n]) if removes else None,
        n_rows=moments.count, **facts,
    )  # fmt: skip


def repeated(X, Y, weights: np.ndarray, *, center: bool) -> Callable[[], Matrices] | None:
    """Brings the rows as often as they count, if these are whole numbers and the result is small;
    each result is computed once."""
    total = float(weights.sum())
    if total * X.shape[1] > SMALL_ENTRIES or not np.array_equal(weights, np.rint(weights)):
        return None

    @cache
    def source() -> Matrices:
        which = np.repeat(np.arange(len(weights)), weights.astype(np.intp))
        rows = X[which].astype(np.float64, copy=False)
        return Matrices(rows, None if Y is None else Y[which], center=center)

    return source


def _joint(X, Y):
    if Y is None:
        return X
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(Y)], format="csr")
    return np.hstack([X, Y])
