"""Tables written a few rows at a time, against the same written at once."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest

from columnist.io import DataFileError, read_table, write_table
from columnist.io._write import write_parts

zarr = pytest.importorskip("zarr")
pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((23, 2))
IDS = np.arange(23)
TEXT = np.array([None if i < 10 else f"t, {i}" for i in range(23)], dtype=object)


def parts(after):
    """The rows in parts of unlike size, one of them empty."""
    edges = [0, 5, 5, 16, 23]
    for a, b in pairwise(edges):
        yield X[a:b], ["p", "q"], {"id": IDS[a:b]}, {n: v[a:b] for n, v in after.items()}


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "npy"])
def test_the_same_as_at_once(tmp_path, ending):
    after = {} if ending == "npy" else {"text": TEXT}
    one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
    write_table(one, X, ["p", "q"], before={"id": IDS}, after=after)
    stream = parts(after)
    write_parts(other, stream, 23)
    options = {} if ending == "npy" else {"target": "text", "missing": "drop", "ids": "id"}
    expected, found = read_table(one, **options), read_table(other, **options)
    assert found.names == expected.names
    np.testing.assert_array_equal(found.X, expected.X)
    if ending != "npy":
        assert found.y.tolist() == expected.y.tolist()
        assert found.ids["id"].tolist() == expected.ids["id"].tolist()


def test_zarr_keeps_the_names(tmp_path):
    stream = parts({})
    write_parts(tmp_path / "t.zarr", stream, 23)
    stored = zarr.open(str(tmp_path / "t.zarr"), mode="r")
    np.testing.assert_array_equal(stored[:], np.column_stack([IDS, X]))
    assert stored.attrs["columns"] == ["id", "p", "q"]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "npy", "zarr"])
def test_a_stream_that_breaks_leaves_what_was_there(tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    stream = parts({})
    first = next(stream)

    def broken():
        yield first
        raise DataFileError("broken")

    with pytest.raises(DataFileError, match=f"out.{ending}: broken"):
        write_parts(out, chain([first], broken()), 23)
    assert list(tmp_path.iterdir()) == []
    write_parts(out, chain([first], stream), 23)
    before = read(out)
    with pytest.raises(DataFileError, match="broken"):
        write_parts(out, chain([first], broken()), 23)
    assert read(out) == before
    assert list(tmp_path.iterdir()) == [out]


def read(path):
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return path.read_bytes()


def test_what_cannot_be_written(tmp_path):
    stream = parts({"text": TEXT})
    first = next(stream)
    for name, message in [
        ("a.npz", "not written block by block"),
        ("a.npy", "numbers only"),
        ("a.zarr", "numbers only"),
        ("no/a.csv", "cannot be written"),
    ]:
        with pytest.raises(DataFileError, match=message):
            write_parts(tmp_path / name, chain([first], stream), 23)
    (tmp_path / "mine.zarr").mkdir()
    with pytest.raises(DataFileError, match="something else"):
        write_parts(tmp_path / "mine.zarr", parts({}), 5)
