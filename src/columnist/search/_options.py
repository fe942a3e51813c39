"""Options of certified searches, and the certificate made from their result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs

from columnist.criteria import Criterion, Frobenius, get_criterion
from columnist.linalg._memory import available_memory
from columnist.linalg._rounding import VISIBLE, above, agrees
from columnist.search._certificate import Certificate
from columnist.search._log import Progress
from columnist.search._policies import Policy, get_policy
from columnist.search._run import Limits, SearchResult
from columnist.search._workers import Workers


@dataclass(frozen=True)
class SearchOptions:
    """Everything about a search that does not depend on the data."""

    criterion: Criterion = field(default_factory=Frobenius)
    search: str = "auto"
    weight: str = "u"
    epsilon: float = 0.0
    started: float = field(default_factory=time.perf_counter)
    preparation: float = 0.0
    deadline: float = np.inf
    max_nodes: float = np.inf
    max_memory: float | None = None
    max_gap: float = 0.0
    cutoff: float = np.inf
    n_jobs: int = 1
    callback: Callable[[Progress], object] | None = None
    verbose: bool = False
    workers: Workers | None = None

    @classmethod
    def of(cls, estimator, time_limit: float | None, **more: Any) -> Self:
        """The options of an estimator whose parameters are checked; the clock starts now."""
        now = time.perf_counter()
        return cls(
            criterion=get_criterion(estimator.criterion),
            search=estimator.search,
            epsilon=float(estimator.epsilon),
            started=now,
            deadline=np.inf if time_limit is None else now + time_limit,
            max_nodes=np.inf if estimator.max_nodes is None else estimator.max_nodes,
            max_memory=estimator.max_memory,
            max_gap=float(estimator.max_gap),
            n_jobs=effective_n_jobs(estimator.n_jobs),
            callback=estimator.callback,
            verbose=bool(estimator.verbose),
            **more,
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the call."""
        return time.perf_counter() - self.started

    def limits(self) -> Limits:
        """Limits of the engine; half of the free memory unless given."""
        memory = available_memory() / 2 if self.max_memory is None else self.max_memory
        return Limits(self.deadline, self.max_nodes, memory, self.max_gap, self.cutoff)

    def policy(self) -> Policy:
        """Order of the search."""
        return get_policy(self.search, self.weight, self.epsilon)

    @property
    def exhaustive(self) -> bool:
        """Whether the search goes on until it has a proof, or meets a limit."""
        return self.search in ("auto", "optimal")


def certificate_of(
    result: SearchResult,
    options: SearchOptions,
    error: float,
    subset: Sequence[int],
    elapsed: float,
    **more: Any,
) -> Certificate:
    """The certificate of a choice whose error was computed from the data. A proof that does not
    reach that error is invalid, because of rounding. One that does may still leave open what
    exactly the error is: the bound then says so, and the proof is none if the gap would show."""
    lowest = min(float(options.criterion.value(np.zeros(1))), error)
    bound, status = max(min(result.bound, error), lowest), result.status
    if status == "optimal":
        if agrees(bound, error, lowest):
            bound = error
        else:
            status = "precision_limit"
    bound = max(min(bound, result.low), lowest)
    if status == "optimal" and error - bound > VISIBLE * above(error, lowest):
        status = "precision_limit"
    enough = min(error - options.max_gap * abs(error), options.cutoff)
    if status == "gap_reached" and enough - bound > VISIBLE * abs(error):
        status = "precision_limit"
    return Certificate(
        status=status,
        error=error,
        lower_bound=bound,
        a_priori_bound=result.a_priori,
        nodes_expanded=result.expanded,
        nodes_generated=result.generated,
        elapsed=elapsed,
        preparation=options.preparation,
        criterion=str(options.criterion),
        selection=tuple(subset),
        history=tuple(result.history),
        **more,
    )
