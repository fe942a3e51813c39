"""Numerical kernels that several families share: no estimators, no validation.

For authors of selectors and problems: ranking with ties, reduction of the data to a small matrix,
and bounds on rounding errors.
"""

from columnist.linalg._reduce import Reduced, reduce_data, reduce_gram
from columnist.linalg._rounding import AGREEMENT, EPS, agrees, allowance, growth, negligible
from columnist.linalg._ties import TIE, first_largest, ranked

__all__ = [
    "AGREEMENT", "EPS", "TIE", "Reduced", "agrees", "allowance", "first_largest", "growth",
    "negligible", "ranked", "reduce_data", "reduce_gram",
]  # fmt: skip
