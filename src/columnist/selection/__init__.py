"""Choosing features."""

from columnist.selection.certified import ColumnSelector
from columnist.selection.certify import certify
from columnist.selection.forward import ForwardSelector
from columnist.selection.path import PathStep, SelectionPath, selection_path
from columnist.selection.solution import Solution

__all__ = [
    "ColumnSelector",
    "ForwardSelector",
    "PathStep",
    "SelectionPath",
    "Solution",
    "certify",
    "selection_path",
]
