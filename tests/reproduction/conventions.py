"""The data and the criteria of the printed column searches, as the tests use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten, Spectral
from columnist.datasets._catalogue import Matrix, Source
from reproduction.data import Data
from tests.real_data import data_folder, load_libras, load_spectf, load_vehicle, require

__all__ = ["CRITERIA", "DATASETS", "KEYS", "Power", "from_key", "tables_data"]

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


@dataclass(frozen=True)
class Power(Criterion):
    """A criterion to a power: the same order of subsets, another rule f + eps u."""

    base: Criterion
    power: float
    name: ClassVar[str] = "power"

    def value(self, singular_values: np.ndarray) -> float:
        """``base.value(sigma) ** power``."""
        return self.base.value(singular_values) ** self.power


# The criteria as the printed weighted searches add them up: plain sums over the
# eigenvalues, so that the spectral norm enters its key squared.
KEYS: dict[str, Criterion] = {
    "schatten:0.5": Power(Schatten(0.5), 0.5),
    "nuclear": Nuclear(),
    "frobenius": Frobenius(),
    "spectral": Power(Spectral(), 2.0),
}


def from_key(criterion: str, value: float) -> float:
    """The printed figure for an error measured in ``KEYS``."""
    return value**0.5 if criterion == "spectral" else value


class RequiredData(Data):
    """The data of the printed tables; a test that asks for a set that is not here is skipped."""

    def load(self, source: Source, name: str) -> Matrix:
        require(source.path)
        return super().load(source, name)


def tables_data() -> Data:
    """The sets by name, as the printed tables ask for them."""
    return RequiredData(data_folder())
