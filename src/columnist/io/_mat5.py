"""Whether the variables of a MATLAB 5 file are sound.

SciPy's compiled reader trusts the sizes in the file and can crash on damaged ones, so they are
checked first: every element must lie inside its parent and hold as many values as its shape says.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from columnist.io._table import DataFileError

__all__ = ["sound_variables"]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
ITEM_SIZES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
TEXT_SIZES = {1: 1, 2: 1, 3: 2, 4: 2, 16: 1, 17: 2, 18: 4}
CELL, CHARACTERS, SPARSE, NUMBERS = 1, 4, 5, range(6, 16)
COMPLEX = 8
MOST_CELLS_DEEP = 4


@dataclass(frozen=True)
class Element:
    """A typed piece of the file."""

    type: int
    data: bytes


def sound_variables(content: bytes) -> list[str]:
    """Names of the matrices, texts and cells; other variables (structures) are left out."""
    mark = content[126:128]
    if len(content) < HEADER or mark not in (b"IM", b"MI"):
        raise DataFileError("not a MATLAB file of version 5 to 7.")
    order = "<" if mark == b"IM" else ">"
    if content[124:126] != (b"\x00\x01" if order == "<" else b"\x01\x00"):
        raise DataFileError("not a MATLAB file of version 5 to 7.")
    names = []
    for element in elements(content[HEADER:], order):
        if element.type == COMPRESSED:
            inside = list(elements(zlib.decompress(element.data), order))
            damaged_unless(len(inside) == 1)
            element = inside[0]
        damaged_unless(element.type == MATRIX)
        name = checked_matrix(element.data, order, depth=0)
        if name:
            names.append(name)
    damaged_unless(len(set(names)) == len(names))
    return names


def damaged_unless(sound: bool) -> None:
    """The one thing that can be wrong here."""
    if not sound:
        raise DataFileError("the MATLAB file is cut off or damaged.")


def elements(data: bytes, order: str) -> Iterator[Element]:
    """The elements that follow one another; data are padded to 8 bytes, short ones are packed."""
    place = 0
    while place < len(data):
        damaged_unless(place + 8 <= len(data))
        type, size = struct.unpack_from(order + "II", data, place)
        start = place + 8
        if type >> 16:
            type, size, start = type & 0xFFFF, type >> 16, place + 4
            damaged_unless(size <= 4)
            end = place + 8
        else:
            end = start + size + (0 if type == COMPRESSED else -size % 8)
        damaged_unless(start + size <= len(data))
        yield Element(type, data[start : start + size])
        place = end


def checked_matrix(data: bytes, order: str, depth: int) -> str | None:
    """Name of a sound matrix, None for a kind that is not read."""
    damaged_unless(depth <= MOST_CELLS_DEEP)
    if not data and depth:
        return ""
    parts = list(elements(data, order))
    damaged_unless(len(parts) >= 3)
    flags, shape, name, *content = parts
    damaged_unless(flags.type == 6 and len(flags.data) == 8)
    damaged_unless(shape.type == 5 and len(shape.data) >= 8 and len(shape.data) % 4 == 0)
    damaged_unless(name.type in (1, 2))
    kind = struct.unpack(order + "II", flags.data)[0]
    sizes = struct.unpack(f"{order}{len(shape.data) // 4}i", shape.data)
    damaged_unless(min(sizes) >= 0)
    if not check_content(kind, sizes, content, order, depth):
        return None
    return name.data.rstrip(b"\0").decode("latin-1")


def check_content(
    kind: int, sizes: tuple[int, ...], content: list[Element], order: str, depth: int
) -> bool:
    """Whether a matrix is of a kind that is read; an error if it does not fit its shape."""
    count = math.prod(sizes)
    parts = 2 if kind >> 8 & COMPLEX else 1
    if kind & 0xFF == CELL:
        damaged_unless(len(content) == count)
        for cell in content:
            damaged_unless(cell.type == MATRIX)
            if checked_matrix(cell.data, order, depth + 1) is None:
                return False
        return True
    if kind & 0xFF == CHARACTERS:
        damaged_unless(len(content) == 1 and content[0].type in TEXT_SIZES)
        width = TEXT_SIZES[content[0].type]
        damaged_unless(len(content[0].data) >= count * (1 if width > 1 else width))
        return True
    if kind & 0xFF == SPARSE:
        check_sparse_parts(sizes, content, parts, order)
        return True
    if kind & 0xFF not in NUMBERS:
        return False
    damaged_unless(len(content) == parts)
    damaged_unless(all(p.type in ITEM_SIZES for p in content))
    damaged_unless(all(len(p.data) == count * ITEM_SIZES[p.type] for p in content))
    return True


def check_sparse_parts(
    sizes: tuple[int, ...], content: list[Element], parts: int, order: str
) -> None:
    """Row numbers, column starts and values of a sparse matrix must fit together."""
    damaged_unless(len(sizes) == 2 and len(content) == 2 + parts)
    rows, starts, *values = content
    damaged_unless(rows.type in (5, 6) and starts.type in (5, 6))
    damaged_unless(len(starts.data) == 4 * (sizes[1] + 1))
    stored = struct.unpack(order + "i", starts.data[-4:])[0]
    damaged_unless(0 <= stored <= len(rows.data) // 4)
    for part in values:
        damaged_unless(part.type in ITEM_SIZES)
        damaged_unless(len(part.data) >= stored * ITEM_SIZES[part.type])
