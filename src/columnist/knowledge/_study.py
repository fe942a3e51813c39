"""The data that sources speak of, and sources read in its terms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist.data._validation import resolve_columns
from columnist.knowledge._graphs import feature_graph
from columnist.knowledge._source import Source
from columnist.knowledge._tables import Table, match, read_table
from columnist.spectral._symmetric import SymmetricMatrix, as_symmetric

__all__ = ["Study"]


@dataclass(frozen=True)
class Study:
    """Data, classes, and names of samples and features where they have any.

    Every method returns what a source says, in the order of the rows or columns of X.
    """

    X: Any
    y: Any
    samples: list | None
    features: list | None

    def labels(self, source: Source, name: str):
        """Classes of the samples."""
        if source.data is None:
            if self.y is None:
                raise ValueError(
                    f"Source {name!r} takes the labels from y: it requires y to be passed, but "
                    "the target y is None."
                )
            return self.y
        table = read_table(source.data, source.key)
        labels = self._rows(table, table.values, name, "sample")
        if labels.ndim == 2 and labels.shape[1] != 1:
            raise ValueError(
                f"Source {name!r} must hold one label per sample; got {labels.shape[1]}."
            )
        return labels.ravel()

    def samples_table(self, source: Source, name: str):
        """Numbers about the samples, one row each."""
        table = read_table(source.data, source.key)
        values = self._rows(table, table.values, name, "sample")
        return _numbers(values[:, None] if values.ndim == 1 else values, name)

    def samples_square(self, source: Source, name: str) -> SymmetricMatrix:
        """Similarities of the samples."""
        table = read_table(source.data, source.key)
        if isinstance(table.values, SymmetricMatrix):
            return as_symmetric(table.values, n_samples=self.X.shape[0])
        values = self._square(table, name, "sample")
        return as_symmetric(values, n_samples=self.X.shape[0], name=f"source {name!r}")

    def features_square(self, source: Source, name: str) -> np.ndarray | sp.csr_matrix:
        """Similarities or interactions of the features, not negative."""
        if source.kind == "interaction" and _is_pairs(source):
            S = self._pairs(source, name)
        else:
            S = self._square(read_table(source.data, source.key), name, "feature")
        return feature_graph(S, name=f"source {name!r}")

    def membership(self, source: Source, name: str):
        """Which features have which terms, and the names of the terms."""
        n_features = self.X.shape[1]
        if _is_list(source.data):
            members = np.zeros((n_features, 1))
            members[self.places(source.data, f"source {name!r}")] = 1.0
            return members, None
        table = read_table(source.data, source.key)
        values = table.values[:, None] if table.values.ndim == 1 else table.values
        values = _numbers(self._rows(table, values, name, "feature"), name)
        if source.terms is None:
            return values, table.columns
        names = None if table.columns is None else np.asarray(table.columns, dtype=object)
        kept = resolve_columns("terms", source.terms, values.shape[1], names)
        return values[:, kept], None if names is None else list(names[kept])

    def places(self, features, what: str) -> list[int]:
        """Indices of features given by name or index."""
        names = None if self.features is None else np.asarray(self.features, dtype=object)
        features = list(features) if isinstance(features, (set, frozenset)) else features
        return resolve_columns(what, features, self.X.shape[1], names)

    def relevance(self, source: Source, name: str) -> np.ndarray:
        """Relevance of the features where propagation starts."""
        if source.known is not None:
            start = np.zeros(self.X.shape[1])
            start[self.places(source.known, "known")] = 1.0
            return start
        table = read_table(source.relevance)
        if table.rows is not None:
            start = np.zeros(self.X.shape[1])
            start[self.places(table.rows, f"relevance of source {name!r}")] = table.values
            return start
        values = np.asarray(table.values).ravel()
        return _numbers(self._rows(table, values[:, None], name, "feature"), name)[:, 0]

    def _rows(self, table: Table, values, source: str, what: str):
        """Rows in the order of X; zeros for features that the source does not know."""
        at = self._places_of(table, source, what)
        return values if at is None else _taken(values, at)

    def _square(self, table: Table, source: str, what: str):
        """A square table with rows and columns in the order of X."""
        values = table.values
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(
                f"Source {source!r} must be a square table of {what}s; got shape {values.shape}."
            )
        values = _numbers(values, source)
        if table.rows is None:
            table = replace(table, rows=table.columns)
        elif table.columns is not None:
            values = values[:, _same_order(table, source)]
        at = self._places_of(table, source, what)
        return values if at is None else _taken(_taken(values, at).T, at).T

    def _places_of(self, table: Table, source: str, what: str) -> np.ndarray | None:
        """Row of the table for every sample or feature of X; None if they are in order."""
        about_samples = what == "sample"
        wanted = self.samples if about_samples else self.features
        count = self.X.shape[0 if about_samples else 1]
        names = table.rows
        if table.numbered and wanted is not None and _are_numbers(wanted):
            names = list(range(table.values.shape[0]))
        if names is not None:
            return match(names, wanted, what=what, source=source, strict=about_samples)
        if table.values.shape[0] != count:
            raise ValueError(
                f"Source {source!r} has {table.values.shape[0]} {what}s, but X has {count}."
            )
        return None

    def _pairs(self, source: Source, name: str) -> sp.csr_matrix:
        """A symmetric matrix of the weights of pairs of features."""
        first, second, weights = _read_pairs(source, name)
        ends = list(dict.fromkeys([*first, *second]))
        if _are_numbers(ends):
            index = {end: self.places([end], f"source {name!r}")[0] for end in ends}
        else:
            # Features without interactions are no mismatch.
            joined = set(ends)
            inside = [f for f in self.features or [] if f in joined]
            match(ends, inside or self.features, what="feature", source=name, strict=False)
            index = {f: i for i, f in enumerate(self.features or [])}
        kept = [k for k in range(len(first)) if first[k] in index and second[k] in index]
        rows, columns = ([index[side[k]] for k in kept] for side in (first, second))
        shape = (self.X.shape[1], self.X.shape[1])
        half = sp.csr_matrix((weights[kept], (rows, columns)), shape=shape)
        return half.maximum(half.T).tocsr()


def _numbers(values, name: str):
    try:
        return check_array(values, accept_sparse="csr", dtype=np.float64, input_name="source")
    except (ValueError, TypeError) as error:
        raise ValueError(f"Source {name!r} must hold finite numbers: {error}") from None


def _taken(values, at: np.ndarray):
    """Rows by place, zeros where the place is -1."""
    if (at >= 0).all():
        return values[at]
    if sp.issparse(values):
        keep = sp.diags_array((at >= 0).astype(np.float64), format="csr")
        return sp.csr_matrix(keep @ values.tocsr()[np.maximum(at, 0)])
    return np.where(at[:, None] >= 0, values[np.maximum(at, 0)], 0)


def _same_order(table: Table, source: str) -> list[int]:
    """Column of every row's name."""
    rows, columns = table.rows or [], table.columns or []
    odd = sorted(map(str, set(rows) ^ set(columns)))
    if odd:
        raise ValueError(
            f"Rows and columns of source {source!r} have different names, among them "
            f"{', '.join(odd[:5])}."
        )
    order = {column: i for i, column in enumerate(columns)}
    return [order[row] for row in rows]


def _are_numbers(names: Iterable) -> bool:
    return all(isinstance(name, (int, np.integer)) for name in names)


def _is_list(data) -> bool:
    """Whether an annotation is a plain list of features."""
    if isinstance(data, (list, tuple, set, frozenset)):
        return all(np.ndim(f) == 0 for f in data)
    if isinstance(data, str):
        return True
    values = np.asarray(data) if hasattr(data, "__array__") else None
    return values is not None and values.ndim == 1 and all(isinstance(f, str) for f in values)


def _is_pairs(source: Source) -> bool:
    """Whether interactions are listed one by one."""
    data = source.data
    if isinstance(data, (list, tuple, set, frozenset)):
        return True
    if hasattr(data, "columns") and hasattr(data, "shape") and data.shape[1] in (2, 3):
        return all(isinstance(data[c].to_numpy()[0], str) for c in list(data.columns)[:2])
    return False


def _read_pairs(source: Source, name: str) -> tuple[list, list, np.ndarray]:
    data = source.data
    if hasattr(data, "columns"):
        columns = [data[c].to_numpy().tolist() for c in data.columns]
    else:
        lengths = {len(pair) for pair in data}
        if not lengths or not lengths <= {2, 3} or len(lengths) > 1:
            raise ValueError(
                f"Source {name!r} must list pairs of features, or pairs with a weight; got "
                f"entries of length {sorted(lengths) or 'none'}."
            )
        columns = [list(column) for column in zip(*data, strict=True)]
    weights = np.ones(len(columns[0])) if len(columns) < 3 else np.asarray(columns[2], float)
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(f"Source {name!r} has weights of pairs that are negative or not finite.")
    return columns[0], columns[1], weights
