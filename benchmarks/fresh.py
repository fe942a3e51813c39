"""Stored results that are older than the code they measure: ``make fresh``.

A result is old if code below :data:`MEASURES` differs from the commit at which it was measured.
Comments, docstrings and layout are no code. Exits with 1 if something is old.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

if str(Path(__file__).resolve().parents[1]) not in sys.path:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.store import HOME, Stored, git, names

__all__ = [
    "MEASURES",
    "REPRODUCES",
    "changed",
    "old",
    "old_experiments",
    "old_tables",
    "sources_of",
]

SEARCH = (
    "search/_engine.py",
    "search/_frontier.py",
    "search/_policies.py",
    "search/_run.py",
    "search/_workers.py",
    "selection/_columns.py",
    "selection/_certified.py",
    "linalg/_residual.py",
)
SUBSET = (
    "selection/_subset.py",
    "selection/_ridge.py",
    "selection/_relaxed.py",
    "search/_downdates.py",
)
CLASSES = ("selection/_logistic.py", "selection/_log_loss.py", "selection/_subset_classifier.py")
FAST = (
    "selection/_forward.py",
    "selection/_forward_states.py",
    "selection/_forward_spectra.py",
    "selection/_exchange.py",
    "selection/_improve.py",
    "selection/_swaps.py",
    "selection/_algebraic.py",
)
ROBUST = ("robust/_solve.py", "robust/_certified.py", "robust/_errors.py", "robust/_screening.py")
DASK = ("distributed/_blocks.py", "distributed/_run.py", "distributed/_moments.py")
GRAPHS = ("spectral/_neighbors.py", "spectral/_graph.py", "spectral/_similarity.py")

MEASURES: dict[str, tuple[str, ...]] = {
    "textbook": SEARCH,
    "readme": SEARCH,
    "reach": SEARCH,
    "gap": SEARCH,
    "limits": ("search/_run.py", "search/_options.py"),
    "cost": SEARCH,
    "imports": ("__init__.py",),
    "read_csv": ("io/_read.py", "io/_delimited.py"),
    "command_line": ("cli/_select.py", "cli/_app.py", "io/_read.py", "io/_delimited.py"),
    "parallel": SEARCH,
    "secular": ("linalg",),
    "exchange": ("selection/_exchange.py", "selection/_swaps.py", "selection/_improve.py"),
    "constrained": (
        "selection/_constrained.py",
        "selection/_rules.py",
        "selection/_feasible.py",
        "selection/_unit_relaxation.py",
    ),
    "weighted_tables": SEARCH,
    "wide": ("selection/_two_stage.py", "selection/_wide.py", "selection/_sampling.py"),
    "wide_dask": (*DASK, "selection/_wide.py"),
    "compare": (*SEARCH, *FAST, "selection/_sampling.py", "selection/_filters.py"),
    "robust_reach": ROBUST,
    "robust_peers": ("robust/_robpca.py", "robust/_cutoffs.py", "robust/_concentrate.py"),
    "robust_rows": ("robust/_blocks.py", "robust/_block_proof.py", "robust/_passes.py"),
    "large_graph": (*GRAPHS, "spectral/_spec.py"),
    "mrsf_path": ("spectral/_mrsf.py", "spectral/_l21_path.py", "spectral/_l21.py"),
    "lowrank": ("lowrank",),
    "cleaning": ("privacy/_cleaner.py", "privacy/_predictor.py"),
    "out_of_core": (*DASK, "linalg/_moments.py"),
    "scaling": (*DASK, "linalg/_moments.py", "linalg/_passes.py"),
    "proofs": (*SEARCH, "search/_proof.py", "_verify.py"),
    "missing": ("data/_missing.py",),
    "peers-columns": (*SEARCH, *FAST),
    "peers-target": (*SEARCH, *FAST),
    "peers-scores": (*GRAPHS, "spectral/_relief.py", "spectral/_ratios.py", "spectral/_mrsf.py"),
    "peers-large": (*GRAPHS, "spectral/_relief.py", "spectral/_spec.py"),
    "peers-robust": (*ROBUST, "robust/_robpca.py", "robust/_baselines.py"),
    "subset-designs": SUBSET,
    "subset-readme_case": SUBSET,
    "subset-products": SUBSET,
    "subset-targets": SUBSET,
    "subset-sizes": (*SUBSET, "selection/_sizes.py"),
    "subset-classes": CLASSES,
    "subset-accuracy": CLASSES,
}
"""Files or folders of ``src/columnist`` whose code a benchmark measures, by its name."""


REPRODUCES: dict[str, tuple[str, ...]] = {
    "example_tables": (),
    "column_tables": ("selection/_columns.py", "selection/_algebraic.py", "metrics/_entries.py"),
    "timing_figures": ("search/_engine.py", "selection/_columns.py", "robust/_solve.py"),
    "weighted_tables": ("selection/_algebraic.py", "selection/_two_stage.py"),
    "two_stage_tables": ("selection/_two_stage.py", "selection/_algebraic.py"),
    "multilabel_tables": ("selection/_multilabel.py", "selection/_multilabel_informed.py"),
    "multilabel_figures": ("selection/_multilabel.py", "selection/_forward.py"),
    "phase_transition": ("robust/_schatten.py", "robust/_pursuit.py"),
    "privacy_tables": ("privacy",),
    "lowrank_tables": ("lowrank",),
    "robust_tables": (*ROBUST, "robust/_pursuit.py", "robust/_robpca.py"),
    "robust_toys": (*ROBUST, "robust/_pursuit.py"),
    "robust_figures": (*ROBUST, "robust/_pursuit.py"),
    "noise_figures": ("spectral/_noise.py", "spectral/_spec.py"),
    "spectral_tables": ("spectral/_mrsf.py", "spectral/_mcsf.py", "spectral/_spec.py"),
    "spectral_examples": ("spectral/_spec.py", "spectral/_graph.py"),
    "row_sparse_tables": ("spectral/_mrsf.py", "spectral/_l21_path.py"),
    "gene_tables": ("knowledge",),
}
"""The same for the modules of ``reproduction``, whose own code counts, too."""


def sources_of(name: str) -> tuple[str, ...]:
    """Paths in the checkout that a stored result measures."""
    if name in REPRODUCES:
        parts = (f"src/columnist/{part}" for part in REPRODUCES[name])
        return (f"reproduction/{name}.py", *parts)
    return tuple(f"src/columnist/{part}" for part in MEASURES[name])


def old_tables() -> Iterator[str]:
    """One line per table of the stored reproduction that is older than its code, and why."""
    from reproduction import stored

    for part in stored().tables:
        module = getattr(part.table.cells, "func", part.table.cells).__module__
        why = reason(part.run, sources_of(module.rpartition(".")[2]))
        if why:
            yield f"{part.name} ({part.run['commit']}, {part.run['date']}): {why}"


def old_experiments() -> Iterator[str]:
    """One line per stored experiment of the reproduction that is older than its module."""
    from reproduction.experiments import EXPERIMENTS, FOLDER

    for name, module in EXPERIMENTS.items():
        yield from old_runs(Stored(name, FOLDER), (f"reproduction/{module}.py",))


def old(benchmarks: Iterable[str]) -> Iterator[str]:
    """One line per stored result that is older than its code, and why."""
    for name in benchmarks:
        yield from old_runs(Stored(name), sources_of(name))


def old_runs(stored: Stored, sources: Iterable[str]) -> Iterator[str]:
    """One line per run that is older than its code, and why."""
    for run in stored.runs:
        why = reason(run, sources)
        if why:
            yield f"{stored.name} ({run['commit']}, {run['date']}): {why}"


def reason(run: Mapping[str, Any], sources: Iterable[str]) -> str:
    """Why a run is old; empty if it is not."""
    if run["commit"].endswith("-dirty"):
        return "measured with changes that were not committed"
    return ", ".join(changed(run["commit"], sources))


def changed(commit: str, sources: Iterable[str]) -> list[str]:
    """Sources whose code differs from that of a commit."""
    try:
        listed = git("diff", "--name-only", commit, "--", *sources)
    except (OSError, subprocess.CalledProcessError):
        return [f"commit {commit} is not here"]
    return [path for path in listed.splitlines() if differs(commit, path)]


@cache
def differs(commit: str, path: str) -> bool:
    """Whether the code of a file differs: what Python sees of it, or else its text."""
    try:
        before, now = git("show", f"{commit}:{path}"), (HOME / path).read_text(encoding="utf-8")
    except (OSError, subprocess.CalledProcessError):
        return True  # new, or gone
    return (
        code_of(before) != code_of(now) if path.endswith(".py") else before.strip() != now.strip()
    )


def code_of(text: str) -> str:
    """A module without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and is_text(body[0]):
            body[0] = ast.Pass()
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    """Whether a statement is only a text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def main() -> int:
    """Print what is old."""
    lines = [*old(names()), *old_tables(), *old_experiments()]
    print(*(lines or ["every stored result is as new as the code it measures"]), sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
