"""Compressed content back to what it was, never more than expected."""

from __future__ import annotations

import gzip
import io
import zlib

__all__ = ["uncompress", "unpacked"]

_CLEAR = 256
_TOO_LARGE = "it unpacks to more than the expected {limit} bytes"


def unpacked(content: bytes, address: str, limit: int) -> bytes:
    """The content behind an address: ``.gz`` and ``.Z`` are unpacked, others left as they are."""
    if address.endswith(".gz"):
        return gunzip(content, limit)
    return uncompress(content, limit) if address.endswith(".Z") else content


def gunzip(content: bytes, limit: int) -> bytes:
    """Content of a gzip file, at most ``limit`` bytes."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            found = stream.read(limit + 1)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"it is not a whole gzip file ({error})") from error
    if len(found) > limit:
        raise ValueError(_TOO_LARGE.format(limit=limit))
    return found


def uncompress(content: bytes, limit: int) -> bytes:
    """Content of a ``.Z`` file, at most ``limit`` bytes.

    The format of Unix ``compress``: codes of 9 bits and more, lowest bit first, written in groups
    of eight; when the width changes, the rest of a group is padding. Code 256 empties the table.
    """
    if content[:2] != b"\x1f\x9d" or len(content) < 3:
        raise ValueError("it is not a .Z file")
    most, has_clear = content[2] & 31, content[2] >= 128
    table = fresh_table(has_clear)
    parts: list[bytes] = []
    size, width, start = 0, 9, 24
    place, last = start, b""
    while place + width <= 8 * len(content):
        window = int.from_bytes(content[place >> 3 : (place >> 3) + 4], "little")
        code = window >> (place & 7) & (1 << width) - 1
        place += width
        if has_clear and code == _CLEAR:
            start = place = group_end(place, start, width)
            table, width, last = fresh_table(has_clear), 9, b""
            continue
        if code > len(table) or (code == len(table) and not last):
            raise ValueError("it is a damaged .Z file")
        entry = table[code] if code < len(table) else last + last[:1]
        if last and len(table) < 1 << most:
            table.append(last + entry[:1])
        parts.append(entry)
        last, size = entry, size + len(entry)
        if size > limit:
            raise ValueError(_TOO_LARGE.format(limit=limit))
        if len(table) == 1 << width and width < most:
            start = place = group_end(place, start, width)
            width += 1
    return b"".join(parts)


def fresh_table(has_clear: bool) -> list[bytes]:
    """The single bytes, and a place for the code that empties the table."""
    return [bytes([value]) for value in range(256)] + [b""] * has_clear


def group_end(place: int, start: int, width: int) -> int:
    """First bit after the group of eight codes that ``place`` is in."""
    group = 8 * width
    return start + -(-(place - start) // group) * group
