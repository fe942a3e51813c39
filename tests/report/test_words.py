from __future__ import annotations

import numpy as np
import pytest

from columnist import Certificate
from columnist.report._words import Stakes, certificate_facts, conditions, explained, verdict
from columnist.search._certificate import STATUSES

STAKES = Stakes("column", 3, "286", total=100.0)
OPEN = sorted(set(STATUSES) - {"optimal"})


def made(status, error=4.0, bound=3.0, **more):
    return Certificate(status, error, bound, nodes_generated=77, selection=(0, 1, 2), **more)


def said(certificate, **more):
    return " ".join(explained(certificate, STAKES, **more)).replace("\u00a0", " ")


def test_every_status_has_words_of_its_own():
    texts = {status: said(made(status)) for status in STATUSES}
    assert len(set(texts.values())) == len(STATUSES)
    assert all("286 ways to choose 3 columns" in text for text in texts.values())


def test_a_proof_is_called_a_proof_and_nothing_else_is():
    proven = made("optimal", bound=4.0)
    assert verdict(proven, STAKES).level == "proven"
    assert "“Proven” means" in said(proven) and "77" in said(proven)
    assert "The list of the best 5" in said(proven, n_solutions=5)
    for status in OPEN:
        assert verdict(made(status), STAKES).level != "proven"
        assert "not proven to be the best" in said(made(status))


@pytest.mark.parametrize("status", OPEN)
def test_a_gap_is_told_as_a_share_of_the_error(status):
    text = said(made(status))
    assert "25 % of the error" in text
    assert "less than 3 %" in text and "leaves 4 %" in text


@pytest.mark.parametrize("bound", [0.0, -np.inf, np.nan])
def test_without_a_bound_nothing_is_claimed(bound):
    certificate = made("time_limit", bound=bound)
    assert verdict(certificate, STAKES).level == "open"
    assert "nothing can be said" in said(certificate)


def test_a_better_set_is_named_as_such():
    assert verdict(made("bounded", better=(1, 2, 3)), STAKES).level == "better"
    assert "it is proven best" in said(made("bounded", better=(1, 2, 3)))
    open_still = said(made("time_limit", better=(1, 2, 3)))
    assert "is open" in open_still and "time limit" in open_still
    facts = dict(certificate_facts(made("bounded", better=(1, 2, 3)), STAKES))
    assert facts["Status"] == "a better set was found"


def test_an_a_priori_bound_is_mentioned():
    assert "at most 0.5 above" in said(made("bounded", a_priori_bound=0.5))
    assert "infinite" not in said(made("bounded", a_priori_bound=np.inf))


def test_rows_are_set_aside_and_columns_kept():
    rows = Stakes("row", 2, "10")
    assert "set aside" in verdict(made("optimal"), rows).text
    assert "set aside" not in verdict(made("optimal"), STAKES).text


def test_facts_have_the_numbers():
    facts = dict(certificate_facts(made("time_limit"), STAKES))
    assert facts["Error"] == "4 (4\u00a0%)" and facts["Lower bound"] == "3 (3\u00a0%)"
    assert facts["Gap"] == "25\u00a0%" and facts["Partial choices generated"] == "77"


def test_more_time_is_no_advice_where_digits_are_missing():
    for bound in (3.0, 0.0):
        text = said(made("precision_limit", bound=bound))
        assert "too few digits" in text and "More time would not help; columns" in text
        assert "would tell" not in text and "A longer run" not in text
    rows = Stakes("row", 2, "10")
    assert "would not help; rows" in " ".join(explained(made("precision_limit"), rows))


def test_passes_over_the_data_are_told_where_there_were_any():
    facts = dict(certificate_facts(made("time_limit", elapsed=5.0, preparation=3.5), STAKES))
    assert facts["Time"] == "5 s"
    assert facts["Passes over the data"] == "3.5 s of these, outside the time limit"
    assert "Passes over the data" not in dict(certificate_facts(made("time_limit"), STAKES))


def test_conditions_end_a_sentence():
    assert conditions([], [], ", ".join) == ""
    assert conditions(["a"], ["b"], ", ".join) == " that contain a and without b"
