"""Noise of a given level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from columnist.spectral._graph import Graph, laplacian
from columnist.spectral._noise import blur, inject_noise, perturb_laplacian
from columnist.spectral._similarity import knn_similarity, rbf_similarity


def three_clusters(seed: int, n: int = 30) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) + np.array([[5, 0], [0, 5], [5, 5]])[np.arange(n) % 3]


def level_of(noisy: np.ndarray, clean: np.ndarray) -> float:
    return float(np.linalg.norm(noisy - clean, 2) / np.linalg.norm(clean, 2))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.0, 0.6))
def test_injected_noise_has_its_level(seed, level):
    X = three_clusters(seed)
    noisy = inject_noise(X, level, width=1.0, random_state=seed)
    clean = laplacian(rbf_similarity(X, width=1.0), normalized=True)
    again = laplacian(rbf_similarity(noisy.data, width=1.0), normalized=True)
    assert noisy.level == pytest.approx(level, abs=1e-9)
    assert level_of(again, clean) == pytest.approx(level, abs=1e-9)
    np.testing.assert_allclose(laplacian(noisy.graph.similarity, normalized=True), again)
    # It is the Laplacian of a graph still: no negative similarity, eigenvalues in [0, 2].
    values = np.linalg.eigvalsh(again)
    assert -1e-10 < values[0] < 1e-10
    assert values[-1] < 2.0 + 1e-10


@given(
    st.integers(0, 10**6), st.floats(0.0, 2.0), st.sampled_from([rbf_similarity, knn_similarity])
)
def test_laplacian_noise_has_its_level_and_keeps_the_degrees(seed, level, similarity):
    S = similarity(three_clusters(seed))
    clean = laplacian(S, normalized=True)
    clean = clean if isinstance(clean, np.ndarray) else clean.toarray()
    noisy = perturb_laplacian(S, level, random_state=seed)
    assert level_of(noisy, clean) == pytest.approx(level, abs=1e-12)
    np.testing.assert_allclose(noisy, noisy.T, atol=1e-15)
    np.testing.assert_allclose(noisy @ Graph.of(S).trivial, 0.0, atol=1e-12)


def test_two_samples_leave_room_for_noise():
    noisy = perturb_laplacian([[1.0, 0.5], [0.5, 1.0]], 0.5, random_state=0)
    assert abs(np.linalg.eigvalsh(noisy)[0]) < 1e-12


def test_blurred_data():
    X = load_iris().data
    np.testing.assert_allclose(blur(X, 0.0), X)
    only_noise = blur(np.tile(X, (20, 1)), 1.0, random_state=0)
    np.testing.assert_allclose(only_noise.mean(axis=0), X.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(only_noise.std(axis=0), X.std(axis=0), rtol=0.05)
    assert abs(np.corrcoef(only_noise[:, 2], only_noise[:, 3])[0, 1]) < 0.1


def test_the_same_noise_again():
    X = three_clusters(0)
    for random_state in (3, np.random.RandomState(3)):
        np.testing.assert_array_equal(
            blur(X, 0.4, random_state=random_state), blur(X, 0.4, random_state=3)
        )
    first = inject_noise(X, 0.2, random_state=5)
    np.testing.assert_array_equal(first.data, inject_noise(X, 0.2, random_state=5).data)
    assert repr(first).startswith("NoisyGraph(share=0.")


def test_a_graph_of_neighbours_changes_by_jumps():
    noisy = inject_noise(three_clusters(1), 0.3, similarity="knn", random_state=0)
    assert 0.2 < noisy.level < 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: inject_noise(X, 5.0, random_state=0), "by 1?[.0-9]+ at most"),
        (lambda X: inject_noise(X, -0.1), "level must be a number >= 0"),
        (lambda X: inject_noise(X, 0.1, similarity=np.eye(30)), "a name or a function"),
        (lambda X: inject_noise(X, 0.1, similarity="rbg"), "similarity must be one of"),
        (lambda X: inject_noise(X * np.nan, 0.1), "NaN"),
        (lambda X: perturb_laplacian(np.eye(30), np.nan), "level"),
        (lambda X: perturb_laplacian(X, 0.1), "square"),
        (lambda X: perturb_laplacian(np.zeros((30, 30)), 0.1), "no two samples"),
        (lambda X: perturb_laplacian([[1.0]], 0.1), "at least two samples"),
        (lambda X: blur(X, 1.1), "share must be a number >= 0 and <= 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call(three_clusters(0))
