"""What the data of a selection are: one immutable holder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.data._errors import error_of, errors_along, interval_of
from columnist.linalg._column_parts import ColumnParts
from columnist.linalg._memory import check_memory
from columnist.linalg._passes import columns_of, squared_norms, without_means
from columnist.linalg._reduce import (
    Reduced,
    can_be_squared,
    power_of_two,
    reduce_data,
    reduce_gram,
)
from columnist.linalg._residual import Basis, graded_basis, of_like_length
from columnist.linalg._threads import single_threaded_blas

__all__ = ["SMALL_ENTRIES", "Matrices"]

# Entries of a matrix that may be written out, or brought here, to compute errors: 16 MB.
SMALL_ENTRIES = 2_000_000
# Operations below which more than one BLAS thread only costs.
_SMALL = 1e8


@dataclass(frozen=True)
class Matrices:
    """Checked data, brought once to a scale at which entries can be squared and summed.

    Attributes
    ----------
    X : ndarray, sparse array or ColumnParts of shape (m, n)
        The columns, divided by ``x_scale``; with ``gram`` their Gram matrix, divided by its square.
    Y : ndarray of shape (m, q) or None
        The target, divided by ``y_scale``; None if it is X.
    gram : bool
        Whether X is a Gram matrix.
    center : bool
        Whether means are free.
    unit : float
        What singular values are multiplied with to come out in the unit of the target.
    x_scale, y_scale : float
        Powers of two that X and the target were divided by: 1 for entries of usual size. Whoever
        makes the object leaves them out.
    sample : bool
        Whether a few rows stand for many.
    source : callable or None
        Brings the many rows themselves, if they fit, for errors that need better arithmetic.
    removed : tuple of two ndarrays or None
        Means of X and of the target that the few rows are already without.
    target_kind : str or None
        Whether Y was made of "classes" or "numbers".
    workers : object
        Helpers for long searches where the rows are, if there are any.
    preparation : float
        Seconds that a pass over rows in blocks took.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.criteria import Nuclear
    >>> from columnist.data import Matrices
    >>> matrices = Matrices(np.diag([3e200, 1e200]))
    >>> matrices.error([0], Nuclear())
    1e+200
    """

    X: Any
    Y: np.ndarray | None = None
    gram: bool = False
    center: bool = False
    unit: float = 1.0
    x_scale: float = 0.0
    y_scale: float = 0.0
    sample: bool = False
    source: Callable[[], Matrices] | None = None
    removed: tuple[np.ndarray, np.ndarray] | None = None
    target_kind: str | None = None
    workers: Any = None
    preparation: float = 0.0

    def __post_init__(self) -> None:
        if self.x_scale:
            return
        x_scale = power_of_two(np.sqrt(np.abs(self.X)) if self.gram else self.X)
        y_scale = x_scale if self.Y is None else power_of_two(self.Y)
        scaled: dict[str, Any] = {"x_scale": 1.0, "y_scale": 1.0}
        if not (can_be_squared(x_scale) and can_be_squared(y_scale)):
            X = self.X / x_scale
            scaled = {
                "X": X / x_scale if self.gram else X,
                "Y": None if self.Y is None else self.Y / y_scale,
                "unit": self.unit * y_scale,
                "x_scale": x_scale,
                "y_scale": y_scale,
            }
        for name, value in scaled.items():
            object.__setattr__(self, name, value)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def is_here(self) -> bool:
        """Whether X is in memory, and not visited in blocks of columns."""
        return not isinstance(self.X, ColumnParts)

    @property
    def target(self):
        """What is approximated."""
        return self.X if self.Y is None else self.Y

    @cached_property
    def target_energy(self) -> float:
        """Sum of squares of the target."""
        return float(squared_norms(self.target).sum())

    def centered_target(self) -> np.ndarray:
        """The target as a dense array, means removed if they are free."""
        target = self.target
        target = target.toarray() if sp.issparse(target) else target.astype(np.float64, copy=False)
        return without_means(target) if self.center else target

    @cached_property
    def written(self) -> Matrices:
        """Sparse data in one array where that is small; else this object."""
        if not sp.issparse(self.X) or self.X.shape[0] * self.X.shape[1] > SMALL_ENTRIES:
            return self
        return replace(self, X=self.X.toarray())

    def threads(self) -> AbstractContextManager:
        """One BLAS thread for small matrices, as many as there are otherwise."""
        m, n = self.X.shape
        return single_threaded_blas() if m * n * min(m, n) < _SMALL else nullcontext()

    # -- the small matrix of a search ---------------------------------------------

    def reduce(self, reduction: str, size: int, rng) -> Reduced:
        """A small matrix with the same errors."""
        if self.gram:
            reduced = reduce_gram(self.X)
        else:
            rank = max(4 * size, 100) if reduction == "randomized" else None
            self._check_memory(rank)
            reduced = reduce_data(self.X, self.Y, center=self.center, rank=rank, rng=rng)
        return replace(reduced, scale=reduced.scale * self.unit)

    def _check_memory(self, rank: int | None) -> None:
        m, n = self.X.shape
        need = 8.0 * (min(m, n) if rank is None else rank) * n * 4
        check_memory(
            need,
            f"The exact reduction of a {m} x {n} matrix",
            "Select rows or columns first, or use ColumnSelector(reduction='randomized').",
        )

    # -- errors ---------------------------------------------------------------------

    error = error_of
    interval = interval_of
    errors_along = errors_along

    def basis(self, subset: Sequence[int] | np.ndarray, *, ordered: bool = False) -> Basis:
        """Orthonormal basis of the chosen columns, means removed if they are free.

        Its growth also holds what the means cost. With ``ordered``, its first vectors span the
        first columns.
        """
        chosen = of_like_length(columns_of(self.X, list(subset)).T)
        lengths = np.linalg.norm(chosen, axis=1)  # before means are removed: they cost digits
        chosen = without_means(chosen.T).T if self.center else chosen
        own = np.linalg.norm(chosen, axis=1)
        basis = graded_basis(chosen, range(len(chosen)), own, ordered=ordered)
        far = float((lengths / np.where(own > 0.0, own, np.inf)).max(initial=1.0))
        return basis._replace(growth=basis.growth * far)
