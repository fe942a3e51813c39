"""MCSF: both forms against the definition, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import scale

from columnist.spectral._forms import common_form
from columnist.spectral._mcsf import MCSF
from columnist.spectral._similarity import fisher_similarity, knn_similarity, rbf_similarity


def data(seed, n=25, m=9, c=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    return rng.standard_normal((n, m)) * 10.0 ** rng.integers(-2, 3, m) + 5.0, y


def unit(X):
    Z = X - X.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


def by_definition(Z, S, size):
    """Greedy choice by the norms themselves; also the squared norms on the way."""
    R, chosen, norms = S.copy(), [], [np.sum(S**2)]
    for _ in range(size):
        left = [
            np.inf if j in chosen else np.sum((R - np.outer(f, f)) ** 2) for j, f in enumerate(Z.T)
        ]
        best = int(np.argmin(left))
        chosen.append(best)
        norms.append(left[best])
        R -= np.outer(Z[:, best], Z[:, best])
    return chosen, np.array(norms)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.integers(1, 9),
    st.sampled_from(["incremental", "residual"]),
    st.sampled_from(["fisher", "rbf", "knn", "given"]),
)
def test_greedy_by_definition(seed, size, form, kind):
    X, y = data(seed)
    similarity = 3.0 * np.cov(X) / np.var(X) if kind == "given" else kind
    S = {
        "fisher": lambda: fisher_similarity(y),
        "rbf": lambda: rbf_similarity(X),
        "knn": lambda: knn_similarity(X, n_neighbors=5),
        "given": lambda: sp.csr_array(similarity),
    }[kind]().toarray()
    chosen, norms = by_definition(unit(X), S, size)
    fitted = MCSF(size, similarity=similarity, form=form, balance=False).fit(X, y)
    np.testing.assert_array_equal(fitted.selected_, chosen)
    falls = -np.diff(norms)
    np.testing.assert_allclose(fitted.scores_[chosen], falls, atol=1e-9 * (1 + norms[0]))
    # ||R - ff'||^2 = ||R||^2 - 2f'Rf + 1
    np.testing.assert_allclose(
        fitted.raw_scores_[chosen], (falls + 1) / 2, atol=1e-9 + 1e-9 * norms[0]
    )


@pytest.mark.parametrize("scaling", ["unit", "none"])
def test_both_forms_agree(scaling):
    X, y = data(0, 40, 30)
    X = scale(X) * np.linspace(0.5, 1.0, 30)
    first, second = (
        MCSF(12, form=form, scaling=scaling).fit(X, y) for form in ("incremental", "residual")
    )
    np.testing.assert_array_equal(first.selected_, second.selected_)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    np.testing.assert_allclose(
        first.scores_, second.scores_, atol=1e-9 * np.abs(first.scores_).max()
    )


def test_features_of_any_length_follow_the_definition():
    X, _ = data(1, 20, 8)
    X = scale(X) * np.linspace(0.1, 0.6, 8)
    S = rbf_similarity(X).toarray()
    chosen, norms = by_definition(X, S, 5)
    fitted = MCSF(5, similarity=S, scaling="none", balance=False).fit(X)
    np.testing.assert_array_equal(fitted.selected_, chosen)
    np.testing.assert_allclose(fitted.scores_[chosen], -np.diff(norms), atol=1e-9 * norms[0])


def test_scores_agree_with_the_order():
    X, y = data(2, 30, 15)
    X[:, 3] = 1.0
    fitted = MCSF(6).fit(X, y)
    np.testing.assert_array_equal(fitted.ranking_[:6], fitted.selected_)
    assert fitted.ranking_[-1] == 3 and np.isnan(fitted.scores_[3])
    falling = fitted.scores_[fitted.ranking_[:-1]]
    assert (np.diff(falling) <= 1e-12).all()


@pytest.mark.parametrize("form", ["incremental", "residual"])
@pytest.mark.parametrize("seed", range(5))
def test_early_stop(form, seed):
    """The norm falls with every feature taken, and would not with the next."""
    X, y = data(seed, 30, 20)
    S = 2.0 * fisher_similarity(y).toarray()
    literal = {"similarity": S, "form": form, "balance": False}
    fitted = MCSF(20, **literal, early_stop=True).fit(X, y)
    chosen, norms = by_definition(unit(X), S, 20)
    k = len(fitted.selected_)
    np.testing.assert_array_equal(fitted.selected_, chosen[:k])
    falls = -np.diff(norms)
    assert (falls[1:k] > 0.0).all() and falls[k] <= 0.0
    assert k < 20 == len(MCSF(20, **literal).fit(X, y).selected_)


@pytest.mark.parametrize("form", ["incremental", "residual"])
@pytest.mark.parametrize("scaling", ["unit", "none"])
def test_balance(form, scaling):
    """The similarity gets the trace of as many features as are to be selected."""
    X, y = data(5, 30, 12)
    S = fisher_similarity(y).toarray()
    F = unit(X) if scaling == "unit" else X
    seen = S - S.mean(axis=0) - S.mean(axis=1)[:, None] + S.mean() if scaling == "unit" else S
    factor = 7 * np.mean(np.square(F).sum(axis=0)) / np.trace(seen)
    fitted = MCSF(7, form=form, scaling=scaling).fit(X, y)
    assert fitted.factor_ == pytest.approx(factor)
    np.testing.assert_array_equal(fitted.selected_, by_definition(F, factor * S, 7)[0])


def test_a_similarity_without_a_trace_is_left_alone():
    X, _ = data(6, 20, 6)
    S = np.ones((20, 20)) - np.eye(20)
    assert MCSF(3, similarity=S, scaling="none").fit(X).factor_ == 1.0
    # Means are invisible to centred features, and with them all of this similarity is.
    assert MCSF(3, similarity=np.ones((20, 20))).fit(X).factor_ == 1.0


def test_automatic_similarity():
    X, y = data(3)
    for ours, named in [
        (MCSF(4).fit(X, y), MCSF(4, similarity="fisher").fit(X, y)),
        (MCSF(4).fit(X), MCSF(4, similarity="rbf").fit(X)),
        (MCSF(4).fit(X, y + 0.5), MCSF(4, similarity="rbf").fit(X)),
    ]:
        np.testing.assert_array_equal(ours.raw_scores_, named.raw_scores_)


@pytest.mark.parametrize("criterion", ["phi2", "phi3", "fisher", "hsic"])
def test_any_score_in_its_common_form(criterion):
    X, y = data(4)
    form = common_form(criterion, X, y, n_clusters=3)
    fitted = MCSF(4, similarity=form, balance=False).fit(X)
    chosen, _ = by_definition(form.features, form.similarity.toarray(), 4)
    np.testing.assert_array_equal(fitted.selected_, chosen)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, lambda X: X.astype(np.float32)])
def test_other_kinds_of_matrices(form):
    X, y = data(5)
    X = np.round(scale(X), 1) * (np.abs(scale(X)) > 0.4)
    X = X.astype(np.float32).astype(np.float64)
    for labels in (y, None):
        dense, other = MCSF(5).fit(X, labels), MCSF(5).fit(form(X), labels)
        np.testing.assert_array_equal(dense.selected_, other.selected_)
        np.testing.assert_allclose(dense.scores_, other.scores_, atol=1e-5)


@pytest.mark.parametrize("power", [-150, 150])
def test_scales_do_not_matter(power):
    X, y = data(6)
    plain, scaled = MCSF(5).fit(X, y), MCSF(5).fit(X * 10.0**power, y)
    np.testing.assert_array_equal(plain.selected_, scaled.selected_)


def test_constant_features_are_not_selected():
    X, y = data(7)
    X[:, 2:] = 4.0
    with pytest.warns(UserWarning, match="selected 2 of 5 features"):
        fitted = MCSF(5).fit(X, y)
    assert sorted(fitted.selected_) == [0, 1]
    with pytest.warns(UserWarning, match="selected 1 of 2 features"):
        assert len(MCSF(2).fit(np.ones((6, 3)), [0, 1, 0, 1, 0, 1]).selected_) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "fast"}, "form must be one of"),
        ({"scaling": "l2"}, "scaling must be one of"),
        ({"early_stop": "yes"}, "early_stop must be True or False"),
        ({"similarity": "fischer"}, "similarity must be one of"),
        ({"similarity": np.ones((3, 3))}, "matrix of 3 samples"),
        ({"n_features_to_select": 0}, "between 1 and the number of features"),
    ],
)
def test_bad_parameters(options, message):
    X, y = data(8)
    with pytest.raises(ValueError, match=message):
        MCSF(**options).fit(X, y)


def test_labels_are_needed_where_asked_for():
    X, y = data(9)
    with pytest.raises(ValueError, match="requires y to be passed"):
        MCSF(similarity="fisher").fit(X)
    with pytest.raises(ValueError, match="class"):
        MCSF(similarity="fisher").fit(X, y + 0.5)
