"""Perturbation bounds against random and adversarial noise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.spectral._graph import Graph, laplacian
from columnist.spectral._noise import perturb_laplacian
from columnist.spectral._perturbation import eigengap_bound, score_bound, weyl_bound
from columnist.spectral._similarity import rbf_similarity

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
def test_bad_input(L, options, message):
    noise = options.pop("noise", 0.1)
    with pytest.raises(ValueError, match=message):
        score_bound(L, noise, **options)
