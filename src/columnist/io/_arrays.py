"""NumPy and MATLAB arrays: NPY, NPZ (also sparse matrices) and MAT. Never pickled objects."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp

from columnist.io._columns import MatrixColumns, numbered_names, unique_names
from columnist.io._inputs import Input
from columnist.io._table import DataFileError, listed, one_line, quoted

__all__ = ["read_mat", "read_npy", "read_npz"]

MAIN = ("X", "fea", "data")
NUMBERS = "biuf"
# How scipy.sparse.save_npz names what it stores of a compressed matrix.
SPARSE_PARTS = {"data", "indices", "indptr", "shape", "format"}


def read_npy(data: Input) -> MatrixColumns:
    """The array of an NPY file; fields of a structured array are columns."""
    array = load_numpy(data)
    if array.dtype.names:
        return structured(array)
    matrix = as_matrix(array, "the array")
    return MatrixColumns(matrix, numbered_names(matrix.shape[1]))


def load_numpy(data: Input) -> Any:
    """What ``np.load`` gives; pickles are refused."""
    if data.plain_path and data.start.startswith(b"\x93NUMPY"):
        # Mapped first: the header may promise more than the file holds.
        mapped = load_safely(data.plain_path, mmap_mode="r")
        return np.array(mapped)
    return load_safely(io.BytesIO(data.read()))


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
    names, renamed = unique_names(fields)
    matrix = np.full((len(array), len(names)), np.nan)
    text: dict[int, np.ndarray] = {}
    for place, field in enumerate(fields):
        column = array[field]
        if column.ndim != 1:
            raise DataFileError(f"field {quoted(field)} has several values a row.")
        if column.dtype.kind in NUMBERS:
            matrix[:, place] = column
        else:
            text[place] = as_text(column)
    return MatrixColumns(matrix, names, text, renamed=renamed)


def as_text(column: np.ndarray) -> np.ndarray:
    """Values as objects of text."""
    if column.dtype.kind == "S":
        column = np.char.decode(column, "latin-1")
    return np.array([str(value) for value in column], dtype=object)


def as_matrix(array: Any, what: str) -> np.ndarray | sp.csr_array:
    """Numbers as a matrix, one column for a vector."""
    if array.dtype.kind not in NUMBERS:
        kind = "complex numbers" if array.dtype.kind == "c" else f"values of type {array.dtype}"
        raise DataFileError(f"{what} holds {kind}; real numbers are needed.")
    if sp.issparse(array):
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
        kind = "an Excel workbook: save it as CSV" if "[Content_Types].xml" in members else "a zip"
        raise DataFileError(f"no NPZ file, but {kind}.")
    with load_safely(io.BytesIO(raw)) as content:
        stored = ((key, member(content, key)) for key in content.files)
        arrays = {key: array for key, array in stored if array is not None}
    if variable is None and SPARSE_PARTS <= arrays.keys():
        matrix = sp.load_npz(io.BytesIO(raw))
        check_sparse(matrix)
        apart = {key: array for key, array in arrays.items() if key not in SPARSE_PARTS}
        return with_extras(sp.csr_array(matrix), "the matrix", apart)
    return choose(arrays, variable)


def member(content: Any, key: str) -> np.ndarray | None:
    """An array of an NPZ file; None for a pickle, which matters only if it is asked for."""
    try:
        return content[key]
    except ValueError as error:
        if "allow_pickle" in str(error):
            return None
        raise


def check_sparse(matrix: Any) -> None:
    """Damaged index arrays must not reach compiled code."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)


def read_mat(data: Input, variable: str | None) -> MatrixColumns:
    """One variable of a MATLAB file of version 5 to 7."""
    if data.start.startswith((b"\x89HDF", b"MATLAB 7.3")):
        raise DataFileError(
            "MATLAB 7.3 (HDF5) files are not read: save with -v7 in MATLAB, e.g. "
            "save('data.mat', 'X', '-v7')."
        )
    arrays = loaded_apart(data.read())
    for value in arrays.values():
        if sp.issparse(value):
            check_sparse(value)
    return choose(arrays, variable)


# SciPy's reader trusts the sizes in a file, and can bring the interpreter down on wrong ones.
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
    """The arrays of a MATLAB file, read by another process, which may die of it."""
    child = subprocess.run([sys.executable, "-c", CHILD], input=content, capture_output=True)
    if child.returncode:
        said = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if "MemoryError" in said:
            raise MemoryError
        raise DataFileError(f"the MATLAB file is cut off or damaged ({one_line(said)[:200]}).")
    return pickle.loads(child.stdout)


def choose(arrays: dict[str, Any], variable: str | None) -> MatrixColumns:
    """The asked or the evident matrix; vectors next to it wait to be asked for."""
    key = main_array(arrays, variable)
    if getattr(arrays[key].dtype, "names", None):
        return structured(arrays[key])
    apart = {name: array for name, array in arrays.items() if name != key}
    return with_extras(arrays[key], f"array {quoted(key)}", apart)


def with_extras(array: Any, what: str, apart: dict[str, Any]) -> MatrixColumns:
    """A matrix with the names and vectors stored next to it."""
    matrix = as_matrix(array, what)
    names, renamed = stored_names(apart.get("names"), matrix.shape[1])
    columns = {name: as_column(a, matrix.shape[0]) for name, a in apart.items() if name != "names"}
    extras = {name: column for name, column in columns.items() if column is not None}
    return MatrixColumns(matrix, names, extras=extras, renamed=renamed)


def main_array(arrays: dict[str, Any], variable: str | None) -> str:
    """Which array holds the table."""
    described = listed(
        (f"{quoted(key)} ({'x'.join(map(str, array.shape))})" for key, array in arrays.items()),
        len(arrays),
    )
    if variable is not None:
        if variable not in arrays:
            raise DataFileError(f"no array {quoted(variable)}; the file holds {described}.")
        return variable
    if len(arrays) == 1:
        return next(iter(arrays))
    for key in MAIN:
        if key in arrays and is_matrix(arrays[key]):
            return key
    tables = [key for key, array in arrays.items() if is_matrix(array) and array.shape[1] > 1]
    if len(tables) == 1:
        return tables[0]
    if not arrays:
        raise DataFileError("no array that can be read (pickled objects are not).")
    raise DataFileError(f"several arrays: name one with variable=; the file holds {described}.")


def is_matrix(array: Any) -> bool:
    """Whether an array is a matrix of numbers."""
    return array.dtype.kind in NUMBERS and array.ndim == 2


def stored_names(names: Any, n_columns: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """Column names stored next to a matrix, if there is one for each column."""
    if isinstance(names, np.ndarray) and names.size == n_columns:
        # MATLAB stores text as cells that hold arrays, padded where in a matrix of characters.
        cells = [cell.item() if is_cell(cell) else cell for cell in names.ravel()]
        if all(isinstance(cell, str) for cell in cells):
            return unique_names([str(cell) for cell in cells])
    return numbered_names(n_columns), {}


def is_cell(cell: Any) -> bool:
    """Whether a value is an array around one value."""
    return isinstance(cell, np.ndarray) and cell.size == 1


def as_column(array: Any, n_rows: int) -> np.ndarray | None:
    """A vector with one value a row, None for everything else."""
    if sp.issparse(array) or max(array.shape, default=0) != n_rows or array.size != n_rows:
        return None
    flat = array.ravel()
    if flat.dtype.kind == "O":
        cells = [cell.item() if is_cell(cell) else cell for cell in flat]
        if not all(isinstance(cell, str) for cell in cells):
            return None
        flat = np.array(cells, dtype=np.str_)
    if flat.dtype.kind in "US":
        return as_text(flat)
    return flat if flat.dtype.kind in NUMBERS else None
