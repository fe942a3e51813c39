"""The side of a program: ``python worker.py JOB`` answers one job in a process of its own.

JOB is a JSON file. It names an NPZ file of cases (arrays called ``0/X``, ``0/y``, ``1/X``, ...),
the function that answers a case, and where the answers go. This file imports NumPy only, and the
module of the function imports its program only: the rest of the project need not be installed.

Memory is the largest resident size during the calls, above what was resident before the first one:
program and data are not counted. Seconds are processor time, the least of the calls of a case, and
``waited`` those of a clock for the same call; a program that compiles itself is called once before
(``warm``), which ``first`` tells.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder: its names are common

import numpy as np  # noqa: E402

MOST_CALLS = 50


def cases_of(path: str) -> list[dict[str, np.ndarray]]:
    """The arrays by name, one dictionary per case."""
    cases: dict[int, dict[str, np.ndarray]] = {}
    with np.load(path, allow_pickle=False) as stored:
        for key in stored.files:
            case, name = key.split("/")
            cases.setdefault(int(case), {})[name] = stored[key]
    return [cases[number] for number in sorted(cases)]


def resident(field: str) -> float:
    """VmRSS (now) or VmHWM (peak) in megabytes; the peak where the system does not say."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.is_file() else ():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> None:
    """Start the peak afresh, where the system can: a process inherits that of its parent."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def measured(call: Callable[[], Any], budget: float) -> tuple[float, float, Any]:
    """Processor seconds of the call that took least, its seconds by the clock; the last answer."""
    runs: list[tuple[float, float]] = []
    while not runs or (sum(run[0] for run in runs) < budget and len(runs) < MOST_CALLS):
        started = time.process_time(), time.perf_counter()
        answer = call()
        runs.append((time.process_time() - started[0], time.perf_counter() - started[1]))
    return *min(runs), answer


def plain(value: Any) -> Any:
    """Arrays and NumPy's numbers as JSON can hold them."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an answer holds a {type(value).__name__}")


def release(package: str) -> str:
    """Version of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def answer(job: dict[str, Any]) -> dict[str, Any]:
    """Answer all cases."""
    module, _, name = job["function"].partition(".")
    function = getattr(importlib.import_module(f"benchmarks.against.calls.{module}"), name)
    cases = cases_of(job["data"])
    forget_peak()
    before = resident("VmRSS")
    first = 0.0
    if job["warm"]:
        first = measured(lambda: function(**cases[0], **job["options"]), 0.0)[0]
    found = [
        measured(lambda case=case: function(**case, **job["options"]), job["budget"])
        for case in cases
    ]
    seconds, waited, answers = zip(*found, strict=True)
    return {
        "answers": answers,
        "seconds": seconds,
        "waited": waited,
        "first": first or seconds[0],
        "megabytes": max(resident("VmHWM") - before, 0.0),
        "version": release(job["package"]),
    }


def main() -> None:
    """Write the answers, or what went wrong."""
    job = json.loads(Path(sys.argv[1]).read_text())
    sys.stdout = open(os.devnull, "w")  # programs print; nobody reads it
    warnings.simplefilter("ignore")
    try:
        found = json.dumps(answer(job), default=plain)
    except Exception as error:
        found = json.dumps({"error": f"{type(error).__name__}: {error}"})
    Path(job["out"]).write_text(found)


if __name__ == "__main__":
    main()
