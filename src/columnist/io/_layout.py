"""How a text file is laid out, found out from its first lines.

Not by `csv.Sniffer`, which errs on 7 of 23 files that our tests read: runs of blanks, decimal
commas, years as names, comments, one column, rows of different lengths.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from columnist.io._table import DataFileError, quoted

__all__ = ["MISSING", "Layout", "find_layout"]

MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "NAN", "?", "null", "NULL", "None")
COMMENTS = ("#", "%")
DELIMITERS = ("\t", ";", "|", ",")
MOST_RECORDS = 100
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
TRUTH = ("true", "false")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
YEAR = re.compile(r"(19|20)\d\d")
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """Where the data of a text file begin and what their columns are.

    ``skip`` counts the lines before the data; ``trailing`` tells of a delimiter at the end of
    every row; ``blanks`` of columns separated by runs of blanks; ``text`` marks columns whose first
    values are not numbers.
    """

    delimiter: str
    names: tuple[str, ...] | None
    n_columns: int
    skip: int
    trailing: bool
    blanks: bool
    decimal_comma: bool
    text: tuple[bool, ...]


@dataclass(frozen=True)
class Record:
    """The fields of one row as they stand in the file, and the line behind it (from 1)."""

    fields: list[str]
    line: int


def find_layout(sample: str, whole: bool, delimiter: str | None, header: bool | None) -> Layout:
    """The layout behind the first characters of a file (``whole``: they are all of it)."""
    comments, start, offset = leading_comments(sample)
    body = sample[offset:]
    if not body.strip():
        raise DataFileError("there are only comments and blank lines.")
    delimiter = delimiter or find_delimiter(body, whole)
    records = split_records(body, delimiter, start, whole)
    if not records:
        raise DataFileError("no row of data can be made out: is this a table?")
    blanks = delimiter == " "
    first, rest = records[0], records[1:]
    widths = Counter(len(record.fields) for record in rest)
    width = max(widths, key=widths.__getitem__) if widths else len(first.fields)
    trailing = not blanks and width > 1 and all(is_blank_end(r, width) for r in rest or [first])
    # A name above makes it a column without values.
    trailing = trailing and (first.fields[-1] == "" or len(first.fields) < width)
    comma = has_decimal_comma(rest or records, delimiter)
    if header is None:
        header = is_header(first, rest, comma)
    names = header_names(first.fields, width, trailing) if header else None
    if not header and len(first.fields) != width:
        raise DataFileError(
            f"line {first.line} has {len(first.fields)} fields, the next rows have {width}."
        )
    if not header and comments:
        names = commented_names(comments[-1], delimiter, width - trailing)
    data = rest if header else records
    if not data:
        raise DataFileError("there is a header, but not a single row of data.")
    n_columns = width - trailing
    return Layout(
        delimiter=delimiter,
        names=names,
        n_columns=n_columns,
        skip=first.line if header else start,
        trailing=trailing,
        blanks=blanks,
        decimal_comma=comma,
        text=tuple(is_text_column(data, place, comma) for place in range(n_columns)),
    )


def leading_comments(sample: str) -> tuple[list[str], int, int]:
    """Comments at the top, the number of lines before the first row, and their length."""
    comments, lines, offset = [], 0, 0
    for line in sample.splitlines(keepends=True):
        text = line.strip()
        if text and not text.startswith(COMMENTS):
            break
        if text:
            comments.append(text)
        lines, offset = lines + 1, offset + len(line)
    return comments, lines, offset


def find_delimiter(body: str, whole: bool) -> str:
    """The character that splits all rows, or most, into the same number of fields."""
    best, best_share = None, 0.0
    for candidate in (*DELIMITERS, " "):
        records = split_records(body, candidate, 0, whole)
        rest = records[1:] or records
        if not rest:
            continue
        width, count = Counter(len(record.fields) for record in rest).most_common(1)[0]
        share = count / len(rest)
        if width > 1 and share > best_share:
            best, best_share = candidate, share
    return best or ","


def split_records(body: str, delimiter: str, line: int, whole: bool) -> list[Record]:
    """The first rows, split into raw fields (quotes are kept); blank lines are left out."""
    apart = r" \t" if delimiter == " " else re.escape(delimiter)
    field = re.compile(rf'[ \t]*"(?:[^"]|"")*"[^{apart}\n]*|[^{apart}\n]*')
    gap = re.compile(r"[ \t]+" if delimiter == " " else re.escape(delimiter))
    records: list[Record] = []
    fields: list[str] = []
    place = 0
    if delimiter == " ":
        body = re.sub(r"[ \t]+$|^[ \t]+", "", body, flags=re.MULTILINE)
    while place < len(body) and len(records) < MOST_RECORDS:
        match = field.match(body, place)
        assert match is not None  # a field may be empty
        fields.append(match.group().strip())
        line += match.group().count("\n")
        place = match.end()
        if step := gap.match(body, place):
            place = step.end()
            if place < len(body):
                continue
            fields.append("")
        ended = place < len(body)
        line, place = line + 1, place + 1
        if (ended or whole) and (len(fields) > 1 or fields[0]):
            records.append(Record(fields, line))
        fields = []
    return records


def is_blank_end(record: Record, width: int) -> bool:
    """Whether a row ends with a delimiter."""
    return len(record.fields) == width and record.fields[-1] == ""


def plain(field: str) -> str:
    """A field without its quotes."""
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def is_number(field: str, comma: bool) -> bool:
    """Whether a field is a number."""
    text = plain(field).strip()
    if comma:
        text = text.replace(",", ".", 1)
    return NUMBER.fullmatch(text) is not None or text.lower() in TRUTH


def is_gap(field: str) -> bool:
    """Whether a field stands for a missing value."""
    return plain(field).strip() in MISSING


def has_decimal_comma(records: list[Record], delimiter: str) -> bool:
    """Whether numbers are written as 1,5."""
    if delimiter == ",":
        return False
    fields = [plain(field) for record in records for field in record.fields]
    return any(map(DECIMAL_COMMA.fullmatch, fields)) and not any(
        map(DECIMAL_POINT.fullmatch, fields)
    )


def is_header(first: Record, rest: list[Record], comma: bool) -> bool:
    """Whether the first row holds names: text or years above numbers, or nothing but text."""
    names = first.fields
    words = [not is_gap(name) and not is_number(name, comma) for name in names]
    if all(word or not plain(name) for word, name in zip(words, names, strict=True)):
        return any(words)
    above, numeric, under = [], [], []
    for place, name in enumerate(names):
        below = [r.fields[place] for r in rest if len(r.fields) > place]
        below = [field for field in below if not is_gap(field)]
        if below and all(is_number(field, comma) for field in below):
            quotes = name.startswith('"') and not any(f.startswith('"') for f in below)
            if quotes or words[place]:
                above.append(name)
            else:
                numeric.append(name)
                under += below
    if not above:
        return are_years(numeric, under)
    years = all(re.fullmatch(r"\d{1,4}", name) for name in numeric)
    return years and len(set(numeric)) == len(numeric)


def are_years(names: list[str], below: list[str]) -> bool:
    """Whether these are several years, above numbers that are none."""
    if len(names) < 2 or len(set(names)) < len(names):
        return False
    return all(map(YEAR.fullmatch, names)) and not any(map(YEAR.fullmatch, below))


def header_names(fields: list[str], width: int, trailing: bool) -> tuple[str, ...]:
    """Names of the columns; R leaves out the one above the row names."""
    names = [plain(field) if field.startswith('"') else field for field in fields]
    n_columns = width - trailing
    if len(names) == n_columns + 1 and not names[-1]:
        names = names[:-1]
    if len(names) == n_columns - 1:
        names = ["row", *names]
    if len(names) != n_columns:
        raise DataFileError(
            f"the header has {len(names)} names, but the rows have {n_columns} fields "
            f"(last name {quoted(names[-1])}): is this a table, and the delimiter the right one?"
        )
    return tuple(names)


def commented_names(comment: str, delimiter: str, n_columns: int) -> tuple[str, ...] | None:
    """Names in the comment right above the data, as NumPy writes them."""
    text = comment.lstrip("#%").strip()
    fields = text.split() if delimiter == " " else [f.strip() for f in text.split(delimiter)]
    if n_columns < 2 or len(fields) != n_columns or any(is_number(f, False) for f in fields):
        return None
    return tuple(plain(field) for field in fields)


def is_text_column(records: list[Record], place: int, comma: bool) -> bool:
    """Whether the first values of a column are not all numbers."""
    fields = [r.fields[place] for r in records if len(r.fields) > place]
    return any(
        not is_gap(field) and (not is_number(field, comma) or plain(field).lower() in TRUTH)
        for field in fields
    )
