"""Compressed content back to what it was."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columnist.datasets._files import uncompress, unpacked

LIMIT = 1 << 22


def compress(content: bytes, most: int = 16, clear_at: int | None = None) -> bytes:
    """The content as Unix ``compress`` packs it; ``clear_at`` empties a table of that size."""
    packed = bytearray([0x1F, 0x9D, 0x80 | most])
    table = {bytes([value]): value for value in range(256)}
    size, width, waiting, n_waiting, n_codes = 257, 9, 0, 0, 0

    def flush(codes_in_group: int) -> None:
        nonlocal waiting, n_waiting
        if codes_in_group % 8:
            n_waiting += (8 - codes_in_group % 8) * width
        packed.extend(waiting.to_bytes((n_waiting + 7) // 8, "little"))
        waiting = n_waiting = 0

    def emit(code: int) -> None:
        nonlocal waiting, n_waiting, n_codes
        waiting |= code << n_waiting
        n_waiting += width
        n_codes += 1

    word = b""
    for value in content:
        longer = word + bytes([value])
        if longer in table:
            word = longer
            continue
        emit(table[word])
        if size < 1 << most:
            table[longer] = size
            size += 1
            # The reader's table is one entry behind.
            if size - 1 == 1 << width and width < most:
                flush(n_codes)
                width, n_codes = width + 1, 0
        if clear_at and size >= clear_at:
            emit(256)
            flush(n_codes)
            table = {bytes([value]): value for value in range(256)}
            size, width, n_codes = 257, 9, 0
        word = bytes([value])
    if word:
        emit(table[word])
    packed.extend(waiting.to_bytes((n_waiting + 7) // 8, "little"))
    return bytes(packed)


def sample(n: int, seed: int = 0) -> bytes:
    """Text of numbers, like the files."""
    values = np.random.default_rng(seed).integers(-9999, 10000, n) / 1e4
    return ", ".join(map(str, values)).encode()


CASES = {
    "empty": (b"", 16, None),
    "one byte": (b"a", 16, None),
    "runs": (b"a" * 5000, 16, None),
    "text": (sample(3000), 16, None),
    "full table": (sample(30000), 12, None),
    "emptied tables": (sample(5000), 16, 700),
    "all bytes": (bytes(range(256)) * 20, 10, None),
}


@pytest.mark.parametrize("case", CASES)
def test_unix_compress(case):
    content, most, clear_at = CASES[case]
    assert uncompress(compress(content, most, clear_at), LIMIT) == content


@pytest.mark.skipif(shutil.which("gzip") is None, reason="needs gzip, which reads .Z files too")
@pytest.mark.parametrize("case", [case for case in CASES if case != "empty"])
def test_gzip_agrees_about_the_format(case):
    content, most, clear_at = CASES[case]
    packed = compress(content, most, clear_at)
    run = subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True)
    assert run.stdout == content


@given(st.binary(max_size=2000), st.integers(10, 16), st.none() | st.integers(300, 600))
def test_any_content_comes_back(content, most, clear_at):
    assert uncompress(compress(content, most, clear_at), LIMIT) == content


@given(st.binary(max_size=200))
def test_rubbish_is_refused_or_short(rubbish):
    try:
        assert len(uncompress(b"\x1f\x9d\x90" + rubbish, 1000)) <= 1000
    except ValueError:
        pass


def test_by_the_end_of_the_address():
    content = sample(100)
    assert unpacked(compress(content), "https://a.test/x.data.Z", LIMIT) == content
    assert unpacked(gzip.compress(content), "https://a.test/x.csv.gz", LIMIT) == content
    assert unpacked(content, "https://a.test/x.csv", LIMIT) == content


@pytest.mark.parametrize("pack", [compress, gzip.compress], ids=["Z", "gz"])
def test_a_bomb_is_refused(pack):
    name = "bomb.gz" if pack is gzip.compress else "bomb.Z"
    with pytest.raises(ValueError, match="more than the expected 1000 bytes"):
        unpacked(pack(b"\0" * 300_000), name, 1000)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x1f\x9d", b"<html>", gzip.compress(b"a")[:-4]],
    ids=["nothing", "two bytes", "a page", "cut off"],
)
@pytest.mark.parametrize("name", ["x.gz", "x.Z"])
def test_what_is_not_compressed(content, name):
    if name == "x.gz" and not content:
        assert unpacked(content, name, LIMIT) == b""  # no member is a member of no bytes
        return
    with pytest.raises((ValueError, OSError)):
        unpacked(content, name, LIMIT)
