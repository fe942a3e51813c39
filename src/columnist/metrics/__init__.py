"""Metrics of selections and predictions."""

from columnist.metrics._accuracy import (
    AccuracyBySize,
    aggregated_accuracy,
    hamming_loss,
    paired_t_test,
)
from columnist.metrics._columns import (
    matrix_consistency,
    neighbour_jaccard,
    reconstruction_error,
    redundancy_rate,
    similarity_residue,
)
from columnist.metrics._entries import entry_errors

__all__ = [
    "AccuracyBySize",
    "aggregated_accuracy",
    "entry_errors",
    "hamming_loss",
    "matrix_consistency",
    "neighbour_jaccard",
    "paired_t_test",
    "reconstruction_error",
    "redundancy_rate",
    "similarity_residue",
]
