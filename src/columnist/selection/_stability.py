r"""Stability of a selection: the same selector on resampled rows.

With M resamples, p columns and the mean number k of kept columns, :math:`f_j` is the share of
resamples that keep column j. The index of stability (Nogueira, Sechidis and Brown, 2018) is

.. math:: \Phi = 1 - \frac{\frac{1}{p} \sum_j \frac{M}{M-1} f_j (1 - f_j)}
                         {\frac{k}{p} \left(1 - \frac{k}{p}\right)},

1 where all resamples keep the same columns and 0 on average where columns are drawn at random.

Of a column c, the share of its place that d takes is :math:`R_{cd}`, the frequency of d in
resamples without c minus that in resamples with c. Where all resamples keep as many columns, the
shares of all d add up to 1. If only the number of columns connected c with the others, they would
be proportional to the variances :math:`f_d (1 - f_d)`: a column replaces another one if its
share is larger than that, or larger than one half, by more than chance allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import norm
from sklearn.utils.validation import check_array, check_consistent_length

from columnist._text import count, percent
from columnist.data import open_blocks, uses_target
from columnist.data._parameters import Integer, Methods, Number, StrOptions, checked
from columnist.data._target import as_target
from columnist.data._validation import (
    check_weights,
    random_generator,
    resolve_size,
    take_rows,
)
from columnist.linalg._passes import merge_repeats
from columnist.linalg._reduce import power_of_two
from columnist.search._interrupts import keeps_answer
from columnist.selection._resamples import (
    Drawing,
    Fitted,
    Refitter,
    Resample,
    Resampling,
    StabilityProgress,
    as_rows_of,
    complete_rows,
    shared_variance,
)
from columnist.selection._sizes import one_standard_error

# Chance that any pair is reported although only the number of columns connects it.
_LEVEL = 0.05
_CHECKS = {
    "accept_sparse": "csc", "dtype": [np.float64, np.float32], "input_name": "X",
    "ensure_all_finite": "allow-nan",  # the selector decides
}  # fmt: skip
# A column with more than this share of the place replaces the other one in any case.
_HALF = 0.5
# Columns in the representation.
_SHOWN = 12


class Replacement(NamedTuple):
    """A column that takes the place of another one.

    ``column`` is in the full selection, ``by`` is not. Of the ``absent`` resamples without
    ``column``, ``times`` keep ``by``. ``share`` is how much more frequent ``by`` is in resamples
    without ``column`` than in resamples with it. ``r2`` is the squared correlation of the two in
    the data.
    """

    column: int
    by: int
    times: int
    absent: int
    share: float
    r2: float


@dataclass(frozen=True)
class SelectionStability:
    """Stability of a selection, from resampled rows.

    Attributes
    ----------
    selected : ndarray of int
        The selection from all rows, ascending.
    supports : ndarray of bool of shape (n_resamples, n_features)
        Which columns each resample keeps.
    sizes : ndarray of int of shape (n_sizes,)
        Numbers of columns whose error on rows left out was computed, ascending.
    losses : ndarray of shape (n_resamples, n_sizes)
        The share of the rows left out that remains unexplained; NaN where a resample leaves out
        no (complete) row.
    replacements : tuple of Replacement
        Which columns replace a selected one beyond chance, the largest share first.
    target : str
        Target of the errors: "X" or "y".
    feature_names : tuple of str or None
        Column names, if X has any.
    n_proven : int or None
        How many resamples have a selection proven optimal; None if the selector proves nothing.
    interrupted : bool
        Whether Ctrl-C or the callback ended the resampling.
    """

    selected: np.ndarray
    supports: np.ndarray
    sizes: np.ndarray
    losses: np.ndarray
    replacements: tuple[Replacement, ...]
    target: str = "X"
    feature_names: tuple[str, ...] | None = None
    n_proven: int | None = None
    interrupted: bool = False

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.supports)

    @property
    def frequencies(self) -> np.ndarray:
        """Share of the resamples that keep each column."""
        return self.supports.mean(axis=0)

    @property
    def standard_errors(self) -> np.ndarray:
        """Binomial standard errors of the frequencies."""
        f = self.frequencies
        return np.sqrt(f * (1.0 - f) / self.n_resamples)

    @property
    def index(self) -> float:
        """Index of stability: 1 for the same columns in all resamples, about 0 for random ones;
        NaN where all columns or none are kept."""
        return stability_index(self.supports)[0]

    @property
    def index_interval(self) -> tuple[float, float]:
        """Asymptotic 95 % confidence interval of the index."""
        value, error = stability_index(self.supports)
        half = float(norm.ppf(0.975)) * error
        return value - half, min(value + half, 1.0)

    @property
    def errors(self) -> np.ndarray:
        """Mean share of the rows left out that remains unexplained, for each size."""
        return self._by_size[1]

    @property
    def error_standard_errors(self) -> np.ndarray:
        """Standard errors of the means over the resamples."""
        return self._by_size[2]

    @property
    def best_size(self) -> int:
        """The smallest size whose error is within one standard error of the least."""
        return int(self.sizes[self._by_size[0]])

    @property
    def _by_size(self) -> tuple[int, np.ndarray, np.ndarray]:
        losses = self.losses[np.isfinite(self.losses).all(axis=1)]
        if len(losses) < 2:
            undefined = np.full(len(self.sizes), np.nan)
            return 0, undefined, undefined
        return one_standard_error(losses)

    def name(self, column: int) -> str:
        """Name of a column."""
        return f"x{column}" if self.feature_names is None else self.feature_names[column]

    def table(self) -> list[dict[str, Any]]:
        """One row per column that is selected or kept by any resample, the most frequent first.

        ``pandas.DataFrame(stability.table())`` makes a frame of it.
        """
        frequencies, errors = self.frequencies, self.standard_errors
        chosen = np.isin(np.arange(len(frequencies)), self.selected)
        order = np.lexsort((~chosen, -self.supports.sum(axis=0)))
        replaced: dict[int, list[str]] = {}
        for pair in self.replacements:
            replaced.setdefault(pair.column, []).append(self.name(pair.by))
        return [
            {
                "column": self.name(j), "selected": bool(chosen[j]),
                "frequency": float(frequencies[j]), "standard_error": float(errors[j]),
                "replaced_by": replaced.get(j, []),
            }
            for j in order.tolist() if chosen[j] or frequencies[j] > 0.0
        ]  # fmt: skip

    def __repr__(self) -> str:
        low, high = self.index_interval
        lines = [
            f"SelectionStability of {count(len(self.selected), 'column')} "
            f"in {count(self.n_resamples, 'resample')}",
            f"stability index {self.index:.2f} (95 % interval {low:.2f} to {high:.2f})",
        ]
        rows = self.table()
        for row in rows[:_SHOWN]:
            by = f"  replaced by {', '.join(row['replaced_by'])}" if row["replaced_by"] else ""
            mark = "*" if row["selected"] else " "
            lines.append(f"{mark} {row['frequency']:>4.0%}  {row['column']}{by}")
        if len(rows) > _SHOWN:
            lines.append(f"  and {count(len(rows) - _SHOWN, 'more column')}")
        for size, error, spread in zip(
            self.sizes, self.errors, self.error_standard_errors, strict=True
        ):
            lines.append(
                f"{count(int(size), 'column')}: {percent(error)} of the rows left out is "
                f"unexplained (standard error {percent(spread)})"
            )
        return "\n".join(lines).replace("\u00a0", " ")


@checked(
    selector=Methods("a selector or a pipeline that ends with one", "fit", "get_params"),
    n_resamples=Integer(2), method=StrOptions("bootstrap", "subsample"),
    fraction=Number(0.0, 1.0, above=True) | None,
)  # fmt: skip
@keeps_answer
def selection_stability(
    selector,
    X,
    y=None,
    *,
    sample_weight=None,
    n_resamples: int = 50,
    method: str = "bootstrap",
    fraction: float | None = None,
    sizes: Iterable[int] | None = None,
    target: str = "auto",
    time_limit: float | None = 30.0,
    random_state=None,
    n_jobs: int | None = None,
    callback: Callable[[StabilityProgress], object] | None = None,
) -> SelectionStability:
    """Measure the stability of a selection by selecting from resampled rows.

    Parameters
    ----------
    selector : estimator
        With ``fit`` and ``get_support``, of this package or of scikit-learn, or a pipeline that
        ends with one. It is cloned and not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data in memory.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
        Target. If it holds classes, rows are drawn from each class in proportion.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts. Rows are drawn with their weights, which the selector and the
        errors take into account; a row of weight zero is never drawn.
    n_resamples : int, default=50
        Number of resamples, at least 2.
    method : {"bootstrap", "subsample"}, default="bootstrap"
        Draw rows with or without replacement.
    fraction : float, optional
        Rows drawn, as a share of all; 1 for the bootstrap and 0.5 for subsamples by default.
    sizes : iterable of int, optional
        Numbers of columns for which the error on the rows left out is computed, if the selector has
        a parameter ``n_features_to_select`` (or ``k``); by default its own number only.
    target : {"auto", "X", "y"}, default="auto"
        Target of the error. "auto": y if there is one, unless the selector has ``target="X"``.
    time_limit : float or None, default=30.0
        Seconds for all fits together of a selector with a time limit: each gets an equal share of
        what is left, and never more than the selector's own limit. Other selectors are not limited.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawing, and of a selector whose own ``random_state`` is None.
    n_jobs : int, optional
        Resamples that are computed at the same time, in threads. The result does not depend on it,
        unless a time limit ends a fit.
    callback : callable, optional
        Called after each resample with its ``done`` and ``total``; true ends the resampling.

    Returns
    -------
    SelectionStability

    Notes
    -----
    Ctrl-C, or the callback, returns the resamples that are finished, if there are two.

    The error is the share of the rows left out that a least-squares fit to the rows drawn, with an
    intercept, leaves unexplained. The standard error of its mean treats resamples as independent;
    as they share rows, it tends to be too small. Rows with missing values, which a selector with
    ``missing="covariance"`` takes, are drawn like others, but the error is computed from complete
    rows only; it is NaN if there are too few of them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import ForwardSelector, selection_stability
    >>> X = scale(load_wine().data)
    >>> stability = selection_stability(ForwardSelector(3), X, n_resamples=20, random_state=0)
    >>> stability.supports.shape
    (20, 13)
    >>> bool(stability.frequencies[stability.selected].min() > 0.2)
    True
    """
    if open_blocks(X) is not None or open_blocks(y) is not None:
        raise ValueError(
            "selection_stability draws rows repeatedly and needs them in memory: "
            "pass an array or frame (X.compute()), or a sample of the rows."
        )
    if getattr(selector, "input", "data") == "gram":
        raise ValueError("A Gram matrix has no rows to draw: selection_stability needs the data.")
    started = time.perf_counter()
    data = merge_repeats(check_array(X, ensure_min_samples=2, **_CHECKS))
    names, weights = getattr(X, "columns", None), None
    if sample_weight is not None:
        weights = check_weights(sample_weight, data.shape[0])
        X, data, y, weights = _present(weights, X, data, y, weights)
    refit = Refitter(
        selector, X if hasattr(X, "columns") else as_rows_of(data), y, weights,
        alone=effective_n_jobs(n_jobs) == 1,
    )  # fmt: skip
    if not hasattr(refit.last, "get_support"):
        raise ValueError(
            f"selector must have fit and get_support; {type(refit.last).__name__} has no "
            "get_support."
        )
    complete = complete_rows(data)
    drawn_y = _target_of(refit.last, data, y, target)
    draw = _drawing(data.shape[0], y, method, fraction)
    rng = random_generator(random_state)
    first, *seeds = rng.integers(2**31 - 1, size=n_resamples + 1).tolist()
    resampling = Resampling(
        refit, draw, data / power_of_two(data[complete]), drawn_y,
        np.ones(data.shape[0]) if weights is None else weights / weights.max(),
        complete, _sizes(sizes, data.shape[1]),
        None if sizes is None else refit.size_parameter(),
        None if time_limit is None else started + time_limit, n_resamples, n_jobs,
    )  # fmt: skip
    whole = resampling.whole(first)
    found, interrupted = resampling.run(seeds, callback)
    if len(found) < 2:
        raise KeyboardInterrupt
    return _result(resampling, whole, found, names, interrupted)


def stability_index(supports: np.ndarray) -> tuple[float, float]:
    """The index of stability and its asymptotic standard error; NaN if undefined."""
    n_resamples, p = supports.shape
    Z = supports.astype(np.float64)
    f, k = Z.mean(axis=0), Z.sum(axis=1) / p
    kept = float(k.mean())
    if supports.all() or not supports.any():
        return np.nan, np.nan
    chance = kept * (1.0 - kept)
    index = 1.0 - float(np.mean(f * (1.0 - f))) * n_resamples / (n_resamples - 1) / chance
    pulls = Z @ f / p - k * kept + 0.5 * index * (2.0 * kept * k - k - kept + 1.0)
    variance = 4.0 * float(np.square(pulls / chance - np.mean(pulls / chance)).sum())
    return index, float(np.sqrt(variance)) / n_resamples


def replacements(
    supports: np.ndarray, selected: np.ndarray, X, weights: np.ndarray
) -> tuple[Replacement, ...]:
    """Columns outside the selection that replace one inside beyond chance."""
    f = supports.mean(axis=0)
    variance = f * (1.0 - f)
    gone = [c for c in selected.tolist() if variance[c] > 0.0]
    others = np.setdiff1d(np.flatnonzero(f > 0.0), selected)
    bar = norm.ppf(1.0 - _LEVEL / max(len(gone) * len(others), 1))
    found = []
    for c in gone:
        absent = ~supports[:, c]
        without, beside = supports[absent], supports[~absent]
        shares = without.mean(axis=0) - beside.mean(axis=0)
        rest = np.delete(variance, c).sum()
        moved = np.delete(shares, c).sum()
        expected = variance / rest * moved if rest > 0.0 else 0.0 * variance
        expected = np.minimum(expected, _HALF)
        low, spread = _smoothed(without, beside)
        for d in others[(low - expected > bar * spread)[others]].tolist():
            times, share = int(without[:, d].sum()), float(shares[d])
            r2 = shared_variance(X, weights, c, d)
            found.append(Replacement(c, d, times, int(absent.sum()), share, r2))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.column, pair.by)))


def _smoothed(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences of proportions with their standard errors, one success and one failure added to
    each sample: also small samples keep the stated chance."""
    p, q = ((part.sum(axis=0) + 1.0) / (len(part) + 2.0) for part in (first, second))
    variance = p * (1.0 - p) / (len(first) + 2.0) + q * (1.0 - q) / (len(second) + 2.0)
    return p - q, np.sqrt(variance)


def _present(weights: np.ndarray, *given) -> list[Any]:
    """Data without the rows of weight zero."""
    rows = np.flatnonzero(weights)
    return [D if D is None else take_rows(D, rows) for D in given]


def _target_of(last, X, y, target: str) -> np.ndarray | None:
    """The target of the error; None for X."""
    if y is not None:
        check_consistent_length(X, y)
    own = getattr(last, "target", "auto")
    if not uses_target(own if target == "auto" else target, X, y):
        return None
    Y = as_target(y, X.shape[0]).matrix
    return Y / power_of_two(Y)


def _drawing(n_rows: int, y, method: str, fraction: float | None) -> Drawing:
    share = (1.0 if method == "bootstrap" else 0.5) if fraction is None else float(fraction)
    if method == "subsample" and share == 1.0:
        raise ValueError('fraction must be less than 1 with method="subsample": 1 draws all rows.')
    groups = [np.arange(n_rows)]
    if y is not None:
        matrix, _, classes = as_target(y, n_rows)
        if classes is not None:
            groups = [np.flatnonzero(column) for column in matrix.T]
    return Drawing(groups, method, share)


def _sizes(sizes: Iterable[int] | None, n_features: int) -> list[int]:
    found = [] if sizes is None else sorted({*sizes})
    if sizes is not None and not found:
        raise ValueError("sizes is empty: name at least one number of columns, or leave it out.")
    for size in found:
        if not Integer(1).accepts(size):
            raise ValueError(f"sizes must hold integers >= 1; got {size!r}.")
        resolve_size(size, n_features, name="sizes")
    return [int(size) for size in found]


def _result(
    resampling: Resampling, whole: Fitted, found: Sequence[Resample], names, interrupted: bool
) -> SelectionStability:
    supports = np.array([resample.support for resample in found])
    selected = np.flatnonzero(whole.support)
    sizes = resampling.sizes or [len(selected)]
    statuses = [resample.status for resample in found]
    return SelectionStability(
        selected, supports, np.array(sizes), np.array([resample.losses for resample in found]),
        replacements(supports, selected, resampling.data, resampling.weights),
        "X" if resampling.target is None else "y",
        None if names is None else tuple(map(str, names)),
        None if whole.status is None else statuses.count("optimal"), interrupted,
    )  # fmt: skip
