"""Which tests of this folder run on the cluster."""

from __future__ import annotations

import importlib.util

import pytest

if importlib.util.find_spec("distributed") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def _current_client(request):
    if "cluster" not in request.fixturenames:
        yield
        return
    with request.getfixturevalue("cluster").as_current():
        yield
