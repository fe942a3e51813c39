"""ReliefF against its definition in exact arithmetic, and the identities it obeys."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from columnist.spectral import _neighbors
from columnist.spectral._relief import Relief, ReliefF, relief_similarity
from tests.spectral.data import SEEDS

FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]
SIZES = st.lists(st.integers(2, 7), min_size=2, max_size=4)


# -- the definition -----------------------------------------------------------------


def exact_neighbors(X, y, h):
    """For every sample the list of its neighbours in every class, by exact distances."""
    columns = [[Fraction(float(value)) for value in column] for column in X.T]
    ranges = [max(column) - min(column) for column in columns]

    def distance(i, j):
        return sum(
            abs(f[i] - f[j]) / spread for f, spread in zip(columns, ranges, strict=True) if spread
        )

    found = []
    for i in range(len(y)):
        others = sorted((distance(i, j), j) for j in range(len(y)) if j != i)
        found.append({c: [j for _, j in others if y[j] == c][:h] for c in sorted(set(y.tolist()))})
    return found


def exact_scores(X, y, h):
    """ReliefF's score of every feature, loop by loop."""
    n, neighbors = len(y), exact_neighbors(X, y, h)
    share = {c: Fraction(int(np.sum(y == c)), n) for c in set(y.tolist())}
    scores = []
    for column in X.T:
        f = [Fraction(float(value)) for value in column]
        spread = max(f) - min(f)
        total = Fraction(0)
        for i in range(n):
            own = y[i].item()
            for c, near in neighbors[i].items():
                mean = sum(abs(f[i] - f[j]) for j in near) / len(near)
                total += -mean if c == own else share[c] / (1 - share[own]) * mean
        scores.append(float(total / spread / n) if spread else np.nan)
    return np.array(scores)


def labelled(seed, sizes, m=4, kind="gaussian"):
    """Data of classes of these sizes, in random order; integers have zeros and many ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    if kind == "integers":
        return rng.integers(-1, 4, (len(y), m)).astype(float), y
    return rng.standard_normal((len(y), m)) + 0.5 * y[:, None] * rng.standard_normal(m), y


@settings(max_examples=40)
@given(
    SEEDS,
    SIZES,
    st.integers(1, 8),
    st.sampled_from(["gaussian", "integers"]),
    st.sampled_from(FORMS),
)
def test_equals_the_definition(seed, sizes, h, kind, form):
    X, y = labelled(seed, sizes, kind=kind)
    assume(np.ptp(X, axis=0).any())
    fitted = ReliefF(1, n_neighbors=h).fit(form(X), y)
    np.testing.assert_allclose(fitted.raw_scores_, exact_scores(X, y, h), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(fitted.scores_, fitted.raw_scores_)
    assert fitted.scores_[fitted.selected_[0]] >= np.nanmax(fitted.scores_) - 1e-14


@settings(max_examples=20)
@given(SEEDS, st.lists(st.integers(2, 9), min_size=2, max_size=2))
def test_relief_equals_the_definition(seed, sizes):
    X, y = labelled(seed, sizes)
    fitted = Relief(1).fit(X, np.array(["no", "yes"])[y])
    np.testing.assert_allclose(fitted.scores_, exact_scores(X, y, 1), rtol=0, atol=1e-13)
    assert list(fitted.classes_) == ["no", "yes"]


def test_ties_of_real_data():
    # Iris is measured in tenths: many distances are equal, but for the rounding of tenths.
    X, y = load_iris(return_X_y=True)
    expected = exact_scores(np.round(10.0 * X), y, 4)
    for form in FORMS:
        scores = ReliefF(n_neighbors=4).fit(form(X), y).scores_
        np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-13)


# -- invariants ---------------------------------------------------------------------


@settings(max_examples=30)
@given(SEEDS, SIZES, st.integers(1, 4))
def test_scores_lie_between_minus_one_and_one(seed, sizes, h):
    X, y = labelled(seed, sizes)
    assert np.all(np.abs(ReliefF(n_neighbors=h).fit(X, y).scores_) <= 1.0)


@settings(max_examples=30)
@given(SEEDS)
def test_units_and_origins_do_not_matter(seed):
    X, y = labelled(seed, (6, 9, 12))
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], 4)
    moved = X * signs * 10.0 ** rng.uniform(-6, 6, 4) + rng.uniform(-10, 10, 4)
    scores = ReliefF(n_neighbors=3).fit(X, y).scores_
    # Adding ten to numbers of size 1e-6 costs seven digits.
    np.testing.assert_allclose(ReliefF(n_neighbors=3).fit(moved, y).scores_, scores, atol=1e-8)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(["gaussian", "integers"]))
def test_order_of_features_does_not_matter(seed, kind):
    X, y = labelled(seed, (6, 9, 12), m=6, kind=kind)
    order = np.random.default_rng(seed).permutation(6)
    scores = ReliefF(n_neighbors=3).fit(X, y).scores_
    permuted = ReliefF(n_neighbors=3).fit(X[:, order], y).scores_
    np.testing.assert_allclose(permuted, scores[order], rtol=0, atol=1e-14)


@settings(max_examples=30)
@given(SEEDS)
def test_order_of_samples_and_names_of_classes_do_not_matter(seed):
    X, y = labelled(seed, (6, 9, 12))
    order = np.random.default_rng(seed).permutation(len(y))
    scores = ReliefF(n_neighbors=3).fit(X, y).scores_
    other = ReliefF(n_neighbors=3).fit(X[order], np.array(["z", "b", "m"])[y[order]]).scores_
    np.testing.assert_allclose(other, scores, rtol=0, atol=1e-14)


def test_duplicate_features_have_the_same_score():
    X, y = labelled(0, (10, 14))
    fitted = ReliefF(8, n_neighbors=3).fit(np.hstack([X, -2.0 * X]), y)
    np.testing.assert_allclose(fitted.scores_[:4], fitted.scores_[4:], rtol=0, atol=1e-14)
    where = np.argsort(fitted.ranking_)
    assert np.all(where[:4] < where[4:])  # the first of equals is taken first


def test_duplicate_samples():
    # Every sample has a copy of its own as the nearest hit, so hits cost nothing.
    X, y = labelled(1, (5, 6))
    X, y = np.vstack([X, X]), np.append(y, y)
    scores = Relief().fit(X, y).scores_
    assert np.all(scores > 0.0)
    np.testing.assert_allclose(scores, exact_scores(X, y, 1), rtol=0, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_constant_features_rank_last_and_change_nothing(form):
    X, y = labelled(2, (7, 8, 9))
    scores = ReliefF(n_neighbors=3).fit(X, y).scores_
    wider = form(np.insert(X, [0, 2, 4], [[3.0, -0.1, 0.0]], axis=1))
    fitted = ReliefF(4, n_neighbors=3).fit(wider, y)
    assert np.isnan(fitted.raw_scores_[[0, 3, 6]]).all()
    np.testing.assert_allclose(fitted.scores_[[1, 2, 4, 5]], scores, rtol=0, atol=1e-14)
    assert list(fitted.ranking_[-3:]) == [0, 3, 6]
    with pytest.warns(UserWarning, match="1 of 5 features without a score"):
        ReliefF(5, n_neighbors=3).fit(wider, y)


@pytest.mark.parametrize("scale", [1e-150, 1e-300, 1e150, 1e300])
@pytest.mark.parametrize("form", FORMS)
def test_scales(scale, form):
    X, y = load_wine(return_X_y=True)
    expected = ReliefF().fit(X, y).scores_
    np.testing.assert_allclose(ReliefF().fit(form(scale * X), y).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_digits_of_features_far_from_zero(form):
    X, y = labelled(5, (5, 6, 7))
    X[:, :2] += 1e10
    scores = ReliefF(n_neighbors=2).fit(form(X), y).scores_
    np.testing.assert_allclose(scores, exact_scores(X, y, 2), rtol=0, atol=1e-13)


@pytest.mark.parametrize("form", [*FORMS, np.asfortranarray])
def test_float32(form):
    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    expected = ReliefF().fit(X.astype(np.float64), y).scores_
    scores = ReliefF().fit(form(X), y).scores_
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-14)


def test_sparse_data_with_repeated_and_explicit_zero_entries():
    X, y = labelled(6, (5, 6, 7), kind="integers")
    columns = np.tile(np.repeat(np.arange(X.shape[1]), 2), len(y))
    starts = np.arange(0, 2 * X.size + 1, 2 * X.shape[1])
    twice = sp.csr_matrix((np.repeat(X.ravel() / 2.0, 2), columns, starts), shape=X.shape)
    scores = ReliefF(n_neighbors=2).fit(X, y).scores_
    np.testing.assert_allclose(ReliefF(n_neighbors=2).fit(twice, y).scores_, scores, atol=1e-14)
    S = relief_similarity(X, y, n_neighbors=2)
    assert (relief_similarity(twice, y, n_neighbors=2) != S).nnz == 0


@pytest.mark.parametrize("form", FORMS)
def test_threads_do_not_matter(form):
    X, y = labelled(3, (400, 500, 700), kind="integers")
    scores = ReliefF().fit(form(X), y).scores_
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(ReliefF(n_jobs=n_jobs).fit(form(X), y).scores_, scores)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [5, 1024, 1025, 2500])
def test_every_two_samples_meet_once(n, threads):
    met = np.zeros((n, n), dtype=np.int8)
    for tasks in _neighbors._meetings(n, threads):
        busy = np.zeros(n, dtype=np.int8)
        for a, a_stop, b, b_stop in tasks:
            met[a:a_stop, b:b_stop] += 1
            busy[a:a_stop] += 1
            if a != b:
                met[b:b_stop, a:a_stop] += 1
                busy[b:b_stop] += 1
        assert busy.max() == 1  # nobody is in two places at the same time
    assert met.min() == met.max() == 1


# -- sense --------------------------------------------------------------------------


def test_features_that_matter_only_together():
    # An exclusive or: no feature alone tells anything, the two together tell all.
    rng = np.random.default_rng(0)
    X = rng.random((300, 8))
    y = (X[:, 2] > 0.5) ^ (X[:, 5] > 0.5)
    assert set(ReliefF(2).fit(X, y).selected_) == {2, 5}


def test_number_of_neighbors_beyond_the_class_sizes():
    X, y = labelled(4, (3, 5, 8))
    everybody = ReliefF(n_neighbors=8).fit(X, y).scores_
    np.testing.assert_allclose(everybody, exact_scores(X, y, 16), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(ReliefF(n_neighbors=10**6).fit(X, y).scores_, everybody)


# -- similarity ---------------------------------------------------------------------


@settings(max_examples=25)
@given(SEEDS, SIZES, st.integers(1, 8), st.sampled_from(FORMS))
def test_similarity_equals_its_definition(seed, sizes, h, form):
    X, y = labelled(seed, sizes, kind="integers")
    S = np.eye(len(y))
    for i, neighbors in enumerate(exact_neighbors(X, y, h)):
        for c, near in neighbors.items():
            S[i, near] = (1.0 if c == y[i] else -1.0 / (len(sizes) - 1)) / len(near)
    found = relief_similarity(form(X), y, n_neighbors=h)
    assert sp.issparse(found) and found.format == "csr"
    np.testing.assert_allclose(found.toarray(), (S + S.T) / 2.0, rtol=0, atol=1e-15)
    assert found.sum() == pytest.approx(len(y))


def squared_relief(f, y, neighbors):
    """ReliefF's sum with squared differences and equal classes, loop by loop."""
    total, others = 0.0, len(set(y)) - 1
    for i, by_class in enumerate(neighbors):
        for c, near in by_class.items():
            part = sum((f[i] - f[j]) ** 2 for j in near) / len(near)
            total += -part if c == y[i] else part / others
    return total


def mutual(n_groups, c):
    """Groups of two samples of each of c classes, all neighbours mutual.

    Indicators of group, class and twin: the nearest hit is the twin, and the nearest miss of a
    class the same twin of that class in the group. Groups count twice, which keeps them apart.
    """
    places = np.indices((n_groups, c, 2)).reshape(3, -1)
    G, K, T = (np.eye(at.max() + 1)[at] for at in places)
    return np.hstack([G, G, K, T]), places[1]


@settings(max_examples=15)
@given(SEEDS, st.integers(1, 4), st.integers(2, 4))
def test_quadratic_form_is_half_of_relief(seed, n_groups, c):
    # P8: equal classes, h hits and h misses per class, mutual neighbours, unit norm.
    X, y = mutual(n_groups, c)
    neighbors = exact_neighbors(X, y, 1)
    relation = {(i, j) for i, near in enumerate(neighbors) for js in near.values() for j in js}
    assert relation == {(j, i) for i, j in relation} and len(relation) == len(y) * c
    f = np.random.default_rng(seed).standard_normal(len(y))
    f /= np.linalg.norm(f)
    S = relief_similarity(X, y, n_neighbors=1)
    expected = squared_relief(f, y.tolist(), neighbors)
    assert f @ (S @ f) - 1.0 == pytest.approx(expected / 2.0, rel=0, abs=1e-12)
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=0, atol=1e-14)


@settings(max_examples=30)
@given(SEEDS, st.integers(2, 6), st.integers(2, 4))
def test_quadratic_form_of_binary_features_is_half_of_their_scores(seed, size, c):
    # A difference of zeros and ones is its own square. With all samples as neighbours the
    # relation is symmetric whatever the data.
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(c), size)
    X = rng.integers(0, 2, (len(y), 5)).astype(float)
    assume(np.ptp(X, axis=0).all())
    S = relief_similarity(X, y, n_neighbors=size)
    forms = np.einsum("ij,ij->j", X, S @ X) - np.square(X).sum(axis=0)
    scores = ReliefF(n_neighbors=size).fit(X, y).scores_
    np.testing.assert_allclose(forms, len(y) * scores / 2.0, rtol=0, atol=1e-12)


# -- bad input ----------------------------------------------------------------------

BAD = [
    (np.eye(4), None, "requires y"),
    (np.eye(4), [0, 0, 0, 0], "at least two classes"),
    (np.eye(4), [0.5, 0.2, 1.7, 2.5], "class labels"),
    (np.eye(4), [0, 1, 0], "inconsistent numbers of samples"),
    (np.full((4, 2), np.nan), [0, 1, 0, 1], "NaN"),
    (np.full((4, 2), np.inf), [0, 1, 0, 1], "infinity"),
    (np.eye(5), ["a", "a", "odd", "b", "b"], "class odd has only one sample"),
]


@pytest.mark.parametrize(("X", "y", "message"), BAD)
@pytest.mark.parametrize("call", [ReliefF().fit, relief_similarity])
def test_bad_input(call, X, y, message):
    with pytest.raises(ValueError, match=message):
        call(X, y)


@pytest.mark.parametrize("n_neighbors", [0, -1, 2.0, "3", True, None])
def test_bad_numbers_of_neighbors(n_neighbors):
    for call in (ReliefF(n_neighbors=n_neighbors).fit, relief_similarity):
        options = {} if call is not relief_similarity else {"n_neighbors": n_neighbors}
        with pytest.raises(ValueError, match="n_neighbors must be an integer >= 1"):
            call(np.eye(4), [0, 0, 1, 1], **options)


def test_relief_is_for_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"two classes, and y has 3. Use ReliefF"):
        Relief().fit(X, y)


def test_all_features_constant():
    with pytest.warns(UserWarning, match="without a score"):
        fitted = ReliefF(1).fit(np.ones((4, 2)), [0, 0, 1, 1])
    assert np.isnan(fitted.raw_scores_).all()
    assert list(fitted.ranking_) == [0, 1]
