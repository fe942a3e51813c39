"""Spectral feature selection: features that agree with a similarity of the samples."""

from columnist.spectral import stability
from columnist.spectral.fisher import FisherScore
from columnist.spectral.forms import CommonForm, common_form
from columnist.spectral.graph import (
    cut,
    cut_value,
    degrees,
    laplacian,
    leading_eigenpairs,
    normalized_cut,
)
from columnist.spectral.hsic import HSIC
from columnist.spectral.laplacian_score import LaplacianScore
from columnist.spectral.mrmr import MRMR
from columnist.spectral.relief import Relief, ReliefF, relief_similarity
from columnist.spectral.semi_supervised import SemiSupervisedSelector
from columnist.spectral.similarity import (
    cosine_similarity,
    fisher_similarity,
    hsic_similarity,
    knn_similarity,
    label_similarity,
    linear_similarity,
    polynomial_similarity,
    rbf_similarity,
    resolve_similarity,
    weighted_similarity,
)
from columnist.spectral.spec import SpectralSelector
from columnist.spectral.trace_ratio import TraceRatio
from columnist.spectral.zero_norm import ZeroNormSVM

__all__ = [
    "HSIC",
    "MRMR",
    "CommonForm",
    "FisherScore",
    "LaplacianScore",
    "Relief",
    "ReliefF",
    "SemiSupervisedSelector",
    "SpectralSelector",
    "TraceRatio",
    "ZeroNormSVM",
    "common_form",
    "cosine_similarity",
    "cut",
    "cut_value",
    "degrees",
    "fisher_similarity",
    "hsic_similarity",
    "knn_similarity",
    "label_similarity",
    "laplacian",
    "leading_eigenpairs",
    "linear_similarity",
    "normalized_cut",
    "polynomial_similarity",
    "rbf_similarity",
    "relief_similarity",
    "resolve_similarity",
    "stability",
    "weighted_similarity",
]
