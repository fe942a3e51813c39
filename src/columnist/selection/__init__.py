"""Choosing features."""

from columnist.selection.algebraic import GKSSelector, PivotedQRSelector, StrongRRQRSelector
from columnist.selection.certified import ColumnSelector
from columnist.selection.certify import certify
from columnist.selection.exchange import ExchangeSelector
from columnist.selection.filters import CorrelationFilter, MatchingFilter
from columnist.selection.forward import ForwardSelector
from columnist.selection.multilabel import (
    MultiLabelForwardClassifier,
    MultiLabelForwardClassifierCV,
)
from columnist.selection.path import PathStep, SelectionPath, selection_path
from columnist.selection.sampling import (
    LeverageSampler,
    NormSampler,
    UniformSampler,
    VolumeSampler,
)
from columnist.selection.solution import Solution

__all__ = [
    "ColumnSelector",
    "CorrelationFilter",
    "ExchangeSelector",
    "ForwardSelector",
    "GKSSelector",
    "LeverageSampler",
    "MatchingFilter",
    "MultiLabelForwardClassifier",
    "MultiLabelForwardClassifierCV",
    "NormSampler",
    "PathStep",
    "PivotedQRSelector",
    "SelectionPath",
    "Solution",
    "StrongRRQRSelector",
    "UniformSampler",
    "VolumeSampler",
    "certify",
    "selection_path",
]
