"""What the reports share beside their figures: names, settings, sections."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np

from columnist._text import number, readable
from columnist.report._blocks import Facts, Note, Section, Text
from columnist.report._figures import correlation_figure, history_figure
from columnist.report._measures import Data, redundancy
from columnist.search._certificate import Certificate
from columnist.search._words import Subject, details, explained

__all__ = ["call_of", "column_names", "proof_sections", "redundancy_section", "swapped"]

# Parameters that change how a run talks, not what it finds.
_SILENT = {"callback", "verbose"}


def column_names(names: Sequence[str] | None, fitted: Any, n_columns: int) -> list[str]:
    """Readable names of all columns: the given ones, those of the fit, or x0, x1 and so on."""
    if names is None:
        names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(n_columns)]
    if len(names) != n_columns:
        raise ValueError(f"names needs one entry per column ({n_columns}); got {len(names)}.")
    return [readable(name) for name in names]


def call_of(estimator: Any) -> str:
    """The call that makes such an estimator: the parameters that differ from the defaults."""
    own, parts = estimator.get_params(deep=False), []
    for place, (name, parameter) in enumerate(signature(type(estimator)).parameters.items()):
        positional = place == 0 and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        if name in _SILENT or (not positional and _same(own[name], parameter.default)):
            continue
        said = readable(repr(own[name]), 300)
        parts.append(said if positional else f"{name}={said}")
    return f"{type(estimator).__name__}({', '.join(parts)})"


def _same(value: Any, default: Any) -> bool:
    try:
        return bool(value is default or value == default)
    except ValueError:  # arrays
        return False


def swapped(first, other, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of the columns that a second selection adds, and of those it drops."""
    new = [names[j] for j in sorted(set(other) - set(first))]
    gone = [names[j] for j in sorted(set(first) - set(other))]
    return new, gone


def proof_sections(
    certificate: Certificate, subject: Subject, n_solutions: int = 1
) -> list[Section]:
    """What is proven, in words and numbers, and how the search came to it."""
    words = [Text(text) for text in explained(certificate, subject, n_solutions)]
    return [
        Section("What is proven", [*words, Facts(details(certificate, subject))]),
        Section("How the search went", [history_figure(certificate)]),
    ]


def redundancy_section(data: Data, kept: np.ndarray, names: Sequence[str]) -> Section:
    """How much the kept columns repeat one another."""
    title = "How much the kept columns repeat one another"
    if len(kept) < 2:
        return Section(title, [Text("One column alone cannot repeat another.")])
    among, remark_kept = redundancy(data, kept)
    everywhere, remark_all = redundancy(data)
    text = (
        f"Two kept columns have a correlation of {number(among, 3)} on average (in size); two "
        f"columns taken from all {data.shape[1]:,} have {number(everywhere, 3)}. The smaller the "
        "first number, the less is measured twice."
    )
    remarks = [Note(r) for r in (remark_kept, remark_all and f"All columns: {remark_all}") if r]
    heat = correlation_figure(
        data, kept, kept, names, title="Correlation among the kept columns",
        what="Each kept column against each.",
    )  # fmt: skip
    return Section(title, [Text(text), *remarks, *heat])
