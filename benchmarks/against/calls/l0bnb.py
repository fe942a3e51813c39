"""L0BnB."""

from __future__ import annotations

import numpy as np
from l0bnb import fit_path


def path(X, y, k, alpha, time_limit):
    """The solution with most columns, up to k, of a path of penalties.

    Its penalty l2 stands beside half of the squares. A solution of the path has a gap of at most
    1 %, of an objective with a price for each column and with a box for the coefficients, or ran
    out of time. Data come without means, and with columns and target of length one.
    """
    found = fit_path(X, y, lambda_2=0.5 * alpha, max_nonzeros=k, time_limit=time_limit)
    within = [one for one in found if np.count_nonzero(one["B"]) <= k]
    return {
        "columns": np.flatnonzero(within[-1]["B"]),
        "solutions": len(found),
        "late": sum(one["Time_exceeded"] for one in found),
    }


# It compiles itself at its first call: not a part of what is measured.
_rng = np.random.default_rng(0)
fit_path(_rng.standard_normal((20, 5)), _rng.standard_normal(20), max_nonzeros=2)
