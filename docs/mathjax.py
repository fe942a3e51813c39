"""MathJax for the built pages, copied from its npm package: formulas need no network."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sphinx.errors import ExtensionError

PACKAGE = "mathjax@3.2.2"
SCRIPT = "tex-mml-chtml.js"
PARTS = (SCRIPT, "input/tex/extensions/", "output/chtml/fonts/")


def write(app: Any) -> None:
    """Copy the script and its fonts into the static files of the pages, unless they are there."""
    folder = Path(app.outdir, "_static", "mathjax")
    if app.builder.name == "html" and not (folder / SCRIPT).is_file():
        with TemporaryDirectory() as scratch:
            unpack(archive(Path(scratch)), folder)


def archive(folder: Path) -> Path:
    """The package as npm delivers it."""
    npm = shutil.which("npm")
    if npm is None:
        raise ExtensionError("The formulas need MathJax: install npm, which fetches it.")
    fetch = [npm, "pack", "--silent", PACKAGE]
    done = subprocess.run(fetch, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ExtensionError(f"npm could not fetch {PACKAGE}: {done.stderr.strip()}")
    return folder / done.stdout.split()[-1]


def unpack(package: Path, folder: Path) -> None:
    """The parts that pages of formulas use; the script itself last, since it marks the end."""
    home = "package/es5/"
    with tarfile.open(package) as files:
        members = [m for m in files if m.isfile() and m.name.removeprefix(home).startswith(PARTS)]
        for member in sorted(members, key=lambda m: m.name == home + SCRIPT):
            member.name = member.name.removeprefix(home)
            files.extract(member, folder, filter="data")
