"""ARFF files, also sparse ones and those with text, neither of which `scipy.io.arff` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from columnist.io._header import NUMBER
from columnist.io._inputs import Input, as_unicode, open_input
from columnist.io._table import DataFileError, MatrixColumns, matrix_columns, quoted

NUMERIC = ("numeric", "real", "integer")
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
# A value, of a sparse row behind its place.
FIELD = re.compile(rf"\s*((?:\d+\s+)?(?:{QUOTED})|[^,]*?)\s*,", re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}

Row = tuple[int, str]


@dataclass(frozen=True)
class Attribute:
    """A column; ``values`` are those of a nominal one, ``text`` says that it is no numbers."""

    name: str
    values: tuple[str, ...]
    text: bool

    def code(self, value: str) -> float:
        """The place of a nominal value."""
        if value not in self.values:
            raise DataFileError(f"{quoted(value)} is no value of attribute {quoted(self.name)}.")
        return float(self.values.index(value))


def read_arff(path: str | Path) -> tuple[np.ndarray | sp.csr_array, tuple[str, ...]]:
    """All attributes of a file, plain or gzipped, as numbers, and their names. Names among the
    values of a nominal attribute count as their place in its list (from 0); numbers, also those of
    a nominal attribute, stand for themselves. ``?`` is missing (nan). Sparse rows give a sparse
    matrix."""
    attributes, rows = parsed(open_input(Path(path)))
    columns = columns_of(attributes, rows)
    matrix = columns.matrix
    for place, values in columns.text.items():
        code = attributes[place].code
        codes = np.array([np.nan if value is None else code(value) for value in values])
        if sp.issparse(matrix):
            where = np.arange(len(rows)), np.full(len(rows), place)
            matrix = matrix + sp.csr_array((codes, where), shape=matrix.shape)
        else:
            matrix[:, place] = codes
    return matrix, columns.names


def read_attributes(path: str | Path) -> list[Attribute]:
    """The columns of an ARFF file as its head declares them."""
    return parsed(open_input(Path(path)))[0]


def columns_of(attributes: Sequence[Attribute], rows: Sequence[Row]) -> MatrixColumns:
    """Columns of numbers and of text: nominal values that are not numbers stay text.

    Rows may name only the entries that are not zero.
    """
    read = sparse_columns if rows[0][1].startswith("{") else dense_columns
    matrix, text = read(rows, attributes)
    return matrix_columns(matrix, [attribute.name for attribute in attributes], text=text)


def parsed(data: Input) -> tuple[list[Attribute], list[Row]]:
    """The attributes, and the rows with their line numbers."""
    text = as_unicode(data.read())
    attributes: list[Attribute] = []
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    lines = ((number, line) for number, line in lines if line and not line.startswith("%"))
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            attributes.append(attribute_of(line, number))
        elif word != "@relation":
            raise DataFileError(f"line {number}: {quoted(line)} stands before @data.")
    else:
        raise DataFileError("there is no @data line.")
    rows = list(lines)
    if not attributes or not rows:
        raise DataFileError(f"there is no {'row of data' if attributes else '@attribute line'}.")
    return attributes, rows


def attribute_of(line: str, number: int) -> Attribute:
    """The column that a line ``@attribute name type`` declares."""
    match = ATTRIBUTE.fullmatch(line)
    kind = match[2].strip() if match else ""
    if match is None or not kind:
        raise DataFileError(f"line {number}: {quoted(line)} is no '@attribute name type'.")
    name = unquoted(match[1])
    if kind.startswith("{"):
        inside = kind[1:].rstrip().removesuffix("}")
        values = tuple(map(unquoted, fields_of(inside)))
        return Attribute(name, values, not all(map(NUMBER.fullmatch, values)))
    word = kind.split(None, 1)[0].lower()
    if word in NUMERIC:
        return Attribute(name, (), False)
    if word in ("string", "date"):
        return Attribute(name, (), True)
    raise DataFileError(f"line {number}: attributes of type {quoted(kind)} are not read.")


def unquoted(field: str) -> str:
    """A value without its quotes and escapes."""
    if len(field) > 1 and field[0] == field[-1] and field[0] in "'\"":
        return ESCAPE.sub(lambda match: ESCAPES.get(match[1], match[1]), field[1:-1])
    return field


def fields_of(row: str) -> list[str]:
    """The values of a row, those in quotes with them."""
    if "'" not in row and '"' not in row:
        return [field.strip() for field in row.split(",")]
    return [match[1] for match in FIELD.finditer(row + ",")]


def dense_columns(
    rows: Sequence[Row], attributes: Sequence[Attribute]
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Numbers (nan elsewhere), and the columns of text."""
    if not any(attribute.text for attribute in attributes):
        with suppress(ValueError):  # the quick way
            lines = (line.replace("?", "nan") for _, line in rows)
            matrix = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2)
            if matrix.shape == (len(rows), len(attributes)):
                return matrix, {}
    table = []
    for number, line in rows:
        fields = [unquoted(field) for field in fields_of(line)]
        if len(fields) != len(attributes):
            raise DataFileError(
                f"line {number} has {len(fields)} values for {len(attributes)} attributes."
            )
        table.append(fields)
    matrix = np.full((len(rows), len(attributes)), np.nan)
    text = {}
    for place, column in enumerate(zip(*table, strict=True)):
        if attributes[place].text:
            text[place] = np.array([None if v == "?" else v for v in column], dtype=object)
        else:
            matrix[:, place] = numbers_of(column, rows, attributes[place])
    return matrix, text


def numbers_of(column: Sequence[str], rows: Sequence[Row], attribute: Attribute) -> np.ndarray:
    """Numbers from text; ``?`` is nan."""
    try:
        return np.array(["nan" if value == "?" else value for value in column], dtype=np.float64)
    except ValueError:  # one by one, to say where
        pairs = zip(column, rows, strict=True)
        return np.array([as_float(value, attribute, number) for value, (number, _) in pairs])


def as_float(value: str, attribute: Attribute, line: int) -> float:
    """One number; ``?`` is nan."""
    try:
        return np.nan if value == "?" else float(value)
    except ValueError as error:
        raise DataFileError(
            f"line {line}: {quoted(value)} in numeric attribute {quoted(attribute.name)}."
        ) from error


def sparse_columns(
    rows: Sequence[Row], attributes: Sequence[Attribute]
) -> tuple[sp.csr_array, dict[int, np.ndarray]]:
    """Rows ``{place value, place value}``; what is not named is zero or the first value."""
    starts, places, values = [0], [], []
    first = {place: (a.values or (None,))[0] for place, a in enumerate(attributes) if a.text}
    text = {place: np.full(len(rows), value, dtype=object) for place, value in first.items()}
    for row, (number, line) in enumerate(rows):
        for place, value in entries_of(line, number, len(attributes)):
            if place in text:
                text[place][row] = None if value == "?" else value
            else:
                places.append(place)
                values.append(as_float(value, attributes[place], number))
        starts.append(len(places))
    shape = (len(rows), len(attributes))
    return sp.csr_array((np.array(values, dtype=np.float64), places, starts), shape=shape), text


def entries_of(line: str, number: int, n_attributes: int) -> Iterator[tuple[int, str]]:
    """Places and values of a sparse row."""
    if not (line.startswith("{") and line.endswith("}")):
        raise DataFileError(f"line {number} is no sparse row {{place value, ...}}.")
    seen: set[int] = set()
    for field in filter(None, fields_of(line[1:-1])):
        where, *rest = field.split(None, 1)
        place = int(where) if where.isdecimal() else n_attributes
        if not rest or place >= n_attributes or place in seen:
            raise DataFileError(f"line {number}: {quoted(field)} is no 'place value'.")
        seen.add(place)
        yield place, unquoted(rest[0])


def arff_lines(names: Sequence[str], columns: Sequence[np.ndarray]) -> Iterator[str]:
    """The lines of a dense file: columns of objects are text, the others numbers."""
    yield "@relation columnist"
    for name, column in zip(names, columns, strict=True):
        yield f"@attribute {quote(name)} {'string' if column.dtype.kind == 'O' else 'numeric'}"
    yield "@data"
    for row in zip(*(written(column) for column in columns), strict=True):
        yield ",".join(row)


def quote(text: str) -> str:
    """Text in quotes, on one line."""
    text = text.replace("\\", "\\\\").replace("'", "\\'")
    for letter, character in ESCAPES.items():
        text = text.replace(character, "\\" + letter)
    return f"'{text}'"


def written(column: np.ndarray) -> Iterator[str]:
    """The values of a column as they stand in a file."""
    if column.dtype.kind == "O":
        return ("?" if value is None else quote(value) for value in column)
    return ("?" if value != value else repr(value) for value in column.tolist())
