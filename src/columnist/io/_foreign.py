"""Files of other programs, read by the usual packages: Excel workbooks, SPSS and AnnData files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.io._frames import FrameColumns, import_polars
from columnist.io._inputs import Input
from columnist.io._table import DataFileError, MatrixColumns, listed, matrix_columns, quoted


@contextmanager
def _needs(extra: str, what: str) -> Iterator[None]:
    """An error that says what to install, where a reader is not there."""
    try:
        yield
    except ImportError as error:
        raise DataFileError(
            f"{what} need the package {error.name}: pip install 'columnist[{extra}]', or save "
            "the data as CSV."
        ) from error


@contextmanager
def _on_disk(data: Input, ending: str) -> Iterator[Path]:
    """A file with the data, for readers that take no bytes."""
    if data.plain_path is not None:
        yield data.plain_path
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"data{ending}"
        path.write_bytes(data.read())
        yield path


def sheet(data: Input, name: str | None) -> Input:
    """One sheet of an Excel workbook as delimited text; the first one by default."""
    with _needs("excel", "Excel workbooks"):
        import openpyxl
    book = openpyxl.load_workbook(io.BytesIO(data.raw()), read_only=True, data_only=True)
    if name is not None and name not in book.sheetnames:
        known = listed(map(quoted, book.sheetnames))
        raise DataFileError(f"no sheet {quoted(name)}; the workbook has {known}.")
    rows = (book[name] if name is not None else book.worksheets[0]).iter_rows(values_only=True)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        if any(value is not None for value in row):
            writer.writerow(["" if value is None else value for value in row])
    if not text.getvalue():
        raise DataFileError("the sheet is empty: name another one with variable=.")
    return Input(data.name, content=text.getvalue().encode())


def read_spss(data: Input) -> FrameColumns:
    """An SPSS file; values that it declares missing are missing."""
    with _needs("spss", "SPSS files"):
        import pyreadstat
    pl = import_polars()
    with _on_disk(data, ".sav") as path:
        content, _ = pyreadstat.read_sav(str(path), output_format="dict")
    return FrameColumns(pl.DataFrame({name: _series(values) for name, values in content.items()}))


def _series(values: Any) -> np.ndarray | list:
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return [None if value is None or value == "" else value for value in values.tolist()]


def read_h5ad(data: Input, layer: str | None) -> MatrixColumns:
    """An AnnData file: its genes are columns, its annotations of cells may label the rows."""
    with _needs("anndata", "AnnData files"):
        import anndata
    with _on_disk(data, ".h5ad") as path:
        content = anndata.read_h5ad(path)
    if layer is not None and layer not in content.layers:
        raise DataFileError(
            f"no layer {quoted(layer)}; there are {listed(content.layers) or 'none'}."
        )
    X = content.X if layer is None else content.layers[layer]
    if X is None:
        raise DataFileError("there is no matrix X: name a layer with variable=.")
    X = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    extras = {"obs_names": content.obs_names.to_numpy().astype(object)}
    extras |= {str(name): _label(content.obs[name]) for name in content.obs.columns}
    return matrix_columns(X, list(map(str, content.var_names)), extras=extras)


def _label(column: Any) -> np.ndarray:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.array([None if v is None or v != v else str(v) for v in values], dtype=object)
