"""What the package promises to the outside: names, types, and a light import."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import columnist

SOURCE = Path(__file__).parents[1] / "src" / "columnist"
OPTIONAL = {"dask", "faiss", "jinja2", "matplotlib", "pandas", "polars", "rich", "typer"}
HEAVY = {"numpy", "scipy", "sklearn"}


def public_modules() -> list[str]:
    """Names of all modules of the package that hide behind no underscore."""
    walk = pkgutil.walk_packages(columnist.__path__, "columnist.")
    names = [module.name for module in walk]
    return ["columnist", *(n for n in names if not any(p.startswith("_") for p in n.split(".")))]


def loaded_by(statement: str) -> set[str]:
    """Top-level modules present in a fresh interpreter after ``statement``."""
    code = f"import sys\n{statement}\nprint(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_every_listed_name_exists():
    for module in map(importlib.import_module, public_modules()):
        names = getattr(module, "__all__", [])
        assert all(isinstance(name, str) for name in names), module
        assert [name for name in names if not hasattr(module, name)] == [], module
        assert len(set(names)) == len(names), module


def test_star_import():
    for module in public_modules():
        namespace: dict[str, object] = {}
        exec(f"from {module} import *", namespace)
        names = set(getattr(importlib.import_module(module), "__all__", []))
        assert names - namespace.keys() == set(), module


def test_dir_lists_lazy_names():
    assert set(columnist.__all__) <= set(dir(columnist))


def test_common_selectors_are_those_of_their_families():
    families = (columnist.selection, columnist.robust, columnist.spectral)
    families += (columnist.lowrank, columnist.privacy, columnist.knowledge)
    lent = [n for n in columnist.__all__ if any(n in family.__all__ for family in families)]
    assert {"ForwardSelector", "ExchangeSelector", "ROBPCA", "FisherScore", "MRMR"} <= set(lent)
    for name in lent:
        owner = next(family for family in families if name in family.__all__)
        assert getattr(columnist, name) is getattr(owner, name)


def test_a_name_of_one_family_loads_no_other():
    code = "import sys, columnist as c; c.ForwardSelector; print('columnist.robust' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = columnist.nonsense


def test_version_matches_the_installed_package():
    assert columnist.__version__ == version("columnist")


def test_types_are_shipped():
    package = files("columnist")
    assert package.joinpath("py.typed").is_file()
    for kernel in SOURCE.rglob("*.pyx"):
        stub = kernel.relative_to(SOURCE).with_suffix(".pyi")
        assert package.joinpath(*stub.parts).is_file(), f"{kernel.name} has no {stub.name}"


def test_every_kernel_is_compiled():
    for kernel in SOURCE.rglob("*.pyx"):
        name = ".".join(["columnist", *kernel.relative_to(SOURCE).with_suffix("").parts])
        assert not importlib.import_module(name).__file__.endswith((".py", ".pyx"))


def test_import_is_light():
    assert loaded_by("import columnist") & (OPTIONAL | HEAVY) == set()


def test_no_public_name_needs_an_extra():
    # scikit-learn loads pandas by itself where it is installed.
    baseline = loaded_by("import sklearn.feature_selection")
    assert (loaded_by("from columnist import *") - baseline) & OPTIONAL == set()
