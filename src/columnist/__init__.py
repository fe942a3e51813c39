"""Choose columns of a data matrix, and prove how good the choice is.

Names load on first use, so that ``import columnist`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from columnist import (
        criteria,
        datasets,
        distributed,
        io,
        knowledge,
        lowrank,
        metrics,
        plotting,
        privacy,
        report,
        robust,
        selection,
        spectral,
    )
    from columnist.search._certificate import Certificate
    from columnist.selection._certified import ColumnSelector
    from columnist.selection._certify import certify
    from columnist.selection._path import selection_path

    __version__: str

__all__ = [
    "Certificate",
    "ColumnSelector",
    "__version__",
    "certify",
    "criteria",
    "datasets",
    "distributed",
    "io",
    "knowledge",
    "lowrank",
    "metrics",
    "plotting",
    "privacy",
    "report",
    "robust",
    "selection",
    "selection_path",
    "spectral",
]

# Public name -> module that defines it.
_EXPORTS = {
    "Certificate": "columnist.search._certificate",
    "ColumnSelector": "columnist.selection._certified",
    "certify": "columnist.selection._certify",
    "selection_path": "columnist.selection._path",
}
_SUBMODULES = frozenset(__all__) - {*_EXPORTS, "__version__"}


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(import_module(_EXPORTS[name]), name)
    elif name in _SUBMODULES:
        value = import_module(f"columnist.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("columnist")
    else:
        raise AttributeError(f"module 'columnist' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
