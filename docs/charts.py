"""Two charts of the documentation as SVG: which estimator to use, and the layers of the package.

They are inlined in their pages, so that text can be searched, boxes are links, and colours follow
the light or dark theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "generated"

# goal -> (situation, names of estimators or functions)
CHOICES: dict[str, list[tuple[str, list[str]]]] = {
    "Select columns that\nrepresent the others": [
        ("some dozens, with a proof", ["columnist.ColumnSelector"]),
        ("together with extracted features", ["columnist.ColumnSelector"]),
        ("hundreds, small error", ["columnist.selection.ExchangeSelector"]),
        ("thousands, every size at once", ["columnist.selection.ForwardSelector"]),
        ("millions, sparse", ["columnist.selection.TwoStageSelector"]),
        (
            "with a guarantee in advance",
            ["columnist.selection.StrongRRQRSelector", "columnist.selection.VolumeSampler"],
        ),
    ],
    "Select columns that\nexplain a target": [
        ("numbers to predict, with a proof", ["columnist.SubsetRegressor"]),
        ("classes to predict, with a proof", ["columnist.SubsetClassifier"]),
        ("quickly, many columns", ["columnist.selection.ForwardSelector"]),
        ("wrong labels, outlying samples", ["columnist.selection.RobustL21Selector"]),
        (
            "several labels per sample",
            ["columnist.selection.MultiLabelForwardClassifierCV"],
        ),
    ],
    "Evaluate a selection": [
        ("made by any tool", ["columnist.certify"]),
        ("how many columns are enough?", ["columnist.selection_path"]),
    ],
    "Rank features": [
        ("by classes", ["columnist.spectral.FisherScore", "columnist.spectral.ReliefF"]),
        (
            "by neighbours or any similarity",
            ["columnist.spectral.LaplacianScore", "columnist.spectral.SpectralSelector"],
        ),
        ("few labelled samples", ["columnist.spectral.SemiSupervisedSelector"]),
        ("a set without redundancy", ["columnist.spectral.MRSF", "columnist.spectral.MCSF"]),
        (
            "several sources of knowledge",
            ["columnist.knowledge.KnowledgeSelector", "columnist.knowledge.MultiSourceSelector"],
        ),
    ],
    "Fit components to\ndata with outliers": [
        ("a proof of the smallest error", ["columnist.robust.RobustPCA"]),
        ("number of components unknown", ["columnist.robust.SchattenPCA"]),
        (
            "many rows, quickly",
            ["columnist.robust.ROBPCA", "columnist.robust.CoherencePursuit"],
        ),
        ("on few features, entries missing", ["columnist.lowrank.SparseLoadings"]),
    ],
    "Protect features": [
        ("keep a predictor's outputs only", ["columnist.privacy.NullSpaceCleaner"]),
    ],
}

LAYERS: list[tuple[str, list[str]]] = [
    ("command line", ["cli"]),
    ("reports, figures, clusters", ["report", "plotting", "distributed"]),
    (
        "families of estimators",
        ["selection", "spectral", "knowledge", "robust", "lowrank", "privacy"],
    ),
    ("shared by the families", ["metrics", "datasets", "io", "_matrices", "_target", "_search"]),
    ("best-first search", ["search"]),
    ("errors and kernels", ["criteria", "linalg"]),
]

STYLE = """<style>
.chart { min-width: 46rem; max-width: 100%; height: auto; }
.chart text { font: 14px var(--pst-font-family-base, sans-serif); }
.chart text { fill: var(--pst-color-text-base, #222); }
.chart a text { fill: var(--pst-color-link, #0a5c8a); font-weight: 600; }
.chart a:hover text, .chart a:focus text { text-decoration: underline; }
.chart .head { font-weight: 700; }
.chart .quiet { fill: var(--pst-color-text-muted, #555); }
.chart rect { fill: var(--pst-color-surface, #f4f5f7); stroke: var(--pst-color-border, #bbb); }
.chart path { fill: none; stroke: var(--pst-color-text-muted, #888); stroke-width: 1.2; }
</style>"""


def write(*_: Any) -> None:
    """Write both charts."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "which_estimator.svg").write_text(which_estimator(), encoding="utf-8")
    (FOLDER / "layers.svg").write_text(layers(), encoding="utf-8")


def which_estimator() -> str:
    """A tree from left to right: the task, the data, the estimator."""
    row, parts, y = 30, [], 8
    for goal, leaves in CHOICES.items():
        middle = y + row * len(leaves) / 2
        parts += box(8, middle, 190, goal)
        for place, (situation, names) in enumerate(leaves):
            at = y + row * (place + 0.5)
            parts.append(elbow(198, middle, 232, at))
            parts.append(text(240, at, situation))
            parts.append(f'<path d="M 528 {at:g} h 20 m -5 -4 l 5 4 l -5 4"/>')
            parts += links(558, at, names)
        y += row * len(leaves) + 16
    title = "Which estimator to use, by task and data"
    return svg(960, y, title, parts)


def layers() -> str:
    """Imports point downwards only."""
    high, gap, parts = 40, 14, []
    for place, (role, names) in enumerate(LAYERS):
        y = 8 + place * (high + gap)
        parts.append(f'<rect x="8" y="{y}" width="880" height="{high}" rx="6"/>')
        parts.append(text(22, y + high / 2, role, "quiet"))
        step = 655 / len(names)
        for i, name in enumerate(names):
            x = 220 + step * (i + 0.5)
            parts.append(text(x, y + high / 2, name, "head", anchor="middle"))
    height = len(LAYERS) * (high + gap)
    parts.append(f'<path d="M 905 12 V {height - 14} m -5 -7 l 5 7 l 5 -7"/>')
    return svg(920, height + 4, "Layers of the package; imports point downwards", parts)


def box(x: float, middle: float, width: float, label: str) -> list[str]:
    """A rounded box with one or two lines of bold text."""
    lines = label.split("\n")
    height = 20 * len(lines) + 12
    top = middle - height / 2
    rect = f'<rect x="{x}" y="{top:g}" width="{width}" height="{height}" rx="6"/>'
    shift = [20 * (i - (len(lines) - 1) / 2) for i in range(len(lines))]
    return [
        rect,
        *(text(x + 12, middle + s, t, "head") for s, t in zip(shift, lines, strict=True)),
    ]


def elbow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A smooth line from a box to a leaf."""
    half = (x1 + x2) / 2
    return f'<path d="M {x1} {y1:g} C {half} {y1:g} {half} {y2:g} {x2} {y2:g}"/>'


def text(x: float, y: float, label: str, kind: str = "", anchor: str = "start") -> str:
    """Text centred on its line."""
    return (
        f'<text x="{x:g}" y="{y:g}" dominant-baseline="central" text-anchor="{anchor}" '
        f'class="{kind}">{escape(label)}</text>'
    )


def links(x: float, y: float, names: Sequence[str]) -> list[str]:
    """Names that lead to their pages, side by side."""
    parts = []
    for name in names:
        short = name.rpartition(".")[2]
        parts.append(f'<a href="../generated/{name}.html">{text(x, y, short)}</a>')
        x += 9 * len(short) + 18
    return parts


def svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    """The whole picture, with its title for those who cannot see it."""
    return (
        f'{STYLE}\n<div class="chart-frame">'
        f'<svg class="chart" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'role="group" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">\n'
        + "\n".join(parts)
        + "\n</svg></div>\n"
    )
