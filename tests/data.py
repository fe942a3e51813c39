"""Real data sets of the printed tables, read from the folder ``COLUMNIST_DATA``.

The variable is unset on a user's machine: the tests are then skipped. Once it
is set, a missing file is a failure, so that a skip never hides one.
"""

from __future__ import annotations

import gzip
import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

__all__ = [
    "load_cnae9",
    "load_farm_ads",
    "load_isolet5",
    "load_libras",
    "load_lung_cancer",
    "load_madelon",
    "load_spectf",
    "load_vehicle",
    "load_wdbc",
]


def data_path(*parts: str) -> Path:
    """Path of one file in the data folder: skips without a folder, fails without the file."""
    home = os.environ.get("COLUMNIST_DATA")
    if not home:
        pytest.skip("COLUMNIST_DATA is not set")
    path = Path(home).joinpath(*parts)
    if not path.is_file():
        pytest.fail(f"COLUMNIST_DATA is set, but {path} is missing", pytrace=False)
    return path


def read_rows(path: Path, separator: str | None = ",") -> list[list[str]]:
    """Fields of every data line of a plain or gzipped text file; ARFF headers are skipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="latin-1") as lines:
        kept = (line.strip() for line in lines)
        return [
            [field.strip() for field in line.split(separator)]
            for line in kept
            if line and line[0] not in "%@"
        ]


def frozen(values: object) -> np.ndarray:
    """A float64 array that nobody can change by accident: the loaders are cached."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def split_label(rows: list[list[str]], label: bool) -> np.ndarray:
    """All columns, or all but the last."""
    table = np.array(rows, dtype=np.float64)
    return frozen(table if label else table[:, :-1])


@lru_cache
def load_vehicle() -> np.ndarray:
    """Vehicle silhouettes, 846 x 18."""
    rows = read_rows(data_path("vehicle", "vehicle.arff"))
    return frozen([[float(field) for field in row[:-1]] for row in rows])


@lru_cache
def load_spectf(label: bool = True) -> np.ndarray:
    """SPECTF heart, 267 x 45: the printed tables count the label as a column."""
    return split_label(read_rows(data_path("spectf", "spectf.csv")), label)


@lru_cache
def load_libras() -> np.ndarray:
    """Libras movement, 360 x 90."""
    return split_label(read_rows(data_path("libras", "movement_libras.data.gz")), label=False)


@lru_cache
def load_wdbc(standardised: bool = False) -> np.ndarray:
    """Breast cancer Wisconsin, 569 x 30; optionally mean 0 and standard deviation 1."""
    rows = read_rows(data_path("wdbc", "wdbc.data"))
    X = np.array([row[2:] for row in rows], dtype=np.float64)
    return frozen((X - X.mean(axis=0)) / X.std(axis=0) if standardised else X)


@lru_cache
def load_madelon() -> np.ndarray:
    """Madelon, the training rows, 2000 x 500."""
    return frozen(scipy.io.loadmat(data_path("madelon", "madelon.mat"))["X"][:2000])


@lru_cache
def load_isolet5(label: bool = True) -> np.ndarray:
    """ISOLET part 5, 1559 x 618 with the label as the last column, else 1559 x 617."""
    return split_label(read_rows(data_path("isolet5", "isolet5.data.gz")), label)


@lru_cache
def load_cnae9(label: bool = True) -> np.ndarray:
    """CNAE-9, 1080 x 857 with the label as the last column, else 1080 x 856."""
    return split_label(read_rows(data_path("cnae-9", "cnae-9.csv.gz"), None), label)


@lru_cache
def load_lung_cancer() -> np.ndarray:
    """Lung cancer, 27 x 57: the rows without missing values, the label is the first column."""
    rows = read_rows(data_path("lung-cancer", "lung-cancer.data"))
    return frozen([[float(field) for field in row] for row in rows if "?" not in row])


@lru_cache
def load_farm_ads(n_rows: int | None = None) -> sp.csr_array:
    """Farm ads, 4143 x 54877, sparse and binary.

    With ``n_rows`` only the rows with the most words (ties to the earlier row)
    and, of the columns, only those that occur in them.
    """
    X = sp.csr_array(sp.load_npz(data_path("farm-ads", "X_raw.npz")), dtype=np.float64)
    if n_rows is None:
        return X
    densest = np.argsort(-np.diff(X.indptr), kind="stable")[:n_rows]
    rows = X[np.sort(densest)]
    return rows[:, np.unique(rows.indices)]
