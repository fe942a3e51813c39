"""Whatever the bytes are, the answer is a table or a `DataFileError` of one line."""

from __future__ import annotations

import gzip
import io
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from columnist.io import FORMATS, DataFileError, Table, read_table, write_table

X = np.array([[1.5, 0.0, -3.0], [0.0, 2.0, 1e-3], [4.0, 5.0, 6.0]])
NAMES = ["a", "b", "c d"]
PIECES = [
    *(b"0", b"-1", b"99999999999", b"1e400", b"nan", b"inf", b"?", b"\xff", b"\x00", b"\n", b"\r"),
    *(b'"', b"'", b",", b";", b"\t", b"{", b"}", b":", b"@data", b"%", b"#", b"PK", b" ", b"-"),
]
# What the readers say themselves.
FOREIGN = re.compile(
    r"polars|arrow::|zip file|openpyxl|h5py|HDF|readstat|Error|Exception|magic|CRC|thrift"
    r"|spec|flatbuf|synchronously|decompress|unpack|convert string|multi-line|seek",
    re.IGNORECASE,
)
FRAME = pd.DataFrame(X, columns=NAMES)
WRITERS = {
    "excel": ("openpyxl", lambda path: FRAME.to_excel(path, index=False), ".xlsx"),
    "spss": (
        "pyreadstat",
        lambda path: _write_sav(FRAME.set_axis(list("abc"), axis=1), path),
        ".sav",
    ),
    "h5ad": ("anndata", lambda path: _write_h5ad(path), ".h5ad"),
}


def _write_sav(frame, path):
    import pyreadstat

    pyreadstat.write_sav(frame, str(path))


def _write_h5ad(path):
    import anndata

    anndata.AnnData(X).write_h5ad(path)


def stored(folder, format: str) -> bytes:
    """A small valid file."""
    path = folder / f"small{FORMATS[format][0]}"
    if format == "mat":  # not compressed: no checksum guards it
        scipy.io.savemat(path, {"X": X, "S": sp.csc_array(X), "t": np.array(["u", 1.0], object)})
        return path.read_bytes()
    table = sp.csr_array(X) if format in ("mtx", "svmlight") else X
    after = {"label": [1, 2, 1]} if format in ("npy", "mtx", "svmlight") else {"y": ["u", "v", "w"]}
    write_table(path, table, NAMES, after=after)
    return path.read_bytes()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("fuzz")
    return {format: stored(folder, format) for format in FORMATS}


def read_or_refuse(content: bytes, format: str | None, **options) -> None:
    """Read; the only error allowed is ours, and it is one printable line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            table = read_table(io.BytesIO(content), format=format, **options)
        except DataFileError as error:
            assert str(error).isprintable() and not FOREIGN.search(str(error)), str(error)
            return
    assert isinstance(table, Table)
    assert table.X.dtype == np.float64
    assert table.X.shape[1] == len(table.names) == len(set(table.names))
    values = table.X.data if sp.issparse(table.X) else table.X
    assert np.isfinite(values).all()


@pytest.mark.parametrize("format", [None, *FORMATS])
@given(content=st.binary(max_size=300))
@settings(max_examples=40)
@example(content=b"MATLAB 7.3")
def test_random_bytes(format, content):
    read_or_refuse(content, format)


@pytest.mark.parametrize("format", [None, "csv", "arff", "svmlight", "mtx"])
@given(text=st.text(alphabet="ab1 2.,;|\t\n\r\"'#%?@{}:-e\xe9\0", max_size=80))
@settings(max_examples=100)
def test_random_text(format, text):
    read_or_refuse(text.encode(), format)


@pytest.mark.parametrize("format", list(FORMATS))
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files(files, format, data):
    content = bytearray(files[format])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 4))
        content[place : place + length] = data.draw(
            st.one_of(st.binary(max_size=4), st.sampled_from(PIECES))
        )
        if not content:
            break
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    missing = data.draw(st.sampled_from(["refuse", "mean", "median", "drop"]))
    read_or_refuse(bytes(content), format, missing=missing, non_numeric="drop")


@given(cut=st.integers(2, 60))
def test_gzip_cut_off(cut):
    read_or_refuse(gzip.compress(b"a,b\n1,2\n3,4\n")[:cut], None)


@pytest.mark.parametrize("format", WRITERS)
def test_damaged_files_of_other_programs(tmp_path, format):
    package, write, ending = WRITERS[format]
    pytest.importorskip(package)
    path = tmp_path / f"small{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    for trial in range(40):
        damaged = bytearray(content[: len(content) * trial // 12] if trial < 12 else content)
        for place in rng.integers(0, max(1, len(damaged)), size=4 * (trial >= 12)):
            damaged[place : place + 3] = rng.bytes(3)
        if damaged:
            read_or_refuse(bytes(damaged), format, non_numeric="drop", missing="drop")
