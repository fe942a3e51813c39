"""Removed rows and a certificate for every number of outliers.

Where time is short, concentration steps on a scatter kept up to date (:class:`NestedRows`) replace
searches. With S the sum of :math:`xx^T` and s that of x over the m kept rows, their scatter is
:math:`S - ss^T/m`: exchanging a few rows changes S by a few products, and a few Lanczos steps find
its leading axes. Rounding is that of the largest S seen since S was last summed again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackError, eigsh
from scipy.special import ndtri
from sklearn.utils import check_array

from columnist.criteria import Criterion, get_criterion, is_frobenius
from columnist.data._parameters import Integer
from columnist.data._validation import random_generator
from columnist.linalg._rounding import AGREEMENT, EPS
from columnist.robust._base import resolve_components, resolve_outliers
from columnist.robust._certified import RobustPCA
from columnist.robust._concentrate import Trimming
from columnist.robust._cutoffs import COVERAGE
from columnist.robust._errors import RowErrors, all_but
from columnist.robust._solve import Question
from columnist.search._certificate import Certificate, CertifiedPath, tightened
from columnist.search._interrupts import at_once, keeps_answer, pending, raise_pending

# Seconds that a search takes at least, for every product of rows, columns and the fewer of both.
_SEARCH = 2e-9
# Concentration steps for each size.
_STEPS = 2
# Fewer dimensions are decomposed as a whole.
_FEW = 50


class OutlierStep(NamedTuple):
    """One number of outliers of a path: the rows removed and their certificate."""

    outliers: np.ndarray
    certificate: Certificate


@dataclass(frozen=True)
class OutlierPath(CertifiedPath):
    """Sets of outliers of increasing size, each with its proof.

    Attributes
    ----------
    steps : tuple of OutlierStep
        One per number of outliers, the first with none; the path is a sequence of them.
    limit : float or None
        Removing a good row lowers the error by at most this: the squared distance from
        the subspace that all good rows together respect with a probability of 97.5%. None where
        the criterion is no sum of squared distances.
    """

    limit: float | None = None

    @property
    def n_outliers(self) -> np.ndarray:
        """Number of rows removed in each step."""
        return self.sizes

    @property
    def _whole(self) -> float:
        return float(self.errors[0])

    @property
    def drops(self) -> np.ndarray:
        """Decrease of the error per removed row, from one step to the next."""
        return -np.diff(self.errors) / np.diff(self.n_outliers)

    @property
    def suggested(self) -> int | None:
        """The number of outliers after which further removals lower the error little.

        That is the last step whose rows lower the error by more than good rows could
        (``limit``), on average where it adds several. If it is the largest number tried, there
        may be more outliers: try a longer path. None where no limit is known.
        """
        if self.limit is None:
            return None
        paying = np.flatnonzero(self.drops > self.limit)
        return int(self.n_outliers[paying[-1] + 1]) if len(paying) else 0

    def __repr__(self) -> str:
        return self._table(f"OutlierPath, suggested: {self.suggested}", "outliers")


@keeps_answer
def outlier_path(
    X,
    n_components: int,
    max_outliers: int | float,
    *,
    n_steps: int = 30,
    centering: str = "optimal",
    criterion="frobenius",
    time_limit: float | None = 30.0,
    **options: Any,
) -> OutlierPath:
    """Compute the rows to remove, with a proof, for a range of numbers of outliers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data, one sample per row.
    n_components : int
        Dimension of the subspace.
    max_outliers : int or float
        Largest number of outliers, or fraction of the rows. Choose it generously: the suggestion
        assumes that the last fit is free of outliers.
    n_steps : int, default=30
        Steps after the first, which removes nothing: every number up to ``max_outliers`` if
        these are not more, else numbers ever farther apart.
    centering, criterion
        As in :class:`~columnist.robust.RobustPCA`.
    time_limit : float or None, default=30.0
        Seconds for the whole path; time not used by easy steps is given to hard ones.
    **options
        Further parameters of :class:`~columnist.robust.RobustPCA`; ``max_gap=1.0`` skips the
        proofs, for a quick result.

    Returns
    -------
    OutlierPath

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust import outlier_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 4)) * [5.0, 3.0, 0.5, 0.5]
    >>> X[[3, 8]] += [0.0, 0.0, 9.0, -9.0]
    >>> path = outlier_path(X, 2, 5)
    >>> path.suggested
    2
    >>> path[2].outliers, path[2].certificate.status
    (array([3, 8]), 'optimal')
    """
    Integer(1).check("n_steps", n_steps)
    if options.get("max_distance") is not None:
        raise ValueError("max_distance is for RobustPCA: a path starts from all rows.")
    with at_once():  # a collection is brought here
        X = check_array(X, dtype=np.float64, ensure_min_samples=2)
    most = resolve_outliers(max_outliers, len(X), name="max_outliers")
    fitted = RobustPCA(
        n_components, n_outliers=most, centering=centering, criterion=criterion,
        time_limit=time_limit, **options,
    )  # fmt: skip
    certificates = _certificates(fitted, X, _spaced(most, n_steps))
    steps = [OutlierStep(np.array(c.selection, dtype=np.intp), c) for c in certificates]
    squares = certificates[0].criterion == "frobenius"
    return OutlierPath(tightened(steps), _limit(fitted, X) if squares else None)


def _certificates(model: RobustPCA, X: np.ndarray, numbers: Sequence[int]) -> list[Certificate]:
    """Certificates for growing numbers of outliers; the fit of the model is that of the last. Each
    search starts from the rows of the one before; what easy ones leave of the time goes to the
    others."""
    rng = random_generator(model.random_state)
    data = model._begin(X)
    certificates: list[Certificate] = []
    outliers = np.zeros(0, dtype=np.intp)
    (n, p), r = data.shape, model.n_components
    resolve_components(r, n - max(numbers), p, least=0)
    search_seconds = _SEARCH * n * p * min(n, p)
    raise_pending()
    criterion = get_criterion(model.criterion)
    errors = RowErrors(data.array(), r, criterion, model.centering, data.unit)
    first = Question(data, r, 0, model.centering, rng, errors=errors)
    nested: NestedRows | None = None
    for position, number in enumerate(numbers):
        share = model._time_left()
        if share is not None:
            share /= len(numbers) - position
        found = None
        if not pending() and (share is None or share >= search_seconds):
            question = replace(first, n_outliers=number, start=outliers)
            with suppress(KeyboardInterrupt):  # before it found anything
                found = model._search(question, share)
        if found is None:
            nested = nested or NestedRows(errors, outliers)
            outliers, error = nested.to(number)
            model.certificate_ = _unproven(outliers, error, criterion)
        else:
            outliers, nested = found, None
        elapsed = time.perf_counter() - model._started
        certificates.append(replace(model.certificate_, elapsed=elapsed))
    model._store(data, *model._fitted(data, outliers))
    return certificates


def _unproven(outliers: np.ndarray, error: float, criterion: Criterion) -> Certificate:
    """The certificate of a choice that could not be searched in time."""
    return Certificate(
        status="interrupted" if pending() else "time_limit", error=error,
        lower_bound=min(float(criterion.value(np.zeros(1))), error),
        criterion=str(criterion), selection=tuple(int(i) for i in outliers),
    )  # fmt: skip


class NestedRows:
    """Kept rows whose number falls, from what some choice keeps."""

    def __init__(self, errors: RowErrors, removed: np.ndarray):
        self.errors, self.rows = errors, errors.short
        self.kept = all_but(len(self.rows), removed)
        self._add_up()

    def _add_up(self) -> None:
        Z = self.rows[self.kept]
        self.squares, self.sums = Z.T @ Z, Z.sum(axis=0)
        self.largest = float(np.trace(self.squares))

    def to(self, n_removed: int) -> tuple[np.ndarray, float]:
        """Go on to a larger number of removed rows; these, ascending, and their error."""
        errors = self.errors
        trimming = Trimming(self.rows, errors.n_components, n_removed, errors.centred)
        mean, _, axes = self._leading()
        for _ in range(_STEPS):
            self._move(trimming.nearest(trimming.distances(mean, axes)))
            mean, values, axes = self._leading()
        return np.flatnonzero(~self.kept), self._error(values)

    def _move(self, kept: np.ndarray) -> None:
        """Change the kept rows."""
        for sign, which in ((-1.0, self.kept & ~kept), (1.0, kept & ~self.kept)):
            Z = self.rows[which]
            self.squares = self.squares + sign * (Z.T @ Z)
            self.sums = self.sums + sign * Z.sum(axis=0)
        self.kept = kept
        self.largest = max(self.largest, float(np.trace(self.squares)))

    def _scatter(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.errors.centred:
            return np.zeros(len(self.sums)), self.squares
        mean = self.sums / np.count_nonzero(self.kept)
        return mean, self.squares - np.outer(self.sums, mean)

    def _leading(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean, leading eigenvalues and their axes."""
        mean, scatter = self._scatter()
        r, d = self.errors.n_components, len(mean)
        if 0 < r and d > max(_FEW, 4 * r):
            try:
                values, axes = eigsh(scatter, r, v0=np.ones(d))
                return mean, values, axes
            except ArpackError:
                pass  # all of them then
        values, axes = scipy.linalg.eigh(scatter, check_finite=False)
        return mean, values[d - r :], axes[:, d - r :]

    def _error(self, leading: np.ndarray) -> float:
        """From the scatter, or from the data where rounding would show."""
        errors, (_, scatter) = self.errors, self._scatter()
        rounding = 4.0 * np.sqrt(sum(self.rows.shape)) * EPS * self.largest
        if is_frobenius(errors.criterion):
            value = float(np.trace(scatter) - leading.sum())
            known, value = rounding <= AGREEMENT * value, errors.scale**2 * value
        else:
            spectrum = scipy.linalg.eigvalsh(scatter, check_finite=False)[::-1]
            spectrum = spectrum[errors.n_components :] + rounding * np.array([[-1.0], [0.0], [1.0]])
            sigma = errors.scale * np.sqrt(np.maximum(spectrum, 0.0))
            low, value, high = errors.criterion.values(sigma).tolist()
            known = high - low <= AGREEMENT * abs(high)
        if known:
            return value
        self._add_up()
        return errors.evaluate(self.kept).value


def _spaced(most: int, n_steps: int) -> list[int]:
    """Numbers from 0 to ``most``: all of them, or ``n_steps`` + 1 in growing distances."""
    if most <= n_steps:
        return list(range(most + 1))
    numbers = [0]
    for left in range(n_steps, 0, -1):
        ratio = (most / max(numbers[-1], 1)) ** (1.0 / left)
        numbers.append(max(numbers[-1] + 1, round(max(numbers[-1], 1) * ratio)))
    return numbers


def _limit(fitted: RobustPCA, X: np.ndarray) -> float:
    r"""Squared distance that no good row exceeds, with the probability of a cut-off. The cut-off c
    holds for a single row: :math:`c^{2/3} = m + zs` for a normal quantile z, with m the median of
    :math:`d^{2/3}` over the rows within it. The same formula with the quantile for the largest of n
    rows gives the distance for all of them."""
    cutoff, distances = fitted.orthogonal_cutoff_, fitted.orthogonal_distances(X)
    within = distances[distances <= cutoff]
    middle = float(np.median(within if len(within) else cutoff) ** (2.0 / 3.0))
    farther = ndtri(COVERAGE ** (1.0 / len(X))) / ndtri(COVERAGE)
    return float((middle + (cutoff ** (2.0 / 3.0) - middle) * farther) ** 3)
