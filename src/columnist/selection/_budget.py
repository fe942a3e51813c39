"""A selection and a certificate for every budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from columnist.constraints import Budget
from columnist.search._certificate import Certificate, CertifiedPath, tightened
from columnist.search._interrupts import keeps_answer
from columnist.selection._certified import ColumnSelector


class BudgetStep(NamedTuple):
    """One budget of a path: the selection, its certificate, and the budget."""

    selection: np.ndarray
    certificate: Certificate
    budget: float


@dataclass(frozen=True)
class BudgetPath(CertifiedPath):
    """Selections for increasing budgets, each with its proof.

    Attributes
    ----------
    steps : tuple of BudgetStep
        One per budget; the path is a sequence of them.
    total : float
        Criterion of the target itself.
    """

    total: float

    @property
    def budgets(self) -> np.ndarray:
        """The budget of each step."""
        return np.array([step.budget for step in self.steps])

    def __repr__(self) -> str:
        return self._table("BudgetPath", "columns", self.budgets.tolist())


@keeps_answer
def budget_path(
    X,
    costs,
    budgets: Sequence[float],
    *,
    y=None,
    sample_weight=None,
    criterion="frobenius",
    n_components: int = 0,
    time_limit: float | None = 30.0,
    **options: Any,
) -> BudgetPath:
    """Compute a selection and a certificate for every budget.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    costs : sequence or dict
        Cost of each column, or name -> cost, as in :class:`~columnist.constraints.Budget`.
    budgets : sequence of float
        Budgets; the path has them in ascending order.
    y : array-like, optional
        Target; X itself by default.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts.
    criterion, n_components
        As in :class:`~columnist.ColumnSelector`.
    time_limit : float or None, default=30.0
        Seconds for the whole path; time not used by easy budgets is given to hard ones.
    **options
        Further parameters of :class:`~columnist.ColumnSelector`, such as ``constraints`` or
        ``n_features_to_select``.

    Returns
    -------
    BudgetPath

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist.selection import budget_path
    >>> X = scale(load_wine().data)
    >>> path = budget_path(X, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4], [2, 4])
    >>> [step.selection.tolist() for step in path]
    [[6, 9], [0, 3, 6, 9]]
    """
    given = list(options.pop("constraints", None) or ())
    selector = ColumnSelector(
        criterion=criterion, n_components=n_components, time_limit=time_limit,
        constraints=[*given, Budget(costs, 0.0)], **options,
    )  # fmt: skip
    lists = [[*given, Budget(costs, b)] for b in sorted(budgets)]
    outcomes = selector._along(X, y, lists, sample_weight)
    steps = [
        BudgetStep(np.array(o.solutions[0][1], dtype=np.intp), o.certificate, float(b))
        for o, b in zip(outcomes, sorted(budgets), strict=True)
    ]
    return BudgetPath(tightened(steps), outcomes[0].total if outcomes else 0.0)
