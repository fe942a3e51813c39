"""The matrices of the printed experiments, from the data home."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from columnist.datasets._catalogue import Matrix, Source
from reproduction.sources import SOURCES, TARGETS, load

__all__ = ["Data", "MissingData"]


class MissingData(Exception):
    """A data set is not here; the message says how to get it."""


@dataclass(frozen=True)
class Data:
    """Matrices by the names of :data:`reproduction.sources.SOURCES`.

    Equal folders make equal objects, so that tables can keep what they computed from them.

    Attributes
    ----------
    home : path
        Folder of the files.
    """

    home: str | Path

    def matrix(self, name: str) -> Matrix:
        """X of a set, raw, as the documents use it; read-only."""
        return self.load(SOURCES[name], name)

    def labels(self, name: str) -> np.ndarray:
        """Targets of a set, one column each."""
        Y = self.load(TARGETS[name], name)
        return Y.toarray() if sp.issparse(Y) else Y

    def load(self, source: Source, name: str) -> Matrix:
        """A matrix of the data home, or :class:`MissingData`."""
        home = Path(self.home)
        if not (home / source.path).is_file():
            raise MissingData(f"needs the data set {name}: columnist data fetch {name}")
        return load(source, home)
