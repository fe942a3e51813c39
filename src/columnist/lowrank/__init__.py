"""Generalized low-rank models with row-sparse loadings."""

from columnist.lowrank._models import QuadraticPCA, SparseLoadings
from columnist.lowrank._solve import LoadingsPath, alpha_max, loadings_path

__all__ = ["LoadingsPath", "QuadraticPCA", "SparseLoadings", "alpha_max", "loadings_path"]
