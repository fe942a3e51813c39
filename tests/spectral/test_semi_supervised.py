"""Semi-supervised scores against dense definitions, their two limits, and the tuning by cuts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from columnist.spectral._graph import cut_value, resolve_gamma
from columnist.spectral._ratios import FisherScore
from columnist.spectral._similarity import knn_similarity
from columnist.spectral._spec import SemiSupervisedSelector, SpectralSelector

SCORES = ["phi1", "phi2", "phi3"]
FORMS = [np.asarray, sp.csr_array, sp.csc_array]


def some_labels(seed: int, n: int = 40, m: int = 7, c: int = 3):
    """Data, and labels of about half of the samples, at least two per class."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.tile(np.arange(c), 2), rng.integers(0, c, n - 2 * c)])
    X = rng.standard_normal((n, m)) + rng.standard_normal(m) * codes[:, None] + 1.0
    hidden = (rng.random(n) < 0.5) & (np.arange(n) >= 2 * c)
    return X, np.where(hidden, -1, codes)


def spectral_score(X, S, name, gamma, k):
    """A score from all eigenpairs of the dense normalised Laplacian, one feature at a time."""
    gamma, d = resolve_gamma(gamma), S.sum(axis=1)
    first = np.sqrt(d / d.sum())
    L = np.eye(len(d)) - S / np.sqrt(np.outer(d, d))
    values, vectors = np.linalg.eigh(L - 9.0 * np.outer(first, first))
    values[0] = 0.0
    F = np.sqrt(d)[:, None] * X
    shares = np.square(vectors.T @ (F / np.linalg.norm(F, axis=0)))
    if name == "phi1":
        return gamma(values) @ shares
    if name == "phi2":
        return gamma(values[1:]) @ shares[1:] / shares[1:].sum(axis=0)
    return (gamma([2.0]) - gamma(values[1:k])) @ shares[1:k]


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.floats(0.0, 1.0),
    st.sampled_from(SCORES),
    st.sampled_from(["identity", "cube", 1.5]),
    st.sampled_from(FORMS),
)
def test_equals_the_definition(seed, weight, score, gamma, form):
    X, y = some_labels(seed)
    fitted = SemiSupervisedSelector(3, weight=weight, score=score, gamma=gamma).fit(form(X), y)
    seen = y >= 0
    same = (y[seen][:, None] == y[seen]) / np.bincount(y[seen])[y[seen]]
    whole = spectral_score(X, knn_similarity(X).toarray(), score, gamma, 3)
    labelled = spectral_score(X[seen], same, score, gamma, 3)
    expected = weight * whole + (1.0 - weight) * labelled
    np.testing.assert_allclose(fitted.raw_scores_, expected, rtol=1e-8, atol=1e-12)
    sign = 1.0 if score == "phi3" else -1.0
    np.testing.assert_array_equal(fitted.scores_, sign * fitted.raw_scores_)
    np.testing.assert_array_equal(fitted.ranking_, np.argsort(-sign * expected))
    np.testing.assert_array_equal(fitted.selected_, fitted.ranking_[:3])
    assert fitted.n_labelled_ == seen.sum()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(SCORES), st.sampled_from(FORMS))
def test_mutual_information_is_that_of_scikit_learn(seed, score, form):
    X, y = some_labels(seed)
    seen, above = y >= 0, X > X.mean(axis=0)
    selector = SemiSupervisedSelector(weight=0.0, supervised="mutual_information", score=score)
    raw = selector.fit(form(X), y).raw_scores_
    shared = [normalized_mutual_info_score(y[seen], column[seen]) for column in above.T]
    expected = 2.0 * np.array(shared) if score == "phi3" else 1.0 - np.array(shared)
    np.testing.assert_allclose(raw, expected, atol=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_without_unlabelled_share_it_is_the_fisher_score(seed):
    X, y = some_labels(seed)
    fitted = SemiSupervisedSelector(weight=0.0).fit(X, y)
    fisher = FisherScore().fit(X[y >= 0], y[y >= 0])
    np.testing.assert_allclose(fitted.raw_scores_, 1.0 / (1.0 + fisher.scores_), rtol=1e-10)
    np.testing.assert_array_equal(fitted.ranking_, fisher.ranking_)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(SCORES))
def test_without_labels_share_it_is_the_spectral_selector(seed, score):
    X, y = some_labels(seed)
    options = {"score": score, "n_clusters": 4 if score == "phi3" else None}
    plain = SpectralSelector(**options).fit(X)
    for labels in (y, np.full(len(y), -1), np.where(y == 0, 0, -1)):
        fitted = SemiSupervisedSelector(weight=1, **options).fit(X, labels)
        np.testing.assert_array_equal(fitted.raw_scores_, plain.raw_scores_)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(SCORES))
def test_the_weight_has_the_smallest_cut_value(seed, score):
    X, y = some_labels(seed)
    weights = [0.0, 0.3, 0.8, 1.0]
    fitted = SemiSupervisedSelector(3, weight=weights, score=score).fit(X, y)
    cuts = []
    for weight in weights:
        single = SemiSupervisedSelector(3, weight=weight, score=score).fit(X, y)
        cuts.append(cut_value(knn_similarity(X[:, np.sort(single.selected_)])))
    np.testing.assert_allclose(fitted.cut_values_, cuts, atol=1e-10)
    least = np.flatnonzero(np.array(cuts) <= min(cuts) + 1e-8)
    nearest = min(least, key=lambda i: abs(weights[i] - 0.5))
    assert fitted.weight_ == weights[nearest]
    again = SemiSupervisedSelector(3, weight=fitted.weight_, score=score).fit(X, y)
    np.testing.assert_array_equal(again.raw_scores_, fitted.raw_scores_)


def test_the_default_tries_eleven_weights():
    fitted = SemiSupervisedSelector(3).fit(*some_labels(0))
    np.testing.assert_allclose(fitted.weights_, np.arange(11) / 10)
    assert fitted.cut_values_.shape == (11,)


def two_structures(seed: int, n: int = 200):
    """Four features of the classes, four of another split, sixty of noise; three labels each."""
    rng = np.random.default_rng(seed)
    codes, other = np.arange(n) % 2, rng.integers(0, 2, n)
    X = rng.standard_normal((n, 68))
    X[:, :4] += 3.0 * codes[:, None]
    X[:, 4:8] += 3.0 * other[:, None]
    y = np.full(n, -1)
    for code in (0, 1):
        y[rng.choice(np.flatnonzero(codes == code), 3, replace=False)] = code
    return X, y


def test_both_parts_together_find_what_neither_finds():
    complete = {0.0: 0, 1.0: 0, "cut": 0}
    for seed in range(12):
        X, y = two_structures(seed)
        for weight in complete:
            selected = SemiSupervisedSelector(4, weight=weight).fit(X, y).selected_
            complete[weight] += set(selected) == set(range(4))
    # Labels alone fall for noise, neighbours alone for the other split.
    assert complete[0.0] <= 3
    assert complete[1.0] <= 3
    assert complete["cut"] >= 8


def test_all_samples_labelled():
    X, y = some_labels(1)
    y = np.arange(len(y)) % 3
    fitted = SemiSupervisedSelector(weight=0.0).fit(X, y)
    np.testing.assert_array_equal(fitted.ranking_, FisherScore().fit(X, y).ranking_)
    assert fitted.n_labelled_ == len(y)


def test_marks_of_unlabelled_samples():
    X, y = some_labels(2)
    names = np.array(["no", "yes", "perhaps"])[np.maximum(y, 0)]
    seen = y >= 0
    expected = SemiSupervisedSelector().fit(X, y).raw_scores_
    pairs = list(zip(names, seen, strict=True))
    forms = [
        [name if known else -1 for name, known in pairs],
        [name if known else None for name, known in pairs],
        np.array([name if known else np.nan for name, known in pairs], dtype=object),
        np.array([name if known else -1 for name, known in pairs]),
        pd.Series([name if known else pd.NA for name, known in pairs]),
        pd.Series([name if known else None for name, known in pairs], dtype="category"),
        np.where(seen, y, np.nan),
        np.where(seen, y, -1.0),
        [int(code) if known else None for code, known in zip(y, seen, strict=True)],
    ]
    for form in forms:
        fitted = SemiSupervisedSelector().fit(X, form)
        assert fitted.n_labelled_ == seen.sum()
        np.testing.assert_allclose(fitted.raw_scores_, expected, rtol=1e-12)
    assert set(SemiSupervisedSelector().fit(X, forms[0]).classes_) == {"no", "yes", "perhaps"}


def test_a_class_with_one_labelled_sample():
    X, y = some_labels(3)
    y[np.flatnonzero(y == 2)[1:]] = -1
    fitted = SemiSupervisedSelector(weight=0.0).fit(X, y)
    fisher = FisherScore().fit(X[y >= 0], y[y >= 0])
    np.testing.assert_array_equal(fitted.ranking_, fisher.ranking_)


@pytest.mark.parametrize("supervised", ["fisher", "mutual_information"])
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("form", FORMS)
def test_constant_features(form, score, supervised):
    X, y = some_labels(4)
    X[:, 2] = 5.0
    X[y >= 0, 4] = 0.0
    options = {"score": score, "supervised": supervised}
    fitted = SemiSupervisedSelector(weight=0.0, **options).fit(form(X), y)
    assert np.flatnonzero(np.isnan(fitted.raw_scores_)).tolist() == [2]
    assert fitted.ranking_[-1] == 2
    # The labels say nothing about a feature that is constant where they are.
    assert fitted.raw_scores_[4] == (0.0 if score == "phi3" else 1.0)
    assert np.isfinite(SemiSupervisedSelector(weight=0.5, **options).fit(form(X), y).scores_[4])


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_do_not_matter(scale):
    X, y = some_labels(5)
    for supervised in ("fisher", "mutual_information"):
        selector = SemiSupervisedSelector(supervised=supervised)
        expected = selector.fit(X, y).raw_scores_
        np.testing.assert_allclose(selector.fit(scale * X, y).raw_scores_, expected, rtol=1e-9)


def test_a_given_similarity():
    X, y = some_labels(6)
    S = knn_similarity(X)
    named = SemiSupervisedSelector(weight=0.4).fit(X, y).raw_scores_
    for similarity in (S.matrix, S.toarray(), knn_similarity):
        given_one = SemiSupervisedSelector(weight=0.4, similarity=similarity).fit(X, y)
        np.testing.assert_allclose(given_one.raw_scores_, named, rtol=1e-10)
    with pytest.raises(ValueError, match="a name or a function"):
        SemiSupervisedSelector(similarity=S.matrix).fit(X, y)


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({}, "none", "no sample is labelled"),
        ({"weight": 0.5}, "none", "set weight=1"),
        ({}, "one class", "the labelled ones have one class"),
        ({}, "one class", "give it another number"),
        ({}, "singletons", "Every class has one labelled sample"),
        ({}, "values", "needs class labels in y"),
        ({}, "short", "inconsistent numbers of samples"),
        ({}, "missing", "requires y to be passed"),
        ({"weight": "cuts"}, "some", "weight must be 'cut' or a number or several"),
        ({"weight": 1.5}, "some", "weight must be a number"),
        ({"weight": [0.5, -0.1]}, "some", "weight must be a number"),
        ({"weight": []}, "some", "weight must be 'cut', a number or several"),
        ({"supervised": "fishers"}, "some", "supervised must be one of"),
        ({"similarity": "fisher"}, "some", "made of classes"),
        ({"score": "phi4"}, "some", "score must be one of"),
        ({"n_neighbors": 40}, "some", "n_neighbors"),
    ],
)
def test_bad_input(options, labels, message):
    X, y = some_labels(7)
    forms = {
        "some": y,
        "none": np.full(len(y), -1),
        "one class": np.where(y == 1, 1, -1),
        "singletons": np.where(np.arange(len(y)) < 3, y, -1),
        "values": X[:, 0],
        "short": y[:-1],
        "missing": None,
    }
    with pytest.raises(ValueError, match=message):
        SemiSupervisedSelector(**options).fit(X, forms[labels])


def test_singletons_have_information():
    X, y = some_labels(8)
    y = np.where(np.arange(len(y)) < 3, y, -1)
    fitted = SemiSupervisedSelector(weight=0.0, supervised="mutual_information").fit(X, y)
    assert np.isfinite(fitted.scores_).all()
