"""Pieces of results that several commands show."""

from __future__ import annotations

import pytest

from columnist import Certificate
from columnist.cli._options import Printing
from columnist.cli._output import Screen, certificate_json, show_certificate
from columnist.search._words import STATUSES


def shown(capsys, certificate) -> str:
    show_certificate(
        Screen(Printing(json=False, quiet=False, verbose=False), "select"), certificate
    )
    return capsys.readouterr().out


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_explained(capsys, status):
    text = shown(capsys, Certificate(status, 4.0, 3.0))
    assert f"status       {status} ({STATUSES[status]})" in text


def test_preparation_is_shown_where_there_was_any(capsys):
    text = shown(capsys, Certificate("time_limit", 4.0, 3.0, elapsed=75.0, preparation=70.0))
    assert "0 expanded, 0 generated nodes, 1 min 15 s\n" in text
    assert "preparation  1 min 10 s of these, outside the time limit" in text
    assert "preparation" not in shown(capsys, Certificate("time_limit", 4.0, 3.0))


def test_json_has_it_all():
    content = certificate_json(Certificate("precision_limit", 4.0, 3.0), history=False)
    assert content["status"] == "precision_limit" and content["preparation"] == 0.0
    assert "history" not in content
    assert certificate_json(None) is None
