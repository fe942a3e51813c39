"""Products in batches are those of the Gram matrix, and need fewer passes."""

from __future__ import annotations

import numpy as np

from columnist.spectral._products import ProductsAhead
from columnist.spectral._scaled_columns import ScaledColumns


class Counting(ScaledColumns):
    """Counts its passes over the data."""

    passes = 0

    def cross(self, M):
        Counting.passes += 1
        return super().cross(M)


def test_products_whatever_is_thought_likely():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 40))
    G = X.T @ X
    ahead = ProductsAhead(ScaledColumns.plain(X))
    for feature in rng.permutation(40):
        product = ahead.of(int(feature), rng.standard_normal(40))
        np.testing.assert_allclose(product, G[feature], atol=1e-12)


def test_likely_features_share_a_pass():
    X = np.random.default_rng(1).standard_normal((7, 40))
    Counting.passes = 0
    ahead = ProductsAhead(Counting(X, np.ones(40)))
    likely = np.arange(40.0)
    for feature in range(39, 23, -1):
        ahead.of(feature, likely)
    assert Counting.passes == 1
    ahead.of(0, likely)
    assert Counting.passes == 2
