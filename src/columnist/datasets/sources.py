"""The printed data sets and how to read their files.

Values are raw: no scaling, no centring. The folder of the files is the caller's business.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from columnist.io import arff

__all__ = ["SOURCES", "TARGETS", "Matrix", "Source", "read_arff", "read_table"]

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


def read_complete(path: Path) -> np.ndarray:
    """The rows without a missing value."""
    table = read_table(path)
    return table[~np.isnan(table).any(axis=1)]


def read_patients(path: Path) -> np.ndarray:
    """The numbers behind a patient's code and diagnosis."""
    return np.array([line.split(",")[2:] for line in text_lines(path)], dtype=np.float64)


def read_diagnoses(path: Path) -> np.ndarray:
    """A patient's diagnosis as one column: 0 is malignant, 1 benign."""
    return np.array([["MB".index(line.split(",")[1])] for line in text_lines(path)], dtype=float)


def read_mat(path: Path) -> np.ndarray:
    """Matrix X of a MATLAB file."""
    return scipy.io.loadmat(path)["X"].astype(np.float64)


def read_faces(path: Path) -> np.ndarray:
    """Square grey images of a MATLAB file, one a row, pixels along the rows of an image."""
    content = scipy.io.loadmat(path)
    X = content["fea" if "fea" in content else "X"]
    side = round(X.shape[1] ** 0.5)
    return by_rows(X, (side, side))


def read_pixels(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """Grey images of a MATLAB file with this height and width, pixels along their rows."""
    content = scipy.io.loadmat(path)
    return by_rows(content["fea" if "fea" in content else "X"], shape)


def by_rows(X: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Pixels along the rows of an image, where MATLAB has them along the columns."""
    images = X.astype(np.float64).reshape(-1, *shape[::-1])
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


@cache
def whole_file(read: Callable[[Path], Matrix], path: Path) -> Matrix:
    """X and y often stand in one file: it is read once."""
    return read(path)


@dataclass(frozen=True)
class Source:
    """Columns ``first`` to ``last`` of a file, of its first ``n_rows`` rows."""

    path: str
    read: Callable[[Path], Matrix] = read_table
    first: int | None = None
    last: int | None = None
    n_rows: int | None = None

    def load(self, folder: Path) -> Matrix:
        """The matrix; nobody can change a dense one by accident, for files are read once."""
        table = self.cut(whole_file(self.read, folder / self.path))
        if not sp.issparse(table):
            table.setflags(write=False)
        return table

    def cut(self, table: Matrix) -> Matrix:
        """These columns and rows of the whole file."""
        part = table[: self.n_rows, self.first : self.last]
        return part if sp.issparse(part) else np.ascontiguousarray(part)


SOURCES: dict[str, Source] = {
    "vehicle": Source("vehicle/vehicle.arff", read_arff, last=-1),  # 846 x 18
    "spectf": Source("spectf/spectf.csv"),  # 267 x 45: the label counts as a column
    "libras": Source("libras/movement_libras.data.gz", last=-1),  # 360 x 90
    "wdbc raw": Source("wdbc/wdbc.data", read_patients),  # 569 x 30
    "iris": Source("iris/iris.arff", read_arff, last=-1),  # 150 x 4
    "wine": Source("wine/wine.arff", read_arff, first=1),  # 178 x 13
    "glass": Source("glass/glass.arff", read_arff, last=-1),  # 214 x 9
    "ionosphere": Source("ionosphere/ionosphere.arff", read_arff, last=-1),  # 351 x 34
    "lung-cancer": Source("lung-cancer/lung-cancer.data", read_complete),  # 27 x 57
    "madelon": Source("madelon/madelon.mat", read_mat, n_rows=2000),  # 2000 x 500, training rows
    "isolet5": Source("isolet5/isolet5.data.gz", last=-1),  # 1559 x 617
    "isolet5+label": Source("isolet5/isolet5.data.gz"),  # 1559 x 618
    "cnae9": Source("cnae-9/cnae-9.csv.gz", read_words, last=-1),  # 1080 x 856
    "cnae9+label": Source("cnae-9/cnae-9.csv.gz", read_words),  # 1080 x 857
    "farm-ads": Source("farm-ads/X_raw.npz", read_npz),  # 4143 x 54877, sparse
    "url-mini": Source("url-mini/Day0_mini.svm", read_days),  # 1200 x 3231961, sparse
    "arcene": Source("arcene/arcene_train.data.gz", read_words),  # 100 x 10000, training rows
    "emotions": Source("emotions/emotions.arff.gz", read_arff, last=-6),  # 593 x 72
    "scene": Source("scene/scene-train.arff.gz", read_train_and_test, last=-6),  # 2407 x 294
    "yeast": Source("yeast/yeast.arff.gz", read_arff, last=-14),  # 2417 x 103
    "medical": Source("medical/medical.arff", read_arff, last=-45),  # 978 x 1449, sparse
    "enron": Source("enron/enron.arff.gz", read_arff, last=-53),  # 1702 x 1001, sparse
    "yale": Source("yale/Yale_64x64.mat", read_faces),  # 165 x 4096, 11 images a person
    "olivetti": Source("olivetti/ORL_64x64.mat", read_faces),  # 400 x 4096, 10 images a person
    "tox-171": Source("tox-171/TOX-171.mat", read_mat),  # 171 x 5748
    "warppie10p": Source("warppie10p/warpPIE10P.mat", read_mat),  # 210 x 2420
    "orlraws10p": Source("orlraws10p/orlraws10P.mat", read_mat),  # 100 x 10304
    "pixraw10p": Source("pixraw10p/pixraw10P.mat", read_mat),  # 100 x 10000
    "warpar10p": Source("warpar10p/warpAR10P.mat", read_mat),  # 130 x 2400
    "lung_small": Source("lung_small/lung_small.mat", read_mat),  # 73 x 325
    "glioma": Source("glioma/GLIOMA.mat", read_mat),  # 50 x 4434
    "prostate-ge": Source("prostate-ge/Prostate-GE.mat", read_mat),  # 102 x 5966
}

TARGETS: dict[str, Source] = {
    "isolet5": Source("isolet5/isolet5.data.gz", first=-1),
    "farm-ads": Source("farm-ads/y_raw.npy", read_npy),
    "arcene": Source("arcene/arcene_train.labels"),
    "emotions": Source("emotions/emotions.arff.gz", read_arff, first=-6),
    "scene": Source("scene/scene-train.arff.gz", read_train_and_test, first=-6),
    "yeast": Source("yeast/yeast.arff.gz", read_arff, first=-14),
    "medical": Source("medical/medical.arff", read_arff, first=-45),
    "enron": Source("enron/enron.arff.gz", read_arff, first=-53),
    "yale": Source("yale/Yale_64x64.mat", read_persons),
    "olivetti": Source("olivetti/ORL_64x64.mat", read_persons),
    "tox-171": Source("tox-171/TOX-171.mat", read_persons),  # 171 x 5748
    "warppie10p": Source("warppie10p/warpPIE10P.mat", read_persons),  # 210 x 2420
    "orlraws10p": Source("orlraws10p/orlraws10P.mat", read_persons),  # 100 x 10304
    "pixraw10p": Source("pixraw10p/pixraw10P.mat", read_persons),  # 100 x 10000
    "warpar10p": Source("warpar10p/warpAR10P.mat", read_persons),  # 130 x 2400
    "lung_small": Source("lung_small/lung_small.mat", read_persons),  # 73 x 325
    "glioma": Source("glioma/GLIOMA.mat", read_persons),  # 50 x 4434
    "prostate-ge": Source("prostate-ge/Prostate-GE.mat", read_persons),  # 102 x 5966
}
