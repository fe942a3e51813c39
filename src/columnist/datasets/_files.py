"""The files behind the sets: sizes, checksums and public copies."""

from __future__ import annotations

import builtins
import csv
import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["DataFile", "data_files", "restored"]

# Where copies lie: archives first, then repositories at a fixed commit.
PLACES = {
    "uci": "https://archive.ics.uci.edu/ml/machine-learning-databases/",
    "asu": "https://jundongl.github.io/scikit-feature/files/datasets/",
    "github": "https://raw.githubusercontent.com/",
}


@dataclass(frozen=True)
class DataFile:
    """A file of the data home.

    The size and the checksum are those of the content, not of its compressed form.
    """

    path: str
    bytes: int
    sha256: str
    addresses: tuple[str, ...]

    def stored(self, content: builtins.bytes) -> builtins.bytes:
        """The content as it lies in the data home."""
        return gzip.compress(content, mtime=0) if self.path.endswith(".gz") else content


@cache
def data_files() -> dict[str, DataFile]:
    """All known files by their path in the data home."""
    text = files("columnist.datasets").joinpath("files.csv").read_text(encoding="utf-8")
    return {row["path"]: data_file(row) for row in csv.DictReader(text.splitlines())}


def data_file(row: dict[str, str]) -> DataFile:
    """One line of the list; a copy is ``place:path``."""
    copies = (copy.partition(":") for copy in row["copies"].split())
    addresses = tuple(PLACES[place] + path for place, _, path in copies)
    return DataFile(row["path"], int(row["bytes"]), row["sha256"], addresses)


def restored(file: DataFile, content: bytes) -> bytes:
    """The content if it has the right checksum, if need be without its first line.

    Some copies have a line of column names before the original's first line.
    """
    for candidate in (content, content.partition(b"\n")[2]):
        if hashlib.sha256(candidate).hexdigest() == file.sha256:
            return candidate
    found = hashlib.sha256(content).hexdigest()
    raise ValueError(
        f"its content is not the expected one (sha256 {found[:12]}…, not {file.sha256[:12]}…)"
    )
