"""The list of files: complete, well formed, and true where the files are here."""

from __future__ import annotations

import gzip
import hashlib
import re

import pytest

from columnist.datasets._files import DataFile, check_address, data_files, restored
from tests.real_data import SHIPPED, data_folder

FILES = data_files()


def test_addresses_are_https_and_sums_are_sums():
    for file in FILES.values():
        assert file.addresses
        for address in file.addresses:
            check_address(address, loopback=False)
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert 0 < file.bytes < 20_000_000
        assert re.fullmatch(r"[\w-]+/[\w.-]+", file.path)


def test_copies_in_repositories_are_pinned():
    for file in FILES.values():
        for address in file.addresses:
            if "raw.githubusercontent.com" in address:
                assert re.fullmatch("[0-9a-f]{12}|[0-9a-f]{40}", address.split("/")[5])


@pytest.mark.data
def test_the_files_here_are_the_listed_ones():
    home = data_folder()
    here = [file for file in FILES.values() if home != SHIPPED or (home / file.path).is_file()]
    assert len(here) >= 10
    for file in here:
        stored = (home / file.path).read_bytes()
        content = gzip.decompress(stored) if file.path.endswith(".gz") else stored
        assert len(content) == file.bytes, file.path
        assert restored(file, content) == content


def test_stored_the_same_way_at_any_time():
    body = b"a,b\n"
    file = DataFile("a/b.gz", len(body), hashlib.sha256(body).hexdigest(), ())
    assert file.stored(body) == file.stored(body)
    assert file.stored(body)[4:8] == b"\0\0\0\0"  # no time of day in the header


def test_only_the_first_line_may_be_extra():
    body = b"1,2\n3,4\n"
    file = DataFile("a/b", len(body), hashlib.sha256(body).hexdigest(), ())
    assert restored(file, b"x,y\n" + body) == body
    for wrong in (b"", body[:-1], body + b"\n", b"x\ny\n" + body):
        with pytest.raises(ValueError, match="not the expected one"):
            restored(file, wrong)
