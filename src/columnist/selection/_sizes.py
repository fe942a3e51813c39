r"""Choice of the number of columns: a proof over all sizes, and cross-validation.

An information criterion adds a price for columns to the fit. With E the error of k columns, n
samples and q targets, squared errors count as :math:`nq \log(E / nq)`, log-losses, with the penalty
that was minimised with them, as 2E, and the price is q times (for classes one less than there are)

.. math:: 2k \;(\mathrm{aic}), \qquad k \log n \;(\mathrm{bic}), \qquad
          k \log n + 2 \log \binom{p}{k} \;(\mathrm{ebic}).

It grows with E, so a lower bound of E for each size is one of the criterion: a size is discarded
once its bound reaches the best value found, and most sizes need only a rough bound for that.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import gammaln

from columnist.linalg._rounding import agrees
from columnist.search._certificate import Certificate, CertifiedPath
from columnist.search._interrupts import expired
from columnist.selection._task import Options, Outcome

RULES = ("aic", "bic", "ebic", "cv")
# Sizes of the first look.
_FIRST = 16
# How often sizes that are still open are searched again.
_ROUNDS = 4


class SubsetStep(NamedTuple):
    """One size of a path: the selection, its certificate, its coefficients (n_selected, n_outputs),
    and its score: the information criterion with its lower bound, or the mean and the standard
    error of the cross-validated loss; NaN where there is none."""

    selection: np.ndarray
    certificate: Certificate
    coef: np.ndarray
    score: float = np.nan
    score_bound: float = np.nan
    score_error: float = np.nan


@dataclass(frozen=True)
class SubsetPath(CertifiedPath):
    """Best subsets of increasing size.

    Attributes
    ----------
    steps : tuple of SubsetStep
        One per size; the path is a sequence of them.
    total : float
        Error of no columns.
    rule : str or None
        How the size was chosen: "aic", "bic", "ebic", "cv", or None if it was given.
    chosen : int
        Position of the chosen size.
    proven : bool
        Whether no other size can have a better criterion; False for "cv", which proves nothing
        about the size.
    feature_names : tuple of str or None
        Column names, if X has any.
    """

    total: float
    rule: str | None = None
    chosen: int = 0
    proven: bool = False
    feature_names: tuple[str, ...] | None = None

    @property
    def scores(self) -> np.ndarray:
        """Criterion of each step."""
        return np.array([step.score for step in self.steps])

    def __repr__(self) -> str:
        header = f"{'size':>4}  {'error':>12}  {'gap':>8}  {self.rule or 'score':>12}  status"
        lines = [
            f"{size:>4}  {step.certificate.error:>12.6g}  {100 * step.certificate.gap:>7.2f}%  "
            f"{step.score:>12.6g}  {step.certificate.status}"
            + ("  <- chosen" if i == self.chosen else "")
            for i, (size, step) in enumerate(zip(self.sizes, self.steps, strict=True))
        ]
        return "\n".join(["SubsetPath", header, *lines])


class InformationCriterion(NamedTuple):
    """A rule for the size; ``loss`` is "squared" or "log"."""

    rule: str
    loss: str
    n_samples: int
    n_targets: int
    n_features: int

    def penalty(self, k: int) -> float:
        """Price of k columns."""
        p = self.n_features
        price = 2.0 * k if self.rule == "aic" else k * np.log(self.n_samples)
        if self.rule == "ebic":
            price += 2.0 * (gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1))
        return self.n_targets * float(price)

    def value(self, error: float, k: int) -> float:
        """The criterion."""
        if self.loss == "log":
            return 2.0 * error + self.penalty(k)
        count = self.n_samples * self.n_targets
        fit = count * np.log(error / count) if error > 0.0 else -np.inf
        return float(fit) + self.penalty(k)

    def limit(self, value: float, k: int) -> float:
        """The error with which k columns have this value."""
        left = value - self.penalty(k)
        if self.loss == "log":
            return 0.5 * left
        count = self.n_samples * self.n_targets
        return count * float(np.exp(min(left / count, 700.0)))


class SizeSearch(Protocol):
    """What a problem offers that is solved for several sizes."""

    options: Options
    include: Sequence[int]

    @property
    def smallest(self) -> int:
        """Smallest size."""

    def floor(self) -> float:
        """Lower bound on the error of all sizes."""

    def order(self, chosen: Sequence[int], size: int) -> list[int]:
        """Columns of which each beginning is a choice."""

    def errors(self, order: Sequence[int]) -> list[float]:
        """Errors of the beginnings of an order, from none on."""

    def choose(self, size: int, options: Options, start: Sequence[Sequence[int]]) -> Outcome:
        """Solve for one size."""

    def known(self, subset: Sequence[int], error: float, bound: float) -> Outcome:
        """A choice with a bound that comes from elsewhere."""


@dataclass
class SizeChoice:
    """The sizes that may be best, one outcome each; ``chosen`` is the position of the best."""

    outcomes: list[Outcome]
    scores: list[float]
    bounds: list[float]
    chosen: int
    proven: bool


class BestSize:
    """The search for the size with the least criterion, up to ``largest`` columns."""

    def __init__(self, search: SizeSearch, criterion: InformationCriterion, largest: int):
        self.search, self.criterion, self.options = search, criterion, search.options
        self.floor = max(search.floor(), 0.0)
        self.known: dict[int, tuple[float, tuple[int, ...]]] = {}  # the best error of each size
        self.outcomes: dict[int, Outcome] = {}
        self.cut_short = False  # whether larger sizes were left out for lack of time
        self._look(largest)
        self.sizes = [k for k in self.known if criterion.value(self.floor, k) < self.value]
        self.sizes = sorted({*self.sizes, self.best})
        self.bounds = {k: self.floor for k in self.sizes}

    def _look(self, largest: int) -> None:
        """Forward selection, as far as a larger size could be better."""
        first, order = self.search.smallest, list(self.search.include)
        length = min(max(_FIRST, first), largest)
        while True:
            order = self.search.order(order, length)
            errors = self.search.errors(order)
            sizes = range(first, length + 1)
            self.known = {k: (errors[k], tuple(sorted(order[:k]))) for k in sizes}
            later = range(length + 1, largest + 1)
            self.cut_short = any(self.criterion.value(self.floor, k) < self.value for k in later)
            if not self.cut_short or expired(self.options.deadline):
                return
            length = min(2 * length, largest)

    def score(self, k: int) -> float:
        """Criterion of the best known choice of a size."""
        return self.criterion.value(self.known[k][0], k)

    @property
    def best(self) -> int:
        """The best size so far."""
        return min(self.known, key=self.score)

    @property
    def value(self) -> float:
        """Its criterion."""
        return self.score(self.best)

    def is_open(self, k: int) -> bool:
        """Whether a size may be better than the best one; that itself until it is proven."""
        if k == self.best:
            return k not in self.outcomes or not self.outcomes[k].certificate.is_optimal
        return not agrees(self.bounds[k], self.criterion.limit(self.value, k))

    def run(self) -> SizeChoice:
        """Search sizes, the most promising first, until none is open."""
        for _ in range(_ROUNDS):
            waiting = sorted(filter(self.is_open, self.sizes), key=self.score)
            if not waiting or expired(self.options.deadline):
                break
            for at, k in enumerate(waiting):
                if self.is_open(k) and not expired(self.options.deadline):
                    self._solve(k, len(waiting) - at)
        return self._choice()

    def _solve(self, k: int, n_waiting: int) -> None:
        """Search one size for a better choice than the best; the best one for its proof."""
        now = time.perf_counter()
        share = now + (self.options.deadline - now) / n_waiting
        cutoff = np.inf if k == self.best else self.criterion.limit(self.value, k)
        start = [self.known[j][1] for j in (k, k - 1) if j in self.known]
        outcome = self.search.choose(k, replace(self.options, deadline=share, cutoff=cutoff), start)
        error, subset = outcome.solutions[0]
        self.known[k] = min(self.known[k], (error, subset))
        self.outcomes[k] = outcome
        self._raise_bounds(k, outcome.certificate.lower_bound)

    def _raise_bounds(self, k: int, bound: float) -> None:
        """Take a bound for a size: a larger choice never has a larger optimum."""
        for j in self.sizes:
            if j <= k:
                self.bounds[j] = max(self.bounds[j], bound)

    def _extend(self) -> None:
        """Sizes that were not searched to their end get what a smaller one has, and one more."""
        every = max(self.known.values(), key=lambda known: len(known[1]))[1]
        for k in self.sizes:
            error, smaller = self.known.get(k - 1, (np.inf, ()))
            if error < self.known[k][0]:
                added = next(i for i in every if i not in smaller)
                subset = tuple(sorted([*smaller, added]))
                self.known[k] = min(self.known[k], (self.search.errors(subset)[-1], subset))

    def _choice(self) -> SizeChoice:
        self._extend()
        outcomes = [self._outcome(k) for k in self.sizes]
        scores = [self.score(k) for k in self.sizes]
        lows = [min(self.bounds[k], self.known[k][0]) for k in self.sizes]
        bounds = [self.criterion.value(low, k) for low, k in zip(lows, self.sizes, strict=True)]
        others = [k for k in self.sizes if k != self.best]
        return SizeChoice(
            outcomes, scores, bounds, self.sizes.index(self.best),
            not any(map(self.is_open, others)) and not self.cut_short,
        )  # fmt: skip

    def _outcome(self, k: int) -> Outcome:
        error, subset = self.known[k]
        found = self.outcomes.get(k)
        if found is None or not agrees(error, found.certificate.error):
            return self.search.known(subset, error, min(self.bounds[k], error))
        bound = min(max(found.certificate.lower_bound, self.bounds[k]), found.certificate.error)
        return replace(found, certificate=replace(found.certificate, lower_bound=bound))


def one_standard_error(losses: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """The smallest size whose mean loss is within one standard error of the least, with the means
    and the standard errors. ``losses`` is (n_folds, n_sizes)."""
    means = losses.mean(axis=0)
    errors = losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
    least = int(np.argmin(means))
    return int(np.argmax(means <= means[least] + errors[least])), means, errors


def step_of(outcome: Outcome, coef: np.ndarray, **scores: Any) -> SubsetStep:
    """A step of a path."""
    selection = np.array(outcome.solutions[0][1], dtype=np.intp)
    return SubsetStep(selection, outcome.certificate, coef, **scores)
