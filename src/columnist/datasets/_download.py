"""Files of a set, on disk or else from public addresses: bounded, checked, never half there.

Not by pooch: it bounds neither the size nor the time of an answer, follows redirects away from
https, and knows no checksums of what a compressed copy unpacks to.
"""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from columnist.datasets._catalogue import Dataset, find_dataset
from columnist.datasets._files import DataFile, restored
from columnist.datasets._home import data_home as resolve_home
from columnist.datasets._unpack import unpacked
from columnist.io import atomic_path

__all__ = ["DataNotAvailable", "NoCopy", "Progress", "download", "download_dataset"]
__all__ += ["download_file", "ensure", "put"]

Progress = Callable[[str, int, int], object]
_CHUNK = 1 << 16
# What a copy may have more than the original: a first line with names of columns.
_SLACK = 1 << 16


class NoCopy(Exception):
    """No address has a file; ``reasons`` says why, by address."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__("; ".join(f"{place}: {why}" for place, why in reasons.items()))
        self.reasons = reasons


class SafeRedirects(HTTPRedirectHandler):
    """Follows a redirect only to an address that could have been asked in the first place."""

    max_redirections = 5

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        """The next request, or an error."""
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
    scheme = urlsplit(address).scheme
    if is_loopback(address):
        if loopback and scheme in ("http", "https"):
            return
        raise URLError(f"refused to be sent to this machine ({address})")
    if scheme != "https":
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
    ``progress`` is told how many bytes are there. Any failure is an OSError or an HTTPException.
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
) -> None:
    """Put a file in the data home from the first address that has it.

    Raises NoCopy if none has. Nothing but the whole file ever lies at its place.
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
        return
    raise NoCopy(failed)


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


# -- of a set ---------------------------------------------------------------------


class DataNotAvailable(OSError):
    """A data set is not here and could not be had; the message says what to do."""


def download_dataset(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    timeout: float = 30.0,
    progress: Progress | None = None,
) -> list[Path]:
    """Put all files of a set in the data home, those that are there already excepted.

    Parameters
    ----------
    name : str
        Name of the set.
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.
    timeout : float, default=30.0
        Seconds to wait for a server that says nothing.
    progress : callable or None, default=None
        Is told the file, how many bytes are there and how many are expected.

    Returns
    -------
    list of pathlib.Path
        The files.

    Raises
    ------
    DataNotAvailable
        If a file cannot be had.

    Examples
    --------
    >>> from columnist.datasets import download_dataset
    >>> download_dataset("vehicle")  # doctest: +SKIP
    [PosixPath('/home/me/.cache/columnist/vehicle/vehicle.arff')]
    """
    dataset, home = find_dataset(name), resolve_home(data_home)
    ensure(dataset, dataset.files, home, True, timeout=timeout, progress=progress)
    return [home / file.path for file in dataset.files]


def ensure(
    dataset: Dataset,
    files: list[DataFile],
    home: Path,
    download: bool,
    *,
    timeout: float = 30.0,
    progress: Progress | None = None,
) -> None:
    """Raise unless all files are there, or can be downloaded if that is allowed."""
    missing = [file for file in files if not (home / file.path).is_file()]
    for file in missing:
        tried: dict[str, str] = {}
        if download:
            try:
                download_file(file, home, timeout=timeout, progress=progress)
                continue
            except NoCopy as error:
                tried = error.reasons
            except OSError as error:
                tried = {f"{home / file.path}": f"cannot be written ({error})"}
        raise DataNotAvailable(advice(dataset, file, home, tried))


def advice(dataset: Dataset, file: DataFile, home: Path, tried: dict[str, str]) -> str:
    """What is missing, where it was looked for, what failed, and what to do."""
    lines = [f"The data set {dataset.name!r} needs the file {file.path}, which is not in {home}."]
    if tried:
        lines += ["Fetching it failed:", *(f"  {place}: {why}" for place, why in tried.items())]
    else:
        lines.append(f"It was not downloaded, as asked; columnist data fetch {dataset.name} does.")
    lines.append(
        "Set COLUMNIST_DATA to a folder that has it, or save it yourself as "
        f"{home / file.path}" + (" (gzipped)." if file.path.endswith(".gz") else ".")
    )
    if file.addresses:
        lines.append(f"A copy should be at {file.addresses[0]}")
    return "\n".join(lines)
