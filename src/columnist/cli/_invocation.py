"""The command line of this run and the hash of its file, for reproducing the run."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from contextvars import ContextVar
from pathlib import Path

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())
# Larger files are not read a second time for their hash.
_MOST_BYTES = 4 << 30


def remember(arguments: Sequence[str]) -> None:
    """Keep what follows ``columnist`` on the command line."""
    _ARGUMENTS.set(tuple(arguments))


def command_line() -> str:
    """The command as one line that a shell understands."""
    return shlex.join(["columnist", *_ARGUMENTS.get()])


def file_hash(path: str) -> str:
    """SHA-256 of a file; empty for standard input, folders and very large files."""
    place = Path(path)
    if path == "-" or not place.is_file() or place.stat().st_size > _MOST_BYTES:
        return ""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
