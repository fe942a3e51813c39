"""What there is to fetch."""

from __future__ import annotations

import os
from dataclasses import dataclass

from columnist.datasets._catalogue import CATALOGUE, find_dataset
from columnist.datasets._home import data_home as resolve_home

__all__ = ["DatasetInfo", "describe", "list_datasets"]


@dataclass(frozen=True)
class DatasetInfo:
    """A line of :func:`list_datasets`."""

    name: str
    """What to call it."""
    title: str
    """What it is."""
    shape: tuple[int, int]
    """Samples and features."""
    kind: str
    """``"classes"``, ``"labels"`` (several may apply) or ``"targets"`` (numbers)."""
    n_targets: int
    """How many of these."""
    source: str
    """Where it comes from."""
    present: bool
    """Whether the files that are read lie in the data home."""
    size: int
    """Bytes of these files, unpacked."""


def list_datasets(data_home: str | os.PathLike | None = None) -> list[DatasetInfo]:
    """All sets that can be fetched.

    Parameters
    ----------
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.

    Returns
    -------
    list of DatasetInfo

    Examples
    --------
    >>> from columnist.datasets import list_datasets
    >>> next((s.name, s.shape, s.kind) for s in list_datasets() if s.name == "isolet5")
    ('isolet5', (1559, 617), 'classes')
    """
    home = resolve_home(data_home)
    return [
        DatasetInfo(
            name=dataset.name,
            title=dataset.title,
            shape=(dataset.n_samples, dataset.n_features),
            kind=dataset.kind,
            n_targets=dataset.n_targets,
            source=dataset.origin.name,
            present=all((home / file.path).is_file() for file in dataset.needed),
            size=sum(file.bytes for file in dataset.needed),
        )
        for dataset in CATALOGUE.values()
    ]


def describe(name: str) -> str:
    """What a set is, where it comes from, what to cite and what its licence is.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    str

    Examples
    --------
    >>> from columnist.datasets import describe
    >>> print(describe("slump"))
    Concrete slump (slump)
    <BLANKLINE>
    103 samples, 7 features, 3 numbers to predict.
    Source: Mulan, multi-target regression sets.
    Cite: E. Spyromitros-Xioufis, ...
    Licence: No licence of the data is known to us: ask before you redistribute them.
    Files: slump/slump.arff.
    """
    return find_dataset(name).description
