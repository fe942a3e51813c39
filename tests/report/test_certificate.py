from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from columnist import Certificate, certify
from columnist.report import certificate_report
from tests.report.pages import HOSTILE, check_page, hostile_data

WINE = scale(load_wine().data)
NAMES = load_wine().feature_names


def test_a_better_set_is_shown_with_what_it_exchanges():
    certificate = certify(WINE, [0, 6, 9])
    outline = check_page(certificate_report(certificate, WINE, names=NAMES))
    answer = outline.section("The answer")
    assert NAMES[3] in answer and NAMES[0] in answer
    assert "8.17 % less" in answer  # 1 - error of {3, 6, 9} / error of {0, 6, 9}
    assert "exchanged" in outline.section("What is exchanged")


def test_the_best_set_is_confirmed():
    outline = check_page(certificate_report(certify(WINE, [3, 6, 9]), WINE))
    assert "No better set" in outline.section("The answer")
    assert "Proven best" in next(t for a, t in outline.all("p") if "proven" in a.get("class", ""))


def test_hostile_names():
    X = hostile_data()
    html = certificate_report(
        certify(X, [0, 1, 2]), X, names=HOSTILE, asked=dict.fromkeys(HOSTILE, "x")
    )
    check_page(html)


@pytest.mark.parametrize("error", [0.0, np.inf, 1e-300])
def test_odd_errors(error):
    certificate = Certificate("interrupted", error, 0.0, selection=(0, 1))
    check_page(certificate_report(certificate, WINE))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="names no selection"):
        certificate_report(Certificate("optimal", 1.0, 1.0), WINE)
    with pytest.raises(ValueError, match="column 99"):
        certificate_report(Certificate("optimal", 1.0, 1.0, selection=(99,)), WINE)
