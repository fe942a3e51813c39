"""Acceleration of fixed-point iterations. No input validation."""

from __future__ import annotations

import numpy as np

__all__ = ["Anderson"]

# Weight, relative to the steps' energy, that keeps the combination of past steps short.
_RIDGE = 1e-10
# How far, in lengths of the plain step, a combination may go, and half of the first skip.
_REACH = 100.0
# Share of the old step's length that the step after an attempt must not exceed.
_DECREASE = 0.9
# Steps that differ by no more than this share of their length are a steady drift.
_ALIKE = 1e-2


class Anderson:
    r"""Anderson's mixing for an iteration :math:`v \leftarrow v + f(v)`, with a safeguard.

    Every few iterations the last steps are combined so that their sum cancels, as if f were
    affine, and the same combination of points is tried next; where the steps are all alike, many
    of them are made at once. Unless the step from there is clearly shorter, or still the same,
    the iteration goes back and forgets the past, so it converges wherever the plain one does.

    Parameters
    ----------
    memory : int, default=10
        Past steps to combine.
    period : int, default=5
        Iterations from one attempt to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from columnist.selection._anderson import Anderson
    >>> v, mixer = np.ones(3), Anderson()
    >>> for _ in range(6):
    ...     v = mixer.next(v, -np.array([0.1, 0.2, 0.3]) * v)
    >>> bool(np.linalg.norm(v) < 1e-5)
    True
    """

    def __init__(self, memory: int = 10, period: int = 5):
        self.memory, self.period = memory, period
        self.forget()

    def forget(self) -> None:
        """Start anew, for a map that has changed."""
        self.points: list[np.ndarray] = []
        self.steps: list[np.ndarray] = []
        self.count = 0
        self.tried, self.skip = False, _REACH

    def next(self, point: np.ndarray, step: np.ndarray) -> np.ndarray:
        """The point to go to from ``point``, where the map would make ``step``."""
        length = float(np.linalg.norm(step))
        if self.tried and not self._good(step, length):
            plain = self.points[-1] + self.steps[-1]
            self.forget()
            return plain
        self.points = [*self.points[-self.memory :], point]
        self.steps = [*self.steps[-self.memory :], step]
        self.count += 1
        self.tried = self.count % self.period == 0 and len(self.steps) > 2 and length > 0.0
        if not self.tried:
            return point + step
        if _alike(step, self.steps[-2], length):
            self.skip *= 2.0
            return point + self.skip * step
        correction = self._correction(step)
        excess = float(np.linalg.norm(correction)) / (_REACH * length)
        return point + step - correction / max(excess, 1.0)

    def _good(self, step: np.ndarray, length: float) -> bool:
        """Whether an attempt led to a clearly shorter step, or only skipped equal ones."""
        before = self.steps[-1]
        shorter = length <= _DECREASE * float(np.linalg.norm(before))
        return shorter or _alike(step, before, length)

    def _correction(self, step: np.ndarray) -> np.ndarray:
        """What past steps tell to leave out of the plain step."""
        turns = np.array([b - a for a, b in zip(self.steps, self.steps[1:], strict=False)])
        flat = turns.reshape(len(turns), -1)
        gram = flat @ flat.T
        gram[np.diag_indices_from(gram)] += max(_RIDGE * np.trace(gram), np.finfo(float).tiny)
        weights = np.linalg.solve(gram, flat @ step.ravel())
        correction = np.tensordot(weights, turns, axes=1)
        for weight, a, b in zip(weights, self.points, self.points[1:], strict=False):
            correction += weight * (b - a)
        return correction


def _alike(step: np.ndarray, before: np.ndarray, length: float) -> bool:
    return float(np.linalg.norm(step - before)) <= _ALIKE * length
