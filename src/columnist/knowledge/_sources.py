"""Sources of knowledge besides the data, matched with the samples and features of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from columnist._warn import warn_caller
from columnist.data._parameters import Number, StrOptions
from columnist.data._validation import resolve_columns
from columnist.knowledge._relations import (
    DAMPING,
    feature_graph,
    graph_similarity,
    hierarchy_similarity,
    mahalanobis_similarity,
    propagate,
    term_relevance,
    term_similarity,
    vote,
)
from columnist.spectral._ratios import FisherScore
from columnist.spectral._similarity import fisher_similarity, resolve_similarity
from columnist.spectral._symmetric import SymmetricMatrix, as_symmetric

# Kind -> ways in which a source of this kind can rank features.
KINDS: dict[str, tuple[str, ...]] = {
    "labels": ("classes",),
    "hierarchy": ("similarity",),
    "sample_similarity": ("similarity",),
    "auxiliary": ("similarity",),
    "feature_similarity": ("similarity", "propagation"),
    "annotation": ("similarity", "voting"),
    "annotation_similarity": ("similarity", "propagation"),
    "interaction": ("similarity", "propagation"),
}

_NEED_DATA = ("hierarchy", "auxiliary", "annotation", "annotation_similarity", "interaction")
# Names that a message lists at most.
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Source:
    """A source of knowledge about the samples or the features of a data set.

    ======================= ========================================== =======================
    kind                    data                                       without data
    ======================= ========================================== =======================
    "labels"                class of every sample                      y
    "hierarchy"             samples x levels, from coarse to fine      --
    "sample_similarity"     samples x samples                          similarity of X's rows
    "auxiliary"             other measurements, samples x anything     --
    "feature_similarity"    features x features, not negative          sample covariance of X
    "annotation"            features x terms, or a list of features    --
    "annotation_similarity" the same: features are similar by terms    --
    "interaction"           features x features, or pairs of features  --
    ======================= ========================================== =======================

    Tables may be arrays, in the order of the samples or features of X, or pandas or polars frames
    with names, which are then matched with those of X. Names that do not match are reported: a
    sample that is missing in the source is an error; a missing feature, and names that X does not
    have, cause a warning.

    Parameters
    ----------
    kind : str
        One of those above.
    data : array-like, sparse matrix, frame, mapping or sequence, optional
        The content of the source. It is not copied and must not be modified.
    name : str, optional
        Name in results and messages; the kind if None.
    weight : float, optional
        Weight beside the other sources, 1 if None. Not for an aggregation that learns weights.
    rank_by : {"classes", "similarity", "propagation", "voting"}, optional
        How :class:`KnowledgeSelector` ranks features by this source. By default classes rank by
        the Fisher score, knowledge about features by propagation or voting if ``known`` or
        ``relevance`` is given, and everything else by the similarity of samples.
    known : sequence of feature names or indices, optional
        Features known to be relevant: where propagation starts, or whose terms vote.
    relevance : mapping or array-like, optional
        Instead of ``known``: relevance of the terms (voting) or of the features (propagation).
        What a mapping leaves out has none.
    terms : sequence of names or indices, optional
        Terms of an annotation that matter; all if None.
    similarity : str or callable, default="rbf"
        Similarity of samples by X, the auxiliary data, or the annotated or interacting features:
        as in :class:`~columnist.spectral.SpectralSelector`. For many samples use ``"knn"``, which
        is sparse.
    damping : float, default=0.5
        Damping of the propagation, in (0, 1).
    key : str, optional
        Column of a frame that holds the names. By default the index of a pandas frame, or the
        first column of a frame without one if it is text.

    Examples
    --------
    >>> from columnist.knowledge import Source
    >>> Source("annotation", {"p53": 1, "ras": 1}, name="cancer genes")
    Source(kind='annotation', name='cancer genes')
    """

    kind: str
    data: Any = field(default=None, repr=False)
    _: KW_ONLY
    name: str | None = None
    weight: float | None = None
    rank_by: str | None = None
    known: Sequence | None = field(default=None, repr=False)
    relevance: Any = field(default=None, repr=False)
    terms: Sequence | None = None
    similarity: Any = "rbf"
    damping: float = 0.5
    key: str | None = None

    def __post_init__(self):
        StrOptions(*KINDS).check("kind", self.kind)
        if self.rank_by is not None:
            ways = StrOptions(*KINDS[self.kind])
            ways.check(f"rank_by of a source of {self.kind}", self.rank_by)
        (Number(0.0) | None).check("weight", self.weight)
        DAMPING.check("damping", self.damping)
        self._check_data()

    def _check_data(self) -> None:
        if self.data is None and self.kind in _NEED_DATA:
            raise ValueError(f"A source of kind {self.kind!r} needs data.")
        if self.terms is not None and not self.kind.startswith("annotation"):
            raise ValueError(f"terms belong to an annotation; got kind={self.kind!r}.")
        if self.known is not None and self.relevance is not None:
            raise ValueError("Give known or relevance, not both.")
        if self.known is not None and not len(self.known):
            raise ValueError("known is empty: name features, or leave it out.")
        if self.has_relevance and len(KINDS[self.kind]) == 1:
            raise ValueError(
                "known and relevance belong to knowledge about features; a source of kind "
                f"{self.kind!r} is about samples."
            )
        if self.way in ("propagation", "voting") and not self.has_relevance:
            raise ValueError(f"rank_by={self.rank_by!r} needs known or relevance to start from.")
        if self.way == "propagation" and self.data is None:
            raise ValueError("Propagation needs data: similarities or interactions of features.")

    @property
    def has_relevance(self) -> bool:
        """Whether the source says what is relevant."""
        return self.known is not None or self.relevance is not None

    @property
    def way(self) -> str:
        """How the source ranks features."""
        if self.rank_by is not None:
            return self.rank_by
        return KINDS[self.kind][-1 if self.has_relevance else 0]

    def __deepcopy__(self, memo) -> Source:
        # Immutable; scikit-learn would copy the data with every clone.
        return self

    def __repr__(self) -> str:
        given = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.repr and (f.name == "kind" or getattr(self, f.name) is not f.default)
        }
        return f"Source({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def named_sources(sources, caller: str) -> list[Source]:
    """Sources that all have a name; a kind that occurs repeatedly is numbered."""
    sources = [sources] if isinstance(sources, Source) else list(sources)
    if not sources:
        raise ValueError(f"{caller} needs at least one source.")
    for source in sources:
        if not isinstance(source, Source):
            raise ValueError(f"sources must hold Source objects; got {type(source).__name__}.")
    named: dict[str, Source] = {}
    for source in sources:
        name, count = source.name or source.kind, 1
        if source.name in named:
            raise ValueError(f"Two sources have the name {name!r}: rename one.")
        while name in named:
            count += 1
            name = f"{source.kind} {count}"
        named[name] = replace(source, name=name)
    return list(named.values())


@dataclass(frozen=True)
class Study:
    """Data, classes, and names of samples and features where they have any.

    Every method returns the information of a named source in the order of X.
    """

    X: Any
    y: Any
    samples: list | None
    features: list | None

    def similarity(self, source: Source) -> SymmetricMatrix:
        """Similarity of the samples."""
        X = self.X
        if source.kind == "labels":
            return fisher_similarity(self.labels(source))
        if source.kind == "hierarchy":
            return hierarchy_similarity(self._rows(_read(source), source, "sample"))
        if source.kind == "feature_similarity" and source.data is None:
            return mahalanobis_similarity(X)
        if source.kind.endswith("_similarity") and source.kind != "sample_similarity":
            return graph_similarity(X, self.features_square(source))
        if source.kind == "sample_similarity":
            if source.data is not None:
                return self.samples_square(source)
        elif source.kind == "auxiliary":
            X = _numbers(self._rows(_read(source), source, "sample"), source)
        else:
            X = self._related(source)
        return resolve_similarity(source.similarity, X, self.y)

    def scores(
        self, source: Source, by_similarity: Callable[[SymmetricMatrix], np.ndarray]
    ) -> np.ndarray:
        """Relevance of the features, larger is better; by a similarity of samples if need be."""
        if source.way == "classes":
            return FisherScore(1).fit(self.X, self.labels(source)).scores_
        if source.way == "propagation":
            graph = self.features_square(source)
            return propagate(self.relevance(source), graph, damping=source.damping)
        if source.way == "voting":
            members, terms = self.membership(source)
            return vote(members, self._relevance_of_terms(source, members, terms))
        return by_similarity(self.similarity(source))

    def labels(self, source: Source):
        """Classes of the samples."""
        if source.data is None:
            if self.y is None:
                raise ValueError(
                    f"Source {source.name!r} takes the labels from y: it requires y to be passed, "
                    "but the target y is None."
                )
            return self.y
        labels = self._rows(_read(source), source, "sample")
        if labels.shape[1] != 1:
            raise ValueError(
                f"Source {source.name!r} must hold one label per sample; got {labels.shape[1]}."
            )
        return labels.ravel()

    def samples_square(self, source: Source) -> SymmetricMatrix:
        """Similarities of the samples."""
        table = _read(source)
        given = isinstance(table.values, SymmetricMatrix)
        values = table.values if given else self._square(table, source, "sample")
        return as_symmetric(values, n_samples=self.X.shape[0], name=f"source {source.name!r}")

    def features_square(self, source: Source) -> np.ndarray | sp.csr_matrix:
        """Similarities or interactions of the features, not negative."""
        if source.kind == "annotation_similarity":
            S = term_similarity(self.membership(source)[0])
        elif source.kind == "interaction" and _is_pairs(source.data):
            S = self._pairs(source)
        else:
            S = self._square(_read(source), source, "feature")
        return feature_graph(S, name=f"source {source.name!r}")

    def membership(self, source: Source):
        """Which features have which terms, and the names of the terms."""
        if _is_list(source.data):
            return self._marked(source.data, f"source {source.name!r}")[:, None], None
        table = _read(source)
        values = _numbers(self._rows(table, source, "feature"), source)
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

    def relevance(self, source: Source) -> np.ndarray:
        """Relevance of the features where propagation starts."""
        if source.known is not None:
            return self._marked(source.known, "known")
        table = read_table(source.relevance)
        if table.rows is not None:
            return self._marked(table.rows, f"relevance of source {source.name!r}", table.values)
        return _numbers(np.asarray(self._rows(table, source, "feature")), source).ravel()

    def _relevance_of_terms(self, source: Source, members, terms: list | None) -> np.ndarray:
        if source.known is not None:
            return term_relevance(members, self.places(source.known, "known"))
        table = read_table(source.relevance)
        if table.rows is None:
            return table.values
        place = {term: i for i, term in enumerate(terms or [])}
        unknown = [term for term in table.rows if term not in place]
        if unknown:
            raise ValueError(
                f"relevance names terms that source {source.name!r} does not have: {unknown[:5]}."
            )
        relevance = np.zeros(members.shape[1])
        relevance[[place[term] for term in table.rows]] = table.values
        return relevance

    def _related(self, source: Source):
        """Columns of X that the source relates to anything."""
        annotated = source.kind == "annotation"
        members = self.membership(source)[0] if annotated else self.features_square(source)
        related = np.flatnonzero(np.asarray((members != 0.0).sum(axis=1)).ravel())
        if not len(related):
            raise ValueError(f"Source {source.name!r} relates to no feature of X.")
        X = self.X[:, related]
        return X.tocsr() if sp.issparse(X) else X

    def _marked(self, features, what: str, values=1.0) -> np.ndarray:
        """Values of some features, zero for all others."""
        marked = np.zeros(self.X.shape[1])
        marked[self.places(features, what)] = values
        return marked

    def _rows(self, table: Table, source: Source, what: str):
        """Rows in the order of X, a vector as a column; zeros for unknown features."""
        values = table.values[:, None] if table.values.ndim == 1 else table.values
        at = self._places_of(table, source, what)
        return values if at is None else _taken(values, at)

    def _square(self, table: Table, source: Source, what: str):
        """A square table with rows and columns in the order of X."""
        values = table.values
        if values.ndim != 2 or values.shape[0] != values.shape[1]:
            raise ValueError(
                f"Source {source.name!r} must be a square table of {what}s; got shape "
                f"{values.shape}."
            )
        values = _numbers(values, source)
        if table.rows is None:
            table = replace(table, rows=table.columns)
        elif table.columns is not None:
            values = values[:, _same_order(table, source)]
        at = self._places_of(table, source, what)
        return values if at is None else _taken(_taken(values, at).T, at).T

    def _places_of(self, table: Table, source: Source, what: str) -> np.ndarray | None:
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
                f"Source {source.name!r} has {table.values.shape[0]} {what}s, but X has {count}."
            )
        return None

    def _pairs(self, source: Source) -> sp.csr_matrix:
        """A symmetric matrix of the weights of pairs of features."""
        first, second, weights = _read_pairs(source)
        ends = list(dict.fromkeys([*first, *second]))
        if _are_numbers(ends):
            index = {end: self.places([end], f"source {source.name!r}")[0] for end in ends}
        else:
            # Features without interactions are no mismatch.
            joined = set(ends)
            inside = [f for f in self.features or [] if f in joined]
            match(ends, inside or self.features, what="feature", source=source, strict=False)
            index = {f: i for i, f in enumerate(self.features or [])}
        kept = [k for k in range(len(first)) if first[k] in index and second[k] in index]
        rows, columns = ([index[side[k]] for k in kept] for side in (first, second))
        shape = (self.X.shape[1], self.X.shape[1])
        half = sp.csr_matrix((weights[kept], (rows, columns)), shape=shape)
        return half.maximum(half.T).tocsr()


@dataclass(frozen=True)
class Table:
    """Values with the names of their rows and columns, None where there are none.

    ``numbered`` says that a frame numbers its rows, which are names if those of X are numbers.
    """

    values: Any
    rows: list | None = None
    columns: list | None = None
    numbered: bool = False


def _read(source: Source) -> Table:
    return read_table(source.data, source.key)


def read_table(data, key: str | None = None) -> Table:
    """Names and values of an array, a sparse matrix, a mapping, or a pandas or polars frame."""
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


def match(found: Sequence, wanted: Sequence | None, *, what: str, source: Source, strict: bool):
    """Place among the names of a source of every name in X, -1 where it is missing.

    A missing name is an error if strict, else a warning.
    """
    name = f"Source {source.name!r}"
    if wanted is None:
        raise ValueError(
            f"{name} names its {what}s, but X does not: pass X as a "
            f"{'pandas frame with an index' if what == 'sample' else 'frame'}, or the source as "
            "an array in the order of X."
        )
    place = {label: i for i, label in enumerate(found)}
    if len(place) < len(found):
        repeated = [label for label, i in place.items() if found[i] in found[:i]]
        raise ValueError(f"{name} has {what}s more than once: {_listed(repeated)}.")
    known = set(wanted)
    missing = [label for label in wanted if label not in place]
    extra = [label for label in found if label not in known]
    if len(missing) == len(wanted):
        raise ValueError(
            f"{name} and X have no {what} in common: the source has {_listed(extra)}, "
            f"X has {_listed(missing)}."
        )
    if missing and strict:
        raise ValueError(
            f"{name} lacks {len(missing)} {what}s of X: {_listed(missing)}. Add them, or remove "
            "them from X."
        )
    if missing:
        _warn(f"{name} has no data for {len(missing)} {what}s of X", missing)
    if extra:
        _warn(f"{name} has {len(extra)} {what}s that X lacks and that are left out", extra)
    return np.array([place.get(label, -1) for label in wanted], dtype=np.intp)


def _warn(text: str, names: Sequence) -> None:
    warn_caller(f"{text}: {_listed(names)}.")


def _listed(names: Sequence) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + more


def _numbers(values, source: Source):
    try:
        return check_array(values, accept_sparse="csr", dtype=np.float64, input_name="source")
    except (ValueError, TypeError) as error:
        raise ValueError(f"Source {source.name!r} must hold finite numbers: {error}") from None


def _taken(values, at: np.ndarray):
    """Rows by place, zeros where the place is -1."""
    if (at >= 0).all():
        return values[at]
    if sp.issparse(values):
        keep = sp.diags_array((at >= 0).astype(np.float64), format="csr")
        return sp.csr_matrix(keep @ values.tocsr()[np.maximum(at, 0)])
    return np.where(at[:, None] >= 0, values[np.maximum(at, 0)], 0)


def _same_order(table: Table, source: Source) -> list[int]:
    """Column of every row's name."""
    rows, columns = table.rows or [], table.columns or []
    odd = sorted(map(str, set(rows) ^ set(columns)))
    if odd:
        raise ValueError(
            f"Rows and columns of source {source.name!r} have different names, among them "
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


def _is_pairs(data) -> bool:
    """Whether interactions are listed one by one."""
    if isinstance(data, (list, tuple, set, frozenset)):
        return True
    if hasattr(data, "columns") and hasattr(data, "shape") and data.shape[1] in (2, 3):
        return all(isinstance(data[c].to_numpy()[0], str) for c in list(data.columns)[:2])
    return False


def _read_pairs(source: Source) -> tuple[list, list, np.ndarray]:
    data, name = source.data, f"Source {source.name!r}"
    if hasattr(data, "columns"):
        columns = [data[c].to_numpy().tolist() for c in data.columns]
    else:
        lengths = {len(pair) for pair in data}
        if not lengths or not lengths <= {2, 3} or len(lengths) > 1:
            raise ValueError(
                f"{name} must list pairs of features, or pairs with a weight; got "
                f"entries of length {sorted(lengths) or 'none'}."
            )
        columns = [list(column) for column in zip(*data, strict=True)]
    weights = np.ones(len(columns[0])) if len(columns) < 3 else np.asarray(columns[2], float)
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(f"{name} has weights of pairs that are negative or not finite.")
    return columns[0], columns[1], weights
