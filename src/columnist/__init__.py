"""Choose columns of a data matrix, and prove how good the choice is.

Names load on first use, so that ``import columnist`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from columnist import (
        constraints,
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
    from columnist._verification import verify
    from columnist.data._scales import ScaleWarning
    from columnist.knowledge import KnowledgeSelector, MultiSourceSelector
    from columnist.lowrank import SparseLoadings
    from columnist.privacy import NullSpaceCleaner
    from columnist.robust import (
        HRPCA,
        ROBPCA,
        CoherencePursuit,
        OutlierPursuit,
        RobustPCA,
        TrimmedPCA,
        outlier_path,
    )
    from columnist.search._certificate import Certificate
    from columnist.selection import (
        CorrelationFilter,
        ExchangeSelector,
        ForwardSelector,
        LeverageSampler,
        MatchingFilter,
        PivotedQRSelector,
        StrongRRQRSelector,
        SubsetClassifier,
        SubsetRegressor,
        TwoStageSelector,
    )
    from columnist.selection._certified import ColumnSelector
    from columnist.selection._certify import certify
    from columnist.selection._path import selection_path
    from columnist.selection._stability import selection_stability
    from columnist.selection._verdicts import column_verdicts
    from columnist.spectral import (
        HSIC,
        MRMR,
        MRSF,
        FisherScore,
        LaplacianScore,
        ReliefF,
        SpectralSelector,
        TraceRatio,
    )

    __version__: str

__all__ = [
    "HRPCA",
    "HSIC",
    "MRMR",
    "MRSF",
    "ROBPCA",
    "Certificate",
    "CoherencePursuit",
    "ColumnSelector",
    "CorrelationFilter",
    "ExchangeSelector",
    "FisherScore",
    "ForwardSelector",
    "KnowledgeSelector",
    "LaplacianScore",
    "LeverageSampler",
    "MatchingFilter",
    "MultiSourceSelector",
    "NullSpaceCleaner",
    "OutlierPursuit",
    "PivotedQRSelector",
    "ReliefF",
    "RobustPCA",
    "ScaleWarning",
    "SparseLoadings",
    "SpectralSelector",
    "StrongRRQRSelector",
    "SubsetClassifier",
    "SubsetRegressor",
    "TraceRatio",
    "TrimmedPCA",
    "TwoStageSelector",
    "__version__",
    "certify",
    "column_verdicts",
    "constraints",
    "criteria",
    "datasets",
    "distributed",
    "io",
    "knowledge",
    "lowrank",
    "metrics",
    "outlier_path",
    "plotting",
    "privacy",
    "report",
    "robust",
    "selection",
    "selection_path",
    "selection_stability",
    "spectral",
    "verify",
]

# Module -> its public names, or those of its subpackage that are available at the top level.
_SOURCES = {
    "columnist._verification": "verify",
    "columnist.data._scales": "ScaleWarning",
    "columnist.search._certificate": "Certificate",
    "columnist.selection._certified": "ColumnSelector",
    "columnist.selection._certify": "certify",
    "columnist.selection._path": "selection_path",
    "columnist.selection._stability": "selection_stability",
    "columnist.selection._verdicts": "column_verdicts",
    "columnist.selection": "CorrelationFilter ExchangeSelector ForwardSelector LeverageSampler "
    "MatchingFilter PivotedQRSelector StrongRRQRSelector SubsetClassifier SubsetRegressor "
    "TwoStageSelector",
    "columnist.robust": "CoherencePursuit HRPCA OutlierPursuit ROBPCA RobustPCA TrimmedPCA "
    "outlier_path",
    "columnist.spectral": "FisherScore HSIC LaplacianScore MRMR MRSF ReliefF SpectralSelector "
    "TraceRatio",
    "columnist.lowrank": "SparseLoadings",
    "columnist.privacy": "NullSpaceCleaner",
    "columnist.knowledge": "KnowledgeSelector MultiSourceSelector",
}
_EXPORTS = {name: module for module, names in _SOURCES.items() for name in names.split()}
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
