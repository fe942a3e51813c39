"""Rows removed and a certificate for every number of outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_array

from columnist.data._parameters import Integer
from columnist.robust._base import resolve_outliers
from columnist.robust._certified import RobustPCA
from columnist.robust._cutoffs import COVERAGE
from columnist.search._certificate import Certificate, CertifiedPath, tightened
from columnist.search._interrupts import at_once, keeps_answer

__all__ = ["OutlierPath", "OutlierStep", "outlier_path"]


class OutlierStep(NamedTuple):
    """One number of outliers of a path: the rows removed and their certificate."""

    outliers: np.ndarray
    certificate: Certificate


@dataclass(frozen=True)
class OutlierPath(CertifiedPath):
    """Outliers of growing number, each set with its proof.

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
        return np.array([len(step.outliers) for step in self.steps])

    @property
    def relative_errors(self) -> np.ndarray:
        """Errors divided by the one with no row removed."""
        errors = self.errors
        return errors / errors[0] if errors[0] > 0.0 else errors

    @property
    def drops(self) -> np.ndarray:
        """What each row more has lowered the error by, from one step to the next."""
        return -np.diff(self.errors) / np.diff(self.n_outliers)

    @property
    def suggested(self) -> int | None:
        """The number of outliers after which removing more rows stops paying.

        That is the last step whose rows lower the error by more than good rows could
        (``limit``), on average where it adds several. If it is the largest number tried, there
        may be more outliers: try a longer path. None where no limit is known.
        """
        if self.limit is None:
            return None
        paying = np.flatnonzero(self.drops > self.limit)
        return int(self.n_outliers[paying[-1] + 1]) if len(paying) else 0

    def __repr__(self) -> str:
        header = f"{'outliers':>8}  {'error':>12}  {'relative':>8}  {'gap':>8}  status"
        lines = [
            f"{len(step.outliers):>8}  {step.certificate.error:>12.6g}  {relative:>8.4f}  "
            f"{100 * step.certificate.gap:>7.2f}%  {step.certificate.status}"
            for relative, step in zip(self.relative_errors, self.steps, strict=True)
        ]
        return "\n".join([f"OutlierPath, suggested: {self.suggested}", header, *lines])


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
    """How many outliers are there? The rows to remove, and a proof, for a growing number.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data, one sample per row.
    n_components : int
        Dimension of the subspace.
    max_outliers : int or float
        Largest number of outliers, or fraction of the rows. Be generous: a suggestion needs a
        largest fit that is free of outliers.
    n_steps : int, default=30
        Steps after the first, which removes nothing: every number up to ``max_outliers`` if
        these are not more, else numbers ever farther apart.
    centering, criterion
        As in :class:`~columnist.robust.RobustPCA`.
    time_limit : float or None, default=30.0
        Seconds for the whole path; what easy steps leave over goes to the hard ones.
    **options
        Further parameters of :class:`~columnist.robust.RobustPCA`; ``max_gap=1.0`` skips the
        proofs, for a quick look.

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
    with at_once():  # a collection is brought here
        X = check_array(X, dtype=np.float64, ensure_min_samples=2)
    most = resolve_outliers(max_outliers, len(X), name="max_outliers")
    fitted = RobustPCA(
        n_components, n_outliers=most, centering=centering, criterion=criterion,
        time_limit=time_limit, **options,
    )  # fmt: skip
    certificates = fitted._path(X, _spaced(most, n_steps))
    steps = [OutlierStep(np.array(c.selection, dtype=np.intp), c) for c in certificates]
    squares = certificates[0].criterion == "frobenius"
    return OutlierPath(tightened(steps), _limit(fitted, X) if squares else None)


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
    r"""Squared distance that no good row exceeds, with the probability of a cut-off.

    The cut-off c holds for a single row: :math:`c^{2/3} = m + zs` for a normal quantile z,
    with m the median of :math:`d^{2/3}` over the rows within it. The same formula with
    the quantile for the largest of n rows gives the distance for all of them.
    """
    cutoff, distances = fitted.orthogonal_cutoff_, fitted.orthogonal_distances(X)
    within = distances[distances <= cutoff]
    middle = float(np.median(within if len(within) else cutoff) ** (2.0 / 3.0))
    farther = norm.ppf(COVERAGE ** (1.0 / len(X))) / norm.ppf(COVERAGE)
    return float((middle + (cutoff ** (2.0 / 3.0) - middle) * farther) ** 3)
