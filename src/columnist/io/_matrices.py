"""Files of matrices, never of pickled objects: NPY, NPZ, MAT, Matrix Market and svmlight."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.io._inputs import Input, as_unicode
from columnist.io._table import (
    DataFileError,
    MatrixColumns,
    damaged,
    listed,
    matrix_columns,
    objects_of,
    plural,
    quoted,
)

MAIN = ("X", "fea", "data")
NUMBERS = "biuf"
# How scipy.sparse.save_npz names what it stores of a compressed matrix.
SPARSE_PARTS = {"data", "indices", "indptr", "shape", "format"}
LABEL = "label"
NAMES_MARK = "columns: "
# A damaged size or index must not ask for more memory than any real file would.
MOST_COLUMNS = 10**8
EMPTY_ROWS_PER_BYTE = 1000


def read_npy(data: Input) -> MatrixColumns:
    """The array of an NPY file; fields of a structured array are columns."""
    if data.plain_path and data.start.startswith(b"\x93NUMPY"):
        # Mapped first: the header may promise more than the file holds.
        array = np.array(load_safely(data.plain_path, mmap_mode="r"))
    else:
        array = load_safely(io.BytesIO(data.read()))
    return structured(array) if array.dtype.names else matrix_columns(as_matrix(array, "the array"))


def load_safely(file: Any, **options: Any) -> Any:
    """``np.load`` with an error that says why there are no pickles."""
    try:
        return np.load(file, allow_pickle=False, **options)
    except ValueError as error:
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise DataFileError(
                "the array holds Python objects (a pickle), which are not read, for they can "
                "run code; save numbers, e.g. np.save(path, array.astype(float))."
            ) from error
        raise


def structured(array: np.ndarray) -> MatrixColumns:
    """One column per field."""
    array = array.ravel()
    fields = array.dtype.names or ()
    matrix = np.full((len(array), len(fields)), np.nan)
    text: dict[int, np.ndarray] = {}
    for place, field in enumerate(fields):
        column = array[field]
        if column.ndim != 1:
            raise DataFileError(f"field {quoted(field)} has several values a row.")
        if column.dtype.kind in NUMBERS:
            matrix[:, place] = column
        else:
            text[place] = as_text(column)
    return matrix_columns(matrix, fields, text=text)


def as_text(column: np.ndarray) -> np.ndarray:
    """Values as objects of text."""
    if column.dtype.kind == "S":
        column = np.char.decode(column, "latin-1")
    return objects_of(column)


def as_matrix(array: Any, what: str) -> np.ndarray | sp.csr_array:
    """Numbers as a matrix, one column for a vector."""
    if array.dtype.kind not in NUMBERS:
        kind = "complex numbers" if array.dtype.kind == "c" else f"values of type {array.dtype}"
        raise DataFileError(f"{what} holds {kind}; real numbers are needed.")
    if sp.issparse(array):
        if hasattr(array, "check_format"):  # damaged index arrays must not reach compiled code
            array.check_format(full_check=True)
        return sp.csr_array(array, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise DataFileError(f"{what} has {array.ndim} dimensions; a table has two.")
    return array[:, None] if array.ndim == 1 else array


def read_npz(data: Input, variable: str | None) -> MatrixColumns:
    """One array of an NPZ file, or the sparse matrix that scipy stored there."""
    raw = data.raw()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = archive.namelist()
    if not members or not all(name.endswith(".npy") for name in members):
        kind = "an Excel workbook" if "[Content_Types].xml" in members else "a zip archive"
        raise DataFileError(f"this is {kind}, not an NPZ file.")
    arrays = {}
    with load_safely(io.BytesIO(raw)) as content:
        for key in content.files:
            try:
                arrays[key] = content[key]
            except ValueError as error:  # a pickle matters only if it is asked for
                if "allow_pickle" not in str(error):
                    raise
    if variable is None and SPARSE_PARTS <= arrays.keys():
        matrix = sp.load_npz(io.BytesIO(raw))
        apart = {key: array for key, array in arrays.items() if key not in SPARSE_PARTS}
        return with_extras(matrix, "the matrix", apart)
    return choose(arrays, variable)


def read_mat(data: Input, variable: str | None) -> MatrixColumns:
    """One variable of a MATLAB file of version 5 to 7."""
    if data.start.startswith((b"\x89HDF", b"MATLAB 7.3")):
        raise DataFileError(
            "MATLAB 7.3 files are not read: save with -v7 in MATLAB, e.g. "
            "save('data.mat', 'X', '-v7')."
        )
    return choose(loaded_apart(data.read()), variable)


# SciPy's reader trusts the sizes in a file; wrong ones can crash the interpreter.
CHILD = """
import io, pickle, sys
import numpy, scipy.io, scipy.sparse
found = scipy.io.loadmat(io.BytesIO(sys.stdin.buffer.read()))
arrays = {
    name: value for name, value in found.items()
    if scipy.sparse.issparse(value) or (isinstance(value, numpy.ndarray) and not value.dtype.names)
}
pickle.dump(arrays, sys.stdout.buffer)
"""


def loaded_apart(content: bytes) -> dict[str, Any]:
    """The arrays of a MATLAB file, read in another process, because a damaged file may crash it."""
    child = subprocess.run([sys.executable, "-c", CHILD], input=content, capture_output=True)
    if child.returncode:
        said = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if "MemoryError" in said:
            raise MemoryError
        raise damaged("mat")
    return pickle.loads(child.stdout)


def choose(arrays: dict[str, Any], variable: str | None) -> MatrixColumns:
    """The requested or only matrix; vectors next to it are available as targets or ids."""
    key = main_array(arrays, variable)
    if getattr(arrays[key].dtype, "names", None):
        return structured(arrays[key])
    apart = {name: array for name, array in arrays.items() if name != key}
    return with_extras(arrays[key], f"array {quoted(key)}", apart)


def with_extras(array: Any, what: str, apart: dict[str, Any]) -> MatrixColumns:
    """A matrix with the names and vectors stored next to it."""
    matrix = as_matrix(array, what)
    names = apart.get("names")
    columns = {name: as_column(a, matrix.shape[0]) for name, a in apart.items() if name != "names"}
    extras = {name: column for name, column in columns.items() if column is not None}
    stored = words_of(names) if isinstance(names, np.ndarray) else None
    return matrix_columns(matrix, stored, extras=extras)


def main_array(arrays: dict[str, Any], variable: str | None) -> str:
    """Which array holds the table."""
    sizes = {key: "x".join(map(str, array.shape)) for key, array in arrays.items()}
    described = listed(f"{quoted(key)} ({size})" for key, size in sizes.items())
    if variable is not None:
        if variable not in arrays:
            raise DataFileError(f"no array {quoted(variable)}; the file holds {described}.")
        return variable
    matrices = [key for key, a in arrays.items() if a.dtype.kind in NUMBERS and a.ndim == 2]
    usual = [key for key in MAIN if key in matrices]
    tables = usual[:1] or [key for key in matrices if arrays[key].shape[1] > 1]
    if len(tables) == 1 or len(arrays) == 1:
        return next(iter(tables or arrays))
    if not arrays:
        raise DataFileError("no array that can be read (pickled objects are not).")
    raise DataFileError(f"several arrays: name one with variable=; the file holds {described}.")


def words_of(array: np.ndarray) -> list[str] | None:
    """The text in an array, None if it holds anything else; MATLAB's cells are arrays of one."""
    cells = array.ravel().tolist()
    cells = [cell.item() if getattr(cell, "size", None) == 1 else cell for cell in cells]
    return cells if all(isinstance(cell, str) for cell in cells) else None


def as_column(array: Any, n_rows: int) -> np.ndarray | None:
    """A vector with one value a row, None for everything else."""
    if sp.issparse(array) or max(array.shape, default=0) != n_rows or array.size != n_rows:
        return None
    flat = array.ravel()
    if flat.dtype.kind == "O":
        words = words_of(flat)
        return None if words is None else np.array(words, dtype=object)
    if flat.dtype.kind in "US":
        return as_text(flat)
    return flat if flat.dtype.kind in NUMBERS else None


# -- text -------------------------------------------------------------------------


def read_mtx(data: Input) -> MatrixColumns:
    """A Matrix Market file, names in a comment; scipy's reader crashes on some damaged files."""
    content = data.read()
    lines = [line for line in as_unicode(content).splitlines() if line.strip()]
    layout, field, symmetry = mtx_kind(lines[0])
    body = [line for line in lines if not line.lstrip().startswith("%")]
    sizes = body[0].split() if body else []
    if len(sizes) != (3 if layout == "coordinate" else 2) or not all(map(str.isdecimal, sizes)):
        raise DataFileError("the line with the number of rows and columns is missing.")
    rows, columns, *entries = map(int, sizes)
    if symmetry != "general" and rows != columns:
        raise DataFileError(f"a {symmetry} matrix cannot have {rows} rows, {columns} columns.")
    if columns > MOST_COLUMNS or rows > EMPTY_ROWS_PER_BYTE * len(content):
        raise DataFileError(f"{rows} x {columns} cannot be right for {len(content)} bytes.")
    if entries:
        width = 2 if field == "pattern" else 3
        matrix = coordinates(values_of(body[1:], width, entries[0]), rows, columns, symmetry)
    else:
        matrix = dense_triangle(body[1:], rows, columns, symmetry)
    return matrix_columns(matrix, names_in_comment(content, b"%"))


def mtx_kind(banner: str) -> tuple[str, str, str]:
    """Layout, field and symmetry from the first line."""
    words = banner.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise DataFileError("the first line is not '%%MatrixMarket matrix layout field symmetry'.")
    options = (
        ("coordinate", "array"),
        ("real", "integer", "pattern", "double", "unsigned-integer"),
        ("general", "symmetric", "skew-symmetric"),
    )
    for word, known in zip(words[2:], options, strict=True):
        if word not in known:
            raise DataFileError(f"{quoted(word)} matrices are not read, only {', '.join(known)}.")
    return words[2], words[3], words[4]


def values_of(lines: list[str], width: int, count: int) -> np.ndarray:
    """The numbers of the lines, ``width`` on each."""
    if len(lines) != count:
        raise DataFileError(f"{plural(len(lines), 'line')} of values instead of {count}.")
    if not lines:
        return np.empty((0, width))
    values = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
    if values.shape[1] != width:
        raise DataFileError(f"{values.shape[1]} values on a line instead of {width}.")
    return values


def coordinates(values: np.ndarray, rows: int, columns: int, symmetry: str) -> sp.csr_array:
    """The matrix with entries ``row column [value]``, counted from 1."""
    places = values[:, :2]
    inside = (places >= 1) & (places <= [rows, columns]) & (places == np.rint(places))
    if not inside.all():
        raise DataFileError(f"an entry lies outside of the {rows} x {columns} matrix.")
    i, j = places.astype(np.int64).T - 1
    data = values[:, 2] if values.shape[1] == 3 else np.ones(len(values))
    if symmetry != "general":
        off = i != j
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        data = np.concatenate([data, sign * data[off]])
    return sp.csr_array(sp.coo_array((data, (i, j)), shape=(rows, columns)))


def dense_triangle(lines: list[str], rows: int, columns: int, symmetry: str) -> np.ndarray:
    """A matrix written column by column; of a symmetric one only the lower triangle."""
    strict = symmetry == "skew-symmetric"
    general = symmetry == "general"
    count = rows * columns if general else rows * (rows - 1 if strict else rows + 1) // 2
    values = values_of(lines, 1, count)[:, 0]
    if general:
        return np.ascontiguousarray(values.reshape(columns, rows).T)
    matrix = np.zeros((rows, columns))
    upper = np.triu_indices(rows, int(strict))
    matrix.T[upper] = values
    matrix[upper] = -values if strict else values
    return matrix


def names_in_comment(content: bytes, comment: bytes) -> list[str] | None:
    """Names from a comment ``columns: ["a", "b"]`` that `write_table` leaves at the top."""
    for line in io.BytesIO(content):
        if not line.startswith(comment):
            return None
        text = line.lstrip(comment + b" ").decode(errors="replace")
        if text.startswith(NAMES_MARK):
            with suppress(ValueError, RecursionError):
                names = json.loads(text.removeprefix(NAMES_MARK))
                if isinstance(names, list):
                    return [str(name) for name in names]
    return None


def read_svmlight(data: Input) -> MatrixColumns:
    """Sparse rows ``label place:value``; the labels are available as ``label``."""
    from sklearn.datasets import load_svmlight_file

    content = data.read()
    try:
        X, labels = load_svmlight_file(io.BytesIO(content))
    except (ValueError, OverflowError) as error:
        raise DataFileError("not rows of 'label place:value', all of them numbers.") from error
    if not X.shape[0]:
        raise DataFileError("there is not a single row of data.")
    if X.shape[1] > MOST_COLUMNS:
        raise DataFileError(f"column {X.shape[1]} cannot be right for {len(content)} bytes.")
    names = names_in_comment(content, b"#") or []
    if len(names) > X.shape[1]:
        X.resize((X.shape[0], len(names)))  # columns of zeros leave no trace in the rows
    return matrix_columns(sp.csr_array(X, dtype=np.float64), names, extras={LABEL: labels})
