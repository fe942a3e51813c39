"""The documents' sets from the data home; what is missing there is downloaded."""

from __future__ import annotations

import os
from collections.abc import Callable

from sklearn.utils import Bunch

from columnist.datasets._catalogue import CATALOGUE, Dataset, find_dataset
from columnist.datasets._download import Progress
from columnist.datasets._home import data_home as resolve_home
from columnist.datasets._obtain import ensure
from columnist.datasets._read import add_frames, read_set

__all__ = ["fetch", "named_fetchers"]


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    download: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    progress: Progress | None = None,
) -> Bunch | tuple:
    """A set of the documents, from the data home or else from its public source.

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
        Is told of a download: the file, how many bytes are there and how many are expected.

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
        If a file is missing and cannot be had.

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
    fetch_one.__doc__ = _DOC.format(
        first=summary(dataset),
        function=dataset.function,
        n_samples=dataset.n_samples,
        n_features=dataset.n_features,
    )
    return fetch_one


_DOC = """{first}

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
    >>> from columnist.datasets import {function}
    >>> {function}().data.shape  # doctest: +SKIP
    ({n_samples}, {n_features})
    """


def summary(dataset: Dataset) -> str:
    """A line about a set and where it comes from."""
    return (
        f"{dataset.title}: {dataset.n_samples} x {dataset.n_features}, {dataset.n_targets} "
        f"{dataset.kind}.\n\n    Source: {dataset.origin.name}. {dataset.note}"
    ).rstrip()
