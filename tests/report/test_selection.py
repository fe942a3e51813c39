from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist import ColumnSelector, selection_path
from columnist._text import number, percent, readable
from columnist.plotting import RepresentativeDisplay
from columnist.report import _measures as measures
from columnist.report import _selection as module
from columnist.report import selection_report
from tests.report.pages import HOSTILE, check_page, hostile_data

WINE = scale(load_wine().data)
NAMES = load_wine().feature_names


def reported(X, k, y=None, *, report=None, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* explain everything that", UserWarning)
        selector = ColumnSelector(k, **options).fit(X, y)
    return selector, check_page(selection_report(selector, X, y, **(report or {})))


@pytest.fixture(scope="module")
def wine():
    path = selection_path(WINE, 6)
    return reported(WINE, 4, n_solutions=3, report={"names": NAMES, "path": path, "title": "Wine"})


def test_the_answer_and_the_runners_up(wine):
    selector, outline = wine
    answer = outline.section("The answer")
    assert all(NAMES[j] in answer for j in selector.selected_)
    listed = [text for _, text in outline.all("li")]
    assert set(listed) >= {NAMES[j] for j in selector.selected_}
    for solution in selector.solutions_[1:]:
        worse = percent(solution.error / selector.error_ - 1).replace("\u00a0", " ")
        assert worse in answer
        for j in set(solution) ^ set(selector.selected_):
            assert NAMES[j] in answer
    assert number(selector.error_, 6) in answer


def test_the_comparison_with_principal_components_is_right(wine):
    selector, outline = wine
    sigma = np.linalg.svd(WINE, compute_uv=False)
    share = percent(np.sum(sigma[4:] ** 2) / np.sum(sigma**2)).replace("\u00a0", " ")
    text = outline.section("Compared with principal components")
    assert f"With 4 of them, {share} would be unexplained" in text
    assert percent(selector.relative_error_).replace("\u00a0", " ") in text


def test_every_dropped_column_has_its_row(wine):
    selector, outline = wine
    (table,) = [t for _, t in outline.all("table") if "worst explained first" in t]
    rows = re.findall(r"\S.*", table.split("R²)")[1])
    assert len(rows) == 13 - 4
    order = np.argsort(selector.column_r2_, kind="stable")[:9]
    correlation = np.corrcoef(WINE.T)
    for line, j in zip(rows, order, strict=True):
        leader = selector.representative_[j]
        told = f"{correlation[leader, j]:.3f}".replace("-", "−")
        assert line.startswith(NAMES[j] + NAMES[leader] + told)


def test_columns_are_drawn_below_what_stands_for_them(wine):
    selector, outline = wine
    (table,) = [t for _, t in outline.all("table") if t.strip().startswith("Selected columns and")]
    rows = re.findall(r"\S.*", table.split("R²)")[1])
    order = RepresentativeDisplay.from_estimator(selector).order_
    assert sorted(order) == list(range(13))
    assert all(row.startswith(NAMES[j]) for row, j in zip(rows, order, strict=True))


def test_the_curve_uses_the_stronger_of_two_proofs():
    path = selection_path(WINE, 5)
    weak = replace(path[3].certificate, status="time_limit", lower_bound=0.0)
    steps = [s._replace(certificate=weak) if i == 3 else s for i, s in enumerate(path)]
    path = replace(path, steps=tuple(steps))
    _, outline = reported(WINE, 4, report={"path": path})
    assert "time limit" not in outline.section("How many columns are needed")


def test_a_heat_map_has_one_cell_per_pair(wine):
    selector, outline = wine
    cells = [a["data-tip"] for a, _ in outline.all("rect") if "cell" in a.get("class", "")]
    assert len(cells) == 4 * 9 + 4 * 4
    value = np.corrcoef(WINE.T)[selector.selected_[0], selector.selected_[1]]
    pair = f"{NAMES[selector.selected_[0]]} × {NAMES[selector.selected_[1]]}"
    assert f"{pair}: {number(round(value, 3))}" in cells


def test_hostile_names_are_shown_as_text():
    X = hostile_data()
    asked = {"data": "</dd><script>window.pwned=6</script>.csv", "<b>": "x"}
    _, outline = reported(
        X, 5, include=[0], report={"names": HOSTILE, "asked": asked, "title": HOSTILE[3]}
    )
    kept = [text for _, text in outline.all("bdi")]
    assert all(readable(name) in kept for name in HOSTILE)
    assert asked["data"] in outline.section("Settings")


@pytest.mark.parametrize(
    ("X", "k", "options"),
    [
        (WINE[:, :1], 1, {}),
        (WINE[:, :2], 1, {"n_solutions": 2}),
        (WINE, 13, {}),
        (WINE[:1], 2, {}),
        (WINE[:, :2] @ np.ones((2, 5)), 2, {"n_solutions": 3}),
        (np.column_stack([WINE[:, :3], WINE[:, 0], np.full(178, 3.0), np.zeros(178)]), 2, {}),
        (np.column_stack([WINE[:, :3], np.full(178, 3.0)]), 2, {"centering": "mean"}),
        (WINE * 1e150, 3, {}),
        (WINE * 1e-150, 3, {"criterion": "nuclear"}),
        (WINE.astype(np.float32), 3, {"criterion": "spectral"}),
        (sp.csr_array(WINE), 3, {"centering": "mean"}),
        (WINE.T @ WINE, 3, {"input": "gram"}),
        (WINE, 3, {"search": "greedy"}),
        (WINE, 3, {"search": "weighted", "epsilon": 0.3}),
        (WINE, 2, {"n_components": 2, "criterion": "schatten:0.5"}),
        (WINE, "auto", {"tol": 0.5, "exclude": [0]}),
        (WINE, 6, {"max_nodes": 1, "criterion": "nuclear"}),
    ],
    ids=str,
)  # fmt: skip
def test_unusual_selections(X, k, options):
    selector, outline = reported(X, k, **options)
    assert len(selector.selected_) >= 1
    assert not re.search(r"\b(nan|inf)\b", outline.section("What is proven"))
    for _, attrs, _ in outline.elements:  # no drawing has a coordinate that is no number
        for key in ("d", "x", "y", "cx", "cy", "width", "height", "viewbox"):
            assert not re.search("nan|inf", attrs.get(key, ""))


def test_a_target_of_labels_is_explained_by_class():
    y = np.array(["<b>", "b", "c"])[load_wine().target]
    selector, outline = reported(WINE, 4, y, centering="mean")
    text = outline.section("How well the target is explained")
    Y = np.column_stack([y == c for c in ("<b>", "b", "c")]).astype(float)
    A = np.column_stack([np.ones(178), WINE[:, selector.selected_]])
    left = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    shares = 1 - (left**2).sum(axis=0) / ((Y - Y.mean(axis=0)) ** 2).sum(axis=0)
    for label, share in zip(("<b>", "b", "c"), shares, strict=True):
        assert f"class {label}{100 * share:.1f} %" in text


def test_a_target_that_is_not_given_has_no_section():
    selector = ColumnSelector(2).fit(WINE, WINE[:, 0])
    outline = check_page(selection_report(selector, WINE))
    assert "How well the target is explained" not in " ".join(text for _, text in outline.all("h2"))


def test_free_directions_are_told():
    _, outline = reported(WINE, 2, n_components=2)
    assert "together with 2 extracted components" in outline.section("The answer")
    sigma = np.linalg.svd(WINE, compute_uv=False)
    share = percent(np.sum(sigma[4:] ** 2) / np.sum(sigma**2)).replace("\u00a0", " ")
    assert f"With 4 of them, {share}" in outline.section("Compared with principal components")


def test_there_are_no_empty_sections():
    _, outline = reported(WINE, 3)
    assert "How many columns are needed" not in " ".join(text for _, text in outline.all("h2"))
    _, outline = reported(WINE, 13)
    assert "How well the dropped columns are represented" not in " ".join(
        text for _, text in outline.all("h2")
    )


def test_what_is_dropped_comes_first_where_most_is_selected():
    answer = reported(WINE, 11)[1].section("The answer")
    assert answer.index("Dropped columns") < answer.index("Selected columns")
    assert "Dropped columns" not in reported(WINE, 3)[1].section("The answer")


def test_what_is_left_out_of_large_data_is_said(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 120), density=0.1, rng=rng, format="csr")
    monkeypatch.setattr(module, "_MOST_ROWS", 50)
    monkeypatch.setattr(measures, "_MOST_ENTRIES", 10)
    monkeypatch.setattr(measures, "_FEWEST_ROWS", 200)
    monkeypatch.setattr(measures, "_MOST_WORK", 0)
    _, outline = reported(X, 5, search="greedy")
    dropped = outline.section("How well the dropped")
    assert "ends after 50 rows; 65 columns are left out" in dropped
    assert "leaves out 0 rows and 75 columns" in dropped and "200 rows taken at random" in dropped
    assert "Correlations: Computed from 200 rows" in dropped
    assert "about" in outline.section("Compared with principal components")


def test_a_search_that_ended_at_once_has_no_course():
    selector = ColumnSelector(2).fit(WINE)
    for history, words in (
        ((), "none was recorded"),
        (selector.certificate_.history[:1], "first step"),
    ):
        selector.certificate_ = replace(selector.certificate_, history=history)
        outline = check_page(selection_report(selector, WINE))
        assert words in outline.section("The search")


def test_the_code_makes_the_same_selector():
    selector, outline = reported(WINE, 3, criterion="nuclear", include=[2])
    code = outline.all("code")[0][1]
    assert "ColumnSelector(3, criterion='nuclear', include=[2])" in code
    scope = {"X": WINE}
    exec(code, scope)
    assert scope["selector"].get_params() == selector.get_params()


def test_bad_input_is_refused():
    selector = ColumnSelector(2).fit(WINE)
    with pytest.raises(ValueError, match="names needs one entry per column"):
        selection_report(selector, WINE, names=["a"])
    with pytest.raises(ValueError, match="pass the data of the fit"):
        selection_report(selector, WINE[:, :5])
