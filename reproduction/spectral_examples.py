"""Small examples of the book on spectral selection: 1, 8, 13, 14 and 15."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from columnist.datasets import make_box_classes, make_three_clusters, make_two_stars
from columnist.metrics import matrix_consistency
from columnist.spectral import HSIC, FisherScore, ReliefF, TraceRatio, cut, normalized_cut
from columnist.spectral._l21 import l21_regression
from columnist.spectral._mcsf import MCSF
from columnist.spectral._mrsf import MRSF
from reproduction.cells import Cell, compare, not_possible, skipped
from reproduction.claims import claim
from reproduction.printed import printed
from reproduction.reasons import by_draws
from reproduction.registry import PrintedTable, Run

__all__ = [
    "TABLES",
    "consistencies",
    "cuts",
    "irrelevant",
    "nonzero_rows",
    "share_kept",
]

DEVIATION = 1.4
ADDED = (0, 10, 50, 100, 200, 500)
NOISE = (0.0, 0.3, 0.6, 0.9)
PENALTIES = (0.0, 50.0, 100.0, 200.0, 300.0, 400.0, 500.0)


def figures(example: int) -> dict[str, str]:
    """What the text of an example states."""
    rows = [row for row in printed("zl-examples") if row["example"] == str(example)]
    return {row["what"]: row["value"] for row in rows}


# Example 1


def irrelevant(n_seeds: int, added: Sequence[int], *selector: Any) -> np.ndarray:
    """Accuracies by seed and number of irrelevant features, after selection if asked for."""
    found = np.zeros((n_seeds, len(added)))
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, y = make_three_clusters(
            n_irrelevant=max(added), irrelevant="normal", scale=DEVIATION, random_state=rng
        )
        for i, count in enumerate(added):
            found[seed, i] = accuracy(X[:, : 2 + count], y, *selector)
    return found


def accuracy(X: np.ndarray, y: np.ndarray, *selector: Any) -> float:
    """Of three nearest neighbours, ten folds, after selection on the training folds."""
    model = make_pipeline(*selector, KNeighborsClassifier(3))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    return float(cross_val_score(model, X, y, cv=folds).mean())


def irrelevant_cells(run: Run) -> Iterator[Cell]:
    """Accuracy falls with irrelevant features, and selection brings it back."""
    n_seeds = 5 if run.quick else 20
    found = irrelevant(n_seeds, ADDED)
    means = found.mean(axis=0)
    for i, (what, value) in zip((0, -1), figures(1).items(), strict=True):
        why = by_draws(value, found[:, i].tolist(), "the draw")
        yield compare(what, value, float(means[i]), random=True, why=why)
    falls = ", ".join(f"{mean:.2f}" for mean in means)
    where = f"accuracy with {', '.join(map(str, ADDED))} irrelevant features"
    yield claim(where, "falls", falls, bool(np.all(np.diff(means) < 0.0)))


# Example 8


def cuts(n: int, *, loops: bool = True) -> dict[str, tuple[float, float]]:
    """Cut 1, which parts the stars, and cut 2, which parts the lonely sample: plain, normalised."""
    S = make_two_stars(n)[0] + float(loops) * np.eye(2 * n + 1)
    sides = np.arange(2 * n + 1) < n, np.arange(2 * n + 1) == 2 * n
    first, second = sides
    return {
        "cut": (float(cut(S, first)), float(cut(S, second))),
        "normalised cut": (float(normalized_cut(S, first)), float(normalized_cut(S, second))),
    }


def cut_cells(run: Run) -> Iterator[Cell]:
    """Figure 2.6: which of two cuts is preferred, by the size of the stars."""
    sizes = range(1, 11)
    found = {n: cuts(n) for n in sizes}
    for n in sizes:
        for name, (first, second) in found[n].items():
            said = "cut 1" if name == "normalised cut" and n > 1 else "cut 2"
            ours = "cut 1" if first < second else "cut 2"
            values = f"{ours} ({first:.4f} and {second:.4f})"
            yield claim(f"n = {n}, smaller by the {name}", said, values, ours == said)
    plain = {tuple(np.round(cell["cut"], 12)) for cell in found.values()}
    yield claim("the cut as n grows", "does not change", f"{len(plain)} value(s)", len(plain) == 1)
    top = max(max(values) for cell in found.values() for values in cell.values())
    yield claim("largest value, by the axis of the figure", "at most 0.7", f"{top:.4f}", top <= 0.7)


# Example 13

# Selectors of so many features, given the classes.
SELECTORS: dict[str, Callable[[int], Any]] = {
    "Fisher": lambda k: FisherScore(k),
    "ReliefF": lambda k: ReliefF(k),
    "Trace Ratio": lambda k: TraceRatio(k),
    "HSIC": lambda k: HSIC(k),
    "MCSF": lambda k: MCSF(k, similarity="fisher"),
    "MRSF": lambda k: MRSF(k, response="lda"),
}
TOGETHER = ("MCSF", "MRSF")


def share_kept(case: str, method: str, n_seeds: int) -> float:
    """Share of seeds in which the weaker feature is among three selected ones."""
    kept = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with few samples
        for seed in range(n_seeds):
            X, y = make_box_classes(repeated=case, random_state=np.random.default_rng(seed))
            kept += 2 in SELECTORS[method](3).fit(X, y).selected_
    return kept / n_seeds


def redundant_cells(run: Run) -> Iterator[Cell]:
    """Features evaluated together leave out what the others already say."""
    n_seeds = 10 if run.quick else 100
    for case in ("copies", "sum", "three sums"):
        alone = max(share_kept(case, name, n_seeds) for name in SELECTORS if name not in TOGETHER)
        for method in TOGETHER:
            share = share_kept(case, method, n_seeds)
            yield claim(
                f"{method}, {case} of two features beside them", "left out",
                f"in {share:.0%} of the draws (scores of single features {alone:.0%})",
                share > max(0.5, alone),
                "the penalty shrinks the coefficients of both, which leaves something of them for "
                "their sums to explain",
            )  # fmt: skip


# Example 14


def consistencies(n_seeds: int, *, centred: bool) -> np.ndarray:
    """tr(KS) over tr(SS) by seed and level of noise; columns have unit length."""
    found = np.zeros((n_seeds, len(NOISE)))
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X, _ = make_three_clusters(n_irrelevant=0, random_state=rng)
        noise = X.std(axis=0) * rng.standard_normal(X.shape)
        S = linear_kernel(X, centred)
        for i, level in enumerate(NOISE):
            found[seed, i] = matrix_consistency(linear_kernel(X + level * noise, centred), S)
    return found / found[:, :1]


def linear_kernel(X: np.ndarray, centred: bool) -> np.ndarray:
    """Inner products of the rows, columns of unit length."""
    X = X - X.mean(axis=0) if centred else X
    X = X / np.linalg.norm(X, axis=0)
    return X @ X.T


def consistency_cells(run: Run) -> Iterator[Cell]:
    """tr(KS) falls as noise grows."""
    found = consistencies(10 if run.quick else 100, centred=True)
    means = found.mean(axis=0)
    (same, value), (noisy, last) = figures(14).items()
    yield not_possible(same, value, "the data and their scale are not printed")
    scale = float(value)
    other = scale * float(consistencies(10, centred=False).mean(axis=0)[-1])
    why = by_draws(last, (scale * found[:, -1]).tolist(), "the draw")
    where, detail = f"{noisy}, where tr(SS) is {value}", f"without centring it is {other:.3f}"
    yield compare(where, last, scale * float(means[-1]), random=True, why=why, detail=detail)
    ours = ", ".join(f"{mean:.2f}" for mean in means)
    falls = bool(np.all(np.diff(means) < 0.0))
    yield claim("tr(KS) with 0, 30, 60, 90 % noise", "falls", ours, falls)


# Example 15


def nonzero_rows(n: int, penalties: Sequence[float]) -> list[int]:
    """Nonzero rows of W for random X of n x n and half of its eigenvectors as the response."""
    X = np.random.default_rng(0).random((n, n))
    values, vectors = np.linalg.eigh(X @ X.T)
    Y = vectors[:, n // 2 :] * np.sqrt(np.maximum(values[n // 2 :], 0.0))
    found = []
    for alpha in penalties:
        W = np.linalg.solve(X, Y) if alpha == 0.0 else l21_regression(X, Y, alpha=alpha).W
        found.append(int(np.any(W != 0.0, axis=1).sum()))
    return found


def penalty_cells(run: Run) -> Iterator[Cell]:
    """Rows of W vanish as the penalty grows."""
    places = "features without a penalty", "features as the penalty grows to 500"
    said = "all 200", "fewer and fewer"
    if run.quick:
        yield from (skipped(*cell) for cell in zip(places, said, strict=True))
        return
    counts = nonzero_rows(200, PENALTIES)
    yield claim(places[0], said[0], str(counts[0]), counts[0] == 200)
    ours = ", ".join(map(str, counts))
    yield claim(places[1], said[1], ours, bool(np.all(np.diff(counts) < 0)))


TABLES = (
    PrintedTable(
        "zl-ex1",
        "Irrelevant features and nearest neighbours",
        irrelevant_cells,
        "Three classes in the plane as in example 6 and irrelevant normal features; three nearest "
        "neighbours, ten folds. The data are not printed: the deviation 1.4 of the irrelevant "
        "features was set to meet 0.52. Agreement allows two deviations of a draw.",
    ),
    PrintedTable(
        "zl-ex8",
        "Cuts and normalised cuts of a graph (figure 2.6)",
        cut_cells,
        "Two stars of n samples each, centres at distance 2, and a sample at distance 3 from the "
        "second centre; Gaussian similarities of width 2, each sample similar to itself: without "
        "that the normalised cuts reach 1.48, beyond the axis of the figure.",
    ),
    PrintedTable(
        "zl-ex13",
        "Features that others make redundant",
        redundant_cells,
        "Eight classes at the corners of a box, told apart by two strong features and a weaker "
        "one, and ten irrelevant features. Beside them noisy copies of the strong ones, their sum, "
        "or three sums. Who takes two features that say the same misses the weaker one: the share "
        "of draws in which it is among three selected ones.",
    ),
    PrintedTable(
        "zl-ex14",
        "Agreement of kernels as noise grows",
        consistency_cells,
        "Linear kernels of three classes in the plane, columns centred and of unit length; noise "
        "is added in units of the deviation. Agreement allows two deviations of a draw.",
    ),
    PrintedTable(
        "zl-ex15",
        "Row-sparse coefficients as the penalty grows",
        penalty_cells,
        "The similarity and the distribution of X are not printed: uniform entries, the linear "
        "kernel and its 100 leading eigenvectors times the roots of their eigenvalues.",
    ),
)
