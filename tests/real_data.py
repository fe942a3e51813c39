"""Real data sets of the printed tables, read from the folder ``COLUMNIST_DATA``.

The variable is unset on a user's machine. The small sets in ``tests/uci`` are used then, and tests
that need others are skipped. Once it is set, a missing file is a failure, so that a skip never
hides one.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from columnist.datasets._catalogue import Matrix, Source
from reproduction import sources
from reproduction.sources import SOURCES, TARGETS

__all__ = [
    "SHIPPED",
    "data_folder",
    "load_arcene",
    "load_cnae9",
    "load_farm_ads",
    "load_isolet5",
    "load_libras",
    "load_lung_cancer",
    "load_madelon",
    "load_multilabel",
    "load_samples",
    "load_spectf",
    "load_vehicle",
    "load_wdbc",
    "require",
]

SHIPPED = Path(__file__).parent / "uci"


def data_folder() -> Path:
    """Where the files are: the folder named by the environment, or the small sets beside this."""
    return Path(os.environ.get("COLUMNIST_DATA") or SHIPPED)


def require(path: str) -> Path:
    """The folder, if it holds this file. Otherwise the test is skipped, or fails."""
    folder = data_folder()
    if (folder / path).is_file():
        return folder
    if folder == SHIPPED:
        # One reason for all of them, which pytest reports in one line.
        pytest.skip("COLUMNIST_DATA is not set: needs a data set that does not come with the tests")
    pytest.fail(f"COLUMNIST_DATA is set, but {folder / path} is missing", pytrace=False)


def load(source: Source) -> Matrix:
    """One matrix of the data folder."""
    return sources.load(source, require(source.path))


def load_vehicle() -> np.ndarray:
    """Vehicle silhouettes, 846 x 18."""
    return load(SOURCES["vehicle"])


def load_spectf(label: bool = True) -> np.ndarray:
    """SPECTF heart, 267 x 45: the printed tables count the label as a column."""
    X = load(SOURCES["spectf"])
    return X if label else X[:, :-1]


def load_libras() -> np.ndarray:
    """Libras movement, 360 x 90."""
    return load(SOURCES["libras"])


def load_wdbc(standardised: bool = False) -> np.ndarray:
    """Breast cancer Wisconsin, 569 x 30; optionally mean 0 and standard deviation 1."""
    X = load(SOURCES["wdbc raw"])
    return (X - X.mean(axis=0)) / X.std(axis=0) if standardised else X


def load_madelon() -> np.ndarray:
    """Madelon, the training rows, 2000 x 500."""
    return load(SOURCES["madelon"])


def load_isolet5(label: bool = True) -> np.ndarray:
    """ISOLET part 5, 1559 x 618 with the label as the last column, else 1559 x 617."""
    return load(SOURCES["isolet5+label" if label else "isolet5"])


def load_cnae9(label: bool = True) -> np.ndarray:
    """CNAE-9, 1080 x 857 with the label as the last column, else 1080 x 856."""
    return load(SOURCES["cnae9+label" if label else "cnae9"])


def load_lung_cancer() -> np.ndarray:
    """Lung cancer, 27 x 57: the rows without missing values, the label is the first column."""
    return load(SOURCES["lung-cancer"])


def load_samples(name: str) -> np.ndarray:
    """Features of iris (150 x 4), wine (178 x 13), glass (214 x 9) or ionosphere (351 x 34)."""
    return load(SOURCES[name])


def load_arcene() -> tuple[np.ndarray, np.ndarray]:
    """Arcene, the training rows, 100 x 10000, and their labels -1 and 1."""
    return load(SOURCES["arcene"]), load(TARGETS["arcene"])[:, 0]


def load_multilabel(name: str) -> tuple[Matrix, np.ndarray]:
    """X and the labels of emotions, scene, yeast (dense), medical or enron (sparse)."""
    X, Y = load(SOURCES[name]), load(TARGETS[name])
    return X, Y.toarray() if sp.issparse(Y) else Y


@lru_cache
def load_farm_ads(n_rows: int | None = None) -> sp.csr_array:
    """Farm ads, 4143 x 54877, sparse and binary.

    With ``n_rows`` only the rows with the most words (ties to the earlier row)
    and, of the columns, only those that occur in them.
    """
    X = load(SOURCES["farm-ads"])
    if n_rows is None:
        return X
    densest = np.argsort(-np.diff(X.indptr), kind="stable")[:n_rows]
    rows = X[np.sort(densest)]
    return rows[:, np.unique(rows.indices)]
