"""Printed figures of the two dissertations, and the conventions that settle them.

Figures are strings, so that the last printed digit is known. The documents print
squared Frobenius (the first document) or its root (the second), the Schatten
criterion without its root (the first) or with it (the second); data are raw.
Rows whose print is wrong carry the printed figure here; the tests say what is right.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import ClassVar

import numpy as np

from columnist.criteria import Criterion, Frobenius, Nuclear, Schatten, Spectral
from tests.data import load_libras, load_spectf, load_vehicle

DATASETS: dict[str, Callable[[], np.ndarray]] = {
    "vehicle": load_vehicle,
    "spectf": load_spectf,
    "libras": load_libras,
}

CRITERIA: dict[str, Criterion] = {
    "schatten": Schatten(0.5),
    "nuclear": Nuclear(),
    "frobenius": Frobenius(),
    "spectral": Spectral(),
}


def table(text: str) -> list[dict[str, str]]:
    """Rows of a small CSV string."""
    return list(csv.DictReader(StringIO(text.strip())))


def last_unit(printed: str) -> float:
    """One unit of the last printed digit: 0.1 for "1.252e2"."""
    mantissa, _, exponent = printed.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def agrees(value: float, printed: str, units: float = 1.0) -> bool:
    """Within one unit of the last printed digit: the documents round or truncate."""
    return abs(value - float(printed)) <= units * last_unit(printed) * (1 + 1e-9)


def as_printed_first(criterion: str, error: float) -> float:
    """The first document's figure for our error: the sum of sigma^0.5 has no root."""
    return error**0.5 if criterion == "schatten" else error


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
    "schatten": Power(Schatten(0.5), 0.5),
    "nuclear": Nuclear(),
    "frobenius": Frobenius(),
    "spectral": Power(Spectral(), 2.0),
}


def from_key(criterion: str, value: float) -> float:
    """The printed figure for an error measured in ``KEYS``."""
    return value**0.5 if criterion == "spectral" else value


XU_5_3 = table("""
dataset,r1,criterion,optimal,0.2,0.4,0.8
vehicle,5,schatten,1.252e2,1.252e2,1.252e2,1.252e2
vehicle,5,nuclear,1.399e3,1.403e3,1.569e3,1.569e3
vehicle,5,frobenius,2.229e5,2.983e5,2.983e5,2.983e5
vehicle,5,spectral,247.58,326.12,326.12,326.12
vehicle,10,schatten,5.799e1,5.799e1,5.799e1,5.799e1
vehicle,10,nuclear,4.668e2,5.202e2,5.202e2,5.202e2
vehicle,10,frobenius,3.603e4,4.731e4,4.731e4,5.064e4
vehicle,10,spectral,112.19,138.8,144.99,144.99
spectf,4,schatten,3.857e2,3.857e2,3.862e2,3.857e2
spectf,4,nuclear,4.029e3,4.029e3,4.029e3,4.033e3
spectf,4,frobenius,5.759e5,5.759e5,5.759e5,5.759e5
spectf,4,spectral,278.300,300.943,312.813,312.813
spectf,5,schatten,3.719e2,3.720e2,3.724e2,3.722e2
spectf,5,nuclear,3.814e3,3.814e3,3.817e3,3.817e3
spectf,5,frobenius,5.118e5,5.131e5,5.147e5,5.169e5
spectf,5,spectral,252.658,257.912,290.597,290.597
libras,3,schatten,5.391e1,5.392e1,5.392e1,5.393e1
libras,3,nuclear,8.116e1,8.122e1,8.122e1,8.105e1
libras,3,frobenius,5.601e2,5.601e2,6.299e2,6.323e2
libras,3,spectral,13.516,13.621,13.716,13.866
libras,4,schatten,5.074e1,5.074e1,5.075e1,5.076e1
libras,4,nuclear,6.844e1,6.853e1,6.853e1,6.848e1
libras,4,frobenius,3.576e2,3.627e2,3.963e2,3.963e2
libras,4,spectral,8.558,9.954,9.954,9.954
""")
"""First document, table 5.3: optimal and sub-optimal A* (f + eps g)."""

XU_5_4 = table("""
dataset,r1,optimal
vehicle,4,351.43
vehicle,5,247.58
vehicle,7,206.59
spectf,3,317.52
spectf,4,278.30
spectf,5,252.65
libras,3,13.51
libras,4,8.55
""")
"""First document, table 5.4, spectral; the vehicle rows are labelled 5, 6, 7 in print."""

XU_5_5 = table("""
dataset,r1,r2,criterion,hybrid,sequential
vehicle,4,6,schatten,5.490e1,5.649e1
vehicle,4,6,nuclear,4.187e2,4.438e2
vehicle,4,6,frobenius,2.942e4,3.170e4
vehicle,4,6,spectral,1.004e2,1.028e2
vehicle,6,4,schatten,5.538e1,5.672e1
vehicle,6,4,nuclear,4.266e2,4.531e2
vehicle,6,4,frobenius,3.057e4,3.415e4
vehicle,6,4,spectral,1.019e2,1.095e2
vehicle,6,6,schatten,3.547e1,3.646e1
vehicle,6,6,nuclear,2.292e2,2.476e2
vehicle,6,6,frobenius,1.131e4,1.294e4
vehicle,6,6,spectral,7.085e1,7.317e1
spectf,2,3,schatten,3.561e2,3.604e2
spectf,2,3,nuclear,3.443e3,3.547e3
spectf,2,3,frobenius,3.920e5,4.262e5
spectf,2,3,spectral,2.035e2,2.348e2
spectf,3,2,schatten,3.599e2,3.631e2
spectf,3,2,nuclear,3.523e3,3.670e3
spectf,3,2,frobenius,4.138e5,4.680e5
spectf,3,2,spectral,2.070e2,2.717e2
spectf,3,3,schatten,3.440e2,3.466e2
spectf,3,3,nuclear,3.280e3,3.399e3
spectf,3,3,frobenius,3.593e5,3.948e5
spectf,3,3,spectral,1.918e2,2.338e2
""")
"""First document, table 5.5: the hybrid optimum, and optimal selection followed by PCA."""

HE_3_1 = table("""
dataset,r1,criterion,optimal,0.2,0.4,0.8,greedy,a_priori,a_posteriori
vehicle,5,nuclear,1399.20,1402.64,1569.49,1569.49,1569.49,24490.7,270.83
vehicle,5,spectral,247.58,326.12,326.12,326.12,326.12,19600.32,82.66
vehicle,10,nuclear,466.85,520.18,520.18,520.18,520.18,25371.7,105.55
vehicle,10,spectral,112.19,138.80,144.99,144.99,148.60,19744.0,48.85
spectf,5,nuclear,3814.14,3814.14,3816.69,3817.42,3821.42,8334.75,435.57
spectf,5,spectral,252.69,257.91,290.60,290.60,280.45,6841.58,78.09
spectf,15,nuclear,,,2297.04,2292.79,2292.79,9850.00,457.51
spectf,15,spectral,,152.12,151.83,165.41,183.42,6938.17,82.43
libras,4,nuclear,68.44,68.53,68.53,68.48,71.55,135.88,11.03
libras,4,spectral,8.558,9.954,9.954,9.954,13.182,84.62,4.80
libras,30,nuclear,,6.134,6.185,6.322,6.322,189.90,1.89
libras,30,spectral,,0.343,0.351,0.351,0.712,92.80,0.50
""")
"""Second document, table 3.1: f, f + eps u, u with both bounds; empty where none is printed."""

HE_3_2 = table("""
r1,r2,schatten,nuclear,frobenius,spectral
0,10,2987.72,414.46,169.57,99.75
2,8,2993.18,415.43,170.04,99.77
4,6,3014.01,418.66,171.52,100.38
6,4,3066.94,426.56,174.85,101.94
8,2,3138.24,437.36,178.44,102.51
10,0,3362.84,466.85,189.81,112.19
""")
"""Second document, table 3.2, vehicle; Schatten is the square of a rounded figure."""

HE_3_3 = table("""
dataset,r1,r2,criterion,hybrid,sequential
vehicle,4,6,schatten,3.014e2,3.191e2
vehicle,4,6,nuclear,4.187e2,4.438e2
vehicle,4,6,frobenius,1.715e2,1.780e2
vehicle,4,6,spectral,1.004e2,1.028e2
vehicle,6,4,schatten,3.067e2,3.217e2
vehicle,6,4,nuclear,4.266e2,4.531e2
vehicle,6,4,frobenius,1.748e2,1.848e2
vehicle,6,4,spectral,1.019e2,1.095e2
vehicle,6,6,schatten,1.258e2,1.329e2
vehicle,6,6,nuclear,2.292e2,2.476e2
vehicle,6,6,frobenius,1.063e2,1.138e2
vehicle,6,6,spectral,7.085e1,7.317e1
spectf,2,3,schatten,1.268e3,1.299e3
spectf,2,3,nuclear,3.443e3,3.547e3
spectf,2,3,frobenius,6.261e2,6.528e2
spectf,2,3,spectral,2.035e2,2.348e2
spectf,3,2,schatten,1.295e3,1.318e3
spectf,3,2,nuclear,3.523e3,3.670e3
spectf,3,2,frobenius,6.433e2,6.841e2
spectf,3,2,spectral,2.070e2,2.717e2
spectf,3,3,schatten,1.183e3,1.201e3
spectf,3,3,nuclear,3.280e3,3.399e3
spectf,3,3,frobenius,5.994e2,6.283e2
spectf,3,3,spectral,1.918e2,2.338e2
""")
"""Second document, table 3.3; the Schatten exponents are misprinted."""

HE_3_4 = table("""
r1,r,l0,l1
1,10,0.562,0.92
5,10,0.472,0.831
9,10,0.342,0.71
""")
"""Second document, table 3.4, the vehicle rows for Frobenius."""
