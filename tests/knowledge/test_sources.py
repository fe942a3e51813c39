"""What a source accepts, and that sources in every form say the same, in the order of X."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from columnist.knowledge._sources import Source, Study, named_sources


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
    named = [source.name for source in named_sources(twice, "X")]
    assert named == ["labels", "labels 2", "mine"]
    with pytest.raises(ValueError, match="Two sources have the name 'a'"):
        named_sources([Source("labels", name="a"), Source("labels", name="a")], "X")
    with pytest.raises(ValueError, match="X needs at least one source"):
        named_sources([], "X")
    with pytest.raises(ValueError, match="must hold Source objects; got str"):
        named_sources(["labels"], "X")


FEATURES = ["a", "b", "c", "d"]
SAMPLES = ["s1", "s2", "s3"]
S = np.array([[1.0, 0.5, 0.0, 0.1], [0.5, 1, 0, 0], [0, 0, 1, 0.7], [0.1, 0, 0.7, 1]])


@pytest.fixture
def study():
    X = np.arange(12.0).reshape(3, 4)
    return Study(X, None, SAMPLES, FEATURES)


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[[2, 0, 3, 1], [1, 3, 0, 2]]


def frames() -> list:
    """The same similarities, four times."""
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame(S, FEATURES, FEATURES)
    moved = shuffled(frame)
    with_key = moved.reset_index(names="gene")
    return [
        (S, None),
        (sp.csr_array(S), None),
        (moved, None),
        (with_key, None),
        (with_key, "gene"),
        (pl.DataFrame(with_key.to_dict("list")), None),
        (pl.DataFrame(frame.to_dict("list")), None),
    ]


@pytest.mark.parametrize("number", range(7))
def test_square_tables_in_every_form(study, number):
    data, key = frames()[number]
    found = study.features_square(Source("feature_similarity", data, key=key))
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, S)


def test_unknown_and_missing_features_are_named(study):
    names = ["a", "b", "c", "z"]
    source = Source("feature_similarity", pd.DataFrame(S, names, names), name="GO")
    with pytest.warns(UserWarning) as caught:
        found = study.features_square(source)
    said = " ".join(str(w.message) for w in caught)
    assert "'GO' has no data for 1 features of X: 'd'" in said
    assert "'GO' has 1 features that X lacks and that are left out: 'z'" in said
    np.testing.assert_array_equal(found[:3, :3], S[:3, :3])
    np.testing.assert_array_equal(found[3], 0.0)


def test_missing_samples_are_an_error(study):
    frame = pd.DataFrame(np.eye(3), ["s1", "s2", "s9"], ["s1", "s2", "s9"])
    with pytest.raises(ValueError, match="lacks 1 samples of X: 's3'"):
        study.samples_square(Source("sample_similarity", frame))


def test_more_samples_than_needed_are_reported(study):
    names = ["s4", "s3", "s2", "s1"]
    labels = pd.Series(["w", "x", "y", "z"], names)
    with pytest.warns(UserWarning, match="1 samples that X lacks and that are left out: 's4'"):
        found = study.labels(Source("labels", labels))
    assert found.tolist() == ["z", "y", "x"]


def test_no_name_in_common(study):
    frame = pd.DataFrame(np.eye(4), list("wxyz"), list("wxyz"))
    with pytest.raises(ValueError, match=r"no feature in common.*'w'.*'a'"):
        study.features_square(Source("feature_similarity", frame))


def test_names_where_x_has_none():
    study = Study(np.ones((3, 4)), None, None, None)
    frame = pd.DataFrame(S, FEATURES, FEATURES)
    with pytest.raises(ValueError, match="names its features, but X does not"):
        study.features_square(Source("feature_similarity", frame))
    plain = Source("feature_similarity", pd.DataFrame(S))
    np.testing.assert_array_equal(study.features_square(plain), S)


def test_labels_in_every_form(study):
    pl = pytest.importorskip("polars")
    forms = [
        ["u", "v", "u"],
        np.array(["u", "v", "u"]),
        {"s2": "v", "s1": "u", "s3": "u"},
        pd.Series(["u", "u", "v"], ["s3", "s1", "s2"]),
        pd.DataFrame({"class": ["u", "u", "v"]}, ["s3", "s1", "s2"]),
        pl.DataFrame({"sample": ["s3", "s1", "s2"], "class": ["u", "u", "v"]}),
    ]
    for data in forms:
        assert study.labels(Source("labels", data)).tolist() == ["u", "v", "u"]


def test_numbered_samples_are_matched_by_number():
    labels = pd.Series(["p", "q", "r", "s"])
    study = Study(np.ones((2, 2)), None, [3, 1], None)
    with pytest.warns(UserWarning, match="left out: 0, 2"):
        found = study.labels(Source("labels", labels))
    assert found.tolist() == ["s", "q"]


def test_annotations_in_every_form(study):
    V = np.array([[1.0, 0], [0, 0], [1, 1], [0, 1]])
    frame = pd.DataFrame(V, FEATURES, ["t", "u"])
    for data in (V, sp.csr_array(V), frame, frame.iloc[::-1]):
        members, _ = study.membership(Source("annotation", data))
        np.testing.assert_array_equal(members.toarray() if sp.issparse(members) else members, V)
    members, terms = study.membership(Source("annotation", frame, terms=["u"]))
    np.testing.assert_array_equal(members, V[:, [1]])
    assert terms == ["u"]
    lists = [["a", "c"], {"c", "a"}, [0, 2], np.array(["a", "c"]), pd.Series(["c", "a"])]
    for data in (*lists, {"a": 1, "b": 0, "c": 1, "d": 0}):
        members, _ = study.membership(Source("annotation", data))
        np.testing.assert_array_equal(members[:, 0], V[:, 0])


def test_interactions_in_every_form(study):
    pl = pytest.importorskip("polars")
    expected = np.zeros((4, 4))
    expected[[0, 1, 1, 3], [1, 0, 3, 1]] = [1, 1, 1, 1]
    pairs = [("a", "b"), ("d", "b")]
    table = {"from": ["a", "d"], "to": ["b", "b"]}
    square = pd.DataFrame(expected, FEATURES, FEATURES)
    for data in (pairs, [(0, 1), (3, 1)], pd.DataFrame(table), pl.DataFrame(table), square):
        found = study.features_square(Source("interaction", data))
        found = found.toarray() if sp.issparse(found) else found
        np.testing.assert_array_equal(found, expected)
    weighted = study.features_square(Source("interaction", [("a", "b", 3.0)]))
    assert weighted[0, 1] == weighted[1, 0] == 3.0


def test_interactions_with_strangers_are_reported(study):
    with pytest.warns(UserWarning, match="1 features that X lacks and that are left out: 'z'"):
        found = study.features_square(Source("interaction", [("a", "z"), ("a", "b")]))
    assert found.sum() == 2.0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Source("feature_similarity", S[:3, :3]), "has 3 features, but X has 4"),
        (Source("feature_similarity", S[:3]), "must be a square table"),
        (Source("feature_similarity", -S), "negative entries"),
        (Source("feature_similarity", S * np.nan), "finite numbers"),
        (Source("feature_similarity", np.triu(S)), "must be symmetric"),
        (Source("feature_similarity", pd.DataFrame(S, FEATURES, list("abcx"))), "different names"),
        (Source("feature_similarity", pd.DataFrame(S, list("abba"))), "more than once: 'a', 'b'"),
        (Source("feature_similarity", pd.DataFrame(S), key="gene"), "no column 'gene'"),
        (Source("feature_similarity", S, key="gene"), "no frame"),
        (Source("interaction", [("a", "b", 1, 2)]), "pairs of features"),
        (Source("interaction", []), "pairs of features"),
        (Source("interaction", [("a", "b", -1.0)]), "negative or not finite"),
        (Source("interaction", [("y", "z")]), "no feature in common"),
    ],
)
def test_bad_tables(study, source, message):
    with pytest.raises(ValueError, match=message):
        study.features_square(source)


def test_bad_lists(study):
    with pytest.raises(ValueError, match="'zz', which X does not have"):
        study.membership(Source("annotation", ["a", "zz"]))
    with pytest.raises(ValueError, match="terms names the column 'v'"):
        frame = pd.DataFrame(np.ones((4, 1)), FEATURES, ["t"])
        study.membership(Source("annotation", frame, terms=["v"]))
    assert study.membership(Source("annotation", "b"))[0].ravel().tolist() == [0, 1, 0, 0]
    with pytest.raises(ValueError, match="one label per sample"):
        study.labels(Source("labels", np.ones((3, 2))))
    with pytest.raises(ValueError, match="requires y to be passed"):
        study.labels(Source("labels"))
