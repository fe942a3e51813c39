"""Files of a set, on disk or else downloaded; and what to do where both fail."""

from __future__ import annotations

import os
from pathlib import Path

from columnist.datasets._catalogue import Dataset, find_dataset
from columnist.datasets._download import NoCopy, Progress, download_file
from columnist.datasets._files import DataFile
from columnist.datasets._home import data_home as resolve_home

__all__ = ["DataNotAvailable", "download_dataset", "ensure"]


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
