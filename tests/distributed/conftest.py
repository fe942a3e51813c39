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


@pytest.fixture
def all_wide(monkeypatch):
    """Everything counts as wide, and parts are small."""
    from columnist.data import _blocks
    from columnist.distributed import _blocks as columns

    monkeypatch.setattr(_blocks, "_NARROW", 0)
    monkeypatch.setattr(_blocks, "_NARROW_TALL", 0)
    monkeypatch.setattr(columns, "_PART", 2000)
    monkeypatch.setattr(columns, "CPU_COUNT", 1)
