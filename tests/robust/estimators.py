"""The estimators that remove rows, with small settings."""

from __future__ import annotations

from columnist.robust._baselines import HRPCA, CoherencePursuit, LeverageOutliers, TrimmedPCA
from columnist.robust._bias import BiasCentered
from columnist.robust._certified import RobustPCA
from columnist.robust._pursuit import OutlierPursuit
from columnist.robust._robpca import ROBPCA
from columnist.robust._schatten import SchattenPCA

__all__ = ["ALL", "name"]

ALL = [
    RobustPCA(1, n_outliers=0.1, random_state=0, max_nodes=1),
    SchattenPCA(0.1, n_components=1),
    LeverageOutliers(1, n_outliers=0.1),
    CoherencePursuit(1, n_outliers=0.1),
    HRPCA(1, n_outliers=0.1, random_state=0),
    TrimmedPCA(1, n_outliers=0.1),
    OutlierPursuit(n_components=1, n_outliers=0.1),
    ROBPCA(1, random_state=0),
    BiasCentered(TrimmedPCA(1, n_outliers=0.1)),
]


def name(estimator) -> str:
    return type(estimator).__name__
