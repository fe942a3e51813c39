"""The catalogue of data sets: source, shape, and how to read the files of each set.

The facts are in ``sets.json``. A source there is a path, a reader (a function ``read_...`` below)
and, where not all columns belong to it, the first and the last one. Values are raw: no scaling, no
centring.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from columnist.datasets._files import DataFile, data_files
from columnist.datasets._files import data_home as resolve_home
from columnist.io import _arff as arff

Matrix: TypeAlias = np.ndarray | sp.csr_array
KINDS = {
    "classes": "{} classes",
    "labels": "{} labels, several at once",
    "targets": "{} numbers to predict",
}
# The files do not say how wide the data are.
N_URL_FEATURES = 3231961


def read_arff(path: Path) -> Matrix:
    """All attributes of an ARFF file; named values count as their place in the list."""
    return arff.read_arff(path)[0]


def text_lines(path: Path) -> Iterator[str]:
    """Stripped lines of a plain or gzipped text file, without blanks and comments."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="latin-1") as lines:
        for line in lines:
            if (text := line.strip()) and text[0] != "%":
                yield text


def read_table(path: Path, separator: str | None = ",") -> np.ndarray:
    """A text file of numbers; ``?`` is missing (nan). No separator means blanks."""
    rows = (line.replace("?", "nan") for line in text_lines(path))
    return np.loadtxt(rows, delimiter=separator, comments=None, ndmin=2)


# A table separated by blanks.
read_words = partial(read_table, separator=None)


def read_patients(path: Path) -> np.ndarray:
    """The numbers behind a patient's code and diagnosis."""
    return np.array([line.split(",")[2:] for line in text_lines(path)], dtype=np.float64)


def read_diagnoses(path: Path) -> np.ndarray:
    """A patient's diagnosis as one column: 0 is malignant, 1 benign."""
    return np.array([["MB".index(line.split(",")[1])] for line in text_lines(path)], dtype=float)


def read_mat(path: Path) -> np.ndarray:
    """Matrix X of a MATLAB file."""
    return scipy.io.loadmat(path)["X"].astype(np.float64)


def read_pixels(path: Path, shape: tuple[int, int]) -> np.ndarray:
    """Grey images of a MATLAB file with this height and width, pixels along their rows."""
    content = scipy.io.loadmat(path)
    X = content["fea" if "fea" in content else "X"]
    images = X.astype(np.float64).reshape(-1, *shape[::-1])  # MATLAB's pixels go along columns
    return images.transpose(0, 2, 1).reshape(X.shape)


def read_persons(path: Path) -> np.ndarray:
    """Who is on the images of a MATLAB file, counted from 1, as one column."""
    content = scipy.io.loadmat(path)
    return content["gnd" if "gnd" in content else "Y"].astype(np.float64)


def read_usps(path: Path) -> np.ndarray:
    """Digits of a MATLAB file that holds them by columns: training, then test samples."""
    content = scipy.io.loadmat(path)
    return np.hstack([content["traindata"], content["testdata"]]).T.astype(np.float64)


def read_usps_labels(path: Path) -> np.ndarray:
    """Labels of the digits, 10 for the digit 0, as one column."""
    content = scipy.io.loadmat(path)
    parts = [content[name].reshape(-1, 1) for name in ("trainlabel", "testlabel")]
    return np.vstack(parts).astype(np.float64)


def read_npz(path: Path) -> sp.csr_array:
    """A stored sparse matrix."""
    return sp.csr_array(sp.load_npz(path), dtype=np.float64)


def read_days(path: Path) -> sp.csr_array:
    """All files ``Day*`` of a folder of svmlight files, without their labels."""
    return sp.csr_array(sp.vstack([X for X, _ in day_files(path)]))


def read_day_labels(path: Path) -> np.ndarray:
    """The labels of all files ``Day*`` of a folder, as one column."""
    return np.concatenate([y for _, y in day_files(path)])[:, None]


def day_files(path: Path) -> list[tuple[sp.csr_matrix, np.ndarray]]:
    """Matrix and labels of every file ``Day*`` of a folder, by name."""
    days = sorted(path.parent.glob("Day*"))
    return [load_svmlight_file(str(day), n_features=N_URL_FEATURES) for day in days]


def read_npy(path: Path) -> np.ndarray:
    """A stored vector, as one column."""
    return np.load(path).astype(np.float64)[:, None]


def read_train_and_test(path: Path) -> np.ndarray:
    """The rows of ``*-train*``, then those of ``*-test*``."""
    parts = (path, path.with_name(path.name.replace("train", "test")))
    return np.vstack([read_arff(part) for part in parts])


@dataclass(frozen=True)
class Source:
    """Columns ``first`` to ``last`` of a file, of its first ``n_rows`` rows."""

    path: str
    read: Callable[[Path], Matrix] = read_table
    first: int | None = None
    last: int | None = None
    n_rows: int | None = None

    def cut(self, table: Matrix) -> Matrix:
        """These columns and rows of the whole file."""
        part = table[: self.n_rows, self.first : self.last]
        return part if sp.issparse(part) else np.ascontiguousarray(part)


# -- the sets -----------------------------------------------------------------------


@dataclass(frozen=True)
class Origin:
    """Where sets come from, what to cite and what is known of their licence."""

    name: str
    citation: str
    licence: str


@dataclass(frozen=True)
class Dataset:
    """Facts about a set, and how to read it.

    ``kind`` is what ``n_targets`` counts: ``"classes"`` of one label, ``"labels"`` of which
    several may apply, or ``"targets"``, numbers to predict.
    """

    name: str
    title: str
    kind: str
    n_samples: int
    n_features: int
    n_targets: int
    origin: Origin
    data: Source
    target: Source
    note: str = ""
    images: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """Name of the function that fetches this set."""
        return "fetch_" + self.name.replace("-", "_")

    @property
    def files(self) -> list[DataFile]:
        """All files of the set."""
        folder = f"{Path(self.data.path).parent.as_posix()}/"
        return [file for path, file in data_files().items() if path.startswith(folder)]

    @property
    def needed(self) -> list[DataFile]:
        """The files that are read."""
        if self.data.read in (read_days, read_train_and_test):
            kind = Path(self.data.path).name.split(".", 1)[1]
            return [file for file in self.files if file.path.endswith(kind)]
        return [data_files()[path] for path in dict.fromkeys((self.data.path, self.target.path))]

    def head(self, folder: Path) -> list[arff.Attribute]:
        """Names of all columns of the file, if it has any."""
        if self.data.read not in (read_arff, read_train_and_test):
            return []
        return arff.read_attributes(folder / self.data.path)

    @property
    def description(self) -> str:
        """All this in words."""
        kind, images = KINDS[self.kind].format(self.n_targets), self.images
        lines = [
            f"{self.n_samples} samples, {self.n_features} features, {kind}.",
            self.note,
            f"Images of {images[0]} x {images[1]} pixels, row by row." if images else "",
            f"Source: {self.origin.name}.",
            f"Cite: {self.origin.citation}.",
            f"Licence: {self.origin.licence}",
            f"Files: {', '.join(file.path for file in self.files)}.",
        ]
        return "\n".join([f"{self.title} ({self.name})", "", *filter(None, lines)])


def _catalogue() -> dict[str, Dataset]:
    text = files("columnist.datasets").joinpath("sets.json").read_text(encoding="utf-8")
    facts = json.loads(text)
    origins = {name: Origin(*words) for name, words in facts["origins"].items()}
    return {each["name"]: _dataset(each, origins) for each in facts["sets"]}


def _dataset(facts: dict[str, Any], origins: dict[str, Origin]) -> Dataset:
    facts = {key: tuple(fact) if isinstance(fact, list) else fact for key, fact in facts.items()}
    sizes = zip(("n_samples", "n_features", "n_targets"), facts.pop("shape"), strict=True)
    facts["data"] = _source(*facts["data"], images=facts.get("images"))
    facts["target"] = _source(*facts["target"])
    facts["origin"] = origins[facts["origin"]]
    return Dataset(**facts, **dict(sizes))


def _source(path: str, reader: str, cut: str = ":", *, images=None) -> Source:
    read = globals()[f"read_{reader.replace(' ', '_')}"]
    first, last = (int(place) if place else None for place in cut.split(":"))
    return Source(path, partial(read, shape=images) if images else read, first, last)


CATALOGUE: dict[str, Dataset] = _catalogue()


def find_dataset(name: str) -> Dataset:
    """The set of a name; ``-`` and ``_``, capitals and small letters count as the same."""
    plain = {known.replace("-", "_"): known for known in CATALOGUE}
    asked = str(name).lower().replace("-", "_").removeprefix("fetch_")
    if asked in plain:
        return CATALOGUE[plain[asked]]
    close = [plain[match] for match in get_close_matches(asked, plain, n=3)]
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "list_datasets() has all."
    raise ValueError(f"There is no data set {name!r}: {hint}")


@dataclass(frozen=True)
class DatasetInfo:
    """An entry of :func:`list_datasets`."""

    name: str
    """What to call it."""
    title: str
    """What it is."""
    shape: tuple[int, int]
    """Samples and features."""
    kind: str
    """``"classes"``, ``"labels"`` (several may apply) or ``"targets"`` (numbers)."""
    n_targets: int
    """How many of these."""
    source: str
    """Where it comes from."""
    present: bool
    """Whether the files that are read lie in the data home."""
    size: int
    """Bytes of these files, unpacked."""


def list_datasets(data_home: str | os.PathLike | None = None) -> list[DatasetInfo]:
    """List the data sets that can be fetched.

    Parameters
    ----------
    data_home : path or None, default=None
        Folder of the files, see :func:`data_home`.

    Returns
    -------
    list of DatasetInfo

    Examples
    --------
    >>> from columnist.datasets import list_datasets
    >>> next((s.name, s.shape, s.kind) for s in list_datasets() if s.name == "isolet5")
    ('isolet5', (1559, 617), 'classes')
    """
    home = resolve_home(data_home)
    return [
        DatasetInfo(
            name=dataset.name,
            title=dataset.title,
            shape=(dataset.n_samples, dataset.n_features),
            kind=dataset.kind,
            n_targets=dataset.n_targets,
            source=dataset.origin.name,
            present=all((home / file.path).is_file() for file in dataset.needed),
            size=sum(file.bytes for file in dataset.needed),
        )
        for dataset in CATALOGUE.values()
    ]


def describe(name: str) -> str:
    """Describe a data set: its content, source, citation and licence.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    str

    Examples
    --------
    >>> from columnist.datasets import describe
    >>> print(describe("slump"))
    Concrete slump (slump)
    <BLANKLINE>
    103 samples, 7 features, 3 numbers to predict.
    Source: Mulan, multi-target regression sets.
    Cite: E. Spyromitros-Xioufis, ...
    Licence: No licence of the data is known to us: ask before you redistribute them.
    Files: slump/slump.arff.
    """
    return find_dataset(name).description
