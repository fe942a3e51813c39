"""Forward selection with powers, step by step, straight on the state that the selector drives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from columnist.criteria import Criterion, Frobenius
from columnist.selection._forward_spectra import BlockForward

__all__ = ["block_forward"]


def block_forward(
    X,
    Y: np.ndarray,
    degree: int,
    size: int,
    criterion: Criterion | None = None,
    *,
    center: bool = False,
    include: Sequence[int] = (),
    exclude: Sequence[int] = (),
    tol: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Features in order of selection, and the error after each."""
    criterion = Frobenius() if criterion is None else criterion
    state = BlockForward(X, Y, degree, criterion, center=center, scale=1.0)
    allowed = np.ones(X.shape[1], dtype=bool)
    allowed[[*include, *exclude]] = False
    enough = -np.inf if tol is None else tol * state.error()
    selected, errors = list(include), []
    for feature in include:
        state.add(feature)
        errors.append(state.error())
    while len(selected) < size and not (errors and errors[-1] <= enough):
        feature, gain = state.best(allowed)
        if selected and gain == 0.0:
            break
        state.add(feature)
        allowed[feature] = False
        selected.append(feature)
        errors.append(state.error())
    return np.array(selected, dtype=np.intp), np.array(errors)
