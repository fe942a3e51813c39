"""Pieces of results that several commands show."""

from __future__ import annotations

import pytest

from columnist import Certificate
from columnist.cli._output import certificate_facts, certificate_json
from columnist.search._certificate import STATUSES


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_explained(status):
    shown = certificate_facts(Certificate(status, 4.0, 3.0))["status"]
    assert shown.startswith(f"{status} (") and not shown.endswith("()")


def test_preparation_is_shown_where_there_was_any():
    facts = certificate_facts(Certificate("time_limit", 4.0, 3.0, elapsed=75.0, preparation=70.0))
    assert facts["search"] == "0 nodes, 1 min 15 s"
    assert facts["preparation"] == "1 min 10 s of these, outside the time limit"
    assert "preparation" not in certificate_facts(Certificate("time_limit", 4.0, 3.0))


def test_json_has_it_all():
    content = certificate_json(Certificate("precision_limit", 4.0, 3.0), history=False)
    assert content["status"] == "precision_limit" and content["preparation"] == 0.0
    assert "history" not in content
    assert certificate_json(None) is None
