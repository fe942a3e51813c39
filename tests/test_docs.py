"""The README and the tools of the documentation."""

from __future__ import annotations

import io
import re
import sys
import tarfile
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def tools(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(HOME / "docs"), *sys.path])


def test_pictures_and_links_of_the_readme_are_files():
    text = (HOME / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert any(link.endswith(".png") for link in links)
    wheel_sources = {
        "docs",
        "examples",
    }  # the other files are not copied to where wheels are tested
    for link in links:
        if link.split("/")[0] in wheel_sources:
            assert (HOME / link).is_file(), link


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        ('<script src="https://example.org/a.js"></script>', "loaded from a network"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "loaded from a network"),
        ('<img src="https://example.org/a.png">', "loaded from a network"),
        ('<a href="http://example.org">there</a>', "not https"),
        ('<a href="missing.html">there</a>', "no such page"),
        ('<a href="#nowhere">there</a>', "no such place on the page"),
    ],
)
def test_links_that_do_not_work_without_a_network_are_found(tmp_path, tag, reason):
    import check_links

    good = '<a href="https://example.org">elsewhere</a><a id="here" href="#here">here</a>'
    (tmp_path / "index.html").write_text(good)
    assert list(check_links.broken(tmp_path)) == []
    (tmp_path / "index.html").write_text(good + tag)
    (line,) = check_links.broken(tmp_path)
    assert line.endswith(reason)


def test_of_mathjax_only_what_pages_need_is_copied(tmp_path):
    pytest.importorskip("sphinx")
    import mathjax

    package = tmp_path / "mathjax.tgz"
    names = [mathjax.SCRIPT, "output/chtml/fonts/a.woff", "input/tex/extensions/b.js", "sre/c.js"]
    with tarfile.open(package, "w:gz") as files:
        for name in names:
            files.addfile(tarfile.TarInfo(f"package/es5/{name}"), io.BytesIO())
    mathjax.unpack(package, tmp_path / "out")
    found = {p.relative_to(tmp_path / "out").as_posix() for p in tmp_path.rglob("out/**/*.*")}
    assert found == set(names[:3])


def test_every_task_of_the_gallery_has_a_heading_and_examples():
    folders = [path for path in (HOME / "examples").iterdir() if path.is_dir()]
    for folder in folders:
        if folder.name != "__pycache__":
            assert (folder / "GALLERY_HEADER.rst").is_file(), folder.name
            assert list(folder.glob("plot_*.py")), folder.name
