"""Kernels and scalings that the book may have used: an experiment on tables 4.5, 4.6 and 4.8."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize, scale

from columnist.spectral import rbf_similarity
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.spectral_tables import SETS, loaded, preserved

__all__ = ["kernels"]

KERNELS: dict[str, Callable[[np.ndarray], sp.sparray]] = {
    "rows of unit length, width 1": lambda X: rbf_similarity(normalize(X), width=1.0),
    "rows of unit length, width 0.5": lambda X: rbf_similarity(normalize(X), width=0.5),
    "rows of unit length, median width": lambda X: rbf_similarity(normalize(X)),
    "columns of unit length, median width": lambda X: rbf_similarity(unit_columns(X)),
    "columns of unit length, width 1": lambda X: rbf_similarity(unit_columns(X), width=1.0),
    "columns standardised, median width": lambda X: rbf_similarity(scale(X)),
    "raw, median width": rbf_similarity,
}


def unit_columns(X: np.ndarray) -> np.ndarray:
    """Columns without mean, of unit length."""
    F = X - X.mean(axis=0)
    return F / np.linalg.norm(F, axis=0)


FEATURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "features centred, of unit length": unit_columns,
    "features of unit length": lambda X: X / np.linalg.norm(X, axis=0),
}
MEASURES = {"zl-4.5": ("residue",), "zl-4.6": ("Jaccard 1", "Jaccard 5"), "zl-4.8": ("redundancy",)}


def kernels(data: Data) -> Iterator[Trial]:
    """Every method without classes under every kernel and scaling, set by set."""
    for name in (name for name, ours in SETS.items() if ours):
        X = loaded(data, name)[0]
        X = X[:, np.ptp(X, axis=0) > 0.0]
        for kernel, similarity in KERNELS.items():
            K = similarity(X).toarray()
            for scaling, features in FEATURES.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # paths that end early
                    found = preserved(features(X), K)
                yield from trials(name, f"kernel of {kernel}; {scaling}", found)


def trials(name: str, setting: str, found: dict[str, dict[str, float]]) -> Iterator[Trial]:
    """The figures of one set."""
    for table, measures in MEASURES.items():
        for measure in measures:
            for row in printed(table):
                if row.get("neighbours", measure[-1]) != measure[-1]:
                    continue
                where = f"{name}, {measure}, {row['method']}"
                group, ours = f"{table}, {name}", found[row["method"]][measure]
                yield tried(group, table, where, row[name], setting, ours)
