"""Features with several outputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.datasets import make_multilabel_low_rank, make_private_outputs
from columnist.privacy import NullSpaceCleaner


def test_labels_depend_on_the_informative_features_only():
    X, Y, informative = make_multilabel_low_rank(4000, 20, noise=0.0, random_state=0)
    correlation = np.abs(np.corrcoef(X.T, Y.T)[:20, 20:])
    others = np.setdiff1d(np.arange(20), informative)
    assert correlation[others].max() < 0.06 < correlation[informative].max(axis=1).min()


@given(st.integers(2, 60), st.integers(1, 5), st.floats(0.01, 1.0), st.integers(0, 100))
def test_every_label_applies_as_often_as_asked(n, n_labels, share, seed):
    _, Y, _ = make_multilabel_low_rank(
        n, 6, n_labels=n_labels, rank=1, n_informative=2, share=share, random_state=seed
    )
    assert Y.shape == (n, n_labels)
    assert (Y.sum(axis=0) == min(n - 1, max(1, round(share * n)))).all()


def test_low_rank_without_noise():
    """Labels of rank one that agree in sign are equal, the others apply at the other end."""
    _, Y, _ = make_multilabel_low_rank(
        100, 10, n_labels=5, rank=1, n_informative=3, noise=0.0, random_state=0
    )
    assert len(np.unique(Y, axis=1).T) <= 2


@pytest.mark.parametrize("overlap", [0.0, 0.4, 1.0])
def test_overlap_is_the_cosine(overlap):
    _, desired, confidential = make_private_outputs(overlap=overlap, random_state=0)
    np.testing.assert_allclose(desired @ desired.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(confidential, axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(confidential @ desired.T, axis=1), overlap, atol=1e-8)


def test_without_overlap_cleaning_hides_it_all():
    X, desired, confidential = make_private_outputs(overlap=0.0, random_state=0)
    cleaned = NullSpaceCleaner(desired, centering="none").fit(X).transform(X)
    np.testing.assert_allclose(cleaned @ desired.T, X @ desired.T, atol=1e-8)
    np.testing.assert_allclose(cleaned @ confidential.T, 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "options", "name"),
    [
        (make_multilabel_low_rank, {"rank": 7}, "rank"),
        (make_multilabel_low_rank, {"n_informative": 2}, "n_informative"),
        (make_multilabel_low_rank, {"n_features": 5}, "n_features"),
        (make_multilabel_low_rank, {"share": 0.0}, "share"),
        (make_private_outputs, {"n_features": 3}, "n_features"),
        (make_private_outputs, {"overlap": 1.1}, "overlap"),
    ],
)
def test_wrong_options(make, options, name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        make(**options)
