"""How to read the files of the data sets.

Values are raw: no scaling, no centring. The folder of the files is the caller's business.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from columnist.io import _arff as arff

__all__ = ["Matrix", "Source", "read_arff", "read_table"]

Matrix: TypeAlias = np.ndarray | sp.csr_array
# The files do not say how wide the data are.
N_URL_FEATURES = 3231961


def read_arff(path: Path) -> Matrix:
    """All attributes of an ARFF file; named values count as their place in the list."""
    return arff.read_arff(path)[0]


def text_lines(path: Path) -> Iterator[str]:
    """Stripped lines of a plain or gzipped text file, without blanks and comments."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="latin-1") as lines:
        for line in lines:
            if (text := line.strip()) and text[0] != "%":
                yield text


def read_table(path: Path, separator: str | None = ",") -> np.ndarray:
    """A text file of numbers; ``?`` is missing (nan). No separator means blanks."""
    rows = (line.replace("?", "nan") for line in text_lines(path))
    return np.loadtxt(rows, delimiter=separator, comments=None, ndmin=2)


def read_words(path: Path) -> np.ndarray:
    """A table separated by blanks."""
    return read_table(path, None)


def read_patients(path: Path) -> np.ndarray:
    """The numbers behind a patient's code and diagnosis."""
    return np.array([line.split(",")[2:] for line in text_lines(path)], dtype=np.float64)


def read_diagnoses(path: Path) -> np.ndarray:
    """A patient's diagnosis as one column: 0 is malignant, 1 benign."""
    return np.array([["MB".index(line.split(",")[1])] for line in text_lines(path)], dtype=float)


def read_mat(path: Path) -> np.ndarray:
    """Matrix X of a MATLAB file."""
    return scipy.io.loadmat(path)["X"].astype(np.float64)


def read_pixels(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """Grey images of a MATLAB file with this height and width, pixels along their rows."""
    content = scipy.io.loadmat(path)
    X = content["fea" if "fea" in content else "X"]
    images = X.astype(np.float64).reshape(-1, *shape[::-1])  # MATLAB's pixels go along columns
    return images.transpose(0, 2, 1).reshape(X.shape)


def read_persons(path: Path) -> np.ndarray:
    """Who is on the images of a MATLAB file, counted from 1, as one column."""
    content = scipy.io.loadmat(path)
    return content["gnd" if "gnd" in content else "Y"].astype(np.float64)


def read_usps(path: Path) -> np.ndarray:
    """Digits of a MATLAB file that holds them by columns: training, then test samples."""
    content = scipy.io.loadmat(path)
    return np.hstack([content["traindata"], content["testdata"]]).T.astype(np.float64)


def read_usps_labels(path: Path) -> np.ndarray:
    """Labels of the digits, 10 for the digit 0, as one column."""
    content = scipy.io.loadmat(path)
    parts = [content[name].reshape(-1, 1) for name in ("trainlabel", "testlabel")]
    return np.vstack(parts).astype(np.float64)


def read_npz(path: Path) -> sp.csr_array:
    """A stored sparse matrix."""
    return sp.csr_array(sp.load_npz(path), dtype=np.float64)


def read_days(path: Path) -> sp.csr_array:
    """All files ``Day*`` of a folder of svmlight files, without their labels."""
    return sp.csr_array(sp.vstack([X for X, _ in day_files(path)]))


def read_day_labels(path: Path) -> np.ndarray:
    """The labels of all files ``Day*`` of a folder, as one column."""
    return np.concatenate([y for _, y in day_files(path)])[:, None]


def day_files(path: Path) -> list[tuple[sp.csr_matrix, np.ndarray]]:
    """Matrix and labels of every file ``Day*`` of a folder, by name."""
    days = sorted(path.parent.glob("Day*"))
    return [load_svmlight_file(str(day), n_features=N_URL_FEATURES) for day in days]


def read_npy(path: Path) -> np.ndarray:
    """A stored vector, as one column."""
    return np.load(path).astype(np.float64)[:, None]


def read_train_and_test(path: Path) -> np.ndarray:
    """The rows of ``*-train*``, then those of ``*-test*``."""
    parts = (path, path.with_name(path.name.replace("train", "test")))
    return np.vstack([read_arff(part) for part in parts])


@dataclass(frozen=True)
class Source:
    """Columns ``first`` to ``last`` of a file, of its first ``n_rows`` rows."""

    path: str
    read: Callable[[Path], Matrix] = read_table
    first: int | None = None
    last: int | None = None
    n_rows: int | None = None

    def cut(self, table: Matrix) -> Matrix:
        """These columns and rows of the whole file."""
        part = table[: self.n_rows, self.first : self.last]
        return part if sp.issparse(part) else np.ascontiguousarray(part)
