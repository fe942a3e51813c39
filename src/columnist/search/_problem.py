"""The interface of a problem.

The engine chooses ``size`` of ``n_items`` items, whatever these are: a problem bounds partial
choices and evaluates complete ones. Two functions of a partial choice S carry everything:

* ``f(S)``: no completion of S has a smaller error. It never falls along a path.
* ``u(S)``: the error of S alone. It never rises along a path.

They meet when S is complete. Bounds carry their rounding: what it may have added is taken off.

A problem may also offer

* ``incumbents(chosen, candidates, deadline)``, which yields complete sets, where it knows a better
  way to good ones than greedy choice and exchanges;
* ``improve(subset, operations, deadline)``, a complete set that may be better than the best one
  known, or None; it may go on where the last call ended. Asked only while the search stays open;
* ``interval(subset, limit=inf)``: two numbers between which the error of a complete choice lies,
  whatever rounding does; how far apart does not matter if both are at least ``limit``. Without it
  ``value`` is taken to be exact;
* ``least``, an error that no choice can be below;
* ``estimate(subset)``, an error of a complete choice that is good enough to look for better ones;
* where not every choice of ``size`` items is complete, or others are: ``completed(subset,
  deadline)``, a complete choice that contains a part, or None; ``neighbours(subset)``, complete
  choices that differ little; ``every(limit)``, all of them if they are no more than ``limit``, else
  None; ``prefer_smaller(subset, deadline)``, the first of equally good ones; and ``nothing``, what
  to say if there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np


@dataclass(frozen=True)
class Demand:
    """Parameters of an expansion, set by the engine.

    Attributes
    ----------
    threshold : float
        Children whose bound reaches this may be left out.
    weight : str or None
        ``"u"`` or ``"b"`` if the order needs that figure for every child.
    n_best : int
        How many of the best complete sets of a node are wanted.
    shortcut : bool
        Whether children may be explored to their end at once, and complete sets returned.
    effort : float
        Operations worth spending on that.
    hint : ndarray, optional
        What the expansion of the parent has noted for the candidates (``Branches.hint``).
    trace : bool
        Whether a proof is written: bounds that are easy to check are preferred, and what they
        rest on is returned (``Branches.trace``).
    """

    threshold: float
    weight: str | None = None
    n_best: int = 1
    shortcut: bool = True
    effort: float = 0.0
    hint: np.ndarray | None = None
    trace: bool = False


class Step(NamedTuple):
    """One bound of a node: its candidates, the z of each if it was a relaxation, and what becomes
    of each: 0 kept, 1 fixed, 2 dropped; None if nothing is left of the node."""

    candidates: np.ndarray
    z: np.ndarray
    marks: np.ndarray | None


class Trace(NamedTuple):
    """How a node was divided by relaxation: the candidate to branch on, -1 for none, and for the
    node, or its parts with and without that candidate, whether it is still open, and the steps."""

    branch: int
    chains: list[tuple[bool, list[Step]]]


class Part(NamedTuple):
    """A part of a node: all that it has chosen, what it may choose, its bound, what its
    expansion may start from, and its number in a proof."""

    chosen: np.ndarray
    candidates: np.ndarray
    bound: float
    hint: np.ndarray | None = None
    node: int = 0


@dataclass(frozen=True)
class Branches:
    """Result of an expansion.

    Attributes
    ----------
    bound : float
        Lower bound of every completion of the node (``inf``: none below the threshold).
    items : ndarray of int32
        The item each child adds.
    f, weight : ndarray
        Bound of each child, where what is not a number says nothing; the figure asked for by
        ``Demand.weight`` (else empty).
    goals : list of (float, tuple of int)
        Complete sets that may be below the threshold, with a lower bound of their error. All of
        them, unless ``floor`` says otherwise, but for those that ``n_best`` others surely beat.
    floor : float
        Lower bound of the complete sets that were left out of ``goals`` without such a reason.
    doubtful : bool
        Whether the bounds take something for rounding that may be more.
    partitioned : bool
        Whether ``items`` stand in the order of the partition already: child i may use
        ``items[:i]``. An infinite f then marks a child explored to its end.
    allowed : ndarray of bool of shape (n, n), optional
        With ``partitioned``: child i may use ``items[j]`` only where ``allowed[i, j]``.
    fixed : ndarray of int32
        Items that all children have beside those of the node: choices without them reach the
        threshold.
    hint : ndarray, optional
        With ``partitioned``: a number for each item that the expansion of a child may start from.
    parts : list of Part
        Where a node is not divided by the item that comes next: what is left of it, instead of
        ``items``. For orders by the bound alone.
    explored, resolved, unresolved : int
        Nodes explored beside this one, and the children for which that did or did not reach
        the end within the effort.
    tally : dict of str to (int, int)
        For each kind of bound that was used: nodes it has bounded, and branches it has closed.
    trace : Trace, optional
        What a proof needs of a relaxation, if ``Demand.trace`` asks for it.
    """

    bound: float
    items: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    f: np.ndarray = field(default_factory=lambda: np.empty(0))
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    goals: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    floor: float = np.inf
    doubtful: bool = False
    partitioned: bool = False
    allowed: np.ndarray | None = None
    fixed: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    hint: np.ndarray | None = None
    parts: list[Part] = field(default_factory=list)
    explored: int = 0
    resolved: int = 0
    unresolved: int = 0
    tally: dict[str, tuple[int, int]] = field(default_factory=dict)
    trace: Trace | None = None

    def __post_init__(self) -> None:
        if np.isnan(self.f).any():
            object.__setattr__(self, "f", np.where(np.isnan(self.f), -np.inf, self.f))


@runtime_checkable
class SubsetProblem(Protocol):
    """The interface; see the module docstring."""

    n_items: int
    size: int
    exact: bool

    def root(self) -> tuple[np.ndarray, np.ndarray]:
        """Items chosen from the start and candidates, both int32."""

    def root_bounds(self) -> tuple[float, float]:
        """f and u of the root."""

    def expand(
        self, chosen: np.ndarray, candidates: np.ndarray, demand: Demand, worker: int
    ) -> Branches:
        """Evaluate the children of a node; ``worker`` indexes scratch memory."""

    def completion_errors(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Error u of ``chosen`` plus each one of the candidates."""

    def value(self, subset: Sequence[int]) -> float:
        """Error of a complete choice."""

    def cost(self) -> float:
        """Rough number of seconds one expansion takes, to size batches."""


_REQUIRED = (
    "n_items", "size", "exact", "root", "root_bounds", "expand", "completion_errors", "value",
    "cost",
)  # fmt: skip


def check_problem(problem) -> None:
    """Raise a TypeError that names what a problem lacks."""
    missing = [name for name in _REQUIRED if not hasattr(problem, name)]
    if missing:
        raise TypeError(
            f"{type(problem).__name__} cannot be searched: missing {', '.join(missing)}."
        )
