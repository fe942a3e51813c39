"""The figures that the README states.

The certificate of the README's first example, how much larger the error of forward selection is,
and the share of variance of its second example.
"""

from __future__ import annotations

from math import comb

from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks.data import Sets
from benchmarks.measure import Row
from columnist import ColumnSelector, ForwardSelector
from columnist.datasets import load_wdbc

__all__ = ["TITLE", "rows"]

TITLE = "The figures of the README"


def rows(sets: Sets, quick: bool = False) -> list[Row]:
    """One row per example."""
    X = load_wdbc(standardize=True).data
    found = ColumnSelector(11).fit(X)
    certificate = found.certificate_
    forward = ForwardSelector(11).fit(X).error_
    wine = StandardScaler().fit_transform(load_wine().data)
    return [
        {
            "set": "wdbc, k = 11",
            "selections": comb(X.shape[1], 11),
            "error": certificate.error,
            "lower bound": certificate.lower_bound,
            "expanded": certificate.nodes_expanded,
            "generated": certificate.nodes_generated,
            "seconds": certificate.elapsed,
            "forward larger [%]": 100.0 * (forward / certificate.error - 1.0),
        },
        {
            "set": "wine, k = 4",
            "unexplained [%]": 100.0 * ColumnSelector(4).fit(wine).relative_error_,
        },
    ]
