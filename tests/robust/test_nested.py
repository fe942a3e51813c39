"""Growing sets of outliers where time is short."""

from __future__ import annotations

import numpy as np
import pytest

from columnist.criteria import Frobenius, Nuclear
from columnist.robust._errors import RowErrors
from columnist.robust._nested import NestedRows
from tests.robust.samples import contaminated


@pytest.mark.parametrize("criterion", [Frobenius(), Nuclear()])
@pytest.mark.parametrize("centering", ["optimal", "mean", "none"])
@pytest.mark.parametrize("p", [5, 70])
def test_errors_are_those_of_the_sets(criterion, centering, p):
    X, _ = contaminated(90, p, 2, 8, np.random.default_rng(0))
    errors = RowErrors(X + 3.0, 2, criterion, centering, 4.0)
    nested = NestedRows(errors, np.zeros(0, dtype=int))
    for k in (0, 3, 4, 8, 20):
        removed, error = nested.to(k)
        assert len(removed) == k == len(set(removed.tolist()))
        kept = np.setdiff1d(np.arange(90), removed)
        assert error == pytest.approx(errors.evaluate(kept).value, rel=1e-9)
        if k == 8:
            np.testing.assert_array_equal(removed, np.arange(8))


def test_rows_that_dominated_leave_no_rounding_behind():
    X, _ = contaminated(60, 6, 2, 0, np.random.default_rng(1))
    X[:3] *= 1e9
    errors = RowErrors(X, 2, Frobenius(), "optimal")
    nested = NestedRows(errors, np.zeros(0, dtype=int))
    for k in (1, 2, 3, 4):
        removed, error = nested.to(k)
        kept = np.setdiff1d(np.arange(60), removed)
        assert error == pytest.approx(errors.evaluate(kept).value, rel=1e-9)
    assert len(set(removed) & {0, 1, 2}) >= 1  # a component may be theirs
