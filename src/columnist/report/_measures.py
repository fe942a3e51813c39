"""Quantities that reports compute from the data, at a bounded cost.

Large data are sampled, and every result comes with a sentence that states it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist._text import count, readable
from columnist.linalg._passes import columns_of, merge_repeats
from columnist.linalg._reduce import reduce_data, reduce_gram, squaring_scale
from columnist.linalg._rounding import EPS
from columnist.linalg._threads import single_threaded_blas
from columnist.metrics import redundancy_rate

# Entries of the rows that correlations are computed from, and the fewest rows for it.
_MOST_ENTRIES, _FEWEST_ROWS = 5_000_000, 2_000
# Operations of all pairs of columns; with more, a sample of so many columns is used.
_MOST_PAIRS, _SAMPLED = 1e9, 600
# Operations of an exact decomposition; and the largest side of a Gram matrix.
_MOST_WORK, _GRAM_SIDE = 5e9, 2400
# Leading singular values of still larger data.
_LEADING = 100
# A column that varies by less than this share of its largest entry is constant.
_ROUNDING = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Data:
    """Checked data: ``X`` times ``unit`` are the numbers given; ``gram``: X is a Gram matrix."""

    X: np.ndarray | sp.csr_array
    names: list[str]
    unit: float = 1.0
    gram: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape

    def sampled(self, n_columns: int) -> tuple[Data, str]:
        """As many rows as ``n_columns`` columns of them can be afforded, and a remark."""
        n = self.X.shape[0]
        most = max(_FEWEST_ROWS, _MOST_ENTRIES // max(n_columns, 1))
        if self.gram or n <= most:
            return self, ""
        rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
        X = self.X.tocsr() if sp.issparse(self.X) else self.X
        return replace(self, X=X[rows]), f"Computed from {count(most, 'row')} taken at random."


def column_names(names: Sequence[str] | None, fitted: Any, n_columns: int) -> list[str]:
    """Readable names of all columns: the given ones, those of the fit, or x0, x1 and so on."""
    names = getattr(fitted, "feature_names_in_", None) if names is None else names
    names = [f"x{j}" for j in range(n_columns)] if names is None else names
    if len(names) != n_columns:
        raise ValueError(f"names needs one entry per column ({n_columns}); got {len(names)}.")
    return [readable(name) for name in names]


def read_data(
    X, names: Sequence[str] | None = None, fitted: Any = None, *, gram: bool = False
) -> Data:
    """Check the data of a report, and that they are those of a fit."""
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], input_name="X")
    n_columns = getattr(fitted, "n_features_in_", X.shape[1])
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the fit has seen {n_columns}: pass the data of "
            "the fit."
        )
    names = column_names(names, fitted, n_columns)
    X = merge_repeats(X)
    unit = squaring_scale(np.sqrt(np.abs(X)) if gram else X)
    return Data(X if unit == 1.0 else X / unit / (unit if gram else 1.0), names, unit, gram)


@single_threaded_blas()
def correlations(data: Data, rows, columns) -> np.ndarray:
    """Correlation of some columns with others; NaN where one of them is constant."""
    rows, columns = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
    if data.gram:
        diagonal = np.sqrt(np.maximum(np.diag(data.X), 0.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            found = data.X[np.ix_(rows, columns)] / np.outer(diagonal[rows], diagonal[columns])
    else:
        found = _units(columns_of(data.X, rows)).T @ _units(columns_of(data.X, columns))
    return np.clip(found, -1.0, 1.0)


def _units(part: np.ndarray) -> np.ndarray:
    """Columns without their means and of length 1; NaN where they are constant."""
    largest = np.abs(part).max(axis=0, initial=0.0)
    part = part / np.where(largest > 0.0, largest, 1.0)
    part -= part.mean(axis=0)
    lengths = np.linalg.norm(part, axis=0)
    constant = lengths <= _ROUNDING * np.sqrt(len(part))
    return part / np.where(constant, np.nan, lengths)


@single_threaded_blas()
def redundancy(data: Data, columns=None) -> tuple[float, str]:
    """Mean absolute correlation of pairs among some columns, or all; and a remark on sampling."""
    columns = np.arange(data.shape[1]) if columns is None else np.asarray(columns, dtype=np.intp)
    remarks = []
    n_rows = 1 if data.gram else data.shape[0]
    if float(n_rows) * len(columns) ** 2 > _MOST_PAIRS and len(columns) > _SAMPLED:
        columns = np.sort(np.random.default_rng(0).choice(columns, _SAMPLED, replace=False))
        remarks.append(f"Estimated from {_SAMPLED} columns taken at random.")
    if data.gram:
        found = np.abs(correlations(data, columns, columns))
        np.fill_diagonal(found, np.nan)
        known = found[np.isfinite(found)]
        return float(known.mean()) if len(known) else 0.0, " ".join(remarks)
    # Pairs cost n m^2, so rows are few where columns are many.
    part, remark = data.sampled(int(len(columns) ** 2 * _MOST_ENTRIES / _MOST_PAIRS))
    remarks += [remark] if remark else []
    return redundancy_rate(part.X, columns), " ".join(remarks)


@dataclass(frozen=True)
class Spectrum:
    """Singular values, descending, the sum of all their squares, and whether none is missing."""

    values: np.ndarray
    energy: float
    complete: bool
    remark: str = ""


@single_threaded_blas()
def spectrum(data: Data, *, center: bool) -> Spectrum | None:
    """Singular values of the data; the leading ones if they are large, None if too large."""
    n, m = data.shape
    side = min(n, m)
    if data.gram and m > _GRAM_SIDE:
        return None
    exact = data.gram or float(n) * m * side <= _MOST_WORK
    rank, rng = None if exact else _LEADING, np.random.default_rng(0)
    X = data.X.astype(np.float64, copy=False)
    small = reduce_gram(X) if data.gram else reduce_data(X, center=center, rank=rank, rng=rng)
    values = data.unit * small.scale * np.sqrt(small.weights)
    energy = float(np.sum(values**2))
    # What is left out of the small matrix is zero.
    values = np.pad(values, (0, max(side - len(values), 0)))
    if exact:
        return Spectrum(values, energy, True)
    values = values[:_LEADING]
    remark = f"The {len(values)} largest, estimated by a randomized decomposition."
    return Spectrum(values, energy / max(1.0 - small.lost, EPS), False, remark)
