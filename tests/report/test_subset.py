from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError

from columnist import SubsetClassifier, SubsetRegressor
from columnist._text import number
from columnist.report import subset_report
from tests.report.pages import HOSTILE, check_page, hostile_data

X, y = load_diabetes(return_X_y=True, as_frame=True)


def test_a_size_by_bic_and_its_proof():
    model = SubsetRegressor("bic").fit(X, y)
    outline = check_page(subset_report(model, X))
    text = outline.section("How many columns are needed")
    assert "chosen by BIC" in text and "no selection of any other number" in text
    answer = outline.section("The answer")
    for name, value in zip(X.columns, model.coef_, strict=True):
        assert (name in answer) == bool(value), name
    assert number(float(model.coef_[2])) in answer


def test_what_a_limit_left_open_is_said():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((80, 30)) + rng.standard_normal((80, 1))
    noisy = A[:, ::2].sum(axis=1) + 6.0 * rng.standard_normal(80)
    model = SubsetRegressor("bic", max_nodes=1).fit(A, noisy)
    assert not model.path_.proven
    text = check_page(subset_report(model, A)).section("How many columns are needed")
    assert "left open" in text


def test_a_given_size_has_no_curve_and_several_targets_have_lengths():
    Y = np.column_stack([y, y**2])
    outline = check_page(subset_report(SubsetRegressor(3, alpha=0.1).fit(X, Y), X))
    assert "Length of the coefficients" in outline.section("The answer")
    assert "0.1 × squared length" in outline.section("Settings")
    assert not [text for _, text in outline.all("h2") if "How many" in text]


def test_classes_sparse_data_and_hostile_names():
    wine = load_wine()
    rows = sp.csr_array(wine.data / wine.data.std(axis=0))
    outline = check_page(subset_report(SubsetClassifier(2).fit(rows, wine.target), rows))
    assert "log-loss" in outline.section("Settings")
    data = hostile_data()
    model = SubsetRegressor(3).fit(data, np.arange(40.0))
    check_page(subset_report(model, data, names=HOSTILE))


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        subset_report(SubsetRegressor(2), X)
