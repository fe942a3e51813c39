"""Generalized low-rank models with row-sparse loadings."""

from columnist.lowrank._quadratic_pca import QuadraticPCA
from columnist.lowrank._solve import LoadingsPath, alpha_max, loadings_path
from columnist.lowrank._sparse_loadings import SparseLoadings

__all__ = ["LoadingsPath", "QuadraticPCA", "SparseLoadings", "alpha_max", "loadings_path"]
