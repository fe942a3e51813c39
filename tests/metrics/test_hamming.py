"""Hamming loss against counting."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import sklearn.metrics

from columnist.metrics import hamming_loss


def test_hamming_loss_counts_samples_and_labels():
    rng = np.random.default_rng(0)
    Y, P = rng.integers(0, 2, (2, 30, 5))
    wrong = sum(Y[i, j] != P[i, j] for i in range(30) for j in range(5))
    assert hamming_loss(Y, P) == wrong / 150
    assert hamming_loss(Y.tolist(), P.tolist()) == wrong / 150
    assert hamming_loss(sp.csr_array(Y), P) == sklearn.metrics.hamming_loss(Y, P)


def test_hamming_loss_of_classes():
    assert hamming_loss(["a", "b", "c", "a"], ["a", "c", "c", "b"]) == 0.5
