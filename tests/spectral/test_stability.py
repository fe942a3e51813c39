"""Guaranteed and observed noise thresholds, and examples 9 to 12 of the book."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from columnist.spectral import stability
from columnist.spectral._graph import Graph
from columnist.spectral._noise import blur
from columnist.spectral._similarity import rbf_similarity
from columnist.spectral._spec import SpectralSelector
from columnist.spectral.stability import noise_threshold, ranking_stability
from tests.examples import examples

SCORES = ["phi1", "phi2", "phi3"]


def clean_parts(X, S, score):
    """Dense Laplacian, trivial vector, and features prepared for a score."""
    d = S.sum(axis=1)
    first = np.sqrt(d / d.sum())
    L = np.eye(len(d)) - S / np.sqrt(np.outer(d, d))
    F = np.sqrt(d)[:, None] * X
    F = F / np.linalg.norm(F, axis=0)
    G = F - np.outer(first, first @ F)
    return L, first, G / np.linalg.norm(G, axis=0) if score == "phi2" else G


def scores_of(L, first, G, score, power, k):
    """Scores by definition, larger is better, for a Laplacian that may have noise."""
    if score != "phi3":
        return -np.einsum("ij,ij->j", G, np.linalg.matrix_power(L, power) @ G)
    values, vectors = np.linalg.eigh(L + 99.0 * np.outer(first, first))
    return (2.0**power - values[: k - 1] ** power) @ np.square(vectors[:, : k - 1].T @ G)


def some_noise(kind, L, first, G, features, rng):
    """Noise of norm 1 that keeps the trivial vector."""
    n = len(L)
    keep = np.eye(n) - np.outer(first, first)
    if kind == "random":
        E = rng.standard_normal((n, n))
        E = keep @ (E + E.T) @ keep
    elif kind == "pair":
        # The worst for a feature inside and one outside.
        a = rng.choice(features)
        b = rng.choice(np.setdiff1d(np.arange(G.shape[1]), features))
        vectors = np.linalg.eigh(np.outer(G[:, a], G[:, a]) - np.outer(G[:, b], G[:, b]))[1]
        E = np.outer(vectors[:, -1], vectors[:, -1]) - np.outer(vectors[:, 0], vectors[:, 0])
        E = E * rng.choice([-1.0, 1.0])
    else:
        # Turns two neighbouring eigenvectors into each other.
        vectors = np.linalg.eigh(L + 99.0 * np.outer(first, first))[1]
        j = int(rng.integers(0, n - 2))
        E = np.outer(vectors[:, j], vectors[:, j + 1])
        E = (E + E.T) * rng.choice([-1.0, 1.0])
    return E / np.linalg.norm(E, 2)


@st.composite
def rankings(draw):
    """Clustered data, a set of its best features, a score, and what it needs."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, m = 12, 6
    X = rng.standard_normal((n, m)) + 2.0
    X[:, :3] += 5.0 * (np.arange(n) % 3)[:, None] * rng.choice([-1.0, 1.0], 3)
    score, power = draw(st.sampled_from(SCORES)), draw(st.sampled_from([1, 2, 3]))
    S = rbf_similarity(X[:, :3], width=2.0).toarray()
    L, first, G = clean_parts(X, S, score)
    best = np.argsort(-scores_of(L, first, G, score, power, 3))
    return X, S, best[: draw(st.integers(1, m - 1))], score, power, rng


@settings(max_examples=300)
@given(rankings(), st.sampled_from(["random", "pair", "neighbours"]), st.floats(0.0, 1.0))
def test_no_noise_below_the_threshold_swaps_features(case, kind, part):
    X, S, features, score, power, rng = case
    options = {"score": score, "gamma": power, "n_clusters": 3, "similarity": S}
    threshold = noise_threshold(X, features, **options)
    L, first, G = clean_parts(X, S, score)
    E = some_noise(kind, L, first, G, features, rng)
    noise = part**0.2 * threshold * np.linalg.norm(L, 2)
    for amount in (noise, threshold * np.linalg.norm(L, 2)):
        values = scores_of(L + amount * E, first, G, score, power, 3)
        others = np.delete(values, features)
        assert values[features].min() >= others.max() - 1e-10


@settings(max_examples=50)
@given(rankings())
def test_the_threshold_is_exact_for_the_first_two_scores(case):
    X, S, features, score, _, _ = case
    score = "phi2" if score == "phi3" else score
    L, first, G = clean_parts(X, S, score)
    values = scores_of(L, first, G, score, 1, 3)
    features = np.argsort(-values)[: len(features)]
    threshold = noise_threshold(X, features, score=score, similarity=S)
    swapped = False
    for a in features:
        for b in np.setdiff1d(np.arange(X.shape[1]), features):
            vectors = np.linalg.eigh(np.outer(G[:, a], G[:, a]) - np.outer(G[:, b], G[:, b]))[1]
            E = np.outer(vectors[:, -1], vectors[:, -1]) - np.outer(vectors[:, 0], vectors[:, 0])
            noisy = L + 1.0001 * threshold * np.linalg.norm(L, 2) * E
            after = scores_of(noisy, first, G, score, 1, 3)
            swapped |= bool(after[b] > after[a])
    assert swapped


def test_threshold_of_sets_that_are_not_ahead():
    X = load_iris().data
    worst = SpectralSelector(1).fit(X).ranking_[-1]
    assert noise_threshold(X, [worst]) == 0.0
    # A copy outside is a tie.
    assert noise_threshold(np.column_stack([X, X[:, 2]]), [2, 3]) == 0.0


def test_forms_of_the_data():
    X, options = load_iris().data, {"similarity": "rbf"}
    expected = noise_threshold(X, [2, 3], **options)
    assert noise_threshold(sp.csr_array(X), [2, 3], **options) == pytest.approx(expected, rel=1e-9)
    assert noise_threshold(X, [False, False, True, True], **options) == expected
    with_constant = np.column_stack([X, np.full(len(X), 3.0)])
    # A constant feature is last whatever happens, and changes no distance.
    assert noise_threshold(with_constant, [2, 3], **options) == pytest.approx(expected, rel=1e-9)
    assert noise_threshold(with_constant, [0, 1, 2, 3], **options) == np.inf


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**500])
def test_units_do_not_matter(scale):
    X = load_iris().data
    assert noise_threshold(scale * X, [2, 3]) == pytest.approx(noise_threshold(X, [2, 3]))
    options = {"scores": "phi2", "shares": [0.5, 0.7], "n_repeats": 2, "random_state": 0}
    expected = repr(ranking_stability(X, [2, 3], **options))
    assert repr(ranking_stability(scale * X, [2, 3], **options)) == expected
    assert repr(ranking_stability(X, [2, 3], graph_data=scale * X, **options)) == expected


def toy(seed: int) -> np.ndarray:
    """Two features of three Gaussian clusters, and four of uniform noise."""
    rng = np.random.default_rng(seed)
    centres = np.repeat([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]], 30, axis=0)
    return np.column_stack([centres + rng.standard_normal((90, 2)), rng.random((90, 4))])


@pytest.mark.parametrize("score", SCORES)
def test_informative_features_rank_first(score):
    """Example 9, for 200 draws."""
    selector = SpectralSelector(2, score=score, n_clusters=3 if score == "phi3" else None)
    for seed in range(examples(200)):
        X = toy(seed)
        selector.set_params(similarity=rbf_similarity(X[:, :2], width=1.0))
        assert set(selector.fit(X).selected_) == {0, 1}


def without_self(Z) -> np.ndarray:
    """RBF similarity of width 1 in a graph without loops."""
    S = rbf_similarity(Z, width=1.0).toarray()
    return S - np.diag(S.diagonal())


@pytest.fixture(scope="module")
def toy_thresholds():
    """Mean level and share of noise per score and power: examples 10 to 12."""
    found = {}
    for power in (1, 3):
        runs = [
            ranking_stability(
                X := toy(seed),
                [0, 1],
                graph_data=X[:, :2],
                similarity=without_self,
                n_clusters=3,
                gamma=power,
                shares=np.arange(6, 21) / 20,
                n_repeats=2,
                random_state=seed,
            )
            for seed in range(8)
        ]
        for score in SCORES:
            found[score, power] = (
                np.mean([run[score].observed for run in runs]),
                np.mean([run[score].observed_share for run in runs]),
                max(run[score].guaranteed / run[score].observed for run in runs),
            )
    return found


def test_the_third_score_bears_most_noise_and_the_first_least(toy_thresholds):
    for measure in (0, 1):
        first, second, third = (toy_thresholds[score, 1][measure] for score in SCORES)
        assert third > second + 0.01 > first + 0.1


def test_a_cube_helps_the_first_score(toy_thresholds):
    assert toy_thresholds["phi1", 3][0] > toy_thresholds["phi1", 1][0]
    assert toy_thresholds["phi1", 3][1] > toy_thresholds["phi1", 1][1]


def test_guarantees_are_kept_by_blurred_data(toy_thresholds):
    assert max(value[2] for value in toy_thresholds.values()) < 1.0


def test_observed_swaps_are_the_first_ones():
    X, shares = load_iris().data, np.array([0.2, 0.4, 0.6, 0.8])
    found = ranking_stability(
        X, [2, 3], scores=["phi2"], shares=shares, n_repeats=4, random_state=0
    )["phi2"]
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    clean = Graph.of(SpectralSelector().fit(X)._graph(X, None).similarity)
    never = []
    for level, share in zip(found.levels, found.shares, strict=True):
        noise = rng.standard_normal(X.shape)
        mixed, levels = [], []
        for t in shares:
            Z = X.mean(axis=0) + (1 - t) * (X - X.mean(axis=0)) + t * X.std(axis=0) * noise
            graph = SpectralSelector()._graph(Z, None)
            fitted = SpectralSelector(2, similarity=graph.similarity).fit(X)
            mixed.append(set(fitted.selected_) != {2, 3})
            change = clean.normalized.toarray() - graph.normalized.toarray()
            L = np.eye(len(X)) - clean.normalized.toarray()
            levels.append(np.linalg.norm(change, 2) / np.linalg.norm(L, 2))
        at = mixed.index(True) if any(mixed) else len(shares) - 1
        assert share == shares[at]
        assert level == pytest.approx(levels[at])
        never.append(not any(mixed))
    assert found.survived == np.mean(never)


def test_noise_that_mixes_nothing():
    X = toy(0)
    options = {"graph_data": X[:, :2], "similarity": "rbf", "width": 1.0, "n_repeats": 2}
    found = ranking_stability(X, [0, 1], shares=[0.01, 0.02], random_state=0, **options)
    for score in SCORES:
        assert found[score].survived == 1.0
        assert found[score].observed_share == 0.02


def test_what_it_prints():
    X = toy(0)
    found = ranking_stability(
        X, [0, 1], graph_data=X[:, :2], shares=[0.5], n_repeats=2, random_state=0
    )
    lines = repr(found).splitlines()
    assert lines[0] == "Noise until features [0, 1] mix with others (2 draws)"
    assert [line.split()[0] for line in lines[1:]] == ["score", *SCORES]
    with pytest.raises(KeyError):
        found["phi4"]


def test_the_same_again():
    X = load_iris().data
    first, second = (
        ranking_stability(X, [2, 3], n_repeats=2, shares=[0.3, 0.6], random_state=1)
        for _ in range(2)
    )
    assert repr(first) == repr(second)


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ([], {}, "but not all"),
        ([0, 1, 2, 3], {}, "but not all"),
        ([7], {}, "index 7"),
        ([2], {"scores": ["phi4"]}, "scores must be one of"),
        ([2], {"gamma": 1.5}, "integer power"),
        ([2], {"gamma": np.sqrt}, "integer power"),
        ([2], {"n_clusters": 1}, "n_clusters must be an integer >= 2"),
        ([2], {"similarity": np.eye(150)}, "a name or a function"),
        ([2], {"shares": [0.2, 0.1]}, "ascending"),
        ([2], {"shares": [0.5, 1.5]}, "ascending numbers in"),
        ([2], {"shares": []}, "ascending"),
        ([2], {"n_repeats": 0}, "n_repeats must be an integer >= 1"),
        ([2], {"graph_data": np.eye(3)}, "inconsistent numbers of samples"),
    ],
)
def test_bad_input(features, options, message):
    with pytest.raises(ValueError, match=message):
        ranking_stability(load_iris().data, features, **options)


def test_more_bad_input():
    X = load_iris().data
    with pytest.raises(ValueError, match="makes sparse data dense"):
        ranking_stability(sp.csr_array(X), [2])
    X[:, 1] = 2.0
    with pytest.raises(ValueError, match="is constant and has no score"):
        noise_threshold(X, [1])
    with pytest.raises(ValueError, match="score must be one of"):
        noise_threshold(X, [2], score="phi")


def test_the_module_has_it_all():
    for name in stability.__all__:
        assert hasattr(stability, name)
    assert stability.blur is blur
