"""Nodes of problems with correlated columns, screened and divided by the bound by blocks.

A problem that one node does not settle is bounded as a whole once more, by
:mod:`columnist.selection._block_relaxation`: columns that no good choice contains leave it, and
those that every one contains are fixed. Nothing below any node needs the former, and nodes without
the latter hold nothing. What is left of a node is divided by one column, with and without.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from columnist.search._interrupts import expired
from columnist.selection._active import GramForm
from columnist.selection._block_relaxation import BlockForm, BlockRelaxed

# The bound must close this share of what the other one leaves of the gap.
_WORTHWHILE = 0.3
# How often the whole problem is screened, while this share of the columns leaves each time.
_ROUNDS, _DECIDED = 6, 0.05


class Screened(NamedTuple):
    """What is left of a problem: which of the columns of the form a good choice may contain, and
    those that every one contains; no column is left if there is none below the threshold."""

    kept: np.ndarray
    fixed: np.ndarray


def relaxed_by_blocks(
    form: GramForm,
    chosen: np.ndarray,
    candidates: np.ndarray,
    t: int,
    threshold: float,
    hint: np.ndarray | None = None,
    least: float = -np.inf,
    deadline: float = np.inf,
) -> BlockRelaxed | None:
    """The bound of a node with t columns to choose; None if columns nearly depend on one another,
    or if the bound before D is shaped is below ``least``."""
    try:
        gram = form.gram[np.ix_(candidates, candidates)]
        gram, cross, total = form.eliminate(chosen, candidates, gram)
        relaxed = BlockForm(gram, cross, total, t).relax(threshold, hint, least, deadline)
    except np.linalg.LinAlgError:
        return None
    if relaxed is None or not relaxed.is_finite:
        return None
    return relaxed


def screened(
    form: GramForm,
    include: np.ndarray,
    candidates: np.ndarray,
    size: int,
    threshold: float,
    bound: float,
    deadline: float,
) -> Screened | None:
    """The whole problem without columns that do not matter; None if the bound is hardly better than
    ``bound``, the one by a diagonal."""
    least = bound + _WORTHWHILE * (threshold - bound)
    fixed, hint = include, None
    for turn in range(_ROUNDS):
        t = size - len(fixed)
        if t < 2 or len(candidates) <= t or (turn and expired(deadline)):
            break
        relaxed = relaxed_by_blocks(
            form, fixed, candidates, t, threshold, hint, least if turn == 0 else -np.inf, deadline
        )
        if relaxed is None and turn == 0:
            return None
        if relaxed is None:
            break
        sure, out = relaxed.decided(threshold)
        if relaxed.bound >= threshold or (sure & out).any():
            return Screened(np.zeros(form.n_items, dtype=bool), fixed)
        left = ~(sure | out)
        few = np.count_nonzero(~left) < _DECIDED * len(left)
        fixed = np.concatenate([fixed, candidates[sure]])
        candidates, hint = candidates[left], relaxed.z[left]
        if few:
            break
    kept = np.zeros(form.n_items, dtype=bool)
    kept[candidates] = kept[fixed] = True
    return Screened(kept, fixed)


def column_to_branch_on(form: GramForm, candidates: np.ndarray, relaxed: BlockRelaxed) -> int:
    """The position of the candidate with the most fractional share of what it would catch."""
    gains = np.square(form.lengths[candidates] / form.scales[candidates])
    undecided = np.minimum(relaxed.z, 1.0 - relaxed.z)
    return int(np.argmax((np.maximum(undecided, 0.0) + 1e-9) * gains))
