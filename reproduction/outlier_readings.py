"""Settings of the competitors about outliers: an experiment on He's tables 4.2, 5.2 and 5.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from sklearn.preprocessing import scale

from columnist.robust import ROBPCA, OutlierPursuit
from reproduction.data import Data
from reproduction.experiments import Trial, tried
from reproduction.printed import printed
from reproduction.robust_tables import average_error, outliers_of, place, sizes
from reproduction.settings import TUNED_PRICE, pursuit_price

__all__ = ["outliers"]

Rank = Callable[[np.ndarray, int, int], np.ndarray]
"""The k rows that a setting calls outliers, from the data, r and k."""

POINTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "raw": lambda X: X,
    "centred": lambda X: X - X.mean(axis=0),
    "about the median": lambda X: X - np.median(X, axis=0),
    "standardised": scale,
}


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """The k largest scores."""
    return np.argsort(-scores, kind="stable")[:k]


def coherence(points: Callable, power: str, X: np.ndarray, r: int, k: int) -> np.ndarray:
    """Rows whose cosines with the others are the smallest."""
    Z = points(X)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    G = (Z / np.where(lengths > 0.0, lengths, 1.0)) @ (Z / np.where(lengths > 0.0, lengths, 1.0)).T
    np.fill_diagonal(G, 0.0)
    scores = {"absolute": np.abs(G), "squared": G * G, "signed": G}[power].sum(axis=1)
    return largest(-scores, k)


def hubert(alpha: float, by: str, X: np.ndarray, r: int, k: int) -> np.ndarray:
    """Rows by their distances under ROBPCA."""
    found = ROBPCA(r, alpha=alpha, random_state=0).fit(X)
    orthogonal, score = found.orthogonal_distances(X), found.score_distances(X)
    cut = found.orthogonal_cutoff_, found.score_cutoff_
    ranks = {
        "orthogonal distance": orthogonal,
        "score distance": score,
        "larger share of both cut-offs": np.maximum(orthogonal / cut[0], score / cut[1]),
    }
    return largest(ranks[by], k)


def pursued(price: float | str, X: np.ndarray, r: int, k: int) -> np.ndarray:
    """Rows by Outlier Pursuit of biased points, for a price or a formula of it."""
    formulas = {"3 / (7 sqrt(k))": pursuit_price(k), "1 / sqrt(log n)": np.log(len(X)) ** -0.5}
    alpha = formulas[price] if isinstance(price, str) else price
    options = {"n_outliers": k, "n_components": r, "centering": "mean", "max_iter": 2000}
    return outliers_of(OutlierPursuit(alpha=alpha, **options), X, True)


def leverage(points: Callable, vectors: str, weighted: bool, X: np.ndarray, r: int, k: int):
    """Rows by their leverage in so many singular vectors."""
    U, sigma, _ = np.linalg.svd(points(X), full_matrices=False)
    n = {"1": 1, "r": r, "k": k, "r + k": r + k, "all but one": len(sigma) - 1}[vectors]
    return largest(np.sum((U[:, :n] * (sigma[:n] if weighted else 1.0)) ** 2, axis=1), k)


SETTINGS: dict[str, dict[str, Rank]] = {
    "CoP": {
        f"{power} cosines of points {name}": partial(coherence, points, power)
        for (name, points), power in product(POINTS.items(), ("absolute", "squared", "signed"))
    },
    "ROBPCA": {
        f"alpha = {alpha}, by {by}": partial(hubert, alpha, by)
        for alpha, by in product(
            (0.5, 0.75, 0.9),
            ("orthogonal distance", "score distance", "larger share of both cut-offs"),
        )
    },
    "Outlier Pursuit bias": {
        f"price {price}": partial(pursued, price)
        for price in ("3 / (7 sqrt(k))", TUNED_PRICE, "1 / sqrt(log n)", 0.2, 0.3, 0.4)
    },
    "leverage": {
        f"{vectors} singular vectors of points {name}{', by values' * weighted}": partial(
            leverage, points, vectors, weighted
        )
        for (name, points), vectors, weighted in product(
            POINTS.items(), ("1", "r", "k", "r + k", "all but one"), (False, True)
        )
    },
}


def outliers(data: Data) -> Iterator[Trial]:
    """Every competitor under every setting."""
    for table in ("he-4.2", "he-5.2", "he-5.3"):
        for line in printed(table):
            for method in (m for m in SETTINGS if line.get(m) and line["set"] != "gom"):
                X, (k, r) = data.matrix(line["set"]), sizes(line)
                points = X.T if table == "he-4.2" else X
                for setting, rank in SETTINGS[method].items():
                    ours = error(table, points, rank(points, r, k), r)
                    where = place(line, method)
                    yield tried(f"{table}, {method}", table, where, line[method], setting, ours)


def error(table: str, X: np.ndarray, removed: np.ndarray, r: int) -> float:
    """The error that a table prints."""
    if table != "he-4.2":
        return average_error(X, removed, r)
    sigma = np.linalg.svd(np.delete(X, removed, axis=0), compute_uv=False)
    return float(np.sum(sigma[r:] ** 2) / np.sum(X * X))
