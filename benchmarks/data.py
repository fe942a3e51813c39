"""Data sets of the benchmarks: from scikit-learn, or from a folder with the printed sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from columnist.datasets import load_digits, load_wdbc
from columnist.datasets._catalogue import Matrix
from reproduction.sources import SOURCES, TARGETS, load

__all__ = ["Sets"]


class Sets:
    """The data sets that can be had here.

    Parameters
    ----------
    folder : path or None
        Folder of the files; without it only scikit-learn's sets are there.
    only : sequence of str
        Names to keep; all if empty.
    say : callable
        Receives one line per set that is skipped.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        only: Sequence[str] = (),
        say: Callable[[str], object] = print,
    ) -> None:
        self.folder = Path(folder) if folder else None
        self.only, self.say = only, say

    def these(self, *names: str) -> Iterator[tuple[str, Matrix]]:
        """(name, matrix) of those that are there, in this order; says which are not."""
        for name in names:
            if self.only and name not in self.only:
                continue
            if name not in SOURCES:
                yield name, bundled(name)
            elif self.folder is None:
                self.say(f"skipped {name}: no data folder (--data or COLUMNIST_DATA)")
            elif not (self.folder / SOURCES[name].path).is_file():
                self.say(f"skipped {name}: the data folder has no {SOURCES[name].path}")
            else:
                yield name, load(SOURCES[name], self.folder)

    def labelled(self, *names: str) -> Iterator[tuple[str, Matrix, np.ndarray]]:
        """(name, matrix, targets) of those that are there; a single target is one column."""
        for name, X in self.these(*names):
            Y = load(TARGETS[name], self.folder)
            yield name, X, Y.toarray() if sp.issparse(Y) else Y


@cache
def bundled(name: str) -> np.ndarray:
    """A set of scikit-learn: wdbc standardised (569 x 30), digits without constant columns."""
    if name == "wdbc":
        return load_wdbc(standardize=True).data
    if name == "digits":
        return load_digits().data
    raise KeyError(name)
