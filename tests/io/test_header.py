"""Names or data in the first line, against files whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.io import DataFileError
from columnist.io._delimited import find_layout

RNG = np.random.default_rng(0)


def rows(n, m):
    return RNG.normal(2.0, 0.5, (n, m)).round(4).tolist()


def has_header(first, below):
    text = "\n".join(",".join(map(str, row)) for row in [first, *below]) + "\n"
    return find_layout(text, True, None, None).header


NAMES = {
    "words": (["a", "b", "c"], rows(5, 3)),
    "even wavelengths": (range(900, 1702, 2), rows(30, 401)),
    "decreasing": (np.linspace(1700, 900, 101).round(2), rows(30, 101)),
    "after a word": (["sample", *np.arange(900, 1000, 2.5)], [["s", *row] for row in rows(30, 40)]),
    "from 0": (range(5), rows(30, 5)),
    "an index": (["", 0, 1, 2, 3], [[i, *row] for i, row in enumerate(rows(30, 4))]),
    "questions": (range(1, 26), RNG.integers(1, 7, (50, 25)).tolist()),
    "quoted": (['"1"', '"2"'], rows(30, 2)),
    "years": ([1999, 2000, 2001], rows(30, 3)),
    "infinite": (["inf", "-inf"], rows(30, 2)),
    "a missing name": (["Mg", "NA", "K"], rows(30, 3)),
    "rising spectra": (np.arange(900.5, 930.5), np.cumsum(RNG.random((30, 30)), axis=1).tolist()),
}
DATA = {
    "normal": rows(31, 20),
    "few columns": rows(31, 3),
    "all increase": np.arange(40).reshape(-1, 4).tolist(),
    "cumulated": np.cumsum(RNG.random((30, 12)), axis=1).round(3).tolist(),
    "small": [[1, 2, 3], [3, 2, 1], [4, 4, 4]],
    "an outlying first row": [[57.25, -31.5, 44.125], *rows(30, 3)],
    "one column": [[3], [1], [2]],
}
DOUBT = {
    "uneven wavelengths": (np.sort(RNG.uniform(0, 4, 20)).round(3), rows(30, 20)),
    "rankings": (range(1, 11), [(RNG.permutation(10) + 1).tolist() for _ in range(40)]),
    "numbers of sensors": ([4021, 3312, 5120], rows(30, 3)),
    "five questions": (range(1, 6), RNG.integers(1, 7, (50, 5)).tolist()),
}


@pytest.mark.parametrize("case", NAMES)
def test_names(case):
    assert has_header(*NAMES[case])


@pytest.mark.parametrize("case", DATA)
def test_data(case):
    first, *below = DATA[case]
    assert not has_header(first, below)


@pytest.mark.parametrize("case", DOUBT)
def test_doubt(case):
    with pytest.raises(DataFileError, match="header=True"):
        has_header(*DOUBT[case])


@pytest.mark.parametrize("n_columns", [2, 3, 4, 8, 30])
def test_rows_of_one_kind_are_data(n_columns):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        first, *below = rng.standard_normal((25, n_columns)).round(4).tolist()
        below_order = np.diff(first)
        if n_columns > 4 or not ((below_order > 0).all() or (below_order < 0).all()):
            assert not has_header(first, below)


def test_names_in_a_comment_are_enough():
    text = "# a b c d e f g h\n" + "\n".join(
        " ".join(map(str, row)) for row in [range(1, 9), *rows(5, 8)]
    )
    layout = find_layout(text + "\n", True, None, None)
    assert layout.names == tuple("abcdefgh") and not layout.header
