"""Downloads from a server on this machine: whole and right, or nothing at all."""

from __future__ import annotations

import gzip
import hashlib
import threading
from http.client import HTTPMessage
from urllib.error import URLError
from urllib.request import Request

import pytest

from columnist.datasets._files import (
    DataFile,
    SafeRedirects,
    check_address,
    download,
    download_file,
    put,
)
from tests.datasets.server import serving
from tests.datasets.test_files_unpack import compress

BODY = b"1,2,3\n4,5,6\n" * 50


@pytest.fixture
def server():
    with serving() as found:
        yield found


def file_of(*addresses: str, path: str = "toy/toy.csv", body: bytes = BODY) -> DataFile:
    return DataFile(path, len(body), hashlib.sha256(body).hexdigest(), addresses)


def everything_in(folder) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(file: DataFile, home, **options) -> list[str]:
    """The reasons why no copy was taken, after a look that nothing was left behind."""
    failed = download_file(file, home, **options)
    assert everything_in(home) == []
    assert list(failed) == list(file.addresses)
    return list(failed.values())


def test_a_good_file(server, tmp_path):
    told = []
    file = file_of(server.content("/toy.csv", BODY))
    download_file(file, tmp_path, progress=lambda *step: told.append(step))
    assert (tmp_path / "toy/toy.csv").read_bytes() == BODY
    assert everything_in(tmp_path) == ["toy", "toy/toy.csv"]
    assert told[-1] == ("toy/toy.csv", len(BODY), len(BODY))


def test_a_file_kept_gzipped(server, tmp_path):
    file = file_of(server.content("/toy.csv", BODY), path="toy/toy.csv.gz")
    download_file(file, tmp_path)
    assert gzip.decompress((tmp_path / "toy/toy.csv.gz").read_bytes()) == BODY


@pytest.mark.parametrize(("pack", "name"), [(gzip.compress, "/a.gz"), (compress, "/a.Z")])
def test_a_compressed_copy(server, tmp_path, pack, name):
    download_file(file_of(server.content(name, pack(BODY))), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == BODY


def test_a_copy_with_a_line_of_names(server, tmp_path):
    download_file(file_of(server.content("/toy.csv", b"a,b,c\n" + BODY)), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == BODY


def test_the_next_address_is_tried(server, tmp_path):
    missing, good = server.address + "/missing", server.content("/good", BODY)
    download_file(file_of(missing, good, server.address + "/never"), tmp_path)
    assert server.asked == ["/missing", "/good"]


def test_another_content(server, tmp_path):
    wrong = BODY.replace(b"6", b"7")
    [why] = refused(file_of(server.content("/toy.csv", wrong)), tmp_path)
    assert "not the expected one" in why
    assert hashlib.sha256(wrong).hexdigest()[:12] in why


def test_nothing_there(server, tmp_path):
    [why] = refused(file_of(server.address + "/missing"), tmp_path)
    assert why == "the server answered 404 Not Found"


def test_a_body_that_breaks_off(server, tmp_path):
    [why] = refused(file_of(server.content("/toy.csv", BODY[:100], length=len(BODY))), tmp_path)
    assert why == f"it broke off after 100 of {len(BODY)} bytes"


def test_a_body_that_breaks_off_without_a_length(server, tmp_path):
    [why] = refused(file_of(server.content("/toy.csv", BODY[:100], length=-1)), tmp_path)
    assert "not the expected one" in why


def test_a_silent_server(server, tmp_path):
    addresses = server.silent("/mute"), server.silent("/stops", BODY[:100])
    reasons = refused(file_of(*addresses), tmp_path, timeout=0.1)
    assert reasons == ["no answer in time"] * 2


def test_a_server_that_drips(server):
    with pytest.raises(URLError, match=r"more than 0\.1 seconds"):
        download(server.dripping("/drip"), limit=10_000, patience=0.1)


@pytest.mark.parametrize("length", [None, -1], ids=["announced", "not announced"])
def test_too_large(server, tmp_path, length):
    big = server.content("/big", b"\0" * 1_000_000, length=length)
    [why] = refused(file_of(big), tmp_path)
    assert "more than the expected" in why


def test_a_bomb(server, tmp_path):
    [why] = refused(file_of(server.content("/b.gz", gzip.compress(bytes(10**7)))), tmp_path)
    assert "unpacks to more than the expected" in why


def test_nobody_listens(tmp_path):
    with serving() as gone:
        address = gone.address
    [why] = refused(file_of(address + "/toy.csv"), tmp_path)
    assert "refused" in why.lower()


def test_a_redirect_on_this_machine(server, tmp_path):
    server.content("/new", BODY)
    download_file(file_of(server.redirect("/old", "/new")), tmp_path)
    assert (tmp_path / "toy/toy.csv").read_bytes() == BODY


def test_redirects_without_end(server, tmp_path):
    [why] = refused(file_of(server.redirect("/loop", "/loop")), tmp_path)
    assert "302" in why
    assert len(server.asked) < 10


@pytest.mark.parametrize("target", ["http://data.test/x", "ftp://data.test/x", "file:///etc/hosts"])
def test_a_redirect_to_what_is_not_https(server, tmp_path, target):
    [why] = refused(file_of(server.redirect("/old", target)), tmp_path)
    assert "not https" in why or "302" in why


@pytest.mark.parametrize("target", ["http://data.test/x", "http://127.0.0.1/x", "https://[::1]/x"])
def test_from_outside_only_https_elsewhere(target):
    request = Request("https://data.test/old")
    with pytest.raises(URLError, match="refused"):
        SafeRedirects().redirect_request(request, None, 302, "", HTTPMessage(), target)


def test_a_redirect_to_https_is_followed():
    request = Request("https://data.test/old")
    found = SafeRedirects().redirect_request(
        request, None, 302, "", HTTPMessage(), "https://other.test/new"
    )
    assert found.full_url == "https://other.test/new"


@pytest.mark.parametrize(
    "address", ["http://data.test/x", "file:///etc/hosts", "ftp://data.test/x", "data.test/x", ""]
)
def test_only_https(address, tmp_path):
    with pytest.raises(URLError, match="not https"):
        check_address(address, loopback=True)
    [why] = refused(file_of(address), tmp_path)
    assert "not https" in why


def test_an_old_file_stays_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "toy.csv"
    put(path, b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        put(path, b"new")
    assert path.read_bytes() == b"old"
    assert everything_in(tmp_path) == ["toy.csv"]


def test_two_at_once(server, tmp_path):
    file = file_of(server.content("/toy.csv", BODY))
    threads = [threading.Thread(target=download_file, args=(file, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "toy/toy.csv").read_bytes() == BODY
    assert everything_in(tmp_path) == ["toy", "toy/toy.csv"]
