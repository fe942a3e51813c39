"""A set of the catalogue from its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from columnist.datasets._catalogue import Dataset
from columnist.datasets._sources import Matrix, Source
from columnist.io._arff import Attribute

__all__ = ["add_frames", "read_set"]

# Lists of names cost more than the data where there are more columns than this.
_MOST_NAMES = 100_000


def read_set(dataset: Dataset, home: Path) -> Bunch:
    """A set from its files."""
    try:
        X, Y = read_parts(home, dataset.data, dataset.target)
        head = dataset.head(home)
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged file makes a reader do
        raise unreadable(dataset, home, f"cannot be read ({error})") from error
    expected = (dataset.n_samples, dataset.n_features)
    if X.shape != expected or Y.shape[0] != dataset.n_samples:
        found = " x ".join(map(str, X.shape))
        raise unreadable(dataset, home, f"holds {found} values, not {expected[0]} x {expected[1]}")
    names = [attribute.name.strip("'") for attribute in head]  # some are quoted twice
    target, target_names = as_target(dataset, Y, head)
    found = Bunch(
        data=X,
        target=target,
        feature_names=feature_names(dataset, names),
        target_names=target_names,
        DESCR=dataset.description,
        filename=str(home / dataset.data.path),
    )
    if dataset.images:
        found.images = X.reshape(-1, *dataset.images)
    return found


def unreadable(dataset: Dataset, home: Path, what: str) -> ValueError:
    """A file that is there is not the one it should be."""
    path = home / dataset.data.path
    return ValueError(f"{path} {what}: remove it, then columnist data fetch {dataset.name}.")


def read_parts(home: Path, *sources: Source) -> list[Matrix]:
    """Matrices from files, each of which is read once."""
    tables = {
        (source.path, source.read): source.read(home / source.path)
        for source in dict.fromkeys(sources)
    }
    return [source.cut(tables[source.path, source.read]) for source in sources]


def feature_names(dataset: Dataset, names: list[str]) -> list[str] | None:
    """The file's names of the features, or made ones if they are not too many."""
    if names:
        return names[dataset.data.first : dataset.data.last]
    if dataset.feature_names:
        return list(dataset.feature_names)
    m = dataset.n_features
    return [f"x{i}" for i in range(m)] if m <= _MOST_NAMES else None


def as_target(dataset: Dataset, Y: Matrix, head: list[Attribute]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of classes, or columns of labels or targets; and their names."""
    Y = Y.toarray() if sp.issparse(Y) else Y
    own = head[dataset.target.first : dataset.target.last]
    if dataset.kind != "classes":
        target = Y.astype(np.int64) if dataset.kind == "labels" else Y
        return target, np.array([attribute.name.strip("'") for attribute in own])
    classes, target = np.unique(Y[:, 0].astype(np.int64), return_inverse=True)
    if dataset.class_names:
        names = [dataset.class_names[c] for c in classes]
    elif own and own[0].text:
        names = [own[0].values[c] for c in classes]
    else:
        names = [str(c) for c in classes]
    return target, np.array(names)


def add_frames(found: Bunch, dataset: Dataset) -> None:
    """Data and target as pandas objects, apart and side by side."""
    if sp.issparse(found.data):
        raise ValueError(f"{dataset.name} is sparse: as_frame would make it dense.")
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("as_frame needs pandas: pip install pandas") from error
    found.data = pd.DataFrame(found.data, columns=found.feature_names)
    if found.target.ndim == 1:
        found.target = pd.Series(found.target, name="target")
    else:
        found.target = pd.DataFrame(found.target, columns=found.target_names)
    found.frame = pd.concat([found.data, found.target], axis=1)
