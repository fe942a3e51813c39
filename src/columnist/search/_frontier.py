"""The open branches of a search.

Expanding a node yields a *family*: its children in the order of the partition. Child i
takes ``items[i]`` and may still use ``items[:i]``, so every subset is reached exactly
once. A family is stored once, with pointers to its next child, instead of one entry per child:
a thousand children cost a thousand times twelve bytes.

Branches leave in the order of their bound, or in the order of a policy; both views skip what
the other opened. When the memory budget is used up, new families go to a stack that is worked
off first, depth first, which needs no more than one family per level.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from columnist.search._policies import Policy
from columnist.search._problem import Branches

__all__ = ["Branch", "Frontier"]

_LEAST_MEMORY = 2**18  # bytes that are used whatever the budget
_OVERHEAD = 1000  # bytes of Python objects per family, as measured by tracemalloc


@dataclass(frozen=True)
class Branch:
    """A node to expand: what it has chosen, what it may choose, and its bound."""

    chosen: np.ndarray
    candidates: np.ndarray
    bound: float
    priority: float
    hint: np.ndarray | None = None


class _Family:
    """Children of one expanded node, in the order of the partition.

    ``by_bound`` and ``by_order`` list the positions of the open ones in both orders.
    """

    __slots__ = ("allowed", "at_bound", "at_order", "by_bound", "by_order", "chosen", "f", "hint",
                 "items", "opened", "priority")  # fmt: skip

    def __init__(self, chosen, items, f, priority, open_positions, allowed=None, hint=None):
        self.chosen, self.items, self.f, self.priority = chosen, items, f, priority
        self.hint = hint
        self.allowed = None if allowed is None else np.packbits(allowed, axis=1)
        self.at_bound = self.at_order = 0
        self.by_bound = open_positions[np.argsort(f[open_positions], kind="stable")]
        self.by_order: Any = None
        self.opened = None
        if priority is not f:
            # Ties go to the child with the most candidates.
            order = np.lexsort((-open_positions, priority[open_positions]))
            self.by_order = open_positions[order]
            self.opened = np.zeros(len(items), dtype=bool)

    def next_by_bound(self) -> int:
        """Position of the unopened child with the smallest bound, -1 if there is none."""
        self.at_bound = self._skip(self.by_bound, self.at_bound)
        return int(self.by_bound[self.at_bound]) if self.at_bound < len(self.by_bound) else -1

    def next_by_order(self) -> int:
        """Position of the unopened child with the smallest priority, -1 if there is none."""
        self.at_order = self._skip(self.by_order, self.at_order)
        return int(self.by_order[self.at_order]) if self.at_order < len(self.by_order) else -1

    def _skip(self, view, at: int) -> int:
        if self.opened is not None:
            while at < len(view) and self.opened[view[at]]:
                at += 1
        return at

    def open(self, index: int) -> Branch:
        """Take child ``index`` out."""
        if self.opened is None:
            self.at_bound += 1
        else:
            self.opened[index] = True
        candidates = self.items[:index]
        if self.allowed is not None:
            row = np.unpackbits(self.allowed[index], count=len(self.items))
            candidates = candidates[row[:index].astype(bool)]
        chosen = np.empty(len(self.chosen) + 1, dtype=np.int32)  # np.append takes longer
        chosen[:-1], chosen[-1] = self.chosen, self.items[index]
        hint = None if self.hint is None else self.hint[:index]
        return Branch(chosen, candidates, float(self.f[index]), float(self.priority[index]), hint)

    @property
    def unopened(self) -> int:
        """How many children are still open."""
        if self.opened is None:
            return len(self.by_bound) - self.at_bound
        return len(self.by_bound) - int(self.opened.sum())

    @property
    def nbytes(self) -> int:
        own_priority = 0 if self.priority is self.f else self.priority.nbytes
        views = self.by_bound.nbytes * (1 if self.opened is None else 2) + len(self.items)
        lists = 0 if self.allowed is None else self.allowed.nbytes
        lists += 0 if self.hint is None else self.hint.nbytes
        return self.items.nbytes + self.f.nbytes + own_priority + views + lists + _OVERHEAD


class Frontier:
    """Open branches, with a proof (:meth:`bound`) at any moment.

    Parameters
    ----------
    policy : Policy
        Order of the search.
    max_memory : float
        Bytes for open branches. Best-first search uses three quarters of them; then
        the search goes depth first in what is left.
    """

    def __init__(self, policy: Policy, max_memory: float):
        self.policy, self.max_memory = policy, max_memory
        self.nbytes = 0
        self.n_open = 0
        self.peak = 0
        self._serial = 0
        self._bounds: list[tuple] = []
        self._orders: list[tuple] = []
        self._stack: list[_Family] = []

    @property
    def full(self) -> bool:
        """Whether the search has to go depth first."""
        return self.nbytes >= 0.75 * self.max_memory

    @property
    def exhausted(self) -> bool:
        """Whether not even depth-first search fits (a few families always do)."""
        return self.nbytes > max(self.max_memory, _LEAST_MEMORY)

    def push(
        self, chosen: np.ndarray, branches: Branches, size: int, floor: float = -np.inf
    ) -> None:
        """Add the children of a node whose own bound was ``floor``."""
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
        first = size - len(chosen) - 1  # a child needs that many candidates of its own
        open_positions = np.flatnonzero(np.isfinite(f[first:])).astype(np.int32) + first
        if len(open_positions) == 0:
            return
        end = open_positions[-1] + 1
        items, f, priority = items[:end], f[:end], priority[:end]
        own = f if self.policy.by_bound else priority
        allowed = None if branches.allowed is None else branches.allowed[:end, :end]
        hint = None if branches.hint is None else branches.hint[:end]
        self._register(_Family(chosen, items, f, own, open_positions, allowed, hint))

    def restore(self, branch: Branch) -> None:
        """Put back a branch that was taken out but not expanded."""
        items = np.append(branch.candidates, branch.chosen[-1]).astype(np.int32)
        f = np.full(len(items), branch.bound)
        priority = f if self.policy.by_bound else np.full(len(items), branch.priority)
        last = np.array([len(items) - 1], dtype=np.int32)
        self._register(_Family(branch.chosen[:-1], items, f, priority, last))

    def _register(self, family: _Family) -> None:
        self.nbytes += family.nbytes
        self.peak = max(self.peak, self.nbytes)
        self.n_open += family.unopened
        if self.full:
            self._stack.append(family)
        else:
            self._enter_bounds(family)
            if not self.policy.by_bound:
                self._enter_orders(family)

    def _enter_bounds(self, family: _Family) -> None:
        index = family.next_by_bound()
        if index < 0:
            self.nbytes -= family.nbytes
            return
        self._serial += 1
        heapq.heappush(self._bounds, (family.f[index], -len(family.chosen), self._serial, family))

    def _enter_orders(self, family: _Family) -> None:
        index = family.next_by_order()
        if index >= 0:
            self._serial += 1
            entry = (family.priority[index], -len(family.chosen), self._serial, family)
            heapq.heappush(self._orders, entry)

    def pop_bound(self, threshold: float) -> Branch | None:
        """The open branch with the smallest bound, None if all reach ``threshold``."""
        branch = self._pop_stack(threshold)
        if branch is not None:
            return branch
        while self._bounds:
            _, _, _, family = heapq.heappop(self._bounds)
            index = family.next_by_bound()
            if index < 0 or family.f[index] >= threshold:
                self.nbytes -= family.nbytes
                self.n_open -= family.unopened
                continue
            if self._bounds and family.f[index] > self._bounds[0][0]:
                self._enter_bounds(family)  # its best child left through the other view
                continue
            self.n_open -= 1
            branch = family.open(index)
            self._enter_bounds(family)
            return branch
        return None

    def pop_order(self, limit: float, threshold: float) -> Branch | None:
        """The open branch with the smallest priority, None if all reach ``limit``."""
        branch = self._pop_stack(threshold)
        if branch is not None:
            return branch
        while self._orders:
            priority, _, _, family = heapq.heappop(self._orders)
            index = family.next_by_order()
            if index < 0:
                continue
            if family.priority[index] > priority:
                self._enter_orders(family)
                continue
            if priority >= limit:
                self._enter_orders(family)
                return None
            self.n_open -= 1
            branch = family.open(index)
            self._enter_orders(family)
            if branch.bound < threshold:
                return branch
        return None

    def _pop_stack(self, threshold: float) -> Branch | None:
        while self._stack:
            family = self._stack[-1]
            index = family.next_by_bound()
            if index < 0 or family.f[index] >= threshold:
                self._stack.pop()
                self.nbytes -= family.nbytes
                self.n_open -= family.unopened
                continue
            self.n_open -= 1
            return family.open(index)
        return None

    def bound(self) -> float:
        """Smallest bound of all open branches; ``inf`` when there are none."""
        while self._bounds:
            key, _, _, family = self._bounds[0]
            index = family.next_by_bound()
            if index >= 0 and family.f[index] == key:
                break
            heapq.heappop(self._bounds)
            self._enter_bounds(family)
        smallest = self._bounds[0][0] if self._bounds else np.inf
        for family in self._stack:
            index = family.next_by_bound()
            if index >= 0:
                smallest = min(smallest, family.f[index])
        return float(smallest)
