"""How much of every direction to remove: one fractional knapsack a row, all rows at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

__all__ = ["fractional_knapsack", "removed_shares"]

_TINY = np.finfo(np.float64).tiny


def fractional_knapsack(costs: Iterable[np.ndarray], budgets: np.ndarray) -> np.ndarray:
    r"""Shares b that solve one fractional knapsack a row.

    .. math:: \max \sum_j b_j g_j \quad \text{s.t.} \quad \sum_j b_j c_j \le B, \;
        0 \le b_j \le 1,

    for items that come in decreasing order of :math:`g_j / c_j`: take them one by one until the
    budget is spent, the last one in part. No input validation.

    Parameters
    ----------
    costs : iterable of ndarray of shape (n_rows,)
        Costs c of one item after the other, not negative, best items first. No more are asked for
        when all budgets are spent, not even such that cost nothing.
    budgets : ndarray of shape (n_rows,)
        Budgets B, finite and not negative.

    Returns
    -------
    ndarray of shape (n_rows, n_taken)
        Shares of the items that were asked for; those of the others are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._knapsack import fractional_knapsack
    >>> fractional_knapsack(np.array([[1.0], [4.0], [2.0]]), np.array([3.0]))
    array([[1. , 0.5]])
    """
    room, shares = budgets, []
    for cost in costs:
        fits = room >= cost
        shares.append(np.where(fits, 1.0, room / np.where(fits, 1.0, cost)))
        room = np.maximum(room - cost, 0.0)
        if not room.any():
            break
    return np.stack(shares, axis=1) if shares else np.empty((len(budgets), 0))


def removed_shares(
    coordinates: np.ndarray, tolerances: np.ndarray, starts: np.ndarray, *, per_row_order: bool
) -> np.ndarray:
    r"""Shares a of the coordinates to remove, :math:`\sum_j a_j^2 \tau_j^2 \le \epsilon`.

    Coordinates that belong to one group have one share, so that the basis within a group does not
    matter. No input validation.

    Parameters
    ----------
    coordinates : ndarray of shape (n_rows, n_coordinates)
        Coordinates :math:`\tau`, those to remove first in front.
    tolerances : ndarray of shape (n_rows,)
        Roots of the budgets :math:`\epsilon`.
    starts : ndarray of int
        First coordinate of every group.
    per_row_order : bool
        Order the groups by row instead: every direction gains the same, so the cheapest first.

    Returns
    -------
    ndarray of shape (n_rows, n_touched)
        Shares of the first coordinates; those of the others are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.privacy._knapsack import removed_shares
    >>> tau, one_each = np.array([[3.0, 4.0]]), np.arange(2)
    >>> removed_shares(tau, np.array([5.0]), one_each, per_row_order=False)
    array([[1., 1.]])
    >>> removed_shares(tau, np.array([2.0]), np.array([0]), per_row_order=False)
    array([[0.4, 0.4]])
    """
    sizes = np.diff(starts, append=coordinates.shape[1])
    # In units of the tolerance nothing but a cost too high to pay can overflow.
    unit = np.maximum(tolerances, _TINY)
    budgets = (tolerances > 0.0).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        costs = (
            np.sum((coordinates[:, start : start + size] / unit[:, None]) ** 2, axis=1)
            for start, size in zip(starts, sizes, strict=True)
        )
        if per_row_order:
            shares = _cheapest_first(np.stack([*costs], axis=1), sizes, budgets)
        else:
            shares = fractional_knapsack(costs, budgets)
    return np.repeat(np.sqrt(shares), sizes[: shares.shape[1]], axis=1)


def _cheapest_first(costs: np.ndarray, sizes: np.ndarray, budgets: np.ndarray) -> np.ndarray:
    """Shares of groups that gain their sizes."""
    order = np.argsort(costs / sizes, axis=1, kind="stable")
    taken = fractional_knapsack(np.take_along_axis(costs, order, axis=1).T, budgets)
    shares = np.zeros_like(costs)
    np.put_along_axis(shares, order[:, : taken.shape[1]], taken, axis=1)
    return shares
