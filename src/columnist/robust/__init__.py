"""Robust PCA: removes outlying rows (whole rows, not single entries)."""

from columnist.robust._baselines import HRPCA, CoherencePursuit, LeverageOutliers, TrimmedPCA
from columnist.robust._bias import BiasCentered
from columnist.robust._certified import RobustPCA
from columnist.robust._path import OutlierPath, OutlierStep, outlier_path
from columnist.robust._pursuit import OutlierPursuit
from columnist.robust._robpca import ROBPCA
from columnist.robust._schatten import SchattenPCA

__all__ = [
    "HRPCA",
    "ROBPCA",
    "BiasCentered",
    "CoherencePursuit",
    "LeverageOutliers",
    "OutlierPath",
    "OutlierPursuit",
    "OutlierStep",
    "RobustPCA",
    "SchattenPCA",
    "TrimmedPCA",
    "outlier_path",
]
