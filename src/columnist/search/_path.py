"""Choices of growing size, each with a certificate: what all paths have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

__all__ = ["CertifiedPath", "tightened"]


@dataclass(frozen=True)
class CertifiedPath(Sequence):
    """A sequence of steps, named tuples with a field ``certificate``.

    Attributes
    ----------
    steps : tuple
        One per size, the smallest first.
    """

    steps: tuple[Any, ...]

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index):
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.steps)

    @property
    def errors(self) -> np.ndarray:
        """Error of each step."""
        return np.array([step.certificate.error for step in self.steps])

    @property
    def lower_bounds(self) -> np.ndarray:
        """Proven lower bound for each step."""
        return np.array([step.certificate.lower_bound for step in self.steps])


def tightened(steps: Sequence[Any]) -> tuple[Any, ...]:
    """A larger choice never has a larger optimum, so its bound holds for smaller ones too."""
    best, result = -np.inf, []
    for step in reversed(steps):
        best = max(best, step.certificate.lower_bound)
        bound = min(best, step.certificate.error)
        result.append(step._replace(certificate=replace(step.certificate, lower_bound=bound)))
    return tuple(result[::-1])
