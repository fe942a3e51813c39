"""The certificate of a selection, and certified paths of selections of increasing size."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, overload

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from columnist._warn import warn_caller
from columnist.search._words import facts, gap_words


@dataclass(frozen=True)
class Certificate:
    """Proof of how good a selection is.

    Attributes
    ----------
    status : str
        Why the search ended: ``"optimal"``, ``"bounded"``, ``"heuristic"``,
        ``"gap_reached"``, ``"time_limit"``, ``"node_limit"``,
        ``"memory_limit"``, ``"interrupted"`` or ``"precision_limit"`` (what is left to decide
        is smaller than the rounding of the computation).
    error : float
        Error of the returned selection.
    lower_bound : float
        Proven lower bound on the error of every selection.
    a_priori_bound : float or None
        Guarantee known before the search ran: error - optimum is at most this
        (weighted and greedy orders; None where none holds).
    nodes_expanded, nodes_generated : int
        Size of the search.
    elapsed : float
        Seconds from the call to the answer.
    preparation : float
        Seconds of these outside the time limit: passes over data that are not in memory.
    criterion, target : str
        The criterion, and the target of the approximation: "X" or "y".
    target_kind : str or None
        Interpretation of y: "classes" or "numbers"; None if X was approximated.
    selection : tuple of int
        The selection that the certificate is about.
    names : tuple of str or None
        The names of its columns, if they have any.
    unlisted_bound : float or None
        With several solutions: no set that is not among them has a smaller error.
    list_complete : bool or None
        With ``solution_tol``: whether every set within the tolerance is proven to be listed.
    better : tuple of int or None
        In :func:`columnist.certify`: a better choice, if one was found.
    better_names : tuple of str or None
        The names of its columns, if they have any.
    missing : mapping or None
        Where values were missing and moments were estimated, for which alone the certificate holds:
        ``method``, ``share`` of all values and ``column_shares`` that were missing, ``iterations``
        and ``ridge`` of the EM algorithm, and by how much (``adjusted``, relative) a pairwise
        matrix was changed to be positive semidefinite.
    history : tuple of dict
        Bound, incumbent, expanded and open nodes over time.

    Examples
    --------
    >>> from columnist import Certificate
    >>> Certificate(status="time_limit", error=4.0, lower_bound=3.0).gap
    0.25
    """

    status: str
    error: float
    lower_bound: float
    a_priori_bound: float | None = None
    nodes_expanded: int = 0
    nodes_generated: int = 0
    elapsed: float = 0.0
    preparation: float = 0.0
    criterion: str = "frobenius"
    target: str = "X"
    target_kind: str | None = None
    selection: tuple[int, ...] = ()
    names: tuple[str, ...] | None = None
    unlisted_bound: float | None = None
    list_complete: bool | None = None
    better: tuple[int, ...] | None = None
    better_names: tuple[str, ...] | None = None
    missing: Mapping[str, Any] | None = None
    history: Sequence[Mapping[str, float]] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """(error - lower_bound) / abs(error); 0 when the error is 0."""
        if self.error == 0.0 or self.error == self.lower_bound:
            return 0.0
        return (self.error - self.lower_bound) / abs(self.error)

    @property
    def is_optimal(self) -> bool:
        """Whether the choice is proven optimal."""
        return self.status == "optimal"

    def to_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON; ``gap`` included."""
        result = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return result | {"gap": float(self.gap)}

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("selection", listing(self.names or self.selection))] if self.selection else []
        rows += facts(self).items()
        better = self.better_names or self.better
        return rows + ([("better", listing(better))] if better is not None else [])

    def __repr__(self) -> str:
        lines = [f"  {name:<11} {value}" for name, value in self._rows()]
        return "Certificate\n" + "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        return f"<table><caption>Certificate</caption>{rows}</table>"


@dataclass(frozen=True)
class CertifiedPath(Sequence):
    """Steps, named tuples of what is chosen, its ``certificate`` and more; the smallest first."""

    steps: tuple[Any, ...]

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index):
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def errors(self) -> np.ndarray:
        """Error of each step."""
        return np.array([step.certificate.error for step in self.steps])

    @property
    def lower_bounds(self) -> np.ndarray:
        """Proven lower bound for each step."""
        return np.array([step.certificate.lower_bound for step in self.steps])

    @property
    def sizes(self) -> np.ndarray:
        """How many are chosen in each step."""
        return np.array([len(step[0]) for step in self.steps])

    @property
    def _whole(self) -> float:
        """The error that others are divided by."""
        return self.total  # type: ignore[attr-defined]  # a field of most paths

    @property
    def relative_errors(self) -> np.ndarray:
        """Errors divided by that of the target itself, or of all rows."""
        return self.errors / self._whole if self._whole > 0.0 else self.errors

    def _table(self, title: str, counted: str, budgets: Sequence[float] = ()) -> str:
        """A line for each step: its budget, how many are chosen, error, gap and status."""
        wide, first = len(counted), [f"{budget:>10g}  " for budget in budgets]
        head = f"{'budget':>10}  " if first else ""
        lines = [f"{counted:>{wide}}  {'error':>12}  {'relative':>8}  {'gap':>8}  status"]
        for size, step, relative in zip(self.sizes, self.steps, self.relative_errors, strict=True):
            found = step.certificate
            lines.append(
                f"{size:>{wide}}  {found.error:>12.6g}  {relative:>8.4f}  "
                f"{100 * found.gap:>7.2f}%  {found.status}"
            )
        prefixes = [head, *(first or [""] * len(self))]
        return "\n".join([title, *map(str.__add__, prefixes, lines)])


def tightened(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Raise bounds by those of larger sizes, whose optimum is never larger."""
    best, result = -np.inf, []
    for step in reversed(steps):
        best = max(best, step.certificate.lower_bound)
        bound = min(best, step.certificate.error)
        result.append(step._replace(certificate=replace(step.certificate, lower_bound=bound)))
    return tuple(result[::-1])


def warn_unless_optimal(certificate: Certificate) -> None:
    """Warn if a search with search='optimal' ended without a proof."""
    if certificate.status == "optimal":
        return
    advice = "Raise time_limit, or use"
    if certificate.status == "precision_limit":
        advice = (
            "Double precision has too few digits for these data, so more time would not help. Use"
        )
    warn_caller(
        f"search='optimal' ended with status {certificate.status!r}: the choice is not proven "
        f"optimal. What is proven: {gap_words(certificate)}. "
        f"{advice} search='auto' to accept a gap without this warning.",
        ConvergenceWarning,
    )


def listing(items: Sequence[object], width: int = 72) -> str:
    """Items separated by commas, as many as fit; the rest counted."""
    shown = ""
    for count, item in enumerate(items):
        longer = f"{shown}, {item}" if shown else str(item)
        if shown and len(longer) > width:
            return f"{shown}, and {len(items) - count} more"
        shown = longer
    return shown


def _plain(value: Any) -> Any:
    """NumPy scalars, arrays and tuples as plain Python; no number yet (inf) as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [_plain(item) for item in value]
    return value
