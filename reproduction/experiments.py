"""Other settings for figures that differ: what was tried, how it came out, and what follows.

A setting explains a figure only together with others: within a group (the figures of one method or
set in one table) one setting has to give at least half of the printed figures. A single one may
agree by chance when many settings are tried. Run ``python -m reproduction.experiments [names]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.store import Stored
from reproduction.cells import Cell, compare
from reproduction.reasons import is_honest

__all__ = ["EXPERIMENTS", "FOLDER", "Group", "Trial", "explained", "groups", "tried"]

FOLDER = Path(__file__).with_name("experiments_stored")
ENOUGH = 0.5
"""Share of a group that one setting has to give before it explains anything."""

EXPERIMENTS = {
    "privacy": "privacy_readings",
    "lengths": "vector_readings",
    "kernels": "kernel_readings",
    "outliers": "outlier_readings",
    "stages": "stage_readings",
}
"""Modules beside this one with a function of the experiment's name."""


@dataclass(frozen=True)
class Trial:
    """One figure under one setting; ``agrees`` is the verdict of :func:`~reproduction.compare`."""

    group: str
    table: str
    where: str
    printed: str
    setting: str
    ours: float
    agrees: bool


def tried(
    group: str,
    table: str,
    where: str,
    printed: str,
    setting: str,
    ours: float,
    random: bool = False,
) -> Trial:
    """A trial, judged as the cells are."""
    verdict = compare(where, printed, ours, random=random).verdict
    return Trial(group, table, where, printed, setting, float(ours), verdict == "reproduced")


class Group(NamedTuple):
    """What the settings of a group give: figures met by the best one, and which those are."""

    best: str
    met: frozenset[tuple[str, str]]
    size: int
    settings: int

    @property
    def enough(self) -> bool:
        """Whether the best setting explains what it meets."""
        return len(self.met) >= ENOUGH * self.size


def groups(trials: Iterable[Trial]) -> dict[str, Group]:
    """The groups of an experiment by name."""
    by_setting: dict[str, dict[str, set[tuple[str, str]]]] = {}
    figures: dict[str, set[tuple[str, str]]] = {}
    for trial in trials:
        figure = trial.table, trial.where
        met = by_setting.setdefault(trial.group, {}).setdefault(trial.setting, set())
        figures.setdefault(trial.group, set()).add(figure)
        if trial.agrees:
            met.add(figure)
    found = {}
    for name, settings in by_setting.items():
        best = max(settings, key=lambda setting: len(settings[setting]))
        found[name] = Group(best, frozenset(settings[best]), len(figures[name]), len(settings))
    return found


@cache
def reasons() -> dict[tuple[str, str], str]:
    """What the stored experiments say of a figure, by table and place."""
    found = {}
    for name in EXPERIMENTS:
        trials = [Trial(**row) for row in Stored(name, FOLDER).rows]
        known = groups(trials)
        for trial in trials:
            group = known[trial.group]
            found[trial.table, trial.where] = reason(group, (trial.table, trial.where))
    return found


def reason(group: Group, figure: tuple[str, str]) -> str:
    """What a group says of one of its figures."""
    count = f"{len(group.met)} of the {group.size} figures it was tried on"
    if group.enough and figure in group.met:
        return f"tested: another setting ({group.best}) gives this and {count}"
    return f"unknown; of {group.settings} settings tried the best ({group.best}) gives {count}" + (
        ", not this one" if figure not in group.met else ""
    )


def explained(table: str, cell: Cell) -> Cell:
    """A cell whose difference is unknown, with what the experiments say of it.

    A reason that does not say whether it was tested was not: it is a supposition.
    """
    if cell.verdict != "different" or not cell.why or cell.why.startswith("tested"):
        return cell
    why = cell.why if is_honest(cell.why) else f"unknown; {cell.why}"
    return replace(cell, why=reasons().get((table, cell.where), why))
