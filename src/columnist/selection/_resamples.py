"""Selectors fitted to resampled rows: the selected columns of each resample, and errors on rows
left out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from columnist.data._validation import take_rows
from columnist.linalg._passes import column_blocks, columns_of
from columnist.linalg._rounding import CONSTANT
from columnist.search._interrupts import pending

# Parameters of a selector that would print, stop or write in every resample.
_SILENT = {"callback": None, "proof": None, "verbose": False}
# Directions of the kept columns shorter than this share of the longest add nothing but rounding.
_DEPENDENT = 1e-10
# What the number of columns is called.
_SIZES = ("n_features_to_select", "k")


class StabilityProgress(NamedTuple):
    """How many of the resamples are done."""

    done: int
    total: int


class Fitted(NamedTuple):
    """One fit: the mask of the kept columns, and the status of the certificate if there is one."""

    support: np.ndarray
    status: str | None


class Resample(NamedTuple):
    """One resample: what was kept, and the error on rows left out for each size."""

    support: np.ndarray
    status: str | None
    losses: list[float]


class Drawing:
    """Rows drawn from each group of rows: all rows are one group, or each class is one."""

    def __init__(self, groups: Sequence[np.ndarray], method: str, fraction: float):
        self.groups, self.method, self.fraction = groups, method, fraction
        self.n_rows = sum(map(len, groups))

    def __call__(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn, those drawn twice repeated, and rows left out; both ascending."""
        drawn = np.sort(np.concatenate([self._from(group, rng) for group in self.groups]))
        left = np.ones(self.n_rows, dtype=bool)
        left[drawn] = False
        return drawn, np.flatnonzero(left)

    def _from(self, group: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        size = max(1, round(self.fraction * len(group)))
        return rng.choice(group, size, replace=self.method == "bootstrap")


class Refitter:
    """Clones of a selector, or of a pipeline that ends with one, fitted to some rows."""

    def __init__(self, selector, X, y, weights: np.ndarray | None = None, *, alone: bool = True):
        self.X, self.y, self.weights = X, y, weights
        steps = getattr(selector, "steps", None)
        self.prefix = "" if steps is None else f"{steps[-1][0]}__"
        self.last = _silent(selector if steps is None else steps[-1][1], alone)
        if steps is not None:
            own = selector.get_params(deep=False)
            own["steps"] = [*steps[:-1], (steps[-1][0], self.last)]
            selector = type(selector)(**own)
        self.selector = self.last if steps is None else selector
        self.known = self.selector.get_params()
        self._weighed = [] if weights is None else self._weight_parameters(steps)

    def size_parameter(self) -> str:
        """The parameter that says how many columns are kept."""
        for name in _SIZES:
            if self.prefix + name in self.known:
                return self.prefix + name
        raise ValueError(
            "sizes needs a selector with a parameter n_features_to_select; "
            f"{type(self.last).__name__} has none. Leave sizes out."
        )

    def fit(self, rows: np.ndarray | None, seed: int, seconds: float | None, **changed) -> Fitted:
        """Fit a clone to some rows, all if None."""
        open_seeds = [n for n in self.known if n.endswith("random_state") and self.known[n] is None]
        chance = dict.fromkeys(open_seeds, seed)
        model = clone(self.selector).set_params(**chance, **self._limit(seconds), **changed)
        X, y, weights = (
            D if D is None or rows is None else take_rows(D, rows)
            for D in (self.X, self.y, self.weights)
        )
        weighed = dict.fromkeys(self._weighed, weights)
        model.fit(X, **weighed) if y is None else model.fit(X, y, **weighed)
        last = model if not self.prefix else model.steps[-1][1]
        certificate = getattr(last, "certificate_", None)
        return Fitted(self._support(last), getattr(certificate, "status", None))

    def _weight_parameters(self, steps) -> list[str]:
        """What the weights are called in ``fit``: every step that takes them gets them."""
        if not has_fit_parameter(self.last, "sample_weight"):
            raise ValueError(
                f"{type(self.last).__name__} takes no sample_weight: leave it out, or use another "
                "selector."
            )
        if steps is None:
            return ["sample_weight"]
        takers = [n for n, step in steps if has_fit_parameter(step, "sample_weight")]
        return [f"{name}__sample_weight" for name in takers]

    def _limit(self, seconds: float | None) -> dict[str, Any]:
        """The time for one fit, never more than the selector's own."""
        name = f"{self.prefix}time_limit"
        if seconds is None or name not in self.known:
            return {}
        own = self.known[name]
        return {name: seconds if own is None else min(own, seconds)}

    def _support(self, last) -> np.ndarray:
        support = np.asarray(last.get_support())
        n_features = self.X.shape[1]
        if support.dtype != bool or support.shape != (n_features,):
            raise ValueError(
                f"get_support of {type(last).__name__} is not a mask of the {n_features} columns "
                "of X: a step before it makes other columns. Resample the selector alone."
            )
        return support


def _silent(selector, alone: bool):
    """The selector without parameters that print, stop or write, and with one thread if several of
    it run at the same time; callbacks may not be copied."""
    own = selector.get_params(deep=False)
    changed = _SILENT if alone else {**_SILENT, "n_jobs": None}
    own |= {name: value for name, value in changed.items() if name in own}
    return type(selector)(**own)


@dataclass(frozen=True)
class Resampling:
    """Everything a resample needs; ``complete`` marks the rows without missing values, and
    ``size_name`` is None where there is only the own size."""

    refit: Refitter
    draw: Drawing
    data: Any
    target: np.ndarray | None
    weights: np.ndarray
    complete: np.ndarray
    sizes: Sequence[int]
    size_name: str | None
    deadline: float | None
    n_resamples: int
    n_jobs: int | None

    def whole(self, seed: int) -> Fitted:
        """The fit to all rows."""
        return self.refit.fit(None, seed, self._seconds(-1))

    def run(self, seeds: Sequence[int], callback: Callable | None) -> tuple[list[Resample], bool]:
        """The resamples in order, and whether they were interrupted."""
        found: list[Resample] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the warning was given for all rows
                for resample in self._results(seeds):
                    if pending():  # what a search returns then was cut short
                        return found, True
                    found.append(resample)
                    progress = StabilityProgress(len(found), len(seeds))
                    if callback is not None and callback(progress) and len(found) < len(seeds):
                        return found, True
        except KeyboardInterrupt:
            return found, True
        return found, False

    def _results(self, seeds: Sequence[int]) -> Iterator[Resample]:
        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        return parallel(delayed(self._one)(i, seed) for i, seed in enumerate(seeds))

    def _one(self, place: int, seed: int) -> Resample:
        rng = np.random.default_rng(seed)
        drawn, left = self.draw(rng)
        seed = int(rng.integers(2**31 - 1))
        seconds = self._seconds(place)
        found = self.refit.fit(drawn, seed, seconds)
        if self.size_name is None:
            return Resample(*found, [self._loss(drawn, left, found.support)])
        losses = []
        for size in self.sizes:
            support = self.refit.fit(drawn, seed, seconds, **{self.size_name: size}).support
            losses.append(self._loss(drawn, left, support))
        return Resample(*found, losses)

    def _seconds(self, place: int) -> float | None:
        """Time for each fit of a resample: an equal share of what is left; -1 is all rows."""
        if self.deadline is None:
            return None
        left = max(self.deadline - time.perf_counter(), 0.0)
        if place < 0:
            return left / (self.n_resamples + 1)
        fits = (self.n_resamples - place) * (1 + len(self.sizes) * (self.size_name is not None))
        return left * min(effective_n_jobs(self.n_jobs), self.n_resamples) / fits

    def _loss(self, drawn: np.ndarray, left: np.ndarray, support: np.ndarray) -> float:
        drawn, left = drawn[self.complete[drawn]], left[self.complete[left]]
        columns = np.flatnonzero(support)
        return left_out_error(self.data, self.target, self.weights, drawn, left, columns)


def left_out_error(X, Y, weights, drawn, left, columns: np.ndarray) -> float:
    """Share of the rows left out that the columns leave unexplained: least squares with an
    intercept from the rows drawn, against the mean of these. NaN where there is nothing to explain.

    Y is X itself if None; the weights are those of all rows.
    """
    if not len(left) or not len(drawn):
        return np.nan
    inside, outside = weights[drawn], weights[left, None]
    root = np.sqrt(inside)[:, None]
    kept = columns_of(X, columns)
    kept = kept / _lengths(kept[np.concatenate([drawn, left])])
    center = np.average(kept[drawn], axis=0, weights=inside)
    solve = np.linalg.pinv(root * (kept[drawn] - center), rcond=_DEPENDENT)
    shown = kept[left] - center
    residual = total = size = 0.0
    T = X if Y is None else Y
    for block in column_blocks(T.shape[1], T.shape[0]):
        part = columns_of(T, block)
        mean = np.average(part[drawn], axis=0, weights=inside)
        around = part[left] - mean
        total += float((outside * np.square(around)).sum())
        size += float((outside * np.square(part[left])).sum())
        rest = around - shown @ (solve @ (root * (part[drawn] - mean)))
        residual += float((outside * np.square(rest)).sum())
    return residual / total if total > CONSTANT**2 * size else np.nan


def _lengths(columns: np.ndarray) -> np.ndarray:
    lengths = np.abs(columns).max(axis=0, initial=0.0)
    return np.where(lengths > 0.0, lengths, 1.0)


def complete_rows(X) -> np.ndarray:
    """Which rows of an array, or of a sparse matrix by columns, have no missing values."""
    if not sp.issparse(X):
        return ~np.isnan(X).any(axis=1)
    return ~np.isin(np.arange(X.shape[0]), X.indices[np.isnan(X.data)])


def shared_variance(X, weights: np.ndarray, first: int, second: int) -> float:
    """Squared correlation of two columns in rows that have both; NaN where one is constant."""
    both = columns_of(X, np.array([first, second])).astype(np.float64)
    there = ~np.isnan(both).any(axis=1)
    if not there.any():
        return np.nan
    both = both[there] - np.average(both[there], axis=0, weights=weights[there])
    a, b = (np.sqrt(weights[there])[:, None] * both).T
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return min(float(a @ b / lengths) ** 2, 1.0) if lengths > 0.0 else np.nan


def as_rows_of(X):
    """Sparse data by rows, so that rows can be drawn; others as they are."""
    return X.tocsr() if sp.issparse(X) else X
