"""The certificate in words: what is proven, what is not, and what a gap means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from columnist.report._blocks import Verdict
from columnist.report._text import count, number, percent
from columnist.search._certificate import STATUSES, Certificate

__all__ = ["CRITERIA", "Stakes", "certificate_facts", "conditions", "explained", "verdict"]

CRITERIA = {
    "frobenius": "unexplained variation (squared Frobenius norm)",
    "spectral": "the worst unexplained direction (spectral norm)",
    "nuclear": "all unexplained directions (nuclear norm)",
}
_WHY = {
    "gap_reached": "the search stopped because it had come as close as was asked",
    "time_limit": "the search was stopped by its time limit",
    "node_limit": "the search was stopped by its limit on the number of steps",
    "memory_limit": "the search was stopped by its memory limit",
    "interrupted": "the search was interrupted by hand",
    "bounded": "the search was asked for a guaranteed distance, not for the very best",
    "heuristic": "the choice was made step by step, and no search followed",
    "precision_limit": "the numbers of the computer have too few digits to decide between "
    "the choices that are left",
}


@dataclass(frozen=True)
class Stakes:
    """What a certificate is about.

    Attributes
    ----------
    what : str
        What is chosen: ``"column"`` or ``"row"``.
    size : int
        How many are chosen.
    choices : str
        How many choices there are, in words.
    total : float or None
        Error of choosing nothing, if it is known: errors are told as shares of it.
    limits : str
        Conditions on the choice, as the end of a sentence.
    """

    what: str
    size: int
    choices: str
    total: float | None = None
    limits: str = ""

    @property
    def sets(self) -> str:
        """A set of the right size."""
        return f"set of {count(self.size, self.what)}"

    @property
    def removes(self) -> bool:
        """Whether what is chosen is removed, as outlying rows are."""
        return self.what == "row"

    def error(self, value: float) -> str:
        """An error as readers understand it: a share of the whole where that is known."""
        if self.total and math.isfinite(self.total) and math.isfinite(value):
            return percent(value / self.total)
        return number(value)


def _gap(certificate: Certificate) -> float | None:
    """The gap, if there is a bound at all."""
    known = math.isfinite(certificate.error) and math.isfinite(certificate.lower_bound)
    return min(max(certificate.gap, 0.0), 1.0) if known and certificate.lower_bound >= 0 else None


def verdict(certificate: Certificate, stakes: Stakes) -> Verdict:
    """The conclusion in one sentence."""
    gap = _gap(certificate)
    if certificate.better is not None:
        saved = "" if gap is None else f" It can be improved by up to {percent(gap)}."
        return Verdict("better", f"A better {stakes.sets} exists.{saved}")
    if certificate.is_optimal:
        act = f"to set aside any other {stakes.sets} would leave no smaller error"
        keep = f"no other {stakes.sets}{stakes.limits} leaves a smaller error"
        return Verdict("proven", f"Proven best: {act if stakes.removes else keep}.")
    if gap is None or certificate.lower_bound <= 0:
        return Verdict("open", "A good choice, but nothing is proven about how good it is.")
    sentence = f"Not proven best, but proven close: the best {stakes.sets} can lower the error "
    return Verdict("bounded" if gap < 0.1 else "open", sentence + f"by {percent(gap)} at most.")


def explained(certificate: Certificate, stakes: Stakes, n_solutions: int = 1) -> list[str]:
    """The certificate for a reader who has to decide, not to compute."""
    if certificate.better is not None:
        return _better(certificate, stakes)
    if certificate.is_optimal:
        return _optimal(certificate, stakes, n_solutions)
    return _unfinished(certificate, stakes)


def _space(stakes: Stakes) -> str:
    return (
        f"There are {stakes.choices} ways to choose {count(stakes.size, stakes.what)}"
        f"{' to set aside' if stakes.removes else ''}{stakes.limits}."
    )


def _optimal(certificate: Certificate, stakes: Stakes, n_solutions: int) -> list[str]:
    others = "all the others are ruled out by a mathematical bound: each group of choices that was"
    first = (
        f"{_space(stakes)} The search looked closely at {certificate.nodes_generated:,} partial "
        f"choices; {others} set aside provably holds nothing better."
    )
    proven = (
        "“Proven” means that this is not an opinion of the software, nor a matter of luck or "
        f"of more computing time: no {stakes.sets} leaves a smaller error on these data than the "
        "one shown here, up to the rounding of the computer. It says nothing about other data, "
        "or about another measure of error."
    )
    found = [first, proven]
    if n_solutions > 1:
        found.append(
            f"The list of the best {n_solutions} is proven as well: no set outside it is better "
            "than the last one in it."
        )
    return found


def _unfinished(certificate: Certificate, stakes: Stakes) -> list[str]:
    why = _WHY.get(certificate.status, STATUSES.get(certificate.status, certificate.status))
    gap = _gap(certificate)
    first = f"{_space(stakes)} This choice is not proven to be the best of them: {why}."
    drowned = certificate.status == "precision_limit"
    if gap is None or certificate.lower_bound <= 0:
        tell = "More time, or a search at all, would tell."
        none = (
            "No useful bound was found, so nothing can be said about how much better another "
            f"choice could be. {_digits(stakes) if drowned else tell}"
        )
        return [first, none]
    meaning = (
        f"What is proven is a limit: no {stakes.sets} can leave less than "
        f"{stakes.error(certificate.lower_bound)}; this one leaves "
        f"{stakes.error(certificate.error)}. The gap between the two is {percent(gap)} of the "
        "error: that is the most that any other choice could still save, and "
        "it may well be that there is nothing to save at all."
    )
    found = [first, meaning]
    if certificate.a_priori_bound is not None and math.isfinite(certificate.a_priori_bound):
        found.append(
            "Before it even started, the method guaranteed an error of at most "
            f"{number(certificate.a_priori_bound)} above the best possible one."
        )
    if certificate.status in ("time_limit", "node_limit", "memory_limit", "interrupted"):
        found.append("A longer run can only narrow the gap; it cannot make the choice worse.")
    if drowned:
        found.append(_digits(stakes))
    return found


def _digits(stakes: Stakes) -> str:
    """What to do where double precision decides nothing."""
    return (
        f"More time would not help; {stakes.what}s that are of like length, and no near copies of "
        "one another, can be told apart."
    )


def _better(certificate: Certificate, stakes: Stakes) -> list[str]:
    gap = _gap(certificate)
    first = (
        f"{_space(stakes)} The one that was handed in leaves {stakes.error(certificate.error)}. "
        f"The search found another one that leaves less."
    )
    if gap is None:
        return [first]
    limit = (
        f"No {stakes.sets} can leave less than {stakes.error(certificate.lower_bound)}. The gap of "
        f"{percent(gap)} is the share of the error that a better choice can save"
    )
    if certificate.status == "bounded":
        return [first, f"{limit}, and the better set reaches this limit: it is proven best."]
    why = _WHY.get(certificate.status, "the search ended early")
    return [first, f"{limit} at most: {why}, so whether that much can be saved is open."]


def certificate_facts(certificate: Certificate, stakes: Stakes) -> list[tuple[str, str]]:
    """The certificate in numbers."""
    share = stakes.total is not None and stakes.total > 0
    also = (lambda v: f"{number(v, 8)} ({stakes.error(v)})") if share else (lambda v: number(v, 8))
    gap = _gap(certificate)
    status = STATUSES.get(certificate.status, certificate.status)
    rows = [
        ("Status", status if certificate.better is None else "a better set was found"),
        ("Error", also(certificate.error)),
        ("Lower bound", also(certificate.lower_bound)),
        ("Gap", "not known" if gap is None else percent(gap)),
    ]
    if certificate.a_priori_bound is not None:
        rows.append(("Guaranteed beforehand", f"optimum + {number(certificate.a_priori_bound)}"))
    rows += [
        ("Possible choices", stakes.choices),
        ("Partial choices expanded", f"{certificate.nodes_expanded:,}"),
        ("Partial choices generated", f"{certificate.nodes_generated:,}"),
        ("Time", f"{number(certificate.elapsed, 3)} s"),
    ]
    if certificate.preparation > 0.0:
        read = f"{number(certificate.preparation, 3)} s of these, outside the time limit"
        rows.append(("Passes over the data", read))
    return rows


def conditions(include: Sequence[str], exclude: Sequence[str], quote) -> str:
    """Conditions on a choice, as the end of a sentence."""
    parts = []
    if include:
        parts.append(f"that contain {quote(include)}")
    if exclude:
        parts.append(f"without {quote(exclude)}")
    return (" " + " and ".join(parts)) if parts else ""
