"""The files of the data sets: locations, checksums, and downloads.

Downloads are bounded, checked, and complete or absent. Not by pooch: it bounds neither the size nor
the time of an answer, follows redirects away from https, and knows no checksums of what a
compressed copy unpacks to.
"""

from __future__ import annotations

import builtins
import csv
import gzip
import hashlib
import io
import ipaddress
import os
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from columnist.io import atomic_path

Progress = Callable[[str, int, int], object]
# Where copies lie: archives first, then repositories at a fixed commit.
PLACES = {
    "uci": "https://archive.ics.uci.edu/ml/machine-learning-databases/",
    "asu": "https://jundongl.github.io/scikit-feature/files/datasets/",
    "github": "https://raw.githubusercontent.com/",
}
_CHUNK = 1 << 16
# What a copy may have more than the original: a first line with names of columns.
_SLACK = 1 << 16
_CLEAR = 256
_TOO_LARGE = "it unpacks to more than the expected {limit} bytes"


def data_home(path: str | os.PathLike | None = None) -> Path:
    """Folder in which data sets are searched for and saved.

    Files lie at ``<folder>/<set>/<file>``. The folder need not exist.

    Parameters
    ----------
    path : path or None, default=None
        The folder. By default, the environment variable ``COLUMNIST_DATA`` names
        it; without that it is ``columnist`` in the user's cache: ``XDG_CACHE_HOME`` if set, else
        ``~/.cache``, ``~/Library/Caches`` (macOS) or ``%LOCALAPPDATA%`` (Windows).

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from columnist.datasets import data_home
    >>> data_home("data").name
    'data'
    """
    named = path if path is not None else os.environ.get("COLUMNIST_DATA")
    return Path(named).expanduser() if named else user_cache() / "columnist"


def user_cache() -> Path:
    """Where the platform keeps what programs can fetch again."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@dataclass(frozen=True)
class DataFile:
    """A file of the data home; size and checksum are those of the uncompressed content."""

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
    found = {}
    for row in csv.DictReader(text.splitlines()):
        copies = (copy.split(":", 1) for copy in row["copies"].split())
        addresses = tuple(PLACES[place] + path for place, path in copies)
        found[row["path"]] = DataFile(row["path"], int(row["bytes"]), row["sha256"], addresses)
    return found


def restored(file: DataFile, content: bytes) -> bytes:
    """The content with the right checksum; some copies have a line of column names on top."""
    for candidate in (content, content.partition(b"\n")[2]):
        if hashlib.sha256(candidate).hexdigest() == file.sha256:
            return candidate
    found = hashlib.sha256(content).hexdigest()
    raise ValueError(
        f"its content is not the expected one (sha256 {found[:12]}…, not {file.sha256[:12]}…)"
    )


# -- downloads --------------------------------------------------------------------


class SafeRedirects(HTTPRedirectHandler):
    """Follows a redirect only to an address that could have been asked in the first place."""

    max_redirections = 5

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        target = urljoin(req.full_url, newurl)
        check_address(target, loopback=is_loopback(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, target)


def is_loopback(address: str) -> bool:
    """Whether an address leads back to this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(address: str, *, loopback: bool) -> None:
    """Raise unless an address is https, or http to this machine where that is allowed."""
    scheme, here = urlsplit(address).scheme, is_loopback(address)
    if here and not (loopback and scheme in ("http", "https")):
        raise URLError(f"refused to be sent to this machine ({address})")
    if not here and scheme != "https":
        raise URLError(f"refused an address that is not https ({address})")


def download(
    address: str,
    *,
    limit: int,
    timeout: float = 30.0,
    patience: float = 600.0,
    progress: Callable[[int], object] | None = None,
) -> bytes:
    """What is behind an https address (or http on this machine), at most ``limit`` bytes.

    ``timeout`` is the longest silence and ``patience`` the longest time at all, in seconds;
    ``progress`` is called with the number of bytes received. Any failure is an OSError or an
    HTTPException.
    """
    loopback = is_loopback(address)
    check_address(address, loopback=loopback)
    opener = build_opener(SafeRedirects, *([ProxyHandler({})] if loopback else []))
    request = Request(address, headers={"User-Agent": "columnist"})
    deadline = time.monotonic() + patience
    with opener.open(request, timeout=timeout) as answer:
        length = answer.headers.get("Content-Length", "")
        announced = int(length) if length.isdigit() else None
        if announced is not None and announced > limit:
            raise URLError(f"it has {announced} bytes, more than the expected {limit}")
        content = bytearray()
        while chunk := answer.read1(_CHUNK):
            content += chunk
            if len(content) > limit:
                raise URLError(f"it has more than the expected {limit} bytes")
            if time.monotonic() > deadline:
                raise URLError(f"it took more than {patience:g} seconds")
            if progress:
                progress(len(content))
    if announced is not None and len(content) < announced:
        raise URLError(f"it broke off after {len(content)} of {announced} bytes")
    return bytes(content)


def download_file(
    file: DataFile, home: Path, *, timeout: float = 30.0, progress: Progress | None = None
) -> dict[str, str]:
    """Put a file in the data home from the first address that has it, whole or not at all.

    Returns what failed, by address.
    """
    failed: dict[str, str] = {}
    for address in file.addresses:
        told = (lambda n: progress(file.path, n, file.bytes)) if progress else None
        try:
            found = download(address, limit=file.bytes + _SLACK, timeout=timeout, progress=told)
            content = restored(file, unpacked(found, address, file.bytes + _SLACK))
        except (OSError, HTTPException, ValueError) as error:
            failed[address] = reason(error)
            continue
        put(home / file.path, file.stored(content))
        break
    return failed


def reason(error: Exception) -> str:
    """Why an address failed, in a few words."""
    if isinstance(error, HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, TimeoutError) or isinstance(getattr(error, "reason", None), TimeoutError):
        return "no answer in time"
    return str(getattr(error, "reason", None) or error) or type(error).__name__


def put(path: Path, content: bytes) -> None:
    """Write a file beside its place, then move it there: two at once do no harm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


# -- compressed content -------------------------------------------------------------


def unpacked(content: bytes, address: str, limit: int) -> bytes:
    """At most ``limit`` bytes behind an address; ``.gz`` and ``.Z`` are unpacked."""
    if not address.endswith(".gz"):
        return uncompress(content, limit) if address.endswith(".Z") else content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            found = stream.read(limit + 1)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"the gzip file is incomplete ({error})") from error
    if len(found) > limit:
        raise ValueError(_TOO_LARGE.format(limit=limit))
    return found


def uncompress(content: bytes, limit: int) -> bytes:
    """Content of a ``.Z`` file, at most ``limit`` bytes.

    The format of Unix ``compress``: codes of 9 bits and more, lowest bit first, written in groups
    of eight; when the width changes, the rest of a group is padding. Code 256 empties the table.
    """
    if content[:2] != b"\x1f\x9d" or len(content) < 3:
        raise ValueError("it is not a .Z file")
    most, has_clear = content[2] & 31, content[2] >= 128
    table = fresh_table(has_clear)
    parts: list[bytes] = []
    size, width, start = 0, 9, 24
    place, last = start, b""
    while place + width <= 8 * len(content):
        window = int.from_bytes(content[place >> 3 : (place >> 3) + 4], "little")
        code = window >> (place & 7) & (1 << width) - 1
        place += width
        if has_clear and code == _CLEAR:
            start = place = group_end(place, start, width)
            table, width, last = fresh_table(has_clear), 9, b""
            continue
        if code > len(table) or (code == len(table) and not last):
            raise ValueError("it is a damaged .Z file")
        entry = table[code] if code < len(table) else last + last[:1]
        if last and len(table) < 1 << most:
            table.append(last + entry[:1])
        parts.append(entry)
        last, size = entry, size + len(entry)
        if size > limit:
            raise ValueError(_TOO_LARGE.format(limit=limit))
        if len(table) == 1 << width and width < most:
            start = place = group_end(place, start, width)
            width += 1
    return b"".join(parts)


def fresh_table(has_clear: bool) -> list[bytes]:
    """The single bytes, and a place for the code that empties the table."""
    return [bytes([value]) for value in range(256)] + [b""] * has_clear


def group_end(place: int, start: int, width: int) -> int:
    """First bit after the group of eight codes that ``place`` is in."""
    group = 8 * width
    return start + -(-(place - start) // group) * group
