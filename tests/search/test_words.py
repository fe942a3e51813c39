from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from columnist import Certificate
from columnist.search._words import (
    STATUSES,
    Subject,
    conditions,
    details,
    explained,
    facts,
    gap_words,
    graded,
    verdict,
)

SUBJECT = Subject("column", 3, "286", total=100.0)
OPEN = sorted(set(STATUSES) - {"optimal"})


def made(status, error=4.0, bound=3.0, **more):
    return Certificate(status, error, bound, nodes_generated=77, selection=(0, 1, 2), **more)


def said(certificate, **more):
    return " ".join(explained(certificate, SUBJECT, **more)).replace("\u00a0", " ")


def test_every_status_has_words_of_its_own():
    texts = {status: said(made(status)) for status in STATUSES}
    assert len(set(texts.values())) == len(STATUSES)
    assert all("286 ways to choose 3 columns" in text for text in texts.values())


def test_a_proof_is_called_a_proof_and_nothing_else_is():
    proven = made("optimal", bound=4.0)
    assert verdict(proven, SUBJECT)[0] == "proven"
    assert "“Proven” means" in said(proven) and "examined 77 partial choices;" in said(proven)
    assert "examined 1 partial choice;" in said(replace(proven, nodes_generated=1))
    assert "The list of the best 5" in said(proven, n_solutions=5)
    for status in OPEN:
        assert verdict(made(status), SUBJECT)[0] != "proven"
        assert "not proven to be the best" in said(made(status))


@pytest.mark.parametrize("status", OPEN)
def test_a_gap_is_told_as_a_share_of_the_error(status):
    text = said(made(status))
    assert "25 % of the error" in text
    assert "less than 3 %" in text and "leaves 4 %" in text


@pytest.mark.parametrize("bound", [0.0, -np.inf, np.nan])
def test_without_a_bound_nothing_is_claimed(bound):
    certificate = made("time_limit", bound=bound)
    assert verdict(certificate, SUBJECT)[0] == "open"
    assert "nothing can be said" in said(certificate)


def test_a_better_set_is_named_as_such():
    assert verdict(made("bounded", better=(1, 2, 3)), SUBJECT)[0] == "better"
    assert "it is proven best" in said(made("bounded", better=(1, 2, 3)))
    open_still = said(made("time_limit", better=(1, 2, 3)))
    assert "is open" in open_still and "time limit" in open_still
    facts = dict(details(made("bounded", better=(1, 2, 3)), SUBJECT))
    assert facts["Status"] == "a better set was found"


def test_an_a_priori_bound_is_mentioned():
    assert "at most 0.5 above" in said(made("bounded", a_priori_bound=0.5))
    assert "infinite" not in said(made("bounded", a_priori_bound=np.inf))


def test_rows_are_removed_and_columns_kept():
    rows = Subject("row", 2, "10")
    assert "set of 2 rows to remove" in verdict(made("optimal"), rows)[1]
    assert "10 ways to choose 2 rows to remove" in " ".join(explained(made("optimal"), rows))
    assert "remove" not in verdict(made("optimal"), SUBJECT)[1]


def test_details_have_the_numbers():
    facts = dict(details(made("time_limit"), SUBJECT))
    assert facts["Error"] == "4 (4\u00a0%)" and facts["Lower bound"] == "3 (3\u00a0%)"
    assert facts["Gap"] == "25\u00a0%" and facts["Partial choices generated"] == "77"


def test_more_time_is_no_advice_where_digits_are_missing():
    for bound in (3.0, 0.0):
        text = said(made("precision_limit", bound=bound))
        assert "too few digits" in text and "More time would not help; columns" in text
        assert "would tell" not in text and "A longer run" not in text
    rows = Subject("row", 2, "10")
    assert "would not help; rows" in " ".join(explained(made("precision_limit"), rows))


def test_passes_over_the_data_are_told_where_there_were_any():
    facts = dict(details(made("time_limit", elapsed=5.0, preparation=3.5), SUBJECT))
    assert facts["Time"] == "5 s"
    assert facts["Passes over the data"] == "3.5 s of these, outside the time limit"
    assert "Passes over the data" not in dict(details(made("time_limit"), SUBJECT))


def test_conditions_end_a_sentence():
    assert conditions([], []) == ""
    said = conditions(["a"], ["b"]).replace("\u2068", "").replace("\u2069", "")
    assert said == " that contain “a” and without “b”"


@pytest.mark.parametrize(
    ("bound", "level", "words"),
    [
        (3.988, "bounded", "Close to the best possible: there is no set of 3 columns with an error "
         "more than 0.3 % smaller."),
        (3.68, "bounded", "There is no set of 3 columns with an error more than 8 % smaller."),
        (0.8, "open", "The best set of 3 columns found; one with an error up to 80 % smaller is "
         "not excluded."),
        (0.0, "open", "The best set of 3 columns found; how much better another one could be is "
         "not known."),
    ],
)  # fmt: skip
def test_what_is_said_depends_on_the_gap(bound, level, words):
    for status in OPEN:
        found = verdict(made(status, bound=bound), SUBJECT)
        assert (found[0], found[1].replace("\u00a0", " ")) == (level, words)


def test_nothing_but_a_small_gap_is_called_close():
    for gap in np.linspace(0.0, 1.0, 101):
        assert ("close" in graded(gap)) == (0.0 < gap <= 0.01)
        assert not {"optimal", "best possible:"} & set(graded(gap).split()) or gap <= 0.01
    assert "close" not in graded(None)


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.003, "close to the best possible: there is no choice with an error more than 0.3 % "
                "smaller"),
        (0.08, "there is no choice with an error more than 8 % smaller"),
        (0.8, "the best choice found; one with an error up to 80 % smaller is not excluded"),
    ],
)  # fmt: skip
def test_gaps_in_words(gap, words):
    assert graded(gap).replace("\u00a0", " ") == words


@pytest.mark.parametrize("status", STATUSES)
def test_facts_name_the_status_and_say_what_the_gap_means(status):
    told = facts(made(status, bound=4.0 if status == "optimal" else 3.0))
    assert told["status"] == f"{status} ({STATUSES[status]})"
    meaning = "" if status == "optimal" else f" ({gap_words(made(status))})"
    assert told["gap"] == ("0%" if status == "optimal" else "25%") + meaning
    assert all(text.isprintable() for text in told.values())


def test_a_better_choice_is_what_the_gap_is_about():
    told = gap_words(made("bounded", better=(1, 2, 3)))
    assert told == "a better choice was found; none has an error more than 25% smaller"
