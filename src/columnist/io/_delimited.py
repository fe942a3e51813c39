"""Delimited text (CSV, TSV, blanks), read by polars on all cores."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from columnist.io._columns import numbered_names, unique_names
from columnist.io._frames import FrameColumns, import_polars
from columnist.io._inputs import HEAD, Input, as_unicode
from columnist.io._layout import MISSING, Layout, find_layout
from columnist.io._table import DataFileError, plural, quoted

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_delimited"]

UTF16 = (b"\xff\xfe", b"\xfe\xff")
FEWEST_LINES = 6
MARK = b"\xef\xbb\xbf"
# The trailing column that a delimiter at the end of each row makes.
NOTHING = "\0nothing"


def read_delimited(
    data: Input, delimiter: str | None, header: bool | None, ids: Collection[str]
) -> FrameColumns:
    """The columns of a text file; those named in ``ids`` keep their text exactly."""
    import_polars()
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DataFileError(f"delimiter must be one character, not {quoted(delimiter)}.")
    if delimiter is not None and not delimiter.isascii():
        raise DataFileError(f"delimiter must be a plain character, not {quoted(delimiter)}.")
    content = converted(data)
    head, whole = sample(data, content)
    check_text(head)
    layout = find_layout(decoded(head, whole), whole, delimiter, header)
    names, renamed = unique_names(layout.names or numbered_names(layout.n_columns))
    if layout.blanks:
        content = single_tabs(data.read() if content is None else content)
    source = TextFile(data, content, layout, names, ids)
    frame, details = source.read()
    columns = FrameColumns(frame, details)
    columns.renamed = renamed
    return columns


def converted(data: Input) -> bytes | None:
    """The text in UTF-8 with plain line ends, or None if the file itself will do."""
    head = data.head
    if head.startswith(UTF16):
        text = data.read().decode("utf-16", errors="replace")
        return text.encode()
    if b"\r" in head and b"\n" not in head:
        return data.read().replace(b"\r", b"\n")
    if head.startswith(MARK):
        return data.read()[len(MARK) :]
    return None if data.plain_path else data.read()


def sample(data: Input, content: bytes | None) -> tuple[bytes, bool]:
    """The first few lines at least, and whether they are all there is."""
    size = HEAD
    while True:
        head = data.read(size) if content is None else content[:size]
        whole = len(head) < size
        if whole or head.count(b"\n") >= FEWEST_LINES:
            return head, whole
        size *= 16


def check_text(head: bytes) -> None:
    """Refuse binary data."""
    if b"\0" in head:
        raise DataFileError("binary data, not text: give the true format=.")


def decoded(head: bytes, whole: bool) -> str:
    """The first bytes as text; a character may be cut at the end."""
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        cut = not whole and error.start >= len(head) - 4
        text = head[: error.start].decode() if cut else head.decode("latin-1")
    return text.replace("\r\n", "\n")


def single_tabs(content: bytes) -> bytes:
    """Text with one tab in place of each run of blanks, line by line."""
    content = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content)
    if b'"' in content:
        keep = re.compile(rb'"[^"\n]*"|[ \t]+')
        return keep.sub(lambda m: m[0] if m[0][:1] == b'"' else b"\t", content)
    return re.sub(rb"[ \t]+", b"\t", content)


class TextFile:
    """A text file with a known layout."""

    def __init__(
        self,
        data: Input,
        content: bytes | None,
        layout: Layout,
        names: tuple[str, ...],
        ids: Collection[str],
    ) -> None:
        self.data = data
        self.content = content
        self.layout = layout
        self.names = names
        self.ids = set(ids)
        self.delimiter = "\t" if layout.blanks else layout.delimiter
        self.skip = layout.skip

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
            frame = self.scan_text()
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
            schema={n: pl.String if n in text else pl.Float64 for n in self.all_names()},
            separator=self.delimiter,
            decimal_comma=self.layout.decimal_comma,
            null_values=list(MISSING),
            glob=False,
        )

    def all_names(self) -> list[str]:
        """Names of the columns, and of the one that trailing delimiters make."""
        return [*self.names, NOTHING] if self.layout.trailing else list(self.names)

    def scan_text(self) -> pl.DataFrame:
        """All columns as text, by polars if it can."""
        pl = import_polars()
        try:
            return self.scan(self.all_names())
        except pl.exceptions.PolarsError:
            return self.rows_one_by_one()

    def is_rectangular(self, n_rows: int) -> bool:
        """Whether no row is too short, where none is too long; False if that is not sure."""
        body = self.body()
        expected = n_rows * (len(self.all_names()) - 1)
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
        names = self.all_names()
        content = converted(self.data)
        content = self.data.read() if content is None else content
        if self.layout.blanks:
            content = single_tabs(content)
        text = as_unicode(content)
        lines = io.StringIO(text, newline="")
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
    changed, details = [], {}
    for name in frame.columns:
        if name not in text:
            continue
        series = frame.get_column(name)
        if name in ids:
            changed.append(whole_numbers(series))
            continue
        series, detail = as_numbers(series, decimal_comma)
        changed.append(series)
        if detail:
            details[name] = detail
    return frame.with_columns(changed) if changed else frame, details


def whole_numbers(series: pl.Series) -> pl.Series:
    """Text as integers if no character is lost."""
    pl = import_polars()
    numbers = series.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(series) else series


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
