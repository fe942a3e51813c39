"""Preserved similarity against full matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.metrics import matrix_consistency, similarity_residue
from columnist.spectral._similarity import fisher_similarity, knn_similarity
from tests.strategies import matrices

FORMS = [np.asarray, sp.csr_array, sp.csc_array]


def unit(X):
    lengths = np.linalg.norm(X, axis=0)
    return X / np.where(lengths > 0.0, lengths, 1.0)


def kernel(n, seed, density=0.5):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, n)) * (rng.random((n, n)) < density)
    return K + K.T


@given(
    matrices(), st.integers(0, 10**6), st.sampled_from(FORMS), st.sampled_from(FORMS),
    st.booleans(), st.booleans(), st.booleans(), st.data(),
)  # fmt: skip
def test_residue_by_definition(X, seed, form, kernel_form, normalize, weighted, squared, data):
    K = kernel(len(X), seed)
    columns = data.draw(st.lists(st.integers(0, X.shape[1] - 1), unique=True, min_size=1))
    F = unit(X[:, columns]) if normalize else X[:, columns]
    W = np.random.default_rng(seed).standard_normal((len(columns), 2)) if weighted else None
    F = F if W is None else F @ W
    expected = np.linalg.norm(F @ F.T - K) ** (2 if squared else 1)
    residue = similarity_residue(
        form(X), kernel_form(K), columns, weights=W, normalize=normalize, squared=squared
    )
    assert residue == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kernel_form", FORMS)
def test_no_residue(kernel_form):
    X = np.random.default_rng(0).standard_normal((12, 4))
    residue = similarity_residue(X, kernel_form(X @ X.T), normalize=False)
    assert residue < 1e-13
    nearly = similarity_residue(X, kernel_form(X @ X.T + 1e-9 * np.eye(12)), normalize=False)
    assert nearly == pytest.approx(1e-9 * np.sqrt(12), rel=1e-5)


def test_many_blocks(monkeypatch):
    X = np.random.default_rng(1).standard_normal((40, 5))
    K = kernel(40, 1, density=0.1)
    expected = np.linalg.norm(unit(X) @ unit(X).T - K)
    monkeypatch.setattr("columnist.linalg._passes._BLOCK", 200)
    for form in FORMS:
        assert similarity_residue(X, form(K)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("form", FORMS)
def test_scales(scale, form):
    X, K = np.random.default_rng(2).standard_normal((8, 3)), kernel(8, 2)
    plain = similarity_residue(X, K)
    assert similarity_residue(form(scale * X), K) == pytest.approx(plain, rel=1e-10)
    whole = similarity_residue(X, K, normalize=False)
    large = similarity_residue(form(scale * X), form(scale**2 * K), normalize=False)
    assert large == pytest.approx(scale**2 * whole, rel=1e-9)


def test_similarities_of_the_spectral_family():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    for S in (fisher_similarity(y), knn_similarity(X)):
        assert similarity_residue(X, S) == pytest.approx(similarity_residue(X, S.toarray()))
        assert matrix_consistency(S, S) == pytest.approx(np.trace(S.toarray() @ S.toarray()))


@given(st.integers(0, 10**6), st.sampled_from(FORMS), st.sampled_from(FORMS))
def test_consistency_by_definition(seed, first, second):
    K, S = kernel(7, seed), kernel(7, seed + 1)
    trace = np.trace(K @ S)
    assert matrix_consistency(first(K), second(S)) == pytest.approx(trace, abs=1e-12)
    cosine = trace / np.linalg.norm(K) / np.linalg.norm(S)
    normalized = matrix_consistency(first(K), second(S), normalize=True)
    assert normalized == pytest.approx(cosine, abs=1e-12)
    own = matrix_consistency(first(K), second(1e-150 * K), normalize=True)
    assert own == pytest.approx(1.0)


def test_noise_lowers_the_consistency():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 2)) + 4.0 * rng.integers(0, 3, 60)[:, None]
    noise = rng.standard_normal(X.shape) * X.std(axis=0)
    values = []
    for level in (0.0, 0.3, 0.6, 0.9):
        Z = unit((1.0 - level) * X + level * noise)
        values.append(matrix_consistency(Z @ Z.T, unit(X) @ unit(X).T))
    assert (np.diff(values) < 0.0).all()


def test_names():
    X = pd.DataFrame(np.random.default_rng(5).standard_normal((6, 3)), columns=list("abc"))
    K = kernel(6, 5)
    assert similarity_residue(X, K, ["c", "a"]) == similarity_residue(X.to_numpy(), K, [2, 0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"similarity": np.eye(3)}, "similarity is a matrix of 3 samples; expected 4"),
        ({"similarity": np.ones((4, 2))}, "square matrix of samples"),
        ({"similarity": np.full((4, 4), np.nan)}, "NaN"),
        ({"weights": np.ones((2, 1))}, "a row for each of the 1 columns; got 2 rows"),
        ({"columns": [9]}, "columns holds the index 9"),
    ],
)
def test_bad_input(arguments, message):
    arguments = {"X": np.eye(4, 3), "similarity": np.eye(4), "columns": [0], **arguments}
    with pytest.raises(ValueError, match=message):
        similarity_residue(**arguments)


def test_bad_consistency():
    with pytest.raises(ValueError, match="S is a matrix of 3 samples; expected 4"):
        matrix_consistency(np.eye(4), np.eye(3))
    with pytest.raises(ValueError, match="zero everywhere"):
        matrix_consistency(np.eye(2), np.zeros((2, 2)), normalize=True)
