"""Sparse matrices in text files: Matrix Market and svmlight."""

from __future__ import annotations

import io
import json
from contextlib import suppress

import numpy as np
import scipy.sparse as sp

from columnist.io._columns import MatrixColumns, numbered_names, unique_names
from columnist.io._inputs import Input, as_unicode
from columnist.io._table import DataFileError, plural, quoted

__all__ = ["LABEL", "NAMES_MARK", "read_mtx", "read_svmlight"]

LABEL = "label"
NAMES_MARK = "columns: "
# A damaged size or index must not ask for more memory than any real file would.
MOST_COLUMNS = 10**8
EMPTY_ROWS_PER_BYTE = 1000


def read_mtx(data: Input) -> MatrixColumns:
    """A dense or sparse Matrix Market file; names may stand in a comment of ours.

    Not by scipy, whose reader brings the interpreter down on some damaged files.
    """
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
    stored = stored_names(content, b"%")
    if stored is not None and len(stored) == columns:
        names, renamed = unique_names(stored)
    else:
        names, renamed = numbered_names(columns), {}
    return MatrixColumns(matrix, names, renamed=renamed)


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


def stored_names(content: bytes, comment: bytes) -> list[str] | None:
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
    """Sparse rows ``label place:value``; the labels wait to be asked for as ``label``."""
    from sklearn.datasets import load_svmlight_file

    content = data.read()
    try:
        X, labels = load_svmlight_file(io.BytesIO(content))
    except (ValueError, OverflowError) as error:
        raise DataFileError(f"not rows of 'label place:value' ({quoted(error)}).") from error
    if not X.shape[0]:
        raise DataFileError("there is not a single row of data.")
    if X.shape[1] > MOST_COLUMNS:
        raise DataFileError(f"column {X.shape[1]} cannot be right for {len(content)} bytes.")
    stored = stored_names(content, b"#")
    if stored is not None and len(stored) >= X.shape[1]:
        X.resize((X.shape[0], len(stored)))  # columns of zeros leave no trace in the rows
    else:
        stored = None
    names, renamed = unique_names(stored) if stored else (numbered_names(X.shape[1]), {})
    X = sp.csr_array(X, dtype=np.float64)
    return MatrixColumns(X, names, extras={LABEL: labels}, renamed=renamed)
