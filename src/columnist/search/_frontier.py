"""The open branches (nodes) of a search.

Expanding a node yields a *family*, stored once: its children in the order of the partition. Child i
takes ``items[i]`` and may still use ``items[:i]``, so every subset is reached exactly once.
Branches leave by bound, or by a policy; both views skip what the other opened. Beyond the memory
budget new families go to a stack that is worked off first, depth first.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from columnist.search._policies import Policy
from columnist.search._problem import Branches, Part
from columnist.search._proof import ProofRecorder

_BOUND, _ORDER = 0, 1  # views of the open branches
_LEAST_MEMORY = 2**18  # bytes that are used whatever the budget
_OVERHEAD = 1000  # bytes of Python objects per family, as measured by tracemalloc


@dataclass(frozen=True)
class Branch:
    """A node to expand: what it has chosen, what it may choose, its bound, and its number in a
    proof."""

    chosen: np.ndarray
    candidates: np.ndarray
    bound: float
    priority: float
    hint: np.ndarray | None = None
    node: int = 0


class _Family:
    """Children of one expanded node, in the order of the partition. ``views`` list the positions of
    the open ones, by bound and, where that is not the order of the search, by priority; ``at`` are
    the places of the next ones in them; ``first`` is the number of the first child in a proof."""

    __slots__ = (
        "allowed", "at", "chosen", "f", "first", "hint", "items", "opened", "priority", "views",
    )  # fmt: skip

    def __init__(
        self, chosen, items, f, priority, open_positions, allowed=None, hint=None, first=0
    ):
        self.chosen, self.items, self.f, self.priority = chosen, items, f, priority
        self.hint, self.first = hint, first
        self.allowed = None if allowed is None else np.packbits(allowed, axis=1)
        self.at = [0, 0]
        self.opened = None
        self.views = [open_positions[np.argsort(f[open_positions], kind="stable")]]
        if priority is not f:
            # Ties go to the child with the most candidates.
            order = np.lexsort((-open_positions, priority[open_positions]))
            self.views.append(open_positions[order])
            self.opened = np.zeros(len(items), dtype=bool)

    def next(self, view: int) -> int:
        """Position of the unopened child that is first in a view, -1 if there is none."""
        order, at = self.views[view], self.at[view]
        if self.opened is not None:
            while at < len(order) and self.opened[order[at]]:
                at += 1
            self.at[view] = at
        return int(order[at]) if at < len(order) else -1

    def open(self, index: int) -> Branch:
        """Take child ``index`` out."""
        if self.opened is None:
            self.at[_BOUND] += 1
        else:
            self.opened[index] = True
        candidates = self.items[:index]
        if self.allowed is not None:
            row = np.unpackbits(self.allowed[index], count=len(self.items))
            candidates = candidates[row[:index].astype(bool)]
        chosen = np.empty(len(self.chosen) + 1, dtype=np.int32)  # np.append takes longer
        chosen[:-1], chosen[-1] = self.chosen, self.items[index]
        hint = None if self.hint is None else self.hint[:index]
        return Branch(
            chosen, candidates, float(self.f[index]), float(self.priority[index]), hint,
            self.first + index,
        )  # fmt: skip

    @property
    def unopened(self) -> int:
        """How many children are still open."""
        opened = self.at[_BOUND] if self.opened is None else int(self.opened.sum())
        return len(self.views[_BOUND]) - opened

    @property
    def nbytes(self) -> int:
        own_priority = 0 if self.priority is self.f else self.priority.nbytes
        views = sum(view.nbytes for view in self.views) + len(self.items)
        lists = 0 if self.allowed is None else self.allowed.nbytes
        lists += 0 if self.hint is None else self.hint.nbytes
        return self.items.nbytes + self.f.nbytes + own_priority + views + lists + _OVERHEAD


class _Parts:
    """Parts of one expanded node, by bound; offers what a family does."""

    __slots__ = ("at", "chosen", "f", "parts", "priority")

    def __init__(self, parts: list[Part]):
        self.parts = sorted(parts, key=lambda part: part.bound)
        self.chosen = self.parts[0].chosen
        self.f = self.priority = [part.bound for part in self.parts]
        self.at = 0

    def next(self, view: int) -> int:
        """The unopened part with the least bound, -1 if there is none."""
        return self.at if self.at < len(self.parts) else -1

    def open(self, index: int) -> Branch:
        """Take part ``index`` out."""
        self.at += 1
        chosen, candidates, bound, hint, node = self.parts[index]
        return Branch(chosen, candidates, bound, bound, hint, node)

    @property
    def unopened(self) -> int:
        """How many parts are still open."""
        return len(self.parts) - self.at

    @property
    def nbytes(self) -> int:
        arrays = (array for part in self.parts for array in (part[0], part[1], part[3]))
        return sum(array.nbytes for array in arrays if array is not None) + _OVERHEAD


class Frontier:
    """Open branches, with a proof (:meth:`bound`) at any moment. Best-first search uses three
    quarters of ``max_memory`` bytes; then the search goes depth first in what is left. A
    ``recorder`` records how nodes are divided."""

    def __init__(self, policy: Policy, max_memory: float, recorder: ProofRecorder | None = None):
        self.policy, self.max_memory, self.recorder = policy, max_memory, recorder
        self.nbytes = 0
        self.n_open = 0
        self.peak = 0
        self._serial = 0
        self._heaps: tuple[list[tuple], list[tuple]] = ([], [])  # one for each view
        self._stack: list[_Family | _Parts] = []

    @property
    def full(self) -> bool:
        """Whether the search has to go depth first."""
        return self.nbytes >= 0.75 * self.max_memory

    @property
    def exhausted(self) -> bool:
        """Whether not even depth-first search fits (a few families always do)."""
        return self.nbytes > max(self.max_memory, _LEAST_MEMORY)

    def push(
        self,
        chosen: np.ndarray,
        branches: Branches,
        size: int,
        floor: float = -np.inf,
        node: int = 0,
    ) -> None:
        """Add the children, or the parts, of a node whose own bound was ``floor``."""
        if branches.parts:
            raised = [part._replace(bound=max(part.bound, floor)) for part in branches.parts]
            self._register(_Parts(raised))
            return
        if len(branches.fixed):
            chosen = np.concatenate([chosen, branches.fixed])
        items, f = branches.items, np.maximum(branches.f, floor)
        priority = self.policy.priority(f, branches.weight)
        if self.policy.follows_u or not branches.partitioned:
            # Partition: the worst bound keeps the most candidates (cheap branches stay tiny);
            # under u alone the best child must keep them all.
            follows_u = self.policy.follows_u
            order = np.lexsort((-items, -priority) if follows_u else (items, f))
            items, f, priority = items[order], f[order], priority[order]
        named = 0 if self.recorder is None else self.recorder.listed(node, items)
        first = size - len(chosen) - 1  # a child needs that many candidates of its own
        open_positions = np.flatnonzero(np.isfinite(f[first:])).astype(np.int32) + first
        if len(open_positions) == 0:
            return
        end = open_positions[-1] + 1
        items, f, priority = items[:end], f[:end], priority[:end]
        own = f if self.policy.by_bound else priority
        allowed = None if branches.allowed is None else branches.allowed[:end, :end]
        hint = None if branches.hint is None else branches.hint[:end]
        self._register(_Family(chosen, items, f, own, open_positions, allowed, hint, named))

    def restore(self, branch: Branch) -> None:
        """Put back a branch that was taken out but not expanded."""
        if self.policy.by_bound:
            part = Part(branch.chosen, branch.candidates, branch.bound, branch.hint, branch.node)
            self._register(_Parts([part]))
            return
        items = np.append(branch.candidates, branch.chosen[-1]).astype(np.int32)
        f = np.full(len(items), branch.bound)
        priority = np.full(len(items), branch.priority)
        last = np.array([len(items) - 1], dtype=np.int32)
        first = branch.node - len(branch.candidates)
        self._register(_Family(branch.chosen[:-1], items, f, priority, last, first=first))

    def _register(self, family: _Family | _Parts) -> None:
        self.nbytes += family.nbytes
        self.peak = max(self.peak, self.nbytes)
        self.n_open += family.unopened
        if self.full:
            self._stack.append(family)
        else:
            self._enter(family, _BOUND)
            if not self.policy.by_bound:
                self._enter(family, _ORDER)

    def _enter(self, family: _Family | _Parts, view: int) -> None:
        index = family.next(view)
        if index >= 0:
            self._serial += 1
            key = (family.priority if view else family.f)[index]
            entry = (key, -len(family.chosen), self._serial, family)
            heapq.heappush(self._heaps[view], entry)
        elif view == _BOUND:
            self.nbytes -= family.nbytes

    def _forget(self, family: _Family | _Parts) -> None:
        """Leave out a family of which nothing matters any more."""
        self.nbytes -= family.nbytes
        self.n_open -= family.unopened

    def _open(self, family: _Family | _Parts, index: int) -> Branch:
        self.n_open -= 1
        return family.open(index)

    def pop_bound(self, threshold: float) -> Branch | None:
        """The open branch with the smallest bound, None if all reach ``threshold``."""
        branch, bounds = self._pop_stack(threshold), self._heaps[_BOUND]
        while branch is None and bounds:
            _, _, _, family = heapq.heappop(bounds)
            index = family.next(_BOUND)
            if index < 0 or family.f[index] >= threshold:
                self._forget(family)
                continue
            # Else its best child left through the other view.
            if not bounds or family.f[index] <= bounds[0][0]:
                branch = self._open(family, index)
            self._enter(family, _BOUND)
        return branch

    def pop_order(self, limit: float, threshold: float) -> Branch | None:
        """The open branch with the smallest priority, None if all reach ``limit``."""
        branch, orders = self._pop_stack(threshold), self._heaps[_ORDER]
        while branch is None and orders:
            priority, _, _, family = heapq.heappop(orders)
            index = family.next(_ORDER)
            if index < 0:
                continue
            if family.priority[index] > priority:  # its best child left through the other view
                self._enter(family, _ORDER)
                continue
            if priority >= limit:
                self._enter(family, _ORDER)
                return None
            branch = self._open(family, index)
            self._enter(family, _ORDER)
            if branch.bound >= threshold:
                branch = None
        return branch

    def _pop_stack(self, threshold: float) -> Branch | None:
        while self._stack:
            family = self._stack[-1]
            index = family.next(_BOUND)
            if index >= 0 and family.f[index] < threshold:
                return self._open(family, index)
            self._forget(self._stack.pop())
        return None

    def bound(self) -> float:
        """Smallest bound of all open branches; ``inf`` when there are none."""
        bounds = self._heaps[_BOUND]
        while bounds:
            key, _, _, family = bounds[0]
            index = family.next(_BOUND)
            if index >= 0 and family.f[index] == key:
                break
            heapq.heappop(bounds)
            self._enter(family, _BOUND)
        smallest = bounds[0][0] if bounds else np.inf
        for family in self._stack:
            index = family.next(_BOUND)
            if index >= 0:
                smallest = min(smallest, family.f[index])
        return float(smallest)
