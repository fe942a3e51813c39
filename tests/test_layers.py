"""The architecture, read from the import statements.

``ALLOWED`` is the whole rule: which parts of the package each part may import. Nothing in the
package imports the other folders of the repository (``OUTSIDE``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import columnist

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "columnist"

CORE = {"criteria", "linalg"}
FAMILIES = {"selection", "spectral", "robust", "lowrank", "privacy", "knowledge"}
DATA = {"data", "_warn"} | CORE
PROOFS = {"_verify", "_verify_rows", "_verify_turns"}
SHARED = {"search", "_selector", "_text", "metrics", "datasets", "io"} | PROOFS | DATA
SHARED |= {"constraints"}

ALLOWED: dict[str, set[str]] = {
    "criteria": set(),
    "_text": set(),
    "_warn": set(),
    "_verify": set(),  # it loads the next three by name
    "_verify_guide": set(),
    "_verify_rules": set(),
    "_verify_special": set(),
    "_verify_exact": {"_verify"},
    "_verify_rows": {"_verify", "_verify_guide", "_verify_turns"},
    "_verify_turns": {"_verify"},
    "_verify_leaves": {"_verify", "_verify_exact"},
    "_verification": {"_verify", "_verify_guide", "_verify_exact", "_verify_leaves"}
    | {"_verify_rows", "data"},
    "linalg": {"criteria"},
    "data": CORE | {"_warn"},
    "constraints": DATA,
    "search": CORE | {"_text", "_warn"},
    "_selector": DATA,
    "metrics": DATA,
    "io": {"data"},
    "datasets": {"io", "data"},
    **{family: SHARED for family in FAMILIES},
    "knowledge": SHARED | {"spectral"},
    "plotting": SHARED | FAMILIES,
    "distributed": SHARED | FAMILIES,
    "report": SHARED | FAMILIES | {"plotting"},
    "__main__": {"cli"},
    "cli": SHARED | FAMILIES | {"plotting", "distributed", "report", "_verification"},
}

OUTSIDE = {"benchmarks", "reproduction", "tests", "tools"}

CIMPORT = re.compile(r"^\s*from\s+([\w.]+)\s+c?import\s+\(?(.*)|^\s*c?import\s+([\w.]+)")


def python_imports(text: str, package: str) -> Iterator[tuple[str, str]]:
    """Every ``(module, name)`` a Python file imports; ``name`` is empty for ``import module``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve(node.level, node.module or "", package)
            yield from ((module, alias.name) for alias in node.names)


def cython_imports(text: str, package: str) -> Iterator[tuple[str, str]]:
    """The same for a Cython file, from the lines that begin with an import or a cimport."""
    for line in text.splitlines():
        if match := CIMPORT.match(line):
            source, names, plain = match.groups()
            if plain:
                yield plain, ""
                continue
            level = len(source) - len(source.lstrip("."))
            module = resolve(level, source.lstrip("."), package)
            for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names.split("#")[0]) or [""]:
                yield module, name


def resolve(level: int, module: str, package: str) -> str:
    """Absolute name of the module in ``from ..module import``."""
    if not level:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def part_of(module: str, name: str) -> str | None:
    """The part of columnist that an import reaches, or None if it leads elsewhere."""
    top, *rest = module.split(".")
    if top != "columnist":
        return None
    if rest:
        return rest[0]
    if not name or name.startswith("__"):
        return None
    return columnist._EXPORTS.get(name, f"columnist.{name}").split(".")[1]


def violations(path: Path, text: str) -> list[str]:
    """What a file at ``path``, relative to the package, imports although it may not."""
    here = path.parts[0].removesuffix(path.suffix)
    package = ".".join(["columnist", *path.parent.parts])
    reader = python_imports if path.suffix in {".py", ".pyi"} else cython_imports
    found = []
    for module, name in reader(text, package):
        there = part_of(module, name)
        if there and there != here and here != "__init__" and there not in ALLOWED.get(here, set()):
            found.append(f"{path}: {here} imports {there}")
        if module.split(".")[0] in OUTSIDE:
            found.append(f"{path}: imports {module}, which is not part of the package")
        if path != Path("data/_validation.py") and is_private_sklearn(module, name):
            found.append(f"{path}: imports {module} {name}, a private name of scikit-learn")
    return found


def is_private_sklearn(module: str, name: str) -> bool:
    """Whether an import leans on something scikit-learn may change without notice."""
    parts = [*module.split("."), name]
    return parts[0] == "sklearn" and any(
        part.startswith("_") and not part.startswith("__") for part in parts
    )


def source_files() -> list[Path]:
    """All Python and Cython files of the package, relative to it."""
    found = [p for s in ("py", "pyi", "pyx", "pxd") for p in SOURCE.rglob(f"*.{s}")]
    return sorted(path.relative_to(SOURCE) for path in found)


def test_imports_point_one_way():
    paths = source_files()
    assert len(paths) > 100
    texts = {path: (SOURCE / path).read_text(encoding="utf-8") for path in paths}
    assert [found for path in paths for found in violations(path, texts[path])] == []


# Searches of the printed kind are oracles of the tests, and stored facts those of the benchmarks.
SHARED = ("tests.oracles.", "benchmarks.store")


def test_the_reproduction_needs_little_besides_the_package():
    paths = sorted((REPOSITORY / "reproduction").rglob("*.py"))
    assert len(paths) > 20
    for path in paths:
        imports = python_imports(path.read_text(encoding="utf-8"), "reproduction")
        tops = {m.split(".")[0] for m, _ in imports if not m.startswith(SHARED)}
        assert not tops & (OUTSIDE - {"reproduction"}), path.name


def test_documents_name_what_exists():
    """Modules in the architecture page, and tests in the list of faults that they have seen."""
    page = (REPOSITORY / "docs" / "architecture.rst").read_text(encoding="utf-8")
    modules = {".".join(path.with_suffix("").parts[:2]) for path in source_files()}
    rooms = {module.split(".")[0] for module in modules}
    named = re.findall(r"``(?:columnist\.)?(\w+)\.(_\w+)", page)
    assert len(named) > 30
    assert {f"{room}.{name}" for room, name in named if room in rooms} <= modules
    page = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tests = re.findall(r"`(\w+/test_\w+\.py)::(\w+)`", page)
    assert len(tests) > 20
    for path, name in tests:
        assert name in (REPOSITORY / "tests" / path).read_text(encoding="utf-8"), (path, name)


def test_every_part_has_a_place():
    parts = {path.parts[0].removesuffix(path.suffix) for path in source_files()} - {"__init__"}
    assert parts <= ALLOWED.keys(), "give the new part a line in ALLOWED"


def test_the_rule_has_no_cycles():
    order = []
    while len(order) < len(ALLOWED):
        free = [p for p in ALLOWED if p not in order and ALLOWED[p] <= set(order)]
        assert free, "ALLOWED is circular"
        order += free


def test_families_do_not_meet():
    for family in FAMILIES:
        others = ALLOWED[family] & FAMILIES
        assert others == ({"spectral"} if family == "knowledge" else set())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("search/engine.py", "from columnist.selection._certified import ColumnSelector"),
        ("search/engine.py", "from columnist import ColumnSelector"),
        ("search/engine.py", "from ..selection import certified"),
        ("search/engine.py", "from .. import selection"),
        ("search/engine.py", "def late():\n    import columnist.robust"),
        ("criteria.py", "from columnist.linalg import secular"),
        ("selection/filters.py", "from columnist.spectral import graphs"),
        ("spectral/graphs.py", "from columnist.knowledge import vote"),
        ("linalg/kernel.pyx", "from columnist.search._engine cimport Heap"),
        ("linalg/kernel.pyx", "cimport columnist.search._engine as e"),
        ("linalg/kernel.pyx", "from ..search.engine cimport (Heap,"),
        ("robust/pca.py", "from sklearn.utils._param_validation import Interval"),
        ("robust/pca.py", "from sklearn.base import _fit_context"),
        ("linalg/kernel.pyx", "from sklearn.utils._typedefs cimport float64_t"),
        ("cli/app.py", "from reproduction import reproduce"),
        ("datasets/toys.py", "import reproduction.printed"),
    ],
)
def test_a_wrong_import_is_seen(path, text):
    assert len(violations(Path(path), text)) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", "from columnist.cli import main"),
        ("search/engine.py", "from .policies import optimal\nfrom ..linalg import secular"),
        ("knowledge/kofs.py", "from columnist.spectral import graphs"),
        ("linalg/branch.pyx", "from columnist.linalg._secular cimport roots"),
        ("linalg/branch.pyx", "from scipy.linalg.cython_lapack cimport dlaed4"),
        ("data/_validation.py", "from sklearn.base import _fit_context"),
        ("cli/app.py", "from columnist import ColumnSelector, __version__"),
    ],
)
def test_a_right_import_passes(path, text):
    assert violations(Path(path), text) == []


def test_every_module_of_linalg_serves_two_rooms():
    """Directly or through other modules of linalg; what one room uses lives there."""
    rooms: dict[str, set[str]] = {}
    for path in source_files():
        package = ".".join(["columnist", *path.parent.parts])
        reader = python_imports if path.suffix in {".py", ".pyi"} else cython_imports
        here = "/".join(path.with_suffix("").parts)
        for module, name in reader((SOURCE / path).read_text(encoding="utf-8"), package):
            parts = [*module.split("."), name][:4]
            if parts[:2] == ["columnist", "linalg"] and len(parts) > 2:
                rooms.setdefault(parts[2], set()).add(here)
    users = {path.stem for path in source_files() if path.parts[0] == "linalg"} - {"__init__"}
    for module in users:
        assert len(rooms_of(module, rooms, set())) > 1, f"linalg/{module} belongs to one room"


def rooms_of(module: str, importers: dict[str, set[str]], seen: set[str]) -> set[str]:
    """Rooms that use a module of linalg."""
    found: set[str] = set()
    for place in importers.get(module, set()):
        room, _, name = place.partition("/")
        if room != "linalg":
            found.add(room)
        elif name not in seen and name != "__init__":
            found |= rooms_of(name, importers, seen | {name})
    return found


def test_no_estimator_asks_where_its_data_live():
    """Questions about the kind of data belong to the door, and to the side of Dask."""
    asks = re.compile(
        r"isinstance\([^)]*(RowBlocks|ColumnParts|DataFrame|da\.Array)|open_blocks\(|keeps_rows"
    )
    found = [
        f"{path}: {line.strip()}"
        for path in source_files()
        if path.parts[0] not in ("data", "distributed")
        for line in (SOURCE / path).read_text(encoding="utf-8").splitlines()
        if asks.search(line)
    ]
    assert len(found) < 20, found
