"""Delimited text (CSV, TSV, blanks): its layout, and its rows, read by polars on all cores.

The layout is detected from the first lines. Not by `csv.Sniffer`, which errs on 7 of 23 files that
our tests read: runs of blanks, decimal commas, years as names, comments, one column, rows of
different lengths.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from columnist.io._frames import FrameColumns, import_polars
from columnist.io._header import (
    MISSING,
    TRUTH,
    Record,
    is_all_words,
    is_gap,
    is_header,
    is_number,
    plain,
)
from columnist.io._inputs import HEAD, Input, as_unicode
from columnist.io._table import DataFileError, Names, as_names, named_columns, plural, quoted

if TYPE_CHECKING:
    import polars as pl

COMMENTS = ("#", "%")
DELIMITERS = ("\t", ";", "|", ",")
MOST_RECORDS = 100
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
FEWEST_LINES = 6
MARK = b"\xef\xbb\xbf"
# The trailing column that a delimiter at the end of each row makes.
NOTHING = "\0nothing"


def read_delimited(
    data: Input, delimiter: str | None, header: bool | None, ids: Names
) -> FrameColumns:
    """The columns of a text file; those named in ``ids`` keep their text exactly."""
    import_polars()
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DataFileError(f"delimiter must be one character, not {quoted(delimiter)}.")
    if delimiter is not None and not delimiter.isascii():
        raise DataFileError(f"delimiter must be a plain character, not {quoted(delimiter)}.")
    content = converted(data)
    layout = layout_of(data, content, delimiter, header)
    names, renamed = named_columns(layout.names, layout.n_columns)
    if layout.blanks:
        content = single_tabs(data.read() if content is None else content)
    columns = FrameColumns(
        *TextFile(data, content, layout, names, set(as_names(ids, names))).read()
    )
    columns.renamed, columns.header = renamed, layout.header
    return columns


def converted(data: Input) -> bytes | None:
    """The text in UTF-8 with plain line ends, or None if the file itself will do."""
    head = data.head
    if head.startswith(UTF16):
        return data.read().decode("utf-16", errors="replace").encode()
    if b"\r" in head and b"\n" not in head:
        return data.read().replace(b"\r", b"\n")
    if head.startswith(MARK):
        return data.read()[len(MARK) :]
    return None if data.plain_path else data.read()


def layout_of(
    data: Input, content: bytes | None, delimiter: str | None, header: bool | None
) -> Layout:
    """The layout of a file, or of its converted content, from a few lines at least."""
    size = HEAD
    while True:
        head = data.read(size) if content is None else content[:size]
        whole = len(head) < size
        if whole or head.count(b"\n") >= FEWEST_LINES:
            break
        size *= 16
    if b"\0" in head:
        raise DataFileError("binary data, not text: give the true format=.")
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        cut = not whole and error.start >= len(head) - 4  # a character may be cut at the end
        text = head[: error.start].decode() if cut else head.decode("latin-1")
    return find_layout(text.replace("\r\n", "\n"), whole, delimiter, header)


def single_tabs(content: bytes) -> bytes:
    """Text with one tab in place of each run of blanks, line by line."""
    content = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content)
    if b'"' in content:
        keep = re.compile(rb'"[^"\n]*"|[ \t]+')
        return keep.sub(lambda m: m[0] if m[0][:1] == b'"' else b"\t", content)
    return re.sub(rb"[ \t]+", b"\t", content)


@dataclass
class TextFile:
    """A text file with a known layout; ``content`` where the file itself will not do."""

    data: Input
    content: bytes | None
    layout: Layout
    names: tuple[str, ...]
    ids: set[str]

    def __post_init__(self) -> None:
        self.delimiter = "\t" if self.layout.blanks else self.layout.delimiter
        self.skip = self.layout.skip
        # With the one that trailing delimiters make.
        self.all_names = [*self.names, *[NOTHING] * self.layout.trailing]

    def read(self) -> tuple[pl.DataFrame, dict[str, str]]:
        """The frame, and what is wrong with columns that are not numbers."""
        pl = import_polars()
        text = {n for n, t in zip(self.names, self.layout.text, strict=True) if t} | self.ids
        if len(self.names) == 1:
            self.drop_blank_lines()
        try:
            frame = self.scan(text)
        except pl.exceptions.PolarsError:
            text = set(self.names)
            try:
                frame = self.scan(self.all_names)
            except pl.exceptions.PolarsError:
                frame = self.rows_one_by_one()
        if frame.to_series(-1).null_count() and not self.is_rectangular(frame.height):
            # Polars takes blank lines and short rows for rows with missing values.
            self.drop_blank_lines()
            frame = self.scan(text)
            if not self.is_rectangular(frame.height):
                text, frame = set(self.names), self.rows_one_by_one()
        if self.layout.trailing:
            frame = frame.drop(NOTHING)
        return with_numbers(frame, text, self.ids, self.layout.decimal_comma)

    def scan(self, text: Collection[str]) -> pl.DataFrame:
        """What polars reads; columns in ``text`` as text, the others as numbers."""
        pl = import_polars()
        return pl.read_csv(
            self.data.plain_path if self.content is None else self.content,
            has_header=False,
            skip_lines=self.skip,
            schema={n: pl.String if n in text else pl.Float64 for n in self.all_names},
            separator=self.delimiter,
            decimal_comma=self.layout.decimal_comma,
            null_values=list(MISSING),
            glob=False,
        )

    def is_rectangular(self, n_rows: int) -> bool:
        """Whether no row is too short, where none is too long; False if that is not sure."""
        body = self.body()
        expected = n_rows * (len(self.all_names) - 1)
        return b'"' not in body and body.count(self.delimiter.encode()) == expected

    def body(self) -> bytes:
        """The rows of data."""
        content = self.data.read() if self.content is None else self.content
        place = 0
        for _ in range(self.skip):
            place = content.find(b"\n", place) + 1 or len(content)
        return content[place:]

    def drop_blank_lines(self) -> None:
        """Keep only lines with something in them."""
        content = re.sub(rb"\n(?:[ \t\r]*\n)+", b"\n", self.body())
        self.content, self.skip = content.strip(b"\r\n") + b"\n", 0

    def rows_one_by_one(self) -> pl.DataFrame:
        """All columns as text, slowly; the first row of wrong length is named."""
        pl = import_polars()
        names = self.all_names
        content = converted(self.data)
        content = self.data.read() if content is None else content
        if self.layout.blanks:
            content = single_tabs(content)
        lines = io.StringIO(as_unicode(content), newline="")
        for _ in range(self.layout.skip):
            lines.readline()
        rows = []
        reader = csv.reader(lines, delimiter=self.delimiter)
        try:
            for row in reader:
                if len(row) != len(names) and any(field.strip() for field in row):
                    line = self.layout.skip + reader.line_num
                    raise DataFileError(
                        f"line {line} has {plural(len(row), 'field')} instead of {len(names)}"
                        f"{' (or a quote is not closed)' if len(row) < len(names) else ''}."
                    )
                if len(row) == len(names):
                    rows.append(row)
        except csv.Error as error:
            raise DataFileError(f"line {self.layout.skip + reader.line_num}: {error}.") from error
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def with_numbers(
    frame: pl.DataFrame, text: Collection[str], ids: Collection[str], decimal_comma: bool
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Text that is numbers after all becomes numbers; what is wrong with the other text."""
    pl = import_polars()
    changed, details = [], {}
    for name in [name for name in frame.columns if name in text]:
        series, detail = frame.get_column(name), ""
        if name in ids:  # integers if no character is lost
            numbers = series.cast(pl.Int64, strict=False)
            series = numbers if numbers.cast(pl.String).equals(series) else series
        else:
            series, detail = as_numbers(series, decimal_comma)
        changed.append(series)
        if detail:
            details[name] = detail
    return frame.with_columns(changed) if changed else frame, details


def as_numbers(series: pl.Series, decimal_comma: bool) -> tuple[pl.Series, str]:
    """Text as numbers if all of it is; otherwise a word about what is not."""
    pl = import_polars()
    stripped = series.str.strip_chars()
    stripped = stripped.set(stripped.is_in(list(MISSING)), None)
    lower = stripped.str.to_lowercase()
    if len(lower) > lower.null_count() and lower.drop_nulls().is_in(["true", "false"]).all():
        return (lower == "true").cast(pl.Float64), ""
    if decimal_comma:
        lower = lower.str.replace(",", ".", literal=True)
    numbers = lower.cast(pl.Float64, strict=False)
    strange = (numbers.is_null() & stripped.is_not_null()).arg_true()
    if not len(strange):
        return numbers, ""
    filled = len(stripped) - stripped.null_count()
    if 2 * len(strange) > filled:
        return stripped, ""
    row = strange[0]
    more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
    return stripped, f"{quoted(stripped[row])} in row {row + 1}{more}"


# -- layout -------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where the data of a text file begin and what their columns are. ``skip`` counts the lines
    before the data; ``trailing`` is True if every row ends with a delimiter; ``blanks`` of
    columns separated by runs of blanks; ``text`` marks columns whose first values are not
    numbers; ``header`` of names in the first row."""

    delimiter: str
    names: tuple[str, ...] | None
    n_columns: int
    skip: int
    trailing: bool
    blanks: bool
    decimal_comma: bool
    text: tuple[bool, ...]
    header: bool


def find_layout(sample: str, whole: bool, delimiter: str | None, header: bool | None) -> Layout:
    """The layout behind the first characters of a file (``whole``: they are all of it)."""
    comments, start, offset = leading_comments(sample)
    body = sample[offset:]
    if not body.strip():
        raise DataFileError("there are only comments and blank lines.")
    delimiter = delimiter or find_delimiter(body, whole)
    records, line = split_records(body, delimiter, start, whole)
    if not records:
        raise DataFileError("no row of data can be made out: is this a table?")
    blanks = delimiter == " "
    first, rest = records[0], records[1:]
    widths = Counter(map(len, rest))
    width = max(widths, key=widths.__getitem__) if widths else len(first)
    ends = [fields[-1] if len(fields) == width else None for fields in rest or [first]]
    trailing = not blanks and width > 1 and all(end == "" for end in ends)
    # A name above makes it a column without values.
    trailing = trailing and (first[-1] == "" or len(first) < width)
    comma = has_decimal_comma(rest or records, delimiter)
    names = commented_names(comments[-1], delimiter, width - trailing) if comments else None
    if header is None:
        # Names in a comment stand right above the data.
        header = is_header(first, rest, comma) if names is None else is_all_words(first, comma)
    if header:
        names = header_names(first, width, trailing)
    elif len(first) != width:
        raise DataFileError(f"line {line} has {len(first)} fields, the next rows have {width}.")
    data = rest if header else records
    if not data:
        raise DataFileError("there is a header, but not a single row of data.")
    skip = line if header else start
    text = tuple(is_text_column(data, place, comma) for place in range(width - trailing))
    return Layout(delimiter, names, width - trailing, skip, trailing, blanks, comma, text, header)


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
        records, _ = split_records(body, candidate, 0, whole)
        rest = records[1:] or records
        if not rest:
            continue
        width, count = Counter(map(len, rest)).most_common(1)[0]
        share = count / len(rest)
        if width > 1 and share > best_share:
            best, best_share = candidate, share
    return best or ","


def split_records(body: str, delimiter: str, line: int, whole: bool) -> tuple[list[Record], int]:
    """Raw fields of the first rows that are not blank, and the line behind the first, from 1 on."""
    apart = r" \t" if delimiter == " " else re.escape(delimiter)
    field = re.compile(rf'[ \t]*"(?:[^"]|"")*"[^{apart}\n]*|[^{apart}\n]*')
    gap = re.compile(r"[ \t]+" if delimiter == " " else re.escape(delimiter))
    records: list[Record] = []
    fields: Record = []
    first = place = 0
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
            records.append(fields)
            first = first or line
        fields = []
    return records, first


def has_decimal_comma(records: list[Record], delimiter: str) -> bool:
    """Whether numbers are written as 1,5."""
    if delimiter == ",":
        return False
    fields = [plain(field) for record in records for field in record]
    return any(map(DECIMAL_COMMA.fullmatch, fields)) and not any(
        map(DECIMAL_POINT.fullmatch, fields)
    )


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
    fields = [record[place] for record in records if len(record) > place]
    return any(
        not is_gap(field) and (not is_number(field, comma) or plain(field).lower() in TRUTH)
        for field in fields
    )
