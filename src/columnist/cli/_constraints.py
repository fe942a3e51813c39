"""Constraints from options of the command line and from small files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from columnist._text import count
from columnist.cli._errors import BadInput
from columnist.cli._options import option
from columnist.cli._text import listed

if TYPE_CHECKING:
    from columnist.constraints import Constraint

_EACH = "name,{0} on each line"


@dataclass(frozen=True, kw_only=True)
class Obeying:
    """Options of the constraints."""

    groups: str | None = option(
        "--groups", "Groups of columns that are selected or dropped as a whole; -k counts groups. "
        "A CSV file with name,group on each line.", metavar="FILE"
    )  # fmt: skip
    dummies: bool = option(
        "--dummies", "Code columns of text as zeros and ones, one column for each category; those "
        "of one column are selected or dropped together, and -k counts columns of the file.",
        default=False
    )  # fmt: skip
    costs: str | None = option(
        "--costs", "What each column costs, for --budget. A CSV file with name,cost on each line.",
        metavar="FILE"
    )  # fmt: skip
    budget: float | None = option(
        "--budget", "Largest total cost of the selected columns; without -k, of any number."
    )
    at_most: list[str] | None = option(
        "--at-most", "Select at most so many of some columns: 2=a,b,q1:q9 (repeatable).",
        metavar="M=NAMES"
    )  # fmt: skip
    requires: list[str] | None = option(
        "--requires", "Select a column only together with others: a=b,c (repeatable).",
        metavar="NAME=NAMES"
    )  # fmt: skip


def check_obeying(options: Obeying) -> None:
    """Refuse options that need one another, or do not go together."""
    if options.dummies and options.groups is not None:
        raise BadInput(
            "--dummies and --groups do not go together: --dummies makes groups of its own."
        )
    if (options.costs is None) != (options.budget is None):
        given, missing = ("--costs", "--budget") if options.costs else ("--budget", "--costs")
        raise BadInput(f"{given} needs {missing}: the cost of each column, and the budget.")


def constraints_of(
    options: Obeying,
    names: Sequence[str],
    places: Callable[[Sequence[str], str], list[int]],
    note: Callable[[str], None],
    dummies: Mapping[str, Sequence[str]],
) -> list[Constraint]:
    """The constraints of the options, for columns with these names; ``places`` finds columns, and
    ``note`` is called with what is left out. ``dummies`` are columns of one column of text."""
    from columnist.constraints import AtMost, Budget, Groups, Requires

    found: list[Constraint] = []
    if options.groups is not None:
        found.append(Groups(_values(options.groups, "group", names, note)))
    if dummies:
        found.append(Groups({made: name for name, some in dummies.items() for made in some}))
    if options.costs is not None and options.budget is not None:
        costs = {
            name: _number(text, name, options.costs)
            for name, text in _values(options.costs, "cost", names, note).items()
        }
        found.append(Budget(costs, options.budget))
    for text in options.at_most or ():
        m, _, some = text.partition("=")
        if not m.strip().isdigit() or not some.strip():
            raise BadInput(f"--at-most takes a number and columns, such as 2=a,b; got {text!r}.")
        found.append(AtMost([names[i] for i in places([some], "--at-most")], int(m)))
    for text in options.requires or ():
        column, others = _split(text, names)
        first = places([column], "--requires")
        found.append(Requires(names[first[0]], [names[i] for i in places([others], "--requires")]))
    return [one.resolve(len(names), names) for one in found]


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    """A column and others; the name of a column may hold the sign, too."""
    cuts = [i for i, sign in enumerate(text) if sign == "="]
    if not cuts or not text[cuts[0] + 1 :].strip() or not text[: cuts[0]].strip():
        raise BadInput(f"--requires takes a column and others, such as a=b,c; got {text!r}.")
    cut = next((i for i in cuts if text[:i].strip() in set(names)), cuts[0])
    return text[:cut].strip(), text[cut + 1 :]


def _values(path: str, what: str, names: Sequence[str], note) -> dict[str, str]:
    """The second entry of each line, by the first one; a header is left out."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file, skipinitialspace=True) if any(row)]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}.") from error
    for number, row in enumerate(rows, start=1):
        if len(row) != 2:
            raise BadInput(
                f"{path} needs {_EACH.format(what)}; line {number} has {count(len(row), 'entry')}."
            )
    known, found, strange = set(names), dict[str, str](), []
    for number, (name, value) in enumerate(rows):
        if name.strip() in found:
            raise BadInput(f"{path} names the column {name.strip()!r} twice.")
        if name.strip() in known:
            found[name.strip()] = value.strip()
        elif number:  # the first line may be a header
            strange.append(name.strip())
    if not found:
        raise BadInput(f"{path} names no column of the data; it needs {_EACH.format(what)}.")
    if strange:
        note(f"{path} also names {listed(strange)}, not among the columns to choose from.")
    return found


def _number(text: str, name: str, path: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"{path} has no number for the cost of {name!r}: {text!r}.") from error
