"""Selectors that score each column separately against the target."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import scipy.sparse as sp

from columnist.data import Matrices, RowBlocks
from columnist.data._target import open_target
from columnist.linalg._column_parts import Visit, visiting
from columnist.linalg._passes import centered_norms, column_blocks, columns_of, cross, squared_norms
from columnist.linalg._ties import ranked
from columnist.selection._base import FastSelector

# A column that varies by less than this share of its length is constant: what is left is the
# rounding of its mean.
_CONSTANT = 100 * np.finfo(np.float64).eps
# Kinds of classes that are values to a correlation.
_NUMBERS = "biuf"


class _Filter(FastSelector):
    """Scores columns against y and keeps the best."""

    _needs_target = True
    _on_passes = True

    @abstractmethod
    def _scores(self, products: np.ndarray, length: float, matrices: Matrices) -> np.ndarray:
        """Larger is better; from the target's length along every column (or NaN), and its own."""

    def _select(self, matrices: Matrices, size: int) -> np.ndarray:
        assert matrices.Y is not None  # a filter asks for a target
        Y = matrices.Y - matrices.Y.mean(axis=0) if matrices.center else matrices.Y
        length = float(np.linalg.norm(Y))
        products = np.sqrt(_matching(matrices.X, Y, center=matrices.center))
        self.scores_ = self._scores(products, length, matrices)
        # Products are rounded at the size of their terms, however small they are themselves; and
        # copies of a column are not rounded alike.
        self.ranking_ = ranked(products, unit=length)
        return self.ranking_[:size]


class CorrelationFilter(_Filter):
    r"""Select the columns with the largest absolute correlation with one target.

    .. math:: s_j = \frac{|(x_j - \bar x_j)^T (y - \bar y)|}{\|x_j - \bar x_j\| \|y - \bar y\|}

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute correlation; NaN for a constant column, which ranks last.
    ranking_ : ndarray of shape (n_features,)
        All columns, best first; ties go to the smaller index.
    selected_ : ndarray of int
        Selected columns, best first.
    error_ : float
        Squared error of approximating y by the selected columns and an intercept.
    relative_error_ : float
        ``error_`` divided by the squared norm of y without its mean.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.MatchingFilter : For several targets, or several classes.

    Notes
    -----
    Numbers in y are values, integers too. Two classes given as text count as 0 and 1. A
    sparse X is not made dense.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from columnist.selection import CorrelationFilter
    >>> X, y = load_diabetes(return_X_y=True)
    >>> selector = CorrelationFilter(2).fit(X, y)
    >>> selector.selected_
    array([2, 8])
    >>> selector.scores_[2].round(3)
    np.float64(0.586)
    """

    def __init__(self, n_features_to_select: int | float | None = None):
        self.n_features_to_select = n_features_to_select

    def _matrices(self, X, y, **how) -> Matrices:
        how = {"center": True, "ensure_min_samples": 2, **how}
        return super()._matrices(X, y, **how)

    def _open_target(self, y, X):
        """y as one column of numbers."""
        along, read = super()._open_target(y, X)
        in_blocks = isinstance(along, RowBlocks)
        if read.classes is not None:
            if read.classes.dtype.kind in _NUMBERS:
                self._classes = None
            if in_blocks:
                return along, _OneColumn(read)
            return open_target(_as_numbers(along, read.classes), X)
        if (along.n_features if in_blocks else along.shape[1]) != 1:
            extent = f"{along.n_features} columns" if in_blocks else f"shape {along.shape}"
            raise ValueError(
                f"CorrelationFilter needs one target; y has {extent}. Use MatchingFilter for "
                "several targets."
            )
        return along, read

    def _scores(self, products: np.ndarray, length: float, matrices: Matrices) -> np.ndarray:
        assert matrices.Y is not None  # a filter asks for a target
        if length <= _CONSTANT * np.linalg.norm(matrices.Y):
            raise ValueError("y is constant: it has no correlation with any column.")
        return np.minimum(products / length, 1.0)


class MatchingFilter(_Filter):
    r"""Select the columns that explain most of the targets, each considered alone.

    .. math:: s_j = \|Y^T x_j\|^2 / \|x_j\|^2

    is what column j alone takes off the squared error of approximating Y: one pass of
    matching pursuit. Class labels become an indicator matrix.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of columns; a fraction of them if a float in (0, 1); half if None.
    centering : {"none", "mean"}, default="none"
        ``"mean"`` removes the means of columns and targets: an intercept is free.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Error that each column alone removes; NaN for a zero (or, with
        ``centering="mean"``, constant) column, which ranks last.
    ranking_ : ndarray of shape (n_features,)
        All columns, best first; ties go to the smaller index.
    selected_ : ndarray of int
        Selected columns, best first.
    error_ : float
        Squared Frobenius error of approximating Y by the selected columns.
    relative_error_ : float
        ``error_`` divided by the squared norm of Y (without its means, if they are free).
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, if X has any.

    See Also
    --------
    columnist.selection.ForwardSelector : Also accounts for redundancy among the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import MatchingFilter
    >>> X, y = load_wine(return_X_y=True)
    >>> MatchingFilter(3).fit(scale(X), y).selected_
    array([12,  0,  6])
    """

    def __init__(self, n_features_to_select: int | float | None = None, *, centering: str = "none"):
        self.n_features_to_select = n_features_to_select
        self.centering = centering

    def _scores(self, products: np.ndarray, length: float, matrices: Matrices) -> np.ndarray:
        return np.square(products) * matrices.unit**2


def _as_numbers(indicator: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Classes that are numbers as these, two others as 0 and 1."""
    if classes.dtype.kind in _NUMBERS:
        return indicator @ classes.astype(np.float64)[:, None]
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, and their correlation with a column is not defined. "
            "Use MatchingFilter for more than two classes."
        )
    return indicator[:, -1:]


class _OneColumn:
    """Reads a part of y as one column of numbers."""

    def __init__(self, read):
        self.read, self.kind = read, read.kind

    def __call__(self, y: np.ndarray) -> np.ndarray:
        return _as_numbers(self.read(y), self.read.classes)


@visiting(lambda f, X, Y, **how: X.spread(X.collect(Visit(f, Y, **how)), fill=np.nan))
def _matching(X, Y: np.ndarray, *, center: bool) -> np.ndarray:
    """``||Y'x||^2 / ||x||^2`` of every column; with ``center``, x without its mean.

    Y has its means removed already then, so that those of a sparse X need not be.
    """
    scores = np.full(X.shape[1], np.nan)
    lengths = squared_norms(X)
    height = Y.shape[1] if sp.issparse(X) else sum(Y.shape)
    for columns in column_blocks(X.shape[1], height):
        part = X[:, columns] if sp.issparse(X) else columns_of(X, columns)
        squares = lengths[columns]
        if center:
            means = np.asarray(part.mean(axis=0, dtype=np.float64)).ravel()
            part = part if sp.issparse(part) else part - means
            squares = centered_norms(part, means) if sp.issparse(part) else squared_norms(part)
        energy = np.square(cross(part, Y)).sum(axis=1)
        defined = squares > (_CONSTANT**2 * lengths[columns] if center else 0.0)
        scores[columns][defined] = energy[defined] / squares[defined]
    return scores
