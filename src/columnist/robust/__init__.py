"""PCA that survives outliers: whole rows are removed, not single entries."""

from columnist.robust.bias import BiasCentered
from columnist.robust.certified import RobustPCA
from columnist.robust.coherence import CoherencePursuit
from columnist.robust.hrpca import HRPCA
from columnist.robust.leverage import LeverageOutliers
from columnist.robust.path import OutlierPath, OutlierStep, outlier_path
from columnist.robust.pursuit import OutlierPursuit
from columnist.robust.robpca import ROBPCA
from columnist.robust.schatten import SchattenPCA
from columnist.robust.trimmed import TrimmedPCA

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
