"""The section of a report on which columns a good selection needs."""

from __future__ import annotations

from collections.abc import Sequence

from columnist._text import between, count, percent
from columnist.plotting._verdicts import VerdictDisplay
from columnist.report._blocks import Block, Note, Table, Text
from columnist.report._figures import cell_figure
from columnist.selection._verdicts import ColumnVerdicts

_MEANING = (
    "A column is necessary if every set within the tolerance contains it, useless if none does, "
    "and replaceable otherwise: it is replaced by the columns that the best set without it has "
    "and the best set with it has not. Each verdict is proven for these data."
)


def verdict_blocks(found: ColumnVerdicts | None, names: Sequence[str]) -> list[Block]:
    """The verdicts on single columns; empty without verdicts."""
    if found is None:
        return []
    complete = found.certificate.list_complete
    known = "all sets with such an error are known" if complete else "there may be more"
    sets = f"{count(len(found.solutions), 'set')} with an error at most {percent(found.tol)} above"
    blocks: list[Block] = [Text(f"There {_verb(found)} {sets} the best one; {known}. {_MEANING}")]
    if len(found.solutions) > 1:
        blocks.append(cell_figure(VerdictDisplay.of(found, names)._picture()))
    rows = [
        (
            names[j], found.verdicts[j], between(*found.error_with[j]),
            between(*found.error_without[j]), [names[i] for i in found.replaceable.get(j, ())],
        )
        for j in found.order
    ]  # fmt: skip
    kinds = [("Column", "text"), ("Verdict", "text"), ("Best error with it", "text"),
             ("Best error without it", "text"), ("Replaced by", "names")]  # fmt: skip
    blocks.append(Table("Verdicts on the columns", kinds, rows, frozenset()))
    if len(found.undecided):
        blocks.append(Note("Undecided columns were left open by a limit, or by rounding."))
    return blocks


def _verb(found: ColumnVerdicts) -> str:
    return "is" if len(found.solutions) == 1 else "are"
