"""Which format a file has: by request, by its extension, by its first bytes."""

from __future__ import annotations

from columnist.io._table import DataFileError

__all__ = ["COMPRESSIBLE", "FORMATS", "TEXT", "extension_format", "signature", "sniffed_format"]

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

TEXT = ("csv", "tsv", "mtx", "svmlight", "arff")
COMPRESSIBLE = TEXT

SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PK\x05\x06", "npz"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"MATLAB 7.3 MAT-file", "mat"),
    (b"\x89HDF\r\n\x1a\n", "mat"),
)


def extension_format(name: str) -> str | None:
    """The format an extension stands for, or None if it stands for none."""
    lower = name.lower().removesuffix(".gz")
    for format, extensions in FORMATS.items():
        if lower.endswith(extensions):
            return format
    return None


def signature(head: bytes) -> str | None:
    """The format that the first bytes of a file give away, or None for plain text."""
    for start, format in SIGNATURES:
        if head.startswith(start):
            return format
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
    expected: str | None
    if asked is not None:
        expected, because = asked, f"format={asked!r} was asked for"
    else:
        expected = extension_format(name)
        because = f"the extension says {expected}"
    if expected is None:
        return found or "csv"
    if found is not None and found != expected:
        raise DataFileError(
            f"the content is {found}, but {because}: use format={found!r} or rename the file."
        )
    if found is None and expected not in TEXT and not (expected == "mat" and head):
        raise DataFileError(
            f"this is not a {expected} file, although {because}: give its true format=."
        )
    return expected
