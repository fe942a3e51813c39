from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from columnist.metrics import redundancy_rate
from columnist.report import _measures as measures
from columnist.report._measures import correlations, read_data, redundancy, spectrum


def sample(n=60, m=9, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, 3)) @ rng.standard_normal((3, m)) + rng.standard_normal((n, m)) + 1
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, np.float32])
def test_correlations_are_those_of_numpy(form):
    X = sample()
    found = correlations(read_data(form(X)), [0, 3], [1, 2, 3])
    assert found == pytest.approx(np.corrcoef(X.T)[[[0], [3]], [1, 2, 3]], abs=1e-6)


@given(st.integers(-150, 150))
def test_correlations_do_not_depend_on_the_scale(power):
    X = sample()
    found = correlations(read_data(X * 10.0**power), range(9), range(9))
    assert found == pytest.approx(np.corrcoef(X.T), abs=1e-9)


def test_a_constant_column_has_no_correlation():
    X = sample()
    X[:, 2], X[:, 4] = 0.1, 0.0
    found = correlations(read_data(X), [0, 2, 4], [0, 1])
    assert np.isnan(found[1:]).all() and np.isfinite(found[0]).all()


def test_a_gram_matrix_tells_the_same():
    X = sample() - sample().mean(axis=0)
    found = correlations(read_data(X.T @ X, gram=True), range(9), range(9))
    assert found == pytest.approx(np.corrcoef(X.T), abs=1e-9)
    rate, remark = redundancy(read_data(X.T @ X, gram=True))
    assert rate == pytest.approx(redundancy_rate(X)) and remark == ""


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(60, 9), (9, 60)])
@pytest.mark.parametrize("way", ["exact", "randomized"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_singular_values_are_those_of_numpy(monkeypatch, center, shape, way, form):
    if way == "randomized":
        monkeypatch.setattr(measures, "_MOST_WORK", 0)
    X = sample(*shape)
    found = spectrum(read_data(form(X)), center=center)
    exact = np.linalg.svd(X - X.mean(axis=0) if center else X, compute_uv=False)
    assert found.values[: len(exact)] == pytest.approx(exact, abs=1e-6 * exact[0])
    assert found.energy == pytest.approx(np.sum(exact**2))
    assert found.complete == (way != "randomized") and bool(found.remark) == (way == "randomized")


def test_singular_values_of_a_gram_matrix_and_of_huge_numbers():
    X = sample()
    exact = np.linalg.svd(X, compute_uv=False)
    gram = spectrum(read_data(X.T @ X, gram=True), center=False)
    assert gram.values == pytest.approx(exact, rel=1e-6)
    assert spectrum(read_data(X * 1e140), center=False).values == pytest.approx(exact * 1e140)


def test_redundancy_is_the_metric():
    X = sample()
    rate, remark = redundancy(read_data(X), [0, 1, 5])
    assert rate == redundancy_rate(X, [0, 1, 5]) and remark == ""


def test_large_data_are_sampled_and_it_is_said(monkeypatch):
    X = sample(5000, 30)
    monkeypatch.setattr(measures, "_MOST_ENTRIES", 30 * 2500)
    part, remark = read_data(X).sampled(30)
    assert part.shape == (2500, 30) and "2,500 rows" in remark
    monkeypatch.setattr(measures, "_MOST_PAIRS", 1e5)
    monkeypatch.setattr(measures, "_SAMPLED", 20)
    rate, remark = redundancy(read_data(X))
    assert "20 columns" in remark and "rows" in remark
    assert rate == pytest.approx(redundancy_rate(X), abs=0.1)


def test_other_data_than_those_of_the_fit():
    with pytest.raises(ValueError, match="9 columns, but the fit has seen 8"):
        read_data(sample(), fitted=SimpleNamespace(n_features_in_=8))
