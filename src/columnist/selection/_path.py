"""A selection and a certificate for every size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from columnist.search._certificate import Certificate, CertifiedPath, tightened
from columnist.search._interrupts import keeps_answer
from columnist.selection._certified import ColumnSelector


class PathStep(NamedTuple):
    """One size of a path: the selection and its certificate."""

    selection: np.ndarray
    certificate: Certificate


@dataclass(frozen=True)
class SelectionPath(CertifiedPath):
    """Selections of increasing size, each with its proof.

    Attributes
    ----------
    steps : tuple of PathStep
        One per size; the path is a sequence of them.
    total : float
        Criterion of the target itself.
    feature_names : tuple of str or None
        Column names, if X has any.
    """

    total: float
    feature_names: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return self._table("SelectionPath", "size")


@keeps_answer
def selection_path(
    X,
    max_features: int,
    *,
    y=None,
    sample_weight=None,
    criterion="frobenius",
    n_components: int = 0,
    time_limit: float | None = 30.0,
    **options: Any,
) -> SelectionPath:
    """Compute a selection and a certificate for every number of columns.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    max_features : int
        Largest size; the path has one step for each size from 1 (or the number of included
        columns) to it; with ``constraints`` for each one that these allow. ``Groups`` are counted
        as groups.
    y : array-like, optional
        Target; X itself by default.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts.
    criterion, n_components
        As in :class:`~columnist.ColumnSelector`.
    time_limit : float or None, default=30.0
        Seconds for the whole path; time not used by easy sizes is given to hard ones.
    **options
        Further parameters of :class:`~columnist.ColumnSelector`.

    Returns
    -------
    SelectionPath

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import selection_path
    >>> path = selection_path(scale(load_wine().data), 4)
    >>> [step.certificate.status for step in path]
    ['optimal', 'optimal', 'optimal', 'optimal']
    >>> path[2].selection
    array([3, 6, 9])
    """
    selector = ColumnSelector(
        criterion=criterion, n_components=n_components, time_limit=time_limit, **options
    )
    outcomes, names = selector._path(X, y, max_features, sample_weight)
    steps = [
        PathStep(np.array(outcome.solutions[0][1], dtype=np.intp), outcome.certificate)
        for outcome in outcomes
    ]
    # With constraints a larger selection may have a larger optimum.
    every = tuple(steps) if selector.constraints else tightened(steps)
    return SelectionPath(every, outcomes[0].total, names)
