"""What is written is read back exactly, in every format; nothing is left behind on failure."""

from __future__ import annotations

import io
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_svmlight_file

from columnist.io import FORMATS, DataFileError, read_table, write_table

# Every digit counts; from version 3 on pandas reads them all unasked.
EXACT = {} if int(pd.__version__.split(".")[0]) > 2 else {"float_precision": "round_trip"}

NAMED = [format for format in FORMATS if format != "npy"]
FRAMES = ["csv", "tsv", "parquet", "feather", "arff", "npz", "mat"]
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
names = names.filter(lambda name: name.strip() and name != "y")


@st.composite
def tables(draw) -> tuple[np.ndarray, list[str]]:
    n_columns = draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (draw(st.integers(1, 4)), n_columns), elements=finite))
    return X, draw(st.lists(names, min_size=n_columns, max_size=n_columns, unique=True))


def dense(X) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("format", NAMED)
@given(table=tables())
@settings(max_examples=25)
def test_round_trip(format, ending, table):
    if ending and format in ("parquet", "feather", "npz", "mat"):
        return
    X, columns = table
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t{FORMATS[format][0]}{ending}"
        write_table(path, X, columns)
        back = read_table(path)
    assert back.names == tuple(columns)
    np.testing.assert_array_equal(dense(back.X), X)


@pytest.mark.parametrize("format", FRAMES)
def test_text_and_numbers_next_to_X(format, tmp_path):
    path = tmp_path / f"t{FORMATS[format][0]}"
    X = np.array([[0.1, 2.0], [3.0, 1e-300]])
    before, after = {"id": ["p, q", "r'\"s"]}, {"y": [2**53 - 1, -4]}
    write_table(path, X, ["a", "b"], before=before, after=after)
    table = read_table(path, ids="id", target="y")
    np.testing.assert_array_equal(table.X, X)
    assert table.ids["id"].tolist() == before["id"]
    assert table.y.tolist() == after["y"]


@pytest.mark.parametrize("format", ["npz", "mtx", "svmlight", "mat"])
def test_sparse_stays_sparse(format, tmp_path):
    X = sp.random_array((6, 9), density=0.2, rng=np.random.default_rng(0), format="csr")
    path = tmp_path / f"t{FORMATS[format][0]}"
    write_table(path, X, [f"c{i}" for i in range(9)])
    table = read_table(path)
    assert isinstance(table.X, sp.csr_array)
    assert table.X.shape == X.shape
    assert abs(table.X - X).nnz == 0


def test_others_read_the_same(tmp_path):
    X = np.random.default_rng(1).normal(size=(4, 2))
    for ending in (".csv", ".parquet", ".feather", ".npy", ".mtx", ".mat", ".svm"):
        write_table(tmp_path / f"t{ending}", X, ["a", "b,c"])
    file = str(tmp_path / "t")
    others = [
        pd.read_csv(file + ".csv", **EXACT)[["a", "b,c"]].to_numpy(),
        pl.read_parquet(file + ".parquet")[["a", "b,c"]].to_numpy(),
        pl.read_ipc(file + ".feather")[["a", "b,c"]].to_numpy(),
        np.load(file + ".npy"),
        scipy.io.mmread(file + ".mtx"),
        scipy.io.loadmat(file + ".mat")["X"],
        load_svmlight_file(file + ".svm")[0].toarray(),
    ]
    for other in others:
        np.testing.assert_array_equal(other, X)


def test_npz_holds_no_objects(tmp_path):
    write_table(tmp_path / "t.npz", np.eye(2), ["a", "b"], before={"id": ["u", "v"]})
    with np.load(tmp_path / "t.npz", allow_pickle=False) as content:
        assert content["names"].tolist() == ["a", "b"]
        assert content["id"].tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("name", "before", "words"),
    [
        ("t.npy", {"id": ["a", "b"]}, "numbers only"),
        ("t.svm", {"id": [1, 2]}, "label"),
        ("t.xyz", None, "which format"),
        ("t.parquet.gz", None, "gzipped"),
        ("nowhere/t.csv", None, "cannot be written"),
        ("t.csv", {"a": [1, 2]}, "repeated"),
        ("t.mat", {"not a name": [1, 2]}, "MATLAB"),
    ],
)
def test_what_cannot_be_written(tmp_path, name, before, words):
    with pytest.raises(DataFileError, match=words):
        write_table(tmp_path / name, np.eye(2), ["a", "b"], before=before)
    assert os.listdir(tmp_path) == []


def test_a_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "t.npy"
    write_table(path, np.eye(2), ["a", "b"])
    with pytest.raises(DataFileError):
        write_table(path, np.zeros((2, 2)), ["a", "b"], before={"id": ["u", "v"]})
    np.testing.assert_array_equal(np.load(path), np.eye(2))
    assert os.listdir(tmp_path) == ["t.npy"]


def test_wrong_shapes():
    with pytest.raises(ValueError, match="does not fit 1 names"):
        write_table("-", np.eye(2), ["a"])
    with pytest.raises(ValueError, match="3 values for 2 rows"):
        write_table("-", np.eye(2), ["a", "b"], after={"y": [1, 2, 3]})


def test_a_reader_that_leaves_is_not_the_file_s_fault(monkeypatch):
    class Closed(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            raise BrokenPipeError

    stream = io.TextIOWrapper(io.BufferedWriter(Closed()))
    monkeypatch.setattr("sys.stdout", stream)
    with pytest.raises(BrokenPipeError):
        write_table("-", np.eye(2), ["a", "b"])
    stream.buffer.raw.write = lambda data: len(data)  # what is left to flush at the end
