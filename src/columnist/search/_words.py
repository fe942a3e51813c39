"""Certificates in words, graded by the gap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from columnist._text import count, joined, number, percent, seconds

if TYPE_CHECKING:
    from columnist.search._certificate import Certificate

# What each status means; but for the first, these end a sentence that begins with "the search".
STATUSES: Mapping[str, str] = {
    "optimal": "no other choice has a smaller error",
    "bounded": "ended within a proven distance of the best possible error",
    "heuristic": "ended with a greedy choice",
    "gap_reached": "stopped at the requested gap",
    "time_limit": "stopped at its time limit",
    "node_limit": "stopped at its node limit",
    "memory_limit": "stopped at its memory limit",
    "interrupted": "stopped when the user interrupted it",
    "precision_limit": "stopped where double precision cannot distinguish the remaining choices",
}
CRITERIA: Mapping[str, str] = {
    "frobenius": "squared Frobenius norm",
    "spectral": "spectral norm",
    "nuclear": "nuclear norm",
}
# Up to the first gap, a choice is called close to the best possible; from the second on, the text
# contains no positive judgement.
_CLOSE, _WIDE = 0.01, 0.1
_LIMITS = ("time_limit", "node_limit", "memory_limit", "interrupted")


@dataclass(frozen=True)
class Subject:
    """What a certificate is about."""

    what: str  # is chosen: "column", or "row" for rows to remove
    size: int
    choices: str  # how many there are, in words
    total: float | None = None  # error without any chosen item: errors are stated as shares of it
    limits: str = ""  # conditions on the choice, as the end of a sentence
    any_size: bool = False  # whether choices of other sizes compete, too

    @property
    def chosen(self) -> str:
        """The number of chosen items, with their noun."""
        if self.any_size:
            return f"{self.what}s"
        return count(self.size, self.what) + (" to remove" if self.what == "row" else "")

    @property
    def sets(self) -> str:
        """A set of the right size."""
        return f"set of {self.chosen}"

    def error(self, value: float) -> str:
        """An error as readers understand it: a share of the whole where that is known."""
        if self.total and math.isfinite(self.total) and math.isfinite(value):
            return percent(value / self.total)
        return number(value)


def _gap(certificate: Certificate) -> float | None:
    """The gap, if there is a bound that says something."""
    known = math.isfinite(certificate.error) and math.isfinite(certificate.lower_bound)
    useful = known and (certificate.lower_bound > 0.0 or certificate.error == 0.0)
    return min(max(certificate.gap, 0.0), 1.0) if useful else None


def graded(gap: float | None, what: str = "choice") -> str:
    """What a gap means for a choice that is not proven optimal."""
    if gap is None:
        return f"the best {what} found; how much better another one could be is not known"
    if gap == 0.0:
        return f"there is no {what} with an error smaller by more than rounding"
    if gap >= _WIDE:
        less = f"one with an error up to {percent(gap)} smaller"
        return f"the best {what} found; {less} is not excluded"
    close = "close to the best possible: " if gap <= _CLOSE else ""
    return f"{close}there is no {what} with an error more than {percent(gap)} smaller"


def gap_words(certificate: Certificate, what: str = "choice") -> str:
    """What is proven, as the end of a sentence; shares are written as terminals show them."""
    gap = _gap(certificate)
    said = f"no other {what} has a smaller error" if certificate.is_optimal else graded(gap, what)
    if certificate.better is not None:
        most = "" if gap is None else f"; none has an error more than {percent(gap)} smaller"
        said = f"a better {what} was found{most}"
    return said.replace("\u00a0", "")


def facts(certificate: Certificate) -> dict[str, str]:
    """The certificate as names and values, for terminals and notebooks."""
    status = certificate.status
    gap = f"{100 * certificate.gap:.3g}%"
    kind = f" as {certificate.target_kind}" if certificate.target_kind else ""
    target = f"target {certificate.target}{kind}"
    found = {
        "status": f"{status} ({STATUSES.get(status, 'unknown')})",
        "error": f"{certificate.error:.8g} ({certificate.criterion}, {target})",
        "lower bound": f"{certificate.lower_bound:.8g}",
        "gap": gap if certificate.is_optimal else f"{gap} ({gap_words(certificate)})",
    }
    if certificate.list_complete is not None:
        rest = certificate.unlisted_bound
        other = "" if rest is None else f"; every other set has at least {rest:.8g}"
        known = "complete" if certificate.list_complete else "may be incomplete"
        found["list"] = f"{known} within the tolerance{other}"
    if certificate.a_priori_bound is not None:
        found["a priori"] = f"error - optimum <= {certificate.a_priori_bound:.6g}"
    expanded, generated = certificate.nodes_expanded, certificate.nodes_generated
    time = seconds(certificate.elapsed)
    found["search"] = f"{expanded:,} expanded, {generated:,} generated nodes, {time}"
    if certificate.preparation > 0.0:
        read = seconds(certificate.preparation)
        found["data passes"] = f"{read} of these, outside the time limit"
    if certificate.missing is not None:
        found["data"] = _estimated(certificate)
    return found


def _estimated(certificate: Certificate) -> str:
    """What the certificate holds for, where values were missing."""
    known = certificate.missing or {}
    method = "EM" if known["method"] == "covariance" else "pairs of columns"
    most = percent(max(known["column_shares"]))
    said = (
        f"covariance estimated by {method}; {percent(known['share'])} of the values were "
        f"missing, up to {most} in a column"
    )
    if known["adjusted"] > 0.0:
        said += f"; changed by {percent(known['adjusted'])} to be positive semidefinite"
    if known["ridge"] > 0.0:
        said += f"; a ridge of {known['ridge']:g}, because columns are dependent"
    return said.replace("\u00a0", "")


def verdict(certificate: Certificate, subject: Subject) -> tuple[str, str]:
    """The conclusion: ``"proven"``, ``"bounded"``, ``"open"`` or ``"better"``, and a sentence."""
    gap = _gap(certificate)
    if certificate.better is not None:
        saved = "" if gap is None else f" The error can be lowered by up to {percent(gap)}."
        return "better", f"A better {subject.sets} exists.{saved}"
    if certificate.is_optimal:
        limits = subject.limits
        return "proven", f"Proven best: no other {subject.sets}{limits} leaves a smaller error."
    text = graded(gap, subject.sets)
    level = "open" if gap is None or gap >= _WIDE else "bounded"
    return level, f"{text[0].upper()}{text[1:]}."


def explained(certificate: Certificate, subject: Subject, n_solutions: int = 1) -> list[str]:
    """The certificate explained for readers without technical background."""
    found = _explained(certificate, subject, n_solutions)
    if certificate.missing is not None:
        found.append(
            f"Values were missing: all of this holds for the {_estimated(certificate)}. With "
            "complete data the result might be another one."
        )
    return found


def _explained(certificate: Certificate, subject: Subject, n_solutions: int) -> list[str]:
    if certificate.better is not None:
        return _better(certificate, subject)
    if certificate.is_optimal:
        return _optimal(certificate, subject, n_solutions)
    return _unfinished(certificate, subject)


def _space(subject: Subject) -> str:
    return f"There are {subject.choices} ways to choose {subject.chosen}{subject.limits}."


def _why(certificate: Certificate) -> str:
    return f"the search {STATUSES.get(certificate.status, 'ended early')}"


def _optimal(certificate: Certificate, subject: Subject, n_solutions: int) -> list[str]:
    found = [
        f"{_space(subject)} The search examined "
        f"{count(certificate.nodes_generated, 'partial choice')}; "
        "a mathematical bound rules out all the others: each group of choices that was left out "
        "provably holds nothing better.",
        "“Proven” means that the result depends neither on chance nor on computing time: no "
        f"{subject.sets} leaves a smaller error on these data than the one shown here, up to "
        "rounding. It says nothing about other data, or about another measure of error.",
    ]
    if n_solutions > 1:
        found.append(
            f"The list of the best {n_solutions} is proven as well: no set outside it is better "
            "than the last one in it."
        )
    if certificate.list_complete:
        found.append("The list holds every set within the tolerance.")
    return found


def _unfinished(certificate: Certificate, subject: Subject) -> list[str]:
    gap, status = _gap(certificate), certificate.status
    found = [
        f"{_space(subject)} This choice is not proven to be the best of them: {_why(certificate)}."
    ]
    if gap is None:
        found.append(
            "No useful bound was found, so nothing can be said about how much better another "
            "choice could be."
        )
    else:
        found.append(
            f"A lower bound is proven: no {subject.sets} can leave less than "
            f"{subject.error(certificate.lower_bound)}; this one leaves "
            f"{subject.error(certificate.error)}. The gap between the two is {percent(gap)} of the "
            f"error: {graded(gap)}. There may be no better one at all."
        )
    guarantee = certificate.a_priori_bound
    if guarantee is not None and math.isfinite(guarantee):
        found.append(
            "Before it started, the method guaranteed an error of at most "
            f"{number(guarantee)} above the best possible one."
        )
    if status in _LIMITS:
        found.append("A longer run can only narrow the gap; it cannot make the choice worse.")
    if status == "precision_limit":
        found.append(
            f"Double precision has too few digits to decide. More time would not help; "
            f"{subject.what}s of similar length that are not nearly copies of one another can be "
            "distinguished."
        )
    return found


def _better(certificate: Certificate, subject: Subject) -> list[str]:
    gap = _gap(certificate)
    first = (
        f"{_space(subject)} The given one leaves {subject.error(certificate.error)}. The search "
        "found another one that leaves less."
    )
    if gap is None:
        return [first]
    limit = (
        f"No {subject.sets} can leave less than {subject.error(certificate.lower_bound)}. The gap "
        f"of {percent(gap)} is the share of the error that a better choice can save"
    )
    if certificate.status == "bounded":
        return [first, f"{limit}, and the better set reaches this bound: it is proven best."]
    return [first, f"{limit} at most: {_why(certificate)}, so whether that is possible is open."]


def details(certificate: Certificate, subject: Subject) -> list[tuple[str, str]]:
    """The certificate in numbers, for a report."""
    share = subject.total is not None and subject.total > 0

    def both(value: float) -> str:
        return f"{number(value, 8)} ({subject.error(value)})" if share else number(value, 8)

    gap, status = _gap(certificate), certificate.status
    known = f"{status.replace('_', ' ')} ({STATUSES.get(status, 'unknown')})"
    rows = [
        ("Status", known if certificate.better is None else "a better set was found"),
        ("Error", both(certificate.error)),
        ("Lower bound", both(certificate.lower_bound)),
        ("Gap", "not known" if gap is None else percent(gap)),
    ]
    if certificate.a_priori_bound is not None:
        rows.append(("Guaranteed beforehand", f"optimum + {number(certificate.a_priori_bound)}"))
    rows += [
        ("Possible choices", subject.choices),
        ("Partial choices expanded", f"{certificate.nodes_expanded:,}"),
        ("Partial choices generated", f"{certificate.nodes_generated:,}"),
        ("Time", seconds(certificate.elapsed)),
    ]
    if certificate.preparation > 0.0:
        read = f"{seconds(certificate.preparation)} of these, outside the time limit"
        rows.append(("Passes over the data", read))
    if certificate.missing is not None:
        rows.append(("Missing values", _estimated(certificate)))
    return rows


def conditions(include: Sequence[str], exclude: Sequence[str]) -> str:
    """Conditions on a choice, as the end of a sentence."""
    parts = [f"that contain {joined(include)}"] if include else []
    parts += [f"without {joined(exclude)}"] if exclude else []
    return (" " + " and ".join(parts)) if parts else ""
