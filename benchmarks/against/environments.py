"""One environment per program, so that their demands cannot meet.

They share one folder with NumPy, SciPy and scikit-learn; a program that asks for other versions
gets them in its own folder, before the shared ones on the path. A program that cannot be installed
becomes a line in the table. What is installed stays, so that a second run starts at once::

    python benchmarks/against/environments.py FOLDER [PROGRAM ...]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

HOME = Path(__file__).resolve().parent
if str(HOME.parents[1]) not in sys.path:
    sys.path.insert(0, str(HOME.parents[1]))

from benchmarks.against.programs import BASE, PROGRAMS, Program  # noqa: E402

__all__ = ["install", "main", "python_of", "reason"]

PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
STAMP = "installed.txt"
FAILED = "failed.txt"


def python_of(folder: Path, name: str) -> Path | None:
    """The interpreter with a program, or None if it is not installed."""
    if not (folder / name / STAMP).is_file():
        return None
    return interpreter(folder / name)


def interpreter(environment: Path) -> Path:
    """Where an environment keeps Python."""
    return environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def failure_of(folder: Path, name: str) -> str:
    """Why a program is not there."""
    note = folder / name / FAILED
    return note.read_text().strip() if note.is_file() else f"{name} is not installed"


def install(folder: Path, program: Program, pip: Sequence[str] = PIP) -> str:
    """Install one program; why not, or nothing if it is there."""
    environment = folder / program.name
    wanted = "\n".join(program.needs) + "\n"
    stamp = environment / STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return ""
    base(folder, pip)
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=False, symlinks=sys.platform != "win32")
    (site_packages(environment) / "shared.pth").write_text(f"{site_packages(folder / 'base')}\n")
    command = [str(interpreter(folder / "base")), *pip]
    command += ["--python", str(interpreter(environment)), "install", *program.needs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = f"cannot be installed: {reason(done.stderr or done.stdout)}"
        (environment / FAILED).write_text(why + "\n")
        return why
    stamp.write_text(wanted)
    return ""


def base(folder: Path, pip: Sequence[str] = PIP) -> None:
    """The folder that all share: there is nothing to measure without it."""
    environment, wanted = folder / "base", "\n".join(BASE) + "\n"
    stamp = environment / STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    venv.create(environment, with_pip=True, symlinks=sys.platform != "win32")
    command = [str(interpreter(environment)), *pip, "install", *BASE]
    subprocess.run(command, check=True, capture_output=True, text=True)
    stamp.write_text(wanted)


def site_packages(environment: Path) -> Path:
    """The folder of installed packages."""
    if sys.platform == "win32":
        return environment / "Lib" / "site-packages"
    return environment / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"


def reason(text: str, longest: int = 160) -> str:
    """The last line that says something, without addresses and places on this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    line = (errors or lines or ["no message"])[-1]
    line = re.sub(r"\w+://\S+", "...", line)
    line = re.sub(r"(?<![\w.])(?:[A-Za-z]:)?[/\\][^\s'\",:;)]+", "...", line)
    line = re.sub(r"\s+", " ", re.sub(r"^ERROR:\s*", "", line))
    return line if len(line) <= longest else line[: longest - 3] + "..."


def main(arguments: Sequence[str] | None = None) -> int:
    """Install all programs, or those that are named."""
    folder, *names = sys.argv[1:] if arguments is None else arguments
    for name in names or PROGRAMS:
        failure = install(Path(folder).resolve(), PROGRAMS[name])
        print(f"{name}: {failure or 'installed'}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
