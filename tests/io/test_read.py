"""Layouts found out, roles, missing values, and one clear line for everything that is wrong."""

from __future__ import annotations

import gzip
import io
import os

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from columnist.io import DataFileError, read_table
from columnist.io._arff import read_arff

PAIR = [[1.0, 2.0], [3.0, 4.5]]


def read(text: str | bytes, **options):
    return read_table(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,4.5\n",
        "a\tb\r\n1\t2\r\n3\t4.5",
        "a;b\n1;2,0\n3;4,5\n",
        "a|b\n1|2\n3|4.5\n",
        "a  b\n 1   2\n3 \t 4.5 \n",
        "\ufeffa,b\n1,2\n3,4.5\n",
        "\n# note\n%\na,b\n\n1,2\n\n3,4.5\n\n\n",
        "a,b,\n1,2,\n3,4.5,\n",
        "a,b\n1,2,\n3,4.5,\n",
        '"a","b"\n"1",2\n3,"4.5"\n',
        "# a,b\n1,2\n3,4.5\n",
        " a , b \n 1 , 2\n 3, 4.5 \n",
        "a,b\r1,2\r3,4.5\r",
        "a,b\n1,2\n3,4.5\n".encode("utf-16"),
        gzip.compress(b"a,b\n1,2\n3,4.5\n"),
    ],
)
def test_layouts(text):
    table = read(text)
    assert table.names == ("a", "b")
    np.testing.assert_array_equal(table.X, PAIR)
    assert table.X.flags.c_contiguous


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", ("x1", "x2")),
        ("id,2019\n1,2\n3,4\n", ("id", "2019")),
        ('"1","2"\n3,4\n', ("1", "2")),
        ("2019,2020\n1,2\n3,4\n", ("2019", "2020")),
        ("1999,2001\n2005,2003\n", ("x1", "x2")),
        ("2019\n3\n", ("x1",)),
        ("a,a\n1,2\n", ("a", "a_2")),
        ("a,\n1,2\n", ("a", "x2")),
        ("h\xe9,b\n1,2\n".encode("latin-1"), ("h\xe9", "b")),
        ('"x, y",b\n1,2\n', ("x, y", "b")),
    ],
)
def test_names(text, names):
    assert read(text).names == names


def test_years_above_numbers_are_names():
    text = "country,2019,2020\nFR,1,2\nDE,3,4\n"
    table = read(text, ids="country")
    assert table.names == ("2019", "2020")
    assert table.ids["country"].tolist() == ["FR", "DE"]
    assert read("FR,1,2\nDE,3,4\n", non_numeric="drop").names == ("x2", "x3")


def test_r_row_names():
    table = read('"a" "b"\n"r1" 1 2\n"r2" 3 4.5\n', ids="row")
    np.testing.assert_array_equal(table.X, PAIR)
    assert table.ids["row"].tolist() == ["r1", "r2"]


def test_same_as_pandas(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 7)), columns=list("abcdefg"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    pl.from_dict({name: frame[name].to_numpy() for name in frame}).write_parquet(
        tmp_path / "t.parquet"
    )
    for ending in (".csv", ".parquet"):
        np.testing.assert_array_equal(read_table(tmp_path / f"t{ending}").X, frame.to_numpy())


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_missing_values(statistic):
    text = "a,b\n1,NA\n2,?\n6,3\nnan,5\n"
    frame = pd.DataFrame({"a": [1, 2, 6, None], "b": [None, None, 3, 5]})
    table = read(text, missing=statistic)
    expected = frame.fillna(getattr(frame, statistic)())
    np.testing.assert_allclose(table.X, expected, rtol=1e-15)
    assert table.imputed["b"] == (2, 4.0)
    dropped = read(text, missing="drop")
    assert dropped.rows.tolist() == [2]
    np.testing.assert_array_equal(dropped.X, [[6.0, 3.0]])


def test_sparse_missing_values(tmp_path):
    X = np.array([[0.0, np.nan], [0.0, 3.0], [6.0, 0.0]])
    sp.save_npz(tmp_path / "t.npz", sp.csr_array(X))
    table = read_table(tmp_path / "t.npz", missing="mean")
    assert sp.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), [[0, 1.5], [0, 3], [6, 0]])
    assert read_table(tmp_path / "t.npz", missing="drop").rows.tolist() == [1, 2]


def test_roles():
    text = "id,a,b,y\n007,1,2,u\n008,3,4,v\n"
    table = read(text, ids="id", target="y", drop=["b"])
    assert table.names == ("a",)
    assert table.y.tolist() == ["u", "v"]
    assert table.ids["id"].tolist() == ["007", "008"]
    assert table.ignored == {"b": "on request"}
    assert read(text, columns=["b", "a"]).names == ("b", "a")
    assert read(text, non_numeric="drop").ignored == {"y": "text"}


def test_large_ids_stay_exact():
    assert read("i,a\n9007199254740993,1\n", ids="i").ids["i"].tolist() == [9007199254740993]


def test_labels_wait_to_be_asked_for():
    text = "1 1:2 3:4\n-1 2:5\n"
    assert read(text, format="svmlight").y is None
    assert read(text, format="svmlight", target="label").y.tolist() == [1, -1]


def test_matrix_market_against_scipy(tmp_path):
    rng = np.random.default_rng(0)
    A = sp.random_array((5, 5), density=0.4, rng=rng)
    for number, matrix in enumerate([A, A + A.T, A - A.T, A.toarray(), (A + A.T).toarray()]):
        path = tmp_path / f"{number}.mtx"
        scipy.io.mmwrite(path, matrix)
        back = read_table(path).X
        dense = matrix.toarray() if sp.issparse(matrix) else matrix
        np.testing.assert_array_equal(back.toarray() if sp.issparse(back) else back, dense)


def test_arff_nominal_values(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute 'a b' real\n@attribute c {no, yes}\n@data\n1,yes\n?,no\n"
    )
    matrix, names = read_arff(path)
    assert names == ("a b", "c")
    np.testing.assert_array_equal(matrix, [[1, 1], [np.nan, 0]])
    assert read_table(path, target="c", missing="drop").y.tolist() == ["yes"]


def test_npz_vectors(tmp_path):
    np.savez(tmp_path / "t.npz", X=PAIR, y=[5, 6], other=np.eye(3))
    assert read_table(tmp_path / "t.npz", target="y").y.tolist() == [5, 6]
    assert read_table(tmp_path / "t.npz", variable="other").X.shape == (3, 3)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "empty"),
        ("a,b\n", {}, "not a single row"),
        ("a,b\n1,2\n3\n", {}, "line 3 has 1 field"),
        ("a,b\n1,2\n3,4,5\n", {}, "line 3 has 3 fields"),
        ("a,b\n1,inf\n", {}, "infinite values in column 'b'"),
        ("a,b\n1,x\n2,y\n", {}, r"'b' \(text, such as 'x'\); .*non_numeric='drop'"),
        ("a,b\n1,1\n2,y\n3,4\n", {}, "'y' in row 2"),
        ("a,b\n1,\n2,\n", {}, r"2 missing values in column 'b' \(2\)"),
        ("a,y\n1,\n2,3\n", {"target": "y", "missing": "mean"}, "never imputed"),
        ("Height,b\n1,2\n", {"target": "height"}, "did you mean 'Height'"),
        ("a,b\n1,2\n", {"target": "zzz"}, "among the 2 columns"),
        ("1 1:2 2:3\n", {"format": "svmlight", "target": "y"}, "the file also has 'label'"),
        ("a,b,c\n", {"format": "svmlight"}, "not rows of 'label place:value'"),
        ("a,b,c,d\n1 2,3 4\n2 4,5 7\n", {}, "is this a table"),
        ("a,b\n1,2\n", {"target": "a", "drop": "a"}, "named twice"),
        ("a\nx\n", {"non_numeric": "drop"}, "no column of numbers"),
        (b"\x00\x01\x02\x03", {}, "binary data"),
        ("a,b\n1,2\n", {"format": "parquet"}, "not a parquet file"),
        (b"PAR1xxxx", {"format": "csv"}, "the content is parquet"),
        (gzip.compress(b"a,b\n1,2\n" * 9)[:-9], {}, "gzip data are cut off"),
        ("Once upon a time there was\na file. It was prose\n", {}, "stream: "),
    ],
)
def test_one_clear_line(text, options, words):
    with pytest.raises(DataFileError, match=words) as caught:
        read(text, **options)
    assert str(caught.value).isprintable()


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(DataFileError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataFileError, match="folder"):
        read_table(tmp_path)
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object))
    with pytest.raises(DataFileError, match="pickle"):
        read_table(tmp_path / "o.npy")
    (tmp_path / "t.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataFileError, match="gzip"):
        read_table(tmp_path / "t.csv.gz")
    if os.geteuid():
        (tmp_path / "t.csv.gz").chmod(0)
        with pytest.raises(DataFileError, match="permission"):
            read_table(tmp_path / "t.csv.gz")


def test_columns_chosen_by_a_function_and_filled_with_given_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,,3\n4,5,\n")
    table = read_table(path, columns=lambda names: names[:0:-1], fill=[30.0, 20.0])
    assert table.names == ("c", "b")
    np.testing.assert_array_equal(table.X, [[3.0, 20.0], [30.0, 5.0]])
    assert table.imputed == {"c": (1, 30.0), "b": (1, 20.0)}
    (tmp_path / "t.svm").write_text("0 1:nan 2:4\n1 2:nan\n")
    sparse = read_table(tmp_path / "t.svm", columns=["x2", "x1"], fill=[7.0, 9.0])
    np.testing.assert_array_equal(sparse.X.toarray(), [[4.0, 9.0], [7.0, 0.0]])
    with pytest.raises(ValueError, match="fill needs columns"):
        read_table(path, fill=[1.0])


def test_all_columns_in_another_order(tmp_path):
    (tmp_path / "t.csv").write_text("x1,x2\n1,2\n3,4\n")
    np.save(tmp_path / "t.npy", [[1.0, 2.0], [3.0, 4.0]])
    for name in ("t.csv", "t.npy"):
        table = read_table(tmp_path / name, columns=["x2", "x1"])
        assert table.names == ("x2", "x1")
        np.testing.assert_array_equal(table.X, [[2.0, 1.0], [4.0, 3.0]])
