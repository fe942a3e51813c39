"""Spectral feature selection: features that agree with a similarity of the samples."""

from columnist.spectral import stability
from columnist.spectral._forms import (
    CommonForm,
    common_form,
    lda_response,
    spectral_response,
    svm_response,
)
from columnist.spectral._graph import (
    cut,
    cut_value,
    degrees,
    laplacian,
    leading_eigenpairs,
    normalized_cut,
)
from columnist.spectral._l21 import L21Solution, l21_regression
from columnist.spectral._mcsf import MCSF
from columnist.spectral._mrsf import MRSF, PathReport
from columnist.spectral._ratios import FisherScore, TraceRatio
from columnist.spectral._relief import Relief, ReliefF, relief_similarity
from columnist.spectral._sequential import HSIC, MRMR, ZeroNormSVM
from columnist.spectral._similarity import (
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
from columnist.spectral._spec import LaplacianScore, SemiSupervisedSelector, SpectralSelector
from columnist.spectral._symmetric import SymmetricMatrix

__all__ = [
    "HSIC",
    "MCSF",
    "MRMR",
    "MRSF",
    "CommonForm",
    "FisherScore",
    "L21Solution",
    "LaplacianScore",
    "PathReport",
    "Relief",
    "ReliefF",
    "SemiSupervisedSelector",
    "SpectralSelector",
    "SymmetricMatrix",
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
    "l21_regression",
    "label_similarity",
    "laplacian",
    "lda_response",
    "leading_eigenpairs",
    "linear_similarity",
    "normalized_cut",
    "polynomial_similarity",
    "rbf_similarity",
    "relief_similarity",
    "resolve_similarity",
    "spectral_response",
    "stability",
    "svm_response",
    "weighted_similarity",
]
