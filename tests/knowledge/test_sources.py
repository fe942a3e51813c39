"""What a source accepts, and that bad ones are refused when they are made."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from columnist.knowledge._source import Source, named_sources


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("genes",), {}, "kind must be one of 'labels', .*; got 'genes'"),
        (("annotation",), {}, "'annotation' needs data"),
        (("interaction",), {}, "needs data"),
        (("auxiliary",), {}, "needs data"),
        (("labels",), {"rank_by": "voting"}, "rank_by of a source of labels must be"),
        (("labels",), {"known": ["a"]}, "is about samples"),
        (("labels",), {"terms": ["a"]}, "terms belong to an annotation"),
        (("labels",), {"weight": -1.0}, "weight must be"),
        (("interaction", [("a", "b")]), {"damping": 1.0}, "damping must be a number > 0 and < 1"),
        (("interaction", [("a", "b")]), {"rank_by": "propagation"}, "needs known or relevance"),
        (("annotation", ["a"]), {"known": []}, "known is empty"),
        (("annotation", ["a"]), {"known": ["a"], "relevance": [1.0]}, "not both"),
        (("feature_similarity",), {"known": [0]}, "Propagation needs data"),
    ],
)
def test_bad_sources(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Source(*arguments, **options)


@pytest.mark.parametrize(
    ("source", "way"),
    [
        (Source("labels"), "classes"),
        (Source("sample_similarity"), "similarity"),
        (Source("annotation", ["a"]), "similarity"),
        (Source("annotation", ["a"], known=["a"]), "voting"),
        (Source("annotation", ["a"], known=["a"], rank_by="similarity"), "similarity"),
        (Source("interaction", [("a", "b")]), "similarity"),
        (Source("interaction", [("a", "b")], relevance={"a": 1.0}), "propagation"),
        (Source("feature_similarity", np.eye(2), known=[0]), "propagation"),
    ],
)
def test_how_a_source_ranks(source, way):
    assert source.way == way


def test_copies_share_the_data():
    source = Source("sample_similarity", np.eye(3))
    assert copy.deepcopy(source) is source
    assert repr(source) == "Source(kind='sample_similarity')"


def test_names_of_sources():
    twice = [Source("labels"), Source("labels"), Source("sample_similarity", name="mine")]
    assert list(named_sources(twice, "X")) == ["labels", "labels 2", "mine"]
    with pytest.raises(ValueError, match="Two sources have the name 'a'"):
        named_sources([Source("labels", name="a"), Source("labels", name="a")], "X")
    with pytest.raises(ValueError, match="X needs at least one source"):
        named_sources([], "X")
    with pytest.raises(ValueError, match="must hold Source objects; got str"):
        named_sources(["labels"], "X")
