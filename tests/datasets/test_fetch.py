"""Sets from the data home, or else from a server; and what is said if neither has them."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from pathlib import Path

import numpy as np
import pytest

from columnist import datasets
from columnist.datasets import DataNotAvailable, describe, fetch, list_datasets
from columnist.datasets._catalogue import CATALOGUE
from columnist.datasets._files import DataFile, data_files
from tests.datasets.server import serving

VALUES = np.random.default_rng(0).integers(0, 9, (103, 10)).astype(float)
NAMES = [f"a{i}" for i in range(7)] + ["t0", "t1", "t2"]


def arff(values: np.ndarray) -> bytes:
    """A file like that of the set slump."""
    head = "@relation slump\n" + "".join(f"@attribute {name} numeric\n" for name in NAMES)
    rows = "\n".join(",".join(f"{value:g}" for value in row) for row in values)
    return f"{head}@data\n{rows}\n".encode()


BODY = arff(VALUES)


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("COLUMNIST_DATA", raising=False)
    return tmp_path / "home"


@pytest.fixture
def at(monkeypatch):
    """Makes the set slump ours, to be had at some addresses."""

    def change(*addresses: str) -> None:
        sum_ = hashlib.sha256(BODY).hexdigest()
        file = DataFile("slump/slump.arff", len(BODY), sum_, addresses)
        files = {**data_files(), file.path: file}
        monkeypatch.setattr("columnist.datasets._catalogue.data_files", lambda: files)

    return change


@pytest.fixture
def placed(home) -> Path:
    """A data home with the set slump."""
    path = home / "slump/slump.arff"
    path.parent.mkdir(parents=True)
    path.write_bytes(BODY)
    return home


def test_from_the_data_home(placed):
    found = fetch("slump", data_home=placed, download=False)
    np.testing.assert_array_equal(found.data, VALUES[:, :7])
    np.testing.assert_array_equal(found.target, VALUES[:, 7:])
    assert found.feature_names == NAMES[:7]
    assert found.target_names.tolist() == NAMES[7:]
    assert found.DESCR == describe("slump")
    assert found.filename == str(placed / "slump/slump.arff")
    assert found.data.flags.writeable and found.data.flags.c_contiguous


def test_by_the_variable(placed, monkeypatch):
    monkeypatch.setenv("COLUMNIST_DATA", str(placed))
    assert datasets.fetch_slump().data.shape == (103, 7)


def test_what_is_fetched_is_the_callers(placed):
    first = fetch("slump", data_home=placed)
    first.data[:] = -1.0
    np.testing.assert_array_equal(fetch("slump", data_home=placed).data, VALUES[:, :7])


def test_pairs(placed):
    X, y = datasets.fetch_slump(data_home=placed, return_X_y=True)
    assert X.shape == (103, 7) and y.shape == (103, 3)


def test_frames(placed):
    pd = pytest.importorskip("pandas")
    found = datasets.fetch_slump(data_home=placed, as_frame=True)
    assert list(found.frame) == NAMES
    assert isinstance(found.data, pd.DataFrame) and isinstance(found.target, pd.DataFrame)
    X, y = datasets.fetch_slump(data_home=placed, as_frame=True, return_X_y=True)
    assert list(X) == NAMES[:7] and list(y) == NAMES[7:]


def test_a_download(home, at):
    told = []
    with serving() as server:
        at(server.address + "/gone", server.content("/slump", BODY))
        found = fetch("slump", data_home=home, progress=lambda *step: told.append(step))
        assert server.asked == ["/gone", "/slump"]
        np.testing.assert_array_equal(found.data, VALUES[:, :7])
        fetch("slump", data_home=home)
        assert len(server.asked) == 2  # the second time it is there
    assert told[-1] == ("slump/slump.arff", len(BODY), len(BODY))
    assert [info.name for info in list_datasets(home) if info.present] == ["slump"]


def test_download_dataset(home, at):
    with serving() as server:
        at(server.content("/slump", BODY))
        assert datasets.download_dataset("slump", data_home=home) == [home / "slump/slump.arff"]


def test_no_copy_anywhere(home, at):
    with serving() as server:
        changed = server.content("/changed", BODY.replace(b"1", b"2"))
        at(server.address + "/gone", changed)
        with pytest.raises(DataNotAvailable) as caught:
            fetch("slump", data_home=home)
    text = str(caught.value)
    for part in (
        "'slump' needs the file slump/slump.arff",
        f"not in {home}",
        f"{server.address}/gone: the server answered 404",
        f"{changed}: its content is not the expected one",
        "COLUMNIST_DATA",
        str(home / "slump/slump.arff"),
    ):
        assert part in text
    assert not home.exists()
    assert isinstance(caught.value, OSError)


def test_not_asked_to_download(home, at):
    with serving() as server:
        at(server.content("/slump", BODY))
        with pytest.raises(DataNotAvailable, match="not downloaded, as asked"):
            fetch("slump", data_home=home, download=False)
        assert server.asked == []


def test_a_file_without_an_address(home, at):
    at()
    with pytest.raises(DataNotAvailable, match=r"save it yourself as .*slump\.arff"):
        fetch("slump", data_home=home)


def test_a_data_home_that_cannot_be_written(tmp_path, at):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with serving() as server:
        at(server.content("/slump", BODY))
        with pytest.raises(DataNotAvailable, match="cannot be written"):
            fetch("slump", data_home=blocked)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "cannot be read|holds"),
        (b"<html>not here</html>", "cannot be read|holds"),
        (b"\x00\xff" * 100, "cannot be read|holds"),
        (arff(VALUES[:5]), "holds 5 x 7 values, not 103 x 7"),
        (BODY.replace(b"1", b"one"), "cannot be read"),
    ],
)
@pytest.mark.filterwarnings("ignore:loadtxt")
def test_a_file_that_is_something_else(placed, body, what):
    (placed / "slump/slump.arff").write_bytes(body)
    with pytest.raises(ValueError, match=what) as caught:
        fetch("slump", data_home=placed)
    assert "columnist data fetch slump" in str(caught.value)


@pytest.mark.parametrize("name", ["madelon", "farm-ads", "isolet5", "url-mini", "scene"])
def test_rubbish_in_any_format(home, name):
    for file in CATALOGUE[name].needed:
        (home / file.path).parent.mkdir(parents=True, exist_ok=True)
        (home / file.path).write_bytes(b"rubbish\n")
    with pytest.raises(ValueError, match=f"fetch {name}"):
        fetch(name, data_home=home)


def test_a_function_for_every_set():
    for dataset in CATALOGUE.values():
        function = getattr(datasets, dataset.function)
        assert function.__name__ == dataset.function in datasets.__all__
        assert dataset.function in dir(datasets)
        assert dataset.title in function.__doc__
        assert list(inspect.signature(function).parameters) == [
            "data_home",
            "download",
            "return_X_y",
            "as_frame",
        ]


def test_a_misspelt_function():
    with pytest.raises(AttributeError, match="did you mean fetch_vehicle"):
        _ = datasets.fetch_vehicel
    with pytest.raises(AttributeError, match=r"no attribute 'nonsense'$"):
        _ = datasets.nonsense


def test_list_datasets(home):
    found = list_datasets(home)
    assert [info.name for info in found] == list(CATALOGUE)
    assert not any(info.present for info in found)
    assert not home.exists()
    assert all(info.size > 0 for info in found)
    assert {info.kind for info in found} == {"classes", "labels", "targets"}
    assert dataclasses.asdict(found[0])["shape"] == (846, 18)
