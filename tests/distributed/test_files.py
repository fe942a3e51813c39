"""Files larger than memory, against the same files read whole."""

from __future__ import annotations

import os
import pickle

import dask
import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from columnist import ColumnSelector
from columnist.distributed._files import open_collection
from columnist.io import DataFileError, read_table, write_table

RNG = np.random.default_rng(0)
X = RNG.standard_normal((100, 5)) @ RNG.standard_normal((5, 5))
KIND = np.array(["u", "v"], dtype=object)[RNG.integers(0, 2, 100)]
NUMBER = np.array([f"{i:03d}" for i in range(100)], dtype=object)
NAMES = list("abcde")


@pytest.fixture(scope="module", autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same table in all formats, of several stored pieces each."""
    folder = tmp_path_factory.mktemp("files")
    sides = {"before": {"id": NUMBER}, "after": {"kind": KIND}}
    for ending in ("csv", "tsv.gz", "parquet"):
        write_table(folder / f"t.{ending}", X, NAMES, **sides)
    table = pq.read_table(folder / "t.parquet")
    pq.write_table(table, folder / "t.parquet", row_group_size=17)
    (folder / "parts").mkdir()
    for i in range(11):
        pq.write_table(table.slice(10 * i, 10), folder / "parts" / f"part.{i}.parquet")
    np.save(folder / "t.npy", X)
    np.save(folder / "f.npy", np.asfortranarray(X))
    for version in (2, 3):
        make_zarr(folder / f"v{version}.zarr", X, version)
    group = zarr.open_group(str(folder / "group.zarr"), mode="w")
    group.create_array("m", data=X, chunks=(10, 5))
    group.create_array("v", data=X[:, 0])
    return folder


def make_zarr(path, values, version=3):
    array = zarr.open(
        str(path), mode="w", shape=values.shape, chunks=(7, 3), dtype=values.dtype,
        zarr_format=version,
    )  # fmt: skip
    array[:] = values
    return array


def whole(part) -> np.ndarray:
    return np.asarray(part.compute())


NAMED = ["t.csv", "t.tsv.gz", "t.parquet", "parts", "parts/*.parquet"]
PLAIN = ["t.npy", "f.npy", "v2.zarr", "v3.zarr", "group.zarr"]


@pytest.mark.parametrize("name", NAMED)
def test_named_columns_play_their_parts(folder, name):
    data = open_collection(
        folder / name, target="kind", ids="id", drop="c", columns=["e", "a"], blocksize=800
    )
    assert data.names == ("e", "a")
    np.testing.assert_array_equal(whole(data.X), X[:, [4, 0]])
    assert whole(data.y).tolist() == KIND.tolist()
    assert whole(data.ids["id"]).tolist() == NUMBER.tolist()
    assert data.ignored == {"c": "on request"}
    assert data.n_rows in (100, None if "csv" in name or "tsv" in name else 100)


@pytest.mark.parametrize("name", PLAIN)
def test_arrays_name_their_columns_by_number(folder, name):
    data = open_collection(folder / name, target="x2", ids="x1", blocksize=800)
    assert data.names == ("x3", "x4", "x5") and data.n_rows == 100
    np.testing.assert_array_equal(whole(data.X), X[:, 2:])
    np.testing.assert_array_equal(whole(data.y), X[:, 1])
    assert data.X.numblocks[0] > 1


@pytest.mark.parametrize("name", [*NAMED, *PLAIN])
def test_the_selection_is_that_of_the_whole_file(folder, name):
    apart = {"drop": ["id", "kind"]} if name in NAMED else {}
    selector = ColumnSelector(2).fit(open_collection(folder / name, blocksize=1200, **apart).X)
    best = ColumnSelector(2).fit(X)
    assert selector.selected_.tolist() == best.selected_.tolist()
    assert selector.error_ == pytest.approx(best.error_, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 600))
def test_row_groups_make_blocks_of_about_the_size_asked_for(tmp_path_factory, heights, rows):
    path = tmp_path_factory.mktemp("groups") / "g.parquet"
    values = np.arange(float(sum(heights)))
    with pq.ParquetWriter(path, pa.schema({"a": pa.float64()})) as writer:
        for part in np.split(values, np.cumsum(heights)[:-1]):
            writer.write_table(pa.table({"a": part}))
    data = open_collection(path, blocksize=8 * rows)
    np.testing.assert_array_equal(whole(data.X)[:, 0], values)
    assert data.lengths == tuple(len(part) for part in data.X.partitions)
    # Whole groups, never more than asked for unless one alone is, and never two that fit.
    edges = set(np.cumsum(heights))
    assert set(np.cumsum(data.lengths)) <= edges
    assert all(a <= rows or a in heights for a in data.lengths)


def test_stored_chunks_are_never_cut(folder):
    assert set(open_collection(folder / "v3.zarr", blocksize=1).lengths[:-1]) == {7}
    assert set(open_collection(folder / "v3.zarr", blocksize=40 * 21).lengths[:-1]) == {21}


def test_only_wanted_columns_are_read(folder, monkeypatch):
    asked = []
    read = pq.ParquetFile.read_row_groups

    def spy(self, groups, columns=None, **options):
        asked.append(tuple(columns))
        return read(self, groups, columns=columns, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", spy)
    data = open_collection(folder / "t.parquet", columns=["b", "d"], target="kind", blocksize=800)
    assert not asked
    data.X[["d"]].compute()
    assert set(asked) == {("d",)}
    data.y.compute()
    assert set(asked) == {("d",), ("kind",)}


def test_numbers_of_any_type(tmp_path):
    table = pa.table(
        {
            "flag": pa.array([True, None, False]),
            "count": pa.array([1, 2, None]),
            "share": pa.array([0.5, None, 2.0], pa.float32()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    data = open_collection(tmp_path / "t.parquet")
    expected = [[1, 1, 0.5], [np.nan, 2, np.nan], [0, np.nan, 2]]
    np.testing.assert_array_equal(whole(data.X), expected)
    assert open_collection(tmp_path / "t.parquet", columns="share").X.dtypes["share"] == np.float32
    np.save(tmp_path / "swapped.npy", np.arange(6, dtype=">i2").reshape(3, 2))
    swapped = open_collection(tmp_path / "swapped.npy")
    assert swapped.X.dtype == np.float64
    np.testing.assert_array_equal(whole(swapped.X), np.arange(6.0).reshape(3, 2))


def test_zarr_names_its_columns(tmp_path):
    make_zarr(tmp_path / "n.zarr", X).attrs["columns"] = NAMES
    data = open_collection(tmp_path / "n.zarr", target="b")
    assert data.names == ("a", "c", "d", "e")
    np.testing.assert_array_equal(whole(data.y), X[:, 1])


def test_the_layout_of_text_is_found_out(tmp_path):
    text = "# a table\nname;height;leaves;\n" + "oak;1,5;30;\nfir;2,25;;\n" * 50
    (tmp_path / "t.txt").write_text(text)
    data = open_collection(tmp_path / "t.txt", ids="name", blocksize=200)
    expected = read_table(tmp_path / "t.txt", ids="name", missing="mean")
    assert data.names == expected.names == ("height", "leaves")
    values = whole(data.X)
    np.testing.assert_array_equal(values[:, 0], expected.X[:, 0])
    assert np.isnan(values[1::2, 1]).all() and (values[::2, 1] == 30).all()
    (tmp_path / "b.dat").write_text(" 1.5   2\n 3  4.25\n" * 40)
    blanks = open_collection(tmp_path / "b.dat", blocksize=100)
    np.testing.assert_array_equal(whole(blanks.X), read_table(tmp_path / "b.dat").X)


# -- what cannot be read ----------------------------------------------------------


def write(path, text: str | bytes):
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def spoil(folder, path):
    """Files that nobody can use."""
    write(path / "cut.npy", (folder / "t.npy").read_bytes()[:1000])
    write(path / "cut.parquet", (folder / "t.parquet").read_bytes()[:1000])
    write(path / "text.parquet", "a,b\n1,2\n")
    write(path / "empty.csv", "")
    write(path / "header.csv", "a,b\n")
    write(path / "wide.csv", "a,b\n1,2\n".encode("utf-16"))
    np.save(path / "objects.npy", np.array([[1, "a"]], dtype=object), allow_pickle=True)
    np.save(path / "one.npy", X[:, 0])
    np.save(path / "three.npy", X[None])
    np.save(path / "complex.npy", X + 1j)
    np.save(path / "rows.npy", X[:0])
    np.save(path / "columns.npy", X[:, :0])
    np.save(path / "fields.npy", np.zeros(3, dtype=[("a", float)]))
    np.savez(path / "t.npz", X)
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), path / "rows.parquet")
    (path / "nothing").mkdir()
    (path / "bare.zarr").mkdir()
    (path / "bad.zarr").mkdir()
    write(path / "bad.zarr" / "zarr.json", "{")
    (path / "unlike").mkdir()
    for i, name in enumerate("ab"):
        pq.write_table(pa.table({name: [1.0]}), path / "unlike" / f"{i}.parquet")
    (path / "hive" / "year=1").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1.0]}), path / "hive" / "year=1" / "0.parquet")


BAD = {
    "missing.parquet": "there is no such file",
    "no-*.parquet": "no file fits",
    "cut.npy": "damaged",
    "cut.parquet": "damaged",
    "text.parquet": "not a parquet file",
    "empty.csv": "empty",
    "header.csv": "not a single row",
    "wide.csv": "UTF-16",
    "objects.npy": "pickle",
    "one.npy": "1 dimension",
    "three.npy": "3 dimensions",
    "complex.npy": "not real numbers",
    "rows.npy": "not a single row",
    "columns.npy": "no columns",
    "fields.npy": "structured",
    "t.npz": "not read in blocks",
    "rows.parquet": "not a single row",
    "nothing": "no Parquet files",
    "bare.zarr": "no zarr.json",
    "bad.zarr": "damaged",
    "unlike": "other columns than the first",
    "hive": "year=1",
}


@pytest.fixture(scope="module")
def spoilt(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("spoilt")
    spoil(folder, path)
    return path


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_line(spoilt, name):
    with pytest.raises(DataFileError, match=BAD[name]) as caught:
        open_collection(spoilt / name)
    message = str(caught.value)
    assert message.startswith(os.fspath(spoilt / name)) and "\n" not in message


def test_bad_requests_are_refused(folder):
    for options, message in [
        ({}, "2 of 7 columns are not numeric: 'id' .text., 'kind' .text."),
        ({"target": "kidn"}, "did you mean 'kind'"),
        ({"drop": [*NAMES, "id", "kind"]}, "no column of numbers is left"),
        ({"drop": ["a"], "target": "a"}, "named twice"),
        ({"variable": "m"}, "Zarr group"),
    ]:
        with pytest.raises(DataFileError, match=message):
            open_collection(folder / "t.parquet", **options)
    assert open_collection(folder / "t.parquet", non_numeric="drop").ignored == {
        "id": "text", "kind": "text",
    }  # fmt: skip
    with pytest.raises(DataFileError, match=r"no array 'w' in the group; there are: 'm', 'v'"):
        open_collection(folder / "group.zarr", variable="w")
    with pytest.raises(DataFileError, match="1 dimension"):
        open_collection(folder / "group.zarr", variable="v")
    with pytest.raises(ValueError, match="blocksize"):
        open_collection(folder / "t.npy", blocksize="large")
    with pytest.raises(ValueError, match="format"):
        open_collection(folder / "t.npy", format="npz")


def test_the_rows_of_a_mapped_file_do_not_travel(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((1000, 5)))
    data = open_collection(tmp_path / "t.npy")
    assert isinstance(data.X, da.Array)
    assert len(pickle.dumps(dict(data.X.dask))) < 5000


def test_missing_values_are_found_in_the_pass(tmp_path):
    values = X.copy()
    values[50, 2] = np.nan
    np.save(tmp_path / "gap.npy", values)
    with pytest.raises(ValueError, match="contains NaN"):
        ColumnSelector(2).fit(open_collection(tmp_path / "gap.npy", blocksize=800).X)
