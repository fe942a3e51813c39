"""Which nodes a search that writes a proof relaxes.

A relaxation is easier to check than what the other bound explores, but it takes more time to write.
With few targets it is used for smaller problems than without a proof. With many targets it may say
little about the root: then only nodes that many complete sets are left of are worth their time.
"""

from __future__ import annotations

from math import comb

import numpy as np

from columnist.linalg._reduce import Reduced
from columnist.selection import _relaxed
from columnist.selection._relaxed import RelaxedNodes

# So many columns to choose, or complete sets, are left to the other bound: with few targets, and
# where the relaxation says little about the root.
_FEW_TARGETS, _LITTLE = _relaxed._Use(3, 30_000), _relaxed._Use(4, 8_000_000)


def relaxed_nodes(
    reduced: Reduced,
    size: int,
    include: np.ndarray,
    candidates: np.ndarray,
    low: float,
    threshold: float,
    n_best: int,
    *,
    traced: bool = False,
) -> RelaxedNodes | None:
    """The relaxation of a problem, or None where it is not worth its time; the parameters are those
    of :func:`columnist.selection._relaxed.relaxed_nodes`."""
    given = reduced, size, include, candidates, low, threshold, n_best
    if not traced:
        return _relaxed.relaxed_nodes(*given)
    left = size - len(include)
    if np.count_nonzero(reduced.weights) < size:
        return _with_few_targets(*given)
    relaxed = _relaxed.relaxed_nodes(*given, traced=True)
    if relaxed is None or left >= min(_relaxed._LONG, _relaxed._SHARE * len(reduced.columns)):
        return relaxed
    raised = min(relaxed.bound(include, candidates, threshold), threshold) - low
    if raised < _relaxed._WORTHWHILE * (threshold - low):
        relaxed._use = _LITTLE
    return relaxed


def _with_few_targets(
    reduced, size, include, candidates, low, threshold, n_best
) -> RelaxedNodes | None:
    left = size - len(include)
    if left <= _FEW_TARGETS.last or len(reduced.columns) > _relaxed._WIDE:
        return None
    if not low < threshold < np.inf or comb(len(candidates), left) <= _relaxed._FEW_SETS:
        return None
    relaxed = RelaxedNodes(reduced, size, traced=True)
    relaxed._use = _FEW_TARGETS
    if relaxed.has_copies and n_best > 1:
        return None
    relaxed.tune(include, candidates, threshold)
    return relaxed
