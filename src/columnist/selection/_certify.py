"""A certificate for any selection, including ones made by other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from columnist.criteria import get_criterion
from columnist.linalg._rounding import above
from columnist.search._certificate import Certificate
from columnist.search._interrupts import keeps_answer
from columnist.selection._certified import ColumnSelector

# A choice is better only if its error is smaller by more than rounding.
_BETTER = 1e-10


@keeps_answer
def certify(
    X,
    columns: Sequence[int | str],
    *,
    y=None,
    sample_weight=None,
    criterion="frobenius",
    n_components: int = 0,
    time_limit: float | None = 30.0,
    **options: Any,
) -> Certificate:
    """Prove how good a given selection is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Data.
    columns : sequence of int or str
        The selection, by index or name.
    y : array-like, optional
        Target; X itself by default.
    sample_weight : array-like of shape (n_samples,), optional
        How often each sample counts.
    criterion, n_components, time_limit
        As in :class:`~columnist.ColumnSelector`.
    **options
        Further parameters of :class:`~columnist.ColumnSelector`, such as ``centering``,
        ``exclude``, ``constraints``, ``n_jobs`` or ``verbose``.

    Returns
    -------
    Certificate
        Of the given selection: ``gap`` is 0 and ``status`` is ``"optimal"`` if no other
        choice of that size (with a :class:`~columnist.constraints.Budget`, of any size within
        it) is better; ``better`` is a better choice if one was found.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from columnist import certify
    >>> certificate = certify(scale(load_wine().data), [0, 6, 9])
    >>> certificate.better
    (3, 6, 9)
    >>> round(certificate.gap, 4)
    0.0817
    """
    selector = ColumnSelector(
        criterion=criterion, n_components=n_components, time_limit=time_limit, **options
    )
    given, outcome = selector._certify(X, y, columns, sample_weight)
    error, best = outcome.solutions[0]
    certificate = replace(
        outcome.certificate, error=given.error, selection=given.selection, names=given.names,
        a_priori_bound=None,  # it is about the result of a search
    )  # fmt: skip
    least = float(get_criterion(criterion).value(np.zeros(1)))
    if error >= given.error - _BETTER * above(given.error, least):
        if certificate.status == "optimal":
            return replace(certificate, lower_bound=given.error)
        return certificate
    settled = certificate.status in ("optimal", "gap_reached")
    status = "bounded" if settled else certificate.status
    names = getattr(selector, "feature_names_in_", None)
    named = None if names is None else tuple(str(names[i]) for i in best)
    return replace(certificate, status=status, better=best, better_names=named)
