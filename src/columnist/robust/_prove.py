r"""Proof that no other rows are better outliers, or how much better they could be.

Among all sets of n - k rows, find the one whose PCA with r components leaves the smallest error,
and prove it. The problem is split into nodes (:mod:`columnist.robust._node`) that are worked on in
turn, the one with the lowest bound first; so the bound over all of them is valid, and as
good as it can be, at any moment.

No input validation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from columnist.criteria import Frobenius
from columnist.linalg._rounding import AGREEMENT, TRUSTED
from columnist.linalg._threads import single_threaded_blas
from columnist.robust._concentrate import concentrated_rows
from columnist.robust._contract import Drowned
from columnist.robust._errors import RowErrors, WeightedErrors
from columnist.robust._node import Incumbent, Node
from columnist.robust._team import Team
from columnist.search import _interrupts as interrupts
from columnist.search._log import Progress

__all__ = ["TOLERANCE", "Proof", "prove"]

# A set is called no better if its error is proven to reach the incumbent's up to this share.
TOLERANCE = AGREEMENT
# Bounds are compared with less, so that both ends of a precise interval are within that share.
_MARGIN = 2.0 * TRUSTED


@dataclass(frozen=True)
class Proof:
    """What is known about the best rows to remove.

    Attributes
    ----------
    error : float
        Error of the incumbent: the sum of squared distances of its rows from their subspace.
    lower_bound : float
        No set of that many rows leaves a smaller error.
    removed : ndarray of int
        The incumbent: rows removed, ascending.
    proven : bool
        Whether every other set is proven to be no better, up to a relative ``TOLERANCE``.
    status : str
        ``"optimal"``, ``"gap_reached"``, ``"time_limit"``, ``"node_limit"``, ``"memory_limit"``,
        ``"precision_limit"`` or ``"interrupted"``.
    always_kept, always_removed : ndarray of int
        Rows that every better set, if there is one, keeps or removes.
    steps, evaluations : int
        Stages of work and tail sums computed.
    history : list of dict
        Bound, incumbent, stages and listed sets over time.
    """

    error: float
    lower_bound: float
    removed: np.ndarray
    proven: bool
    status: str
    always_kept: np.ndarray
    always_removed: np.ndarray
    steps: int = 0
    evaluations: int = 0
    history: list[dict[str, float]] = field(default_factory=list, repr=False)

    @property
    def gap(self) -> float:
        """(error - lower_bound) / error; 0 when the error is 0."""
        return (self.error - self.lower_bound) / self.error if self.error > 0.0 else 0.0


def prove(
    X: np.ndarray,
    n_components: int,
    n_removed: int,
    *,
    centering: str = "optimal",
    incumbents: Iterable[Sequence[int] | np.ndarray] | None = None,
    must_keep: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    errors: RowErrors | None = None,
    rng: np.random.Generator | None = None,
    deadline: float = np.inf,
    max_steps: float = np.inf,
    max_gap: float = 0.0,
    max_memory: float = np.inf,
    n_jobs: int = 1,
    callback: Callable[[Progress], object] | None = None,
) -> Proof:
    """Find the rows whose removal leaves the smallest PCA error, and prove it.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, finite. Errors below 1e-300 or above 1e300 are out of reach.
    n_components : int
        Dimension of the subspace, at least 0.
    n_removed : int
        Rows to remove, at least 0 and less than n.
    centering : {"optimal", "mean", "none"}, default="optimal"
        Where the subspace passes: through the mean of the kept rows; through the mean of all
        rows; or through the origin.
    incumbents : iterable of sets of int, optional
        Rows removed by good choices, better and better; found by concentration if not given.
    must_keep : ndarray of bool, optional
        Rows that stand for many others and must stay. Then ``incumbents`` is not optional.
    weights : ndarray of shape (n,), optional
        What rows are multiplied by, 1 unless they must stay: see
        :func:`columnist.robust._subspace.about_mean`.
    errors : RowErrors, optional
        Errors of sets, if known; for rows without weights that may all be removed.
    rng : numpy.random.Generator, optional
        For the search of an incumbent. The proof itself draws nothing.
    deadline : float, default=inf
        ``time.perf_counter()`` at which to stop.
    max_steps : float, default=inf
        Stages of work after which to stop.
    max_gap : float, default=0.0
        Relative gap that is good enough.
    max_memory : float, default=inf
        Bytes for the lists of all nodes.
    n_jobs : int, default=1
        Threads. Their number changes nothing but the time.
    callback : callable, optional
        Receives every :class:`columnist.search.Progress`; a true answer stops the search.

    Returns
    -------
    Proof

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.robust._prove import prove
    >>> X = np.random.default_rng(0).standard_normal((40, 4)) * [5.0, 3.0, 1.0, 1.0]
    >>> X[[3, 8]] += [0.0, 0.0, 9.0, -9.0]
    >>> proof = prove(X, 2, 2)
    >>> proof.removed, proof.proven
    (array([3, 8]), True)
    """
    X = np.asarray(X, dtype=np.float64)
    if errors is None and weights is None and must_keep is None:
        errors = RowErrors(X, n_components, Frobenius(), centering)
    unit = _unit(X if errors is None else errors.rows)
    own: RowErrors | WeightedErrors
    if errors is None:
        own = WeightedErrors(X / unit, n_components, centering == "optimal", weights)
    else:
        own = errors.divided(unit, 1.0)
    run = _Run(deadline, max_steps, callback, unit)
    with single_threaded_blas(), Team(n_jobs) as team:
        best = Incumbent(
            X, n_components, n_removed, centering == "optimal",
            max(TOLERANCE, max_gap) - _MARGIN, run.expired, must_keep, weights, own,
            team, max_memory,
        )  # fmt: skip
        return run.go(best, incumbents, rng or np.random.default_rng(0))


def _unit(X: np.ndarray) -> float:
    """The power of two next to the largest entry."""
    largest = np.abs(X).max(initial=0.0)
    return float(np.exp2(np.floor(np.log2(largest)))) if largest > 0.0 else 1.0


class _Run:
    """State of one proof."""

    def __init__(self, deadline, max_steps, callback, unit: float):
        self.deadline, self.max_steps, self.callback = deadline, max_steps, callback
        self.squared_unit = unit * unit
        self.started = time.perf_counter()
        self.steps = self.evaluations = 0
        self.nodes: list[Node] = []
        self.bound, self.stop = 0.0, ""
        self.history: list[dict[str, float]] = []

    def expired(self) -> bool:
        """Whether time is up, or the user wants an end."""
        return interrupts.expired(self.deadline)

    def go(self, best: Incumbent, incumbents: Iterable | None, rng) -> Proof:
        self.best = best
        nobody = np.zeros(len(best.X), dtype=bool)
        self.nodes = [Node(best, best.fixed.copy(), nobody)]
        try:
            self._first(incumbents, rng)
            while self._goes_on():
                self._advance()
        except KeyboardInterrupt:
            if not best.kept.any():  # nothing to tell yet
                raise
            self.stop = "interrupted"
        except MemoryError:
            self.stop = "memory_limit"
        except Drowned:
            self.stop = "precision_limit"
        best.confirm()
        return self._result()

    def _first(self, incumbents: Iterable | None, rng) -> None:
        """The incumbent; nothing is left to prove if it has no error."""
        best = self.best
        for removed in incumbents or ():
            best.offer_removed(np.asarray(removed, dtype=np.intp))
        if incumbents is None:
            kept = concentrated_rows(
                best.X, best.n_components, best.n_removed,
                centred=best.centred, rng=rng, deadline=self.deadline,
            )  # fmt: skip
            best.offer(kept)
        if best.error == 0.0:
            self.nodes = []
        self._report(new=True)

    def _advance(self) -> None:
        """One stage of the node with the lowest bound."""
        node = min(self.nodes, key=lambda node: node.bound)
        error = self.best.error
        before = node.evaluations
        children = node.step()
        self.steps += 1
        self.evaluations += node.evaluations - before
        if children or node.closed:  # in one assignment: no moment without a part of the problem
            self.nodes = [other for other in self.nodes if other is not node] + children
        self._raise_bound()
        self._report(new=self.best.error < error)

    def _raise_bound(self) -> None:
        """Proven lower bound; never falls."""
        bounds = [node.bound for node in self.nodes]
        self.bound = max(self.bound, min([self.best.threshold, self.best.floor, *bounds]))
        self.nodes = [node for node in self.nodes if node.bound < self.best.threshold]

    def _goes_on(self) -> bool:
        """Whether there is work left, and leave to do it."""
        if self.nodes and not self.stop:
            if self.steps >= self.max_steps:
                self.stop = "node_limit"
            elif self.expired():
                self.stop = "interrupted" if interrupts.pending() else "time_limit"
            elif sum(node.nbytes for node in self.nodes) > self.best.max_memory:
                self.stop = "memory_limit"
        return bool(self.nodes) and not self.stop

    def _report(self, *, new: bool = False) -> None:
        progress = Progress(
            self.steps,
            sum(node.n_sets for node in self.nodes),
            self.bound * self.squared_unit,
            self.best.error * self.squared_unit,
            time.perf_counter() - self.started,
            new,
        )
        self.history.append(progress.entry())
        if self.callback is not None and self.callback(progress):
            self.stop = self.stop or "interrupted"

    def _result(self) -> Proof:
        best = self.best
        always_kept, always_removed = best.kept.copy(), ~best.kept
        if self.nodes:
            decided = np.array([node.decided() for node in self.nodes])
            always_kept, always_removed = np.all(decided, axis=0)
        proven = self.bound >= best.interval.high * (1.0 - TOLERANCE)
        status = "optimal" if proven else self.stop
        if not self.nodes and not proven:
            within = self.bound >= best.error * (1.0 - best.tolerance - _MARGIN)
            status = "gap_reached" if within else "precision_limit"
        return Proof(
            best.error * self.squared_unit,
            min(self.bound, best.error) * self.squared_unit,
            np.flatnonzero(~best.kept),
            proven,
            status,
            np.flatnonzero(always_kept),
            np.flatnonzero(always_removed),
            self.steps,
            self.evaluations,
            self.history,
        )
