"""From many rows to a certificate, in a few passes.

Concentration from a few starts finds a choice; what is measured of every row bounds all others
(:mod:`columnist.robust._screen`). If that leaves some rows undecided, and not too many, these are
brought together and searched (:mod:`columnist.robust._prove`); all other rows take part as
a handful of rows with the same inner products.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from columnist.linalg._moments import Moments, merged_moments
from columnist.robust._concentrate import finalists, sampled_rows
from columnist.robust._many_rows import KeptRows, ManyRows, Measured
from columnist.robust._passes import BASE, CHOSEN, GONE, block_moments
from columnist.robust._prove import TOLERANCE, Proof, prove
from columnist.robust._screen import Rows, Screened, screen
from columnist.robust._subspace import fit_subspace, subspace_of_moments
from columnist.search import _interrupts as interrupts
from columnist.search._certificate import Certificate
from columnist.search._log import Progress, SolverLog
from columnist.search._options import SearchOptions

__all__ = ["certified_many"]

# More undecided rows are not searched.
_MOST_FREE = 2000
# Searches, each of which found a better choice than the one before.
_ROUNDS = 5
# Share of the tolerance that intervals of the screening may leave.
_SLACK = 0.1


def certified_many(
    data: ManyRows,
    n_components: int,
    n_outliers: int,
    options: SearchOptions,
    mean: np.ndarray | None,
    rng: np.random.Generator,
) -> tuple[Certificate, KeptRows, Measured]:
    """The rows to remove, as the selection of a certificate for all rows.

    Parameters
    ----------
    data : ManyRows
        Rows.
    n_components, n_outliers : int
        Dimension of the subspace; rows to remove.
    options : SearchOptions
        Limits. The criterion is the squared Frobenius norm, the order that of bounds.
    mean : ndarray of shape (p,) or None
        Where the subspace passes; None for the mean of the kept rows.
    rng : numpy.random.Generator
        For the starts.

    Returns
    -------
    certificate : Certificate
    kept : KeptRows
        The choice.
    measured : Measured
        All rows, measured from it.
    """
    run = _Run(data, options, mean)
    first = _first_choice(data, n_components, n_outliers, options, mean, rng)
    try:
        run.go(first)
    except KeyboardInterrupt:
        if not run.history:  # nothing is measured yet
            raise
        run.stop = "interrupted"
    certificate = run.certificate()
    run.log.message(repr(certificate))
    return certificate, run.kept, run.measured


def _first_choice(data: ManyRows, r: int, k: int, options, mean, rng) -> KeptRows:
    """Concentration from all rows and from the best subsets of a sample."""

    def expired() -> bool:
        return interrupts.expired(options.deadline)

    n = data.shape[0]
    rows = data.rows(sampled_rows(n, rng))
    shift = 0.0 if mean is None else mean
    sets = finalists(rows - shift, r, k / n, mean is None, rng, expired=expired)
    starts = [subspace_of_moments(data.moments, r, mean)]
    starts += [fit_subspace(rows[kept], r, mean) for kept in sets if np.count_nonzero(kept) >= r]
    return data.descend(starts, k, mean, expired)


class _Run:
    """State of one proof."""

    def __init__(self, data: ManyRows, options: SearchOptions, mean: np.ndarray | None):
        self.data, self.options, self.mean = data, options, mean
        self.log, self.started = SolverLog(options.verbose), time.perf_counter()
        self.bound, self.stop = 0.0, ""
        self.steps = self.evaluations = 0
        self.history: list[dict[str, float]] = []

    def go(self, kept: KeptRows) -> None:
        """Measure, screen, search what is left; again if that finds a better choice."""
        better: KeptRows | None = kept
        for _ in range(_ROUNDS):
            if better is None:
                break
            found = self._screened(better)
            better = None
            if self._goes_on(int(np.count_nonzero(found.free))):
                better = self._search(found)
        if better is not None:
            self._screened(better)

    # -- stages -----------------------------------------------------------------------

    def _screened(self, kept: KeptRows) -> Screened:
        """Take a choice, and bound all others by what is measured of the rows."""
        measured = self.data.measure(kept)
        removed = np.zeros(self.data.shape[0], dtype=bool)
        removed[kept.removed] = True
        # Nothing but rounding is no error, as in memory.
        exact = kept.error == 0.0
        error = 0.0 if exact else float(np.sum(measured.orthogonal[~removed] ** 2))
        # Together: an interrupt in between would leave the error of another choice.
        self.kept, self.measured, self.error = kept, measured, error
        rows = _screen_rows(self.data.moments, kept, self.measured, removed)
        lowest = max(min(self.error, kept.error) - kept.rounding, 0.0)
        found = screen(rows, lowest, _SLACK * self._tolerance * self.error)
        self.bound = max(self.bound, found.lower_bound)
        self._report(0, self.bound, new=True)
        return found

    def _search(self, found: Screened) -> KeptRows | None:
        """Search among the undecided rows; a better choice, if there is one."""
        undecided = _Undecided.of(self.data, self.kept, found.free)
        kept, options = self.kept, self.options

        def report(progress: Progress):
            lowest = min(progress.bound - kept.rounding, found.settled_bound)
            return self._report(progress.open, max(self.bound, lowest), new=progress.new_incumbent)

        proof = prove(
            undecided.rows, len(kept.subspace.variances), len(undecided.incumbent),
            centering="none" if undecided.weights is None else "optimal",
            incumbents=[undecided.incumbent], must_keep=undecided.fixed, weights=undecided.weights,
            deadline=options.deadline, max_steps=options.max_nodes - self.steps,
            max_gap=options.max_gap, max_memory=options.limits().max_memory,
            n_jobs=options.n_jobs, callback=report,
        )  # fmt: skip
        self.steps += proof.steps
        self.evaluations += proof.evaluations
        lowest = proof.error if proof.proven else proof.lower_bound
        self.bound = max(self.bound, min(lowest - kept.rounding, found.settled_bound))
        if proof.status not in ("optimal", "gap_reached"):
            self.stop = self.stop or proof.status
        other = undecided.choice(proof, kept, self.mean)
        return other if other.error < kept.error * (1.0 - TOLERANCE) else None

    # -- limits -----------------------------------------------------------------------

    @property
    def _tolerance(self) -> float:
        return max(TOLERANCE, self.options.max_gap)

    def _goes_on(self, n_free: int) -> bool:
        """Whether the bound leaves something to search, and there is leave to do it."""
        if self.bound >= self.error * (1.0 - self._tolerance) or self.stop:
            return False
        if self.steps >= self.options.max_nodes:
            self.stop = "node_limit"
        elif time.perf_counter() > self.options.deadline:
            self.stop = "time_limit"
        elif n_free > _MOST_FREE:
            self.stop = "memory_limit"
        return not self.stop

    def _report(self, still_open: int, bound: float, *, new: bool) -> bool:
        square = self.data.unit**2
        progress = Progress(
            self.steps, still_open, square * min(bound, self.error), square * self.error,
            time.perf_counter() - self.started, new,
        )  # fmt: skip
        self.history.append(progress.entry())
        self.log.show(progress)
        callback = self.options.callback
        stopped = callback is not None and bool(callback(progress))
        if stopped:
            self.stop = self.stop or "interrupted"
        return stopped

    def certificate(self) -> Certificate:
        """What is proven."""
        square, error = self.data.unit**2, self.error
        proven = self.bound >= error * (1.0 - TOLERANCE)
        # A search that came to its end and leaves something open has too few digits.
        status = self.stop or "precision_limit"
        if proven:
            status = "optimal"
        elif self.bound >= error * (1.0 - self._tolerance):
            status = "gap_reached"
        return Certificate(
            status=status, error=square * error,
            lower_bound=square * (error if proven else min(self.bound, error)),
            nodes_expanded=self.steps, nodes_generated=self.evaluations,
            elapsed=time.perf_counter() - self.started, criterion=str(self.options.criterion),
            selection=tuple(int(i) for i in self.kept.removed), history=tuple(self.history),
        )  # fmt: skip


def _screen_rows(
    everything: Moments, kept: KeptRows, measured: Measured, removed: np.ndarray
) -> Rows:
    gaps, free = kept.eigenvalue_gaps(), kept.subspace.free_mean
    p = len(kept.spectrum)
    size = measured.lengths + 2.0 * np.linalg.norm(kept.subspace.mean)
    return Rows(
        measured.orthogonal, measured.slopes, measured.lengths,
        (p + 16) * np.finfo(np.float64).eps * size, removed,
        float(gaps.min(initial=np.inf)), 1.0 / math.sqrt(kept.moments.count) if free else 0.0,
        _removed_turn(everything, kept),
    )  # fmt: skip


def _removed_turn(everything: Moments, kept: KeptRows) -> float:
    """How much a turn moves all removed rows together: see :mod:`columnist.robust._screen`.

    Their inner products within the subspace are those of all rows less those of the kept ones.
    """
    gaps, subspace = kept.eigenvalue_gaps(), kept.subspace
    if not (gaps > 0.0).all():
        return math.inf
    units = 1.0 / np.sqrt(gaps)
    if subspace.free_mean:
        units = np.append(units, 1.0 / math.sqrt(kept.moments.count))

    def products(moments: Moments) -> np.ndarray:
        centre = subspace.components @ (moments.mean - subspace.mean)
        root = math.sqrt(moments.count)
        rows = np.vstack([moments.factor() @ subspace.components.T, root * centre])
        if subspace.free_mean:
            column = np.zeros(len(rows))
            column[-1] = root
            rows = np.column_stack([rows, column])
        return rows.T @ rows * np.outer(units, units)

    total, stays = products(everything), products(kept.moments)
    if not total.size:
        return 0.0
    rounding = 64.0 * len(total) * np.finfo(np.float64).eps * float(np.trace(total))
    return math.sqrt(max(float(np.linalg.eigvalsh(total - stays)[-1]), 0.0) + rounding)


@dataclass(frozen=True)
class _Undecided:
    """The undecided rows, and a few more with the inner products of all that surely stay.

    All are about the centre of the choice. Those that surely stay have moments; a factor of
    their scatter has no part in the mean, and one row more, their mean, has the weight of all
    of them (see :func:`columnist.robust._subspace.about_mean`).

    Attributes
    ----------
    rows : ndarray
        First those that must stay.
    fixed : ndarray of bool
        Which these are.
    numbers : ndarray of int
        Numbers of the undecided rows among all.
    free_rows : ndarray
        They themselves.
    base : Moments
        Of the rows that surely stay.
    gone : ndarray of int
        Numbers of the rows that surely go.
    incumbent : ndarray of int
        Rows the choice removes, as positions in ``rows``.
    weights : ndarray or None
        Weights of the rows; None about a given centre.
    """

    rows: np.ndarray
    fixed: np.ndarray
    numbers: np.ndarray
    free_rows: np.ndarray
    base: Moments
    gone: np.ndarray
    incumbent: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, data: ManyRows, kept: KeptRows, free: np.ndarray) -> _Undecided:
        place = np.full(data.shape[0], BASE, dtype=np.int8)
        place[kept.removed] = GONE
        place[free] = CHOSEN
        found = data.sorted_out(place)
        centre, base = kept.subspace.mean, found.moments
        mean_row = math.sqrt(base.count) * (base.mean - centre)
        rows = np.vstack([base.factor(), mean_row, found.rows - centre])
        n_fixed = len(rows) - len(found.rows)
        weights = None
        if kept.subspace.free_mean:
            weights = np.ones(len(rows))
            weights[:n_fixed] = 0.0
            weights[n_fixed - 1] = math.sqrt(base.count)
        removed = np.flatnonzero(np.isin(found.numbers, kept.removed)) + n_fixed
        return cls(
            rows, np.arange(len(rows)) < n_fixed, found.numbers, found.rows, base,
            np.flatnonzero(place == GONE), removed, weights,
        )  # fmt: skip

    def choice(self, proof: Proof, kept: KeptRows, mean: np.ndarray | None) -> KeptRows:
        """The choice that a search among these rows has found."""
        chosen = proof.removed - np.count_nonzero(self.fixed)
        stay = block_moments(np.delete(self.free_rows, chosen, axis=0))
        removed = np.sort(np.concatenate([self.gone, self.numbers[chosen]]))
        moments = merged_moments([self.base, stay])
        return KeptRows.of(removed, moments, len(kept.subspace.variances), mean)
