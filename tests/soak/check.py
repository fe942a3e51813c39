"""What must hold for every answer of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist import ScaleWarning
from tests.soak.oracle import ColumnTruth, RowTruth, Truth, total_error
from tests.soak.problems import Problem, target_matrix
from tests.soak.run import Answer, Claim

__all__ = ["faults", "truth_of"]

# Relative distances that count as none: between a bound and an optimum, and between the stated
# error of a set and its true error.
_OF_OPTIMUM, _OF_ERROR = 1e-9, 1e-8
# Share of the energy of rows in blocks that their error is known to.
_OF_ROWS = 1e-14
# Rows in blocks: smaller errors than this share of the energy are not decided to nine digits.
_BLOCKS_DECIDE = 1e-4
# A search that has a proof may state a bound this far below the error.
_OF_PROOF = 1e-6
# Seconds of computing beyond the time limit, and the default limit.
_GRACE, _LIMIT = 2.0, 30.0

_NEEDS = {
    "gap_reached": "max_gap",
    "node_limit": "max_nodes",
    "memory_limit": "max_memory",
    "time_limit": "time_limit",
}


def faults(problem: Problem, answer: Answer) -> list[str]:
    """What is wrong with an answer; an empty list if nothing is.

    Each begins with a word for its class.
    """
    found = [*_general(problem, answer)]
    if answer.claims:
        claimed = [*_claims(problem, answer, exact=False)]
        if claimed and _has_rounded_directions(problem):
            claimed = min(claimed, [*_claims(problem, answer, exact=True)], key=len)
        found += claimed
    return found


def truth_of(problem: Problem, size: int, *, exact: bool = False) -> Truth:
    """The true errors of all sets of a size."""
    components = problem.option("n_components", 0)
    centering = problem.option("centering", "optimal" if problem.is_rows else "none")
    if problem.is_rows:
        return RowTruth(
            problem.X, size, criterion=problem.criterion, n_components=components,
            centering=centering,
        )  # fmt: skip
    return ColumnTruth(
        problem.rows[0], _target(problem), size, criterion=problem.criterion,
        n_components=components, center=centering == "mean", constraints=problem.constraints,
        include=problem.option("include", ()), exclude=problem.option("exclude", ()),
        gram=problem.form == "gram", exact=exact,
    )  # fmt: skip


def _target(problem: Problem) -> np.ndarray | None:
    return None if problem.option("target") == "X" else target_matrix(problem.rows[1])


def _has_rounded_directions(problem: Problem) -> bool:
    return not problem.is_rows and truth_of(problem, problem.size).rounded


# -- the call -----------------------------------------------------------------------


def _general(problem: Problem, answer: Answer) -> Iterator[str]:
    if answer.escaped:
        yield f"escaped: an interrupt after the first incumbent: {answer.raised}"
    elif answer.raised:
        yield f"exception: {answer.raised}"
    limit = problem.option("time_limit", _LIMIT)
    if answer.seconds > limit + _GRACE:
        yield f"slow: {answer.seconds:.1f} s of computing with time_limit={limit:g}"
    for warning in answer.warned:
        if not _may_warn(problem, answer, warning):
            yield f"warning: {warning.category.__name__}: {warning.message}"


def _may_warn(problem: Problem, answer: Answer, warning) -> bool:
    unproven = any(status != "optimal" for status in answer.statuses)
    if issubclass(warning.category, ScaleWarning):  # columns of any size are drawn
        return True
    if issubclass(warning.category, ConvergenceWarning):
        return problem.task == "fewest" or (problem.option("search") == "optimal" and unproven)
    message = str(warning.message)
    if problem.is_rows:
        return "the kept rows vary in" in message
    if problem.task == "fewest" and "No selection reaches tol" in message:
        return True
    if problem.option("solution_tol") is not None and "there may be more" in message:
        return True
    return "columns explain everything that" in message


# -- what is claimed ----------------------------------------------------------------


def _claims(problem: Problem, answer: Answer, *, exact: bool) -> Iterator[str]:
    truths: dict[int, Truth] = {}
    for claim in answer.claims:
        if claim.size not in truths:
            truths[claim.size] = truth_of(problem, claim.size, exact=exact)
        for check in _CHECKS:
            yield from check(problem, claim, truths[claim.size])
    yield from _sizes(problem, answer, exact)


def _tolerance(truth: Truth, error: float, share: float = _OF_OPTIMUM) -> float:
    return share * abs(error - truth.base) + 1e-13 * abs(truth.base)


def _valid_sets(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """Right sizes, constraints obeyed, as many sets as were asked for, and no set twice."""
    if any(columns not in truth.position for columns in claim.sets):
        yield f"set: {claim.sets} breaks a constraint or has a wrong size"
    if len(set(claim.sets)) < len(claim.sets):
        yield f"set: {claim.sets} repeats a set"
    wanted = min(problem.option("n_solutions", 1), len(truth.sets))
    counted = problem.task == "select" and problem.option("solution_tol") is None
    if counted and len(claim.sets) != wanted:
        complete = claim.certificate.status == "optimal"
        if complete or len(claim.sets) > wanted:
            yield f"set: {len(claim.sets)} sets instead of {wanted}"
    names = claim.certificate.names
    if names is not None and names != tuple(f"x{j}" for j in claim.sets[0]):
        yield f"set: {names} are the names of another selection than {claim.sets[0]}"
    if problem.task == "certify" and claim.sets[0] != problem.given:
        yield f"set: certified {claim.sets[0]} instead of {problem.given}"


def _within(truth: Truth, tol: float) -> tuple[set, set]:
    """The sets that are surely within a tolerance, and those that may be."""
    truth.best()
    low, high = (
        best + tol * (best - truth.base) for best in (truth.low.min(), truth.high.min())
    )  # fmt: skip
    room = 10.0 * _tolerance(truth, high, _OF_ERROR)
    near = [columns for columns in truth.sets if truth.of(columns)[0] <= high + room]
    return {columns for columns in near if truth.of(columns)[1] <= low - room}, set(near)


def _valid_list(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """A complete list holds every set within the tolerance; no other set is below its bound."""
    certificate, tol = claim.certificate, problem.option("solution_tol")
    if tol is None or problem.task != "select" or certificate.status == "precision_limit":
        return
    surely, near = _within(truth, tol)
    if certificate.list_complete:
        if missing := sorted(surely - set(claim.sets)):
            yield f"list: {missing} are within {tol}, but not in the complete list {claim.sets}"
        if beyond := sorted(set(claim.sets) - near):
            yield f"list: {beyond} are not within {tol}"
    elif certificate.status == "optimal" and len(claim.sets) < problem.option("n_solutions", 1000):
        yield "list: optimal, but not complete"
    rest = [truth.of(columns)[1] for columns in truth.sets if columns not in set(claim.sets)]
    least = min(rest, default=np.inf)
    if (certificate.unlisted_bound or -np.inf) > least + _tolerance(truth, least):
        yield f"list: the bound of the others is {certificate.unlisted_bound!r}, one has {least!r}"


def _valid_verdicts(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """No verdict on a column is wrong; each replaceable one is replaced by others."""
    if claim.verdicts is None:
        return
    surely, near = _within(truth, problem.options["tol"])
    for column, verdict in enumerate(claim.verdicts.verdicts):
        wrong = {
            "necessary": any(column not in columns for columns in surely),
            "useless": any(column in columns for columns in surely),
            "replaceable": len({column in columns for columns in near}) < 2,
            "undecided": False,
        }[verdict]
        if wrong:
            yield f"verdict: column {column} is not {verdict}"
        # A selection of any size may just be without it.
        fixed = problem.size is not None
        if verdict == "replaceable" and fixed and not claim.verdicts.replaceable[column]:
            yield f"verdict: column {column} is replaced by nothing"


def _valid_bound(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    certificate, best = claim.certificate, truth.best()[0]
    bound, error = certificate.lower_bound, certificate.error
    if not bound <= best + _tolerance(truth, best):
        yield f"bound: {bound!r} is above the optimum {best!r} of {truth.best_set()}"
    if not bound <= error + 1e-12 * abs(error):
        yield f"bound: {bound!r} is above the error {error!r}"


def _valid_errors(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """The stated errors are those of the sets."""
    if claim.certificate.status == "precision_limit":
        return
    stated = [(claim.sets[0], claim.certificate.error), *zip(claim.sets, claim.errors, strict=True)]
    for columns, error in stated:
        if columns not in truth.position:
            continue
        low, high = truth.of(columns)
        near = low - _tolerance(truth, low, _OF_ERROR), high + _tolerance(truth, high, _OF_ERROR)
        if _in_blocks(problem):
            room = _OF_ROWS * float(np.sum(problem.X**2))
            near = near[0] - room, near[1] + room
        if not near[0] <= error <= near[1]:
            yield f"error: {error!r} is stated, but {columns} has {low!r} .. {high!r}"
            return


def _valid_optimum(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """Sets that are called optimal are the best ones."""
    if claim.certificate.status != "optimal":
        return
    best = truth.best(len(claim.sets))
    for place, (columns, limit) in enumerate(zip(claim.sets, best, strict=False)):
        if columns not in truth.position:
            continue
        low, high = truth.of(columns)
        if not low <= limit + _tolerance(truth, limit):
            name = "optimal" if place == 0 else "pool"
            yield (
                f"{name}: {columns} is number {place + 1} with {low!r}, but "
                f"{limit!r} can be had (best: {truth.best_set()})"
            )
            return
    low, high = truth.of(claim.sets[0]) if claim.sets[0] in truth.position else (0.0, 0.0)
    # The gap is relative to the error, whatever constant a user's criterion adds.
    room = _tolerance(truth, high, _OF_PROOF) + _OF_PROOF * abs(high) + (high - low)
    if claim.certificate.lower_bound < low - room:
        yield f"proof: optimal, but the bound is {claim.certificate.lower_bound!r} below {low!r}"


def _valid_status(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    certificate = claim.certificate
    status = certificate.status
    if status in _NEEDS and _NEEDS[status] not in problem.options:
        yield f"status: {status} without a {_NEEDS[status]}"
    if status == "interrupted" and problem.interrupt is None and problem.stop is None:
        yield "status: interrupted without an interrupt"
    max_gap = problem.option("max_gap", 0.0)
    if status == "gap_reached" and certificate.gap > max_gap + _OF_OPTIMUM:
        yield f"status: gap_reached with a gap of {certificate.gap!r}, max_gap={max_gap!r}"
    if _in_blocks(problem) and truth.best()[0] < _BLOCKS_DECIDE * float(np.sum(problem.X**2)):
        return
    if problem.must_be_proven and problem.task in ("select", "path", "outliers", "outlier path"):
        if status != "optimal":
            yield f"caution: {status} on data that double precision decides"
    elif problem.decidable and status == "precision_limit":
        yield "caution: precision_limit on data that double precision decides"


def _in_blocks(problem: Problem) -> bool:
    """Whether rows stay where they are: their errors are known in double precision alone."""
    return problem.is_rows and "dask" in problem.form


def _valid_proof(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """The proof that was written holds."""
    if claim.refuted:
        yield f"verify: {claim.refuted}"


def _valid_guarantee(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """The guarantee known before the search."""
    promised = claim.certificate.a_priori_bound
    if promised is None or claim.sets[0] not in truth.position:
        return
    low, _ = truth.of(claim.sets[0])
    best = truth.best()[0]
    if not low - best <= promised + _tolerance(truth, low) + _tolerance(truth, best):
        yield f"guarantee: {low - best!r} above the optimum, but {promised!r} was promised"


def _valid_alternative(problem: Problem, claim: Claim, truth: Truth) -> Iterator[str]:
    """What a certificate calls better is."""
    better = claim.certificate.better
    if better is None:
        return
    better = tuple(sorted(int(j) for j in better))
    if better not in truth.position:
        yield f"set: {better} is called better, but breaks a constraint"
    elif not truth.of(better)[0] <= truth.of(claim.sets[0])[1]:
        yield f"better: {better} is not better than {claim.sets[0]}"


_CHECKS: tuple[Callable[[Problem, Claim, Truth], Iterator[str]], ...] = (
    _valid_sets,
    _valid_bound,
    _valid_errors,
    _valid_optimum,
    _valid_status,
    _valid_proof,
    _valid_guarantee,
    _valid_alternative,
    _valid_list,
    _valid_verdicts,
)


def _sizes(problem: Problem, answer: Answer, exact: bool) -> Iterator[str]:
    """The sizes of a path; the smallest size that reaches a tolerance."""
    sizes = [claim.size for claim in answer.claims]
    least = max(1, len(problem.option("include", ())))
    if problem.task == "path" and sizes != [*range(least, problem.size + 1)]:
        yield f"set: a path of sizes {sizes}"
    if problem.task == "outlier path" and sizes != [*range(problem.size + 1)]:
        yield f"set: a path of sizes {sizes}"
    if problem.task == "fewest" and not answer.warned:
        yield from _fewest(problem, answer.claims[0], least, exact)


def _fewest(problem: Problem, claim: Claim, least: int, exact: bool) -> Iterator[str]:
    target = problem.rows[0] if _target(problem) is None else _target(problem)
    total = total_error(target, problem.option("centering") == "mean", problem.criterion)
    limit = problem.options["tol"] * total
    low, _ = truth_of(problem, claim.size, exact=exact).of(claim.sets[0])
    if low > limit * (1.0 + _OF_OPTIMUM):
        yield f"fewest: the error {low!r} of {claim.sets[0]} is above {limit!r}"
    for size in range(least, claim.size):
        best = float(truth_of(problem, size, exact=exact).best()[0])
        if best < limit * (1.0 - _OF_ERROR):
            yield f"fewest: {size} columns reach {best!r}, below {limit!r}; {claim.size} are said"
            return
