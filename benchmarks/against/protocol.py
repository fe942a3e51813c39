"""Ask a program in a process of its own: whatever it does, the run goes on.

A crash, a hang, an import error or a wrong answer ends as one line of text in the table.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.against.environments import failure_of, python_of, reason
from benchmarks.against.programs import PROGRAMS, R_PROGRAMS

__all__ = ["Contender", "Outcome", "Runner"]

HOME = Path(__file__).resolve().parent
WORKER = HOME / "worker.py"
THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "POLARS", "VECLIB_MAXIMUM")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in THREADS} | {"POLARS_MAX_THREADS": "1"}
# Programs without an environment of their own.
SHARED = {"scipy": "scipy", "scikit-learn": "scikit-learn"}
# What runs here, with the same NumPy and SciPy: ours, and scripts that are compared with it.
HERE = {"columnist", "prototype"}

Case = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Contender:
    """A call of a program.

    ``function`` is ``file.name`` in the folder ``calls``; ``ours`` names the call of Columnist
    whose time this one is divided by, if there is one like it. ``given`` is all that the call is
    told beside the data. ``warm``: the program compiles itself at its first call.
    """

    program: str
    call: str
    function: str
    ours: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    warm: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came back: answers with their cost, or why there are none."""

    answers: tuple[Mapping[str, Any], ...] = ()
    seconds: tuple[float, ...] = ()
    first: float = 0.0
    megabytes: float = 0.0
    version: str = ""
    failure: str = ""
    waited: tuple[float, ...] = ()


class Runner:
    """Runs jobs one after the other.

    Parameters
    ----------
    environments : path or None
        Folder of ``environments.py``; None if nothing is installed.
    limit : float
        Processor seconds after which a program is stopped; one that only waits is stopped after
        ``patience`` times as many seconds by the clock.
    budget : float
        Processor seconds for repeats of a call, over all cases.
    """

    patience = 10.0

    def __init__(self, environments: Path | None, limit: float = 60.0, budget: float = 0.5) -> None:
        self.environments, self.limit, self.budget = environments, limit, budget

    def ask(
        self, contender: Contender, cases: Sequence[Case], check: Callable[[Any], object] = bool
    ) -> Outcome:
        """Answers to all cases; ``check`` raises an exception for an answer that is none."""
        with tempfile.TemporaryDirectory() as name:
            try:
                if contender.program in R_PROGRAMS:
                    outcome = self._ask_r(contender, cases, Path(name))
                else:
                    outcome = self._ask_python(contender, cases, Path(name))
                if len(outcome.answers) != len(cases):
                    raise WrongAnswer(f"{len(outcome.answers)} answers to {len(cases)} cases")
                for answer in outcome.answers:
                    check(answer)
            except Failure as failure:
                return Outcome(failure=str(failure))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                return Outcome(failure=f"wrong answer: {reason(str(error))}")
        return outcome

    def python(self, program: str) -> str:
        """The interpreter that has a program."""
        if program in HERE:
            return sys.executable
        if self.environments is None:
            raise Failure(f"{program} is not installed (no folder of environments)")
        place = "base" if program in SHARED else program
        found = python_of(self.environments, place)
        if found is None:
            raise Failure(failure_of(self.environments, place))
        return str(found)

    def _ask_python(self, contender: Contender, cases: Sequence[Case], folder: Path) -> Outcome:
        python = self.python(contender.program)
        arrays = {
            f"{i}/{key}": value for i, case in enumerate(cases) for key, value in case.items()
        }
        np.savez(folder / "data.npz", **arrays)
        known = PROGRAMS.get(contender.program)
        job = {
            "function": contender.function,
            "options": dict(contender.given),
            "package": known.package if known else contender.program,
            "budget": self.budget / len(cases),
            "warm": contender.warm,
            "data": str(folder / "data.npz"),
            "out": str(folder / "out.json"),
        }
        (folder / "job.json").write_text(json.dumps(job))
        self.finish([python, str(WORKER), str(folder / "job.json")])
        return outcome_of(folder / "out.json")

    def _ask_r(self, contender: Contender, cases: Sequence[Case], folder: Path) -> Outcome:
        if not has_r_package(contender.program):
            raise Failure(R_PROGRAMS[contender.program].missing)
        for i, case in enumerate(cases):
            for key, value in case.items():
                table = value.reshape(len(value), -1)
                np.savetxt(folder / f"{i}.{key}.csv", table, delimiter=",", fmt="%.17g")
        (folder / "job.R").write_text(r_job(contender, self.budget / len(cases), len(cases)))
        self.finish(["Rscript", "--vanilla", str(HOME / "worker.R"), str(folder)])
        return outcome_of_r(folder / "answers.txt")

    def finish(self, command: Sequence[str]) -> None:
        """Wait for a process; stop it, and all that it started, at the limit."""
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=clean_environment(),
            process_group=0,  # no session: it would get a share of the processor of its own
        )
        try:
            said = self.wait(process)
        finally:
            stop(process)
        if process.returncode < 0:
            raise Failure(f"crashed ({signal.Signals(-process.returncode).name})")
        if process.returncode:
            raise Failure(f"ended with exit code {process.returncode}: {reason(said)}")

    def wait(self, process: subprocess.Popen) -> str:
        """What the process has to say at its end.

        The system's own limit of processor time is of no use: with it, Linux counts in ticks, and
        short calls take no time at all.
        """
        started = time.monotonic()
        while True:
            try:
                return process.communicate(timeout=min(0.5, self.limit))[1]
            except subprocess.TimeoutExpired:
                if processor_seconds(process.pid) > self.limit:
                    raise Failure(f"no answer within {self.limit:g} s of processor time") from None
                if time.monotonic() - started > self.patience * self.limit:
                    raise Failure(f"no answer within {self.patience * self.limit:g} s") from None


class Failure(Exception):
    """A program gave no answer."""


class WrongAnswer(ValueError):
    """A program answered something else."""


def stop(process: subprocess.Popen) -> None:
    """End what is left of a process and its children (they are a group of their own)."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.communicate()


def processor_seconds(pid: int) -> float:
    """Processor time of a process so far; none where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def clean_environment() -> dict[str, str]:
    """One thread, and no packages but those of the interpreter that is called."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | ONE_THREAD | {"PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"}


def outcome_of(path: Path) -> Outcome:
    """Read what ``worker.py`` wrote."""
    if not path.is_file():
        raise Failure("ended without an answer")
    found = json.loads(path.read_text())
    if "error" in found:
        raise Failure(reason(found["error"].strip().splitlines()[0]))
    return Outcome(**found | {key: tuple(found[key]) for key in ("answers", "seconds", "waited")})


def outcome_of_r(path: Path) -> Outcome:
    """Read what ``worker.R`` wrote."""
    if not path.is_file():
        raise Failure("ended without an answer")
    facts: dict[str, str] = {}
    cases: dict[int, dict[str, list[float]]] = {}
    for line in path.read_text().splitlines():
        first, _, rest = line.partition(" ")
        if first.isdigit():
            name, _, numbers = rest.partition(" ")
            cases.setdefault(int(first), {})[name] = [float(number) for number in numbers.split()]
        else:
            facts[first] = rest
    if "error" in facts:
        raise Failure(reason(facts["error"]))
    found = [cases[i] for i in sorted(cases)]
    return Outcome(
        answers=tuple(found),
        seconds=tuple(case.pop("seconds")[0] for case in found),
        waited=tuple(case.pop("waited")[0] for case in found),
        first=float(facts["first"]),
        megabytes=0.0 if facts["megabytes"] == "NA" else float(facts["megabytes"]),
        version=facts["version"],
    )


def r_job(contender: Contender, budget: float, n_cases: int) -> str:
    """The job as R reads it; options are numbers, texts or truth values."""
    script, _, call = contender.function.partition(".")
    options = ", ".join(f"{key} = {r_value(value)}" for key, value in contender.given.items())
    lines = {
        "script": r_value(str(HOME / "calls" / f"{script}.R")),
        "call": r_value(call),
        "package": r_value(contender.program),
        "budget": r_value(budget),
        "cases": r_value(n_cases),
        "options": f"list({options})",
    }
    return "".join(f"{key} <- {value}\n" for key, value in lines.items())


def r_value(value: Any) -> str:
    """A constant of R."""
    if isinstance(value, bool):
        return str(value).upper()
    return json.dumps(value) if isinstance(value, str) else repr(value)


@cache
def has_r_package(name: str) -> bool:
    """Whether R has a package."""
    command = ["Rscript", "-e", f"quit(status = !requireNamespace('{name}', quietly = TRUE))"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
