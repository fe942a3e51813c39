"""A small data set in several formats, and a way to run commands in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from columnist.cli import main
from columnist.io import write_table

WINE = load_wine()
NAMES = [name.replace("/", "_") for name in WINE.feature_names]
CLASSES = np.array(["ay", "be", "ce"], dtype=object)[WINE.target]
FORMATS = ("csv", "parquet", "tsv.gz", "npy")


@dataclass(frozen=True)
class Answer:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output as JSON, strictly."""

        def refuse(word: str):
            raise AssertionError(f"{word} in JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def cli(capsys):
    """Run a command in this process: ``cli("select", path, "-k", 3)``."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Wine in several formats; those with names also have the class and an id."""
    folder = tmp_path_factory.mktemp("wine")
    ids = {"bottle": np.array([f"b{i}" for i in range(len(CLASSES))], dtype=object)}
    for ending in ("csv", "parquet", "tsv.gz"):
        write_table(
            folder / f"wine.{ending}", WINE.data, NAMES, before=ids, after={"class": CLASSES}
        )
    np.save(folder / "wine.npy", WINE.data)
    return folder


@pytest.fixture(scope="session")
def wine(folder) -> Path:
    """Wine as CSV."""
    return folder / "wine.csv"


@pytest.fixture(params=FORMATS)
def numbers(request, folder) -> list[str]:
    """A file of wine, with the options that leave numbers only."""
    path = str(folder / f"wine.{request.param}")
    return [path] if request.param == "npy" else [path, "--drop", "class", "--id", "bottle"]


def read_columns(path) -> dict[str, np.ndarray]:
    """The numbers of a written file by column."""
    from columnist.io import read_table

    table = read_table(path, non_numeric="drop")
    return dict(zip(table.names, table.X.T, strict=True))
