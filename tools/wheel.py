"""Make the wheel of a folder fit to travel, and try it where there is no compiler.

::

    python tools/wheel.py dist

On Linux, auditwheel states which systems the wheel runs on, and replaces it by one that says so in
its name. The wheel is then installed with its command line in a new environment whose path holds
nothing else, from other wheels only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SMOKE = Path(__file__).with_name("smoke.py")
COMPILERS = ("cc", "gcc", "clang", "cl", "c99", "meson", "ninja", "cython")


def main(folder: str) -> int:
    """Repair, install, try."""
    (wheel,) = Path(folder).glob("*.whl")
    if sys.platform == "linux":
        wheel = repaired(wheel)
    print(f"wheel: {wheel}", flush=True)
    with tempfile.TemporaryDirectory() as home:
        attempt(wheel.resolve(), Path(home))
    return 0


def repaired(wheel: Path) -> Path:
    """The wheel under the name of the oldest Linux it runs on; the first one is removed."""
    with tempfile.TemporaryDirectory(dir=wheel.parent) as folder:
        command = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", folder, str(wheel)]
        subprocess.run(command, check=True)
        (found,) = Path(folder).glob("*manylinux*.whl")
        wheel.unlink()
        return Path(shutil.move(found, wheel.parent / found.name))


def attempt(wheel: Path, home: Path) -> None:
    """Install a wheel and use it, in an environment of its own without a compiler."""
    environment = home / "environment"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
    settings = bare(programs)
    for name in COMPILERS:
        if shutil.which(name, path=settings["PATH"]):
            raise SystemExit(f"{name} is on the path {settings['PATH']}")
    python = str(programs / "python")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    requirement = f"columnist[cli] @ {wheel.as_uri()}"
    for command in (
        [*pip, "--only-binary=:all:", requirement],
        [python, str(SMOKE)],
        [str(programs / "columnist"), "demo"],
    ):
        subprocess.run(command, check=True, cwd=home, env=settings)


def bare(programs: Path) -> dict[str, str]:
    """The variables of this process, with one folder on the path and a compiler that fails."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return kept | {"PATH": str(programs), "CC": "false", "CXX": "false"}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
