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
from columnist.selection.multilabel_informed import MultiLabelInformedSelector
from columnist.selection.path import PathStep, SelectionPath, selection_path
from columnist.selection.robust_l21 import RobustL21Selector
from columnist.selection.sampling import (
    LeverageSampler,
    NormSampler,
    UniformSampler,
    VolumeSampler,
)
from columnist.selection.solution import Solution
from columnist.selection.two_stage import TwoStageSelector

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
    "MultiLabelInformedSelector",
    "NormSampler",
    "PathStep",
    "PivotedQRSelector",
    "RobustL21Selector",
    "SelectionPath",
    "Solution",
    "StrongRRQRSelector",
    "TwoStageSelector",
    "UniformSampler",
    "VolumeSampler",
    "certify",
    "selection_path",
]
