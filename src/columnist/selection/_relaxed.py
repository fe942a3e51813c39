"""Nodes of the column problem under the squared Frobenius norm, expanded by relaxation.

:mod:`columnist.selection._relax` bounds a node and determines which columns every good choice
contains, which none does, and on which to branch. Here a node is divided in two, with that column
and without, and each part shrinks until nothing more is fixed. Columns that differ by no more than
the rounding of the data are represented by one of them: the bound holds whichever of them is
chosen, since rounding is charged for all of them.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from columnist.linalg import _rounding as rounding
from columnist.linalg._reduce import Reduced
from columnist.search._problem import Step
from columnist.selection._relax import Relaxation, RelaxationSpace


class _Use(NamedTuple):
    """When a node is relaxed: the ``last`` columns to choose and ``few`` complete sets are left to
    the other bound."""

    last: int
    few: int


# Few targets, which the other bound says little about, or as many as columns.
_FEW_TARGETS, _MANY_TARGETS = _Use(3, 300), _Use(5, 30_000)
# Where a proof is written: a relaxation is easier to check than what the other bound explores.
_TRACED = _Use(4, 30_000)
# Share of the gap at the root that the relaxation must close beyond the other bound to be used.
_WORTHWHILE = 0.1
# From so many columns to choose on, or such a share of all, of so many at most, it is used whatever
# it closes at the root: it gains where columns are gone.
_LONG, _SHARE, _NARROW = 15, 0.3, 150
# More columns than this are not relaxed: a node would take too long. Problems with no more complete
# sets than this are explored to their end in less time.
_WIDE, _FEW_SETS, _FEW_TRACED = 1000, 50_000, 3_000_000
# Shares of an eigenvalue by which the target is shifted; the better one at the root is used.
_SHIFTS = (0.9, 1.0)
# Who checks a proof counts columns as copies that differ by no more than this.
_ALIKE = 0.4 * rounding.DEPENDENT
# Cosines above this may belong to copies.
_NEARLY_ONE = 1.0 - 1e-12


class RelaxedNode(NamedTuple):
    """A node without what is decided: its bound, all columns it has chosen, and its candidates, the
    one to branch on last, with the z of each; None for z if they are left to another bound."""

    bound: float
    chosen: np.ndarray
    candidates: np.ndarray
    z: np.ndarray | None


class Division(NamedTuple):
    """The open parts of a node, how many relaxations were solved, and for each part, open or not,
    whether it is, with the steps to it."""

    parts: list[RelaxedNode]
    n_bounds: int
    chains: list[tuple[bool, list[Step]]]


class RelaxedNodes:
    """The relaxation of a problem with ``size`` columns to choose; ``traced`` if for a proof."""

    def __init__(self, reduced: Reduced, size: int, shift: float = 1.0, traced: bool = False):
        share = rounding.allowance(len(reduced.weights), 1.0)
        self.size = size
        self.traced = traced
        self._use = _TRACED if traced else _use(reduced, size)
        self._groups = groups_of_copies(reduced.columns, share)
        if traced and self._groups is not None:
            self._groups = groups_of_copies(reduced.columns, min(share, _ALIKE))
        # Copies are as far apart as rounding moves them.
        share *= 1.0 if self._groups is None else 2.0
        # Whoever checks a proof finds a plain D again.
        self._relaxation = Relaxation(
            reduced.columns, reduced.weights, size, share, shift, not traced
        )
        self._spaces: dict[int, RelaxationSpace] = {}

    @property
    def shift(self) -> float:
        """The share of an eigenvalue by which the target is shifted."""
        return self._relaxation.shift

    @property
    def has_copies(self) -> bool:
        """Whether some columns are represented by others."""
        return self._groups is not None

    def bound(self, chosen: np.ndarray, candidates: np.ndarray, threshold: float) -> float:
        """Lower bound of a node, infinite if it reaches the threshold, or -1."""
        left = self.size - len(chosen)
        some, free = self._representatives(chosen, candidates)
        if left < 2 or len(some) <= left:
            return -1.0
        found = self._relaxation.evaluate(
            chosen, candidates[some], left, threshold, None, free, self._space(0)
        )
        return found[0]

    def tune(self, chosen: np.ndarray, candidates: np.ndarray, threshold: float) -> float:
        """Choose the shift by the bound of the root, which is returned."""
        bounds = []
        for shift in _SHIFTS:
            self._relaxation.shift = shift
            bounds.append(min(self.bound(chosen, candidates, threshold), threshold))
        self._relaxation.shift = _SHIFTS[int(np.argmax(bounds))]
        return max(bounds)

    def divide(
        self, chosen: np.ndarray, candidates: np.ndarray, threshold: float, z, worker: int
    ) -> Division:
        """The parts of a node with its last candidate and without; the node itself, shrunk, if
        there is no z of its candidates yet."""
        if z is None:
            return self._shrunk(RelaxedNode(-np.inf, chosen, candidates, None), threshold, worker)
        if self._groups is None and not self.traced:
            parts, n_bounds = self._relaxation.divide(
                chosen, candidates, z, self.size, threshold, *self._use, self._space(worker)
            )
            return Division([RelaxedNode(*part) for part in parts], n_bounds, [])
        rest = candidates[:-1]
        with_it = RelaxedNode(-np.inf, np.append(chosen, candidates[-1:]), rest, z[:-1])
        without = RelaxedNode(-np.inf, chosen, rest, z[:-1])
        first = self._shrunk(with_it, threshold, worker)
        second = self._shrunk(without, threshold, worker)
        return Division(
            first.parts + second.parts,
            first.n_bounds + second.n_bounds,
            first.chains + second.chains,
        )

    def _shrunk(self, node: RelaxedNode, threshold: float, worker: int) -> Division:
        """The node without what is decided; no part if it holds nothing below the threshold."""
        bound, chosen, candidates, z = node
        last, few = self._use
        steps: list[Step] = []
        n_bounds = 0

        def division(node: RelaxedNode | None) -> Division:
            return Division([] if node is None else [node], n_bounds, [(node is not None, steps)])

        while True:
            left = self.size - len(chosen)
            if self.traced and self._groups is not None and 0 < left <= len(candidates):
                candidates, z, again = self._separated(chosen, candidates, z, steps)
                if again and len(candidates) >= left:
                    return division(RelaxedNode(bound, chosen, candidates, z))
            if len(candidates) < left:
                return division(None)
            some, free = self._representatives(chosen, candidates)
            if left <= last or len(some) <= left or comb(len(some), left) <= few:
                return division(RelaxedNode(bound, chosen, candidates, None))
            low, fixed, kept, new_z, every_z = self._relaxation.evaluate(
                chosen, candidates[some], left, threshold, None if z is None else z[some], free,
                self._space(worker),
            )  # fmt: skip
            n_bounds += 1
            if low < 0.0:  # it says nothing here
                return division(RelaxedNode(bound, chosen, candidates, None))
            bound = max(bound, low)
            if self.traced:
                marks = None if np.isinf(low) else _marks(len(candidates), fixed, kept)
                steps.append(Step(candidates, every_z, marks))
            if np.isinf(low):
                return division(None)
            chosen = np.concatenate([chosen, candidates[some[fixed]]])
            candidates, z = self._with_copies(candidates[some[kept]], new_z, candidates, free)
            if len(fixed) == 0:
                return division(RelaxedNode(bound, chosen, candidates, z))

    def _separated(self, chosen, candidates, z, steps: list[Step]):
        """Candidates without the copies of chosen columns, which a proof does not count, and their
        z; if two are copies of each other, the second one comes last, to be branched on."""
        assert self._groups is not None
        groups = self._groups[candidates]
        if z is None:
            z = np.ones(len(candidates), dtype=np.float32)
        idle = np.isin(groups, self._groups[chosen])
        if idle.any():
            steps.append(Step(candidates, z, 2 * idle.astype(np.uint8)))
            groups, candidates, z = groups[~idle], candidates[~idle], z[~idle]
        first = np.unique(groups, return_index=True)[1]
        if len(first) == len(groups):
            return candidates, z, False
        last = np.setdiff1d(np.arange(len(groups)), first)[-1]
        order = np.append(np.delete(np.arange(len(groups)), last), last)
        return candidates[order], z[order], True

    def _space(self, worker: int) -> RelaxationSpace:
        return self._spaces.setdefault(worker, RelaxationSpace())

    def _representatives(self, chosen, candidates) -> tuple[np.ndarray, np.ndarray | None]:
        """Positions of one candidate of every group without a chosen column, and which of these
        represent others, too."""
        if self._groups is None:
            return np.arange(len(candidates)), None
        groups = self._groups[candidates]
        taken = np.zeros(len(self._groups), dtype=bool)
        taken[self._groups[chosen]] = True
        new = np.flatnonzero(~taken[groups])
        if np.bincount(groups[new], minlength=1).max() < 2:
            return new, None
        _, first, count = np.unique(groups[new], return_index=True, return_counts=True)
        order = np.argsort(first)
        return new[first[order]], count[order] > 1

    def _with_copies(self, items, z, candidates, free):
        """Items with those they represent just before them."""
        if self._groups is None or free is None or len(items) == 0:
            return items, z
        groups = self._groups[candidates]
        copies = [candidates[groups == self._groups[item]] for item in items]
        copies = [
            np.append(own[own != item], item) for own, item in zip(copies, items, strict=True)
        ]
        counts = [len(own) for own in copies]
        return np.concatenate(copies), np.repeat(z, counts)


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
    """The relaxation of a problem, or None where it is not worth its time.

    ``low`` is the bound of the root by unconstrained directions, ``threshold`` what a choice must
    stay below, ``n_best`` how many choices are wanted: copies are different choices then. For a
    proof (``traced``) it is used wherever it can be.
    """
    left = size - len(include)
    n_columns, use = len(reduced.columns), _TRACED if traced else _use(reduced, size)
    if left <= use.last or n_columns > _WIDE or not low < threshold < np.inf:
        return None
    long = min(_LONG, _SHARE * n_columns) <= left
    if comb(len(candidates), left) <= (_FEW_TRACED if traced and not long else _FEW_SETS):
        return None
    relaxed = RelaxedNodes(reduced, size, traced=traced)
    if relaxed.has_copies and n_best > 1:
        return None
    bound = relaxed.tune(include, candidates, threshold)
    if traced:
        return relaxed
    if use is _MANY_TARGETS and long and n_columns <= min(_NARROW, reduced.columns.shape[1]):
        return relaxed
    return relaxed if bound - low >= _WORTHWHILE * (threshold - low) else None


def _marks(n: int, fixed: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """What becomes of every candidate."""
    marks = np.full(n, 2, dtype=np.uint8)
    marks[kept], marks[fixed] = 0, 1
    return marks


def _use(reduced: Reduced, size: int) -> _Use:
    few = np.count_nonzero(reduced.weights) < size
    return _FEW_TARGETS if few else _MANY_TARGETS


def groups_of_copies(columns: np.ndarray, share: float) -> np.ndarray | None:
    """A number for every column, the same for columns that differ by no more than ``share`` of
    their length; None if all are different."""
    lengths = np.linalg.norm(columns, axis=1)
    units = columns / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    cosines = np.abs(units @ units.T)
    groups = np.arange(len(columns))
    for i, j in np.argwhere(np.triu(cosines > _NEARLY_ONE, 1)):
        sign = np.sign(units[i] @ units[j])
        if np.linalg.norm(units[i] - sign * units[j]) <= share and groups[i] == i:
            groups[j] = i
    return None if len(np.unique(groups)) == len(groups) else groups
