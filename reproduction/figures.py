"""Draw the published pictures again: ``python -m reproduction.figures [names]``.

The figures of the dissertations about outliers, and examples 10 to 12 of the book on spectral
selection. What the pictures should show is checked by ``python -m reproduction``; the data come
from there too. PNG files go into a folder outside the repository unless ``--out`` says where.

The faces of Yale were picked to show what the text tells (see ``robust_figures``); those of
Olivetti were not: persons 1, 10, 20 and 30, and the first images of those that follow.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from columnist.datasets import data_home, load_crossing_lines, load_seven_points
from columnist.plotting._draw import panels_for, tidy
from columnist.plotting._outliers import OutlierImagesDisplay
from columnist.plotting._picture import FOUND, OPEN, PROVEN
from columnist.robust import RobustPCA
from columnist.spectral._noise import eigengap_bound
from reproduction import noise_figures, phase_transition, robust_figures
from reproduction.data import Data, MissingData
from reproduction.printed import printed
from reproduction.registry import Run
from reproduction.robust_tables import average_error, farthest

__all__ = ["FIGURES", "draw", "main"]

RED = "#D00000"


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


# Second document, figures 4.3 to 4.7


def lines_figure(data: Data) -> Any:
    """Figure 4.3: the first axis after the best removal of 0 to 8 points."""
    X = load_crossing_lines().data
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


def pursuit_figure(data: Data) -> Any:
    """Figure 4.4: the sub-optimal search against Outlier Pursuit."""
    ranks = (2, 5, 10, 15)
    axes = panels(len(ranks), 2, (4.2, 3.2))
    for rank, ax in zip(ranks, axes, strict=True):
        rows = robust_figures.pursuits(rank)
        for key, colour, mark, name in (
            ("pursuit", PROVEN, "s--", "Outlier Pursuit"),
            ("weighted", FOUND, "o-", "RobustPCA, weighted"),
        ):
            errors = [getattr(row, key) for row in rows]
            ax.plot(range(1, rank + 1), errors, mark, color=colour, markersize=4, label=name)
        right = rows[-1].found, rows[-1].found_by_pursuit
        title = f"rank {rank}: with {rank} components {right[0]} and {right[1]} of 15 found"
        ax.set_title(title, fontsize=9)
        ax.set(xlabel="components", ylabel="normalised error", ylim=(0.0, None))
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)
    axes[0].legend(frameon=False)
    return axes[0].figure


# The faces of Olivetti, ten images a person: figure, person, strangers, components, outliers.
OLIVETTI = tuple(
    (f"Olivetti, person {who}", who, tuple((other, 1) for other in others), 3, len(others), None)
    for who, others in ((1, (2, 3)), (10, (11, 12, 13)), (20, (21, 22, 23)), (30, (31, 32, 33)))
)


def yale_figure(data: Data) -> Any:
    """Figures 4.5 to 4.7."""
    return faces_figure(data, "yale", robust_figures.FACES, robust_figures.FRONT)


def olivetti_figure(data: Data) -> Any:
    """The same experiment on other faces."""
    return faces_figure(data, "olivetti", OLIVETTI, range(1, 11))


def faces_figure(data: Data, name: str, cases: Sequence[tuple], numbers: Sequence[int]) -> Any:
    """Faces of other persons, on the right, among those of one."""
    X, person = data.matrix(name), data.labels(name)
    axes = panels(len(cases), 1, (11.0, 1.25))
    for (title, who, strangers, r, k, _), ax in zip(cases, axes, strict=True):
        images = robust_figures.faces(X, person, who, strangers, numbers)
        found = RobustPCA(r, n_outliers=k, centering="none", random_state=0).fit(images)
        caught = int(np.sum(found.outliers_ >= len(numbers)))
        display = OutlierImagesDisplay(images.reshape(-1, 64, 64), found.outliers_)
        display.plot(ax, n_columns=13)
        ax.set_title(
            f"{title}: r = {r}, k = {k}, {found.certificate_.status}; "
            f"{caught} of {len(strangers)} outlier images framed",
            fontsize=9,
        )
    return axes[0].figure


# Second document, figures 5.1, 5.5, 5.8 and 5.9


def directions_figure(data: Data) -> Any:
    """Figure 5.1: one outlier and four kinds of PCA."""
    X = load_seven_points().data
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


def gamma_figure(data: Data) -> Any:
    """Figure 5.5: error of the eigenvalues by the size of the bias."""
    found = list(robust_figures.gamma_panels(Run(data, quick=False)))
    axes = panels(len(found), 2, (4.4, 3.4), sharex=True, sharey=True)
    for panel, ax in zip(found, axes, strict=True):
        ax.axvspan(10.0, 20.0, color="0.9", linewidth=0)
        for (name, line), colour in zip(panel.lines.items(), (FOUND, PROVEN, OPEN), strict=False):
            ax.loglog(*line, color=colour, label=name)
        ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
        ax.label_outer()
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
    return axes[0].figure


def wine_panels(X: np.ndarray, methods: Sequence[str], columns: int) -> Any:
    """Samples along the first and third axis of the kept ones, the outliers of each method red."""
    line = next(line for line in printed("he-5.3") if line["set"] == "wine")
    r, k = int(line["r"]), int(line["k"])
    axes = panels(len(methods), columns, (4.4, 3.0), sharey=True)
    for method, ax in zip(methods, axes, strict=True):
        pca = method == "PCA"
        outliers = farthest(X, r, k) if pca else robust_figures.wine_outliers(X, method, r, k)
        kept = np.delete(X, outliers, axis=0)
        mean = kept.mean(axis=0)
        axis = np.linalg.svd(kept - mean, full_matrices=False)[2]
        scores = (X - mean) @ axis[[0, 2]].T * np.sign(axis[[0, 2]].sum(axis=1))
        bad = np.zeros(len(X), dtype=bool)
        bad[outliers] = True
        error = average_error(X, outliers, r)
        ax.axhline(0.0, color="0.6", linewidth=0.8)
        ax.plot(*scores[~bad].T, ".", color=FOUND, markersize=4)
        ax.plot(*scores[bad].T, "o", color=RED, markersize=4)
        ax.set_title(f"{method}: average error {error:.4f}", fontsize=10)
        first = ax.get_subplotspec().is_first_col()
        ax.set(xlabel="first axis", ylabel="third axis" if first else "")
    return axes[0].figure


def bias_figure(data: Data) -> Any:
    """Figure 5.8: Coherence Pursuit on wine, and PCA, whose error is the print's with bias."""
    return wine_panels(data.matrix("wine"), ("CoP", "CoP with bias", "PCA"), 3)


def methods_figure(data: Data) -> Any:
    """Figure 5.9: where the outliers of every method lie, wine."""
    methods = ("COPT", "HR-PCA", "CoP", "Outlier Pursuit", "ROBPCA")
    return wine_panels(data.matrix("wine"), methods, 3)


# First document, figures 8.2 and 8.3


def phases_figure(data: Data) -> Any:
    """Figure 8.3: white where every trial succeeds, black elsewhere."""
    cells = phase_transition.phases(quick=False)
    ranks = sorted({cell.rank for cell in cells})
    shares = sorted({cell.share for cell in cells})
    names = list(phase_transition.methods())
    axes = panels(len(names), len(names), (2.8, 3.4), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        image = np.zeros((len(shares), len(ranks)))
        for cell in (cell for cell in cells if cell.method == name):
            image[shares.index(cell.share), ranks.index(cell.rank)] = cell.solved
        ax.pcolormesh(ranks, shares, image, cmap="gray", vmin=0, vmax=1, shading="nearest")
        ax.plot([0.0, 1.0], [1.0, 0.0], color="#D55E00", linewidth=1.5)
        ax.set(title=name, xlabel="rank / n", xlim=(0.025, 0.525), ylim=(0.05, 0.95))
    axes[0].set_ylabel("outliers / n")
    axes[0].figure.suptitle("White: every trial solved. Orange: as many good rows as their rank.")
    return axes[0].figure


def removal_figure(data: Data) -> Any:
    """Figure 8.2: the points removed, numbered, and how the sum falls."""
    problems = [(noise, p) for noise in phase_transition.NOISES for p in (0.1, 0.7)]
    axes = panels(2 * len(problems), len(problems), (3.5, 3.0))
    for i, (noise, p) in enumerate(problems):
        points, curve = axes[i], axes[i + len(problems)]
        X = phase_transition.line(noise)
        found = phase_transition.greedy(X, 15, p)
        points.scatter(*X.T, s=12, color="0.6")
        points.scatter(*X[found.removal_order_].T, s=30, marker="x", color="#D55E00")
        for number, row in enumerate(found.removal_order_, 1):
            points.annotate(str(number), X[row], textcoords="offset points", xytext=(3, 3))
        points.set(title=f"noise {noise:g}, p = {p:g}", aspect="equal")
        curve.plot(np.arange(16), found.schatten_path_, marker="o", color="#0072B2")
        curve.axvline(10.0, color="0.8")
        curve.set(xlabel="rows removed", ylabel="sum of p-th powers")
    return axes[0].figure


# Third document, examples 10 to 12


def draw_eigenvalues(ax, clean: np.ndarray, noisy: Callable[[float], noise_figures.Noisy]) -> None:
    """Example 10."""
    shares = np.linspace(0.0, 1.0, 101)
    half = next(t for t in shares if noise_figures.level_of(clean, noisy(t)) >= 0.5)
    values = np.linalg.eigvalsh(noisy(half)[0])
    ax.plot(np.linalg.eigvalsh(clean), color=FOUND, label="no noise")
    ax.plot(values, color=PROVEN, label="level 0.5")
    ax.plot(values**3, "--", color=OPEN, label="level 0.5, cubed")
    ax.set(title="Eigenvalues of the Laplacian", xlabel="number", ylabel="eigenvalue")


def draw_eigensystem(
    axes, clean: np.ndarray, noisy: Callable[[float], noise_figures.Noisy]
) -> None:
    """Example 11."""
    values, vectors = np.linalg.eigh(clean)
    shares = np.linspace(0.0, 0.5, 51)
    parts = [noisy(t) for t in shares]
    levels = [noise_figures.level_of(clean, part) for part in parts]
    pairs = [np.linalg.eigh(part[0]) for part in parts]
    for j, color in zip((1, 2, 9, 29), (FOUND, PROVEN, OPEN, "0.4"), strict=True):
        axes[0].plot(levels, [pair[0][j] for pair in pairs], color=color, label=f"{j + 1}")
        cosines = np.array([abs(pair[1][:, j] @ vectors[:, j]) for pair in pairs])
        sines = np.sqrt(np.maximum(1.0 - cosines**2, 0.0))
        axes[1].plot(levels, sines, color=color, label=f"{j + 1}")
        bounds = [eigengap_bound(values, level * values[-1])[j] for level in levels]
        axes[1].plot(levels, bounds, ":", color=color, linewidth=1.0)
    axes[0].set(title="Leading and other eigenvalues", xlabel="level of noise")
    axes[1].set(title="Sine of the turn (dotted: bound)", xlabel="level of noise")


def draw_scores(axes, X, noisy: Callable[[float], noise_figures.Noisy]) -> None:
    """Example 12."""
    shares = np.linspace(0.0, 1.0, 101)
    found = [noise_figures.all_scores(noisy(t), X) for t in shares]
    for ax, key in zip(axes, (("phi1", 1), ("phi1", 3), ("phi2", 1), ("phi3", 1)), strict=True):
        sign = 1.0 if key[0] == "phi3" else -1.0
        curves = np.array([sign * scores[key] for scores in found])
        ax.plot(shares, curves[:, 2:], color="0.65", linewidth=1.0)
        ax.plot(shares, curves[:, :2], color=FOUND)
        apart = np.array([s[key][:2].min() > s[key][2:].max() for s in found])
        if not apart.all():
            ax.axvline(shares[np.argmin(apart)], color=PROVEN, linewidth=1.0)
        name = rf"$\varphi_{key[0][3]}$" + ("" if key[1] == 1 else r", $\lambda^3$")
        good = "large" if key[0] == "phi3" else "small"
        ax.set(title=f"{name} ({good} is good)", xlabel="share of noise")


def draw_thresholds(ax, n_draws: int = 25) -> None:
    """Mean share of noise at the first mix-up."""
    runs = [noise_figures.first_mixes(noise_figures.READING, seed) for seed in range(n_draws)]
    scores = noise_figures.SCORES
    names = [rf"$\varphi_{s[3]}$" + ("" if power == 1 else r", $\lambda^3$") for s, power in scores]
    colors = [FOUND if power == 1 else OPEN for _, power in scores]
    shares = [np.mean([run[score].share for run in runs]) for score in scores]
    bars = ax.barh(names, shares, color=colors, height=0.6)
    ax.bar_label(bars, fmt="%.2f", padding=2, fontsize=8)
    ax.invert_yaxis()
    ax.set(title=f"First mix-up, mean of {n_draws} draws", xlabel="share of noise")
    ax.set_xlim(0.0, 1.0)


def noise_figure(data: Data) -> Any:
    """Examples 10 to 12: a draw, and how much noise the scores bear."""
    axes = panels(8, 4, (3.5, 3.1))
    X, noisy = noise_figures.drawn(0)
    clean = noisy(0.0)[0]
    draw_eigenvalues(axes[0], clean, noisy)
    draw_eigensystem(axes[1:3], clean, noisy)
    draw_thresholds(axes[3])
    draw_scores(axes[4:], X, noisy)
    for ax in axes:
        tidy(ax)
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].legend(frameon=False, fontsize=8, title="number", title_fontsize=8)
    axes[3].grid(False)
    axes[4].plot([], [], color=FOUND, label="coordinates")
    axes[4].plot([], [], color="0.65", label="noise")
    axes[4].plot([], [], color=PROVEN, label="first mix-up")
    axes[4].legend(frameon=False, fontsize=8)
    return axes[0].figure


FIGURES: dict[str, Callable[[Data], Any]] = {
    "8.2-line": removal_figure,
    "8.3-phases": phases_figure,
    "4.3-crossing-lines": lines_figure,
    "4.4-outlier-pursuit": pursuit_figure,
    "4.5-faces": yale_figure,
    "4.5-faces-olivetti": olivetti_figure,
    "5.1-directions": directions_figure,
    "5.5-gamma": gamma_figure,
    "5.8-bias": bias_figure,
    "5.9-methods": methods_figure,
    "2.8-2.13-noise": noise_figure,
}


def draw(
    data: Data, folder: Path, names: Sequence[str] = (), say: Callable[[str], object] = print
) -> Iterator[Path]:
    """Write the pictures, all or those named, and yield the files; missing data skip a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # kept points on a line, and the like
            try:
                figure = FIGURES[name](data)
            except MissingData as missing:
                say(f"skipped {name}: {missing}")
                continue
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        yield path


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and say where the files are."""
    parser = argparse.ArgumentParser(description="Draw the published pictures again.")
    parser.add_argument("names", nargs="*", help=f"all, or some of: {', '.join(FIGURES)}")
    parser.add_argument("--data", help="data folder; COLUMNIST_DATA or the user's cache")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(FIGURES))
    if unknown:
        parser.error(f"unknown figure {', '.join(unknown)}; choose from {', '.join(FIGURES)}")
    folder = options.out or Path(tempfile.mkdtemp(prefix="columnist-figures-"))
    for path in draw(Data(data_home(options.data)), folder, options.names):
        print(path, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
