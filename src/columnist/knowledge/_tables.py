"""Tables with or without names, and how they are matched with the rows and columns of X."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["Table", "match", "read_table", "row_names"]

# Names that a message lists at most.
_SHOWN = 5


@dataclass(frozen=True)
class Table:
    """Values with the names of their rows and columns, None where there are none.

    ``numbered`` says that a frame numbers its rows, which are names if those of X are numbers.
    """

    values: Any
    rows: list | None = None
    columns: list | None = None
    numbered: bool = False


def read_table(data, key: str | None = None) -> Table:
    """Names and values of an array, a sparse matrix, a mapping, or a pandas or polars frame.

    Examples
    --------
    >>> from columnist.knowledge._tables import read_table
    >>> read_table({"p53": 1.0, "ras": 2.0})
    Table(values=array([1., 2.]), rows=['p53', 'ras'], columns=None, numbered=False)
    """
    if isinstance(data, Mapping):
        return Table(np.asarray(list(data.values())), list(data))
    if hasattr(data, "iloc"):
        return _from_pandas(data, key)
    if hasattr(data, "get_column_index"):
        return _from_polars(data, key)
    if key is not None:
        raise ValueError(f"key={key!r} names a column, but the data are no frame.")
    return Table(data if sp.issparse(data) or hasattr(data, "n") else np.asarray(data))


def _from_pandas(data, key: str | None) -> Table:
    if data.ndim == 1:
        names = _labels(data.index)
        return Table(data.to_numpy(), names, numbered=names is None)
    if key is None and _labels(data.index) is None and data.shape[1] > 1:
        key = data.columns[0] if _is_text(data[data.columns[0]]) else None
    if key is not None:
        _check_key(key, data.columns)
        data = data.set_index(key)
    names = _labels(data.index)
    return Table(data.to_numpy(), names, _labels(data.columns), numbered=names is None)


def _from_polars(data, key: str | None) -> Table:
    if key is None and _is_text(data[:, 0]) and data.shape[1] > 1:
        key = data.columns[0]
    if key is None:
        return Table(data.to_numpy(), None, list(data.columns))
    _check_key(key, data.columns)
    rest = data.drop(key)
    return Table(rest.to_numpy(), data[key].to_list(), list(rest.columns))


def _check_key(key: str, columns) -> None:
    if key not in list(columns):
        raise ValueError(f"The frame has no column {key!r}: key must name the one with names.")


def _is_text(column) -> bool:
    return len(column) > 0 and isinstance(column.to_numpy()[0], str)


def _labels(index) -> list | None:
    """Labels of a pandas index; None for the numbers that a frame without names has."""
    labels = index.tolist()
    return None if labels == list(range(len(labels))) else labels


def row_names(X) -> list | None:
    """Names of the rows of a pandas frame."""
    return X.index.tolist() if hasattr(X, "iloc") and hasattr(X, "index") else None


def match(found: Sequence, wanted: Sequence | None, *, what: str, source: str, strict: bool):
    """Place in ``found`` of every wanted name, -1 where it is missing.

    Parameters
    ----------
    found : sequence
        Names in a source.
    wanted : sequence or None
        Names in X; None if it has none.
    what : {"sample", "feature"}
        What is named.
    source : str
        Name of the source, for messages.
    strict : bool
        Whether a missing name is an error; a warning if not.

    Returns
    -------
    ndarray of int

    Examples
    --------
    >>> from columnist.knowledge._tables import match
    >>> match(["b", "a"], ["a", "b"], what="feature", source="GO", strict=True)
    array([1, 0])
    """
    if wanted is None:
        raise ValueError(
            f"Source {source!r} names its {what}s, but X does not: pass X as a "
            f"{'pandas frame with an index' if what == 'sample' else 'frame'}, or the source as "
            "an array in the order of X."
        )
    place = {name: i for i, name in enumerate(found)}
    if len(place) < len(found):
        repeated = [name for name, i in place.items() if found[i] in found[:i]]
        raise ValueError(f"Source {source!r} has {what}s more than once: {_listed(repeated)}.")
    known = set(wanted)
    missing = [name for name in wanted if name not in place]
    extra = [name for name in found if name not in known]
    if len(missing) == len(wanted):
        raise ValueError(
            f"Source {source!r} and X have no {what} in common: the source has {_listed(extra)}, "
            f"X has {_listed(missing)}."
        )
    if missing and strict:
        raise ValueError(
            f"Source {source!r} lacks {len(missing)} {what}s of X: {_listed(missing)}. Add them, "
            "or remove them from X."
        )
    if missing:
        _warn(f"Source {source!r} knows nothing of {len(missing)} {what}s of X", missing)
    if extra:
        _warn(
            f"Source {source!r} has {len(extra)} {what}s that X lacks and that are left out", extra
        )
    return np.array([place.get(name, -1) for name in wanted], dtype=np.intp)


def _warn(text: str, names: Sequence) -> None:
    warnings.warn(f"{text}: {_listed(names)}.", UserWarning, stacklevel=2)


def _listed(names: Sequence) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + more
