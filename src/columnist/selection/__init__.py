"""Selection of features."""

from columnist.selection._algebraic import GKSSelector, PivotedQRSelector, StrongRRQRSelector
from columnist.selection._base import FastSelector
from columnist.selection._budget import BudgetPath, BudgetStep, budget_path
from columnist.selection._certified import ColumnSelector
from columnist.selection._certify import certify
from columnist.selection._columns import column_problem
from columnist.selection._exchange import ExchangeSelector
from columnist.selection._filters import CorrelationFilter, MatchingFilter
from columnist.selection._forward import ForwardSelector
from columnist.selection._multilabel import (
    MultiLabelForwardClassifier,
    MultiLabelForwardClassifierCV,
)
from columnist.selection._multilabel_informed import MultiLabelInformedSelector
from columnist.selection._path import PathStep, SelectionPath, selection_path
from columnist.selection._resamples import StabilityProgress
from columnist.selection._robust_l21 import RobustL21Selector
from columnist.selection._sampling import (
    LeverageSampler,
    NormSampler,
    UniformSampler,
    VolumeSampler,
)
from columnist.selection._sizes import SubsetPath, SubsetStep
from columnist.selection._stability import Replacement, SelectionStability, selection_stability
from columnist.selection._subset_classifier import SubsetClassifier
from columnist.selection._subset_regressor import SubsetRegressor
from columnist.selection._task import Solution
from columnist.selection._two_stage import TwoStageSelector
from columnist.selection._verdicts import ColumnVerdicts, column_verdicts

__all__ = [
    "BudgetPath",
    "BudgetStep",
    "ColumnSelector",
    "ColumnVerdicts",
    "CorrelationFilter",
    "ExchangeSelector",
    "FastSelector",
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
    "Replacement",
    "RobustL21Selector",
    "SelectionPath",
    "SelectionStability",
    "Solution",
    "StabilityProgress",
    "StrongRRQRSelector",
    "SubsetClassifier",
    "SubsetPath",
    "SubsetRegressor",
    "SubsetStep",
    "TwoStageSelector",
    "UniformSampler",
    "VolumeSampler",
    "budget_path",
    "certify",
    "column_problem",
    "column_verdicts",
    "selection_path",
    "selection_stability",
]
