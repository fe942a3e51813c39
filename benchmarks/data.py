"""Data sets of the benchmarks: from scikit-learn, or from a folder with the printed sets."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import scipy.io
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale

__all__ = ["Sets"]

# Name -> file below the data folder, for what scikit-learn does not bring along.
FILES = {
    "vehicle": "vehicle/vehicle.arff",
    "spectf": "spectf/spectf.csv",
    "libras": "libras/movement_libras.data.gz",
    "madelon": "madelon/madelon.mat",
    "isolet5": "isolet5/isolet5.data.gz",
    "isolet5+label": "isolet5/isolet5.data.gz",
}


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

    def these(self, *names: str) -> Iterator[tuple[str, np.ndarray]]:
        """(name, matrix) of those that are there, in this order; says which are not."""
        for name in names:
            if self.only and name not in self.only:
                continue
            if name not in FILES:
                yield name, bundled(name)
            elif self.folder is None:
                self.say(f"skipped {name}: no data folder (--data or COLUMNIST_DATA)")
            elif not (path := self.folder / FILES[name]).is_file():
                self.say(f"skipped {name}: the data folder has no {FILES[name]}")
            else:
                yield name, from_file(name, path)


@cache
def bundled(name: str) -> np.ndarray:
    """A set of scikit-learn: wdbc standardised (569 x 30), digits without constant columns."""
    if name == "wdbc":
        return scale(load_breast_cancer().data)
    if name == "digits":
        X = load_digits().data
        return X[:, np.ptp(X, axis=0) > 0.0]
    raise KeyError(name)


@cache
def from_file(name: str, path: Path) -> np.ndarray:
    """A set from its file, as it is: no scaling.

    vehicle 846 x 18, spectf 267 x 45 (the label counts as a column), libras 360 x 90,
    madelon 2000 x 500 (training rows), isolet5 1559 x 617, or 618 with the label.
    """
    if name == "madelon":
        return np.array(scipy.io.loadmat(path)["X"][:2000], dtype=np.float64)
    rows = text_rows(path)
    keeps_last = name in ("spectf", "isolet5+label")
    return np.array([row if keeps_last else row[:-1] for row in rows], dtype=np.float64)


def text_rows(path: Path) -> list[list[str]]:
    """Comma-separated fields of every line; comments and ARFF headers are skipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="latin-1") as lines:
        kept = (line.strip() for line in lines)
        return [line.split(",") for line in kept if line and line[0] not in "%@"]
