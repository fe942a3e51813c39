"""The data and the criteria of the printed column searches, as the tests use them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten, Spectral
from columnist.datasets._catalogue import Matrix, Source
from reproduction.data import Data
from reproduction.weighted_search import KEYS, from_key
from tests.real_data import data_folder, load_libras, load_spectf, load_vehicle, require

__all__ = ["CRITERIA", "DATASETS", "KEYS", "from_key", "tables_data"]

DATASETS: dict[str, Callable[[], np.ndarray]] = {
    "vehicle": load_vehicle,
    "spectf": load_spectf,
    "libras": load_libras,
}

CRITERIA: dict[str, Criterion] = {
    "schatten:0.5": Schatten(0.5),
    "nuclear": Nuclear(),
    "frobenius": Frobenius(),
    "spectral": Spectral(),
}


class RequiredData(Data):
    """The data of the printed tables; a test that asks for a set that is not here is skipped."""

    def load(self, source: Source, name: str) -> Matrix:
        require(source.path)
        return super().load(source, name)


def tables_data() -> Data:
    """The sets by name, as the printed tables ask for them."""
    return RequiredData(data_folder())
