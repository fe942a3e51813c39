"""ARFF files: names, codes and values."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import arff as scipy_arff

from columnist.io._arff import Attribute, attribute_of, read_attributes
from columnist.io._arff import read_arff as read_arff_and_names

DENSE = """% a comment
@relation 'toy set'
@ATTRIBUTE width real
@attribute "long name" numeric
@attribute colour {red, 'green', blue}
@attribute grade {1, 2, 3}

@DATA
1.5, -2, green, 3
?, 4e1, red, 1
"""


def read_arff(path):
    """The matrix without the names."""
    return read_arff_and_names(path)[0]


@pytest.fixture
def dense(tmp_path):
    path = tmp_path / "toy.arff"
    path.write_text(DENSE)
    return path


def test_values(dense):
    np.testing.assert_array_equal(
        read_arff(dense), [[1.5, -2.0, 1.0, 3.0], [np.nan, 40.0, 0.0, 1.0]]
    )


def test_names(dense):
    assert read_attributes(dense) == [
        Attribute("width", (), False),
        Attribute("long name", (), False),
        Attribute("colour", ("red", "green", "blue"), True),
        Attribute("grade", ("1", "2", "3"), False),
    ]


def test_numbers_among_listed_values_stand_for_themselves():
    assert not attribute_of("@attribute a {0, 1}", 1).text
    assert not attribute_of("@attribute a {-1.5, 2}", 1).text
    assert attribute_of("@attribute a {no, yes}", 1).text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("plain numeric", "plain"),
        ("tabs\tREAL", "tabs"),
        ("'with blanks' numeric", "with blanks"),
        ("\"'twice'\" NUMERIC", "'twice'"),
        ("close{0,1}", "close"),
        ("close{0, 1}", "close"),
    ],
)
def test_name_of_an_attribute(text, name):
    assert attribute_of(f"@attribute {text}", 1).name == name


def test_gzipped_is_the_same(dense, tmp_path):
    packed = tmp_path / "toy.arff.gz"
    packed.write_bytes(gzip.compress(DENSE.encode()))
    np.testing.assert_array_equal(read_arff(packed), read_arff(dense))


def test_sparse_rows(tmp_path):
    path = tmp_path / "sparse.arff"
    path.write_text(
        "@relation r\n@attribute a numeric\n@attribute b {no, yes}\n@attribute c numeric\n"
        "@data\n{0 2.5, 1 yes}\n{}\n{2 -1}\n"
    )
    X = read_arff(path)
    assert sp.issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[2.5, 1.0, 0.0], [0.0] * 3, [0.0, 0.0, -1.0]])


def test_scipy_reads_the_same_numbers(tmp_path):
    rows = np.random.default_rng(0).standard_normal((20, 3))
    path = tmp_path / "numbers.arff"
    head = "@relation r\n" + "".join(f"@attribute x{i} numeric\n" for i in range(3)) + "@data\n"
    path.write_text(head + "\n".join(",".join(map(repr, row)) for row in rows.tolist()))
    data, meta = scipy_arff.loadarff(path)
    np.testing.assert_array_equal(read_arff(path), np.array(data.tolist()))
    assert [attribute.name for attribute in read_attributes(path)] == meta.names()
