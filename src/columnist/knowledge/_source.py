"""What is known besides the data: a source, its kind, and how to use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any

from columnist.data._parameters import Number, StrOptions
from columnist.knowledge._propagation import DAMPING

__all__ = ["KINDS", "Source", "named_sources"]

# Kind -> ways in which a source of this kind can rank features.
KINDS: dict[str, tuple[str, ...]] = {
    "labels": ("classes",),
    "sample_similarity": ("similarity",),
    "auxiliary": ("similarity",),
    "feature_similarity": ("similarity", "propagation"),
    "annotation": ("similarity", "voting"),
    "interaction": ("similarity", "propagation"),
}

_NEED_DATA = ("auxiliary", "annotation", "interaction")


@dataclass(frozen=True, eq=False)
class Source:
    """A source of knowledge about the samples or the features of a data set.

    ==================== ============================================= =======================
    kind                 data                                          without data
    ==================== ============================================= =======================
    "labels"             class of every sample                         y
    "sample_similarity"  samples x samples                             similarity of X's rows
    "auxiliary"          other measurements, samples x anything        --
    "feature_similarity" features x features, not negative             sample covariance of X
    "annotation"         features x terms, or a list of features       --
    "interaction"        features x features, or pairs of features     --
    ==================== ============================================= =======================

    Tables may be arrays, in the order of the samples or features of X, or pandas or polars frames
    with names, which are then matched with those of X. Names that do not match are reported: a
    sample that the source does not know is an error; a feature that it does not know, and
    anything that X does not have, is a warning.

    Parameters
    ----------
    kind : str
        One of those above.
    data : array-like, sparse matrix, frame, mapping or sequence, optional
        What is known. It is kept as it is and must not be modified.
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
        if self.terms is not None and self.kind != "annotation":
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
        shown = {f.name: getattr(self, f.name) for f in fields(self) if f.repr}
        given = {
            f.name: shown[f.name]
            for f in fields(self)
            if f.repr and (f.name == "kind" or shown[f.name] is not f.default)
        }
        return f"Source({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def named_sources(sources, caller: str) -> dict[str, Source]:
    """Sources by name; a kind that occurs repeatedly is numbered."""
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
        named[name] = source
    return named
