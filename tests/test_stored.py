"""Measurements are kept with their facts, shown as they are kept, and told when they are old."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks import fresh, store
from benchmarks.shown import shown
from benchmarks.store import Stored
from reproduction import stored
from reproduction.catalogue import MODULES

ROOT = Path(__file__).parents[1]
FACTS = {"commit", "date", "command", "load", "memory [GB]", "cores", "processor", "numpy"}


def docs(name):
    """A module of the documentation."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rows_are_written_at_once_with_the_facts_of_their_run(tmp_path):
    first = Stored("a", tmp_path)
    first.put([{"set": "s", "k": np.int64(3), "error": np.float64(0.5), "gap": np.nan}])
    found = Stored("a", tmp_path)
    assert found.rows == [{"set": "s", "k": 3, "error": 0.5, "gap": None}]
    assert FACTS <= set(found.runs[0])
    assert len(found.runs[0]["load"]) == 2
    found.put([{"set": "s", "k": 4}], by=("set", "k"))
    found.put([{"set": "s", "k": 3, "error": 0.25}], by=("set", "k"))
    again = Stored("a", tmp_path)
    assert [(row["k"], row.get("error")) for row in again.rows] == [(3, 0.25), (4, None)]
    assert len(again.runs) == 1  # no row of the first run is left
    assert again.find(k=4) == [{"set": "s", "k": 4}] and not again.find(k=5)
    assert again.run_of(k=4)["commit"] == found.runs[0]["commit"]


def test_rows_of_several_runs_keep_their_own_facts(tmp_path, monkeypatch):
    for number in range(3):
        monkeypatch.setattr(
            store, "run_facts", lambda n=number: {"commit": f"c{n}", "load": [0, 0]}
        )
        Stored("a", tmp_path).put([{"set": number}])
    monkeypatch.setattr(store, "run_facts", lambda: {"commit": "new", "load": [0, 0]})
    stored = Stored("a", tmp_path)
    stored.put([{"set": 1, "x": 1}, {"set": 1, "x": 2}])
    assert [(row["set"], row.get("x")) for row in stored.rows] == [
        (0, None), (1, 1), (1, 2), (2, None),
    ]  # fmt: skip
    assert [stored.run_of(set=i)["commit"] for i in range(3)] == ["c0", "new", "c2"]


def test_facts_are_those_of_the_beginning(tmp_path, monkeypatch):
    """The sources may change while a run measures them."""
    facts = iter([{"commit": "begun", "load": [0, 0]}, {"commit": "later", "load": [9, 9]}])
    monkeypatch.setattr(store, "run_facts", lambda: next(facts))
    stored = Stored("a", tmp_path)
    stored.begin()
    assert Stored("a", tmp_path).runs == []  # nothing is measured yet
    for value in (1, 2):
        stored.put([{"set": value}])
    assert [run["commit"] for run in Stored("a", tmp_path).runs] == ["begun"]


def test_commands_name_no_folder_of_a_machine():
    words = [
        "/usr/bin/python3",
        str(ROOT / "benchmarks" / "run.py"),
        "reach",
        "--data",
        "/a/b/data",
    ]
    assert store.command(words) == "python benchmarks/run.py reach --data data"


def test_nothing_is_kept_without_a_folder():
    stored = Stored("textbook", None)
    assert stored.rows == []
    stored.put([{"set": "s"}])
    assert stored.rows == [{"set": "s"}]


@pytest.mark.parametrize("name", store.names())
def test_every_stored_result_can_be_shown(name):
    docutils = pytest.importorskip("docutils.core")
    stored = Stored(name)
    assert stored.to_json() == stored.path.read_text(encoding="utf-8")
    assert {"commit", "date", "command", "load", "processor", "cores"} <= set.intersection(
        *(set(run) for run in stored.runs)
    )
    found = shown(stored)
    assert found.title and found.note
    text = "\n\n".join([*docs("stored_pages").tables_of(found), docs("stored_pages").facts(stored)])
    docutils.publish_doctree(text, settings_overrides={"halt_level": 2, "report_level": 2})


def test_every_stored_result_names_the_code_it_measures():
    sources = {path for name in fresh.MEASURES for path in fresh.sources_of(name)}
    sources |= {path for name in fresh.REPRODUCES for path in fresh.sources_of_tables(name)}
    assert not [path for path in sources if not (ROOT / path).exists()]
    assert "benchmarks/weighted_tables.py" in fresh.sources_of("weighted_tables")
    assert "reproduction/weighted_tables.py" in fresh.sources_of_tables("weighted_tables")


def test_every_module_of_tables_names_its_code():
    assert set(fresh.REPRODUCES) == set(MODULES)
    assert all(set(part.run) >= {"commit", "date", "load", "command"} for part in stored().tables)
    assert all(isinstance(line, str) for line in fresh.old_tables())
    assert all(isinstance(line, str) for line in fresh.old_experiments())


def test_every_page_shows_what_is_stored():
    included = {*docs("stored_pages").included(), "compare", "readme"}  # with pages of their own
    assert set(store.names()) <= included == set(fresh.MEASURES)


def test_code_of_a_result_includes_what_its_module_imports():
    toys = fresh.sources_of_tables("robust_toys", "he-5.1")
    assert {"reproduction/robust_tables.py", "reproduction/weighted_search.py"} <= set(toys)
    assert {"tests/oracles/textbook_outliers.py", "reproduction/printed/he-5.1.csv"} <= set(toys)
    assert "src/columnist/robust/_baselines.py" in toys
    assert not fresh.SHARED & set(toys)
    assert all((ROOT / path).is_file() for path in fresh.SHARED)
    assert "benchmarks/subset/generated.py" in fresh.sources_of("subset-designs")
    assert "reproduction/gene_study.py" in fresh.sources_of("knowledge")


def test_other_files_are_old_once_their_text_changes(checkout, tmp_path):
    path = tmp_path / "src" / "columnist" / "a.csv"
    path.write_text("a,b\n1,2\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "figures"], check=True)
    assert not fresh.changed("HEAD", ["src/columnist/a.csv"])
    path.write_text("a,b\n1,3\n")
    fresh.differs.cache_clear()
    assert fresh.changed("HEAD", ["src/columnist/a.csv"]) == ["src/columnist/a.csv"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one source file and a result that measures it."""

    def git(*arguments):
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    git("init", "-q")
    source = tmp_path / "src" / "columnist" / "a.py"
    source.parent.mkdir(parents=True)
    source.write_text('"""Text."""\nx = 1\n')
    own = tmp_path / "benchmarks" / "bench.py"
    own.parent.mkdir()
    own.write_text("rows = 1\n")
    git("add", ".")
    git("commit", "-qm", "first")
    monkeypatch.setattr(store, "HOME", tmp_path)
    monkeypatch.setattr(fresh, "HOME", tmp_path)
    monkeypatch.setattr(fresh, "MEASURES", {"bench": ("a.py",)})
    monkeypatch.setattr(fresh, "Stored", lambda name: Stored(name, tmp_path / "stored"))
    fresh.differs.cache_clear()
    Stored("bench", tmp_path / "stored").put([{"set": "s"}])
    return source


def test_results_are_old_once_their_code_changes(checkout):
    assert list(fresh.old(["bench"])) == []
    checkout.write_text('"""Another text."""\n# a comment\nx   =   1\n')
    fresh.differs.cache_clear()
    assert list(fresh.old(["bench"])) == []
    checkout.write_text("x = 2\n")
    fresh.differs.cache_clear()
    (line,) = fresh.old(["bench"])
    assert line.startswith("bench (") and line.endswith("src/columnist/a.py")


def test_results_are_old_once_the_benchmark_changes(checkout, tmp_path):
    (tmp_path / "benchmarks" / "bench.py").write_text("rows = 2\n")
    (line,) = fresh.old(["bench"])
    assert line.endswith("benchmarks/bench.py")


def test_results_without_all_facts_are_old(checkout, tmp_path):
    path = tmp_path / "stored" / "bench.json"
    found = json.loads(path.read_text())
    found["runs"][0]["load"] = "10 to 23"
    del found["runs"][0]["memory [GB]"]
    path.write_text(json.dumps(found))
    (line,) = fresh.old(["bench"])
    assert line.endswith("stored without memory [GB], load")


CODE = '''
"""Text."""
import os

def f(x: int) -> str:
    """Text."""
    y: int = x + 1
    if y:
        raise ValueError(f"{x} is wrong: {y}")
    warnings.warn("Text.", UserWarning)
    return "text"
'''
SAME = [
    ("import os", "from sys import path"), ("x: int", "x: float"), (" -> str", ""),
    ("y: int", "y: float"), ("{x} is wrong: {y}", "not {x}, {y}"), ('"Text.", U', '"Other", U'),
    ('    """Text."""\n', ""), ("x + 1", "(x  +\n 1)  # a comment"),
]  # fmt: skip
OTHER = [
    ("x + 1", "x + 2"), ("if y", "if x"), ("ValueError", "TypeError"), ("UserW", "W"),
    ('"text"', '"other"'), ("(x:", "(z:"), ("is wrong: {y}", "is wrong"),
]  # fmt: skip


def test_what_is_code():
    for old, new in SAME:
        assert old in CODE and fresh.code_of(CODE.replace(old, new)) == fresh.code_of(CODE), old
    for old, new in OTHER:
        assert old in CODE and fresh.code_of(CODE.replace(old, new)) != fresh.code_of(CODE), old


def test_what_is_code_of_cython():
    code = 'cdef int f(int x) nogil:\n    """Text."""\n    # why\n    return x  # here\n'
    same = "cdef int f(int x) nogil:\n\n  return   x\n"
    assert list(fresh.cython_of(code)) == list(fresh.cython_of(same))
    for old, new in (("return x", "return -x"), ("int x", "long x"), (" nogil", "")):
        assert list(fresh.cython_of(code)) != list(fresh.cython_of(code.replace(old, new)))


def test_results_of_changed_sources_are_old(checkout, tmp_path):
    checkout.write_text("x = 3\n")
    Stored("bench", tmp_path / "stored").put([{"set": "s"}])
    assert "not committed" in next(iter(fresh.old(["bench"])))
    path = tmp_path / "stored" / "bench.json"
    found = json.loads(path.read_text())
    found["runs"][0]["commit"] = "0123456"
    path.write_text(json.dumps(found))
    fresh.differs.cache_clear()
    assert "not here" in next(iter(fresh.old(["bench"])))
