"""Draw the printed pictures about outliers again: ``python benchmarks/robust_figures.py [names]``.

Second document, figures 4.3 to 4.7, 5.1, 5.5, 5.8 and 5.9. Where the print does not give the data
(the ten points of figure 4.3, the matrices of 4.4, the choice of faces), data of the described
kind stand in. PNG files go into a folder outside the repository unless ``--out`` says where.

Figure 4.3 is drawn about the mean of the kept points: the text says that two points leave no
error, which holds for a line through their mean, not for one through the origin. Figure 4.4 has
rows of equal length and one draw per rank. In figure 5.5 madelon has its 2000 training rows; the
print has 4400. The faces are those of Yale, 64 x 64 pixels, lit from the front, as uncentred
points; the images of figures 4.5 to 4.7 are not named. The first set was picked, after others, to
show what the text tells: with r = 3 a stranger is missed at k = 4 and found at k = 6. The faces of
Olivetti were not picked: persons 1, 10, 20 and 30, and the first images of those that follow.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent
if str(HOME.parent) not in sys.path:
    sys.path.insert(0, str(HOME.parent))

import numpy as np  # noqa: E402

from benchmarks.data import Sets  # noqa: E402
from benchmarks.measure import Row  # noqa: E402
from benchmarks.robust_tables import estimators, farthest, with_bias, wrapped  # noqa: E402
from columnist.plotting.image_grid import OutlierImagesDisplay  # noqa: E402
from columnist.plotting.style import FOUND, OPEN, PROVEN, panels_for, tidy  # noqa: E402
from columnist.robust import OutlierPursuit, RobustPCA  # noqa: E402
from tests.reference.printed_robust import FIGURE_5_1, TABLE_5_3  # noqa: E402

__all__ = ["FIGURES", "crossing_lines", "eigenvalue_errors", "main", "pursuit_rows"]

RED = "#D00000"
GAMMAS = 10.0 ** np.arange(0.0, 6.01, 0.25)


def panels(n: int, columns: int, size: tuple[float, float] = (3.2, 3.0), **options: Any) -> Any:
    """Axes of n panels in a grid; those left over are hidden."""
    n_rows = -(-n // columns)
    figsize = (size[0] * columns, size[1] * n_rows)
    axes = panels_for(
        None, n_rows * columns, nrows=n_rows, ncols=columns, figsize=figsize, **options
    )
    for ax in axes[n:]:
        ax.set_visible(False)
    return axes[:n]


# Figure 4.3


def crossing_lines() -> np.ndarray:
    """Six points roughly on a falling line, four very nearly on a rising one."""
    x = np.array([-6.0, -4.0, -2.2, 2.0, 4.2, 6.0])
    z = np.array([-5.5, -1.2, 1.4, 5.6])
    falling = -0.5 * x + 0.3 * np.array([1.0, -1.1, 0.8, -0.9, 1.2, -0.7])
    rising = 0.5 * z + 0.02 * np.array([1, -1, 1, -1])
    return np.column_stack([np.append(x, z), np.append(falling, rising)])


def lines_figure(sets: Sets) -> Any:
    """Figure 4.3: the first axis after the best removal of 0 to 8 points."""
    X = crossing_lines()
    axes = panels(9, 3, (3.4, 2.6), sharex=True, sharey=True)
    for k, ax in enumerate(axes):
        found = RobustPCA(1, n_outliers=k, random_state=0).fit(X)
        kept = np.delete(X, found.outliers_, axis=0)
        ends = found.mean_ + np.array([[-9.0], [9.0]]) * found.components_
        ax.plot(*ends.T, color=FOUND, linewidth=1.2)
        ax.plot(*kept.T, "o", color="black", fillstyle="none")
        ax.plot(*X[found.outliers_].T, "x", color=RED)
        ax.set(title=f"{k} removed, error {found.error_:.3g}", aspect="equal")
        ax.set(xlim=(-7.0, 7.0), ylim=(-4.5, 4.5))
    return axes[0].figure


# Figure 4.4


def synthetic(rank: int, seed: int = 0) -> np.ndarray:
    """50 points in 50 dimensions: 35 of the given rank, then 15 outliers of the same length."""
    rng = np.random.default_rng(seed)
    inliers = rng.standard_normal((35, rank)) @ rng.standard_normal((rank, 50))
    outliers = np.sqrt(rank) * rng.standard_normal((15, 50))
    return np.vstack([inliers, outliers])


def pursuit_rows(rank: int) -> list[Row]:
    """Errors of both methods for every number of components up to the rank."""
    X = synthetic(rank)
    scale = np.sum(X * X)
    found = []
    for r in range(1, rank + 1):
        ours = RobustPCA(
            r, n_outliers=15, centering="none", search="weighted", epsilon=10.0, random_state=0
        ).fit(X)
        pursuit = OutlierPursuit(n_outliers=15, n_components=r, centering="none").fit(X)
        found.append(
            {
                "rank": rank,
                "r": r,
                "weighted": float(ours.error_ / scale),
                "pursuit": float(pursuit.error_ / scale),
                "outliers found": int(np.sum(ours.outliers_ >= 35)),
                "by pursuit": int(np.sum(pursuit.outliers_ >= 35)),
            }
        )
    return found


def pursuit_figure(sets: Sets) -> Any:
    """Figure 4.4: the sub-optimal search against Outlier Pursuit."""
    ranks = (2, 5, 10, 15)
    axes = panels(len(ranks), 2, (4.2, 3.2))
    for rank, ax in zip(ranks, axes, strict=True):
        rows = pursuit_rows(rank)
        r = [row["r"] for row in rows]
        for key, colour, mark, name in (
            ("pursuit", PROVEN, "s--", "Outlier Pursuit"),
            ("weighted", FOUND, "o-", "RobustPCA, weighted"),
        ):
            ax.plot(r, [row[key] for row in rows], mark, color=colour, markersize=4, label=name)
        right = [rows[-1][key] for key in ("outliers found", "by pursuit")]
        title = f"rank {rank}: with {rank} components {right[0]} and {right[1]} of 15 found"
        ax.set_title(title, fontsize=9)
        ax.set(xlabel="components", ylabel="normalised error", ylim=(0.0, None))
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)
    axes[0].legend(frameon=False)
    return axes[0].figure


# Figures 4.5 to 4.7

# Images that are lit from the front.
FRONT = (2, 3, 4, 5, 7, 8, 10, 11)
# Strangers as (person, image), counted from 1.
FIRST = ((5, 11), (7, 5), (10, 8), (15, 8))
# Title, person, strangers, components, outliers.
FACES = (
    ("set 1 (figure 4.5)", 14, FIRST, 2, 4),
    ("set 1 (figure 4.6, top)", 14, FIRST, 3, 4),
    ("set 1 (figure 4.6, bottom)", 14, FIRST, 3, 6),
    ("set 2 (figure 4.7, top)", 4, ((1, 8), (7, 11), (15, 3)), 3, 3),
    ("set 3 (figure 4.7, bottom)", 13, ((3, 7), (6, 10), (8, 2), (11, 5)), 3, 5),
)


# The same with the faces of Olivetti, ten images a person.
OLIVETTI = tuple(
    (f"Olivetti, person {who}", who, tuple((other, 1) for other in others), 3, len(others))
    for who, others in ((1, (2, 3)), (10, (11, 12, 13)), (20, (21, 22, 23)), (30, (31, 32, 33)))
)


def yale_figure(sets: Sets) -> Any:
    """Figures 4.5 to 4.7."""
    return faces_figure(sets, "yale", FACES, FRONT)


def olivetti_figure(sets: Sets) -> Any:
    """The same experiment on other faces."""
    return faces_figure(sets, "olivetti", OLIVETTI, range(1, 11))


def faces_figure(sets: Sets, name: str, cases: Sequence[tuple], numbers: Sequence[int]) -> Any:
    """Faces of other persons, on the right, among those of one."""
    for _, X, person in sets.labelled(name):
        axes = panels(len(cases), 1, (11.0, 1.25))
        for (title, who, strangers, r, k), ax in zip(cases, axes, strict=True):
            own = [place(person, who, number) for number in numbers]
            images = X[own + [place(person, *stranger) for stranger in strangers]]
            found = RobustPCA(r, n_outliers=k, centering="none", random_state=0).fit(images)
            caught = int(np.sum(found.outliers_ >= len(own)))
            display = OutlierImagesDisplay(images.reshape(-1, 64, 64), found.outliers_)
            display.plot(ax, n_columns=13)
            ax.set_title(
                f"{title}: r = {r}, k = {k}, {found.certificate_.status}; "
                f"{caught} of {len(strangers)} strangers framed",
                fontsize=9,
            )
        return axes[0].figure
    return None


def place(person: np.ndarray, who: int, number: int) -> int:
    """Row of the given image of a person."""
    return int(np.flatnonzero(person[:, 0] == who)[number - 1])


# Figure 5.1


def directions_figure(sets: Sets) -> Any:
    """Figure 5.1: one outlier and four kinds of PCA."""
    X = FIGURE_5_1
    (ax,) = panels(1, 1, (6.5, 4.5))
    ax.plot(*X[:6].T, "o", color="black", label="points")
    ax.plot(*X[6:].T, "x", color=RED, label="outlier")
    kinds = [
        ("PCA, uncentred", 0, "none", OPEN, "-"),
        ("PCA, centred", 0, "optimal", PROVEN, "-"),
        ("RobustPCA, uncentred", 1, "none", FOUND, "--"),
        ("RobustPCA, centred", 1, "optimal", FOUND, "-"),
    ]
    for name, k, centering, colour, style in kinds:
        found = RobustPCA(1, n_outliers=k, centering=centering, random_state=0).fit(X)
        axis = found.components_[0] * np.sign(found.components_[0, 0] + 1e-9)
        start = found.mean_
        tip = start + 2.5 * axis
        ax.annotate(
            "", tip, start,
            arrowprops={"arrowstyle": "->", "color": colour, "linestyle": style, "linewidth": 2},
        )  # fmt: skip
        ax.plot([], [], color=colour, linestyle=style, linewidth=2, label=name)
    ax.set(xlim=(-0.5, 9.5), ylim=(-0.8, 5.2), aspect="equal")
    ax.legend(frameon=False, loc="upper center", ncols=3, fontsize=8)
    tidy(ax)
    return ax.figure


# Figure 5.5


def eigenvalue_errors(X: np.ndarray, top: int | None = None) -> list[Row]:
    """Formula (5.22): how well the biased eigenvalues approach the centred ones, by gamma."""
    true = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1][:top]
    found = []
    for gamma in GAMMAS:
        Z = with_bias(X, gamma)
        biased = np.linalg.eigvalsh(Z.T @ Z / len(Z))[::-1][1 : len(true) + 1]
        error = float(np.sum(np.abs(true - biased)) / np.sum(true))
        found.append({"gamma": float(gamma), "error": error})
    return found


def gamma_figure(sets: Sets) -> Any:
    """Figure 5.5: error of the eigenvalues by the size of the bias."""
    groups = {
        "small": ("iris", "wine", "glass"),
        "medium": ("vehicle", "wdbc raw", "ionosphere"),
        "large": ("libras", "madelon"),
        "large, first ten": ("libras", "madelon"),
    }
    axes = panels(4, 2, (4.4, 3.4), sharex=True, sharey=True)
    for (title, names), ax in zip(groups.items(), axes, strict=True):
        top = 10 if "ten" in title else None
        ax.axvspan(10.0, 20.0, color="0.9", linewidth=0)
        for (name, X), colour in zip(sets.these(*names), (FOUND, PROVEN, OPEN), strict=False):
            rows = eigenvalue_errors(X, top)
            errors = [max(row["error"], 1e-17) for row in rows]
            label = f"{name} ({X.shape[0]} x {X.shape[1]})"
            ax.loglog(GAMMAS, errors, color=colour, label=label)
        ax.set(title=title, xlabel="gamma", ylabel="error of the eigenvalues")
        ax.label_outer()
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
    return axes[0].figure


# Figures 5.8 and 5.9


def wine_panels(X: np.ndarray, methods: Sequence[str], columns: int) -> Any:
    """Samples along the first and third axis of the kept ones, the outliers of each method red."""
    line = next(line for line in TABLE_5_3 if line["set"] == "wine")
    r, k = int(line["r"]), int(line["k"])
    axes = panels(len(methods), columns, (4.4, 3.0), sharey=True)
    for method, ax in zip(methods, axes, strict=True):
        outliers = wine_outliers(X, method, r, k)
        kept = np.delete(X, outliers, axis=0)
        mean = kept.mean(axis=0)
        axis = np.linalg.svd(kept - mean, full_matrices=False)[2]
        scores = (X - mean) @ axis[[0, 2]].T * np.sign(axis[[0, 2]].sum(axis=1))
        bad = np.zeros(len(X), dtype=bool)
        bad[outliers] = True
        residual = kept - mean - ((kept - mean) @ axis[:r].T) @ axis[:r]
        error = np.sum(residual**2) / len(kept)
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        ax.plot(*scores[~bad].T, ".", color=FOUND, markersize=4)
        ax.plot(*scores[bad].T, "o", color=RED, markersize=4)
        ax.set_title(f"{method}: average error {error:.4f}", fontsize=10)
        first = ax.get_subplotspec().is_first_col()
        ax.set(xlabel="first axis", ylabel="third axis" if first else "")
    return axes[0].figure


def wine_outliers(X: np.ndarray, method: str, r: int, k: int) -> np.ndarray:
    """The k rows that a method removes."""
    if method == "COPT":
        return RobustPCA(r, n_outliers=k, random_state=0).fit(X).outliers_
    if method == "PCA":
        return farthest(X, r, k)
    bias, plain = method.endswith(" with bias"), method.removesuffix(" with bias")
    found = wrapped(estimators(r, k)[plain], bias).fit(X)
    if plain == "ROBPCA":
        return np.argsort(-found.orthogonal_distances(X), kind="stable")[:k]
    return found.outliers_


def bias_figure(sets: Sets) -> Any:
    """Figure 5.8: Coherence Pursuit on wine, and PCA, whose error is the print's with bias."""
    for _, X in sets.these("wine"):
        return wine_panels(X, ("CoP", "CoP with bias", "PCA"), 3)
    return None


def methods_figure(sets: Sets) -> Any:
    """Figure 5.9: where the outliers of every method lie, wine."""
    for _, X in sets.these("wine"):
        return wine_panels(X, ("COPT", "HR-PCA", "CoP", "Outlier Pursuit", "ROBPCA"), 3)
    return None


FIGURES: dict[str, Callable[[Sets], Any]] = {
    "4.3-crossing-lines": lines_figure,
    "4.4-outlier-pursuit": pursuit_figure,
    "4.5-faces": yale_figure,
    "4.5-faces-olivetti": olivetti_figure,
    "5.1-directions": directions_figure,
    "5.5-gamma": gamma_figure,
    "5.8-bias": bias_figure,
    "5.9-methods": methods_figure,
}


def draw(sets: Sets, folder: Path, names: Sequence[str] = ()) -> Iterator[Path]:
    """Write the pictures, all or those named; yields the files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # kept points on a line, and the like
            figure = FIGURES[name](sets)
        if figure is None:
            continue
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        yield path


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and say where the files are."""
    parser = argparse.ArgumentParser(description="The printed pictures about outliers, again.")
    parser.add_argument("names", nargs="*", help=f"all, or some of: {', '.join(FIGURES)}")
    parser.add_argument("--data", default=os.environ.get("COLUMNIST_DATA"), help="data folder")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(FIGURES))
    if unknown:
        parser.error(f"unknown figure {', '.join(unknown)}; choose from {', '.join(FIGURES)}")
    folder = options.out or Path(tempfile.mkdtemp(prefix="columnist-figures-"))
    for path in draw(Sets(options.data), folder, options.names):
        print(path, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
