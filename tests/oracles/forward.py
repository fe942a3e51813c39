"""Greedy forward selection by the book: explicit residuals, one candidate after the other."""

from __future__ import annotations

import numpy as np

from tests.oracles.brute_force import Theta, subset_error

__all__ = ["greedy_by_definition", "greedy_extended"]


def greedy_by_definition(
    X: np.ndarray, k: int, criterion: Theta, Y: np.ndarray | None = None
) -> tuple[list[int], list[list[float]]]:
    """Selection, and at every step the error with each candidate (inf for those taken)."""
    chosen: list[int] = []
    table: list[list[float]] = []
    for _ in range(k):
        errors = [
            np.inf if i in chosen else subset_error(X, [*chosen, i], criterion, Y=Y)
            for i in range(X.shape[1])
        ]
        table.append(errors)
        chosen.append(int(np.argmin(errors)))
    return chosen, table


def greedy_extended(X: np.ndarray, k: int, Y: np.ndarray | None = None) -> list[int]:
    """Frobenius selection in extended precision, for data of any condition."""
    rest = np.array(X, dtype=np.longdouble)
    target = rest.copy() if Y is None else np.array(Y, dtype=np.longdouble).reshape(len(X), -1)
    own = (rest**2).sum(axis=0)
    chosen: list[int] = []
    basis: list[np.ndarray] = []
    for _ in range(k):
        lengths = (rest**2).sum(axis=0)
        energy = ((target.T @ rest) ** 2).sum(axis=0)
        usable = (lengths > 1e-18 * own) & (own > 0)
        gains = np.where(usable, energy / np.where(usable, lengths, 1), -1)
        gains[chosen] = -1
        best = int(np.argmax(gains))
        q = rest[:, best]
        for b in basis:
            q = q - b * (b @ q)
        q = q / np.sqrt(q @ q)
        basis.append(q)
        chosen.append(best)
        for _ in range(2):
            rest = rest - np.outer(q, q @ rest)
            target = target - np.outer(q, q @ target)
    return chosen
