r"""Where the iterations begin. No input validation.

Both problems have many local minima, among them :math:`Y = 0`. Squared errors start from the
leading singular vectors, then from the longest columns, then from columns drawn with
probabilities proportional to their squared lengths: scores that point along a real column
are not lost on the penalty. Lengths of rows start from the singular vectors and the longest
columns of the rows brought to unit length, which outliers cannot turn far, then from the singular
vectors of the rows as they are, then from random directions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from columnist.linalg._passes import columns_of
from columnist.linalg._prox import minimize_l21, row_norms
from columnist.linalg._ties import ranked
from columnist.lowrank._factors import Start
from columnist.lowrank._table import Table, leading_svd

__all__ = ["first_points", "single_column"]

# Share of a row's length that its part outside a column has at least: keeps the loss smooth.
_ROUNDING, _TINY = 1e-6, 1e-200


def first_points(
    table: Table, rank: int, loss: str, n_starts: int, rng: np.random.Generator
) -> list[Start]:
    """As many first scores as asked for, the most promising ones first.

    Parameters
    ----------
    table : Table
        Data.
    rank : int
        Number of columns of the scores, at most min(n, p).
    loss : {"quadratic", "robust"}
        Whether outlying rows count with their squared length.
    n_starts : int
        How many; at least 1.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of Start
    """
    if loss == "robust":
        balanced = _unit_rows(table)
        points = [leading_svd(balanced, rank)[0], _longest(balanced, rank)]
        points.append(leading_svd(table, rank)[0])
        points += [rng.standard_normal(points[0].shape) for _ in range(n_starts - 3)]
    else:
        norms = table.column_norms()
        points = [leading_svd(table, rank)[0], _longest(table, rank)]
        points += [_columns(table, _drawn(norms, rank, rng)) for _ in range(n_starts - 2)]
    return [Start(np.linalg.qr(point)[0]) for point in points[:n_starts]]


def single_column(table: Table, rank: int, alpha: float) -> Start:
    r"""The best robust model with loadings in one column, that with the largest limit.

    If only column i has loadings, :math:`z = Xy_i` can be any vector, and

    .. math:: \sum_j \sqrt{(a_{ji} - z_j)^2 + \rho_j^2} + \alpha \|z\|,

    with :math:`\rho_j` the length of the rest of row j, is convex in it. Below the largest penalty
    its minimum is not at zero, however close; iterations from elsewhere may miss it.
    """
    column = int(ranked(table.pull_limits("robust"))[0])
    values = columns_of(table.values, [column])[:, 0]
    norms = table.residual_norms(np.zeros((len(values), 1)), np.zeros((table.shape[1], 1)))
    rest = np.sqrt(np.maximum(norms**2 - values**2, (_ROUNDING * norms) ** 2 + _TINY))

    def smooth(Z):
        lengths = np.sqrt(np.square(Z[0] - values) + rest**2)
        return float(lengths.sum()), ((Z[0] - values) / lengths)[None, :]

    z = minimize_l21(smooth, np.zeros((1, len(values))), alpha, max_iter=500).W[0]
    X, Y = np.zeros((len(z), rank)), np.zeros((table.shape[1], rank))
    X[:, 0], Y[column, 0] = z, np.linalg.norm(z)
    X = np.linalg.qr(X)[0]
    return Start(X * (1.0 if X[:, 0] @ z >= 0.0 else -1.0), Y)


def _unit_rows(table: Table) -> Table:
    norms = np.concatenate([row_norms(values) for _, values in table.blocks()])
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0.0)
    return replace(table, values=table.values * scale[:, None], missing=None)


def _drawn(norms: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    shares = norms**2 / np.sum(norms**2) if norms.any() else np.zeros(len(norms))
    shares += 1e-9  # there may be fewer columns than wanted that are not zero
    return rng.choice(len(norms), size, replace=False, p=shares / shares.sum())


def _longest(table: Table, size: int) -> np.ndarray:
    return _columns(table, ranked(table.column_norms())[:size])


def _columns(table: Table, which: np.ndarray) -> np.ndarray:
    columns = columns_of(table.values, which)
    return columns if table.shift is None else columns - table.shift[which]
