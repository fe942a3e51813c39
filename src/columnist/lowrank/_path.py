"""Selections over a range of penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_array

from columnist.data._parameters import Integer, Number, checked
from columnist.data._validation import random_generator
from columnist.linalg._prox import row_norms
from columnist.lowrank._base import check_rank, read_table
from columnist.lowrank._factors import Start
from columnist.lowrank._solve import Solver

__all__ = ["LoadingsPath", "loadings_path"]

# Smallest penalty of the usual grid, relative to the largest one.
_SMALLEST = 1e-3


@dataclass(frozen=True)
class LoadingsPath:
    """What :func:`loadings_path` returns, one entry per penalty.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Penalties, ascending.
    scores : ndarray of shape (n_alphas, n_features)
        Lengths of the loadings; zero where a column is not selected.
    n_selected : ndarray of int of shape (n_alphas,)
        Number of columns with loadings.
    objectives : ndarray of shape (n_alphas,)
        Objectives.
    alpha_max : float
        Smallest penalty that leaves nothing.
    """

    alphas: np.ndarray
    scores: np.ndarray
    n_selected: np.ndarray
    objectives: np.ndarray
    alpha_max: float

    def selected(self, index: int) -> np.ndarray:
        """Columns selected at one of the penalties, ascending."""
        return np.flatnonzero(self.scores[index])


@checked(tol=Number(0.0, above=True))
def loadings_path(
    X,
    n_components: int,
    *,
    loss: str = "quadratic",
    alphas: Sequence[float] | int = 30,
    centering: str = "none",
    location: str = "mean",
    n_starts: int = 6,
    tol: float = 1e-4,
    max_iter: int = 2000,
    random_state=None,
) -> LoadingsPath:
    """Row-sparse low-rank models for rising penalties, each started from the one before.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data; NaN for missing entries.
    n_components : int
        Rank of the model.
    loss : {"quadratic", "robust"}, default="quadratic"
        Squared lengths or lengths of the residual's rows.
    alphas : int or sequence of float, default=30
        Penalties, or how many between a thousandth of :func:`alpha_max` and that, evenly spaced
        on a logarithmic scale.
    centering : {"none", "mean"}, default="none"
        Whether the centre of each column is subtracted first.
    location : {"mean", "median"}, default="mean"
        Which centre ``centering="mean"`` subtracts. Outliers move a mean.
    n_starts : int, default=6
        Starts of the first model.
    tol : float, default=1e-4
        Relative length of the residuals at which to stop.
    max_iter : int, default=2000
        Iterations at most, for each penalty.
    random_state : int, RandomState instance or None, default=None
        Randomness of the starts.

    Returns
    -------
    LoadingsPath

    See Also
    --------
    SparseLoadings : One model, or the one with a given number of columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.lowrank import loadings_path
    >>> path = loadings_path(scale(load_wine().data), 2, alphas=5, random_state=0)
    >>> path.n_selected
    array([13, 13, 13, 13,  0])
    """
    sparse = ("csr", "csc") if loss == "quadratic" else False
    X = check_array(
        X, dtype=[np.float64, np.float32], ensure_all_finite="allow-nan", accept_sparse=sparse
    )
    check_rank(n_components, X.shape)
    table = read_table(X, centering, location)
    unit = table.unit if loss == "quadratic" else 1.0
    solver = Solver.of(
        table, n_components, loss, n_starts=n_starts, tol=tol, max_iter=max_iter,
        rng=random_generator(random_state),
    )  # fmt: skip
    return _follow(solver, _grid(alphas, solver.top, unit), unit)


def _grid(alphas, top: float, unit: float) -> np.ndarray:
    """Penalties in balanced units, ascending."""
    if np.ndim(alphas) == 0:
        Integer(1).check("alphas", alphas)
        return top * np.geomspace(_SMALLEST, 1.0, alphas) if alphas > 1 else np.array([top])
    grid = np.sort(check_array(alphas, ensure_2d=False, dtype=np.float64, input_name="alphas"))
    if grid.ndim != 1 or grid[0] < 0.0:
        raise ValueError("alphas must be a list of numbers >= 0, or how many to try.")
    return grid / unit


def _follow(solver: Solver, grid: np.ndarray, unit: float) -> LoadingsPath:
    starts, scores, objectives = None, [], []
    for alpha in grid:
        found = solver.solve(alpha, starts=starts)
        scores.append(row_norms(found.Y))
        objectives.append(found.objective)
        starts = [Start(found.X, found.Y)] if found.n_active else None
    table = solver.table
    lengths = np.array(scores)
    return LoadingsPath(
        grid * unit,
        lengths * table.unit,
        np.count_nonzero(lengths, axis=1),
        np.array(objectives) * (unit * table.unit),
        solver.top * unit,
    )
