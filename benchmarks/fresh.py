"""Stored results that are older than the code they measure: ``make fresh``.

A result is old if code below :data:`MEASURES` or :data:`REPRODUCES` differs from the commit at
which it was measured, if the module that computed it or one that this imports does, but for those
that all share (:data:`SHARED`), if the printed figures do, or if its run was stored without a fact
that all runs store today. Comments, docstrings, layout, types, imports and the words of errors and
warnings are no code. Exits with 1 if something is old.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

if str(Path(__file__).resolve().parents[1]) not in sys.path:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.store import HOME, Stored, git, names

__all__ = [
    "MEASURES",
    "REPRODUCES",
    "SHARED",
    "changed",
    "old",
    "old_experiments",
    "old_tables",
    "sources_of",
]


def within(folder: str, *names: str) -> tuple[str, ...]:
    """Files of a folder: modules are named without their ending."""
    return tuple(f"{folder}/_{name if '.' in name else f'{name}.py'}" for name in names)


FACTS = ("commit", "date", "command", "processor", "cores", "memory [GB]", "load")
RUN = within("search", "engine", "frontier", "policies", "run", "workers", "incumbent")
KERNELS = within("selection", "branch.pyx", "frame.pyx", "complete.pyx", "relax.pyx")
NODES = (
    *RUN,
    *KERNELS,
    *within("selection", "columns", "relaxed"),
    *within("linalg", "residual", "reduce", "rounding"),
)
SEARCH = (*NODES, *within("selection", "certified", "task"), "data/_matrices.py")
SUBSET = (
    *NODES,
    *within("selection", "subset", "ridge", "wide", "active", "descent.pyx"),
    *within("selection", "block_nodes", "block_relaxation", "block_diagonal", "block_sets.pyx"),
    "search/_downdates.py",
)
CLASSES = (*RUN, *within("selection", "logistic", "log_loss", "subset_classifier", "wide"))
FORWARD = within("selection", "forward", "forward_states", "forward_spectra", "forward_kernels.pyx")
EXCHANGE = within("selection", "exchange", "improve", "swaps")
FAST = (*FORWARD, *EXCHANGE, *within("selection", "algebraic", "factors", "base"))
CONCENTRATION = within("robust", "concentrate", "subspace", "row_data")
ROBUST = (
    *CONCENTRATION,
    *within("robust", "solve", "certified", "errors", "screening", "few_rows.pyx"),
    *within("robust", "blocks", "block_proof", "ascent", "deal", "tails.pyx"),
)
DASK = within("distributed", "blocks", "run", "moments")
PASSES = within("linalg", "moments", "passes", "column_parts")
GRAPHS = within("spectral", "neighbors", "graph", "similarity", "symmetric", "edges.pyx")
PATH = (
    *within("spectral", "mrsf", "l21", "l21_path", "l21_coordinate.pyx", "features"),
    *within("linalg", "threads", "prox"),
)
SCORES = within("spectral", "relief", "ratios", "scatter", "sequential", "spec", "base")
RANKED = (*SCORES, *within("spectral", "mrsf", "mcsf", "l21_path", "features", "forms"))
BASELINES = within("robust", "pursuit", "robpca", "baselines", "bias")
PROOF = (
    "_verify.py",
    "_verify_exact.py",
    "_verify_guide.py",
    "_verify_leaves.py",
    "_verify_rows.py",
    "_verify_rules.py",
    "_verify_special.py",
    "_verify_turns.py",
)

MEASURES: dict[str, tuple[str, ...]] = {
    "textbook": SEARCH,
    "readme": (*SEARCH, *FORWARD),
    "reach": SEARCH,
    "gap": SEARCH,
    "limits": (*SEARCH, *ROBUST, "search/_options.py", "selection/_path.py", "robust/_path.py"),
    "cost": NODES,
    "imports": ("__init__.py",),
    "read_csv": within("io", "read", "delimited"),
    "command_line": (*within("cli", "select", "app"), *within("io", "read", "delimited")),
    "parallel": SEARCH,
    "secular": ("linalg/_secular.pyx",),
    "exchange": (*FORWARD, *EXCHANGE, "search/_incumbent.py"),
    "constrained": (
        *NODES,
        *within("selection", "constrained", "rules", "feasible", "unit_relaxation"),
        "search/_downdates.py",
    ),
    "weighted_tables": (*SEARCH, *EXCHANGE),
    "wide": within("selection", "two_stage", "sampling", "forward", "filters"),
    "wide_dask": (*DASK, *within("selection", "two_stage", "sampling", "forward")),
    "compare": (
        *SEARCH,
        *FAST,
        *within("selection", "sampling", "filters", "two_stage", "multilabel_informed"),
        "selection/_robust_l21.py",
    ),
    "robust_reach": ROBUST,
    "robust_criteria": (*ROBUST, "robust/_block_floors.py", "search/_downdates.py", *RUN),
    "robust_peers": (*ROBUST, *within("robust", "robpca", "cutoffs", "baselines", "pursuit")),
    "robust_rows": (*ROBUST, *DASK, *within("robust", "passes", "conditioned")),
    "large_graph": (*GRAPHS, "spectral/_spec.py"),
    "mrsf_path": PATH,
    "mrsf_blocks": (*PATH, "distributed/_blocks.py"),
    "lowrank": ("lowrank",),
    "knowledge": ("knowledge",),
    "cleaning": within("privacy", "cleaner", "predictor"),
    "out_of_core": (*DASK, *PASSES, *within("selection", "certified", "task")),
    "scaling": (*DASK, *PASSES, *GRAPHS, *PATH, *SCORES, *within("spectral", "mcsf", "forms")),
    "proofs": (
        *SEARCH,
        *ROBUST,
        "selection/_subset.py",
        "selection/_relaxed.py",
        "selection/_traced.py",
        "robust/_proven.py",
        "search/_proof.py",
        *PROOF,
    ),
    "missing": (*SEARCH, "data/_missing.py"),
    "peers-columns": (*SEARCH, *FAST),
    "peers-target": (*SEARCH, *FAST),
    "peers-scores": (*GRAPHS, *SCORES, *PATH),
    "peers-large": (*GRAPHS, *SCORES),
    "peers-robust": (*ROBUST, *within("robust", "robpca", "baselines", "cutoffs")),
    "subset-designs": SUBSET,
    "subset-readme_case": SUBSET,
    "subset-products": SUBSET,
    "subset-targets": SUBSET,
    "subset-incumbents": SUBSET,
    "subset-sizes": (*SUBSET, "selection/_sizes.py"),
    "subset-classes": CLASSES,
    "subset-accuracy": CLASSES,
}
"""Files or folders of ``src/columnist`` whose code a benchmark measures, by its name. The code of
the benchmark itself counts as well."""

SHARED = {
    f"benchmarks/{name}.py"
    for name in (
        *("clusters", "data", "measure", "store", "table", "subset/run"),
        *(f"against/{name}" for name in ("area", "environments", "programs", "protocol", "run")),
    )
} | {
    f"reproduction/{name}.py"
    for name in ("cells", "claims", "curves", "data", "experiments", "reasons", "registry", "sizes")
} | {"reproduction/sources.py", "reproduction/printed/__init__.py"}  # fmt: skip
"""Modules that open data, keep, judge and show: a change there makes no result old."""

REPRODUCES: dict[str, tuple[str, ...]] = {
    "example_tables": ("selection/_columns.py",),
    "column_tables": ("selection/_columns.py", "selection/_algebraic.py", "metrics/_entries.py"),
    "timing_figures": (*NODES, "robust/_solve.py"),
    "weighted_tables": ("selection/_algebraic.py", "selection/_two_stage.py"),
    "two_stage_tables": (
        *within("selection", "two_stage", "algebraic", "filters", "sampling"),
        *within("selection", "forward", "forward_states"),
    ),
    "multilabel_tables": (
        *within("selection", "multilabel", "multilabel_informed", "robust_l21"),
        *within("selection", "forward", "forward_states", "forward_spectra"),
    ),
    "multilabel_figures": within("selection", "multilabel", "forward", "forward_states"),
    "phase_transition": ("robust/_schatten.py", "robust/_pursuit.py"),
    "privacy_tables": ("privacy",),
    "lowrank_tables": ("lowrank",),
    "robust_tables": (*ROBUST, *BASELINES),
    "robust_toys": (*ROBUST, *BASELINES),
    "robust_figures": (*ROBUST, *BASELINES),
    "noise_figures": within("spectral", "noise", "spec", "similarity"),
    "spectral_tables": (*GRAPHS, *RANKED),
    "spectral_examples": (*GRAPHS, *RANKED),
    "row_sparse_tables": (*within("spectral", "mrsf", "l21", "l21_path"), "linalg/_prox.py"),
    "gene_tables": ("knowledge",),
}
"""The same for the modules of ``reproduction``: the methods whose figures they compute. The engine
of a search is among them where times are measured, and not where its answer is proven."""


def sources_of(name: str) -> tuple[str, ...]:
    """Paths in the checkout that a stored benchmark measures."""
    return (*imported(own_code(name)), *(f"src/columnist/{part}" for part in MEASURES[name]))


def own_code(name: str) -> str:
    """The module of a benchmark."""
    kind, _, part = name.partition("-")
    if kind == "subset":
        generated = part in ("designs", "readme_case")
        part = (
            "generated" if generated else "classes" if part in ("classes", "accuracy") else "real"
        )
    folder = {"peers": "against", "subset": "subset"}.get(kind)
    return f"benchmarks/{folder}/{part}.py" if folder else f"benchmarks/{name}.py"


def sources_of_tables(module: str, table: str = "") -> tuple[str, ...]:
    """Paths in the checkout from which a module of the reproduction computes its tables, or one."""
    own = imported(f"reproduction/{module}.py")
    printed = sorted((HOME / "reproduction" / "printed").glob(f"{table}*.csv")) if table else []
    if module not in REPRODUCES:  # an experiment, on the methods of tables
        parts = {part for path in own for part in REPRODUCES.get(Path(path).stem, ())}
    else:
        parts = REPRODUCES[module]
    return (
        *own,
        *(str(path.relative_to(HOME)) for path in printed),
        *(f"src/columnist/{part}" for part in parts),
    )


def imported(path: str) -> list[str]:
    """A module beside the package, and those there that it imports, but for shared ones."""
    found, ahead = [], [path]
    while ahead:
        one = ahead.pop()
        if one in found or one in SHARED or not (HOME / one).is_file():
            continue
        found.append(one)
        for node in ast.walk(ast.parse((HOME / one).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = node.module.replace(".", "/")
                ahead += [f"{module}.py", *(f"{module}/{name.name}.py" for name in node.names)]
    return found


def old_tables() -> Iterator[str]:
    """One line per table of the stored reproduction that is older than its code, and why."""
    from reproduction import stored

    for part in stored().tables:
        module = getattr(part.table.cells, "func", part.table.cells).__module__
        why = reason(part.run, sources_of_tables(module.rpartition(".")[2], part.name))
        if why:
            yield f"{part.name} ({part.run['commit']}, {part.run['date']}): {why}"


def old_experiments() -> Iterator[str]:
    """One line per stored experiment of the reproduction that is older than its module."""
    from reproduction.experiments import EXPERIMENTS, FOLDER

    for name, module in EXPERIMENTS.items():
        yield from old_runs(Stored(name, FOLDER), sources_of_tables(module))


def old(benchmarks: Iterable[str]) -> Iterator[str]:
    """One line per stored result that is older than its code, and why."""
    for name in benchmarks:
        yield from old_runs(Stored(name), sources_of(name))


def old_runs(stored: Stored, sources: Iterable[str]) -> Iterator[str]:
    """One line per run that is older than its code, and why."""
    for run in stored.runs:
        why = "; ".join(filter(None, [unknown(run), reason(run, sources)]))
        if why:
            yield f"{stored.name} ({run['commit']}, {run['date']}): {why}"


def unknown(run: Mapping[str, Any]) -> str:
    """What is not known of a run that its figures depend on; empty if all is."""
    load = run.get("load")
    known = {**run, "load": load if isinstance(load, list) and None not in load else None}
    missing = [name for name in FACTS if known.get(name) is None]
    return f"stored without {', '.join(missing)}" if missing else ""


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
    """Whether the code of a file differs: what Python or Cython sees of it, or else its text."""
    if path.endswith(".pyi"):
        return False
    try:
        before, now = git("show", f"{commit}:{path}"), (HOME / path).read_text(encoding="utf-8")
    except (OSError, subprocess.CalledProcessError):
        return True  # new, or gone
    if path.endswith(".py"):
        return code_of(before) != code_of(now)
    if path.endswith((".pyx", ".pxd")):
        return list(cython_of(before)) != list(cython_of(now))
    return before.split() != now.split()


def code_of(text: str) -> str:
    """A module without what does not change what it computes, nor how fast."""
    return ast.dump(Bare().visit(ast.parse(text)))


class Bare(ast.NodeTransformer):
    """Removes docstrings, imports, types, and the words of errors and warnings."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("annotation", "returns"):
            if getattr(node, field, None) is not None:
                setattr(node, field, None if not isinstance(node, ast.AnnAssign) else ast.Pass())
        if isinstance(getattr(node, "body", None), list):
            node.body = [line for line in node.body if not is_text(line)] or [ast.Pass()]
        return node

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return self.generic_visit(wordless(node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        warns = ast.unparse(node.func).rpartition(".")[2] == "warn"
        return self.generic_visit(wordless(node) if warns else node)


def wordless(node: ast.AST) -> ast.AST:
    """A statement whose texts are empty, but for the values in them."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            part.values = [value for value in part.values if not isinstance(value, ast.Constant)]
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            part.value = ""
    return node


def cython_of(text: str) -> Iterator[tuple[int, str]]:
    """Words of a Cython module without comments and docstrings, with their indentation."""
    kinds = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.DEDENT}
    begins = True  # a statement
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type not in kinds and not (begins and token.type == tokenize.STRING):
            yield token.type, "" if token.type == tokenize.INDENT else token.string
        if token.type != tokenize.COMMENT:
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)


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
