"""Right singular vectors and leverage scores against a plain SVD."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.selection import _factors as factors
from columnist.selection._factors import column_squares, right_vectors
from tests.strategies import matrices

FORMS = {"dense": np.asarray, "csc": sp.csc_array, "csc matrix": sp.csc_matrix}
SHAPES = [(30, 20), (20, 30), (200, 6), (6, 200), (12, 12), (1, 4), (4, 1)]


def rng():
    return np.random.default_rng(0)


def gapped(m, n, rank, gap=1e-3, dtype=np.float64):
    """Singular values 2 to 1 for ``rank`` directions, at most ``gap`` for the others."""
    U, _ = np.linalg.qr(rng().standard_normal((m, min(m, n))))
    V, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((n, min(m, n))))
    values = np.concatenate([np.linspace(2.0, 1.0, rank), gap * np.linspace(1, 0.5, len(V.T))])
    return ((U * values[: min(m, n)]) @ V.T).astype(dtype)


def explicit(vectors):
    """The vectors as an array, one per row."""
    data = vectors.data.toarray() if sp.issparse(vectors.data) else vectors.data
    return data.astype(np.float64) if vectors.left is None else vectors.left @ data


def leverage_scores(X, rank, generator):
    """Leverages in the best subspace of some rank, and its dimension."""
    vectors = right_vectors(X, rank, generator)
    return column_squares(vectors.data, vectors.left), len(vectors.values)


def exact_scores(X, rank):
    return np.square(np.linalg.svd(X.astype(np.float64))[2][:rank]).sum(axis=0)


@pytest.fixture(params=["as it comes", "by the Gram matrix", "by iteration"])
def road(request, monkeypatch):
    """The three ways to the vectors, whatever the size of the data."""
    if request.param != "as it comes":
        monkeypatch.setattr(factors, "_BLOCK", 0)
    if request.param == "by iteration":
        monkeypatch.setattr(factors, "_EXACT_SIDE", 0)
        monkeypatch.setattr(factors, "_OVERSAMPLING", 2)
    return request.param


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_a_plain_svd(form, dtype, shape, road):
    for rank in {1, min(3, *shape)}:
        X = gapped(*shape, rank, dtype=dtype)
        scores, used = leverage_scores(form(X), rank, rng())
        assert used == rank
        np.testing.assert_allclose(scores, exact_scores(X, rank), atol=1e-6)
        assert scores.sum() == pytest.approx(rank, rel=1e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_vectors_of_a_plain_svd(form, shape, road):
    X = gapped(*shape, min(3, *shape))
    vectors = right_vectors(form(X), 2, rng())
    _, values, expected = np.linalg.svd(X)
    np.testing.assert_allclose(vectors.values, values[:2], rtol=1e-6)
    overlaps = np.abs(explicit(vectors) @ expected[: len(vectors.values)].T)
    np.testing.assert_allclose(overlaps, np.eye(len(overlaps)), atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
def test_exact_on_dense_data(shape):
    X = rng().standard_normal(shape)
    for rank in range(1, min(shape) + 1):
        scores, used = leverage_scores(X, rank, None)
        assert used == rank
        np.testing.assert_allclose(scores, exact_scores(X, rank), atol=1e-10)


@given(matrices(), st.integers(1, 9), st.sampled_from(list(FORMS.values())))
def test_rank_above_the_numerical_one(X, rank, form):
    true_rank = np.linalg.matrix_rank(X)
    scores, used = leverage_scores(form(X), rank, None)
    assert used == min(rank, true_rank)
    assert scores.shape == (X.shape[1],)
    assert (scores >= 0.0).all() and (scores <= 1.0 + 1e-8).all()
    assert scores.sum() == pytest.approx(used)
    if used == true_rank:  # then the subspace is unique
        np.testing.assert_allclose(scores, exact_scores(X, used), atol=1e-7)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_low_rank(form, shape, road):
    X = gapped(*shape, 3, gap=0.0)
    scores, used = leverage_scores(form(X), 10, rng())
    assert used == 3
    np.testing.assert_allclose(scores, exact_scores(X, 3), atol=1e-6)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_nothing(form, shape, road):
    scores, used = leverage_scores(form(np.zeros(shape)), 2, rng())
    assert used == 0
    np.testing.assert_array_equal(scores, np.zeros(shape[1]))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_all_vectors_and_some_of_them(form, shape):
    X = rng().standard_normal(shape)
    every = right_vectors(form(X), None, None)
    assert len(every.values) == 20
    V = explicit(every)
    np.testing.assert_allclose(V @ V.T, np.eye(20), atol=1e-10)
    np.testing.assert_allclose(V.T @ np.diag(every.values**2) @ V, X.T @ X, atol=1e-10)
    some = every.keep([4, 0])
    np.testing.assert_array_equal(some.values, every.values[[4, 0]])
    # A product with fewer rows may be summed in another order.
    np.testing.assert_allclose(explicit(some), V[[4, 0]], rtol=1e-12, atol=1e-14)


def test_a_long_spectrum_without_gap_settles():
    """The captured energy is close to the best, though the vectors themselves are not unique."""
    X = sp.random_array((3000, 2500), density=0.01, rng=rng(), format="csc")
    vectors = right_vectors(X, 20, rng())
    best = np.sqrt(sp.linalg.eigsh(X.T @ X, k=20, return_eigenvectors=False)[::-1])
    assert (vectors.values <= best * (1 + 1e-10)).all()
    assert (vectors.values**2).sum() >= 0.998 * (best**2).sum()
    V = explicit(vectors)
    np.testing.assert_allclose(V @ V.T, np.eye(20), atol=1e-9)


def test_repeats_with_the_same_generator(monkeypatch):
    monkeypatch.setattr(factors, "_EXACT_SIDE", 0)
    X = rng().standard_normal((30, 20))
    first, second = (leverage_scores(X, 3, rng())[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
