"""Noise of a given level, and perturbation bounds against random and adversarial noise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from columnist.spectral._graph import Graph, laplacian
from columnist.spectral._noise import (
    blur,
    eigengap_bound,
    inject_noise,
    perturb_laplacian,
    score_bound,
    weyl_bound,
)
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


SLACK = 1e-10


@st.composite
def noisy_matrices(draw):
    """A Laplacian with clusters, and a symmetric matrix of any kind and size to add."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(2, 12))
    points = rng.standard_normal((n, 2)) + 4.0 * rng.integers(0, 3, (n, 1))
    L = laplacian(rbf_similarity(points, width=1.0), normalized=True)
    E = rng.standard_normal((n, n))
    E = E + E.T
    kind = draw(st.sampled_from(["any", "psd", "rank one", "worst"]))
    if kind == "psd":
        E = E @ E
    elif kind == "rank one":
        E = np.outer(E[0], E[0]) * draw(st.sampled_from([-1.0, 1.0]))
    elif kind == "worst":
        # Noise that turns two neighbouring eigenvectors into each other.
        V = np.linalg.eigh(L)[1]
        j = int(rng.integers(0, n - 1))
        E = np.outer(V[:, j], V[:, j + 1])
        E = E + E.T
    noise = draw(st.floats(0.0, 1.0)) ** 3
    return L, E * (noise / np.linalg.norm(E, 2)), noise


@given(noisy_matrices())
def test_weyl(case):
    L, E, noise = case
    values, limits = np.linalg.eigvalsh(L + E), weyl_bound(L, noise)
    assert (limits[:, 0] - SLACK <= values).all()
    assert (values <= limits[:, 1] + SLACK).all()


@given(noisy_matrices())
def test_eigengap(case):
    L, E, noise = case
    clean, noisy = np.linalg.eigh(L)[1], np.linalg.eigh(L + E)[1]
    cosines = np.minimum(np.abs(np.einsum("ij,ij->j", clean, noisy)), 1.0)
    sines = np.sqrt(1.0 - cosines**2)
    # The gap of either matrix will do. Rounding turns computed vectors as noise does.
    for matrix in (L, L + E):
        assert (sines <= eigengap_bound(matrix, noise + 1e-14) + 1e-6).all()


def test_eigengap_is_met():
    """Two eigenvalues: the bound is attained where the noise hurts most."""
    gap, noise = 1.0, 0.3
    angles = np.linspace(0.0, 2.0 * np.pi, 4001)
    reflections = np.array(
        [[np.cos(angles), np.sin(angles)], [np.sin(angles), -np.cos(angles)]]
    ).transpose(2, 0, 1)
    turned = np.linalg.eigh(np.diag([0.0, gap]) + noise * reflections)[1][:, 1, 0]
    assert np.abs(turned).max() == pytest.approx(eigengap_bound([0.0, gap], noise)[0], rel=1e-5)


def both_sums(L, E, f, moved, power, q):
    sums = []
    for matrix, vector in ((L, f), (L + E, moved)):
        values, vectors = np.linalg.eigh(matrix)
        sums.append(np.square(vectors[:, :q].T @ vector) @ values[:q] ** power)
    return sums


@given(noisy_matrices(), st.integers(1, 5), st.integers(1, 12), st.floats(0.0, 1.0), st.data())
def test_score_bound(case, power, q, feature_noise, data):
    L, E, noise = case
    n = len(L)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    f = np.linalg.eigh(L)[1][:, rng.integers(n)] + rng.choice([0.0, 0.3]) * rng.standard_normal(n)
    f /= np.linalg.norm(f)
    moved = f + feature_noise * rng.standard_normal(n) / np.sqrt(n)
    moved /= np.linalg.norm(moved)
    options = {"n_pairs": min(q, n), "power": power}
    clean, noisy = both_sums(L, E, f, moved, power, min(q, n))
    apart = float(np.linalg.norm(moved - f))
    assert abs(noisy - clean) <= score_bound(L, noise, feature_noise=apart, **options) + SLACK


def printed_bound(values, noisy_values, noise, power):
    """Theorem 2.6.4 as printed, with the smallest ratio that its condition allows."""
    ratio = max(((noisy_values - values) / values).max(), 1e-9)
    first = noise * ((1.0 + ratio) ** power - 1.0) / ratio * values ** (power - 1)
    return float((first + eigengap_bound(noisy_values, noise) * values**power).sum())


def test_the_printed_bound_for_powers_fails_for_negative_eigenvalues():
    L, E, f = np.diag([0.1, 1.0]), np.diag([-0.6, 0.0]), np.array([1.0, 0.0])
    clean, noisy = both_sums(L, E, f, f, 2, 1)
    assert noisy - clean == pytest.approx(0.24)
    values = np.diag(L)[:1]
    assert noisy - clean > printed_bound(values, np.array([-0.5]), 0.6, 2)
    assert noisy - clean <= score_bound(L, 0.6, power=2, n_pairs=1)


def test_the_printed_bound_has_no_ratio_for_a_zero_that_grows():
    L, E, f = np.diag([0.0, 1.0]), np.diag([0.3, 0.0]), np.array([1.0, 0.0])
    clean, noisy = both_sums(L, E, f, f, 2, 1)
    # All that is printed vanishes with the eigenvalue, but the sum grows.
    assert noisy - clean == pytest.approx(0.09)
    assert noisy - clean == pytest.approx(score_bound(L, 0.3, power=2, n_pairs=1))


@given(noisy_matrices(), st.integers(2, 4), st.integers(0, 10**6))
def test_the_printed_bound_for_powers_holds_without_such_eigenvalues(case, power, seed):
    L, E, noise = case
    L = L + 0.2 * np.eye(len(L))
    if np.linalg.eigvalsh(L + E)[0] < 0.0:
        return
    f = np.random.default_rng(seed).standard_normal(len(L))
    f /= np.linalg.norm(f)
    clean, noisy = both_sums(L, E, f, f, power, len(L))
    values, noisy_values = np.linalg.eigvalsh(L), np.linalg.eigvalsh(L + E)
    assert noisy - clean <= printed_bound(values, noisy_values, noise, power) + SLACK


def test_no_noise_changes_nothing():
    L = laplacian(rbf_similarity(np.arange(5.0)[:, None]), normalized=True)
    assert score_bound(L, 0.0, power=3) == 0.0
    np.testing.assert_array_equal(eigengap_bound(L, 0.0), 0.0)


def test_all_pairs_need_no_gaps():
    # A double eigenvalue has no gap, but the quadratic form does not care.
    assert score_bound([0.0, 1.0, 1.0], 0.1) == pytest.approx(0.1)
    assert score_bound([0.0, 1.0, 1.0], 0.1, n_pairs=2) > 1.0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, list])
def test_forms_of_the_matrix(form):
    S = rbf_similarity(np.arange(5.0)[:, None])
    L = laplacian(S, normalized=True)
    expected = score_bound(np.linalg.eigvalsh(L), 0.01)
    assert score_bound(form(L), 0.01) == pytest.approx(expected)
    noisy = perturb_laplacian(Graph.of(S), 0.1, random_state=0)
    assert weyl_bound(form(noisy), 0.0).shape == (5, 2)


@pytest.mark.parametrize(
    ("L", "options", "message"),
    [
        ([[0.0, 1.0], [0.0, 0.0]], {}, "symmetric"),
        (np.zeros((2, 3)), {}, "symmetric"),
        ([0.0, np.nan], {}, "NaN"),
        ([-0.5, 1.0], {}, "negative eigenvalue"),
        ([0.0, 1.0], {"noise": -0.1}, "noise must be a number >= 0"),
        ([0.0, 1.0], {"power": 0}, "power must be an integer >= 1"),
        ([0.0, 1.0], {"power": 1.5}, "power must be an integer"),
        ([0.0, 1.0], {"n_pairs": 0}, "n_pairs"),
        ([0.0, 1.0], {"n_pairs": 3}, "n_pairs"),
        ([0.0, 1.0], {"feature_noise": -1.0}, "feature_noise"),
    ],
)
def test_bad_matrices(L, options, message):
    noise = options.pop("noise", 0.1)
    with pytest.raises(ValueError, match=message):
        score_bound(L, noise, **options)
