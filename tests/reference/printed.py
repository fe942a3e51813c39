"""Printed figures of the two dissertations, and the conventions that settle them.

The figures are those that come with the package. The documents print squared
Frobenius (the first document) or its root (the second), the Schatten criterion
without its root (the first) or with it (the second); data are raw. Rows whose
print is wrong carry the printed figure; the tests say what is right.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import ClassVar

import numpy as np

from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten, Spectral
from columnist.reproduce.cells import agrees, last_unit
from columnist.reproduce.printed import printed
from tests.data import load_libras, load_spectf, load_vehicle

__all__ = [
    "CRITERIA",
    "DATASETS",
    "HE_3_1",
    "HE_3_2",
    "HE_3_3",
    "HE_3_4",
    "KEYS",
    "XU_5_3",
    "XU_5_4",
    "XU_5_5",
    "Power",
    "agrees",
    "as_printed_first",
    "as_printed_second",
    "from_key",
    "last_unit",
    "table",
]

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


def table(text: str) -> list[dict[str, str]]:
    """Rows of a small CSV string."""
    return list(csv.DictReader(StringIO(text.strip())))


def as_printed_first(criterion: str, error: float) -> float:
    """The first document's figure for our error: the sum of sigma^0.5 has no root."""
    return error**0.5 if criterion == "schatten:0.5" else error


def as_printed_second(criterion: str, error: float) -> float:
    """The second document's figure for our error: Frobenius is the norm itself."""
    return error**0.5 if criterion == "frobenius" else error


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


XU_5_3 = printed("xu-5.3")
"""First document, table 5.3: optimal and sub-optimal A* (f + eps g)."""

XU_5_4 = printed("xu-5.4")
"""First document, table 5.4, spectral; two sizes of vehicle are misprinted."""

XU_5_5 = printed("xu-5.5")
"""First document, table 5.5: the hybrid optimum, and optimal selection followed by PCA."""

HE_3_1 = printed("he-3.1")
"""Second document, table 3.1: f, f + eps u, u with both bounds; empty where none is printed."""

HE_3_2 = printed("he-3.2")
"""Second document, table 3.2, vehicle; Schatten is the square of a rounded figure."""

HE_3_3 = printed("he-3.3")
"""Second document, table 3.3; the Schatten exponents are misprinted."""

HE_3_4 = printed("he-3.4")
"""Second document, table 3.4; the rows for Frobenius are those of the optimal choice."""
