"""Choosing features."""

from columnist.selection.certified import ColumnSelector
from columnist.selection.certify import certify
from columnist.selection.path import PathStep, SelectionPath, selection_path

__all__ = ["ColumnSelector", "PathStep", "SelectionPath", "certify", "selection_path"]
