"""Inputs (a file, standard input or a stream, gzipped or not), and their format."""

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

HEAD = 1 << 16
GZIP = b"\x1f\x8b"
FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".txt", ".data", ".dat"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "mtx": (".mtx",),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "arff": (".arff",),
    "mat": (".mat",),
}
"""Every format with its extensions; text formats may also end in ``.gz``."""

READ_ONLY: dict[str, tuple[str, ...]] = {
    "excel": (".xlsx", ".xlsm"),
    "spss": (".sav", ".zsav"),
    "h5ad": (".h5ad",),
}
"""Formats of other programs, which are read but not written."""

TEXT = ("csv", "tsv", "mtx", "svmlight", "arff")

HDF = b"\x89HDF\r\n\x1a\n"
# The first entry of an Excel workbook, which is a zip like NPZ.
WORKBOOK = b"[Content_Types].xml"
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PK\x05\x06", "npz"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"MATLAB 7.3 MAT-file", "mat"),
    (HDF, "mat"),
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
)
# Files that make a folder a Zarr array or group, of version 3 and 2.
ZARR_MARKS = ("zarr.json", ".zarray", ".zgroup")


@dataclass(frozen=True)
class Input:
    """A file on disk (``path``) or bytes in memory (``content``), as they are stored."""

    name: str
    path: Path | None = None
    content: bytes = b""

    @cached_property
    def start(self) -> bytes:
        """The first stored bytes."""
        return self.raw(HEAD)

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


# -- formats ------------------------------------------------------------------------


def extension_format(name: str) -> str | None:
    """The format an extension stands for, or None if it stands for none."""
    lower = name.lower().removesuffix(".gz")
    for format, extensions in (FORMATS | READ_ONLY).items():
        if lower.endswith(extensions):
            return format
    return None


def signature(head: bytes) -> str | None:
    """The format that the first bytes of a file give away, or None for plain text."""
    for start, format in SIGNATURES:
        if head.startswith(start):
            return "excel" if format == "npz" and WORKBOOK in head else format
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text[:14].lower() == b"%%matrixmarket":
        return "mtx"
    for line in text.splitlines():
        line = line.strip().lower()
        if line and not line.startswith(b"%"):
            return "arff" if line.startswith((b"@relation", b"@attribute")) else None
    return None


def sniffed_format(asked: str | None, name: str, head: bytes) -> str:
    """The format to read; an error where name or request and content do not fit together."""
    found = signature(head)
    expected = asked or extension_format(name)
    because = f"format={asked!r} was asked for" if asked else f"the extension says {expected}"
    if expected is None:
        return found or "csv"
    if expected == "h5ad" and found == "mat":
        return expected  # both are HDF5
    if expected == "excel" and found == "npz":
        return expected
    if found is not None and found != expected:
        raise DataFileError(
            f"the content is {found}, but {because}: use format={found!r} or rename the file."
        )
    if found is None and expected not in TEXT and not (expected == "mat" and head):
        raise DataFileError(
            f"this is not a {expected} file, although {because}: give its true format=."
        )
    return expected


def is_zarr(name: str) -> bool:
    """Whether the extension says so."""
    return name.lower().rstrip("/").endswith(".zarr")


def is_zarr_store(folder: Path) -> bool:
    """Whether a folder holds a Zarr array or group."""
    return any((folder / mark).is_file() for mark in ZARR_MARKS)
