"""Generalized low-rank models with row-sparse loadings."""

from columnist.lowrank.path import LoadingsPath, loadings_path
from columnist.lowrank.quadratic_pca import QuadraticPCA
from columnist.lowrank.sparse_loadings import SparseLoadings, alpha_max

__all__ = ["LoadingsPath", "QuadraticPCA", "SparseLoadings", "alpha_max", "loadings_path"]
