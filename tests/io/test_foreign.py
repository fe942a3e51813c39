"""Files of other programs, against what was written by their own libraries."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from columnist import ColumnSelector
from columnist.io import DataFileError, read_table, write_table


def workbook(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b", "name"])
    for i in range(6):
        book.active.append([1.5 * i, None if i == 2 else i * i, f"s{i}"])
    book.create_sheet("empty")
    book.save(path)
    return path


def test_a_sheet(tmp_path):
    table = read_table(workbook(tmp_path / "t.xlsx"), ids="name", missing="mean")
    assert table.format == "excel" and table.header is True
    np.testing.assert_allclose(table.X[:, 0], 1.5 * np.arange(6))
    assert table.imputed["b"][0] == 1 and table.ids["name"][3] == "s3"
    with pytest.raises(DataFileError, match="no sheet 'x'"):
        read_table(tmp_path / "t.xlsx", variable="x")
    with pytest.raises(DataFileError, match="empty"):
        read_table(tmp_path / "t.xlsx", variable="empty")
    with pytest.raises(DataFileError, match="not written"):
        write_table(tmp_path / "u.xlsx", np.eye(2), ["a", "b"])


def test_a_reader_that_is_not_there(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataFileError, match=r"columnist\[excel\]"):
        read_table(path)


def test_spss(tmp_path):
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    frame = pd.DataFrame({"q1": [1.0, 2, np.nan], "q2": [3.0, 4, 5], "s": ["x", "y", ""]})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"))
    table = read_table(tmp_path / "t.sav", ids="s", missing="drop")
    assert table.names == ("q1", "q2")
    np.testing.assert_allclose(table.X, [[1, 3], [2, 4]])


def test_anndata(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    X = np.random.default_rng(0).poisson(1.0, (6, 4)).astype(float)
    cells = pd.DataFrame({"kind": list("aabbab")}, index=[f"c{i}" for i in range(6)])
    data = anndata.AnnData(X, obs=cells, var=pd.DataFrame(index=list("ghij")))
    data.write_h5ad(tmp_path / "t.h5ad")
    table = read_table(tmp_path / "t.h5ad", target="kind", ids="obs_names")
    np.testing.assert_allclose(table.X, X)
    assert table.names == tuple("ghij") and table.y.tolist() == list("aabbab")
    with pytest.raises(TypeError, match=r"X\.to_df\(\)"):
        ColumnSelector(2).fit(data)
