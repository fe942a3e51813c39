"""The matrices of the printed experiments, and the files of the data home that hold them.

Values are raw: no scaling, no centring. Tests and benchmarks use the same matrices by the same
names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from columnist.datasets._catalogue import (
    Matrix,
    Source,
    read_arff,
    read_days,
    read_mat,
    read_npy,
    read_npz,
    read_patients,
    read_persons,
    read_pixels,
    read_table,
    read_train_and_test,
    read_words,
)

__all__ = ["SOURCES", "TARGETS", "load"]

FACES = partial(read_pixels, shape=(64, 64))


def read_complete(path: Path) -> np.ndarray:
    """The rows without a missing value."""
    table = read_table(path)
    return table[~np.isnan(table).any(axis=1)]


@cache
def whole_file(read: Callable[[Path], Matrix], path: Path) -> Matrix:
    """X and y are often in one file: it is read once."""
    return read(path)


def load(source: Source, folder: Path) -> Matrix:
    """A matrix of the folder; a dense one is read-only, because files are read once."""
    table = source.cut(whole_file(source.read, folder / source.path))
    if not sp.issparse(table):
        table.setflags(write=False)
    return table


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
    "yale": Source("yale/Yale_64x64.mat", FACES),  # 165 x 4096, 11 images a person
    "olivetti": Source("olivetti/ORL_64x64.mat", FACES),  # 400 x 4096, 10 images a person
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
