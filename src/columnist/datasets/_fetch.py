"""The data sets of the catalogue, read from the data home; missing files are downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from columnist.datasets._catalogue import CATALOGUE, Dataset, Matrix, find_dataset
from columnist.datasets._files import DataFile, Progress, download_file
from columnist.datasets._files import data_home as resolve_home
from columnist.io._arff import Attribute

# Lists of names cost more than the data where there are more columns than this.
_MOST_NAMES = 100_000


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    download: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    progress: Progress | None = None,
) -> Bunch | tuple:
    """Fetch a data set from the data home or from its public source.

    Parameters
    ----------
    name : str
        Name of the set, one of :func:`list_datasets`.
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.
    download : bool, default=True
        Whether a missing file may be downloaded.
    return_X_y : bool, default=False
        Return ``(data, target)`` only.
    as_frame : bool, default=False
        Data and target as pandas objects, for sets that are not sparse.
    progress : callable or None, default=None
        Called during a download with the file, the bytes received and the bytes expected.

    Returns
    -------
    sklearn.utils.Bunch
        ``data``
            Features, raw: neither scaled nor centred, missing values are nan. A sparse set is
            a CSR array.
        ``target``
            Numbers of the classes, counted from 0; or one column per label or target.
        ``feature_names``
            Names of the features: the file's, or x0, x1 and so on. None for more than 100,000.
        ``target_names``
            Names of the classes, as the file has them, or of the labels or targets.
        ``DESCR``
            Description.
        ``filename``
            The file of the data.
        ``images``
            For sets of images: the same data as images.
        ``frame``
            With ``as_frame``: data and target side by side.

    Raises
    ------
    DataNotAvailable
        If a file is missing and cannot be downloaded.

    Examples
    --------
    >>> from columnist.datasets import fetch
    >>> fetch("vehicle").data.shape  # doctest: +SKIP
    (846, 18)
    >>> fetch("vehicel")
    Traceback (most recent call last):
    ...
    ValueError: There is no data set 'vehicel': did you mean 'vehicle'?
    """
    dataset, home = find_dataset(name), resolve_home(data_home)
    ensure(dataset, dataset.needed, home, download, progress=progress)
    found = read_set(dataset, home)
    if as_frame:
        add_frames(found, dataset)
    return (found.data, found.target) if return_X_y else found


def named_fetchers() -> dict[str, Callable[..., Bunch | tuple]]:
    """A function per set, such as ``fetch_vehicle``."""
    return {dataset.function: fetcher(dataset) for dataset in CATALOGUE.values()}


def fetcher(dataset: Dataset) -> Callable[..., Bunch | tuple]:
    """The function that fetches one set."""

    def fetch_one(
        *,
        data_home: str | os.PathLike | None = None,
        download: bool = True,
        return_X_y: bool = False,
        as_frame: bool = False,
    ) -> Bunch | tuple:
        return fetch(
            dataset.name,
            data_home=data_home,
            download=download,
            return_X_y=return_X_y,
            as_frame=as_frame,
        )

    fetch_one.__name__ = fetch_one.__qualname__ = dataset.function
    fetch_one.__module__ = "columnist.datasets"
    fetch_one.__doc__ = _DOC.format(set=dataset, note=f" {dataset.note}".rstrip())
    return fetch_one


_DOC = """{set.title}: {set.n_samples} x {set.n_features}, {set.n_targets} {set.kind}.

    Source: {set.origin.name}.{note}

    Parameters
    ----------
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.
    download : bool, default=True
        Whether a missing file may be downloaded.
    return_X_y : bool, default=False
        Return ``(data, target)`` only.
    as_frame : bool, default=False
        Data and target as pandas objects.

    Returns
    -------
    sklearn.utils.Bunch
        See :func:`columnist.datasets.fetch`.

    Examples
    --------
    >>> from columnist.datasets import {set.function}
    >>> {set.function}().data.shape  # doctest: +SKIP
    ({set.n_samples}, {set.n_features})
    """


# -- downloads --------------------------------------------------------------------


class DataNotAvailable(OSError):
    """A data set is not available and could not be downloaded; the message says what to do."""


def download_dataset(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    timeout: float = 30.0,
    progress: Progress | None = None,
) -> list[Path]:
    """Download all missing files of a data set to the data home.

    Parameters
    ----------
    name : str
        Name of the set.
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.
    timeout : float, default=30.0
        Seconds to wait for a server that does not answer.
    progress : callable or None, default=None
        Called with the file, the bytes received and the bytes expected.

    Returns
    -------
    list of pathlib.Path
        The files.

    Raises
    ------
    DataNotAvailable
        If a file cannot be downloaded.

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
    for file in files:
        tried: dict[str, str] = {}
        path = home / file.path
        if download and not path.is_file():
            try:
                tried = download_file(file, home, timeout=timeout, progress=progress)
            except OSError as error:
                tried = {f"{path}": f"cannot be written ({error})"}
        if not path.is_file():
            raise DataNotAvailable(advice(dataset, file, home, tried))


def advice(dataset: Dataset, file: DataFile, home: Path, tried: dict[str, str]) -> str:
    """The message about missing files: where they were searched for, what failed, what to do."""
    lines = [f"The data set {dataset.name!r} needs the file {file.path}, which is not in {home}."]
    if tried:
        lines += ["Fetching it failed:", *(f"  {place}: {why}" for place, why in tried.items())]
    else:
        lines.append(f"It was not downloaded, as asked; columnist data fetch {dataset.name} does.")
    place = f"{home / file.path}{' (gzipped)' if file.path.endswith('.gz') else ''}"
    lines.append(f"Set COLUMNIST_DATA to a folder that has it, or save it yourself as {place}.")
    if file.addresses:
        lines.append(f"A copy should be at {file.addresses[0]}")
    return "\n".join(lines)


# -- from files -------------------------------------------------------------------


def read_set(dataset: Dataset, home: Path) -> Bunch:
    """A set from its files, each of which is read once."""
    sources = dataset.data, dataset.target
    try:
        files = {(source.path, source.read) for source in sources}
        tables = {(path, read): read(home / path) for path, read in files}
        X, Y = (source.cut(tables[source.path, source.read]) for source in sources)
        head = dataset.head(home)
    except MemoryError:
        raise
    except Exception as error:  # a reader may raise anything on a damaged file
        raise unreadable(dataset, home, f"cannot be read ({error})") from error
    expected = (dataset.n_samples, dataset.n_features)
    if X.shape != expected or Y.shape[0] != dataset.n_samples:
        found = " x ".join(map(str, X.shape))
        raise unreadable(dataset, home, f"holds {found} values, not {expected[0]} x {expected[1]}")
    names = [attribute.name.strip("'") for attribute in head]  # some are quoted twice
    target, target_names = as_target(dataset, Y, head)
    found = Bunch(
        data=X,
        target=target,
        feature_names=feature_names(dataset, names),
        target_names=target_names,
        DESCR=dataset.description,
        filename=str(home / dataset.data.path),
    )
    if dataset.images:
        found.images = X.reshape(-1, *dataset.images)
    return found


def unreadable(dataset: Dataset, home: Path, what: str) -> ValueError:
    """A file that is there is not the one it should be."""
    path = home / dataset.data.path
    return ValueError(f"{path} {what}: remove it, then columnist data fetch {dataset.name}.")


def feature_names(dataset: Dataset, names: list[str]) -> list[str] | None:
    """The file's names of the features, or made ones if they are not too many."""
    if names:
        return names[dataset.data.first : dataset.data.last]
    if dataset.feature_names:
        return list(dataset.feature_names)
    m = dataset.n_features
    return [f"x{i}" for i in range(m)] if m <= _MOST_NAMES else None


def as_target(dataset: Dataset, Y: Matrix, head: list[Attribute]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of classes, or columns of labels or targets; and their names."""
    Y = Y.toarray() if sp.issparse(Y) else Y
    own = head[dataset.target.first : dataset.target.last]
    if dataset.kind != "classes":
        target = Y.astype(np.int64) if dataset.kind == "labels" else Y
        return target, np.array([attribute.name.strip("'") for attribute in own])
    classes, target = np.unique(Y[:, 0].astype(np.int64), return_inverse=True)
    if dataset.class_names:
        names = [dataset.class_names[c] for c in classes]
    elif own and own[0].text:
        names = [own[0].values[c] for c in classes]
    else:
        names = [str(c) for c in classes]
    return target, np.array(names)


def add_frames(found: Bunch, dataset: Dataset) -> None:
    """Data and target as pandas objects, apart and side by side."""
    if sp.issparse(found.data):
        raise ValueError(f"{dataset.name} is sparse: as_frame would make it dense.")
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame needs pandas: pip install pandas") from error
    found.data = pd.DataFrame(found.data, columns=found.feature_names)
    if found.target.ndim == 1:
        found.target = pd.Series(found.target, name="target")
    else:
        found.target = pd.DataFrame(found.target, columns=found.target_names)
    found.frame = pd.concat([found.data, found.target], axis=1)
