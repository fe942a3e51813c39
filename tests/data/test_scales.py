"""The warning about columns of very different size."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine

from columnist import ColumnSelector, ScaleWarning, certify, selection_path
from columnist.data._scales import is_one_kind, ratio_of

X, LABELS = load_wine(return_X_y=True)
CALLS = {
    "fit": lambda X, **options: ColumnSelector(2, **options).fit(X),
    "certify": lambda X, **options: certify(X, [0, 1], **options),
    "selection_path": lambda X, **options: selection_path(X, 2, **options),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("centering", ["none", "mean"])
def test_one_clear_sentence(call, centering):
    with pytest.warns(ScaleWarning, match="differ by a factor of .* scale the columns") as told:
        CALLS[call](X, centering=centering)
    assert len(told) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize("case", {
    "scaled": lambda: ColumnSelector(2).fit(X / X.std(axis=0)),
    "target": lambda: ColumnSelector(2).fit(X, LABELS),
    "gram": lambda: ColumnSelector(2, input="gram").fit(X.T @ X),
    "sparse": lambda: ColumnSelector(2).fit(sp.csr_array(X)),
    "wavelengths": lambda: ColumnSelector(2).fit(
        pd.DataFrame(X, columns=[f"{850 + 2 * i}.0" for i in range(13)])
    ),
    "counts": lambda: ColumnSelector(2).fit(X - X.min(axis=0)),
    "constant": lambda: ColumnSelector(1, centering="mean").fit([[1e9, 1, 2], [1e9, 3, 3]]),
}.items(), ids=lambda case: case[0])  # fmt: skip
def test_silent_where_it_makes_no_sense(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        case[1]()


def test_the_rule():
    assert ratio_of(np.array([0.0, np.inf, 3.0])) == 1.0
    assert is_one_kind(["400", "402.5"], np.array([1.0, 2.0]))
    assert is_one_kind(["a", "b", "c"], np.array([0.0, 0.0, 2.0]))
    assert not is_one_kind(["a", "400"], np.array([1.0, 2.0]))
    assert not is_one_kind(None, np.array([1.0, 2.0]))
