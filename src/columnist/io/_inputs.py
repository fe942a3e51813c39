"""Where bytes come from: a file, standard input or an open stream, gzipped or not."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from columnist.io._table import DataFileError

__all__ = ["Input", "as_unicode", "open_input"]

HEAD = 1 << 16
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Input:
    """A file on disk (``path``) or bytes in memory (``content``), as they are stored."""

    name: str
    path: Path | None = None
    content: bytes = b""

    @cached_property
    def start(self) -> bytes:
        """The first stored bytes."""
        if self.path is None:
            return self.content[:HEAD]
        with open(self.path, "rb") as file:
            return file.read(HEAD)

    @property
    def compressed(self) -> bool:
        """Whether the content is gzipped, whatever the name says."""
        return self.start.startswith(GZIP)

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the data themselves."""
        return self.read(HEAD) if self.compressed else self.start

    @property
    def plain_path(self) -> Path | None:
        """The file, if its bytes are the data themselves."""
        return None if self.compressed else self.path

    def read(self, size: int = -1) -> bytes:
        """The data, or their first ``size`` bytes; decompressed."""
        if not self.compressed:
            return self.raw(size)
        try:
            with gzip.open(self.path or io.BytesIO(self.content)) as file:
                return file.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataFileError("the gzip data are cut off or damaged.") from error

    def raw(self, size: int = -1) -> bytes:
        """The stored bytes."""
        if self.path is None:
            return self.content if size < 0 else self.content[:size]
        with open(self.path, "rb") as file:
            return file.read(size)


def open_input(source: str | os.PathLike[str] | BinaryIO) -> Input:
    """The input behind a path, ``"-"`` (standard input) or a binary stream."""
    if isinstance(source, str) and source == "-":
        return Input("standard input", content=sys.stdin.buffer.read())
    if isinstance(source, (str, os.PathLike)):
        return Input(os.fspath(source), path=Path(source))
    if hasattr(source, "read"):
        content = source.read()
        if not isinstance(content, bytes):
            raise TypeError("source must be opened in binary mode ('rb').")
        return Input(str(getattr(source, "name", "stream")), content=content)
    raise TypeError(f"source must be a path, '-' or a binary stream; got {source!r}.")


def as_unicode(content: bytes) -> str:
    """Text in UTF-8, or else in Latin-1."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")
