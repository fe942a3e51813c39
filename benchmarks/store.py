"""Measurements kept with the code, each row with the run that made it.

One JSON file per benchmark in ``benchmarks/stored``, with the rows and, once per run, the facts
that they depend on: commit, date, command, processor, cores, memory, load and versions. The
documentation is generated from these files (``docs/stored_pages.py``), ``make fresh`` lists those
that are older than the code they measure (``benchmarks/fresh.py``), and a test compares the figures
that pages state with them. A benchmark stores every row as soon as it is measured, and can be
resumed::

    stored = Stored("proofs")
    for name, k in problems:
        if not stored.find(set=name, k=k):
            stored.put([measure(name, k)], by=("set", "k"))
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Row, machine

__all__ = ["FOLDER", "HOME", "Stored", "names", "run_facts"]

HOME = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_name("stored")


class Stored:
    """The stored rows of one benchmark.

    Parameters
    ----------
    name : str
        Name of the benchmark and of its file.
    folder : path, default=benchmarks/stored
        Where the file is; None keeps nothing.
    """

    def __init__(self, name: str, folder: Path | None = FOLDER) -> None:
        self.name = name
        self.path = folder / f"{name}.json" if folder else None
        found = json.loads(self.path.read_text()) if self.path and self.path.is_file() else {}
        self._runs: list[Row] = found.get("runs", [])
        self._rows: list[Row] = found.get("rows", [])
        self._facts: Row | None = None

    @property
    def rows(self) -> list[Row]:
        """The measurements, without the number of their run."""
        return [without_run(row) for row in self._rows]

    @property
    def runs(self) -> list[Row]:
        """Facts of the runs, oldest first."""
        return self._runs

    def run_of(self, **values: Any) -> Row:
        """Facts of the run that measured the first row with these values."""
        return self._runs[next(row for row in self._rows if agrees(row, values))["run"]]

    def find(self, **values: Any) -> list[Row]:
        """Rows with these values: ``find(set="wdbc", k=3)``."""
        return [without_run(row) for row in self._rows if agrees(row, values)]

    def begin(self) -> Row:
        """Note the facts of a run before it measures anything; else they are those of its first
        rows. Returns them."""
        self._facts = run_facts()
        return self._facts

    def put(self, rows: Iterable[Row], by: Sequence[str] = ("set",)) -> None:
        """Keep rows that were just measured, in place of those with the same values of ``by``."""
        new = [{name: plain(value) for name, value in row.items()} for row in rows]
        facts = self._facts or self.begin()
        if not any(run is facts for run in self._runs):
            self._runs.append(facts)
        facts["load"][1] = load()
        number = next(i for i, run in enumerate(self._runs) if run is facts)
        new = [row | {"run": number} for row in new]
        keys = {key_of(row, by) for row in new}
        first = next(
            (i for i, row in enumerate(self._rows) if key_of(row, by) in keys), len(self._rows)
        )
        kept = [(i, row) for i, row in enumerate(self._rows) if key_of(row, by) not in keys]
        before, after = [r for i, r in kept if i < first], [r for i, r in kept if i >= first]
        self._rows = before + new + after
        self._drop_unused_runs()
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Strict JSON with one line per run and row, so that changes are easy to read."""
        parts = [
            f' "{name}": [\n' + ",\n".join(f"  {as_json(line)}" for line in lines) + "\n ]"
            for name, lines in (("runs", self._runs), ("rows", self._rows))
        ]
        return ",\n".join([f'{{\n "name": {as_json(self.name)}', *parts]) + "\n}\n"

    def _drop_unused_runs(self) -> None:
        used = sorted({row["run"] for row in self._rows})
        self._runs = [self._runs[number] for number in used]
        place = {number: i for i, number in enumerate(used)}
        self._rows = [row | {"run": place[row["run"]]} for row in self._rows]


def names(folder: Path = FOLDER) -> list[str]:
    """Benchmarks of which something is stored."""
    return sorted(path.stem for path in folder.glob("*.json"))


def run_facts() -> Row:
    """What the figures of the run that begins now depend on; the second load is updated."""
    return {
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command(sys.orig_argv),
        "load": [load(), load()],
        "memory [GB]": memory(),
        **machine(),
    }


def commit() -> str:
    """The commit that is measured; ``-dirty`` if the sources differ from it."""
    try:
        found = git("rev-parse", "--short", "HEAD")
        return f"{found}-dirty" if git("status", "--porcelain", "--", "src") else found
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def git(*arguments: str) -> str:
    """Output of a command of git in the checkout."""
    done = subprocess.run(
        ["git", "-C", str(HOME), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def command(arguments: Sequence[str]) -> str:
    """The command line, without the folders of this machine."""
    words = ["python", *(portable(word) for word in arguments[1:])]
    return " ".join(word for word in words if word)


def portable(word: str) -> str:
    """A path below the checkout relative to it, of any other its last part."""
    path = Path(word)
    if not path.is_absolute():
        return word
    return str(path.relative_to(HOME)) if path.is_relative_to(HOME) else path.name


def load() -> float:
    """Load average of the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else math.nan


def memory() -> float | None:
    """Gigabytes of the machine."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None


def without_run(row: Row) -> Row:
    """A row as it was measured."""
    return {name: value for name, value in row.items() if name != "run"}


def agrees(row: Row, values: Row) -> bool:
    """Whether a row has these values."""
    return all(row.get(name) == plain(value) for name, value in values.items())


def key_of(row: Row, by: Sequence[str]) -> tuple[Any, ...]:
    """What tells a row from others."""
    return tuple(as_json(row.get(name)) for name in by)


def plain(value: Any) -> Any:
    """A value that JSON can hold: NumPy's numbers become Python's, undefined ones None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(value: Any) -> str:
    """Strict JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
